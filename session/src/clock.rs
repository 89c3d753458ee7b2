//! What time it is, said by the host.

use std::{error::Error, sync::Arc};

use world_state::Date;

/// One moment: when records are written, and the day that the model is told.
///
/// # Units
/// Milliseconds since the epoch, in UTC. The date is the user's, so it may be another day than that of the milliseconds.
///
/// # Example
/// ```
/// use session::Moment;
///
/// let noon = Moment::new(1_792_497_600_000).with_date("2026-10-20".parse()?).with_timezone("Europe/Berlin");
/// assert_eq!(noon.timezone(), Some("Europe/Berlin"));
/// # Ok::<(), world_state::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Moment {
    at_ms: i64,
    date: Option<Date>,
    timezone: Option<Arc<str>>,
}

impl Moment {
    /// Takes the milliseconds since the epoch; the model is told no date.
    #[must_use]
    pub const fn new(at_ms: i64) -> Self {
        Self { at_ms, date: None, timezone: None }
    }

    /// Adds the day where the user is.
    #[must_use]
    pub const fn with_date(mut self, date: Date) -> Self {
        self.date = Some(date);
        self
    }

    /// Adds the name of the user's time zone.
    #[must_use]
    pub fn with_timezone(mut self, timezone: impl Into<Arc<str>>) -> Self {
        self.timezone = Some(timezone.into());
        self
    }

    /// The milliseconds since the epoch.
    #[must_use]
    pub const fn at_ms(&self) -> i64 {
        self.at_ms
    }

    /// The day where the user is.
    #[must_use]
    pub const fn date(&self) -> Option<Date> {
        self.date
    }

    /// The name of the user's time zone.
    #[must_use]
    pub fn timezone(&self) -> Option<&str> {
        self.timezone.as_deref()
    }

    pub(crate) fn shared_timezone(&self) -> Option<&Arc<str>> {
        self.timezone.as_ref()
    }
}

/// Tells the time. A session never looks at the clock of the machine by itself.
///
/// A closure is one, and so is a [`Moment`], which stands still.
pub trait Clock: Send + Sync {
    /// The moment that it is.
    ///
    /// # Errors
    /// What the host's source of time says; the call that asked fails with it and changes nothing.
    fn now(&self) -> Result<Moment, Box<dyn Error + Send + Sync>>;
}

impl Clock for Moment {
    fn now(&self) -> Result<Moment, Box<dyn Error + Send + Sync>> {
        Ok(self.clone())
    }
}

impl<F> Clock for F
where
    F: Fn() -> Result<Moment, Box<dyn Error + Send + Sync>> + Send + Sync,
{
    fn now(&self) -> Result<Moment, Box<dyn Error + Send + Sync>> {
        self()
    }
}
