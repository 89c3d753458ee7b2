//! One stream of events from own and foreign logs.

use std::{
    io::{Read, Seek},
    path::{Path, PathBuf},
    sync::Arc,
};

use super::{
    blob::Blobs,
    codex::CodexReader,
    judge::Trust,
    limits::ReadLimits,
    logged::LoggedLine,
    ordinals::Place,
    reader::RecordReader,
    record::{Record, RolloutItem},
    repeated::Repeated,
    report::{Finding, Problem, RecoveryReport},
    sniff::{LogFormat, sniff},
    source::LogSource,
};
use crate::{Error, rollout::RawJson};

/// One thing that a log says, and where it says it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ReplayEvent {
    /// Where its line starts in the file, in bytes.
    pub offset: u64,
    /// The number of its record; logs of old foreign versions have none.
    pub ordinal: Option<u64>,
    /// When it was written, as it stands.
    pub timestamp: Arc<str>,
    /// Whether it is what its writer wrote.
    pub trust: Trust,
    /// Where it stands among the others.
    pub place: Place,
    /// What it says.
    pub record: Record,
}

/// Reads a log of either format, record by record, and never stops at damage.
///
/// # Shape
/// Events of a foreign log are in the words of the own format: positions, sent marks and counters are absent where the
/// log has none. What is not known is [`RolloutItem::Other`], counted in the report.
/// # Example
/// ```
/// use session::rollout::{Events, LogFormat, RolloutItem};
///
/// let log = "{\"timestamp\":\"2026-09-01T08:00:00.000Z\",\"type\":\"event_msg\",\"payload\":{\"type\":\"task_started\",\"turn_id\":\"t1\"}}\n";
/// let mut events = Events::open(std::io::Cursor::new(log))?;
/// assert_eq!(events.format(), LogFormat::Codex);
/// let event = events.next().unwrap()?;
/// assert!(matches!(event.record.item, RolloutItem::TurnStarted(turn) if turn.turn_id.as_deref() == Some("t1")));
/// # Ok::<(), session::Error>(())
/// ```
#[derive(Debug)]
pub struct Events<R> {
    source: Source<R>,
    format: LogFormat,
    blobs: Option<Arc<dyn Blobs>>,
    repeated: Repeated,
}

#[derive(Debug)]
enum Source<R> {
    Own(Box<RecordReader<R>>),
    Codex(Box<CodexReader<R>>),
}

impl Events<LogSource> {
    /// Opens the log at `path`, plain or packed with zstd (feature `zstd`); a folder is that of a session.
    ///
    /// # Errors
    /// [`Error::Io`], and [`Error::Compressed`] where this was built without the feature `zstd`.
    pub fn open_path(path: &Path) -> Result<Self, Error> {
        LogSource::open(path).map(|source| Self::from_source(source, ReadLimits::default(), path.to_owned()))
    }

    /// Reads a source that was opened, with other limits, and with a name for errors.
    #[must_use]
    pub fn from_source(source: LogSource, limits: ReadLimits, path: PathBuf) -> Self {
        let format = source.format();
        Self { source: Source::new(source, format, limits, path), format, blobs: None, repeated: Repeated::default() }
    }
}

impl<R: Read> Source<R> {
    fn new(file: R, format: LogFormat, limits: ReadLimits, path: PathBuf) -> Self {
        match format {
            LogFormat::Codex => Self::Codex(Box::new(CodexReader::with_limits(file, limits).with_path(path))),
            _ => Self::Own(Box::new(RecordReader::with_limits(file, limits).with_path(path))),
        }
    }
}

impl<R: Read + Seek> Events<R> {
    /// Recognises the log and reads it from its start. A packed one is unpacked by [`open_path`](Self::open_path) alone.
    ///
    /// A file that is no log gives no event; the report says what stands in it.
    ///
    /// # Errors
    /// [`Error::Compressed`], [`Error::Io`].
    pub fn open(file: R) -> Result<Self, Error> {
        Self::open_named(file, ReadLimits::default(), PathBuf::new())
    }

    /// The same with other limits, and with a name for errors.
    ///
    /// # Errors
    /// [`Error::Compressed`], [`Error::Io`].
    pub fn open_named(mut file: R, limits: ReadLimits, path: PathBuf) -> Result<Self, Error> {
        let found = file.rewind().and_then(|()| sniff(&mut file)).and_then(|format| file.rewind().map(|()| format));
        let format = match found {
            Ok(LogFormat::Zstd) => return Err(Error::Compressed { path }),
            Ok(format) => format,
            Err(source) => return Err(Error::Io { action: "read", path, source }),
        };
        Ok(Self { source: Source::new(file, format, limits, path), format, blobs: None, repeated: Repeated::default() })
    }
}

impl<R: Read> Events<R> {
    /// What the log was recognised as.
    #[must_use]
    pub const fn format(&self) -> LogFormat {
        self.format
    }

    /// Takes a reader of the own format, for example one that starts at a checkpoint.
    #[must_use]
    pub fn from_reader(reader: RecordReader<R>) -> Self {
        Self {
            source: Source::Own(Box::new(reader)),
            format: LogFormat::Own,
            blobs: None,
            repeated: Repeated::default(),
        }
    }

    /// Lowers or raises the longest line for what is read next.
    pub(super) const fn limit_line(&mut self, max_line_bytes: usize) {
        if let Source::Own(reader) = &mut self.source {
            reader.limit_line(max_line_bytes);
        }
    }

    /// Says where the blobs are, so that records come with all their bytes. Without it they keep their holes and name them.
    #[must_use]
    pub fn with_blobs(mut self, blobs: Arc<dyn Blobs>) -> Self {
        self.blobs = Some(blobs);
        self
    }

    /// What was found so far; complete once the iterator has ended.
    #[must_use]
    pub fn report(&self) -> &RecoveryReport {
        match &self.source {
            Source::Own(reader) => reader.report(),
            Source::Codex(reader) => reader.report(),
        }
    }

    /// Ends reading and gives the report.
    #[must_use]
    pub fn into_report(self) -> RecoveryReport {
        match self.source {
            Source::Own(reader) => reader.into_report(),
            Source::Codex(reader) => reader.into_report(),
        }
    }
}

impl<R: Read> Iterator for Events<R> {
    type Item = Result<ReplayEvent, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        match &mut self.source {
            Source::Codex(reader) => reader.next(),
            Source::Own(reader) => match reader.next()? {
                Ok(line) => {
                    let event = decode(&line, self.blobs.as_deref(), &mut self.repeated, reader.report_mut());
                    reader.reuse(line);
                    Some(Ok(event))
                }
                Err(error) => Some(Err(error)),
            },
        }
    }
}

/// Reads a record; one that its type does not fit is reported and kept as it stands.
#[inline]
pub(super) fn decode(
    line: &LoggedLine,
    blobs: Option<&dyn Blobs>,
    repeated: &mut Repeated,
    report: &mut RecoveryReport,
) -> ReplayEvent {
    if let Some((item, metadata)) = line.plain_item(repeated) {
        // Most of a log. Made where it stands: a record has half a kilobyte, and each move would copy it.
        return ReplayEvent {
            offset: line.offset(),
            ordinal: Some(line.ordinal()),
            timestamp: repeated.timestamp(line.timestamp()),
            trust: line.trust(),
            place: line.place(),
            record: Record { item: RolloutItem::Item(item), metadata, blobs: Vec::new(), original: None },
        };
    }
    let decoded = match blobs {
        Some(blobs) => line.decode_after_with(repeated, blobs),
        None => line.decode_after(repeated),
    };
    let record = decoded.unwrap_or_else(|error| {
        let len = line.text().len() as u64;
        let problem = match error {
            Error::BlobMismatch { .. } | Error::Io { .. } => Problem::BlobUnusable { reason: error.to_string() },
            error => Problem::Misshapen { reason: error.to_string() },
        };
        report.findings.push(Finding { offset: line.offset(), len, line: None, problem });
        let payload = line.payload().map_or_else(|_| RawJson::string(line.text()), RawJson::from_json);
        Record::from(RolloutItem::Other { type_name: line.type_name().into(), version: line.version(), payload })
    });
    ReplayEvent {
        offset: line.offset(),
        ordinal: Some(line.ordinal()),
        timestamp: repeated.timestamp(line.timestamp()),
        trust: line.trust(),
        place: line.place(),
        record,
    }
}
