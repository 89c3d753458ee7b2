//! Taking secrets out of what is recorded, and out of a log that is given away.

mod patterns;

use std::{borrow::Cow, fmt};

use context_fragments::json;

pub use self::patterns::SecretPatterns;

/// Members whose value is never changed, whatever it looks like: a provider refuses an item whose signature or encrypted
/// part has another byte, and a call is paired with its output by its id.
const PROTECTED: [&str; 10] = [
    "encrypted_content",
    "signature",
    "thought_signature",
    "thoughtSignature",
    "id",
    "call_id",
    "tool_use_id",
    "type",
    "role",
    "sha256",
];

/// Finds what must not stand in a log.
///
/// With [`SessionOptions::with_redaction`](crate::SessionOptions::with_redaction), what users, models and tools say goes
/// through it before it is recorded, so that model and log agree; with [`export_redacted`](crate::rollout::export_redacted),
/// a whole log does on its way out.
pub trait Redactor: fmt::Debug + Send + Sync {
    /// The text without what must not stand there. What needs no change is given back as it is.
    fn redact<'a>(&self, text: &'a str) -> Cow<'a, str>;
}

/// Redacts the strings of a JSON value, but for keys and for signatures, encrypted parts and ids. Everything else stays
/// byte for byte, and so does a value in which nothing is found.
///
/// # Example
/// ```
/// use session::{SecretPatterns, redact_json};
///
/// let item = r#"{"type":"reasoning","encrypted_content":"AKIAIOSFODNN7EXAMPLE","note":"key AKIAIOSFODNN7EXAMPLE"}"#;
/// let redacted = redact_json(item, &SecretPatterns);
/// assert_eq!(
///     redacted,
///     r#"{"type":"reasoning","encrypted_content":"AKIAIOSFODNN7EXAMPLE","note":"key [redacted: AWS access key]"}"#
/// );
/// ```
#[must_use]
pub fn redact_json<'a>(value: &'a str, redactor: &dyn Redactor) -> Cow<'a, str> {
    let mut out = String::new();
    // What stands before this was copied.
    let mut copied = 0;
    let mut at = 0;
    let mut is_protected = false;
    while let Some(found) = value.get(at..).and_then(|rest| rest.find(['"', '{', '['])) {
        let start = at + found;
        if !value[start..].starts_with('"') {
            // The value of a protected member may be an object; a string in it is not for us either.
            at = match is_protected {
                true => end_of_nested(value, start),
                false => start + 1,
            };
            is_protected = false;
            continue;
        }
        let Some(end) = json_string_end(value, start + 1) else { break };
        let after = value[end + 1..].trim_start();
        at = end + 1;
        let inner = &value[start + 1..end];
        if after.starts_with(':') {
            is_protected = PROTECTED.contains(&inner);
            continue;
        }
        if std::mem::take(&mut is_protected) {
            continue;
        }
        let text = if inner.contains('\\') {
            let parsed = json::Json::parse(&value[start..=end]).ok();
            parsed.and_then(|parsed| parsed.to_str().map(|text| Cow::Owned(text.into_owned())))
        } else {
            Some(Cow::Borrowed(inner))
        };
        // A string with half a surrogate pair is no text; it stays as it is.
        let Some(text) = text else { continue };
        let redacted = redactor.redact(&text);
        if redacted != text {
            out.push_str(&value[copied..start]);
            json::push_string(&mut out, &redacted);
            copied = at;
        }
    }
    if copied == 0 {
        return Cow::Borrowed(value);
    }
    out.push_str(&value[copied..]);
    Cow::Owned(out)
}

/// The closing quote of the string whose inside starts at `start`.
pub(crate) fn json_string_end(text: &str, start: usize) -> Option<usize> {
    let mut from = start;
    loop {
        let quote = from + text.get(from..)?.find('"')?;
        let escapes = text.as_bytes()[start..quote].iter().rev().take_while(|byte| **byte == b'\\').count();
        if escapes % 2 == 0 {
            return Some(quote);
        }
        from = quote + 1;
    }
}

/// Behind the object or array that starts at `start`.
fn end_of_nested(text: &str, start: usize) -> usize {
    let mut depth = 0_usize;
    let mut at = start;
    while let Some(found) = text.get(at..).and_then(|rest| rest.find(['"', '{', '[', '}', ']'])) {
        at += found;
        match text.as_bytes()[at] {
            b'"' => match json_string_end(text, at + 1) {
                Some(end) => at = end,
                None => break,
            },
            b'{' | b'[' => depth += 1,
            _ => depth = depth.saturating_sub(1),
        }
        at += 1;
        if depth == 0 {
            return at;
        }
    }
    text.len()
}
