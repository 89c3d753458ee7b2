//! Walking over a log and noting what each record does.

use std::collections::BTreeSet;

use context_fragments::{ContextItem, Limit};
use context_manager::{DropReason, Model, Origin, Profile, Proof, Recording, TruncationPolicy};
use session::{
    Applied, Replay,
    rollout::{Events, LogFormat, LogSource, RecoveryReport, ReplayEvent, RolloutItem, SentMark, WorldStateItem},
};

use super::{
    document::{Document, History, Prompt, Recovery, Rollback, Turn, WorldStateChange},
    prompts::{Prompts, Seen, empty},
    rewrites::{compaction, truncation},
};
use crate::exit::Failure;

/// Reads the log to its end.
pub(super) fn walk(mut events: Events<LogSource>) -> Result<Document, Failure> {
    let is_codex = events.format() == LogFormat::Codex;
    let mut walk = Walk::new(is_codex);
    for event in events.by_ref() {
        walk.take(&event.map_err(|error| Failure::of(&error))?);
    }
    Ok(walk.into_document(&events.into_report()))
}

struct Walk {
    is_codex: bool,
    replay: Replay,
    turns: Vec<Turn>,
    /// The log says where turns start; old ones do not, and there each input of the user starts one.
    names_turns: bool,
    has_input: bool,
    /// Something was added that no prompt has had yet.
    is_unsent: bool,
    prompts: Prompts,
    repaired: BTreeSet<String>,
}

impl Walk {
    fn new(is_codex: bool) -> Self {
        let limit = Limit::Tokens(10_000);
        let policy = if is_codex { TruncationPolicy::codex(limit) } else { TruncationPolicy::new(limit) };
        Self {
            is_codex,
            replay: Replay::new(empty(is_codex), Recording::new(policy)),
            turns: vec![Turn { outcome: "open", ..Turn::default() }],
            names_turns: false,
            has_input: false,
            is_unsent: false,
            prompts: Prompts::default(),
            repaired: BTreeSet::new(),
        }
    }

    fn take(&mut self, event: &ReplayEvent) {
        let item = &event.record.item;
        if let RolloutItem::Item(item) = item {
            let item = ContextItem::new(item.clone(), event.record.metadata.kinds.as_slice());
            self.before_item(Origin::of(&item));
        }
        match item {
            RolloutItem::TurnStarted(turn) => {
                self.names_turns = true;
                self.start_turn(turn.turn_id.clone());
            }
            RolloutItem::Sent(mark) => self.note_prompt("marked", Some(mark)),
            _ => {}
        }
        let history = self.replay.manager().history();
        let (items_before, tokens_before) = (history.item_count(), history.tokens());
        match self.replay.apply(event) {
            Ok(applied) => self.note(event, &applied, items_before, tokens_before),
            Err(error) => self.turn().not_replayed.push(error.to_string()),
        }
    }

    fn turn(&mut self) -> &mut Turn {
        if self.turns.is_empty() {
            self.turns.push(Turn::default());
        }
        let last = self.turns.len() - 1;
        &mut self.turns[last]
    }

    fn start_turn(&mut self, id: Option<String>) {
        let number = self.turns.iter().rev().find_map(|turn| turn.number).unwrap_or(0) + 1;
        self.turns.push(Turn { number: Some(number), id, outcome: "open", ..Turn::default() });
        self.has_input = false;
    }

    /// An answer of the model says that what stood before it was sent.
    fn before_item(&mut self, origin: Origin) {
        if origin == Origin::Model && self.is_unsent && self.is_codex {
            self.note_prompt("implied", None);
        }
        if origin == Origin::User && !self.names_turns && self.has_input {
            self.start_turn(None);
        }
        if origin == Origin::User {
            if !self.names_turns && self.turn().number.is_none() {
                // What stands before the first input of a log without turns is the context of its first turn.
                self.turn().number = Some(1);
            }
            self.has_input = true;
        }
        self.is_unsent |= origin != Origin::Model;
    }

    fn note_prompt(&mut self, source: &'static str, mark: Option<&SentMark>) {
        self.is_unsent = false;
        let name = mark.and_then(|mark| mark.profile.as_deref());
        let is_codex = name.map_or(self.is_codex, |name| name == Profile::codex().name);
        let profile = if is_codex { Profile::codex() } else { Profile::responses() };
        let parts = self.replay.parts();
        let asked = mark.and_then(|mark| mark.model.as_deref()).or_else(|| self.replay.model()).unwrap_or_default();
        let model = Model::new(asked).with_modalities(parts.model().modalities());
        let Seen { items, tokens, chain, proof, repairs } =
            self.prompts.prompt(self.replay.manager(), &parts.clone().with_model(model), &profile);
        let new_repairs: Vec<_> = repairs.into_iter().filter(|repair| self.repaired.insert(repair.clone())).collect();
        let (word, new_items) = match &proof {
            Proof::First => ("first", None),
            Proof::Identical => ("identical", Some(0)),
            Proof::Extends { new, .. } => ("extends", Some(*new)),
            Proof::Broken(broken) if broken.is_declared() => ("declared_break", None),
            Proof::Broken(_) => ("broken", None),
        };
        let noted = Prompt {
            source,
            items,
            tokens,
            proof: word,
            new_items,
            broken: proof.broken().map(ToString::to_string),
            digest_matches: mark.map(|mark| mark.chain.to_string() == chain.to_string()),
            new_repairs,
        };
        self.turn().prompts.push(noted);
    }

    fn note(&mut self, event: &ReplayEvent, applied: &Applied, items_before: usize, tokens_before: u64) {
        let item = &event.record.item;
        match applied {
            Applied::Item(_) => {
                let added = self.replay.manager().history().items().next_back().cloned();
                if let Some(added) = added {
                    self.turn().added.count(&added);
                    self.turn().truncations.extend(truncation(event, &added));
                }
            }
            Applied::Dropped(reason) => {
                *self.turn().dropped.entry(reason_name(*reason)).or_default() += 1;
            }
            Applied::TurnEnded => {
                let RolloutItem::TurnEnded(ended) = item else { return };
                let failed = ended.error.as_ref().map(|error| error.as_str().to_owned());
                self.turn().outcome = if failed.is_some() { "failed" } else { "ended" };
                self.turn().reason = failed;
            }
            Applied::TurnAborted => {
                let RolloutItem::TurnAborted(aborted) = item else { return };
                self.turn().outcome = "aborted";
                self.turn().reason.clone_from(&aborted.reason);
            }
            Applied::TurnContext => {
                let model = self.replay.model().map(str::to_owned);
                let turn = self.turn();
                turn.turn_contexts += 1;
                turn.model = model;
            }
            Applied::Told | Applied::Patched(_) | Applied::PatchIgnored => {
                let RolloutItem::WorldState(state) = item else { return };
                let change = world_state_change(state, matches!(applied, Applied::PatchIgnored));
                self.turn().world_state.push(change);
            }
            Applied::RolledBack(rolled_back) => {
                let rollback = Rollback { turns: rolled_back.turns, items: rolled_back.items };
                self.turn().rollbacks.push(rollback);
            }
            Applied::Compacted { items } => {
                let RolloutItem::Checkpoint(checkpoint) = item else { return };
                let tokens = (tokens_before, self.replay.manager().history().tokens());
                let compaction = compaction(checkpoint, (items_before, *items), tokens);
                self.turn().compactions.push(compaction);
                self.is_unsent = true;
            }
            _ => {}
        }
    }

    fn into_document(mut self, report: &RecoveryReport) -> Document {
        let is_empty = |turn: &Turn| {
            turn.number.is_none()
                && turn.added.items == 0
                && turn.world_state.is_empty()
                && turn.turn_contexts == 0
                && turn.not_replayed.is_empty()
        };
        if self.turns.first().is_some_and(is_empty) {
            self.turns.remove(0);
        }
        let history = self.replay.manager().history();
        let sections = |state: &world_state::WorldStateSnapshot| state.ids().map(str::to_owned).collect();
        let every_prompt_is_legal =
            self.turns.iter().flat_map(|turn| &turn.prompts).all(|prompt| prompt.proof != "broken");
        Document {
            format: if self.is_codex { "codex" } else { "own" },
            session: self.replay.header().map(|header| header.session_id.clone()).filter(|id| !id.is_empty()),
            history: History {
                items: history.item_count(),
                tokens: history.tokens(),
                version: history.history_version(),
                baseline: history.world_state_baseline().map(sections),
                open_calls: self.replay.open_calls().iter().map(|call| call.call_id().to_owned()).collect(),
            },
            every_prompt_is_legal,
            recovery: Recovery {
                records: report.records,
                contents: report.contents,
                clean: report.is_clean(),
                torn_tail_bytes: report.torn_tail.map_or(0, |tail| tail.len),
                findings: report.findings.iter().map(ToString::to_string).collect(),
                unknown: report.unknown.clone(),
            },
            turns: self.turns,
        }
    }
}

const fn reason_name(reason: DropReason) -> &'static str {
    match reason {
        DropReason::SystemMessage => "system_message",
        DropReason::UntrustedConfigurationUpdate => "untrusted_configuration_update",
        DropReason::RequestControl => "request_control",
        DropReason::UnknownType => "unknown_type",
        _ => "other",
    }
}

fn world_state_change(item: &WorldStateItem, is_ignored: bool) -> WorldStateChange {
    let (form, state) = match item {
        WorldStateItem::Full(state) => ("full", state),
        WorldStateItem::Patch(state) if is_ignored => ("ignored_patch", state),
        WorldStateItem::Patch(state) => ("patch", state),
    };
    let mut change = WorldStateChange { form, sections: Vec::new(), removed: Vec::new() };
    for (id, value) in state.json().members() {
        let id = id.to_str().unwrap_or_default().into_owned();
        if value.is_null() { change.removed.push(id) } else { change.sections.push(id) }
    }
    change
}
