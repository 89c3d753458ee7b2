//! What a log was rebuilt into.

use std::sync::Arc;

use agents_md::NestedTargets;
use context_manager::{ContextManager, Parts};

use super::Replay;
use crate::{InterruptedTurn, rollout::SessionMeta};

/// What a log was rebuilt into.
pub(crate) struct Replayed {
    pub(crate) manager: ContextManager,
    pub(crate) header: Option<SessionMeta>,
    pub(crate) parts: Parts,
    pub(crate) last_turn_number: u64,
    pub(crate) last_model: Option<Arc<str>>,
    pub(crate) epoch: u64,
    /// A record says that a call was started: the host tells it of all.
    pub(crate) tells_starts: bool,
    /// The folders that tools had reached.
    pub(crate) nested: NestedTargets,
    pub(crate) interrupted: Option<Interrupted>,
}

/// A turn that was live when the log ends.
pub(crate) struct Interrupted {
    pub(crate) turn: InterruptedTurn,
    /// What the user said in it is in the history, so the model has to be told what became of it.
    pub(crate) has_input: bool,
}

impl Replay {
    pub(crate) fn into_replayed(self) -> Replayed {
        let interrupted = self.turn.map(|turn| Interrupted {
            turn: {
                let closed_calls = turn.open_calls.to_vec();
                let states = turn.facts.states(&closed_calls, self.tells_starts);
                InterruptedTurn { id: turn.id, closed_calls, states }
            },
            has_input: turn.has_input,
        });
        Replayed {
            nested: self.nested.unwrap_or_default(),
            manager: self.manager,
            header: self.header,
            parts: self.parts,
            last_turn_number: self.last_turn_number,
            last_model: self.last_model,
            epoch: self.epoch,
            tells_starts: self.tells_starts,
            interrupted,
        }
    }
}
