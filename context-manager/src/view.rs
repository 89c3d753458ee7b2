//! A history without its oldest exchanges, for a request that was too long.

use std::collections::HashSet;

use crate::{
    ContextManager, Entry, HistorySnapshot, Position, ResponseItemEnvelope, Rewrite,
    exchange::{Exchange, exchanges},
    rewrite::Kept,
};

/// A view of a history that leaves out its oldest exchanges, one by one; the store is untouched.
///
/// For the request that asks a model to summarise: where the provider says that it is too long, the oldest exchange is
/// [skipped](Self::skip_oldest) and the request made again. That ends, because the input of the newest turn and its open
/// calls are all that is never skipped.
///
/// # Example
/// ```
/// use context_fragments::{ContextItem, Limit, WireItem};
/// use context_manager::{ContextManager, Recording, TruncationPolicy};
///
/// let recording = Recording::new(TruncationPolicy::new(Limit::Tokens(10_000)));
/// let mut manager = ContextManager::new();
/// manager.record_items([WireItem::function_call("sh", "{}", "c1")], &recording)?;
/// manager.record_items([WireItem::function_call_output("c1", "ok")], &recording)?;
/// manager.record_items([ContextItem::user_text("go on")], &recording)?;
/// let mut view = manager.compaction_view();
/// assert_eq!(view.skip_oldest().map(|skipped| skipped.items.len()), Some(2)); // the call and its output
/// assert_eq!((view.items().count(), manager.history().item_count()), (1, 3));
/// assert_eq!(view.skip_oldest(), None);
/// # Ok::<(), context_manager::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct CompactionView {
    manager: ContextManager,
    exchanges: Vec<Exchange>,
    /// The exchange that is looked at next.
    next: usize,
    skipped: HashSet<Position>,
    tokens: u64,
}

/// What a view has left out.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Skipped {
    /// The items, by position, increasing.
    pub items: Vec<Position>,
    /// What they cost, in tokens.
    pub tokens: u64,
}

impl ContextManager {
    /// A view that leaves out nothing yet. The history is read once, to find its exchanges.
    #[must_use]
    pub fn compaction_view(&self) -> CompactionView {
        CompactionView {
            exchanges: exchanges(&self.history),
            next: 0,
            skipped: HashSet::new(),
            tokens: self.history.tokens(),
            manager: self.clone(),
        }
    }
}

impl CompactionView {
    /// Leaves out the oldest exchange that is still there; none if what is left has to stay.
    pub fn skip_oldest(&mut self) -> Option<Skipped> {
        while let Some(exchange) = self.exchanges.get(self.next) {
            self.next += 1;
            if exchange.is_needed() {
                continue;
            }
            self.skipped.extend(&exchange.items);
            self.tokens = self.tokens.saturating_sub(exchange.tokens);
            return Some(Skipped { items: exchange.items.clone(), tokens: exchange.tokens });
        }
        None
    }

    /// Leaves out the oldest exchanges until the view has at most `tokens`, or until what is left has to stay.
    pub fn skip_until(&mut self, tokens: u64) -> Skipped {
        let mut all = Skipped::default();
        while self.tokens > tokens {
            let Some(skipped) = self.skip_oldest() else { break };
            all.items.extend(skipped.items);
            all.tokens = all.tokens.saturating_add(skipped.tokens);
        }
        all.items.sort_unstable();
        all
    }

    /// What the view costs, in tokens.
    #[must_use]
    pub const fn tokens(&self) -> u64 {
        self.tokens
    }

    /// The history behind the view, with all its items.
    #[must_use]
    pub const fn history(&self) -> &HistorySnapshot {
        self.manager.history()
    }

    /// The items that the view shows, oldest first.
    pub fn items(&self) -> impl Iterator<Item = &ResponseItemEnvelope> {
        self.manager.history.items().filter(|item| !self.skipped.contains(&item.position()))
    }

    /// A history of its own with the items of the view, for the request: the host records its instruction there and
    /// projects it.
    ///
    /// While nothing is left out it is a clone, and its prompts extend what was sent, so that a provider's cache serves
    /// them. Otherwise it is a new log of handles, declared as a [compaction](Rewrite::Compaction).
    #[must_use]
    pub fn to_manager(&self) -> ContextManager {
        let mut manager = self.manager.clone();
        if self.skipped.is_empty() {
            return manager;
        }
        let reference = manager.reference_context_item().cloned();
        let entries = self.manager.history.log.iter().filter_map(Entry::as_item);
        let kept = entries
            .filter(|item| !self.skipped.contains(&item.position()))
            .map(|item| Kept::Item(Some(item.position()), item.ready()))
            .collect();
        manager.rebuild(Rewrite::Compaction, reference, kept);
        manager
    }
}
