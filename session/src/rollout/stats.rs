//! Which kind of record holds the bytes of a log.

use std::{
    collections::{BTreeMap, HashSet},
    path::Path,
};

use super::{
    event::Events,
    fsck::{blobs_of, folder_of},
    limits::ReadLimits,
    report::RecoveryReport,
    sniff::LogFormat,
    source::{LogSource, Progress},
};
use crate::{Error, store::blob_names};

/// What the bytes of a log are.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Stats {
    /// What the log was recognised as.
    pub format: Option<LogFormat>,
    /// The length of the log, unpacked, in bytes.
    pub bytes: u64,
    /// Each type of record.
    pub types: BTreeMap<String, TypeStats>,
    /// The bytes of the blobs that are named, each once.
    pub blob_bytes: u64,
    /// How many these are.
    pub n_blobs: u64,
    /// The bytes of the blobs in the folder, named or not.
    pub blob_bytes_on_disk: u64,
    /// How many bytes of lines stand from the newest checkpoint on: what a resume reads.
    pub live_bytes: u64,
    /// What was found besides.
    pub report: RecoveryReport,
}

/// What one type of record takes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct TypeStats {
    /// How many there are.
    pub records: u64,
    /// What their lines take, in bytes.
    pub bytes: u64,
    /// The bytes of the blobs that they are the first to name.
    pub new_blob_bytes: u64,
    /// The bytes of all blobs that they name, counted each time: what they would take without blobs.
    pub named_blob_bytes: u64,
    /// The longest line, in bytes.
    pub largest: u64,
}

/// Reads a whole log, own or of the Codex CLI, plain or packed, and counts. `path` is the log or the folder of the session.
///
/// # Errors
/// [`Error::Io`], [`Error::Compressed`].
/// # Example
/// ```
/// # let temporary = tempfile::tempdir().unwrap();
/// use session::rollout::{Durability, Owner, SessionFolder, SessionMeta, stats};
///
/// let folder = SessionFolder::new(temporary.path().join("s1"));
/// folder.create(&SessionMeta::new("s1"), &Owner::this_process("here", 0), Durability::Flush)?;
/// let stats = stats(folder.path(), &mut |_| ())?;
/// assert_eq!(stats.types.keys().collect::<Vec<_>>(), ["opened", "session_meta"]);
/// # Ok::<(), session::Error>(())
/// ```
pub fn stats(path: &Path, tell: &mut dyn FnMut(Progress)) -> Result<Stats, Error> {
    let source = LogSource::open(path)?;
    let mut meter = source.meter();
    let mut events = Events::from_source(source, ReadLimits::default(), path.to_owned());
    let mut stats = Stats { format: Some(events.format()), ..Stats::default() };
    let mut named = HashSet::new();
    let mut last: Option<(u64, String)> = None;
    let mut checkpoint = 0;
    loop {
        let event = events.next().transpose()?;
        let end = event.as_ref().map_or_else(|| events.report().append_at, |event| event.offset);
        if let Some((start, type_name)) = last.take() {
            let of_type = stats.types.entry(type_name).or_default();
            of_type.bytes += end - start;
            of_type.largest = of_type.largest.max(end - start);
        }
        let Some(event) = event else { break };
        let type_name = event.record.item.type_name().to_owned();
        let of_type = stats.types.entry(type_name.clone()).or_default();
        of_type.records += 1;
        // A log may claim any length for a blob.
        for blob in blobs_of(&event.record) {
            of_type.named_blob_bytes = of_type.named_blob_bytes.saturating_add(blob.len);
            if named.insert(blob.sha256) {
                of_type.new_blob_bytes = of_type.new_blob_bytes.saturating_add(blob.len);
                stats.blob_bytes = stats.blob_bytes.saturating_add(blob.len);
            }
        }
        if type_name == "checkpoint" {
            checkpoint = event.offset;
        }
        last = Some((event.offset, type_name));
        meter.tell(tell);
    }
    stats.report = events.into_report();
    stats.bytes = stats.report.append_at + stats.report.torn_tail.map_or(0, |tail| tail.len);
    stats.live_bytes = stats.bytes - checkpoint;
    stats.n_blobs = named.len() as u64;
    let folder = folder_of(path);
    let failed = |source| Error::Io { action: "list", path: folder.blobs_path(), source };
    for (_, blob) in blob_names(&folder).map_err(failed)? {
        stats.blob_bytes_on_disk += blob.metadata().map_err(failed)?.len();
    }
    Ok(stats)
}
