//! The log of a running session: large parts go into blobs, and where the log is away, records wait in order.

use std::{collections::VecDeque, error::Error as StdError, fmt, io, sync::Arc};

use tokio::sync::watch;

use super::{CapReached, LogCaps, LogHealth, LogStatus, Store};
use crate::{
    Error, LogFailure,
    rollout::{Appended, CutBack, Draft, Durability, LogFile, LogWriter, Prepared, ReadLimits, Sha256, push_lines},
};

/// How many reached caps are kept.
const KEPT_CAPS: usize = 64;

/// What a journal writes to.
pub(crate) trait Sink: Send {
    fn append(&mut self, at_ms: i64, drafts: &[Draft], durability: Durability) -> Result<Appended, Error>;
    fn sync(&mut self) -> Result<Appended, Error>;
    fn put_blob(&mut self, sha256: Sha256, bytes: &[u8], durability: Durability) -> Result<(), Error>;
    fn takes_blobs(&self) -> bool;
    fn next_ordinal(&self) -> u64;
    fn path(&self) -> std::path::PathBuf;
}

/// A file of the host's own has no place for blobs, so everything stands on its lines.
impl<F: LogFile> Sink for LogWriter<F> {
    fn append(&mut self, at_ms: i64, drafts: &[Draft], durability: Durability) -> Result<Appended, Error> {
        Self::append(self, at_ms, drafts, durability)
    }

    fn sync(&mut self) -> Result<Appended, Error> {
        Self::sync(self)
    }

    fn put_blob(&mut self, _: Sha256, _: &[u8], _: Durability) -> Result<(), Error> {
        let source = io::ErrorKind::Unsupported.into();
        Err(Error::Io { action: "write blob", path: Self::path(self).to_owned(), source })
    }

    fn takes_blobs(&self) -> bool {
        false
    }

    fn next_ordinal(&self) -> u64 {
        Self::next_ordinal(self)
    }

    fn path(&self) -> std::path::PathBuf {
        Self::path(self).to_owned()
    }
}

/// A store that was taken, with the ordinal that this writer expects to come next.
pub(crate) struct StoreSink {
    store: Box<dyn Store>,
    next_ordinal: u64,
}

impl StoreSink {
    pub(crate) fn new(store: Box<dyn Store>, taken: &Appended) -> Self {
        Self { store, next_ordinal: taken.last + 1 }
    }
}

impl Sink for StoreSink {
    fn append(&mut self, at_ms: i64, drafts: &[Draft], durability: Durability) -> Result<Appended, Error> {
        let appended = self.store.append(self.next_ordinal, at_ms, drafts, durability);
        let is_recorded = appended.as_ref().map_or_else(Error::is_recorded, |_| true);
        if is_recorded {
            self.next_ordinal += drafts.len() as u64;
        }
        appended
    }

    fn sync(&mut self) -> Result<Appended, Error> {
        self.store.sync()
    }

    fn put_blob(&mut self, sha256: Sha256, bytes: &[u8], durability: Durability) -> Result<(), Error> {
        self.store.put_blob(sha256, bytes, durability)
    }

    fn takes_blobs(&self) -> bool {
        true
    }

    fn next_ordinal(&self) -> u64 {
        self.next_ordinal
    }

    fn path(&self) -> std::path::PathBuf {
        self.store.path()
    }
}

/// How a journal behaves.
#[derive(Clone, Copy, Debug)]
pub(crate) struct JournalRules {
    pub(crate) log_failure: LogFailure,
    pub(crate) max_pending: usize,
    pub(crate) min_blob_bytes: usize,
    pub(crate) caps: LogCaps,
}

/// The log of a running session.
pub(crate) struct Journal {
    sink: Box<dyn Sink>,
    rules: JournalRules,
    /// Batches that are not in the log, oldest first. More than one only while the log is away.
    waiting: VecDeque<Waiting>,
    /// A sync failed: records are in the log, and the level they were promised is owed.
    level_owed: bool,
    session_cap_said: bool,
    /// The time of the newest records.
    last_at_ms: i64,
    status: watch::Sender<LogStatus>,
}

/// One batch on its way.
struct Waiting {
    at_ms: i64,
    drafts: Vec<Draft>,
    blobs: Vec<(Sha256, String)>,
    /// Type and size of each record with the blobs that it brings.
    sizes: Vec<(String, u64)>,
    durability: Durability,
}

impl Journal {
    pub(crate) fn new(sink: Box<dyn Sink>, rules: JournalRules, start: Option<Appended>) -> Self {
        let status = LogStatus {
            flushed_through: start.map(|start| start.flushed_through),
            synced_through: start.and_then(|start| start.synced_through),
            ..LogStatus::default()
        };
        Self {
            sink,
            rules,
            waiting: VecDeque::new(),
            level_owed: false,
            session_cap_said: false,
            last_at_ms: 0,
            status: watch::Sender::new(status),
        }
    }

    pub(crate) fn watch(&self) -> watch::Receiver<LogStatus> {
        self.status.subscribe()
    }

    /// Writes a batch behind everything that waits; in a session that may go on without its log, it waits too if it must.
    ///
    /// With an error that does not say that it is recorded, nothing of the batch is or will be in the log.
    pub(crate) fn append(&mut self, at_ms: i64, drafts: Vec<Draft>, durability: Durability) -> Result<(), Error> {
        let batch = self.prepare(at_ms, drafts, durability);
        self.waiting.push_back(batch);
        self.last_at_ms = at_ms;
        let Err(error) = self.drain() else { return Ok(()) };
        let may_wait = self.rules.log_failure == LogFailure::Degraded && is_passing(&error);
        let is_encodable = if may_wait && !error.is_recorded() { self.check_newest() } else { Ok(()) };
        match is_encodable {
            Ok(()) if may_wait => {
                self.degrade(at_ms, &error);
                Ok(())
            }
            encoded => {
                // The batch is still the newest one: what drains goes from the other end, and stops at an error.
                if !error.is_recorded() {
                    self.waiting.pop_back();
                }
                Err(encoded.err().unwrap_or(error))
            }
        }
    }

    /// Writes what waits, and waits until all of it survives a loss of power.
    pub(crate) fn sync(&mut self) -> Result<(), Error> {
        let done = self.drain().and_then(|()| self.sync_sink());
        if let Err(error) = &done {
            let since = self.waiting.front().map_or(self.last_at_ms, |batch| batch.at_ms);
            if is_passing(error) && self.rules.log_failure == LogFailure::Degraded {
                self.degrade(since, error);
            }
        }
        done
    }

    /// Writes what waits, where something does.
    pub(crate) fn flush(&mut self) -> Result<(), Error> {
        if self.waiting.is_empty() && !self.level_owed { Ok(()) } else { self.drain() }
    }

    /// Tries once more to write what waits, and refuses if too much of it is left.
    pub(crate) fn refuse_full_backlog(&mut self) -> Result<(), Error> {
        let limit = self.rules.max_pending;
        if self.pending() < limit {
            return Ok(());
        }
        let drained = self.drain();
        match drained {
            Err(source) if self.pending() >= limit => {
                Err(Error::BacklogFull { pending: self.pending(), limit, source: Box::new(source) })
            }
            _ => Ok(()),
        }
    }

    fn pending(&self) -> usize {
        self.waiting.iter().map(|batch| batch.drafts.len()).sum()
    }

    fn prepare(&self, at_ms: i64, drafts: Vec<Draft>, durability: Durability) -> Waiting {
        let (blobs, sizes) = (Vec::new(), Vec::with_capacity(drafts.len()));
        let mut batch = Waiting { at_ms, drafts: Vec::with_capacity(drafts.len()), blobs, sizes, durability };
        let min_blob_bytes = if self.sink.takes_blobs() { self.rules.min_blob_bytes } else { usize::MAX };
        for draft in drafts {
            let type_name = draft.type_name().to_owned();
            let prepared = Prepared::new(draft, min_blob_bytes);
            let blob_bytes: usize = prepared.blobs.iter().map(|(_, bytes)| bytes.len()).sum();
            batch.sizes.push((type_name, (prepared.draft.payload_bytes() + blob_bytes) as u64));
            batch.drafts.push(prepared.draft);
            batch.blobs.extend(prepared.blobs);
        }
        batch
    }

    /// Makes sure that a batch that has to wait can be written at all, or it would bar the way for ever.
    fn check_newest(&self) -> Result<(), Error> {
        let Some(batch) = self.waiting.back() else { return Ok(()) };
        push_lines(&mut String::new(), batch.at_ms, self.sink.next_ordinal(), &batch.drafts, ReadLimits::default())
    }

    fn drain(&mut self) -> Result<(), Error> {
        while let Some(batch) = self.waiting.front() {
            let written = write(self.sink.as_mut(), batch);
            let (appended, failure) = match written {
                Ok(appended) => (appended, None),
                Err(Error::Sync { appended, path, source }) => (appended, Some(Error::Sync { appended, path, source })),
                Err(error) if error.is_recorded() => {
                    self.waiting.pop_front();
                    self.level_owed = true;
                    return Err(error);
                }
                Err(error) => return Err(error),
            };
            self.level_owed = match appended.level {
                Durability::DataSync => false,
                Durability::Flush => self.level_owed || failure.is_some(),
            };
            if let Some(batch) = self.waiting.pop_front() {
                self.note(&batch, appended);
            }
            if let Some(error) = failure {
                return Err(error);
            }
        }
        if self.level_owed {
            self.sync_sink()?;
        }
        self.recover();
        Ok(())
    }

    fn sync_sink(&mut self) -> Result<(), Error> {
        let synced = self.sink.sync()?;
        self.level_owed = false;
        self.status.send_modify(|status| {
            status.flushed_through = Some(synced.flushed_through);
            status.synced_through = synced.synced_through;
        });
        self.recover();
        Ok(())
    }

    fn recover(&self) {
        if self.waiting.is_empty() && !self.level_owed {
            self.status.send_if_modified(|status| {
                let was_degraded = !status.health.is_healthy();
                status.health = LogHealth::Healthy;
                was_degraded
            });
        }
    }

    fn degrade(&self, at_ms: i64, error: &Error) {
        let pending = self.pending();
        let last_error: Arc<str> = in_words(error).into();
        self.status.send_modify(|status| {
            let since_ms = match &status.health {
                LogHealth::Degraded { since_ms, .. } => *since_ms,
                LogHealth::Healthy => at_ms,
            };
            status.health = LogHealth::Degraded { since_ms, pending, last_error };
        });
    }

    /// Says how far the log is, and which caps the batch has reached.
    fn note(&mut self, batch: &Waiting, appended: Appended) {
        let caps = self.rules.caps;
        let mut reached = Vec::new();
        for (type_name, bytes) in &batch.sizes {
            if let Some(cap) = caps.record_bytes.filter(|cap| bytes > cap) {
                reached.push(CapReached::Record { type_name: type_name.clone(), bytes: *bytes, cap });
            }
        }
        let new_bytes: u64 = batch.sizes.iter().map(|(_, bytes)| bytes).sum();
        let said = &mut self.session_cap_said;
        self.status.send_modify(|status| {
            status.flushed_through = Some(appended.flushed_through);
            status.synced_through = appended.synced_through;
            status.bytes_written += new_bytes;
            if let Some(cap) = caps.session_bytes.filter(|cap| status.bytes_written > *cap && !*said) {
                *said = true;
                reached.push(CapReached::Session { bytes: status.bytes_written, cap });
            }
            status.caps_reached.append(&mut reached);
            let surplus = status.caps_reached.len().saturating_sub(KEPT_CAPS);
            status.caps_reached.drain(..surplus);
        });
    }
}

/// Blobs first: a record never names one that is not there at its own level.
fn write(sink: &mut dyn Sink, batch: &Waiting) -> Result<Appended, Error> {
    for (sha256, bytes) in &batch.blobs {
        sink.put_blob(*sha256, bytes.as_bytes(), batch.durability).map_err(|error| match error {
            // The records are not in the log for the same reason, and may be tried again like those that did not fit.
            Error::Io { source, path, .. } => {
                Error::Append { path, ordinal: sink.next_ordinal(), cut_back: CutBack::NothingWritten, source }
            }
            other => other,
        })?;
    }
    sink.append(batch.at_ms, &batch.drafts, batch.durability)
}

/// Says that the log may take later what it does not take now.
const fn is_passing(error: &Error) -> bool {
    matches!(error, Error::Append { .. } | Error::Sync { .. })
}

fn in_words(error: &Error) -> String {
    let mut words = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        words.push_str(": ");
        words.push_str(&error.to_string());
        cause = error.source();
    }
    words
}

impl Drop for Journal {
    fn drop(&mut self) {
        // The last chance for what waits. If there is still no room, the status that the host watches has said so.
        let _written = self.flush();
    }
}

impl fmt::Debug for Journal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Journal")
            .field("log", &self.sink.path())
            .field("pending", &self.pending())
            .finish_non_exhaustive()
    }
}
