//! What the administrator demands.

use std::borrow::Cow;

use crate::{Bound, ContextualUserFragment, FragmentRole, Kind, Markers};

/// The instructions of an administrator, which the user cannot change.
///
/// They are a message of their own, and never cut: what does not fit into 10,000 tokens with markers and notice is
/// refused.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct ManagedDeveloperInstructions {
    /// The words of the administrator.
    pub text: String,
}

impl ManagedDeveloperInstructions {
    /// Takes the words of the administrator.
    #[must_use]
    pub fn new(text: impl Into<String>) -> Self {
        Self { text: text.into() }
    }
}

impl ContextualUserFragment for ManagedDeveloperInstructions {
    fn role(&self) -> FragmentRole {
        FragmentRole::Developer
    }

    fn content_kind(&self) -> Kind {
        Kind::MANAGED_DEVELOPER_INSTRUCTIONS
    }

    fn markers(&self) -> Markers<'_> {
        Self::type_markers()
    }

    fn body(&self) -> Cow<'_, str> {
        Cow::Owned(format!("\n{}\n", self.text))
    }

    fn requires_separate_message(&self) -> bool {
        true
    }

    fn bound(&self) -> Bound {
        Bound::refuse(10_000)
    }

    fn type_markers() -> Markers<'static> {
        Markers::new("<managed_developer_instructions>", "</managed_developer_instructions>")
    }
}
