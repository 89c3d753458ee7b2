//! Why a session or its log could not do what was asked.

use std::{io, path::PathBuf};

use crate::rollout::{Appended, Contents, CutBack, LogFormat};

/// Why a session or its log could not do what was asked.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The system refused to work with a file.
    #[error("could not {action} {path}", path = path.display())]
    #[non_exhaustive]
    Io {
        /// What was tried, such as `open`.
        action: &'static str,
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// Another writer holds the lock of the log. What it wrote about itself is empty if it could not be read.
    #[error(
        "{path} is in use by process {pid} on {host} since {since}",
        path = path.display(),
        pid = pid.map_or_else(|| String::from("(unknown)"), |pid| pid.to_string()),
        host = host.as_deref().unwrap_or("(unknown)"),
        since = since.as_deref().unwrap_or("(unknown)")
    )]
    #[non_exhaustive]
    Busy {
        /// The lock file.
        path: PathBuf,
        /// The process that holds it.
        pid: Option<u32>,
        /// The machine that the process runs on, as its host named it.
        host: Option<String>,
        /// When it took the lock, RFC 3339 in UTC.
        since: Option<String>,
    },
    /// A log stands where a new one was to be made.
    #[error("{path} holds a log already", path = path.display())]
    #[non_exhaustive]
    Exists {
        /// The log.
        path: PathBuf,
    },
    /// The log holds no record, so there is nothing to go on from.
    #[error("{path} is empty: {contents}", path = path.display())]
    #[non_exhaustive]
    Empty {
        /// The log.
        path: PathBuf,
        /// What it holds instead of records.
        contents: Contents,
    },
    /// The file is no log of this crate, so nothing may be appended to it.
    #[error("{path} cannot be appended to: it is {format}", path = path.display())]
    #[non_exhaustive]
    NotOurs {
        /// The file.
        path: PathBuf,
        /// What it was recognised as.
        format: LogFormat,
    },
    /// The log is compressed, which is not read yet.
    #[error("{path} is compressed with zstd, which is not read yet: decompress it first", path = path.display())]
    #[non_exhaustive]
    Compressed {
        /// The file.
        path: PathBuf,
    },
    /// A record that must be understood was written by a newer version.
    #[error("record {ordinal} of type `{type_name}` needs a reader of version {needed}, this one has version {known}")]
    #[non_exhaustive]
    Refused {
        /// The record's type.
        type_name: String,
        /// The record's ordinal.
        ordinal: u64,
        /// The version that it asks for.
        needed: u32,
        /// The version that this reader has.
        known: u32,
    },
    /// The log is not as long as this writer left it: someone else writes to it.
    #[error("{path} has {found} bytes where this writer left {expected}", path = path.display())]
    #[non_exhaustive]
    ChangedOutside {
        /// The log.
        path: PathBuf,
        /// The length that the writer knows.
        expected: u64,
        /// The length that stands.
        found: u64,
    },
    /// A batch could not be written. None of its records is in the log.
    #[error("could not append record {ordinal} to {path}; {cut_back}", path = path.display())]
    #[non_exhaustive]
    Append {
        /// The log.
        path: PathBuf,
        /// The ordinal that the first record of the batch would have had.
        ordinal: u64,
        /// What became of the bytes that were written.
        cut_back: CutBack,
        /// What the system said.
        source: io::Error,
    },
    /// A batch is in the log, but the system could not promise that it survives a loss of power.
    #[error(
        "records up to {through} are in {path} but not synced",
        path = path.display(),
        through = appended.flushed_through
    )]
    #[non_exhaustive]
    Sync {
        /// The log.
        path: PathBuf,
        /// What stands in the log; do not append it again.
        appended: Appended,
        /// What the system said.
        source: io::Error,
    },
    /// After a failed sync, records that were only flushed are no longer what was written.
    #[error("records of {path} behind byte {offset} were lost by a failed sync", path = path.display())]
    #[non_exhaustive]
    Lost {
        /// The log.
        path: PathBuf,
        /// Where the records started that were flushed and not synced.
        offset: u64,
    },
    /// A record is longer than a reader accepts.
    #[error("a record of {bytes} bytes is over the limit of {limit} bytes")]
    #[non_exhaustive]
    RecordTooLong {
        /// The length of its line.
        bytes: usize,
        /// The longest line.
        limit: usize,
    },
    /// The time stamp is outside the years that RFC 3339 can write.
    #[error("{at_ms} ms since the epoch is no time that can be written")]
    #[non_exhaustive]
    TimeOutOfRange {
        /// The time that was given.
        at_ms: i64,
    },
    /// A payload or its metadata has another shape than its type needs.
    #[error("{place}: expected {expected}")]
    #[non_exhaustive]
    Misshapen {
        /// The place, such as `sent.chain`.
        place: String,
        /// What stands there in a well-formed record.
        expected: &'static str,
    },
    /// A text is not the JSON that its place needs.
    #[error("{place} is not the JSON that belongs there")]
    #[non_exhaustive]
    Json {
        /// The place, such as `payload`.
        place: String,
        /// What the parser said.
        source: context_fragments::Error,
    },
    /// A blob is not what its record says.
    #[error("blob {sha256} is not the {bytes} bytes that the record names")]
    #[non_exhaustive]
    BlobMismatch {
        /// The digest in the record.
        sha256: String,
        /// The length in the record.
        bytes: u64,
    },
    /// The thread that wrote was stopped, for example because the runtime shut down; the log says what was written.
    #[error("the writing thread was stopped")]
    #[non_exhaustive]
    WriterStopped,
}

impl Error {
    /// Says that another writer holds the log.
    #[must_use]
    pub const fn is_busy(&self) -> bool {
        matches!(self, Self::Busy { .. })
    }

    /// Says that the same call may succeed later without anyone mending the log.
    #[must_use]
    pub const fn is_retryable(&self) -> bool {
        matches!(self, Self::Busy { .. } | Self::Append { .. } | Self::Sync { .. })
    }

    pub(crate) fn misshapen(place: impl Into<String>, expected: &'static str) -> Self {
        Self::Misshapen { place: place.into(), expected }
    }
}
