//! Why a turn is ended from outside, and what the model reads of it.

use std::borrow::Cow;

use context_fragments::TurnAborted;
use context_manager::{SyntheticText, TurnId};

use crate::{
    CallState, OpenCall, UserInput,
    rollout::{self, ClosedCall},
    tool_fact::{closed, words_of},
};

const FAILED: &str = "The previous turn ended with an error. Tool calls without a result may have run in part: check \
                      what they did before you repeat them.";
const PROCESS_ENDED: &str = "The program stopped in the middle of the previous turn and was started again. Tool calls \
                             without a result may have run in part: check what they did before you repeat them.";

/// Why a turn is ended from outside.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum AbortReason {
    /// The user stopped it. The model is told so, in the words of the published design.
    Interrupted,
    /// Another turn takes its place. The model reads no notice; calls without a result show as aborted.
    Replaced,
    /// It cannot go on, for example because the provider failed. The model is told that it ended with an error.
    Failed,
    /// Another reason, in one word for the log, and what the model should keep in mind.
    Other {
        /// The word in the log.
        word: Cow<'static, str>,
        /// What the model should keep in mind.
        guidance: Cow<'static, str>,
    },
}

impl AbortReason {
    /// The word in the log.
    #[must_use]
    pub fn word(&self) -> &str {
        match self {
            Self::Interrupted => "interrupted",
            Self::Replaced => "replaced",
            Self::Failed => "failed",
            Self::Other { word, .. } => word,
        }
    }

    /// The reason of a turn that was live when its process died.
    pub(crate) const fn process_ended() -> Self {
        Self::Other { word: Cow::Borrowed("process_ended"), guidance: Cow::Borrowed(PROCESS_ENDED) }
    }

    /// The notice that the model reads.
    fn notice(&self, calls: &[OpenCall], closed: &[ClosedCall], outputs: SyntheticText) -> Option<TurnAborted> {
        let guidance = match self {
            Self::Interrupted => return Some(TurnAborted::by_user()),
            Self::Replaced => return None,
            Self::Failed => FAILED,
            Self::Other { guidance, .. } => guidance.as_ref(),
        };
        // Where the outputs say it, a second time would be one too many.
        let told = if outputs == SyntheticText::Literal { words_of(calls, closed) } else { String::new() };
        Some(TurnAborted::new(format!("{guidance}{told}")))
    }

    /// How a turn ends for this reason: the notice, the record, and what the history is told of the calls.
    pub(crate) fn ending(
        &self,
        turn: &TurnId,
        calls: &[OpenCall],
        states: &[CallState],
        outputs: SyntheticText,
    ) -> Ending {
        let closed = closed(calls, states);
        let notice = self.notice(calls, &closed, outputs);
        let record = rollout::TurnAborted::new(turn.as_str(), self.word()).with_calls(closed.clone());
        Ending { notice, record, closed }
    }
}

/// How a turn is ended from outside.
pub(crate) struct Ending {
    /// What the model reads of it.
    pub(crate) notice: Option<TurnAborted>,
    /// What the log says of it.
    pub(crate) record: rollout::TurnAborted,
    /// What the history is told.
    pub(crate) closed: Vec<ClosedCall>,
}

/// What an aborted turn left.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Aborted {
    /// The calls that got no output. In each later prompt a synthetic output stands for it, which says that it was aborted
    /// and what is known of it.
    pub closed_calls: Vec<OpenCall>,
    /// What is known of each of them, in the same order.
    pub states: Vec<CallState>,
    /// What the user had said and no step had taken up: it is in no history and in no log.
    pub unrecorded: Vec<UserInput>,
}

/// A turn that was live when the process died.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct InterruptedTurn {
    /// Its id.
    pub id: TurnId,
    /// The calls of which no result is known.
    pub closed_calls: Vec<OpenCall>,
    /// What is known of each of them, in the same order. The model is told.
    pub states: Vec<CallState>,
}
