//! What a host knows of a call that got no output.

use std::{collections::BTreeMap, sync::Arc};

use context_fragments::{Limit, MarkerRoom, cut_middle};

use crate::{ContextManager, Entry, Error, Position, Prompt, normalize::Family};

/// How far a call had come that got no output.
///
/// A synthetic output says it to the model, which otherwise cannot know whether to look for what the tool has done.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum CallState {
    /// The tool was never started.
    NotStarted,
    /// The tool was started, and nobody knows what became of it.
    OutcomeUnknown,
    /// The tool was stopped while it ran.
    Cancelled {
        /// What it had put out up to then; may be empty.
        partial: Arc<str>,
    },
}

impl CallState {
    /// A call that was stopped, with what it had put out, cut to `limit` with the marker inside.
    #[must_use]
    pub fn cancelled(partial: &str, limit: Limit) -> Self {
        Self::Cancelled { partial: cut_middle(partial, limit, MarkerRoom::Inside).into() }
    }

    /// What the synthetic output says.
    #[must_use]
    pub fn text(&self) -> String {
        match self {
            Self::NotStarted => "aborted: the tool was not started".into(),
            Self::OutcomeUnknown => {
                "aborted: the tool was started and its outcome is unknown; check what it has done before you call it again"
                    .into()
            }
            Self::Cancelled { partial } if partial.trim().is_empty() => {
                "aborted: the tool was stopped while it ran, before it had put out anything".into()
            }
            Self::Cancelled { partial } => {
                format!("aborted: the tool was stopped while it ran. It had put out:\n{partial}")
            }
        }
    }
}

/// What is known of calls, by position. It stands beside the log, so that no rollback forgets what was sent.
pub(crate) type CallStates = Arc<BTreeMap<Position, CallState>>;

impl ContextManager {
    /// Says how far the call at `position` had come; a synthetic output of it will say so.
    ///
    /// It counts in profiles that [tell](crate::SyntheticText::Told) it, as long as the call has no output.
    ///
    /// # Errors
    /// [`Error::NoSuchCall`] if no call stands there, [`Error::AlreadySent`] if its synthetic output was sent: that never
    /// changes. Nothing was changed.
    pub fn note_call(&mut self, position: Position, state: CallState) -> Result<(), Error> {
        let is_call = match self.history.entry_at(position) {
            Some(Entry::Item(envelope)) => Family::of_call(envelope.item().item_type()).is_some(),
            _ => false,
        };
        if !is_call {
            return Err(Error::NoSuchCall { position });
        }
        if self.closed.binary_search(&position).is_ok() {
            return Err(Error::AlreadySent { position });
        }
        if self.call_states.get(&position) != Some(&state) {
            Arc::make_mut(&mut self.call_states).insert(position, state);
        }
        Ok(())
    }

    /// What was noted since `prompt` was made is not what it said: for the calls whose synthetic outputs are in it, that
    /// stays which it said.
    pub(crate) fn keep_sent_states(&mut self, prompt: &Prompt) {
        let said = &prompt.projected().states;
        if Arc::ptr_eq(said, &self.call_states) {
            return;
        }
        for position in prompt.synthetic_outputs() {
            if said.get(position) != self.call_states.get(position) {
                let states = Arc::make_mut(&mut self.call_states);
                match said.get(position) {
                    Some(state) => drop(states.insert(*position, state.clone())),
                    None => drop(states.remove(position)),
                }
            }
        }
    }

    /// What is known of some calls.
    pub(crate) fn call_states_of(&self, calls: &[Position]) -> Vec<(Position, CallState)> {
        let known = |position: &Position| Some((*position, self.call_states.get(position)?.clone()));
        calls.iter().filter_map(known).collect()
    }

    /// Takes over what an earlier run had noted of calls.
    pub fn restore_call_states(&mut self, states: impl IntoIterator<Item = (Position, CallState)>) {
        self.call_states = Arc::new(states.into_iter().collect());
    }

    /// What was noted of calls, by position.
    pub fn call_states(&self) -> impl Iterator<Item = (Position, &CallState)> {
        self.call_states.iter().map(|(position, state)| (*position, state))
    }
}
