//! What the host adds under a key of its own.

use std::borrow::Cow;

use crate::{Bound, ContextualUserFragment, FragmentRole, Kind, Markers, estimate_tokens};

/// What one value may take, in tokens.
const MAX_VALUE_TOKENS: usize = 1_000;

/// How long a key may be, in bytes; it stands at both ends of the value.
const MAX_KEY_BYTES: usize = 128;

/// The bound of a value with the frame that its key makes: 1,000 tokens and what the frame takes.
fn bound(frame_bytes: usize) -> Bound {
    Bound::cut_middle(MAX_VALUE_TOKENS + estimate_tokens(frame_bytes))
}

/// A key of letters, digits and `_ - .`; anything else becomes `_`, so that no key can open a tag of its own.
fn clean(key: &str) -> String {
    let is_plain = |letter: &char| letter.is_ascii_alphanumeric() || matches!(letter, '_' | '-' | '.');
    key.chars().take(MAX_KEY_BYTES).map(|letter| if is_plain(&letter) { letter } else { '_' }).collect()
}

/// A value that the host adds in the user's place. More than 1,000 tokens of it are cut in the middle.
///
/// # Example
/// ```
/// use context_fragments::{AdditionalContextUser, ContextualUserFragment};
///
/// assert_eq!(AdditionalContextUser::new("tab", "main.rs").render()?.text(), "<external_tab>main.rs</external_tab>");
/// # Ok::<(), context_fragments::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct AdditionalContextUser {
    key: String,
    value: String,
}

impl AdditionalContextUser {
    /// Takes the key, of letters, digits and `_ - .`, at most 128 of them; anything else in it becomes `_`.
    #[must_use]
    pub fn new(key: &str, value: impl Into<String>) -> Self {
        Self { key: clean(key), value: value.into() }
    }

    /// The key as it is shown.
    #[must_use]
    pub fn key(&self) -> &str {
        &self.key
    }
}

impl ContextualUserFragment for AdditionalContextUser {
    fn role(&self) -> FragmentRole {
        FragmentRole::User
    }

    fn content_kind(&self) -> Kind {
        Kind::ADDITIONAL_CONTEXT_USER
    }

    fn markers(&self) -> Markers<'_> {
        Self::type_markers()
    }

    fn body(&self) -> Cow<'_, str> {
        let Self { key, value } = self;
        Cow::Owned(format!("{key}>{value}</external_{key}"))
    }

    fn closers(&self) -> Vec<Cow<'_, str>> {
        // The end marker is `>` alone, which a value may well hold.
        vec![Cow::Owned(format!("</external_{}>", self.key))]
    }

    fn bound(&self) -> Bound {
        bound("<external_></external_>".len() + 2 * self.key.len())
    }

    fn type_markers() -> Markers<'static> {
        Markers::new("<external_", ">")
    }

    /// `<external_KEY>…</external_KEY>` with the same key at both ends, in exactly this case.
    fn matches_text(text: &str) -> bool {
        let body = text.trim().strip_prefix("<external_").and_then(|rest| rest.split_once('>'));
        body.is_some_and(|(key, rest)| {
            let closer = rest.strip_suffix('>').and_then(|rest| rest.strip_suffix(key));
            closer.is_some_and(|rest| rest.ends_with("</external_"))
        })
    }
}

/// A value that the host adds in its own place. More than 1,000 tokens of it are cut in the middle.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct AdditionalContextDeveloper {
    start: String,
    end: String,
    value: String,
}

impl AdditionalContextDeveloper {
    /// Takes the key, of letters, digits and `_ - .`, at most 128 of them; anything else in it becomes `_`.
    #[must_use]
    pub fn new(key: &str, value: impl Into<String>) -> Self {
        let key = clean(key);
        Self { start: format!("<{key}>"), end: format!("</{key}>"), value: value.into() }
    }
}

impl ContextualUserFragment for AdditionalContextDeveloper {
    fn role(&self) -> FragmentRole {
        FragmentRole::Developer
    }

    fn content_kind(&self) -> Kind {
        Kind::ADDITIONAL_CONTEXT_DEVELOPER
    }

    fn markers(&self) -> Markers<'_> {
        Markers::new(&self.start, &self.end)
    }

    fn body(&self) -> Cow<'_, str> {
        Cow::Borrowed(&self.value)
    }

    fn bound(&self) -> Bound {
        bound(self.start.len() + self.end.len())
    }

    /// No text is recognised by a key that every host chooses for itself.
    fn type_markers() -> Markers<'static> {
        Markers::NONE
    }
}
