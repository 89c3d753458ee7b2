//! Appending records.

use std::{
    fmt, io,
    path::{Path, PathBuf},
};

use super::{
    file::{FsLogFile, LogFile},
    limits::ReadLimits,
    line::push_line,
    lock::LogLock,
    record::Draft,
    resync::{Resynced, resync},
    time::format_ms,
};
use crate::Error;

/// What an acknowledged record survives.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[expect(clippy::exhaustive_enums, reason = "there is no level between the two that a system can be asked for")]
pub enum Durability {
    /// The end of the process, however it comes: the system has the bytes.
    Flush,
    /// The loss of power too: the disk has them.
    DataSync,
}

/// What is in the log after an append.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Appended {
    /// The ordinal of the first record of the batch.
    pub first: u64,
    /// The ordinal of the last one.
    pub last: u64,
    /// Where the first record starts in the file, in bytes.
    pub offset: u64,
    /// The level that the whole batch reached.
    pub level: Durability,
    /// The newest record that survives the end of the process.
    pub flushed_through: u64,
    /// The newest record that survives a loss of power, if this writer synced any.
    pub synced_through: Option<u64>,
}

/// What became of the bytes of a batch that could not be written whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum CutBack {
    /// No byte was written.
    NothingWritten,
    /// They were cut: the log ends with its last whole record.
    Done,
    /// They stand behind the last whole record, and the next append cuts them before it writes.
    Pending,
}

impl fmt::Display for CutBack {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NothingWritten => "nothing was written",
            Self::Done => "the log was cut back to its last whole record",
            Self::Pending => "an incomplete record stands at its end until the next append",
        })
    }
}

/// Appends records to one log: each call is one write, and a batch is in the log as a whole or not at all.
///
/// [`SessionFolder`](super::SessionFolder) makes it and gives it the lock.
#[derive(Debug)]
pub struct LogWriter<F = FsLogFile> {
    file: F,
    path: PathBuf,
    limits: ReadLimits,
    /// The end of the last whole record.
    len: u64,
    next_ordinal: u64,
    tail: Tail,
    /// The last record that was whole when the writer came has no newline yet.
    newline_owed: bool,
    /// Where the bytes start that this writer wrote and no sync has covered. What stood there when it came is not its own
    /// to repeat after a failed sync.
    synced_len: u64,
    synced_through: Option<u64>,
    /// A sync failed: the system may have forgotten that bytes behind `synced_len` wait for the disk.
    sync_in_doubt: bool,
    buffer: String,
    _lock: Option<LogLock>,
}

/// What stands behind the last whole record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Tail {
    Clean,
    Torn,
}

/// Where a writer starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct WriterStart {
    /// The end of the last whole record, in bytes.
    pub len: u64,
    /// The ordinal that the next record gets.
    pub next_ordinal: u64,
    /// Whether the last record waits for its newline.
    pub newline_owed: bool,
}

impl WriterStart {
    /// The start of a new log.
    pub const NEW: Self = Self { len: 0, next_ordinal: 0, newline_owed: false };

    /// Behind a whole record that ends with its newline.
    #[must_use]
    pub const fn at(len: u64, next_ordinal: u64) -> Self {
        Self { len, next_ordinal, newline_owed: false }
    }
}

impl<F: LogFile> LogWriter<F> {
    /// Writes to `file`, which the caller knows to belong to this writer alone; `path` names it in errors.
    pub fn new(file: F, path: impl Into<PathBuf>, start: WriterStart) -> Self {
        Self {
            file,
            path: path.into(),
            limits: ReadLimits::default(),
            len: start.len,
            next_ordinal: start.next_ordinal,
            tail: Tail::Clean,
            newline_owed: start.newline_owed,
            synced_len: start.len,
            synced_through: None,
            sync_in_doubt: false,
            buffer: String::new(),
            _lock: None,
        }
    }

    /// Keeps the lock for as long as the writer lives.
    pub(super) fn with_lock(mut self, lock: LogLock) -> Self {
        self._lock = Some(lock);
        self
    }

    /// The ordinal that the next record gets.
    #[must_use]
    pub const fn next_ordinal(&self) -> u64 {
        self.next_ordinal
    }

    /// The end of the last whole record, in bytes.
    #[must_use]
    pub const fn len(&self) -> u64 {
        self.len
    }

    /// The name of the log in errors.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Says that nothing was written yet.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Appends `drafts` in their order with one write, all with the time `at_ms` (milliseconds since the epoch).
    ///
    /// An empty batch writes nothing, but syncs if it is asked to.
    ///
    /// # Errors
    /// [`Error::Append`]: none of the records is in the log, and the next call starts behind the last whole record.
    /// [`Error::Sync`]: all of them are, at [`Durability::Flush`] only; [`sync`](Self::sync) tries again.
    /// [`Error::ChangedOutside`] if the file has another length than this writer left, [`Error::RecordTooLong`],
    /// [`Error::TimeOutOfRange`]: nothing was written.
    pub fn append(&mut self, at_ms: i64, drafts: &[Draft], durability: Durability) -> Result<Appended, Error> {
        let first = self.next_ordinal;
        let offset = self.encode(at_ms, drafts)?;
        if !drafts.is_empty() {
            self.restore_end()?;
            self.write()?;
            self.next_ordinal += drafts.len() as u64;
        }
        let mut appended = Appended {
            first,
            last: self.next_ordinal.saturating_sub(1),
            offset,
            level: Durability::Flush,
            flushed_through: self.next_ordinal.saturating_sub(1),
            synced_through: self.synced_through,
        };
        if durability == Durability::DataSync {
            self.sync_file().map_err(|fault| self.sync_error(fault, appended))?;
            appended.level = Durability::DataSync;
            appended.synced_through = self.synced_through;
        }
        Ok(appended)
    }

    /// Waits until every record that was appended survives a loss of power.
    ///
    /// # Errors
    /// [`Error::Sync`], and [`Error::Lost`] if an earlier sync failed and the system has dropped records since.
    pub fn sync(&mut self) -> Result<Appended, Error> {
        self.append(0, &[], Durability::DataSync)
    }

    /// Appends `n_lines` lines with their newlines, which have the ordinals that come next.
    pub(crate) fn append_lines(&mut self, lines: String, n_lines: u64) -> Result<(), Error> {
        self.buffer = lines;
        self.restore_end()?;
        self.write()?;
        self.next_ordinal += n_lines;
        Ok(())
    }

    /// Fills the buffer with the lines of a batch; gives the offset of the first one.
    fn encode(&mut self, at_ms: i64, drafts: &[Draft]) -> Result<u64, Error> {
        self.buffer.clear();
        self.buffer.shrink_to(1024 * 1024);
        if self.newline_owed && !drafts.is_empty() {
            self.buffer.push('\n');
        }
        let offset = self.len + self.buffer.len() as u64;
        push_lines(&mut self.buffer, at_ms, self.next_ordinal, drafts, self.limits)?;
        Ok(offset)
    }

    /// Makes sure that the file ends where this writer believes.
    fn restore_end(&mut self) -> Result<(), Error> {
        let failed = |path: &PathBuf, ordinal, source| Error::Append {
            path: path.clone(),
            ordinal,
            cut_back: CutBack::NothingWritten,
            source,
        };
        if self.tail == Tail::Torn {
            let cut = self.file.cut(self.len);
            cut.map_err(|source| Error::Append {
                path: self.path.clone(),
                ordinal: self.next_ordinal,
                cut_back: CutBack::Pending,
                source,
            })?;
            self.tail = Tail::Clean;
        }
        let found = self.file.len().map_err(|source| failed(&self.path, self.next_ordinal, source))?;
        if found != self.len {
            return Err(Error::ChangedOutside { path: self.path.clone(), expected: self.len, found });
        }
        Ok(())
    }

    /// Writes the buffer: one call, unless the system takes less than it was given.
    fn write(&mut self) -> Result<(), Error> {
        let bytes = self.buffer.as_bytes();
        let mut written = 0;
        let fault = loop {
            match self.file.append(&bytes[written..]) {
                Ok(0) => break io::Error::from(io::ErrorKind::WriteZero),
                Ok(taken) => written += taken,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => break error,
            }
            if written >= bytes.len() {
                self.len += bytes.len() as u64;
                self.newline_owed = false;
                return Ok(());
            }
        };
        // A failed call may have written something all the same, so the file is asked.
        let cut_back = match self.file.len() {
            Ok(found) if found == self.len => CutBack::NothingWritten,
            Ok(_) if self.file.cut(self.len).is_ok() => CutBack::Done,
            _ => CutBack::Pending,
        };
        if cut_back == CutBack::Pending {
            self.tail = Tail::Torn;
        }
        Err(Error::Append { path: self.path.clone(), ordinal: self.next_ordinal, cut_back, source: fault })
    }

    fn sync_file(&mut self) -> Result<(), SyncFault> {
        if self.sync_in_doubt {
            match resync(&mut self.file, self.synced_len, self.len, self.limits) {
                Ok(Resynced::Written) => {}
                Ok(Resynced::Lost) => return Err(SyncFault::Lost),
                Err(source) => return Err(SyncFault::System(source)),
            }
        }
        if let Err(source) = self.file.sync_data() {
            self.sync_in_doubt = true;
            return Err(SyncFault::System(source));
        }
        self.sync_in_doubt = false;
        self.synced_len = self.len;
        self.synced_through = self.next_ordinal.checked_sub(1);
        Ok(())
    }

    fn sync_error(&self, fault: SyncFault, appended: Appended) -> Error {
        match fault {
            SyncFault::System(source) => Error::Sync { path: self.path.clone(), appended, source },
            SyncFault::Lost => Error::Lost { path: self.path.clone(), offset: self.synced_len },
        }
    }
}

/// Appends the lines of `drafts` to `out`: the first has the ordinal `first`, and all have the time `at_ms` (milliseconds
/// since the epoch). It is what a store of one's own writes.
///
/// # Errors
/// [`Error::TimeOutOfRange`], [`Error::RecordTooLong`]; what stands in `out` is then of no use.
pub fn push_lines(out: &mut String, at_ms: i64, first: u64, drafts: &[Draft], limits: ReadLimits) -> Result<(), Error> {
    let timestamp = format_ms(at_ms)?;
    for (ordinal, draft) in (first..).zip(drafts) {
        let start = out.len();
        push_line(out, &timestamp, ordinal, |out| draft.push_body(out));
        let bytes = out.len() - start;
        if bytes > limits.max_line_bytes {
            return Err(Error::RecordTooLong { bytes, limit: limits.max_line_bytes });
        }
    }
    Ok(())
}

enum SyncFault {
    System(io::Error),
    Lost,
}
