//! How the log of a running session is doing.

use std::sync::Arc;

/// Whether the log takes what is recorded.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum LogHealth {
    /// Everything that was recorded is in the log, at the level that was asked for.
    #[default]
    Healthy,
    /// The log cannot be written, and the session goes on in memory. What waits is written in order, with the next call
    /// that finds room.
    Degraded {
        /// When the first write failed, in milliseconds since the epoch: the time of its records.
        since_ms: i64,
        /// How many records wait in memory. Zero if all are in the log and only the promise about a loss of power is
        /// missing.
        pending: usize,
        /// What the last attempt said, with its causes.
        last_error: Arc<str>,
    },
}

impl LogHealth {
    /// Says that the log takes what is recorded.
    #[must_use]
    pub const fn is_healthy(&self) -> bool {
        matches!(self, Self::Healthy)
    }
}

/// How the log of a running session is doing: a value to look at or to watch.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct LogStatus {
    /// Whether it takes what is recorded.
    pub health: LogHealth,
    /// The newest record that survives the end of the process.
    pub flushed_through: Option<u64>,
    /// The newest record that survives a loss of power.
    pub synced_through: Option<u64>,
    /// How many bytes this process has added to log and blobs.
    pub bytes_written: u64,
    /// The caps that were reached, oldest first; the newest 64 are kept.
    pub caps_reached: Vec<CapReached>,
}

/// Sizes above which the host is told. Nothing is refused: what the model was told has to be in the log.
///
/// # Example
/// ```
/// use session::store::LogCaps;
///
/// let caps = LogCaps::default().with_record_bytes(1024 * 1024).with_session_bytes(1024 * 1024 * 1024);
/// # let _ = caps;
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct LogCaps {
    /// The bytes of one record with its blobs; without, none is reported.
    pub record_bytes: Option<u64>,
    /// The bytes that this process adds to log and blobs; without, none is reported.
    pub session_bytes: Option<u64>,
}

impl LogCaps {
    /// Sets the size of one record.
    #[must_use]
    pub const fn with_record_bytes(mut self, bytes: u64) -> Self {
        self.record_bytes = Some(bytes);
        self
    }

    /// Sets the size of the session.
    #[must_use]
    pub const fn with_session_bytes(mut self, bytes: u64) -> Self {
        self.session_bytes = Some(bytes);
        self
    }
}

/// A cap that was reached.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum CapReached {
    /// A record is larger than its cap. It was written.
    Record {
        /// Its type.
        type_name: String,
        /// Its size with its blobs, in bytes.
        bytes: u64,
        /// The cap.
        cap: u64,
    },
    /// The session has grown over its cap; said once.
    Session {
        /// What this process has added, in bytes.
        bytes: u64,
        /// The cap.
        cap: u64,
    },
}
