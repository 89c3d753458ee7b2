//! A session of this library as a Codex rollout.

use std::io::{Read, Write};

use context_fragments::{
    Kind, WireItem,
    json::{Json, ObjectWriter, push_string},
};
use context_manager::{ContextManager, Recording, TruncationPolicy};

use super::{CODEX_LINE, Losses, lines::line_of};
use crate::{
    Applied, Error, Replay,
    rollout::{
        Checkpoint, CheckpointCause, Events, LoggedOrigin, Metadata, RawJson, ReplayEvent, RolloutItem, SessionMeta,
        WorldStateItem,
    },
};

const PASSTHROUGH: &str = "internal_chat_message_metadata_passthrough";

/// What an export wrote.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Exported {
    /// The lines.
    pub lines: u64,
    /// What a Codex rollout has no words for.
    pub losses: Losses,
}

/// Writes the session in `events` as a Codex rollout.
///
/// Lines that came from a rollout are given back as they were. What this library recorded is said in the reference's
/// shape; marks of sent prompts, openings and the like have none there and are counted as losses.
///
/// # Errors
/// [`Error::Io`] from reading, and from writing to `out`; [`Error::Replay`] for a log that does not fit together.
pub fn export<R: Read>(events: Events<R>, out: &mut impl Write) -> Result<Exported, Error> {
    let recording = Recording::new(TruncationPolicy::new(context_fragments::Limit::Tokens(10_000)));
    let mut export = Export {
        out,
        done: Exported::default(),
        replay: Replay::new(ContextManager::new(), recording),
        ordinal: None,
        is_imported: false,
    };
    for event in events {
        export.take(&event?)?;
    }
    Ok(export.done)
}

struct Export<'a, W> {
    out: &'a mut W,
    done: Exported,
    /// Knows how many turns a rollback takes back.
    replay: Replay,
    /// The number of the next line, if the lines before have numbers.
    ordinal: Option<u64>,
    /// The session began as a rollout.
    is_imported: bool,
}

impl<W: Write> Export<'_, W> {
    fn take(&mut self, event: &ReplayEvent) -> Result<(), Error> {
        let applied = self.replay.apply(event)?;
        let record = &event.record;
        match &record.item {
            RolloutItem::Other { type_name, payload, .. } if type_name == CODEX_LINE => self.give_back(payload),
            RolloutItem::SessionMeta(meta) if is_import(meta) => {
                self.is_imported = true;
                Ok(())
            }
            RolloutItem::SessionMeta(meta) => self.line(event, "session_meta", &meta_of(meta, event)),
            RolloutItem::TurnStarted(turn) => {
                self.event(event, "task_started", &[("turn_id", turn.turn_id.as_deref())], None)
            }
            RolloutItem::TurnEnded(turn) => {
                let error = turn.error.as_ref().map(|error| ("error", error.as_str()));
                self.event(event, "task_complete", &[("turn_id", turn.turn_id.as_deref())], error)
            }
            RolloutItem::TurnAborted(turn) => {
                let members = [("turn_id", turn.turn_id.as_deref()), ("reason", turn.reason.as_deref())];
                if !turn.calls.is_empty() {
                    self.done.losses.count("turn_aborted.calls");
                }
                self.event(event, "turn_aborted", &members, None)
            }
            RolloutItem::Item(item) => self.item(event, item, &record.metadata),
            RolloutItem::WorldState(state) => self.line(event, "world_state", &state_of(state)),
            RolloutItem::TurnContext(context) => self.line(event, "turn_context", context.as_str()),
            RolloutItem::Rollback(rollback) => {
                let turns = match applied {
                    Applied::RolledBack(done) => done.turns as u64,
                    _ => rollback.n_turns.unwrap_or(0),
                };
                let turns = turns.to_string();
                self.event(event, "thread_rolled_back", &[], Some(("num_turns", &turns)))
            }
            RolloutItem::Checkpoint(checkpoint) => self.checkpoint(event, checkpoint),
            RolloutItem::Notice { name, payload } => self.line(event, "event_msg", &notice_of(name, payload)),
            other => {
                let is_log_keeping = matches!(other, RolloutItem::Opened(_)) && self.is_imported;
                if !is_log_keeping {
                    self.done.losses.count(other.type_name());
                }
                Ok(())
            }
        }
    }

    /// A line of the rollout from which the session was imported.
    fn give_back(&mut self, payload: &RawJson) -> Result<(), Error> {
        let line = line_of(payload);
        if let Ok(json) = Json::parse(&line) {
            let ordinal = json.member("ordinal").and_then(|ordinal| ordinal.as_raw().parse::<u64>().ok());
            self.ordinal = ordinal.map_or(self.ordinal, |ordinal| ordinal.checked_add(1));
        }
        self.write(line)
    }

    fn item(&mut self, event: &ReplayEvent, item: &WireItem, metadata: &Metadata) -> Result<(), Error> {
        self.line(event, "response_item", &item_of(item, metadata))?;
        if metadata.origin == Some(LoggedOrigin::User) {
            // What the reference's own programs show as the words of the user.
            let text = text_of(item);
            return self.event(event, "user_message", &[("message", Some(&text)), ("kind", Some("plain"))], None);
        }
        Ok(())
    }

    fn checkpoint(&mut self, event: &ReplayEvent, checkpoint: &Checkpoint) -> Result<(), Error> {
        let rewrites = match &checkpoint.cause {
            // The lines before say the same.
            CheckpointCause::Rewrite(name) if name == "import" && self.is_imported => false,
            CheckpointCause::Request => false,
            _ => true,
        };
        let Some(items) = checkpoint.items.as_ref().filter(|_| rewrites) else { return Ok(()) };
        let mut history = String::from("[");
        for (index, item) in items.iter().enumerate() {
            if index > 0 {
                history.push(',');
            }
            history.push_str(&item_of(&item.item, &item.metadata));
        }
        history.push(']');
        let mut payload = ObjectWriter::new();
        payload.string("message", checkpoint.summary.as_deref().unwrap_or_default());
        payload.raw("replacement_history", &history);
        if let Some(epoch) = checkpoint.counters.epoch {
            payload.raw("window_number", &epoch.to_string());
        }
        self.line(event, "compacted", &payload.finish())?;
        if let Some(baseline) = &checkpoint.baseline {
            self.line(event, "world_state", &state_of(&WorldStateItem::Full(baseline.clone())))?;
        }
        match &checkpoint.reference_context_item {
            Some(context) => self.line(event, "turn_context", context.as_str()),
            None => Ok(()),
        }
    }

    fn event(
        &mut self,
        event: &ReplayEvent,
        name: &str,
        strings: &[(&str, Option<&str>)],
        raw: Option<(&str, &str)>,
    ) -> Result<(), Error> {
        let mut payload = ObjectWriter::new();
        payload.string("type", name);
        for (key, value) in strings {
            if let Some(value) = value {
                payload.string(key, value);
            }
        }
        if let Some((key, value)) = raw {
            payload.raw(key, value);
        }
        self.line(event, "event_msg", &payload.finish())
    }

    fn line(&mut self, event: &ReplayEvent, type_name: &str, payload: &str) -> Result<(), Error> {
        let mut line = ObjectWriter::new();
        line.string("timestamp", &event.timestamp);
        if let Some(ordinal) = self.ordinal {
            line.raw("ordinal", &ordinal.to_string());
            self.ordinal = ordinal.checked_add(1);
        }
        line.string("type", type_name).raw("payload", payload);
        self.write(line.finish())
    }

    fn write(&mut self, mut line: String) -> Result<(), Error> {
        line.push('\n');
        self.done.lines += 1;
        let failed = |source| Error::Io { action: "write", path: "the rollout".into(), source };
        self.out.write_all(line.as_bytes()).map_err(failed)
    }
}

fn is_import(meta: &SessionMeta) -> bool {
    let from = meta.details.as_ref().and_then(|details| details.json().member("imported_from"));
    from.is_some_and(|from| from.is_text("codex"))
}

fn meta_of(meta: &SessionMeta, event: &ReplayEvent) -> String {
    let mut payload = ObjectWriter::new();
    payload.string("id", &meta.session_id).string("timestamp", &event.timestamp);
    if let Some(parent) = &meta.parent {
        payload.string("forked_from_id", &parent.session_id);
    }
    payload.string("cwd", meta.cwd.as_deref().unwrap_or_default());
    let program = meta.program.as_deref().unwrap_or("addenda");
    let (name, version) = program.rsplit_once(' ').unwrap_or((program, ""));
    payload.string("originator", name).string("cli_version", version).string("source", "cli");
    if let Some(base) = &meta.base_instructions {
        payload.raw("base_instructions", &format!("{{\"text\":{}}}", base.as_str()));
    }
    payload.finish()
}

fn state_of(state: &WorldStateItem) -> String {
    let full = matches!(state, WorldStateItem::Full(_));
    format!("{{\"full\":{full},\"state\":{}}}", state.state().as_str())
}

fn notice_of(name: &str, payload: &RawJson) -> String {
    let mut object = ObjectWriter::new();
    object.string("type", name);
    for (key, value) in payload.json().members() {
        if !key.is_text("type") {
            object.member((key, value));
        }
    }
    object.finish()
}

/// The item with what the host knows of it, where the reference has it: in a last member of the item.
fn item_of(item: &WireItem, metadata: &Metadata) -> String {
    let foreign = metadata.foreign.as_ref().and_then(|foreign| foreign.json().member("passthrough"));
    let passthrough = match foreign {
        Some(passthrough) => passthrough.as_raw().to_owned(),
        None => {
            let mut object = ObjectWriter::new();
            if let Some(turn) = &metadata.turn_id {
                object.string("turn_id", turn);
            }
            if !metadata.kinds.is_empty() {
                object.raw("content_item_kinds", &kinds_of(&metadata.kinds));
            }
            object.finish()
        }
    };
    if passthrough == "{}" {
        return item.as_str().to_owned();
    }
    match item.with_member(PASSTHROUGH, &passthrough) {
        Ok(item) => item.as_str().to_owned(),
        Err(_) => item.as_str().to_owned(),
    }
}

fn kinds_of(kinds: &[Kind]) -> String {
    let mut out = String::from("[");
    for (index, kind) in kinds.iter().enumerate() {
        if index > 0 {
            out.push(',');
        }
        push_string(&mut out, kind.as_str());
    }
    out.push(']');
    out
}

fn text_of(item: &WireItem) -> String {
    let content = item.json().member("content");
    let texts = content.into_iter().flat_map(Json::elements).filter_map(|part| part.member("text")?.to_str());
    texts.map(String::from).collect::<Vec<_>>().join("\n")
}
