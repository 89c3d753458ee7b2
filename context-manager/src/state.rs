//! What is true of a history up to an entry.

use std::sync::{Arc, LazyLock};

use context_fragments::{RetainedKinds, TurnContextItem};
use world_state::WorldStateSnapshot;

use crate::{Fact, Position, Preset, Rewrite, TurnId, measured::Measured, tokens::is_model_made};

/// The cumulative state of a history: totals by value, and one shared handle for what changes rarely.
///
/// Every entry holds the state that is true once it is recorded. So a snapshot needs nothing beside the log, and after
/// a rollback the totals, the baseline and the settings are those that were true there.
#[derive(Clone, Debug, Default)]
pub struct State {
    pub(crate) tokens: u64,
    pub(crate) bytes: u64,
    pub(crate) items: u32,
    pub(crate) turns: u32,
    /// One more than the largest acceptance order of an item that the model made; 0 if none has one.
    pub(crate) accepted: u64,
    /// None as long as it would say nothing.
    held: Option<Arc<Held>>,
}

/// What is shared from entry to entry until one of its fields changes.
#[derive(Clone, Debug, Default)]
pub(crate) struct Held {
    pub(crate) kinds: RetainedKinds,
    pub(crate) baseline: Option<WorldStateSnapshot>,
    pub(crate) reference: Option<TurnContextItem>,
    pub(crate) turn: Option<TurnId>,
    /// The turn of the newest input.
    pub(crate) input_turn: Option<TurnId>,
    /// Where the newest compaction, replacement or import stands.
    pub(crate) epoch: Option<Position>,
    /// The turns that begin before the newest summary, or were kept from an earlier epoch: no cursor leads to them.
    pub(crate) told_turns: u32,
    pub(crate) media_bytes: u64,
    /// How many rewrites there were.
    pub(crate) version: u64,
}

/// What is held before anything is: a new state costs no allocation.
static NOTHING: LazyLock<Held> = LazyLock::new(Held::default);

impl State {
    /// The empty state with this shared part.
    pub(crate) fn holding(held: Held) -> Self {
        Self { held: Some(Arc::new(held)), ..Self::default() }
    }

    /// What changes rarely.
    pub(crate) fn held(&self) -> &Held {
        self.held.as_deref().unwrap_or_else(|| &NOTHING)
    }

    fn held_mut(&mut self) -> &mut Held {
        Arc::make_mut(self.held.get_or_insert_default())
    }

    /// The sum of the estimates of all items, in tokens.
    #[must_use]
    pub const fn tokens(&self) -> u64 {
        self.tokens
    }

    /// How many items there are; facts do not count.
    #[must_use]
    pub const fn items(&self) -> usize {
        self.items as usize
    }

    /// The bytes of all items on the wire, without what stands between them.
    #[must_use]
    pub const fn bytes(&self) -> u64 {
        self.bytes
    }

    /// The bytes of images and audio that stand in the items themselves, as they are on the wire.
    #[must_use]
    pub fn media_bytes(&self) -> u64 {
        self.held().media_bytes
    }

    /// How many turns begin up to here; see [`Preset`] for what begins one.
    #[must_use]
    pub const fn turns(&self) -> usize {
        self.turns as usize
    }

    /// How many rewrites there were.
    #[must_use]
    pub fn history_version(&self) -> u64 {
        self.held().version
    }

    /// The kinds that stand in the history.
    #[must_use]
    pub fn retained_kinds(&self) -> &RetainedKinds {
        &self.held().kinds
    }

    /// The world state that the model was told.
    #[must_use]
    pub fn world_state_baseline(&self) -> Option<&WorldStateSnapshot> {
        self.held().baseline.as_ref()
    }

    /// The settings that were last made visible; none means that the next turn says everything.
    #[must_use]
    pub fn reference_context_item(&self) -> Option<&TurnContextItem> {
        self.held().reference.as_ref()
    }

    /// The turn of the newest entry that has one.
    #[must_use]
    pub fn turn(&self) -> Option<&TurnId> {
        self.held().turn.as_ref()
    }

    /// Says that both states share what changes rarely.
    #[must_use]
    pub fn shares_with(&self, other: &Self) -> bool {
        match (&self.held, &other.held) {
            (Some(one), Some(other)) => Arc::ptr_eq(one, other),
            (one, other) => one.is_none() && other.is_none(),
        }
    }

    /// The state after `item`, which stood at `moved_from` before a rewrite.
    ///
    /// A new shared part is made only if the item brings what was not there: a kind, a turn, a medium, a summary.
    pub(crate) fn with_item(&self, item: &Measured, moved_from: Option<Position>, preset: Preset) -> Self {
        let held = self.held();
        let mut next = self.clone();
        next.tokens = next.tokens.saturating_add(item.tokens);
        next.bytes = next.bytes.saturating_add(u64::try_from(item.item.item().as_bytes().len()).unwrap_or(u64::MAX));
        next.items = next.items.saturating_add(1);
        if let Some(order) = item.acceptance_order().filter(|_| is_model_made(item.item.item())) {
            next.accepted = next.accepted.max(order.saturating_add(1));
        }
        // What a person adds while a turn goes on belongs to it; the codex preset takes every input for a turn.
        let is_added = preset == Preset::Default && item.turn.is_some() && item.turn == held.input_turn;
        let begins_turn = item.findings.marks.begins_turn(preset) && !is_added;
        if begins_turn {
            next.turns = next.turns.saturating_add(1);
        }
        let is_told =
            item.findings.marks.is_summary || moved_from.zip(held.epoch).is_some_and(|(old, epoch)| old < epoch);
        let new_told = is_told && held.told_turns < next.turns;
        let new_input = begins_turn && item.turn != held.input_turn;
        let new_turn = item.turn.is_some() && item.turn != held.turn;
        let new_kind = item.item.kinds().iter().any(|kind| !held.kinds.contains(kind));
        let turns = next.turns;
        if new_turn || new_kind || new_input || new_told || item.media_bytes() > 0 {
            let held = next.held_mut();
            for kind in item.item.kinds() {
                held.kinds.insert(kind);
            }
            if new_turn {
                held.turn.clone_from(&item.turn);
            }
            if new_input {
                held.input_turn.clone_from(&item.turn);
            }
            if new_told {
                held.told_turns = turns;
            }
            held.media_bytes = held.media_bytes.saturating_add(item.media_bytes());
        }
        next
    }

    /// The state after `fact`, which stands at `position` and was recorded in `turn`. The version of a rewrite is set by
    /// who records it.
    pub(crate) fn with_fact(&self, fact: &Fact, position: Position, turn: Option<&TurnId>) -> Self {
        match fact {
            Fact::Baseline(baseline) => self.with_held(|held| held.baseline.clone_from(baseline)),
            Fact::TurnContext(item) => self.with_held(|held| {
                held.reference.clone_from(item);
                if let Some(turn) = turn {
                    held.turn = Some(turn.clone());
                }
            }),
            Fact::Rewritten { rewrite, .. } => self.after_rewrite(*rewrite, position),
        }
    }

    /// The state once `rewrite` stands at `position`: what takes the history away begins an epoch.
    pub(crate) fn after_rewrite(&self, rewrite: Rewrite, position: Position) -> Self {
        match rewrite.begins_epoch() {
            false => self.clone(),
            true => self.with_held(|held| held.epoch = Some(position)),
        }
    }

    /// The state with another shared part.
    pub(crate) fn with_held(&self, change: impl FnOnce(&mut Held)) -> Self {
        let mut next = self.clone();
        change(next.held_mut());
        next
    }
}
