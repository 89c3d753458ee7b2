//! Notices of the host beside the conversation.

use std::borrow::Cow;

use context_fragments::{ContextualUserFragment, FragmentRole, Kind, Markers};

const SUB_AGENT: Kind = Kind::from_static("subagents.notification");

/// What became of an agent that works for this one.
///
/// # Example
/// ```
/// use context_fragments::ContextualUserFragment;
/// use session::SubAgentNotice;
///
/// let rendered = SubAgentNotice::new("/root/tests: done, all 12 pass").render()?;
/// assert!(rendered.text().starts_with("<subagent_notification>"));
/// # Ok::<(), context_fragments::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct SubAgentNotice {
    text: String,
}

impl SubAgentNotice {
    /// Says what became of it.
    #[must_use]
    pub fn new(text: impl Into<String>) -> Self {
        Self { text: text.into() }
    }
}

impl ContextualUserFragment for SubAgentNotice {
    fn role(&self) -> FragmentRole {
        FragmentRole::User
    }

    fn content_kind(&self) -> Kind {
        SUB_AGENT
    }

    fn markers(&self) -> Markers<'_> {
        Self::type_markers()
    }

    fn type_markers() -> Markers<'static> {
        Markers::new("<subagent_notification>", "</subagent_notification>")
    }

    fn body(&self) -> Cow<'_, str> {
        Cow::Owned(format!("\n{}\n", self.text))
    }
}
