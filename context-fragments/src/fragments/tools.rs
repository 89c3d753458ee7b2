//! Notices beside tools that are declared, redefined or gone in the middle of a conversation.

use std::borrow::Cow;

use crate::{ContextualUserFragment, FragmentRole, Kind, Markers};

const INCREMENTAL: &str = "This is an incremental tools update. Previously declared tools remain available for direct \
                           calls unless explicitly marked unavailable. If a tool is redefined here, its latest \
                           definition replaces the earlier one.";
const REMOVED_NAMESPACES: &str = "The following namespaces are no longer available. Do not call tools in them unless \
                                  those tools are declared in a later update:";
const REMOVED_TOOLS: &str = "The following tools are no longer available. Do not call them:";

/// Says that the tools that are declared next come on top of the earlier ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(clippy::exhaustive_structs, reason = "it says one fixed sentence")]
pub struct IncrementalToolsUpdate;

impl ContextualUserFragment for IncrementalToolsUpdate {
    fn role(&self) -> FragmentRole {
        FragmentRole::Developer
    }

    fn content_kind(&self) -> Kind {
        Kind::TOOLS_UPDATE
    }

    fn markers(&self) -> Markers<'_> {
        Self::type_markers()
    }

    fn body(&self) -> Cow<'_, str> {
        Cow::Borrowed(INCREMENTAL)
    }

    fn type_markers() -> Markers<'static> {
        Markers::NONE
    }

    fn matches_text(text: &str) -> bool {
        text.trim() == INCREMENTAL
    }
}

/// Says what a namespace of tools says about itself now.
///
/// # Example
/// ```
/// use context_fragments::{ContextualUserFragment, NamespaceInstructions};
///
/// let changed = NamespaceInstructions::new("mail", Some("Ask before you send.".into()));
/// assert_eq!(changed.render()?.text(), "Updated instructions for the mail namespace:\nAsk before you send.");
/// # Ok::<(), context_fragments::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct NamespaceInstructions {
    /// The name of the namespace.
    pub namespace: String,
    /// What it says about itself; none where it says nothing any more.
    pub text: Option<String>,
}

impl NamespaceInstructions {
    /// Takes the name of the namespace and what it says about itself.
    #[must_use]
    pub fn new(namespace: impl Into<String>, text: Option<String>) -> Self {
        Self { namespace: namespace.into(), text }
    }
}

impl ContextualUserFragment for NamespaceInstructions {
    fn role(&self) -> FragmentRole {
        FragmentRole::Developer
    }

    fn content_kind(&self) -> Kind {
        Kind::TOOLS_NAMESPACE
    }

    fn markers(&self) -> Markers<'_> {
        Self::type_markers()
    }

    fn body(&self) -> Cow<'_, str> {
        let namespace = one_line(&self.namespace);
        Cow::Owned(match &self.text {
            Some(text) => format!("Updated instructions for the {namespace} namespace:\n{text}"),
            None => format!("The {namespace} namespace no longer has additional instructions."),
        })
    }

    fn type_markers() -> Markers<'static> {
        Markers::NONE
    }

    fn matches_text(text: &str) -> bool {
        let text = text.trim();
        text.starts_with("Updated instructions for the ") && text.contains(" namespace:\n")
            || text.starts_with("The ") && text.ends_with(" namespace no longer has additional instructions.")
    }
}

/// Says which namespaces and tools are gone; a message of its own.
///
/// # Example
/// ```
/// use context_fragments::{ContextualUserFragment, RemovedTools};
///
/// assert_eq!(
///     RemovedTools::new([], ["grep".to_owned()]).render()?.text(),
///     "The following tools are no longer available. Do not call them:\n- grep",
/// );
/// # Ok::<(), context_fragments::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct RemovedTools {
    /// The namespaces that are gone with all their tools.
    pub namespaces: Vec<String>,
    /// The tools that are gone; those of a namespace as `namespace.tool`.
    pub tools: Vec<String>,
}

impl RemovedTools {
    /// Takes the namespaces and the tools that are gone.
    #[must_use]
    pub fn new(namespaces: impl IntoIterator<Item = String>, tools: impl IntoIterator<Item = String>) -> Self {
        Self { namespaces: namespaces.into_iter().collect(), tools: tools.into_iter().collect() }
    }
}

impl ContextualUserFragment for RemovedTools {
    fn role(&self) -> FragmentRole {
        FragmentRole::Developer
    }

    fn content_kind(&self) -> Kind {
        Kind::TOOLS_REMOVED
    }

    fn markers(&self) -> Markers<'_> {
        Self::type_markers()
    }

    fn body(&self) -> Cow<'_, str> {
        let list = |title: &str, names: &[String]| {
            let lines = names.iter().map(|name| format!("\n- {}", one_line(name)));
            (!names.is_empty()).then(|| format!("{title}{}", lines.collect::<String>()))
        };
        let lists = [list(REMOVED_NAMESPACES, &self.namespaces), list(REMOVED_TOOLS, &self.tools)];
        Cow::Owned(lists.into_iter().flatten().collect::<Vec<_>>().join("\n\n"))
    }

    fn requires_separate_message(&self) -> bool {
        true
    }

    fn type_markers() -> Markers<'static> {
        Markers::NONE
    }

    fn matches_text(text: &str) -> bool {
        let text = text.trim_start();
        text.starts_with(REMOVED_NAMESPACES) || text.starts_with(REMOVED_TOOLS)
    }
}

/// A name that a tool's maker gave must not speak with the host's voice.
fn one_line(name: &str) -> String {
    name.replace(char::is_control, "\u{FFFD}")
}
