//! Time stamps in words.

use crate::Error;

/// `at_ms`, in milliseconds since the epoch, as RFC 3339 in UTC: `2026-10-20T08:00:00.123Z`.
pub(super) fn format_ms(at_ms: i64) -> Result<String, Error> {
    let out_of_range = |_| Error::TimeOutOfRange { at_ms };
    let time = jiff::Timestamp::from_millisecond(at_ms).map_err(out_of_range)?;
    let text = format!("{time:.3}");
    // Years of another width than four digits are no RFC 3339.
    if text.len() == "2026-10-20T08:00:00.123Z".len() { Ok(text) } else { Err(Error::TimeOutOfRange { at_ms }) }
}
