//! How other agents may be called in.

use std::borrow::Cow;

use crate::{ContextualUserFragment, FragmentRole, Kind, Markers};

/// Says, in one paragraph, when the agent may have others work for it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct MultiAgentModeInstructions {
    /// The paragraph, word for word.
    pub instructions: String,
}

impl MultiAgentModeInstructions {
    /// Takes the paragraph, word for word.
    #[must_use]
    pub fn new(instructions: impl Into<String>) -> Self {
        Self { instructions: instructions.into() }
    }
}

impl ContextualUserFragment for MultiAgentModeInstructions {
    fn role(&self) -> FragmentRole {
        FragmentRole::Developer
    }

    fn content_kind(&self) -> Kind {
        Kind::MULTI_AGENT_MODE
    }

    fn markers(&self) -> Markers<'_> {
        Self::type_markers()
    }

    fn body(&self) -> Cow<'_, str> {
        Cow::Borrowed(&self.instructions)
    }

    fn requires_separate_message(&self) -> bool {
        true
    }

    fn type_markers() -> Markers<'static> {
        Markers::new("<multi_agent_mode>", "</multi_agent_mode>")
    }
}
