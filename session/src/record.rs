//! Recording what was said and done between two steps.

use std::sync::Arc;

use context_fragments::{ContextItem, ContextualUserFragment, bundle};
use context_manager::{Incoming, Position, Recorded, TurnId};

use crate::{
    Error,
    commit::{Batch, Gated, Inner, State},
    records::{Beside, records_of},
    rollout::{Draft, Metadata, Record},
};

/// Items that are recorded in one write, and what goes with them.
pub(crate) struct Conversation {
    pub(crate) turn: Option<TurnId>,
    pub(crate) items: Vec<Incoming>,
    /// Whether the tool whose output this is did what it was asked.
    pub(crate) success: Option<bool>,
    /// The call that the output answers.
    pub(crate) answers: Option<Position>,
    /// Records that stand behind the items.
    pub(crate) then_write: Vec<Draft>,
    /// What changes with the history.
    pub(crate) then: Box<dyn FnOnce(&mut State) + Send>,
}

impl Conversation {
    pub(crate) fn of(turn: Option<TurnId>, items: Vec<Incoming>) -> Self {
        Self { turn, items, success: None, answers: None, then_write: Vec::new(), then: Box::new(|_| ()) }
    }
}

impl Inner {
    /// Records items as they are in the history, cut to their bound, with the whole of a cut output beside it in the log:
    /// one write.
    pub(crate) async fn record_conversation_items(
        self: &Arc<Self>,
        gate: Gated,
        conversation: Conversation,
    ) -> Result<Recorded, Error> {
        let Conversation { turn, items, success, answers, then_write, then } = conversation;
        let (manager, reached, revision) = {
            let state = self.state();
            let reached = if gate.log.is_some() { state.reached_record(&self.host)? } else { None };
            (state.manager.clone(), reached, state.nested.revision())
        };
        let mut next = manager.clone();
        let mut recording = self.host.recording(turn.as_ref());
        // What a model makes is the answer to the prompt that was sent last.
        recording.model = manager.guard().last().map(|sent| sent.parts().model().name().into());
        let items = items.into_iter().map(|mut incoming| {
            incoming.item = self.host.redacted(incoming.item);
            incoming
        });
        let recorded = next.record_items(items, &recording).map_err(Error::history)?;
        let beside = Beside { turn: None, originals: recorded.originals.clone(), success, answers };
        let mut drafts = if gate.log.is_some() { records_of(&manager, &next, &beside)? } else { Vec::new() };
        drafts.extend(then_write);
        let is_reached = reached.is_some();
        drafts.extend(reached.map(|reached| Record::from(reached).with_metadata(Metadata::new()).into()));
        let at_ms = self.now()?.at_ms();
        let install = Box::new(move |state: &mut State| {
            state.install(next, answers);
            if is_reached {
                state.logged_reached = revision;
            }
            then(state);
        });
        drop(self.commit(gate, Batch { at_ms, drafts, logged_parts: None, install }).await?);
        Ok(recorded)
    }
}

/// The message of one fragment.
pub(crate) fn message_of(fragment: &impl ContextualUserFragment) -> Result<Vec<ContextItem>, Error> {
    let rendered = fragment.render().map_err(|source| Error::Fragment { source })?;
    Ok(bundle(&[rendered]))
}
