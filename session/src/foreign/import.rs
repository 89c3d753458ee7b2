//! A Codex rollout as a session of this library.

use std::{io::BufReader, path::Path};

use context_fragments::{Limit, json::ObjectWriter};
use context_manager::{ContextManager, Preset, Recording, TruncationPolicy};

use super::{
    Loss, Losses,
    lines::{next_line, record_of},
};
use crate::{
    Applied, Error, Replay, Survey,
    records::metadata_of,
    rollout::{
        Checkpoint, CheckpointCause, CheckpointItem, Draft, Durability, Events, LogFormat, LogSource, Owner, RawJson,
        ReplayEvent, RolloutItem, SessionFolder, SessionMeta,
    },
};

/// How many lines go into one write.
const LINES_PER_WRITE: usize = 256;

/// How a rollout is imported.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Import {
    /// The id of the new session; that of the rollout by default.
    pub session_id: Option<String>,
    /// Who makes the log, and when.
    pub owner: Owner,
    /// When it is made.
    pub at_ms: i64,
    /// To what tool outputs without a limit of their own are held: 10,000 tokens by default, as in the reference.
    pub tool_output: TruncationPolicy,
    /// What the new log survives.
    pub durability: Durability,
}

impl Import {
    /// Imports for this owner.
    #[must_use]
    pub fn new(owner: Owner, at_ms: i64) -> Self {
        Self {
            session_id: None,
            owner,
            at_ms,
            tool_output: TruncationPolicy::codex(Limit::Tokens(10_000)),
            durability: Durability::DataSync,
        }
    }

    /// Gives the new session this id.
    #[must_use]
    pub fn named(mut self, session_id: impl Into<String>) -> Self {
        self.session_id = Some(session_id.into());
        self
    }
}

/// What an import made.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Imported {
    /// The id of the new session.
    pub session_id: String,
    /// The lines of the rollout that are kept.
    pub lines: u64,
    /// The items that the model reads from here on.
    pub items: usize,
    /// The model of the last turn that counts.
    pub model: Option<String>,
    /// What could not be taken along.
    pub losses: Losses,
}

/// Makes a session in `folder` of the rollout at `path`, plain or packed with zstd (feature `zstd`), which [resumes](crate::Session::resume) like any other.
///
/// # Shape
/// The new log has each line of the rollout as a record of its own, and behind them one checkpoint: the items that the
/// model reads, the world state that it was told and the settings that were visible, as they are once every rollback and
/// compaction of the rollout is taken into account.
/// # Errors
/// [`Error::NotOurs`] if the file is no Codex rollout, [`Error::Compressed`] for a packed one without the feature, [`Error::Empty`] without one record,
/// [`Error::Exists`], [`Error::Busy`], [`Error::Io`], [`Error::Append`].
pub fn import(path: &Path, folder: &SessionFolder, import: &Import) -> Result<Imported, Error> {
    let mut losses = Losses::default();
    let mut survey = Survey::new();
    let mut events = Events::open_path(path)?;
    if !matches!(events.format(), LogFormat::Codex | LogFormat::Empty) {
        return Err(Error::NotOurs { path: path.to_owned(), format: events.format() });
    }
    for event in events.by_ref() {
        survey.take(&event?);
    }
    let report = events.into_report();
    if report.records == 0 {
        return Err(Error::Empty { path: path.to_owned(), contents: report.contents });
    }
    for (type_name, count) in &report.unknown {
        (0..*count).for_each(|_| losses.count(type_name));
    }
    for finding in &report.findings {
        losses.push(Loss::Meaning { offset: finding.offset, reason: finding.problem.to_string() });
    }
    let survivors = survey.finish();
    for _ in 0..survivors.ignored_patches() {
        losses.count("world_state patch without a state");
    }
    let manager = ContextManager::with_preset(Preset::Codex);
    let mut replay = Replay::surveyed(manager, Recording::new(import.tool_output), survivors);
    for event in Events::open_path(path)? {
        take(&mut replay, &event?, &mut losses);
    }
    replay.settle();

    let meta = header(&replay, path, import)?;
    let checkpoint = window(&replay);
    let items = checkpoint.items.as_ref().map_or(0, Vec::len);
    let mut writer = folder.create(&meta, &import.owner, import.durability)?.writer;
    let io = |source| Error::Io { action: "read", path: path.to_owned(), source };
    let mut reader = BufReader::new(LogSource::open(path)?);
    let (mut number, mut lines) = (0, 0);
    let mut batch: Vec<Draft> = Vec::new();
    while let Some(line) = next_line(&mut reader, number + 1).map_err(io)? {
        number += 1;
        batch.extend(record_of(line, number, &mut losses));
        if batch.len() == LINES_PER_WRITE {
            lines += batch.len() as u64;
            writer.append(import.at_ms, &batch, Durability::Flush)?;
            batch.clear();
        }
    }
    lines += batch.len() as u64;
    batch.push(RolloutItem::Checkpoint(checkpoint).into());
    writer.append(import.at_ms, &batch, import.durability)?;
    let model = replay.model().map(str::to_owned);
    Ok(Imported { session_id: meta.session_id, lines, items, model, losses })
}

/// Replays one event; what it does not do is a loss.
fn take(replay: &mut Replay, event: &ReplayEvent, losses: &mut Losses) {
    let mut lost = |reason: String| losses.push(Loss::Meaning { offset: event.offset, reason });
    match replay.apply(event) {
        Ok(Applied::Dropped(reason)) => lost(format!("an item of this kind is no part of a history ({reason:?})")),
        Ok(_) => {}
        Err(error) => lost(error.to_string()),
    }
}

fn header(replay: &Replay, path: &Path, import: &Import) -> Result<SessionMeta, Error> {
    let foreign = replay.header();
    let name = path.file_stem().map(|name| name.to_string_lossy().into_owned());
    let id = import.session_id.clone().or_else(|| foreign.map(|meta| meta.session_id.clone()));
    let mut meta = SessionMeta::new(id.filter(|id| !id.is_empty()).or(name).unwrap_or_else(|| "imported".into()));
    if let Some(foreign) = foreign {
        meta.program.clone_from(&foreign.program);
        meta.cwd.clone_from(&foreign.cwd);
        meta.base_instructions.clone_from(&foreign.base_instructions);
        meta.parent.clone_from(&foreign.parent);
    }
    let mut details = ObjectWriter::new();
    details.string("imported_from", "codex");
    if let Some(foreign) = foreign.and_then(|meta| meta.details.as_ref()) {
        details.raw("session_meta", foreign.as_str());
    }
    meta.details = Some(RawJson::parse(&details.finish())?);
    Ok(meta)
}

/// The history that was rebuilt, as the checkpoint with which the new session begins.
fn window(replay: &Replay) -> Checkpoint {
    let history = replay.manager().history();
    let items: Vec<CheckpointItem> = (1_u64..)
        .zip(history.items())
        .map(|(position, envelope)| {
            let mut metadata = metadata_of(envelope);
            metadata.position = Some(position);
            metadata.moved_from = None;
            CheckpointItem::new(envelope.item().clone(), metadata)
        })
        .collect();
    // The fact that this is an import stands before the first item.
    let mut next = items.len() as u64 + 1;
    let mut checkpoint = Checkpoint::new(CheckpointCause::Rewrite("import".into()), items);
    let baseline = history.world_state_baseline().and_then(|told| serde_json::to_string(told).ok());
    checkpoint.baseline = baseline.and_then(|baseline| RawJson::parse(&baseline).ok());
    checkpoint.reference_context_item = history.reference_context_item().cloned();
    next += u64::from(checkpoint.baseline.is_some()) + u64::from(checkpoint.reference_context_item.is_some());
    checkpoint.counters.next_position = Some(next);
    checkpoint.counters.history_version = Some(1);
    checkpoint
}
