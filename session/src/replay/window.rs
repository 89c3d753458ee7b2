//! The window of a checkpoint, as a history.

use context_fragments::{ContextItem, TurnContextItem};
use context_manager::{ContextManager, Fact, Position, Recording, Restored, Rewrite, TruncationPolicy, TurnId};
use world_state::WorldStateSnapshot;

use super::origin_of;
use crate::rollout::{Checkpoint, CheckpointCause};

/// A history as a checkpoint holds it.
#[derive(Clone, Debug)]
pub(crate) struct Window {
    rewrite: Option<Rewrite>,
    items: Vec<Restored>,
    baseline: Option<WorldStateSnapshot>,
    reference: Option<TurnContextItem>,
    /// The calls in it whose synthetic output was sent.
    closed: Vec<Position>,
    next_position: Position,
}

impl Window {
    /// Reads a checkpoint that was written by this library; says what is wrong with it.
    pub(crate) fn of(checkpoint: &Checkpoint) -> Result<Self, &'static str> {
        let next = checkpoint.counters.next_position.ok_or("it has no positions")?;
        let baseline = match &checkpoint.baseline {
            Some(baseline) => {
                Some(serde_json::from_str(baseline.as_str()).map_err(|_| "its baseline is no object of sections")?)
            }
            None => None,
        };
        let items = checkpoint.items.as_deref().ok_or("it has no items")?;
        let restored = items.iter().map(|item| {
            let metadata = &item.metadata;
            let position = Position::new(metadata.position.ok_or("an item of it has no position")?);
            let kept = ContextItem::new(item.item.clone(), metadata.kinds.as_slice());
            let mut restored = Restored::new(kept, position);
            restored.turn = metadata.turn_id.as_deref().map(TurnId::new);
            restored.origin = metadata.origin.as_ref().and_then(origin_of);
            restored.acceptance_order = metadata.acceptance_order;
            restored.truncation_limit = metadata.truncation_limit;
            restored.moved_from = metadata.moved_from.map(Position::new);
            Ok::<_, &'static str>(restored)
        });
        let closed = checkpoint.sent.iter().flat_map(|sent| &sent.synthetic_outputs);
        Ok(Self {
            rewrite: match &checkpoint.cause {
                CheckpointCause::Compaction => Some(Rewrite::Compaction),
                CheckpointCause::Rewrite(name) if name == "elide" => Some(Rewrite::Elide),
                CheckpointCause::Rewrite(name) if name == "import" => Some(Rewrite::Import),
                CheckpointCause::Rewrite(_) => Some(Rewrite::Replace),
                _ => None,
            },
            items: restored.collect::<Result<_, _>>()?,
            baseline,
            reference: checkpoint.reference_context_item.clone(),
            closed: closed.copied().map(Position::new).collect(),
            next_position: Position::new(next),
        })
    }

    pub(crate) const fn len(&self) -> usize {
        self.items.len()
    }

    /// Makes it the history of `manager`. What was sent stays known, so the next prompt declares the break.
    ///
    /// What a window holds was bounded when it was recorded: its items are put back as they are.
    pub(crate) fn install(&self, manager: &mut ContextManager) -> Result<(), context_manager::Error> {
        let recording = Recording::new(TruncationPolicy::new(context_fragments::Limit::Tokens(0)));
        // A session begins with the window that it was forked or imported with: that rewrites nothing.
        if let Some(rewrite) = self.rewrite.filter(|_| manager.history().entry_count() > 0) {
            manager.rewrite(rewrite, [], &recording)?;
            manager.set_reference_context_item(None);
        }
        for item in &self.items {
            manager.restore(item.clone())?;
        }
        let facts = [
            self.baseline.clone().map(|baseline| Fact::Baseline(Some(baseline))),
            self.reference.clone().map(|reference| Fact::TurnContext(Some(reference))),
        ];
        let facts: Vec<Fact> = facts.into_iter().flatten().collect();
        let first = self.next_position.number().saturating_sub(facts.len() as u64);
        for (position, fact) in (first..).zip(facts) {
            let turn = match &fact {
                Fact::TurnContext(Some(context)) => context.turn_id().map(|id| TurnId::new(id.as_ref())),
                _ => None,
            };
            manager.restore_fact(fact, Position::new(position), turn)?;
        }
        manager.restore_sent(self.closed.iter().copied());
        Ok(())
    }
}
