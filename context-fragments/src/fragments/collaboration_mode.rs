//! How the user and the agent work together.

use std::borrow::Cow;

use crate::{ContextualUserFragment, FragmentRole, Kind, Markers};

/// The instructions of a collaboration mode; empty ones cancel those that stood before.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct CollaborationModeInstructions {
    /// The instructions, word for word.
    pub instructions: String,
}

impl CollaborationModeInstructions {
    /// Takes the instructions, word for word.
    #[must_use]
    pub fn new(instructions: impl Into<String>) -> Self {
        Self { instructions: instructions.into() }
    }
}

impl ContextualUserFragment for CollaborationModeInstructions {
    fn role(&self) -> FragmentRole {
        FragmentRole::Developer
    }

    fn content_kind(&self) -> Kind {
        Kind::COLLABORATION_MODE
    }

    fn markers(&self) -> Markers<'_> {
        Self::type_markers()
    }

    fn body(&self) -> Cow<'_, str> {
        Cow::Borrowed(&self.instructions)
    }

    fn type_markers() -> Markers<'static> {
        Markers::new("<collaboration_mode>", "</collaboration_mode>")
    }
}
