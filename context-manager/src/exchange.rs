//! Which items no rewrite may separate.

use std::{
    borrow::Cow,
    collections::{HashMap, VecDeque},
};

use context_fragments::{ItemType, Role};

use crate::{HistorySnapshot, Origin, Position, ResponseItemEnvelope, boundary::MessageParts, normalize::Family};

/// Items that belong together: a call with its outputs, and reasoning with what the model said behind it in the same
/// answer. Any other item stands alone.
#[derive(Clone, Debug, Default)]
pub(crate) struct Exchange {
    /// The items, oldest first.
    pub(crate) items: Vec<Position>,
    /// The sum of their estimates.
    pub(crate) tokens: u64,
    /// A call in it has no output.
    pub(crate) is_open: bool,
    /// A person began a turn with it.
    pub(crate) is_input: bool,
    /// It is context, which the next step says again.
    pub(crate) is_context: bool,
    /// It has an item of the newest turn.
    pub(crate) is_newest: bool,
}

impl Exchange {
    /// Says that the turn that goes on cannot do without it.
    pub(crate) const fn is_needed(&self) -> bool {
        self.is_newest && (self.is_open || self.is_input)
    }
}

/// The exchanges of a history, in the order of their first items.
pub(crate) fn exchanges(history: &HistorySnapshot) -> Vec<Exchange> {
    let items: Vec<&ResponseItemEnvelope> = history.items().collect();
    let mut groups = Groups::of(&items);
    let newest_turn = history.turn_count();
    let mut exchanges: Vec<Exchange> = Vec::new();
    let mut number_of: HashMap<usize, usize> = HashMap::new();
    let mut turns_before = 0;
    for (index, item) in items.iter().enumerate() {
        let number = *number_of.entry(groups.root(index)).or_insert_with(|| {
            exchanges.push(Exchange::default());
            exchanges.len() - 1
        });
        let Some(exchange) = exchanges.get_mut(number) else { continue };
        let turns = item.state().turns();
        exchange.is_context = exchange.items.is_empty() && is_context(item);
        exchange.items.push(item.position());
        exchange.tokens = exchange.tokens.saturating_add(item.tokens());
        exchange.is_input |= turns > turns_before;
        exchange.is_newest |= turns == newest_turn;
        exchange.is_open |= groups.is_open(index);
        turns_before = turns;
    }
    exchanges
}

/// Says that an item is a message of context alone.
fn is_context(envelope: &ResponseItemEnvelope) -> bool {
    match envelope.item().item_type() {
        ItemType::AdditionalTools => true,
        ItemType::Message if envelope.item().role() != Some(Role::Assistant) => {
            let parts = MessageParts::of(envelope.context_item());
            parts.context > 0 && parts.other == 0 && !envelope.measured.findings.marks.is_summary
        }
        _ => false,
    }
}

/// Items by index, joined into groups; a group is known by its oldest item.
struct Groups {
    older: Vec<usize>,
    open: Vec<bool>,
}

/// What is known of one call id of one family.
#[derive(Default)]
struct Known {
    /// Calls without an output.
    open: VecDeque<usize>,
    /// Outputs that stand before any call.
    early: VecDeque<usize>,
    newest: Option<usize>,
}

impl Groups {
    fn of(items: &[&ResponseItemEnvelope]) -> Self {
        let mut groups = Self { older: (0..items.len()).collect(), open: vec![false; items.len()] };
        let mut known: HashMap<(Family, Cow<'_, str>), Known> = HashMap::new();
        let mut thought: Option<usize> = None;
        for (index, item) in items.iter().enumerate() {
            let wire = item.item();
            thought = match (item.origin() == Origin::Model, wire.item_type() == ItemType::Reasoning, thought) {
                (true, _, Some(before)) => {
                    groups.join(before, index);
                    Some(before)
                }
                (true, true, None) => Some(index),
                _ => None,
            };
            let (call, output) = (Family::of_call(wire.item_type()), Family::of_output(wire.item_type()));
            let Some(key) = call.or(output).zip(wire.call_id()) else { continue };
            let known = known.entry(key).or_default();
            if call.is_some() {
                known.newest = Some(index);
                match known.early.pop_front() {
                    Some(output) => groups.join(output, index),
                    None => {
                        known.open.push_back(index);
                        groups.set_open(index, true);
                    }
                }
            } else if let Some(call) = known.open.pop_front() {
                groups.set_open(call, false);
                groups.join(call, index);
            } else if let Some(call) = known.newest {
                groups.join(call, index);
            } else {
                known.early.push_back(index);
            }
        }
        groups
    }

    fn root(&mut self, index: usize) -> usize {
        let mut root = index;
        while let Some(&older) = self.older.get(root).filter(|&&older| older != root) {
            root = older;
        }
        // The way is made short for the next who asks.
        let mut at = index;
        while let Some(older) = self.older.get_mut(at).filter(|older| **older != root) {
            at = std::mem::replace(older, root);
        }
        root
    }

    fn join(&mut self, one: usize, two: usize) {
        let (one, two) = (self.root(one), self.root(two));
        if let Some(older) = self.older.get_mut(one.max(two)) {
            *older = one.min(two);
        }
    }

    fn is_open(&self, index: usize) -> bool {
        self.open.get(index).copied().unwrap_or(false)
    }

    fn set_open(&mut self, index: usize, is_open: bool) {
        if let Some(open) = self.open.get_mut(index) {
            *open = is_open;
        }
    }
}
