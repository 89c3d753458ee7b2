//! What is true of a history up to an entry.

use std::sync::Arc;

use context_fragments::{RetainedKinds, TurnContextItem};
use world_state::WorldStateSnapshot;

use crate::{Fact, TurnId, record::ReadyItem};

/// The cumulative state of a history: totals by value, and one shared handle for what changes rarely.
///
/// Every entry holds the state that is true once it is recorded. So a snapshot needs nothing beside the log, and after
/// a rollback the totals, the baseline and the settings are those that were true there.
#[derive(Clone, Debug, Default)]
pub struct State {
    pub(crate) tokens: u64,
    pub(crate) items: usize,
    pub(crate) version: u64,
    pub(crate) held: Arc<Held>,
}

/// What is shared from entry to entry until one of its fields changes.
#[derive(Clone, Debug, Default)]
pub(crate) struct Held {
    pub(crate) kinds: RetainedKinds,
    pub(crate) baseline: Option<WorldStateSnapshot>,
    pub(crate) reference: Option<TurnContextItem>,
    pub(crate) turn: Option<TurnId>,
}

impl State {
    /// The sum of the estimates of all items, in tokens.
    #[must_use]
    pub const fn tokens(&self) -> u64 {
        self.tokens
    }

    /// How many items there are; facts do not count.
    #[must_use]
    pub const fn items(&self) -> usize {
        self.items
    }

    /// How many rewrites there were.
    #[must_use]
    pub const fn history_version(&self) -> u64 {
        self.version
    }

    /// The kinds that stand in the history.
    #[must_use]
    pub fn retained_kinds(&self) -> &RetainedKinds {
        &self.held.kinds
    }

    /// The world state that the model was told.
    #[must_use]
    pub fn world_state_baseline(&self) -> Option<&WorldStateSnapshot> {
        self.held.baseline.as_ref()
    }

    /// The settings that were last made visible; none means that the next turn says everything.
    #[must_use]
    pub fn reference_context_item(&self) -> Option<&TurnContextItem> {
        self.held.reference.as_ref()
    }

    /// The turn of the newest entry that has one.
    #[must_use]
    pub fn turn(&self) -> Option<&TurnId> {
        self.held.turn.as_ref()
    }

    /// Says that both states share what changes rarely.
    #[must_use]
    pub fn shares_with(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.held, &other.held)
    }

    /// The state after `item`; a new shared part is made only if the item brings a kind or a turn that was not there.
    pub(crate) fn with_item(&self, item: &ReadyItem) -> Self {
        let mut next = self.clone();
        next.tokens = next.tokens.saturating_add(item.tokens);
        next.items += 1;
        let new_turn = item.turn.is_some() && item.turn != next.held.turn;
        let new_kind = item.item.kinds().iter().any(|kind| !next.held.kinds.contains(kind));
        if new_turn || new_kind {
            let held = Arc::make_mut(&mut next.held);
            for kind in item.item.kinds() {
                held.kinds.insert(kind);
            }
            if new_turn {
                held.turn.clone_from(&item.turn);
            }
        }
        next
    }

    /// The state after `fact`, recorded in `turn`. The name of a rewrite changes nothing: its version does.
    pub(crate) fn with_fact(&self, fact: &Fact, turn: Option<&TurnId>) -> Self {
        match fact {
            Fact::Baseline(baseline) => self.with_held(|held| held.baseline.clone_from(baseline)),
            Fact::TurnContext(item) => self.with_held(|held| {
                held.reference.clone_from(item);
                if let Some(turn) = turn {
                    held.turn = Some(turn.clone());
                }
            }),
            Fact::Rewritten { .. } => self.clone(),
        }
    }

    /// The state with another shared part.
    pub(crate) fn with_held(&self, change: impl FnOnce(&mut Held)) -> Self {
        let mut next = self.clone();
        change(Arc::make_mut(&mut next.held));
        next
    }
}
