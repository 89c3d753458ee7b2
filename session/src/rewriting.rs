//! A rewrite of the history, and the checkpoint that says it.

use std::{
    collections::{HashMap, HashSet},
    sync::Arc,
};

use context_fragments::{ContextItem, TurnContextItem, json::ObjectWriter};
use context_manager::{ContextManager, Origin, Position, ResponseItemEnvelope, Rewrite, TurnId};
use world_state::WorldStateSnapshot;

use crate::{
    Error,
    commit::State,
    nested::reached_member,
    records::{metadata_of, sha256},
    replay::{Window, begin},
    rollout::{Checkpoint, CheckpointCause, CheckpointItem, LoggedOrigin, Metadata, RawJson, SentMark},
    tool_fact,
};

/// One item of the window that takes the place of the history.
#[derive(Clone, Debug)]
pub(crate) enum WindowItem {
    /// An item of the history, with its bytes, its turn and its digest.
    Kept(Box<ResponseItemEnvelope>),
    /// A new one.
    New { item: ContextItem, turn: Option<TurnId>, origin: Origin },
}

impl WindowItem {
    /// An item that takes the place of one of the history: in its turn, from whom that came.
    pub(crate) fn changed(item: ContextItem, of: &ResponseItemEnvelope) -> Self {
        Self::New { item, turn: of.turn().cloned(), origin: of.origin() }
    }

    pub(crate) const fn item(&self) -> &ContextItem {
        match self {
            Self::Kept(envelope) => envelope.context_item(),
            Self::New { item, .. } => item,
        }
    }

    fn metadata(&self, position: u64) -> Metadata {
        match self {
            Self::Kept(envelope) => {
                let mut metadata = metadata_of(envelope);
                metadata.moved_from = metadata.position.replace(position);
                metadata
            }
            Self::New { item, turn, origin } => {
                let mut metadata = Metadata::new().with_position(position).with_kinds(item.kinds());
                metadata.turn_id = turn.as_ref().map(|turn| turn.as_str().into());
                metadata.origin = Some(match origin {
                    Origin::User => LoggedOrigin::User,
                    Origin::Model => LoggedOrigin::Model,
                    Origin::Tool => LoggedOrigin::Tool,
                    _ => LoggedOrigin::Host,
                });
                metadata
            }
        }
    }
}

/// What stands beside the history and is in no other record behind a checkpoint.
#[derive(Debug)]
pub(crate) struct Standing {
    model: Option<Arc<str>>,
    nested: Option<(&'static str, String)>,
    tells_starts: bool,
}

impl Standing {
    pub(crate) fn of(state: &State) -> Self {
        Self {
            model: state.last_model.clone(),
            nested: reached_member(&state.nested),
            tells_starts: state.tells_starts,
        }
    }

    pub(crate) fn write(&self, details: &mut ObjectWriter) {
        if let Some(model) = &self.model {
            details.string("model", model);
        }
        if let Some((key, reached)) = &self.nested {
            details.raw(key, reached);
        }
        if self.tells_starts {
            details.raw("tells_starts", "true");
        }
    }
}

/// What takes the place of a history.
#[derive(Debug)]
pub(crate) struct Rewriting {
    pub(crate) rewrite: Rewrite,
    pub(crate) items: Vec<WindowItem>,
    pub(crate) baseline: Option<WorldStateSnapshot>,
    pub(crate) reference: Option<TurnContextItem>,
    pub(crate) epoch: u64,
    pub(crate) summary: Option<String>,
    pub(crate) details: Option<RawJson>,
}

impl Rewriting {
    /// Makes the record, and the history that a reader of it rebuilds: the live one is made the same way, so that the two
    /// cannot differ.
    pub(crate) fn apply(self, manager: &ContextManager) -> Result<(Checkpoint, ContextManager), Error> {
        let mut emptied = manager.clone();
        begin(&mut emptied, self.rewrite).map_err(Error::history)?;
        let first = emptied.history().end_cursor().position().number();
        let items: Vec<CheckpointItem> = (first..)
            .zip(&self.items)
            .map(|(position, item)| CheckpointItem::new(item.item().item().clone(), item.metadata(position)))
            .collect();
        let cause = match self.rewrite {
            Rewrite::Compaction => CheckpointCause::Compaction,
            other => CheckpointCause::Rewrite(other.to_string()),
        };
        let mut checkpoint = Checkpoint::new(cause, items);
        checkpoint.summary = self.summary;
        checkpoint.details = self.details;
        checkpoint.counters.epoch = Some(self.epoch);
        fill(&mut checkpoint, manager, self.baseline.as_ref(), self.reference, first, |item| item.moved_from)?;
        let mut next = manager.clone();
        checkpoint.counters.history_version = Some(emptied.history_version());
        let window = Window::of(&checkpoint).map_err(|reason| Error::misshapen("checkpoint", reason))?;
        window.install(&mut next).map_err(Error::history)?;
        Ok((checkpoint, next))
    }
}

/// The checkpoint with which a fork begins: the items at the positions that they have.
pub(crate) fn fork_checkpoint(manager: &ContextManager, epoch: u64, standing: &Standing) -> Result<Checkpoint, Error> {
    let history = manager.history();
    let items = history.items().map(|envelope| CheckpointItem::new(envelope.item().clone(), metadata_of(envelope)));
    let mut checkpoint = Checkpoint::new(CheckpointCause::Fork, items.collect());
    checkpoint.counters.epoch = Some(epoch);
    let mut details = ObjectWriter::new();
    standing.write(&mut details);
    checkpoint.details = Some(RawJson::parse(&details.finish())?);
    let baseline = history.world_state_baseline();
    let reference = history.reference_context_item().cloned();
    let end = history.end_cursor().position().number();
    let n_items = checkpoint.items.as_ref().map_or(0, Vec::len) as u64;
    fill(&mut checkpoint, manager, baseline, reference, end.saturating_sub(n_items), |item| item.position)?;
    Ok(checkpoint)
}

/// Puts in what stands beside the items; `first` is where the first item would stand if they were all that there is, and
/// `stood` says where an item stands in `manager`.
fn fill(
    checkpoint: &mut Checkpoint,
    manager: &ContextManager,
    baseline: Option<&WorldStateSnapshot>,
    reference: Option<TurnContextItem>,
    first: u64,
    stood: impl Fn(&Metadata) -> Option<u64>,
) -> Result<(), Error> {
    let unwritable = |_| Error::misshapen("checkpoint.baseline", "a state that JSON can hold");
    let baseline = baseline.map(serde_json::to_string).transpose().map_err(unwritable)?;
    checkpoint.baseline = baseline.map(|baseline| RawJson::parse(&baseline)).transpose()?;
    checkpoint.reference_context_item = reference;
    let facts = u64::from(checkpoint.baseline.is_some()) + u64::from(checkpoint.reference_context_item.is_some());
    let items = checkpoint.items.as_deref().unwrap_or_default();
    checkpoint.counters.next_position = Some(first.saturating_add(items.len() as u64 + facts));
    if manager.call_states().next().is_some() {
        let place = |item: &CheckpointItem| Some((stood(&item.metadata)?, item.metadata.position?));
        let places: HashMap<u64, u64> = items.iter().filter_map(place).collect();
        checkpoint.calls = tool_fact::told(manager, |position| places.get(&position.number()).copied());
    }
    if let Some(prompt) = manager.guard().last() {
        let closed: HashSet<u64> = prompt.synthetic_outputs().iter().map(|position| position.number()).collect();
        let synthetic = items.iter().filter(|item| stood(&item.metadata).is_some_and(|at| closed.contains(&at)));
        let synthetic = synthetic.filter_map(|item| item.metadata.position).collect();
        let parts = prompt.parts().digests().map(sha256);
        let mut mark = SentMark::new(parts, sha256(prompt.chain()), prompt.items().len() as u64);
        mark.history_version = prompt.history().history_version();
        mark.profile = Some(prompt.profile().name.to_string());
        mark.model = Some(prompt.parts().model().name().to_owned());
        mark.synthetic_outputs = synthetic;
        checkpoint.sent = Some(Box::new(mark));
    }
    Ok(())
}

/// Where an item stands that a checkpoint holds.
pub(crate) fn positions_of(checkpoint: &Checkpoint) -> Vec<Position> {
    let items = checkpoint.items.iter().flatten();
    items.filter_map(|item| item.metadata.position.map(Position::new)).collect()
}
