//! The tone that the user asked for.

use std::borrow::Cow;

use crate::{ContextualUserFragment, FragmentRole, Kind, Markers};

/// The personality that the user asked the agent to speak with.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct PersonalitySpec {
    /// What the personality is like.
    pub spec: String,
}

impl PersonalitySpec {
    /// Takes what the personality is like.
    #[must_use]
    pub fn new(spec: impl Into<String>) -> Self {
        Self { spec: spec.into() }
    }
}

impl ContextualUserFragment for PersonalitySpec {
    fn role(&self) -> FragmentRole {
        FragmentRole::Developer
    }

    fn content_kind(&self) -> Kind {
        Kind::PERSONALITY
    }

    fn markers(&self) -> Markers<'_> {
        Self::type_markers()
    }

    fn body(&self) -> Cow<'_, str> {
        Cow::Owned(format!(
            " The user has requested a new communication style. Future messages should adhere to the following \
             personality: \n{} ",
            self.spec
        ))
    }

    fn type_markers() -> Markers<'static> {
        Markers::new("<personality_spec>", "</personality_spec>")
    }
}
