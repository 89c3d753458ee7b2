//! What a part of the host tells the model in the user's place.

use std::borrow::Cow;

use crate::{ContextualUserFragment, Error, FragmentRole, Kind, Markers};

/// A text of a named part of the host, such as `goal`.
///
/// # Example
/// ```
/// use context_fragments::{ContextualUserFragment, InternalModelContext};
///
/// assert_eq!(
///     InternalModelContext::new("goal", "Ship it.")?.render()?.text(),
///     "<codex_internal_context source=\"goal\">\nShip it.\n</codex_internal_context>",
/// );
/// assert!(InternalModelContext::new("Goal", "x").is_err());
/// # Ok::<(), context_fragments::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct InternalModelContext {
    source: String,
    text: String,
}

impl InternalModelContext {
    /// Takes the name of the part, a small letter and then small letters, digits and `_`, and its text.
    ///
    /// # Errors
    /// [`Error::UnknownWord`] for another name.
    pub fn new(source: &str, text: impl Into<String>) -> Result<Self, Error> {
        if !is_source(source) {
            let expected = "a small letter, then small letters, digits and _";
            return Err(Error::UnknownWord { setting: "source", word: source.to_owned(), expected });
        }
        Ok(Self { source: source.to_owned(), text: text.into() })
    }
}

fn is_source(source: &str) -> bool {
    let mut letters = source.bytes();
    letters.next().is_some_and(|first| first.is_ascii_lowercase())
        && letters.all(|letter| letter.is_ascii_lowercase() || letter.is_ascii_digit() || letter == b'_')
}

impl ContextualUserFragment for InternalModelContext {
    fn role(&self) -> FragmentRole {
        FragmentRole::User
    }

    fn content_kind(&self) -> Kind {
        Kind::INTERNAL_CONTEXT
    }

    fn markers(&self) -> Markers<'_> {
        Self::type_markers()
    }

    fn body(&self) -> Cow<'_, str> {
        Cow::Owned(format!(" source=\"{}\">\n{}\n", self.source, self.text))
    }

    fn type_markers() -> Markers<'static> {
        Markers::new("<codex_internal_context", "</codex_internal_context>")
    }

    /// With a source of the right form, in exactly this case; or the older `<goal_context>…</goal_context>`.
    fn matches_text(text: &str) -> bool {
        let text = text.trim();
        if text.starts_with("<goal_context>") && text.ends_with("</goal_context>") {
            return true;
        }
        let opened = text.strip_prefix("<codex_internal_context source=\"").and_then(|rest| rest.split_once("\">"));
        opened.is_some_and(|(source, rest)| is_source(source) && rest.ends_with("</codex_internal_context>"))
    }
}
