//! The model changed in the middle of a conversation.

use std::borrow::Cow;

use crate::{ContextualUserFragment, FragmentRole, Kind, Markers};

/// What a model needs to know that takes over from another one.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct ModelSwitchInstructions {
    /// The instructions of the model that takes over.
    pub instructions: String,
}

impl ModelSwitchInstructions {
    /// Takes the instructions of the model that takes over.
    #[must_use]
    pub fn new(instructions: impl Into<String>) -> Self {
        Self { instructions: instructions.into() }
    }
}

impl ContextualUserFragment for ModelSwitchInstructions {
    fn role(&self) -> FragmentRole {
        FragmentRole::Developer
    }

    fn content_kind(&self) -> Kind {
        Kind::MODEL_SWITCH
    }

    fn markers(&self) -> Markers<'_> {
        Self::type_markers()
    }

    fn body(&self) -> Cow<'_, str> {
        Cow::Owned(format!(
            "\nThe user was previously using a different model. Please continue the conversation according to the \
             following instructions:\n\n{}\n",
            self.instructions
        ))
    }

    fn requires_separate_message(&self) -> bool {
        true
    }

    fn type_markers() -> Markers<'static> {
        Markers::new("<model_switch>", "</model_switch>")
    }
}
