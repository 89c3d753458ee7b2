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
