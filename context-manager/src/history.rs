//! The immutable view of a history.

use std::sync::Arc;

use context_fragments::{RetainedKinds, TurnContextItem};
use world_state::WorldStateSnapshot;

use crate::{FactEntry, Log, Position, ResponseItemEnvelope, State};

/// One entry of the history, in record order.
#[derive(Clone, Debug)]
#[expect(clippy::exhaustive_enums, reason = "an entry is an item or it is none")]
pub enum Entry {
    /// An item.
    Item(Arc<ResponseItemEnvelope>),
    /// A baseline, a turn context, a rewrite.
    Fact(Arc<FactEntry>),
}

impl Entry {
    /// The stored number.
    #[must_use]
    pub fn position(&self) -> Position {
        match self {
            Self::Item(envelope) => envelope.position(),
            Self::Fact(fact) => fact.position(),
        }
    }

    /// What is true once this entry is recorded.
    #[must_use]
    pub fn state(&self) -> &State {
        match self {
            Self::Item(envelope) => envelope.state(),
            Self::Fact(fact) => fact.state(),
        }
    }

    /// The envelope, if this is an item.
    #[must_use]
    pub fn as_item(&self) -> Option<&ResponseItemEnvelope> {
        match self {
            Self::Item(envelope) => Some(envelope),
            Self::Fact(_) => None,
        }
    }

    /// Says that both are one entry of one log, not only equal.
    pub(crate) fn ptr_eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Item(one), Self::Item(two)) => Arc::ptr_eq(one, two),
            (Self::Fact(one), Self::Fact(two)) => Arc::ptr_eq(one, two),
            _ => false,
        }
    }
}

/// An immutable view of a history: a reference count and a length.
///
/// Taking, cloning and dropping one costs the same at any size and allocates nothing. Whatever is appended, rolled back
/// or rewritten later, it never changes. It keeps the log's table alive, and with it what is appended to the same
/// table while it lives.
///
/// # Example
/// ```
/// use context_fragments::{ContextItem, Limit};
/// use context_manager::{ContextManager, Recording, TruncationPolicy};
///
/// let recording = Recording::new(TruncationPolicy::new(Limit::Tokens(10_000)));
/// let mut manager = ContextManager::new();
/// manager.record_items([ContextItem::user_text("one")], &recording)?;
/// let before = manager.snapshot();
/// manager.record_items([ContextItem::user_text("two")], &recording)?;
/// assert_eq!((before.item_count(), manager.snapshot().item_count()), (1, 2));
/// # Ok::<(), context_manager::Error>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct HistorySnapshot {
    pub(crate) log: Log<Entry>,
}

impl HistorySnapshot {
    /// The entries, oldest first.
    pub fn entries(&self) -> impl DoubleEndedIterator<Item = &Entry> + Clone {
        self.log.iter()
    }

    /// The items, oldest first; facts are left out.
    pub fn items(&self) -> impl DoubleEndedIterator<Item = &ResponseItemEnvelope> + Clone {
        self.log.iter().filter_map(Entry::as_item)
    }

    /// The entry at `position`, if it is in this history.
    #[must_use]
    pub fn entry_at(&self, position: Position) -> Option<&Entry> {
        self.log.get(self.index_of(position)?)
    }

    /// Where in the log the entry at `position` stands.
    pub(crate) fn index_of(&self, position: Position) -> Option<usize> {
        let mut from = 0;
        let mut to = self.log.len();
        while from < to {
            let middle = from + (to - from) / 2;
            match self.log.get(middle)?.position().cmp(&position) {
                std::cmp::Ordering::Equal => return Some(middle),
                std::cmp::Ordering::Less => from = middle + 1,
                std::cmp::Ordering::Greater => to = middle,
            }
        }
        None
    }

    /// What is true at its end; none if nothing was ever recorded.
    #[must_use]
    pub fn state(&self) -> Option<&State> {
        self.log.last().map(Entry::state)
    }

    /// How many items there are.
    #[must_use]
    pub fn item_count(&self) -> usize {
        self.state().map_or(0, State::items)
    }

    /// How many entries there are, facts included.
    #[must_use]
    pub const fn entry_count(&self) -> usize {
        self.log.len()
    }

    /// How many turns begin in it; it is kept, not counted.
    #[must_use]
    pub fn turn_count(&self) -> usize {
        self.state().map_or(0, State::turns)
    }

    /// The bytes of all items on the wire, without what stands between them; they are kept, not counted.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.state().map_or(0, State::bytes)
    }

    /// The bytes of images and audio that stand in the items themselves; they are kept, not counted.
    #[must_use]
    pub fn media_bytes(&self) -> u64 {
        self.state().map_or(0, State::media_bytes)
    }

    /// The sum of the estimates of all items, in tokens; it is kept, not counted.
    #[must_use]
    pub fn tokens(&self) -> u64 {
        self.state().map_or(0, State::tokens)
    }

    /// How many rewrites there were.
    #[must_use]
    pub fn history_version(&self) -> u64 {
        self.state().map_or(0, State::history_version)
    }

    /// The kinds that stand in the history.
    #[must_use]
    pub fn retained_kinds(&self) -> RetainedKinds {
        self.state().map_or_else(RetainedKinds::new, |state| state.retained_kinds().clone())
    }

    /// The world state that the model was told.
    #[must_use]
    pub fn world_state_baseline(&self) -> Option<&WorldStateSnapshot> {
        self.state().and_then(State::world_state_baseline)
    }

    /// The settings that were last made visible; none means that the next turn says everything.
    #[must_use]
    pub fn reference_context_item(&self) -> Option<&TurnContextItem> {
        self.state().and_then(State::reference_context_item)
    }

    /// The estimates of the items after the last one that the model made; 0 if it made none.
    ///
    /// A host that knows what the provider counted up to there adds this to it.
    #[must_use]
    pub fn tokens_after_last_model_item(&self) -> u64 {
        let is_model_made = |envelope: &&ResponseItemEnvelope| crate::tokens::is_model_made(envelope.item());
        let Some(last) = self.items().rev().find(is_model_made) else { return 0 };
        self.tokens().saturating_sub(last.state().tokens())
    }

    /// Says that no item was added to or taken from `self` to get `other`; facts do not count.
    pub(crate) fn same_items(&self, other: &Self) -> bool {
        let last_item = |snapshot: &Self| snapshot.log.iter().rev().find(|entry| entry.as_item().is_some()).cloned();
        if self.item_count() != other.item_count() || self.history_version() != other.history_version() {
            return false;
        }
        match (last_item(self), last_item(other)) {
            (None, None) => true,
            (Some(one), Some(two)) => one.ptr_eq(&two),
            _ => false,
        }
    }
}
