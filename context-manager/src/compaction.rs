//! What a compaction keeps and what it drops, found without a model.

use std::collections::HashSet;

use crate::{
    Estimate, HistorySnapshot, PartName, Parts, Position, ResponseItemEnvelope, TokenCounter,
    exchange::{Exchange, exchanges},
    preflight::weights,
};

/// How many of the largest pieces are named when nothing can be done.
const N_LARGEST: usize = 5;

/// What a compaction has to reach; all in tokens, as the manager's counter counts them.
///
/// # Example
/// ```
/// use context_manager::{CompactionTarget, Model, Parts};
///
/// let parts = Parts::new(Model::new("m1")).with_base("You are careful.");
/// let target = CompactionTarget::new(150_000).with_parts(&parts).with_reserve(8_000).with_pass(200_000);
/// assert_eq!(target.fixed(), 7 + 8_000);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct CompactionTarget {
    /// The most that the next prompt may have: parts, reserve, and what is kept.
    pub tokens: u64,
    /// What the parts of the prompt cost; nothing by default.
    pub parts: Vec<(PartName, u64)>,
    /// What the host adds to what is kept: the summary, and the context that it says again. Nothing by default.
    pub reserve: u64,
    /// The most that one request may have that reads what is dropped; as much as `tokens` by default.
    pub pass_tokens: u64,
}

impl CompactionTarget {
    /// Asks for a prompt of at most `tokens`.
    #[must_use]
    pub const fn new(tokens: u64) -> Self {
        Self { tokens, parts: Vec::new(), reserve: 0, pass_tokens: tokens }
    }

    /// The same with the parts of the prompt counted in, by the estimate.
    #[must_use]
    pub fn with_parts(self, parts: &Parts) -> Self {
        self.with_parts_counted(parts, &Estimate)
    }

    /// The same with the parts of the prompt counted in by `counter`: that of the manager, whose items are counted so.
    #[must_use]
    pub fn with_parts_counted(mut self, parts: &Parts, counter: &dyn TokenCounter) -> Self {
        self.parts = weights(parts, counter).collect();
        self
    }

    /// The same with room for what the host adds.
    #[must_use]
    pub const fn with_reserve(mut self, tokens: u64) -> Self {
        self.reserve = tokens;
        self
    }

    /// The same with the window of the model that reads what is dropped.
    #[must_use]
    pub const fn with_pass(mut self, tokens: u64) -> Self {
        self.pass_tokens = tokens;
        self
    }

    /// What no choice among the items changes: the parts and the reserve.
    #[must_use]
    pub fn fixed(&self) -> u64 {
        self.part_tokens().saturating_add(self.reserve)
    }

    fn part_tokens(&self) -> u64 {
        self.parts.iter().map(|(_, tokens)| *tokens).fold(0, u64::saturating_add)
    }
}

/// What a compaction would do.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum CompactionPlan {
    /// Parts and history fit as they are.
    Fits {
        /// What they cost.
        tokens: u64,
    },
    /// These items go, and the rest fits.
    Compact(Compaction),
    /// Whatever goes, what has to stay does not fit. To try again changes nothing.
    Irreducible {
        /// What has to stay, in tokens.
        floor: u64,
        /// Its largest pieces, the largest first; at most five.
        largest: Vec<Weight>,
    },
}

/// A piece of a prompt, and what it costs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Weight {
    /// The piece.
    pub what: Piece,
    /// Its estimate.
    pub tokens: u64,
}

/// A piece of a prompt that has to stay.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Piece {
    /// A part before the items.
    Part(PartName),
    /// What the host adds.
    Reserve,
    /// The item at this position.
    Item(Position),
}

/// Which items stay and which go. No exchange is divided, and what stays is in the order of the history.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Compaction {
    /// What stays: the newest exchanges that fit, and what the turn that goes on cannot do without.
    pub kept: Vec<Position>,
    /// What goes; with it all context, which the next step says again.
    pub dropped: Vec<Position>,
    /// What goes and has to be read for the summary, in requests of which each fits.
    pub passes: Vec<Pass>,
    /// What goes and fits into no request that reads it.
    pub unread: Vec<Position>,
    /// Parts and history before.
    pub tokens_before: u64,
    /// Parts, reserve and what is kept.
    pub tokens_after: u64,
}

impl Compaction {
    /// By how much the prompt gets smaller; never 0.
    #[must_use]
    pub const fn saving(&self) -> u64 {
        self.tokens_before.saturating_sub(self.tokens_after)
    }
}

/// Items that one request reads, oldest first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Pass {
    /// The items.
    pub items: Vec<Position>,
    /// What the request costs: the parts, the reserve (the summary of the passes before is in it), and the items.
    pub tokens: u64,
}

impl HistorySnapshot {
    /// Chooses what a compaction keeps and what it drops. Nothing is changed, and no model is asked.
    ///
    /// The newest exchanges stay as long as they fit. The input of the newest turn and its open calls stay always; one
    /// that is large does not end the search. Context goes: the next step says it again. What goes is divided into
    /// passes, none of which is larger than a request may be.
    ///
    /// The host reads the passes with a model, and gives [`kept`](Compaction::kept) and the summary to
    /// [`replace_compacted`](crate::ContextManager::replace_compacted).
    ///
    /// # Example
    /// ```
    /// use context_fragments::{ContextItem, Limit};
    /// use context_manager::{CompactionPlan, CompactionTarget, ContextManager, Recording, TruncationPolicy};
    ///
    /// let recording = Recording::new(TruncationPolicy::new(Limit::Tokens(10_000)));
    /// let mut manager = ContextManager::new();
    /// manager.record_items((0..10).map(|_| ContextItem::user_text(&"word ".repeat(80))), &recording)?;
    /// let CompactionPlan::Compact(plan) = manager.history().plan_compaction(&CompactionTarget::new(500).with_reserve(200))
    ///     else { panic!("a thousand tokens do not fit") };
    /// assert_eq!((plan.kept.len(), plan.dropped.len(), plan.saving()), (3, 7, 500));
    /// # Ok::<(), context_manager::Error>(())
    /// ```
    #[must_use]
    pub fn plan_compaction(&self, target: &CompactionTarget) -> CompactionPlan {
        let tokens_before = target.part_tokens().saturating_add(self.tokens());
        if tokens_before <= target.tokens {
            return CompactionPlan::Fits { tokens: tokens_before };
        }
        let exchanges = exchanges(self);
        let needed = exchanges.iter().filter(|exchange| exchange.is_needed());
        let floor = needed.map(|exchange| exchange.tokens).fold(target.fixed(), u64::saturating_add);
        if floor > target.tokens {
            return CompactionPlan::Irreducible { floor, largest: self.largest(target, &exchanges) };
        }
        let stays = newest_that_fit(&exchanges, target.tokens - floor);
        let mut plan = Compaction { tokens_before, tokens_after: target.fixed(), ..Compaction::default() };
        for (exchange, stays) in exchanges.iter().zip(&stays) {
            if *stays {
                plan.kept.extend(&exchange.items);
                plan.tokens_after = plan.tokens_after.saturating_add(exchange.tokens);
            } else {
                plan.dropped.extend(&exchange.items);
            }
        }
        plan.kept.sort_unstable();
        plan.dropped.sort_unstable();
        let goes = exchanges.iter().zip(&stays).filter(|(exchange, stays)| !**stays && !exchange.is_context);
        plan.read(goes.map(|(exchange, _)| exchange), target);
        CompactionPlan::Compact(plan)
    }

    /// The largest pieces of what has to stay.
    fn largest(&self, target: &CompactionTarget, exchanges: &[Exchange]) -> Vec<Weight> {
        let needed: HashSet<Position> = exchanges
            .iter()
            .filter(|exchange| exchange.is_needed())
            .flat_map(|exchange| exchange.items.iter().copied())
            .collect();
        let items = self.items().filter(|item| needed.contains(&item.position()));
        let weight_of =
            |item: &ResponseItemEnvelope| Weight { what: Piece::Item(item.position()), tokens: item.tokens() };
        let parts = target.parts.iter().map(|&(name, tokens)| Weight { what: Piece::Part(name), tokens });
        let reserve = Weight { what: Piece::Reserve, tokens: target.reserve };
        let mut weights: Vec<Weight> = parts.chain([reserve]).chain(items.map(weight_of)).collect();
        weights.retain(|weight| weight.tokens > 0);
        weights.sort_by_key(|weight| std::cmp::Reverse(weight.tokens));
        weights.truncate(N_LARGEST);
        weights
    }
}

/// For each exchange: whether it stays. Those that are needed are paid for already, and what follows has `room` tokens.
fn newest_that_fit(exchanges: &[Exchange], room: u64) -> Vec<bool> {
    let mut stays: Vec<bool> = exchanges.iter().map(Exchange::is_needed).collect();
    let mut left = room;
    for (exchange, stays) in exchanges.iter().zip(&mut stays).rev() {
        if *stays || exchange.is_context {
            continue;
        }
        let Some(rest) = left.checked_sub(exchange.tokens) else { break };
        left = rest;
        *stays = true;
    }
    stays
}

impl Compaction {
    /// Divides what goes into requests of which each fits.
    fn read<'a>(&mut self, goes: impl Iterator<Item = &'a Exchange>, target: &CompactionTarget) {
        let fixed = target.fixed();
        let mut pass = Pass { items: Vec::new(), tokens: fixed };
        for exchange in goes {
            if fixed.saturating_add(exchange.tokens) > target.pass_tokens {
                self.unread.extend(&exchange.items);
                continue;
            }
            if pass.tokens.saturating_add(exchange.tokens) > target.pass_tokens {
                self.passes.push(std::mem::replace(&mut pass, Pass { items: Vec::new(), tokens: fixed }));
            }
            pass.items.extend(&exchange.items);
            pass.tokens = pass.tokens.saturating_add(exchange.tokens);
        }
        if !pass.items.is_empty() {
            self.passes.push(pass);
        }
        self.passes.iter_mut().for_each(|pass| pass.items.sort_unstable());
        self.unread.sort_unstable();
    }
}
