//! News of an agent that works for this one.

use std::borrow::Cow;

use crate::{ContextualUserFragment, Error, FragmentRole, Kind, Markers, json};

/// Says how an agent that works for this one is doing.
///
/// # Example
/// ```
/// use context_fragments::{ContextualUserFragment, SubagentNotification};
///
/// assert_eq!(
///     SubagentNotification::new("/root/review", r#"{"completed": "done"}"#)?.render()?.text(),
///     "<subagent_notification>\n{\"agent_path\":\"/root/review\",\"status\":{\"completed\":\"done\"}}\n</subagent_notification>",
/// );
/// # Ok::<(), context_fragments::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct SubagentNotification {
    json: String,
}

impl SubagentNotification {
    /// Takes the path of the agent, and its status as JSON.
    ///
    /// # Errors
    /// [`Error::NotJson`] if the status is none.
    pub fn new(agent_path: &str, status: &str) -> Result<Self, Error> {
        let mut object = json::ObjectWriter::new();
        object.string("agent_path", agent_path);
        object.raw("status", &json::compact(status)?);
        Ok(Self { json: object.finish() })
    }
}

impl ContextualUserFragment for SubagentNotification {
    fn role(&self) -> FragmentRole {
        FragmentRole::User
    }

    fn content_kind(&self) -> Kind {
        Kind::SUBAGENT_NOTIFICATION
    }

    fn markers(&self) -> Markers<'_> {
        Self::type_markers()
    }

    fn body(&self) -> Cow<'_, str> {
        Cow::Owned(format!("\n{}\n", self.json))
    }

    fn type_markers() -> Markers<'static> {
        Markers::new("<subagent_notification>", "</subagent_notification>")
    }
}
