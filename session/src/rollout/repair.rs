//! Making a sound log out of a damaged one, in another folder.

use std::{
    fs::File,
    io::{Read as _, Seek as _, SeekFrom},
    path::{Path, PathBuf},
};

use super::{
    Blobs as _, Original, Prepared, Problem, RecordReader, RolloutItem,
    digest::Sha256,
    folder::SessionFolder,
    fsck::{blobs_of, folder_of},
    line::push_line,
    lock::Owner,
    logged::LoggedLine,
    ordinals::Place,
    report::{Finding, RecoveryReport},
    sniff::LogFormat,
    source::{LogSource, Progress},
    writer::Durability,
};
use crate::{
    Error,
    store::{Claim, FsStore, Store as _},
};

/// How many bytes of lines are written at once.
const BATCH: usize = 1024 * 1024;
/// From which length on a string of a record that has to be written anew goes into a blob.
const MIN_BLOB_BYTES: usize = 16 * 1024;

/// What becomes of records that someone edited.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[expect(clippy::exhaustive_enums, reason = "a record is taken or it is not")]
pub enum EditedRecords {
    /// They are left out.
    #[default]
    LeaveOut,
    /// They are taken as they stand, with a checksum of their own: the caller knows who edited them.
    Take,
}

/// What a repair has done.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Repaired {
    /// How many records are in the new log.
    pub records: u64,
    /// What was left out, in the order of the ordinals.
    pub left_out: Vec<LeftOut>,
    /// What was found in the old log.
    pub report: RecoveryReport,
}

/// A record of the old log that is not in the new one.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct LeftOut {
    /// Where it starts in the old log, in bytes.
    pub offset: u64,
    /// Its ordinal there.
    pub ordinal: u64,
    /// Its type.
    pub type_name: String,
    /// Why.
    pub reason: &'static str,
}

/// Copies what is whole in a log of this crate into a new folder: records in the order of their ordinals, numbered anew,
/// with their time stamps and everything in them that this version does not know; and the blobs that they name.
///
/// The old log is not touched. Records that repeat others, that are not what their type says, that name a blob which is not
/// there, or that someone edited are left out. Behind a loss, until the next checkpoint, records that say what the model was told or sent are left out too,
/// because they may speak of what was lost: the next turn says it again, and nothing that was not said is taken for said.
///
/// # Errors
/// [`Error::NotOurs`] for another file and [`Error::Compressed`] for a packed one. [`Error::Unresumable`] if there is no
/// header to start with: what is left can be [salvaged](super::salvage). [`Error::Exists`] if the new folder holds a log.
/// [`Error::Io`], [`Error::Append`]; the new folder then holds a log that is not whole.
pub fn repair(
    from: &Path,
    to: &SessionFolder,
    owner: &Owner,
    edited: EditedRecords,
    tell: &mut dyn FnMut(Progress),
) -> Result<Repaired, Error> {
    let folder = folder_of(from);
    let log = if from.is_dir() { folder.log_path() } else { from.to_owned() };
    let Survey { mut places, left_out, report, lost_window } = survey(&log, &folder, edited)?;
    places.sort_unstable();
    let mut store = FsStore::new(to.clone()).linking_blobs_of(folder.clone());
    store.claim(Claim::New, owner)?;
    let file = File::open(&log).map_err(|source| Error::Io { action: "open", path: log.clone(), source })?;
    let mut work =
        Work { file, log, folder, store, lines: String::new(), n_lines: 0, records: 0, left_out, lost_window };
    let losses: Vec<u64> =
        report.findings.iter().filter(|found| found.problem.is_loss()).map(|found| found.offset).collect();
    let total = places.iter().map(|place| place.len as u64).sum();
    let (mut done, mut told) = (0, 0);
    let mut loss = Loss { offsets: losses, since: None };
    for place in &places {
        work.take(*place, &mut loss)?;
        done += place.len as u64;
        if done >= told + BATCH as u64 {
            told = done;
            tell(Progress::new(done, total));
        }
    }
    work.flush()?;
    work.store.sync()?;
    tell(Progress::new(total, total));
    let Work { records, mut left_out, .. } = work;
    left_out.sort_unstable_by_key(|left| (left.ordinal, left.offset));
    Ok(Repaired { records, left_out, report })
}

/// Where a record that is taken stands in the old log.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Taken {
    ordinal: u64,
    offset: u64,
    len: usize,
}

struct Survey {
    places: Vec<Taken>,
    left_out: Vec<LeftOut>,
    report: RecoveryReport,
    /// No checkpoint is left, and more than a header is: of a fork, the window with which it began was lost.
    lost_window: bool,
}

fn survey(log: &Path, folder: &SessionFolder, edited: EditedRecords) -> Result<Survey, Error> {
    let source = LogSource::open(log)?;
    if source.is_packed() {
        return Err(Error::Compressed { path: log.to_owned() });
    }
    if source.format() != LogFormat::Own {
        return Err(Error::NotOurs { path: log.to_owned(), format: source.format() });
    }
    let mut reader = RecordReader::new(source).with_path(log);
    let (mut places, mut left_out) = (Vec::new(), Vec::new());
    let (mut has_header, mut has_window, mut has_more) = (false, false, false);
    for line in reader.by_ref() {
        let line = line?;
        let reason = if line.trust().is_edited() && edited == EditedRecords::LeaveOut {
            Some("someone edited it")
        } else if line.place() == Place::Repeated {
            Some("it repeats another one")
        } else {
            None
        };
        match reason {
            Some(reason) => left_out.push(left(&line, reason)),
            None => {
                has_header |= line.type_name() == "session_meta" && line.decode().is_ok();
                has_window |= line.type_name() == "checkpoint" && line.decode_with(folder).is_ok();
                has_more |= !matches!(line.type_name(), "session_meta" | "opened");
                places.push(Taken { ordinal: line.ordinal(), offset: line.offset(), len: line.text().len() });
            }
        }
    }
    let report = reader.into_report();
    if !has_header {
        let finding = Finding { offset: 0, len: 0, line: None, problem: Problem::NoSessionMeta };
        return Err(Error::Unresumable { path: log.to_owned(), finding });
    }
    Ok(Survey { places, left_out, report, lost_window: has_more && !has_window })
}

fn left(line: &LoggedLine, reason: &'static str) -> LeftOut {
    LeftOut { offset: line.offset(), ordinal: line.ordinal(), type_name: line.type_name().into(), reason }
}

/// The losses of a log, and whether one counts.
struct Loss {
    offsets: Vec<u64>,
    /// Something was lost here, and no checkpoint has stood behind it.
    since: Option<u64>,
}

impl Loss {
    /// Says whether the record speaks of what may be lost.
    fn touches(&mut self, line: &LoggedLine) -> bool {
        if line.type_name() == "checkpoint" {
            self.offsets.retain(|offset| *offset > line.offset());
            self.since = None;
            return false;
        }
        let lost = self.offsets.iter().find(|offset| **offset <= line.offset()).copied();
        self.since = self.since.or(lost);
        self.since.is_some() && matches!(line.type_name(), "sent" | "world_state" | "turn_context")
    }
}

struct Work {
    file: File,
    log: PathBuf,
    folder: SessionFolder,
    store: FsStore,
    lines: String,
    n_lines: u64,
    records: u64,
    left_out: Vec<LeftOut>,
    lost_window: bool,
}

impl Work {
    fn take(&mut self, place: Taken, loss: &mut Loss) -> Result<(), Error> {
        let Some(line) = self.read(place)? else { return Ok(()) };
        if loss.touches(&line) {
            self.left_out.push(left(&line, "it may speak of what was lost"));
            return Ok(());
        }
        if line.decode().is_err() {
            loss.since = loss.since.or(Some(place.offset));
            self.left_out.push(left(&line, "it is not what its type says"));
            return Ok(());
        }
        let Some(draft) = self.draft_of(&line)? else {
            loss.since = loss.since.or(Some(place.offset));
            self.left_out.push(left(&line, "its blob is missing or damaged"));
            return Ok(());
        };
        push_line(&mut self.lines, line.timestamp(), self.records, |out| draft.push_body(out));
        self.n_lines += 1;
        self.records += 1;
        if self.lines.len() >= BATCH { self.flush() } else { Ok(()) }
    }

    /// Reads the record again; none if it has changed since.
    fn read(&mut self, place: Taken) -> Result<Option<LoggedLine>, Error> {
        let failed = |source| Error::Io { action: "read", path: self.log.clone(), source };
        let mut bytes = vec![0; place.len];
        self.file.seek(SeekFrom::Start(place.offset)).map_err(failed)?;
        self.file.read_exact(&mut bytes).map_err(failed)?;
        RecordReader::starting_at_unknown(bytes.as_slice(), super::ReadLimits::default(), place.offset)
            .next()
            .transpose()
    }

    /// The record as the new log has it; none if a blob that its payload needs is not there.
    fn draft_of(&mut self, line: &LoggedLine) -> Result<Option<super::Draft>, Error> {
        if self.lost_window
            && line.type_name() == "session_meta"
            && let Ok(mut record) = line.decode()
            && let RolloutItem::SessionMeta(meta) = &mut record.item
            && let Some(parent) = meta.parent.as_mut().filter(|parent| parent.brings_window)
        {
            // What is left is a session of its own, and no half of a fork that nobody went on with.
            parent.brings_window = false;
            return Ok(Some(record.into()));
        }
        self.with_blobs(line)
    }

    /// Brings the blobs of a record into the new folder; none if one that its payload needs is not there.
    fn with_blobs(&mut self, line: &LoggedLine) -> Result<Option<super::Draft>, Error> {
        let Ok(record) = line.decode() else { return Ok(Some(line.to_draft())) };
        for blob in &record.blobs {
            if !self.bring(blob)? {
                return Ok(None);
            }
        }
        let n_missing = {
            let mut n_missing = 0;
            for blob in blobs_of(&record).iter().skip(record.blobs.len()) {
                n_missing += usize::from(!self.bring(blob)?);
            }
            n_missing
        };
        if n_missing == 0 {
            return Ok(Some(line.to_draft()));
        }
        // The whole of an output that was cut is gone; what the model read of it is not.
        let Ok(mut record) = line.decode_with(&self.folder) else { return Ok(None) };
        let is_here = |original: &Option<Original>| match original {
            Some(Original::Blob(blob)) => {
                self.folder.read_blob(blob).is_ok_and(|bytes| Sha256::of(&bytes) == blob.sha256)
            }
            _ => true,
        };
        if !is_here(&record.original) {
            record.original = None;
        }
        if let RolloutItem::Checkpoint(checkpoint) = &mut record.item {
            for item in checkpoint.items.iter_mut().flatten().filter(|item| !is_here(&item.original)) {
                item.original = None;
            }
        }
        let prepared = Prepared::new(record.into(), MIN_BLOB_BYTES);
        for (sha256, bytes) in &prepared.blobs {
            self.store.put_blob(*sha256, bytes.as_bytes(), Durability::DataSync)?;
        }
        Ok(Some(prepared.draft))
    }

    fn bring(&mut self, blob: &super::BlobRef) -> Result<bool, Error> {
        match self.folder.read_blob(blob) {
            Ok(bytes) if bytes.len() as u64 == blob.len && Sha256::of(&bytes) == blob.sha256 => {
                self.store.put_blob(blob.sha256, &bytes, Durability::DataSync).map(|()| true)
            }
            _ => Ok(false),
        }
    }

    fn flush(&mut self) -> Result<(), Error> {
        let n_lines = std::mem::take(&mut self.n_lines);
        if n_lines == 0 {
            return Ok(());
        }
        self.store.append_lines(std::mem::take(&mut self.lines), n_lines)
    }
}
