//! Instruction files of folders below the one that the agent works in.

use std::{borrow::Cow, sync::Arc};

use crate::{ContextualUserFragment, FragmentRole, Kind, Markers};

/// The instructions of one folder that a tool has reached.
///
/// # Example
/// ```
/// use context_fragments::{ContextualUserFragment, NestedInstructions};
///
/// assert_eq!(
///     NestedInstructions::new("/r/app", "Use spaces.").render()?.text(),
///     "# Nested AGENTS.md instructions for /r/app\n\n<INSTRUCTIONS>\nUse spaces.\n</INSTRUCTIONS>",
/// );
/// # Ok::<(), context_fragments::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct NestedInstructions {
    /// The folder below which they hold.
    pub directory: Arc<str>,
    /// All of them.
    pub text: Arc<str>,
}

impl NestedInstructions {
    /// Takes the folder and the text.
    #[must_use]
    pub fn new(directory: impl Into<Arc<str>>, text: impl Into<Arc<str>>) -> Self {
        Self { directory: directory.into(), text: text.into() }
    }
}

impl ContextualUserFragment for NestedInstructions {
    fn role(&self) -> FragmentRole {
        FragmentRole::User
    }

    fn content_kind(&self) -> Kind {
        Kind::NESTED_AGENTS_MD
    }

    fn markers(&self) -> Markers<'_> {
        Self::type_markers()
    }

    fn body(&self) -> Cow<'_, str> {
        // The name of a folder must not speak with the host's voice.
        let directory = self.directory.replace(char::is_control, "\u{FFFD}");
        Cow::Owned(format!("{directory}\n\n<INSTRUCTIONS>\n{}\n", self.text))
    }

    fn type_markers() -> Markers<'static> {
        Markers::new("# Nested AGENTS.md instructions for ", "</INSTRUCTIONS>")
    }
}
