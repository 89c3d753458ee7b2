//! The user stopped a turn.

use std::borrow::Cow;

use crate::{ContextualUserFragment, FragmentRole, Kind, Markers};

/// What a model needs to know about a turn that was stopped.
///
/// # Example
/// ```
/// use context_fragments::{ContextualUserFragment, TurnAborted};
///
/// assert!(TurnAborted::by_user().render()?.text().starts_with("<turn_aborted>\nThe user interrupted"));
/// # Ok::<(), context_fragments::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct TurnAborted {
    /// What the model should keep in mind.
    pub guidance: Cow<'static, str>,
}

impl TurnAborted {
    /// Takes what the model should keep in mind.
    #[must_use]
    pub fn new(guidance: impl Into<Cow<'static, str>>) -> Self {
        Self { guidance: guidance.into() }
    }

    /// Says that the user stopped the turn, in the words that models know from the published design.
    #[must_use]
    pub const fn by_user() -> Self {
        Self {
            guidance: Cow::Borrowed(
                "The user interrupted the previous turn on purpose. Any running unified exec processes may still be \
                 running in the background. If any tools/commands were aborted, they may have partially executed.",
            ),
        }
    }
}

impl ContextualUserFragment for TurnAborted {
    fn role(&self) -> FragmentRole {
        FragmentRole::User
    }

    fn content_kind(&self) -> Kind {
        Kind::TURN_ABORTED
    }

    fn markers(&self) -> Markers<'_> {
        Self::type_markers()
    }

    fn body(&self) -> Cow<'_, str> {
        Cow::Owned(format!("\n{}\n", self.guidance))
    }

    fn type_markers() -> Markers<'static> {
        Markers::new("<turn_aborted>", "</turn_aborted>")
    }
}
