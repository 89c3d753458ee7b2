//! A skill that the user called.

use std::borrow::Cow;

use crate::{ContextualUserFragment, FragmentRole, Kind, Markers};

/// The text of a skill that the user called by its name.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct SkillInstructions {
    /// The name of the skill.
    pub name: String,
    /// The file that it was read from.
    pub path: String,
    /// The text of that file.
    pub contents: String,
}

impl SkillInstructions {
    /// Takes the name, the file and its text.
    #[must_use]
    pub fn new(name: impl Into<String>, path: impl Into<String>, contents: impl Into<String>) -> Self {
        Self { name: name.into(), path: path.into(), contents: contents.into() }
    }
}

impl ContextualUserFragment for SkillInstructions {
    fn role(&self) -> FragmentRole {
        FragmentRole::User
    }

    fn content_kind(&self) -> Kind {
        Kind::SKILL
    }

    fn markers(&self) -> Markers<'_> {
        Self::type_markers()
    }

    fn body(&self) -> Cow<'_, str> {
        // Whoever wrote the skill must not speak with the host's voice through its name.
        let [name, path] = [&self.name, &self.path].map(|text| text.replace(char::is_control, "\u{FFFD}"));
        Cow::Owned(format!("\n<name>{name}</name>\n<path>{path}</path>\n{}\n", self.contents))
    }

    fn type_markers() -> Markers<'static> {
        Markers::new("<skill>", "</skill>")
    }
}
