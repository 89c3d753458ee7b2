//! Where the agent works.

use std::borrow::Cow;

use crate::{ContextualUserFragment, FragmentRole, Kind, Markers};

/// Where the agent works: folders, shell, date, the reach of its tools.
///
/// The body is XML that the world state writes, whole or only what changed.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct EnvironmentContext {
    /// What stands between the tags, with its line feeds.
    pub body: String,
}

impl EnvironmentContext {
    /// Takes what stands between the tags.
    #[must_use]
    pub fn new(body: impl Into<String>) -> Self {
        Self { body: body.into() }
    }
}

impl ContextualUserFragment for EnvironmentContext {
    fn role(&self) -> FragmentRole {
        FragmentRole::User
    }

    fn content_kind(&self) -> Kind {
        Kind::ENVIRONMENT_CONTEXT
    }

    fn markers(&self) -> Markers<'_> {
        Self::type_markers()
    }

    fn body(&self) -> Cow<'_, str> {
        Cow::Borrowed(&self.body)
    }

    fn type_markers() -> Markers<'static> {
        Markers::new("<environment_context>", "</environment_context>")
    }
}
