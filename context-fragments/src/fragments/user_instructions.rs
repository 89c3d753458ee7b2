//! Instruction files.

use std::{borrow::Cow, sync::Arc};

use crate::{ContextualUserFragment, FragmentRole, Kind, Markers};

/// The instructions that people keep in `AGENTS.md` files, as one text.
///
/// # Example
/// ```
/// use context_fragments::{ContextualUserFragment, UserInstructions};
///
/// let rendered = UserInstructions::new(Some("/r".into()), "Use tabs.").render()?;
/// assert_eq!(
///     rendered.text(),
///     "# AGENTS.md instructions for /r\n\n<INSTRUCTIONS>\nUse tabs.\n</INSTRUCTIONS>",
/// );
/// # Ok::<(), context_fragments::Error>(())
/// ```
#[derive(Clone, Debug, Eq, Hash)]
#[expect(
    clippy::derived_hash_with_manual_eq,
    reason = "equality is that of the fields; the pointer only finds it sooner"
)]
#[non_exhaustive]
pub struct UserInstructions {
    /// The folder that they were found for; none when they come from no folder or from several.
    pub directory: Option<Arc<str>>,
    /// All of them.
    pub text: Arc<str>,
}

impl UserInstructions {
    /// Takes the folder and the text.
    #[must_use]
    pub fn new(directory: Option<Arc<str>>, text: impl Into<Arc<str>>) -> Self {
        Self { directory, text: text.into() }
    }
}

/// By pointer first: the same 32 KB of text are compared at every step.
impl PartialEq for UserInstructions {
    fn eq(&self, other: &Self) -> bool {
        (Arc::ptr_eq(&self.text, &other.text) || self.text == other.text) && self.directory == other.directory
    }
}

impl ContextualUserFragment for UserInstructions {
    fn role(&self) -> FragmentRole {
        FragmentRole::User
    }

    fn content_kind(&self) -> Kind {
        Kind::AGENTS_MD
    }

    fn markers(&self) -> Markers<'_> {
        Self::type_markers()
    }

    fn body(&self) -> Cow<'_, str> {
        let text = &self.text;
        Cow::Owned(match &self.directory {
            Some(directory) => format!(" for {directory}\n\n<INSTRUCTIONS>\n{text}\n"),
            None => format!("\n\n<INSTRUCTIONS>\n{text}\n"),
        })
    }

    /// The shorter of the two start markers that were ever written, so that texts of either age are recognised.
    fn type_markers() -> Markers<'static> {
        Markers::new("# AGENTS.md instructions", "</INSTRUCTIONS>")
    }
}
