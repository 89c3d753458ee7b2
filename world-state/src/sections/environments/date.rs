//! A day of the calendar.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::error::Error;

/// Names a day of the calendar, and nothing finer: a clock in the context would change it with every turn.
///
/// # Shape
/// `YYYY-MM-DD`, of the years 0 to 9999.
///
/// # Example
/// ```
/// use world_state::Date;
///
/// let day: Date = "2026-10-20".parse()?;
/// assert_eq!(day, Date::new(2026, 10, 20)?);
/// assert!("2026-02-30".parse::<Date>().is_err());
/// # Ok::<(), world_state::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Date {
    year: u16,
    month: u8,
    day: u8,
}

impl Date {
    /// Takes a day of the Gregorian calendar.
    ///
    /// # Errors
    /// [`Error::Date`] if the calendar has no such day.
    pub fn new(year: u16, month: u8, day: u8) -> Result<Self, Error> {
        let is_leap = year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
        let n_days = match month {
            1 | 3 | 5 | 7 | 8 | 10 | 12 => 31,
            4 | 6 | 9 | 11 => 30,
            2 if is_leap => 29,
            2 => 28,
            _ => 0,
        };
        if year > 9999 || day == 0 || day > n_days {
            return Err(Error::Date { input: format!("{year:04}-{month:02}-{day:02}") });
        }
        Ok(Self { year, month, day })
    }

    /// Finds the day that a clock shows: all moments of a day give the same, so a clock that moves inside it says nothing.
    ///
    /// # Units
    /// `seconds` since the start of 1970 in UTC; `offset` is that of the time zone from UTC, in seconds to the east.
    /// # Errors
    /// [`Error::Date`] before the year 0 and after the year 9999.
    /// # Example
    /// ```
    /// use world_state::Date;
    ///
    /// assert_eq!(Date::at(1_792_540_799, 0)?, Date::new(2026, 10, 20)?);
    /// assert_eq!(Date::at(1_792_540_800, 0)?, Date::new(2026, 10, 21)?);
    /// assert_eq!(Date::at(1_792_540_799, 3_600)?, Date::new(2026, 10, 21)?);
    /// # Ok::<(), world_state::Error>(())
    /// ```
    pub fn at(seconds: i64, offset: i32) -> Result<Self, Error> {
        let refuse = || Error::Date { input: format!("{seconds} s since 1970") };
        // Days since the first of March of the year 0, so that a leap day ends its year.
        let days = seconds.checked_add(i64::from(offset)).ok_or_else(refuse)?.div_euclid(86_400).checked_add(719_468);
        let days = days.ok_or_else(refuse)?;
        let (era, day_of_era) = (days.div_euclid(146_097), days.rem_euclid(146_097));
        let year_of_era = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
        let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
        let month_from_march = (5 * day_of_year + 2) / 153;
        let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
        let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
        let year = era * 400 + year_of_era + i64::from(month <= 2);
        let (Ok(year), Ok(month), Ok(day)) = (u16::try_from(year), u8::try_from(month), u8::try_from(day)) else {
            return Err(refuse());
        };
        Self::new(year, month, day)
    }
}

impl fmt::Display for Date {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:04}-{:02}-{:02}", self.year, self.month, self.day)
    }
}

impl FromStr for Date {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let refuse = || Error::Date { input: text.into() };
        let [y1, y2, y3, y4, b'-', m1, m2, b'-', d1, d2] = *text.as_bytes() else {
            return Err(refuse());
        };
        let number = |digits: &[u8]| {
            digits
                .iter()
                .try_fold(0_u16, |number, digit| digit.is_ascii_digit().then(|| number * 10 + u16::from(digit - b'0')))
        };
        let (Some(year), Some(month), Some(day)) = (number(&[y1, y2, y3, y4]), number(&[m1, m2]), number(&[d1, d2]))
        else {
            return Err(refuse());
        };
        // Two digits always fit.
        let (Ok(month), Ok(day)) = (u8::try_from(month), u8::try_from(day)) else {
            return Err(refuse());
        };
        Self::new(year, month, day)
    }
}

impl Serialize for Date {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Date {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}
