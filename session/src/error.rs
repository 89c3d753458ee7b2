//! Why a session or its log could not do what was asked.

use std::{
    error::Error as StdError,
    io,
    path::{Path, PathBuf},
};

use crate::SummaryError;
use crate::rollout::{Appended, Contents, CutBack, Finding, Holder, LogFormat, ReplayEvent};

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
    /// The log says that it begins with the window of the session that it was forked from, and has none: the process that
    /// made it ended first. Nothing was ever said in it, so it can be [deleted](crate::rollout::delete) and made again. A
    /// window that was there and is damaged is [`Unresumable`](Self::Unresumable).
    #[error("{path} begins with a window that is not there: the fork was not made to its end", path = path.display())]
    #[non_exhaustive]
    Unfinished {
        /// The log.
        path: PathBuf,
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
    /// The log is packed, so nothing can be appended to it; without the feature `zstd` it cannot be read either.
    #[error("{path} is compressed with zstd: decompress it first", path = path.display())]
    #[non_exhaustive]
    Compressed {
        /// The file.
        path: PathBuf,
    },
    /// A record that must be understood was written by a newer version.
    #[error("record {ordinal}, `{type_name}`, needs a reader of version {needed}; this one has version {known}")]
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
    /// This writer does not hold the log, or another one wrote to it since: it must not write any more.
    #[error("this writer may not append to {path}{}{}", expectation(*expected, *found), held_by(holder.as_deref()), path = path.display())]
    #[non_exhaustive]
    Fenced {
        /// The log.
        path: PathBuf,
        /// The ordinal at which the writer wanted to go on, if it held the log once.
        expected: Option<u64>,
        /// The ordinal that comes next, if it is known.
        found: Option<u64>,
        /// Who holds the log now, if that is known and it is another one.
        holder: Option<Box<Holder>>,
    },
    /// Too many records wait for a log that cannot be written, so no further step is taken.
    #[error("{pending} records wait for the log, and {limit} are the most: no step is taken before they are written")]
    #[non_exhaustive]
    BacklogFull {
        /// How many wait.
        pending: usize,
        /// How many may.
        limit: usize,
        /// What the last attempt to write them said.
        source: Box<Self>,
    },
    /// Reading would take more memory than the caller allows. Nothing beyond the limit was read.
    #[error("{path} needs more than the {limit} bytes that may be held: record at byte {offset}", path = path.display())]
    #[non_exhaustive]
    OverLimit {
        /// The log.
        path: PathBuf,
        /// The limit.
        limit: u64,
        /// Where the record starts that would pass it.
        offset: u64,
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
    /// What was packed is not what stands in the log; nothing was removed.
    #[error("{path} does not hold what was packed", path = path.display())]
    #[non_exhaustive]
    PackMismatch {
        /// The packed file.
        path: PathBuf,
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
    /// There is nothing that a summary could stand for.
    #[error("there is nothing to compact")]
    NothingToCompact,
    /// No summary was made. Nothing was changed.
    #[error("could not get a summary")]
    #[non_exhaustive]
    Summary {
        /// Why.
        source: SummaryError,
    },
    /// Even the newest exchange is too large for the model that makes summaries. Nothing was changed.
    #[error("{floor} tokens cannot be made less: {largest}", largest = largest.join("; "))]
    #[non_exhaustive]
    Irreducible {
        /// The tokens of the smallest request that can be made.
        floor: u64,
        /// The largest items in it, the largest first: type, position and tokens.
        largest: Vec<String>,
    },
    /// The history changed while the summary was made; the summary speaks of another one. Nothing was changed.
    #[error("the history changed while it was summed up: compact it again")]
    HistoryMoved,
    /// A compaction would not make the history smaller. Nothing was changed.
    #[error("the window would have {after} tokens where the history has {before}")]
    #[non_exhaustive]
    NotSmaller {
        /// The estimate of the history.
        before: u64,
        /// The estimate of the window, with what the next step has to say again.
        after: u64,
    },
    /// The session was closed. The caller's mistake.
    #[error("the session is closed")]
    Closed,
    /// A turn was begun while another one is live. The caller's mistake.
    #[error("turn {turn} is live: finish or abort it before another one begins")]
    #[non_exhaustive]
    TurnLive {
        /// The turn that is live.
        turn: String,
    },
    /// The turn has ended, or it is not the one that is meant. The caller's mistake.
    #[error("turn {turn} is not live")]
    #[non_exhaustive]
    TurnOver {
        /// The turn.
        turn: String,
    },
    /// Something was recorded for a turn before its first step. The caller's mistake.
    #[error("turn {turn} has no step yet: its context stands before everything else")]
    #[non_exhaustive]
    NoStep {
        /// The turn.
        turn: String,
    },
    /// Calls of the turn have no output.
    #[error("turn {turn} has calls without an output: {calls}", calls = calls.join(", "))]
    #[non_exhaustive]
    OpenCalls {
        /// The turn.
        turn: String,
        /// The ids of the calls.
        calls: Vec<String>,
    },
    /// A turn was to end while words of the user wait for a step.
    #[error("turn {turn} cannot end: what the user said waits for its next step")]
    #[non_exhaustive]
    InputWaiting {
        /// The turn.
        turn: String,
    },
    /// The call has an output already, or it is not of this turn. The caller's mistake.
    #[error("the call {call_id} is not open in turn {turn}")]
    #[non_exhaustive]
    NotOpen {
        /// The id of the call.
        call_id: String,
        /// The turn.
        turn: String,
    },
    /// The output does not answer the call. The caller's mistake.
    #[error("the call {call_id} cannot be answered with {found}")]
    #[non_exhaustive]
    WrongOutput {
        /// The id of the call.
        call_id: String,
        /// What was given.
        found: String,
    },
    /// The host's clock failed.
    #[error("failed to read current time")]
    #[non_exhaustive]
    Clock {
        /// What the clock said.
        source: Box<dyn StdError + Send + Sync>,
    },
    /// Work that the session had to wait for failed.
    #[error("the warm-up `{name}` failed")]
    #[non_exhaustive]
    WarmUp {
        /// Its name.
        name: String,
        /// What it said.
        source: Box<dyn StdError + Send + Sync>,
    },
    /// Instructions that must not be skipped could not be loaded; the cause names environment and path.
    #[error("could not load the instructions")]
    #[non_exhaustive]
    Instructions {
        /// What was asked of which file, and what the system said.
        source: agents_md::Error,
    },
    /// A section of the world state could not be said or stored.
    #[error("could not say what changed")]
    #[non_exhaustive]
    WorldState {
        /// Which section, and why.
        source: world_state::Error,
    },
    /// A notice could not be rendered.
    #[error("could not render a notice")]
    #[non_exhaustive]
    Fragment {
        /// Why.
        source: context_fragments::Error,
    },
    /// The history did not take what it was given.
    #[error("the history did not take it")]
    #[non_exhaustive]
    History {
        /// Why.
        source: context_manager::Error,
    },
    /// The log must not be gone on from: someone changed it, a newer version wrote it, or the window with which a fork begins
    /// is lost.
    #[error("{path} cannot be resumed: {finding}", path = path.display())]
    #[non_exhaustive]
    Unresumable {
        /// The log.
        path: PathBuf,
        /// What was found, and where.
        finding: Finding,
    },
    /// A record does not fit what stands before it.
    #[error("{}record {} at byte {offset} cannot be replayed: {reason}", named(path), numbered(*ordinal))]
    #[non_exhaustive]
    Replay {
        /// The log, where it is known.
        path: Option<PathBuf>,
        /// Where the record starts, in bytes.
        offset: u64,
        /// Its ordinal, if it has one.
        ordinal: Option<u64>,
        /// What is wrong with it.
        reason: String,
    },
    /// The prompt that was sent last cannot be made again from the log, so no later one could extend it.
    #[error(
        "{}the prompt that record {} at byte {offset} marks as sent cannot be made again: {found}",
        named(path),
        numbered(*ordinal)
    )]
    #[non_exhaustive]
    SentMismatch {
        /// The log, where it is known.
        path: Option<PathBuf>,
        /// Where the mark stands, in bytes.
        offset: u64,
        /// Its ordinal, if it has one.
        ordinal: Option<u64>,
        /// What is different.
        found: String,
    },
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
        matches!(self, Self::Busy { .. } | Self::Append { .. } | Self::Sync { .. } | Self::BacklogFull { .. })
    }

    /// Says that the call failed although everything it was to record is in the log and in the history: only the promise
    /// about a loss of power could not be had. Making the same call again would record it twice, but for a step, which says
    /// nothing twice; [`Session::sync`](crate::Session::sync) asks for the promise again.
    #[must_use]
    pub const fn is_recorded(&self) -> bool {
        matches!(self, Self::Sync { .. } | Self::Lost { .. })
    }

    /// Says that the step's prompt is out of date and another step has to be taken.
    #[must_use]
    pub const fn is_stale(&self) -> bool {
        matches!(self, Self::History { source } if source.is_stale())
    }

    /// Says that the call itself was wrong, so that making it again cannot help.
    #[must_use]
    pub const fn is_misuse(&self) -> bool {
        matches!(
            self,
            Self::Closed
                | Self::TurnLive { .. }
                | Self::TurnOver { .. }
                | Self::NoStep { .. }
                | Self::OpenCalls { .. }
                | Self::InputWaiting { .. }
                | Self::NotOpen { .. }
                | Self::WrongOutput { .. }
        )
    }

    pub(crate) const fn history(source: context_manager::Error) -> Self {
        Self::History { source }
    }

    pub(crate) fn replay(event: &ReplayEvent, reason: impl ToString) -> Self {
        Self::Replay { path: None, offset: event.offset, ordinal: event.ordinal, reason: reason.to_string() }
    }

    /// Names the log that was read.
    pub(crate) fn in_log(mut self, log: &Path) -> Self {
        if let Self::Replay { path, .. } | Self::SentMismatch { path, .. } = &mut self {
            *path = Some(log.to_owned());
        }
        self
    }

    pub(crate) fn misshapen(place: impl Into<String>, expected: &'static str) -> Self {
        Self::Misshapen { place: place.into(), expected }
    }
}

fn expectation(expected: Option<u64>, found: Option<u64>) -> String {
    match (expected, found) {
        (Some(expected), Some(found)) => format!(" at record {expected}: record {found} comes next"),
        _ => String::from(": it does not hold the log"),
    }
}

fn held_by(holder: Option<&Holder>) -> String {
    let Some(holder) = holder else { return String::new() };
    let pid = holder.pid.map_or_else(|| "(unknown)".into(), |pid| pid.to_string());
    let word = |word: &Option<String>| word.clone().unwrap_or_else(|| "(unknown)".into());
    format!("; process {pid} on {} holds it since {}", word(&holder.host), word(&holder.since))
}

fn named(path: &Option<PathBuf>) -> String {
    path.as_ref().map_or_else(String::new, |path| format!("{}: ", path.display()))
}

fn numbered(ordinal: Option<u64>) -> String {
    ordinal.map_or_else(|| "without a number".into(), |ordinal| ordinal.to_string())
}
