//! Text inside XML.

use std::borrow::Cow;

/// Escapes the five characters that mean something in XML.
pub(super) fn escape(text: &str) -> Cow<'_, str> {
    if !text.contains(['&', '<', '>', '"', '\'']) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 16);
    for character in text.chars() {
        match character {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&apos;"),
            other => out.push(other),
        }
    }
    Cow::Owned(out)
}

/// Appends `<tag>text</tag>`, with the text escaped.
pub(super) fn push_element(out: &mut String, tag: &str, text: &str) {
    for piece in ["<", tag, ">", &escape(text), "</", tag, ">"] {
        out.push_str(piece);
    }
}
