//! The events from which a session goes on: of a long log only its end.

use std::{
    collections::VecDeque,
    io::{Read, Seek, SeekFrom},
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
};

use super::{
    BlobRef, RolloutItem,
    blob::Blobs,
    event::{Events, ReplayEvent, decode},
    forward::{Forward, HeldLine, Stopped},
    limits::OpenLimits,
    reader::RecordReader,
    repeated::Repeated,
    report::{Contents, Finding, RecoveryReport},
    sniff::LogFormat,
    source::LogSource,
    tail::{Live, LiveStart, RecordPlace, live_start},
};
use crate::Error;

/// Reads the events from which a session goes on, oldest first: the header, the turn that was live at the newest
/// undamaged checkpoint, the checkpoint, and what stands behind it. Without a checkpoint it is every event.
///
/// What is read costs what the live window costs, however long the log is. A source that cannot be read from its end, as
/// a packed log, is read [forwards](Self::forward): each line is checked, and what was superseded is never decoded.
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
    rest: Rest<R>,
    checkpoint: Option<RecordPlace>,
    /// What was found in what stands before the checkpoint and counts.
    header: RecoveryReport,
    limits: OpenLimits,
    budget: Arc<Budget>,
    path: PathBuf,
    over: bool,
}

/// What comes from the checkpoint on.
#[derive(Debug)]
enum Rest<R> {
    Unread(Events<R>),
    Held(VecDeque<HeldLine>, Box<RecoveryReport>, Repeated),
}

impl<R: Read> Rest<R> {
    fn report(&self) -> &RecoveryReport {
        match self {
            Self::Unread(events) => events.report(),
            Self::Held(_, report, _) => report,
        }
    }

    fn next(&mut self, blobs: &dyn Blobs) -> Option<Result<ReplayEvent, Error>> {
        match self {
            Self::Unread(events) => events.next(),
            Self::Held(lines, report, repeated) => {
                let line = lines.pop_front()?.into_line()?;
                Some(Ok(decode(&line, Some(blobs), repeated, report)))
            }
        }
    }
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
    /// [unusable](super::Problem::BlobUnusable).
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
                let event = first.next().transpose()?;
                header = first.into_report();
                // Where the header is missing, the checkpoint may be what stands first.
                match event.filter(|event| event.offset < checkpoint.offset) {
                    Some(event) => before.push_back(event),
                    None => header.records = 0,
                }
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
        Ok(Self { before, rest: Rest::Unread(events), checkpoint, header, limits, budget, path, over: false })
    }
}

impl LiveEvents<LogSource> {
    /// Opens the log at `path`, plain or packed with zstd (feature `zstd`); a folder is that of a session. It is read
    /// [forwards](Self::forward).
    ///
    /// # Errors
    /// [`Error::Io`], [`Error::OverLimit`], and [`Error::Compressed`] where this was built without the feature `zstd`.
    /// [`Error::NotOurs`] for a log of another format, of which more has to be read.
    pub fn open_path(path: &Path, limits: OpenLimits, blobs: Option<Arc<dyn Blobs>>) -> Result<Self, Error> {
        let source = LogSource::open(path)?;
        match source.format() {
            LogFormat::Own | LogFormat::Empty => Self::forward(source, limits, blobs, path.to_owned()),
            format => Err(Error::NotOurs { path: path.to_owned(), format }),
        }
    }
}

impl<R: Read> LiveEvents<R> {
    /// Reads an own log from its start to its end and finds on the way where the live part starts; the events are those of
    /// [`open`](Self::open).
    ///
    /// Each line is checked, and one that a later checkpoint superseded is dropped without being decoded. What is held at
    /// once are the lines from one checkpoint to the next: to them, too, the limit applies.
    ///
    /// # Errors
    /// [`Error::Io`], [`Error::OverLimit`].
    pub fn forward(reader: R, limits: OpenLimits, blobs: Option<Arc<dyn Blobs>>, path: PathBuf) -> Result<Self, Error> {
        let max_bytes = limits.max_bytes.unwrap_or(u64::MAX);
        let budget = Arc::new(Budget { left: AtomicU64::new(max_bytes), is_over: AtomicBool::new(false), blobs });
        let mut reader = RecordReader::with_limits(reader, limits.read).with_path(&path);
        let forward = Forward::read(&mut reader, limits).map_err(|stopped| match stopped {
            Stopped::Failed(error) => error,
            Stopped::OverLimit(offset) => Error::OverLimit { path: path.clone(), limit: max_bytes, offset },
        })?;
        let mut report = Box::new(reader.into_report());
        let (mut header, mut of_turn) = (RecoveryReport::default(), RecoveryReport::default());
        if let Some(checkpoint) = forward.checkpoint {
            header.findings = report.findings.extract_if(.., |found| found.offset < checkpoint.offset).collect();
        }
        let (mut before, mut repeated) = (VecDeque::new(), Repeated::default());
        before.extend(forward.header.iter().map(|line| decode(line, None, &mut repeated, &mut header)));
        before.extend(forward.turn.iter().map(|line| decode(line, None, &mut repeated, &mut of_turn)));
        let rest = Rest::Held(forward.lines, report, repeated);
        Ok(Self { before, rest, checkpoint: forward.checkpoint, header, limits, budget, path, over: false })
    }

    /// The checkpoint at which the live part starts.
    #[must_use]
    pub const fn checkpoint(&self) -> Option<RecordPlace> {
        self.checkpoint
    }

    /// Ends reading and gives what was found: in the header, and from the checkpoint on.
    #[must_use]
    pub fn into_report(self) -> RecoveryReport {
        let mut report = match self.rest {
            Rest::Unread(events) => events.into_report(),
            Rest::Held(_, mut report, _) => {
                // What decoding found came after what reading had found.
                report.findings.sort_by_key(|found| found.offset);
                *report
            }
        };
        if self.checkpoint.is_some() {
            report.records += self.header.records;
            report.contents = if report.records > 0 { Contents::Records } else { report.contents };
            let first = self.header.findings;
            // Of a checkpoint that stands first both tell.
            let is_told = |found: &Finding| {
                first.iter().any(|told| (told.offset, &told.problem) == (found.offset, &found.problem))
            };
            report.findings.retain(|found| !is_told(found));
            report.findings.splice(0..0, first);
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
        let Some(max_bytes) = self.limits.max_bytes else { return self.rest.next(&*self.budget) };
        let left = self.budget.left.load(Ordering::Relaxed);
        let n_findings = self.rest.report().findings.len();
        if let Rest::Unread(events) = &mut self.rest {
            events.limit_line(usize::try_from(left).unwrap_or(usize::MAX).min(self.limits.read.max_line_bytes));
        }
        let event = self.rest.next(&*self.budget);
        // A line that is longer than what is left was stepped over: it is not in memory, and it is not left out either.
        let too_long = self.rest.report().too_long_since(n_findings);
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
