//! A rule of the network that was saved for good.

use std::borrow::Cow;

use crate::{ContextualUserFragment, FragmentRole, Kind, Markers};

const ALLOWED: &str = "Allowed network rule saved in execpolicy (allowlist): ";
const DENIED: &str = "Denied network rule saved in execpolicy (denylist): ";

/// Says that a host of the network is allowed or denied from now on.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[expect(clippy::exhaustive_enums, reason = "a rule allows or denies")]
pub enum NetworkRuleSaved {
    /// This host may be reached.
    Allowed(String),
    /// This host may not be reached.
    Denied(String),
}

impl ContextualUserFragment for NetworkRuleSaved {
    fn role(&self) -> FragmentRole {
        FragmentRole::Developer
    }

    fn content_kind(&self) -> Kind {
        Kind::NETWORK_RULE
    }

    fn markers(&self) -> Markers<'_> {
        Self::type_markers()
    }

    fn body(&self) -> Cow<'_, str> {
        let (start, host) = match self {
            Self::Allowed(host) => (ALLOWED, host),
            Self::Denied(host) => (DENIED, host),
        };
        Cow::Owned(format!("{start}{}", host.replace(char::is_control, "\u{FFFD}")))
    }

    fn type_markers() -> Markers<'static> {
        Markers::NONE
    }

    fn matches_text(text: &str) -> bool {
        let text = text.trim_start();
        text.starts_with(ALLOWED) || text.starts_with(DENIED)
    }
}
