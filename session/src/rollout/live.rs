//! The events from which a session goes on: of a long log only its end.

use std::{
    collections::VecDeque,
    io::{Read, Seek, SeekFrom},
    path::PathBuf,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
};

use super::{
    BlobRef, RolloutItem,
    blob::Blobs,
    event::{Events, ReplayEvent},
    limits::OpenLimits,
    reader::RecordReader,
    report::{Contents, Problem, RecoveryReport},
    tail::{Live, LiveStart, RecordPlace, live_start},
};
use crate::Error;

/// Reads the events from which a session goes on, oldest first: the header, the turn that was live at the newest
/// undamaged checkpoint, the checkpoint, and what stands behind it. Without a checkpoint it is every event.
///
/// What is read costs what the live window costs, however long the log is.
///
/// # Errors
/// An event that would hold more than the limit allows is not read: [`Error::OverLimit`] ends the iterator.
/// # Example
/// ```
/// # use session::{rollout::{Durability, Owner, SessionMeta}, store::{MemoryStore, StoreReader, create}};
/// use session::rollout::{LiveEvents, OpenLimits};
///
/// # let mut store = MemoryStore::new("s1");
/// # create(&mut store, &SessionMeta::new("s1"), &Owner::this_process("here", 0), Durability::Flush)?;
/// let live = LiveEvents::open(StoreReader::new(&mut store), OpenLimits::default(), None, "s1".into())?;
/// assert_eq!((live.checkpoint(), live.count()), (None, 2));
/// # Ok::<(), session::Error>(())
/// ```
#[derive(Debug)]
pub struct LiveEvents<R> {
    /// What stands before the checkpoint and counts.
    before: VecDeque<ReplayEvent>,
    events: Events<R>,
    checkpoint: Option<RecordPlace>,
    /// What was found in the header.
    header: RecoveryReport,
    limits: OpenLimits,
    budget: Arc<Budget>,
    path: PathBuf,
    over: bool,
}

/// What may still be held, shared with the blobs.
#[derive(Debug)]
struct Budget {
    left: AtomicU64,
    is_over: AtomicBool,
    blobs: Option<Arc<dyn Blobs>>,
}

impl Blobs for Budget {
    fn read_blob(&self, blob: &BlobRef) -> Result<Vec<u8>, Error> {
        let missing = || std::io::Error::new(std::io::ErrorKind::NotFound, "there is no place for blobs");
        let path = || PathBuf::from(blob.sha256.to_string());
        let Some(blobs) = &self.blobs else {
            return Err(Error::Io { action: "read blob", path: path(), source: missing() });
        };
        let taken = self.left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(blob.len));
        if let Err(left) = taken {
            self.is_over.store(true, Ordering::Relaxed);
            return Err(Error::OverLimit { path: path(), limit: left, offset: 0 });
        }
        blobs.read_blob(blob)
    }
}

impl<R: Read + Seek> LiveEvents<R> {
    /// Finds where the live part starts. `path` names the log in errors; without `blobs`, a record that needs one is
    /// [unusable](Problem::BlobUnusable).
    ///
    /// # Errors
    /// [`Error::Io`], [`Error::OverLimit`].
    pub fn open(mut file: R, limits: OpenLimits, blobs: Option<Arc<dyn Blobs>>, path: PathBuf) -> Result<Self, Error> {
        let max_bytes = limits.max_bytes.unwrap_or(u64::MAX);
        let budget = Arc::new(Budget { left: AtomicU64::new(max_bytes), is_over: AtomicBool::new(false), blobs });
        let failed = |source| Error::Io { action: "read", path: path.clone(), source };
        let blobs: Arc<dyn Blobs> = Arc::<Budget>::clone(&budget);
        let mut header = RecoveryReport::default();
        let mut before = VecDeque::new();
        let start = live_start(&mut file, limits.read, max_bytes).map_err(failed)?;
        let reader = match &start {
            Live::TooLarge(offset) => return Err(Error::OverLimit { path, limit: max_bytes, offset: *offset }),
            Live::Whole => {
                file.rewind().map_err(failed)?;
                RecordReader::with_limits(file, limits.read)
            }
            Live::From(LiveStart { checkpoint, turn_marks }) => {
                file.rewind().map_err(failed)?;
                let mut first = Events::from_reader(RecordReader::with_limits(&mut file, limits.read).with_path(&path));
                before.extend(first.next().transpose()?.filter(|event| event.offset < checkpoint.offset));
                header = first.into_report();
                for mark in turn_marks.iter().rev() {
                    file.seek(SeekFrom::Start(mark.offset)).map_err(failed)?;
                    let reader = RecordReader::starting_at(&mut file, limits.read, mark.offset, mark.ordinal);
                    before.extend(Events::from_reader(reader.with_path(&path)).next().transpose()?);
                }
                file.seek(SeekFrom::Start(checkpoint.offset)).map_err(failed)?;
                RecordReader::starting_at(file, limits.read, checkpoint.offset, checkpoint.ordinal)
            }
        };
        let events = Events::from_reader(reader.with_path(&path)).with_blobs(blobs);
        let checkpoint = if let Live::From(start) = start { Some(start.checkpoint) } else { None };
        Ok(Self { before, events, checkpoint, header, limits, budget, path, over: false })
    }
}

impl<R: Read> LiveEvents<R> {
    /// The checkpoint at which the live part starts.
    #[must_use]
    pub const fn checkpoint(&self) -> Option<RecordPlace> {
        self.checkpoint
    }

    /// Ends reading and gives what was found: in the header, and from the checkpoint on.
    #[must_use]
    pub fn into_report(self) -> RecoveryReport {
        let mut report = self.events.into_report();
        if self.checkpoint.is_some() {
            report.records += self.header.records;
            report.contents = if report.records > 0 { Contents::Records } else { report.contents };
            report.findings.splice(0..0, self.header.findings);
        }
        report
    }

    /// Says that the limit would have been passed.
    fn over_limit(&mut self, offset: u64) -> Error {
        self.over = true;
        Error::OverLimit { path: self.path.clone(), limit: self.limits.max_bytes.unwrap_or(u64::MAX), offset }
    }
}

impl<R: Read> Iterator for LiveEvents<R> {
    type Item = Result<ReplayEvent, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.over {
            return None;
        }
        if let Some(event) = self.before.pop_front() {
            return Some(Ok(event));
        }
        let Some(max_bytes) = self.limits.max_bytes else { return self.events.next() };
        let left = self.budget.left.load(Ordering::Relaxed);
        let n_findings = self.events.report().findings.len();
        self.events.limit_line(usize::try_from(left).unwrap_or(usize::MAX).min(self.limits.read.max_line_bytes));
        let event = self.events.next();
        // A line that is longer than what is left was stepped over: it is not in memory, and it is not left out either.
        let too_long = self.events.report().findings.get(n_findings..).into_iter().flatten();
        let too_long =
            too_long.filter(|finding| matches!(finding.problem, Problem::TooLong { .. })).map(|found| found.offset);
        let too_long = too_long.min();
        if self.budget.is_over.load(Ordering::Relaxed) || too_long.is_some() {
            let offset = event.as_ref().and_then(|event| event.as_ref().ok()).map_or(0, |event| event.offset);
            return Some(Err(self.over_limit(too_long.unwrap_or(offset))));
        }
        if let Some(Ok(event)) = &event {
            let held = match &event.record.item {
                RolloutItem::Item(item) => item.as_str().len() as u64,
                RolloutItem::Checkpoint(checkpoint) => {
                    // From here on, what was held before is not.
                    self.budget.left.store(max_bytes, Ordering::Relaxed);
                    let items = checkpoint.items.iter().flatten();
                    items.map(|item| item.item.as_str().len() as u64).sum()
                }
                _ => 0,
            };
            let left = self.budget.left.load(Ordering::Relaxed);
            match left.checked_sub(held) {
                Some(left) => self.budget.left.store(left, Ordering::Relaxed),
                None => {
                    let offset = event.offset;
                    return Some(Err(self.over_limit(offset)));
                }
            }
        }
        event
    }
}
