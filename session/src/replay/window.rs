//! The window of a checkpoint, as a history.

use context_fragments::{ContextItem, TurnContextItem};
use context_manager::{ContextManager, Fact, Origin, Position, Recording, Restored, Rewrite, TruncationPolicy, TurnId};
use world_state::WorldStateSnapshot;

use super::{kinds_of, origin_of};
use crate::{
    rollout::{Checkpoint, CheckpointCause, ClosedCall},
    tool_fact,
};

/// A log that was not written by hand stays far below it, and who goes on from there never reaches the end.
pub(super) const LARGEST_NUMBER: u64 = 1 << 60;

/// A history as a checkpoint holds it.
#[derive(Clone, Debug)]
pub(crate) struct Window {
    rewrite: Option<Rewrite>,
    items: Vec<Restored>,
    baseline: Option<WorldStateSnapshot>,
    reference: Option<TurnContextItem>,
    /// The calls in it whose synthetic output was sent.
    closed: Vec<Position>,
    /// What became of calls in it without an output.
    calls: Vec<ClosedCall>,
    next_position: u64,
    history_version: u64,
}

impl Window {
    /// Reads a checkpoint that was written by this library; says what is wrong with it.
    pub(crate) fn of(checkpoint: &Checkpoint) -> Result<Self, &'static str> {
        let counters = &checkpoint.counters;
        let next = counters.next_position.ok_or("it has no positions")?;
        let positions = checkpoint.items.iter().flatten().filter_map(|item| item.metadata.position);
        let counted = [counters.next_position, counters.history_version, counters.epoch, counters.next_acceptance];
        if positions.chain(counted.into_iter().flatten()).any(|number| number > LARGEST_NUMBER) {
            return Err("a number in it leaves no room for others");
        }
        let baseline = match &checkpoint.baseline {
            Some(baseline) => {
                Some(serde_json::from_str(baseline.as_str()).map_err(|_| "its baseline is no object of sections")?)
            }
            None => None,
        };
        let items = checkpoint.items.as_deref().ok_or("it has no items")?;
        let (mut free, mut turn) = (0, None);
        let restored = items.iter().map(|item| {
            let metadata = &item.metadata;
            // An item of which no position is said stands behind the one before it.
            let position = metadata.position.unwrap_or(free);
            free = position.saturating_add(1);
            let position = Position::new(position);
            let kept = ContextItem::new(item.item.clone(), kinds_of(metadata));
            let mut restored = Restored::new(kept, position);
            // The items of one turn share its id.
            let before = turn.take().filter(|turn: &TurnId| metadata.turn_id.as_deref() == Some(turn.as_str()));
            turn = before.or_else(|| metadata.turn_id.clone().map(TurnId::new));
            restored.turn.clone_from(&turn);
            restored.origin = metadata.origin.as_ref().and_then(origin_of);
            restored.model = metadata.model.clone();
            restored.acceptance_order = metadata.acceptance_order;
            restored.truncation_limit = metadata.truncation_limit;
            restored.moved_from = metadata.moved_from.map(Position::new);
            restored
        });
        let items: Vec<Restored> = restored.collect();
        let closed = checkpoint.sent.iter().flat_map(|sent| &sent.synthetic_outputs);
        Ok(Self {
            rewrite: match &checkpoint.cause {
                CheckpointCause::Compaction => Some(Rewrite::Compaction),
                CheckpointCause::Rewrite(name) if name == "elide" => Some(Rewrite::Elide),
                CheckpointCause::Rewrite(name) if name == "import" => Some(Rewrite::Import),
                CheckpointCause::Rewrite(_) => Some(Rewrite::Replace),
                _ => None,
            },
            items,
            baseline,
            reference: checkpoint.reference_context_item.clone(),
            closed: closed.copied().map(Position::new).collect(),
            calls: checkpoint.calls.clone(),
            next_position: next,
            history_version: checkpoint.counters.history_version.unwrap_or(1),
        })
    }

    /// Where the first item or fact of the window stands.
    fn first_position(&self) -> u64 {
        let facts = u64::from(self.baseline.is_some()) + u64::from(self.reference.is_some());
        self.items.first().map_or(self.next_position.saturating_sub(facts), |item| item.position.number())
    }

    pub(crate) const fn len(&self) -> usize {
        self.items.len()
    }

    /// Says that it holds what a user said in this turn.
    pub(crate) fn has_input_of(&self, turn: &TurnId) -> bool {
        self.items.iter().any(|item| item.turn.as_ref() == Some(turn) && item.origin == Some(Origin::User))
    }

    /// The largest number in the ids of its turns.
    pub(crate) fn last_turn_number(&self) -> u64 {
        let turns =
            self.items.iter().filter_map(|item| item.turn.as_ref()?.as_str().strip_prefix("turn-")?.parse().ok());
        turns.filter(|number| *number < LARGEST_NUMBER).max().unwrap_or(0)
    }

    /// Makes it the history of `manager`. What was sent stays known, so the next prompt declares the break.
    ///
    /// What a window holds was bounded when it was recorded: its items are put back as they are. If one does not fit, the
    /// history stands as it was.
    pub(crate) fn install(&self, manager: &mut ContextManager) -> Result<(), context_manager::Error> {
        let mut next = manager.clone();
        self.put_into(&mut next)?;
        *manager = next;
        Ok(())
    }

    fn put_into(&self, manager: &mut ContextManager) -> Result<(), context_manager::Error> {
        let first = self.first_position();
        match self.rewrite {
            // Who reads a log from here on has nothing that could be rewritten, but the name and the version of it.
            Some(rewrite) if manager.history().entry_count() == 0 => {
                if let Some(position) = first.checked_sub(1) {
                    let fact = Fact::Rewritten { rewrite, version: self.history_version };
                    manager.restore_fact(fact, Position::new(position), None)?;
                }
            }
            Some(rewrite) => begin(manager, rewrite)?,
            None => {}
        }
        for item in &self.items {
            manager.restore(item.clone())?;
        }
        let facts = [
            self.baseline.clone().map(|baseline| Fact::Baseline(Some(baseline))),
            self.reference.clone().map(|reference| Fact::TurnContext(Some(reference))),
        ];
        let facts: Vec<Fact> = facts.into_iter().flatten().collect();
        let behind = self.next_position.saturating_sub(facts.len() as u64);
        let behind = self.items.last().map_or(behind, |item| behind.max(item.position.number().saturating_add(1)));
        for (position, fact) in (behind..).zip(facts) {
            let turn = match &fact {
                Fact::TurnContext(Some(context)) => context.turn_id().map(|id| TurnId::new(id.as_ref())),
                _ => None,
            };
            manager.restore_fact(fact, Position::new(position), turn)?;
        }
        tool_fact::tell(manager, &self.calls);
        manager.restore_sent(self.closed.iter().copied());
        Ok(())
    }
}

/// Empties a history under the name of a rewrite; what was sent and how often it was rewritten stays known.
///
/// The settings are cleared before, so that the position behind the rewrite is that of the first item.
pub(crate) fn begin(manager: &mut ContextManager, rewrite: Rewrite) -> Result<(), context_manager::Error> {
    let recording = Recording::new(TruncationPolicy::new(context_fragments::Limit::Tokens(0)));
    manager.set_reference_context_item(None);
    manager.rewrite(rewrite, [], &recording).map(drop)
}
