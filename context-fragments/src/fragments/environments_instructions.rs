//! How to work in several environments.

use std::borrow::Cow;

use crate::{ContextualUserFragment, FragmentRole, Kind, Markers};

/// How to work where there are several environments, or that this no longer applies.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct EnvironmentsInstructions {
    /// The words of the host.
    pub text: String,
}

impl EnvironmentsInstructions {
    /// Takes the words of the host.
    #[must_use]
    pub fn new(text: impl Into<String>) -> Self {
        Self { text: text.into() }
    }
}

impl ContextualUserFragment for EnvironmentsInstructions {
    fn role(&self) -> FragmentRole {
        FragmentRole::Developer
    }

    fn content_kind(&self) -> Kind {
        Kind::ENVIRONMENTS_INSTRUCTIONS
    }

    fn markers(&self) -> Markers<'_> {
        Self::type_markers()
    }

    fn body(&self) -> Cow<'_, str> {
        Cow::Owned(format!("\n{}\n", self.text))
    }

    fn type_markers() -> Markers<'static> {
        Markers::new("<environments_instructions>", "</environments_instructions>")
    }
}
