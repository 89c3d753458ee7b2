//! How to work within the context window.

use std::borrow::Cow;

use crate::{ContextualUserFragment, FragmentRole, Kind, Markers};

/// How the agent should work with what is left of its context window.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct ContextWindowGuidance {
    /// The guidance of the host.
    pub text: String,
}

impl ContextWindowGuidance {
    /// Takes the guidance of the host.
    #[must_use]
    pub fn new(text: impl Into<String>) -> Self {
        Self { text: text.into() }
    }
}

impl ContextualUserFragment for ContextWindowGuidance {
    fn role(&self) -> FragmentRole {
        FragmentRole::Developer
    }

    fn content_kind(&self) -> Kind {
        Kind::CONTEXT_WINDOW_GUIDANCE
    }

    fn markers(&self) -> Markers<'_> {
        Self::type_markers()
    }

    fn body(&self) -> Cow<'_, str> {
        Cow::Owned(format!("\n{}\n", self.text))
    }

    fn type_markers() -> Markers<'static> {
        Markers::new("<context_window_guidance>", "</context_window_guidance>")
    }
}
