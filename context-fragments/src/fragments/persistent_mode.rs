//! Working on without the user.

use std::borrow::Cow;

use crate::{ContextualUserFragment, FragmentRole, Kind, Markers};

/// The instructions of the persistent mode, in which the agent works on by itself; empty ones cancel those that stood before.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct PersistentModeInstructions {
    /// The instructions, word for word.
    pub instructions: String,
}

impl PersistentModeInstructions {
    /// Takes the instructions, word for word.
    #[must_use]
    pub fn new(instructions: impl Into<String>) -> Self {
        Self { instructions: instructions.into() }
    }
}

impl ContextualUserFragment for PersistentModeInstructions {
    fn role(&self) -> FragmentRole {
        FragmentRole::Developer
    }

    fn content_kind(&self) -> Kind {
        Kind::PERSISTENT_MODE
    }

    fn markers(&self) -> Markers<'_> {
        Self::type_markers()
    }

    fn body(&self) -> Cow<'_, str> {
        Cow::Borrowed(&self.instructions)
    }

    fn type_markers() -> Markers<'static> {
        Markers::new("<persistent_mode>", "</persistent_mode>")
    }
}
