//! Taking the newest user turns back.

use std::collections::HashSet;

use context_fragments::{ContentItem, ContextItem, ItemType, Kind, Role, WireItem, recognise_developer_text};

use crate::{
    ContextManager, Cursor, Entry, Error, Fact, HistorySnapshot, Position, Preset, ResponseItemEnvelope, Rewrite,
    State,
    boundary::{MessageParts, SUMMARY_KIND},
    cursor::Resolved,
    edit,
    normalize::Family,
    rewrite::Kept,
    tokens::is_model_made,
};

const PERSISTENT_MODE: Kind = Kind::from_static("persistent_mode.instructions");

/// What a rollback took back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct RolledBack {
    /// How many user turns went; fewer than asked for if there were fewer.
    pub turns: usize,
    /// How many items went.
    pub items: usize,
    /// The history version from here on.
    pub history_version: u64,
}

/// Where the history is cut.
pub(crate) struct Cut {
    /// Entries that stay.
    pub(crate) entries: usize,
    turns: usize,
    /// The cut is at the first turn of the history.
    at_first: bool,
    /// A developer message of context and other words went with it.
    mixed: bool,
    /// The acceptance order of the input that was taken back.
    order: Option<u64>,
}

impl ContextManager {
    /// Takes back the last `turns` user turns, and the context that was recorded for them.
    ///
    /// The unit is the turn: an input that a person gave, the context that was recorded for it, and all that follows up to
    /// the next one. An input that was added while the turn went on, and so has the same turn id, is a part of it.
    ///
    /// What stands before the first turn always stays. With 0 turns nothing happens; with more than there are, all go.
    /// What counts as a turn, and what becomes of baseline and settings, is told by the [`Preset`].
    ///
    /// Items of the model that were accepted after the oldest input that goes are taken back with it, and so are the
    /// outputs of calls among them; for that the host has to give acceptance orders.
    ///
    /// It counts the turns that a compaction kept, too, and cuts among them; [`rollback_to`](Self::rollback_to) refuses
    /// to.
    ///
    /// # Cost
    /// What goes is looked at, and what stays is shared: at most 63 handles are copied, 31 of chunks, and one for
    /// every 2,048 entries.
    pub fn drop_last_n_user_turns(&mut self, turns: usize) -> RolledBack {
        if turns == 0 {
            return self.nothing_rolled_back();
        }
        let count = self.history.turn_count();
        self.roll_back_from(count - turns.min(count) + 1)
    }

    /// Takes back the turn to which `cursor` leads, the context that was recorded for it, and all that came later.
    ///
    /// A cursor whose turn was taken back before, and the one of the [end](HistorySnapshot::end_cursor), change nothing:
    /// the version stays too. So a rollback that is asked for twice happens once.
    ///
    /// # Errors
    /// [`Error::BeyondEpoch`] if the turn began before the newest compaction, replacement or import, or was kept by it;
    /// [`Error::NoTurnAt`] if no turn begins or began there. Nothing was changed.
    /// # Example
    /// ```
    /// use context_fragments::{ContextItem, Limit};
    /// use context_manager::{ContextManager, Cursor, Recording, TruncationPolicy};
    ///
    /// let recording = Recording::new(TruncationPolicy::new(Limit::Tokens(10_000)));
    /// let mut manager = ContextManager::new();
    /// manager.record_items([ContextItem::user_text("one")], &recording)?;
    /// let two = manager.record_items([ContextItem::user_text("two")], &recording)?;
    /// let cursor = Cursor::at(two.positions[0]);
    /// assert_eq!(manager.rollback_to(cursor)?.turns, 1);
    /// assert_eq!(manager.rollback_to(cursor)?.turns, 0);
    /// # Ok::<(), context_manager::Error>(())
    /// ```
    pub fn rollback_to(&mut self, cursor: Cursor) -> Result<RolledBack, Error> {
        Ok(match self.resolve(cursor)? {
            Resolved::Turn(number) => self.roll_back_from(number),
            Resolved::End | Resolved::Gone => self.nothing_rolled_back(),
        })
    }

    fn nothing_rolled_back(&self) -> RolledBack {
        RolledBack { turns: 0, items: 0, history_version: self.history_version() }
    }

    /// Takes back the turn with this number, counted from 1, and those behind it; without such a turn only the version
    /// changes.
    pub(crate) fn roll_back_from(&mut self, number: usize) -> RolledBack {
        let before = self.history.item_count();
        let end = self.state_or_default(State::clone);
        let cut = cut_at(&self.history, number, self.preset);
        let rebuilt = cut.as_ref().and_then(|cut| self.rebuilt(cut));
        if let Some(cut) = &cut {
            self.history.log.truncate(cut.entries);
        }
        let mut state = self.state_or_default(State::clone);
        if self.preset == Preset::Codex {
            let mixed = cut.as_ref().is_some_and(|cut| cut.mixed);
            state = state.with_held(|held| {
                held.baseline = None;
                held.reference = end.held().reference.clone().filter(|_| !mixed);
            });
        }
        match rebuilt {
            None => self.push_rewritten(Rewrite::Rollback, state),
            Some(entries) => {
                // In the default preset the facts are among the entries, each at its place; in the codex preset there
                // are none, and what holds from now on has held all along.
                let reference = match self.preset {
                    Preset::Default => None,
                    Preset::Codex => state.held().reference.clone(),
                };
                self.rebuild(Rewrite::Rollback, reference, entries);
            }
        }
        RolledBack {
            turns: cut.map_or(0, |cut| cut.turns),
            items: before - self.history.item_count(),
            history_version: self.history_version(),
        }
    }

    /// The entries that stay, if a shorter log is not enough: some before the cut go or change as well.
    fn rebuilt(&self, cut: &Cut) -> Option<Vec<Kept>> {
        let staying = || self.history.log.iter().take(cut.entries).filter_map(Entry::as_item);
        let state = cut.entries.checked_sub(1).and_then(|last| self.history.log.get(last)).map(Entry::state);
        let late: HashSet<Position> = match cut.order {
            Some(order) if state.is_some_and(|state| state.accepted > order) => accepted_from(staying(), order),
            _ => HashSet::new(),
        };
        let strip = self.preset == Preset::Codex && cut.at_first && staying().any(has_turn_settings);
        if late.is_empty() && !strip {
            return None;
        }
        let mut entries = Vec::new();
        for entry in self.history.log.iter().take(cut.entries) {
            let kept = match entry {
                Entry::Item(kept) if late.contains(&kept.position()) => continue,
                Entry::Item(kept) => kept,
                Entry::Fact(fact) => {
                    // What earlier rewrites were called is told by the list of rewrites.
                    let is_kept = !matches!(fact.fact(), Fact::Rewritten { .. });
                    if is_kept && self.preset == Preset::Default {
                        entries.push(Kept::Fact(fact.fact().clone(), fact.turn().cloned()));
                    }
                    continue;
                }
            };
            let ready = match (strip && has_turn_settings(kept)).then(|| without_turn_settings(kept.context_item())) {
                None => kept.ready(),
                Some(None) => continue,
                Some(Some(item)) => kept.measured.with_item(item, self.counter()).into(),
            };
            entries.push(Kept::Item(Some(kept.position()), ready));
        }
        Some(entries)
    }
}

/// Where the turn with this number begins, with its context; none if there is no such turn.
pub(crate) fn cut_at(history: &HistorySnapshot, number: usize, preset: Preset) -> Option<Cut> {
    let log = &history.log;
    let (first, boundary) = (history.index_of_turn(1)?, history.index_of_turn(number)?);
    let input = log.get(boundary).and_then(Entry::as_item)?;
    let turns = history.turn_count() - number + 1;
    let mut cut =
        Cut { entries: boundary, turns, at_first: boundary == first, mixed: false, order: input.acceptance_order() };
    loop {
        let before = (first..cut.entries).rev().find_map(|index| log.get(index)?.as_item().map(|item| (index, item)));
        let Some((index, item)) = before else { break };
        let Some(parts) = context_of_turn(item, input, preset) else { break };
        cut.mixed |= parts.other > 0;
        cut.entries = index;
    }
    // Facts that were recorded for a turn that goes do not hold any more.
    while cut.entries > first + 1 && is_fact_of(history, cut.entries - 1, input) {
        cut.entries -= 1;
    }
    Some(cut)
}

/// The parts of `item`, if it is context that was recorded for the turn that `input` begins.
fn context_of_turn(item: &ResponseItemEnvelope, input: &ResponseItemEnvelope, preset: Preset) -> Option<MessageParts> {
    let wire = item.item();
    if wire.item_type() != ItemType::Message || item.kinds().contains(&SUMMARY_KIND) {
        return None;
    }
    if preset == Preset::Default && item.turn().zip(input.turn()).is_some_and(|(one, two)| one != two) {
        return None;
    }
    let may_be_context = match wire.role() {
        Some(Role::Developer) => true,
        Some(Role::User) => !item.measured.findings.marks.begins_turn(preset),
        _ => false,
    };
    // What the model said is never context, and need not be read.
    let parts = may_be_context.then(|| MessageParts::of(item.context_item()))?;
    (parts.context > 0).then_some(parts)
}

/// Says that the entry at `index` is a fact that was recorded for the turn of `input`, and not for the one before it.
fn is_fact_of(history: &HistorySnapshot, index: usize, input: &ResponseItemEnvelope) -> bool {
    let Some(Entry::Fact(fact)) = history.log.get(index) else { return false };
    match fact.fact() {
        Fact::TurnContext(Some(_)) => {
            let before = index.checked_sub(1).and_then(|before| history.log.get(before));
            match (fact.turn(), input.turn(), before.and_then(|entry| entry.state().turn())) {
                (Some(turn), Some(input), _) => turn == input,
                (Some(turn), None, Some(before)) => turn != before,
                _ => true,
            }
        }
        Fact::Baseline(Some(_)) => match (fact.turn(), input.turn()) {
            (Some(turn), Some(input)) => turn == input,
            _ => !stands_behind_context(history, index),
        },
        _ => false,
    }
}

/// Says that the item before a baseline of which no turn is known is context: then it is what tells it.
///
/// Behind anything else a baseline tells nothing that an earlier turn said, and to forget it is safe: the next step says
/// it again.
fn stands_behind_context(history: &HistorySnapshot, index: usize) -> bool {
    let before = (0..index).rev().find_map(|before| history.log.get(before)?.as_item());
    before.is_some_and(|item| {
        let role = item.item().role();
        let is_message = item.item().item_type() == ItemType::Message && role != Some(Role::Assistant);
        let is_tools = item.item().item_type() == ItemType::AdditionalTools;
        let is_context = is_message && MessageParts::of(item.context_item()).context > 0;
        is_context || is_tools
    })
}

/// The items of the model that were accepted as `order` or later, and the outputs of the calls among them.
fn accepted_from<'a>(items: impl Iterator<Item = &'a ResponseItemEnvelope> + Clone, order: u64) -> HashSet<Position> {
    let is_late = |item: &ResponseItemEnvelope| {
        is_model_made(item.item()) && item.acceptance_order().is_some_and(|accepted| accepted >= order)
    };
    let mut positions = HashSet::new();
    let mut calls = HashSet::new();
    for item in items {
        let (wire, position) = (item.item(), item.position());
        let call = Family::of_call(wire.item_type()).zip(wire.call_id());
        let output = Family::of_output(wire.item_type()).zip(wire.call_id());
        if is_late(item) {
            positions.insert(position);
            calls.extend(call);
        } else if output.is_some_and(|output| calls.contains(&output)) {
            positions.insert(position);
        }
    }
    positions
}

/// Says that a developer message has a part that speaks of a setting of its turn only.
fn has_turn_settings(item: &ResponseItemEnvelope) -> bool {
    item.item().role() == Some(Role::Developer) && turn_settings(item.context_item()).contains(&true)
}

/// For each part of a message: whether it is a model switch or a persistent mode.
fn turn_settings(item: &ContextItem) -> Vec<bool> {
    let is_setting = |kind: &Kind| *kind == Kind::MODEL_SWITCH || *kind == PERSISTENT_MODE;
    if !item.kinds().is_empty() {
        return item.kinds().iter().map(is_setting).collect();
    }
    let parts = item.item().json().member("content").into_iter().flat_map(context_fragments::json::Json::elements);
    parts
        .map(|part| {
            ContentItem::parse(part)
                .text()
                .and_then(|text| recognise_developer_text(text))
                .is_some_and(|kind| is_setting(&kind))
        })
        .collect()
}

/// The message without these parts; none if nothing is left of it.
fn without_turn_settings(item: &ContextItem) -> Option<ContextItem> {
    let goes = turn_settings(item);
    let content = item.item().json().member("content")?;
    let stays = |index: &usize| !goes.get(*index).copied().unwrap_or(false);
    let parts: Vec<&str> =
        content.elements().enumerate().filter(|(index, _)| stays(index)).map(|(_, part)| part.as_raw()).collect();
    if parts.is_empty() {
        return None;
    }
    let kinds: Vec<Kind> =
        item.kinds().iter().enumerate().filter(|(index, _)| stays(index)).map(|(_, kind)| kind.clone()).collect();
    let wire: WireItem = item.item().with_member("content", &edit::array(&parts)).ok()?;
    Some(ContextItem::new(wire, kinds))
}
