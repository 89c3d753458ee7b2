//! A conversation by voice begins and ends.

use std::borrow::Cow;

use crate::{ContextualUserFragment, FragmentRole, Kind, Markers};

const MARKERS: Markers<'static> = Markers { start: "<realtime_conversation>", end: "</realtime_conversation>" };
/// What stands between the words of the host and the reason, by which an end is told from a start.
const REASON: &str = "\n\nReason: ";

/// Says that the user speaks and listens from now on.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct RealtimeStart {
    /// How to work with that; the words of the host.
    pub text: String,
}

impl RealtimeStart {
    /// Takes the words of the host.
    #[must_use]
    pub fn new(text: impl Into<String>) -> Self {
        Self { text: text.into() }
    }
}

impl ContextualUserFragment for RealtimeStart {
    fn role(&self) -> FragmentRole {
        FragmentRole::Developer
    }

    fn content_kind(&self) -> Kind {
        Kind::REALTIME_START
    }

    fn markers(&self) -> Markers<'_> {
        Self::type_markers()
    }

    fn body(&self) -> Cow<'_, str> {
        Cow::Owned(format!("\n{}\n", self.text))
    }

    fn type_markers() -> Markers<'static> {
        MARKERS
    }

    fn matches_text(text: &str) -> bool {
        MARKERS.matches(text) && !names_a_reason(text)
    }
}

/// Says that the user reads and types again.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct RealtimeEnd {
    /// What follows from that; the words of the host.
    pub text: String,
    /// Why it ended, in a word or two.
    pub reason: String,
}

impl RealtimeEnd {
    /// Takes the words of the host, and why it ended.
    #[must_use]
    pub fn new(text: impl Into<String>, reason: impl Into<String>) -> Self {
        Self { text: text.into(), reason: reason.into() }
    }
}

impl ContextualUserFragment for RealtimeEnd {
    fn role(&self) -> FragmentRole {
        FragmentRole::Developer
    }

    fn content_kind(&self) -> Kind {
        Kind::REALTIME_END
    }

    fn markers(&self) -> Markers<'_> {
        Self::type_markers()
    }

    fn body(&self) -> Cow<'_, str> {
        Cow::Owned(format!("\n{}{REASON}{}\n", self.text, self.reason))
    }

    fn type_markers() -> Markers<'static> {
        MARKERS
    }

    fn matches_text(text: &str) -> bool {
        MARKERS.matches(text) && names_a_reason(text)
    }
}

/// Whether the last paragraph is a reason.
fn names_a_reason(text: &str) -> bool {
    text.rsplit_once("\n\n").is_some_and(|(_, paragraph)| paragraph.starts_with(REASON.trim_start()))
}
