//! What a hook says in the user's place, and the user sees.

use std::borrow::Cow;

use crate::{ContextualUserFragment, FragmentRole, Kind, Markers};

const ESCAPES: [(char, &str); 4] = [('&', "&amp;"), ('<', "&lt;"), ('>', "&gt;"), ('"', "&quot;")];

/// The prompt of a hook, with the run that gave it. Its text is escaped, so nothing in it can end the frame.
///
/// # Example
/// ```
/// use context_fragments::{ContextualUserFragment, HookPrompt};
///
/// let prompt = HookPrompt::new("run-1", "a < b & \"c\"");
/// let rendered = prompt.render()?;
/// assert_eq!(rendered.text(), r#"<hook_prompt hook_run_id="run-1">a &lt; b &amp; &quot;c&quot;</hook_prompt>"#);
/// assert_eq!(HookPrompt::parse(rendered.text()), Some(prompt));
/// # Ok::<(), context_fragments::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct HookPrompt {
    /// The id of the run.
    pub hook_run_id: String,
    /// What the hook says.
    pub text: String,
}

impl HookPrompt {
    /// Takes the id of the run and what the hook says.
    #[must_use]
    pub fn new(hook_run_id: impl Into<String>, text: impl Into<String>) -> Self {
        Self { hook_run_id: hook_run_id.into(), text: text.into() }
    }

    /// Reads a rendered prompt; none if `text` is no such thing.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let inner = text.trim().strip_prefix("<hook_prompt hook_run_id=\"")?.strip_suffix("</hook_prompt>")?;
        let (hook_run_id, text) = inner.split_once("\">")?;
        let is_escaped = |text: &str| !text.contains(['<', '>', '"']);
        (is_escaped(hook_run_id) && is_escaped(text) && !hook_run_id.is_empty())
            .then(|| Self { hook_run_id: unescape(hook_run_id), text: unescape(text) })
    }
}

fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for letter in text.chars() {
        match ESCAPES.iter().find(|(plain, _)| *plain == letter) {
            Some((_, escaped)) => out.push_str(escaped),
            None => out.push(letter),
        }
    }
    out
}

fn unescape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find('&') {
        out.push_str(&rest[..start]);
        rest = &rest[start..];
        let known = ESCAPES.iter().find(|(_, escaped)| rest.starts_with(escaped));
        let (plain, taken) = known.map_or(('&', 1), |(plain, escaped)| (*plain, escaped.len()));
        out.push(plain);
        rest = &rest[taken..];
    }
    out.push_str(rest);
    out
}

impl ContextualUserFragment for HookPrompt {
    fn role(&self) -> FragmentRole {
        FragmentRole::User
    }

    fn content_kind(&self) -> Kind {
        Kind::HOOK_PROMPT
    }

    fn markers(&self) -> Markers<'_> {
        Self::type_markers()
    }

    fn body(&self) -> Cow<'_, str> {
        Cow::Owned(format!(" hook_run_id=\"{}\">{}", escape(&self.hook_run_id), escape(&self.text)))
    }

    fn type_markers() -> Markers<'static> {
        Markers::new("<hook_prompt", "</hook_prompt>")
    }

    fn matches_text(text: &str) -> bool {
        Self::parse(text).is_some()
    }
}
