//! One folder per session: the log, its lock, later its blobs. It is the unit of copying and deleting.

use std::{
    fs::{self, File},
    io::{self, Read as _, Seek as _},
    path::{Path, PathBuf},
    sync::Arc,
};

use super::{
    blob::{BlobRef, Blobs},
    digest::Sha256,
    event::Events,
    file::{FsLogFile, LogFile as _},
    limits::ReadLimits,
    line::LINE_START,
    lock::{LogLock, Owner},
    record::{Draft, RolloutItem},
    report::{Contents, Problem, RecoveryReport, TornTail},
    session_meta::{Opened, SessionMeta},
    sniff::{LogFormat, sniff},
    source::LogSource,
    tail::find_end,
    writer::{Appended, Durability, LogWriter, WriterStart},
};
use crate::Error;

/// A log that ends behind it is not gone on with, so that no ordinal runs over.
const LARGEST_ORDINAL: u64 = 1 << 60;

/// The folder of one session.
///
/// # Example
/// ```
/// use session::rollout::{Durability, Owner, SessionFolder, SessionMeta};
///
/// # let temporary = tempfile::tempdir().unwrap();
/// # let path = temporary.path().join("s1");
/// let folder = SessionFolder::new(path);
/// let owner = Owner::this_process("build-7", 1_792_483_200_123);
/// let opening = folder.create(&SessionMeta::new("s1"), &owner, Durability::Flush)?;
/// assert_eq!(opening.writer.next_ordinal(), 2);
/// assert!(folder.open_writer(&owner, Durability::Flush).unwrap_err().is_busy());
/// # Ok::<(), session::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SessionFolder {
    path: PathBuf,
}

/// A writer, and what it found when it came.
#[derive(Debug)]
#[non_exhaustive]
pub struct Opening {
    /// The writer.
    pub writer: LogWriter,
    /// The torn tail that was cut.
    pub cut: Option<TornTail>,
    /// What was found from the last undamaged record on. Damage before it is found by reading.
    pub report: RecoveryReport,
    /// The records that the opening wrote.
    pub appended: Appended,
}

impl SessionFolder {
    /// Names a folder; nothing is made or read.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into() }
    }

    /// The folder.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The log: `rollout.jsonl`.
    #[must_use]
    pub fn log_path(&self) -> PathBuf {
        self.path.join("rollout.jsonl")
    }

    /// The log after it was packed away: `rollout.jsonl.zst`.
    #[must_use]
    pub fn compressed_log_path(&self) -> PathBuf {
        self.path.join("rollout.jsonl.zst")
    }

    /// The lock file: `lock`.
    #[must_use]
    pub fn lock_path(&self) -> PathBuf {
        self.path.join("lock")
    }

    /// Makes the folder and a log that starts with `meta` and an `opened` record, in one write.
    ///
    /// What a creation that did not end has left, an empty log or a torn first line, is cut.
    ///
    /// # Errors
    /// [`Error::Exists`] if a record stands there, [`Error::NotOurs`] if something else does, [`Error::Busy`],
    /// [`Error::Io`], [`Error::Append`].
    pub fn create(&self, meta: &SessionMeta, owner: &Owner, durability: Durability) -> Result<Opening, Error> {
        let (writer, report) = self.claim_new(owner)?;
        let first = RolloutItem::SessionMeta(meta.clone()).into();
        start(writer, Some(first), owner, report, durability)
    }

    /// Makes the folder and an empty log, and takes its lock.
    pub(crate) fn claim_new(&self, owner: &Owner) -> Result<(LogWriter, RecoveryReport), Error> {
        let mut folders = fs::DirBuilder::new();
        folders.recursive(true);
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut folders, 0o700);
        folders.create(&self.path).map_err(|source| Error::Io { action: "make", path: self.path.clone(), source })?;
        let lock = LogLock::acquire(&self.lock_path(), owner)?;
        let path = self.log_path();
        let mut file = FsLogFile::create(&path).map_err(self.failed("create"))?;
        let report = find_end(file.reader(), ReadLimits::default()).map_err(self.failed("read"))?;
        self.check_unused(&mut file, &report)?;
        file.cut(0).map_err(self.failed("cut"))?;
        Ok((LogWriter::new(file, path, WriterStart::NEW).with_lock(lock), report))
    }

    /// Takes the log for writing: the lock, then the end of the log, then an `opened` record.
    ///
    /// A torn tail is cut and named in the record and in the answer. Only the end of the log is read.
    ///
    /// # Errors
    /// [`Error::Busy`] with the holder, [`Error::Empty`] if there is nothing to go on from, [`Error::NotOurs`] for a
    /// foreign log, [`Error::Compressed`], [`Error::Refused`] if the log is of a newer format, [`Error::Io`],
    /// [`Error::Append`].
    pub fn open_writer(&self, owner: &Owner, durability: Durability) -> Result<Opening, Error> {
        let (writer, report) = self.claim(owner)?;
        start(writer, None, owner, report, durability)
    }

    /// Takes the lock and cuts a torn tail.
    pub(crate) fn claim(&self, owner: &Owner) -> Result<(LogWriter, RecoveryReport), Error> {
        // Without a log there is no session, and no lock file is left where none was.
        let file = FsLogFile::open(&self.log_path()).map_err(self.failed("open"))?;
        let lock = LogLock::acquire(&self.lock_path(), owner)?;
        self.take(file, lock)
    }

    /// The same for one who holds the lock of this folder already, and has read the log under it.
    pub(crate) fn claim_locked(&self, lock: LogLock) -> Result<(LogWriter, RecoveryReport), Error> {
        let file = FsLogFile::open(&self.log_path()).map_err(self.failed("open"))?;
        self.take(file, lock)
    }

    fn take(&self, mut file: FsLogFile, lock: LogLock) -> Result<(LogWriter, RecoveryReport), Error> {
        let path = self.log_path();
        self.check_format(&mut file)?;
        let report = find_end(file.reader(), ReadLimits::default()).map_err(self.failed("read"))?;
        if report.records == 0 {
            return Err(Error::Empty { path, contents: report.contents });
        }
        // Somebody wrote it by hand: no log gets so far.
        if report.next_ordinal > LARGEST_ORDINAL {
            return Err(Error::misshapen("the last ordinal", "one that leaves room for others"));
        }
        let len = file.len().map_err(self.failed("measure"))?;
        if report.append_at < len {
            file.cut(report.append_at).map_err(self.failed("cut"))?;
        }
        let newline_owed = report.findings.iter().any(|finding| finding.problem == Problem::Unterminated)
            || report.torn_tail.is_some_and(|_| !ends_with_newline(&mut file, report.append_at));
        let begin = WriterStart { len: report.append_at, next_ordinal: report.next_ordinal, newline_owed };
        Ok((LogWriter::new(file, path, begin).with_lock(lock), report))
    }

    /// Opens the log for reading, which needs no lock. A packed one is read where there is no plain one.
    ///
    /// # Errors
    /// [`Error::Compressed`], [`Error::Io`].
    pub fn events(&self) -> Result<Events<LogSource>, Error> {
        Events::open_path(&self.log_path()).map(|events| events.with_blobs(Arc::new(self.clone())))
    }

    /// The folder of the blobs: `blobs`.
    #[must_use]
    pub fn blobs_path(&self) -> PathBuf {
        self.path.join("blobs")
    }

    /// The file of one blob.
    #[must_use]
    pub fn blob_path(&self, sha256: Sha256) -> PathBuf {
        self.blobs_path().join(sha256.to_string())
    }

    fn check_unused(&self, file: &mut FsLogFile, report: &RecoveryReport) -> Result<(), Error> {
        let path = self.log_path();
        if report.records > 0 {
            return Err(Error::Exists { path });
        }
        if report.contents != Contents::DamagedOnly {
            return Ok(());
        }
        // The first line of a creation that did not end is all that may be cut here: nobody's file is lost.
        let mut start = [0; LINE_START.len()];
        let len = file.read_at(0, &mut start).map_err(self.failed("read"))?;
        let is_torn_start =
            report.torn_tail.is_some_and(|tail| tail.offset == 0) && LINE_START.starts_with(&start[..len]);
        match self.sniffed(file)? {
            LogFormat::Own | LogFormat::Unknown if is_torn_start => Ok(()),
            format => Err(Error::NotOurs { path, format }),
        }
    }

    fn check_format(&self, file: &mut FsLogFile) -> Result<(), Error> {
        let path = self.log_path();
        match self.sniffed(file)? {
            LogFormat::Own | LogFormat::Empty => {}
            LogFormat::Zstd => return Err(Error::Compressed { path }),
            format => return Err(Error::NotOurs { path, format }),
        }
        let mut reader = super::RecordReader::new(file.reader()).with_path(path);
        let Some(first) = reader.next().transpose()? else { return Ok(()) };
        match reader.report().findings.iter().find(|finding| matches!(finding.problem, Problem::Refused { .. })) {
            Some(_) => Err(Error::Refused {
                type_name: first.type_name().into(),
                ordinal: first.ordinal(),
                needed: first.version(),
                known: super::READER_VERSION,
            }),
            None => Ok(()),
        }
    }

    fn sniffed(&self, file: &mut FsLogFile) -> Result<LogFormat, Error> {
        let reader = file.reader();
        let format = reader.rewind().and_then(|()| sniff(&mut *reader)).map_err(self.failed("read"))?;
        reader.rewind().map_err(self.failed("read"))?;
        Ok(format)
    }

    fn failed(&self, action: &'static str) -> impl Fn(io::Error) -> Error + use<> {
        let path = self.log_path();
        move |source| Error::Io { action, path: path.clone(), source }
    }
}

impl SessionFolder {
    /// Says whether a blob has the bytes that it is named by, without holding them.
    pub(super) fn is_blob_sound(&self, blob: &BlobRef) -> io::Result<bool> {
        let file = open_blob(&self.blob_path(blob.sha256))?;
        Ok(file.metadata()?.len() == blob.len && Sha256::of_reader(file)? == blob.sha256)
    }
}

impl Blobs for SessionFolder {
    fn read_blob(&self, blob: &BlobRef) -> Result<Vec<u8>, Error> {
        let path = self.blob_path(blob.sha256);
        let failed = |source| Error::Io { action: "read blob", path: path.clone(), source };
        let file = open_blob(&path).map_err(failed)?;
        let mut bytes = Vec::new();
        // One byte more than is due shows that the file is longer, without reading all of it.
        file.take(blob.len.saturating_add(1)).read_to_end(&mut bytes).map_err(failed)?;
        Ok(bytes)
    }
}

/// Opens a blob; a pipe would wait for a writer for ever, and a device may have no end.
fn open_blob(path: &Path) -> io::Result<File> {
    if !path.metadata()?.is_file() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "not a regular file"));
    }
    File::open(path)
}

fn ends_with_newline(file: &mut FsLogFile, len: u64) -> bool {
    let mut last = [0];
    match len.checked_sub(1) {
        Some(at) => matches!(file.read_at(at, &mut last), Ok(1)) && last == *b"\n",
        None => true,
    }
}

/// The record that says who took a log, and what was cut.
pub(crate) fn opened(owner: &Owner, cut: Option<TornTail>) -> Draft {
    let mut opened = Opened::new(owner.pid, owner.host.clone());
    opened.cut = cut.map(|tail| (tail.offset, tail.len));
    RolloutItem::Opened(opened).into()
}

/// Writes the records of an opening.
fn start(
    mut writer: LogWriter,
    first: Option<Draft>,
    owner: &Owner,
    report: RecoveryReport,
    durability: Durability,
) -> Result<Opening, Error> {
    let cut = report.torn_tail;
    let drafts: Vec<Draft> = first.into_iter().chain([opened(owner, cut)]).collect();
    let appended = writer.append(owner.since_ms, &drafts, durability)?;
    Ok(Opening { writer, cut, report, appended })
}
