//! Lines of the instruction files that changed.

use std::borrow::Cow;

use crate::{ContextualUserFragment, FragmentRole, Kind, Markers};

/// The lines of [`UserInstructions`](crate::UserInstructions) that changed since they were last told, instead of all of
/// them again.
///
/// It has a kind of its own, so that a host can tell whether the whole text that it builds upon is still there.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct InstructionChanges {
    /// The changed lines, in parts that say where they stand.
    pub changes: String,
}

impl InstructionChanges {
    /// Takes the changed lines, in parts that say where they stand.
    #[must_use]
    pub fn new(changes: impl Into<String>) -> Self {
        Self { changes: changes.into() }
    }
}

impl ContextualUserFragment for InstructionChanges {
    fn role(&self) -> FragmentRole {
        FragmentRole::User
    }

    fn content_kind(&self) -> Kind {
        Kind::AGENTS_MD_CHANGES
    }

    fn markers(&self) -> Markers<'_> {
        Self::type_markers()
    }

    fn body(&self) -> Cow<'_, str> {
        Cow::Borrowed(&self.changes)
    }

    fn type_markers() -> Markers<'static> {
        Markers::new("# Changes of the AGENTS.md instructions\n\n<CHANGES>\n", "\n</CHANGES>")
    }
}
