//! Checking a log and its blobs.

use std::{collections::BTreeMap, path::Path};

use super::{
    Original, Record, RolloutItem,
    blob::BlobRef,
    digest::Sha256,
    event::Events,
    folder::SessionFolder,
    limits::ReadLimits,
    report::RecoveryReport,
    sniff::LogFormat,
    source::{LogSource, Progress},
};
use crate::{Error, store::blob_names};

/// What a check of a log has found.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Checked {
    /// What the log was recognised as.
    pub format: LogFormat,
    /// Every damage of the log.
    pub report: RecoveryReport,
    /// How many blobs the records name.
    pub n_blobs: u64,
    /// Blobs that are not what the records name.
    pub blobs: Vec<BlobFinding>,
    /// Blobs that no record names: what a write that did not end has left. They harm nothing.
    pub unnamed_blobs: Vec<Sha256>,
}

/// A blob with something wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct BlobFinding {
    /// The blob.
    pub sha256: Sha256,
    /// Where the first record starts that names it, in bytes.
    pub named_at: u64,
    /// What is wrong.
    pub problem: BlobProblem,
}

/// What is wrong with a blob.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum BlobProblem {
    /// It is not there, or cannot be read.
    Missing,
    /// Its bytes are others.
    Damaged,
}

impl Checked {
    /// Says that nothing is lost, changed or doubtful.
    #[must_use]
    pub fn is_sound(&self) -> bool {
        self.report.records > 0 && self.report.is_clean() && self.blobs.is_empty()
    }
}

/// Reads a whole log, own or of the Codex CLI, plain or packed, and checks every line and every blob that a line names.
/// `path` is the log or the folder of the session. Nothing is written, and no lock is needed.
///
/// # Errors
/// [`Error::Io`] if the log cannot be read, [`Error::Compressed`].
/// # Example
/// ```
/// # let temporary = tempfile::tempdir().unwrap();
/// use session::rollout::{Durability, Owner, SessionFolder, SessionMeta, fsck};
///
/// let folder = SessionFolder::new(temporary.path().join("s1"));
/// folder.create(&SessionMeta::new("s1"), &Owner::this_process("here", 0), Durability::Flush)?;
/// assert!(fsck(folder.path(), &mut |_| ())?.is_sound());
/// # Ok::<(), session::Error>(())
/// ```
pub fn fsck(path: &Path, tell: &mut dyn FnMut(Progress)) -> Result<Checked, Error> {
    let source = LogSource::open(path)?;
    let mut meter = source.meter();
    let folder = folder_of(path);
    let mut events = Events::from_source(source, ReadLimits::default(), path.to_owned());
    let format = events.format();
    let mut named: BTreeMap<Sha256, (u64, u64)> = BTreeMap::new();
    for event in events.by_ref() {
        let event = event?;
        for blob in blobs_of(&event.record) {
            named.entry(blob.sha256).or_insert((event.offset, blob.len));
        }
        meter.tell(tell);
    }
    let mut blobs = Vec::new();
    for (sha256, (named_at, len)) in &named {
        let problem = match folder.is_blob_sound(&BlobRef::new(0, *len, *sha256)) {
            Err(_) => BlobProblem::Missing,
            Ok(false) => BlobProblem::Damaged,
            Ok(true) => continue,
        };
        blobs.push(BlobFinding { sha256: *sha256, named_at: *named_at, problem });
    }
    // A log by itself, outside of a session's folder, has no blobs beside it that could be left over.
    let names = if folder.log_path().exists() || folder.compressed_log_path().exists() {
        let failed = |source| Error::Io { action: "list", path: folder.blobs_path(), source };
        blob_names(&folder).map_err(failed)?
    } else {
        Vec::new()
    };
    let unnamed = names.into_iter().map(|(sha256, _)| sha256).filter(|sha256| !named.contains_key(sha256));
    Ok(Checked {
        format,
        report: events.into_report(),
        n_blobs: named.len() as u64,
        blobs,
        unnamed_blobs: unnamed.collect(),
    })
}

/// The folder whose blobs a log names.
pub(super) fn folder_of(path: &Path) -> SessionFolder {
    if path.is_dir() { SessionFolder::new(path) } else { SessionFolder::new(path.parent().unwrap_or(Path::new(""))) }
}

/// Every blob that a record names, beside and inside its payload.
pub(super) fn blobs_of(record: &Record) -> Vec<BlobRef> {
    let mut blobs = record.blobs.clone();
    let original = |original: &Option<Original>| match original {
        Some(Original::Blob(blob)) => Some(*blob),
        _ => None,
    };
    blobs.extend(original(&record.original));
    if let RolloutItem::Checkpoint(checkpoint) = &record.item {
        blobs.extend(checkpoint.items.iter().flatten().filter_map(|item| original(&item.original)));
    }
    blobs
}
