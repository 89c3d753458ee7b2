//! Writing JSON text in a stated order.

use std::borrow::Cow;

use super::{Json, cursor};
use crate::Error;

/// Checks `text` and removes the white space between its tokens; everything else stays as it is.
///
/// # Errors
/// [`Error::NotJson`] with the place.
/// # Example
/// ```
/// use context_fragments::json::compact;
///
/// assert_eq!(compact("{ \"b\" : 1e2,\n \"a\": \" \\ud800 \" }")?, r#"{"b":1e2,"a":" \ud800 "}"#);
/// # Ok::<(), context_fragments::Error>(())
/// ```
pub fn compact(text: &str) -> Result<String, Error> {
    let checked = Json::checked(text, &mut ())?;
    if checked.is_compact {
        return Ok(checked.value.to_owned());
    }
    Ok(compacted(Json::trusted(checked.value)).into_owned())
}

/// The same for a value that is checked already; borrows where there is no white space to remove.
pub(crate) fn compacted(json: Json<'_>) -> Cow<'_, str> {
    let text = json.as_raw();
    let bytes = text.as_bytes();
    let mut out = String::new();
    let mut kept_to = 0;
    let mut position = 0;
    while let Some(&byte) = bytes.get(position) {
        match byte {
            b'"' => position = cursor::string_end(bytes, position),
            b' ' | b'\t' | b'\n' | b'\r' => {
                out.push_str(&text[kept_to..position]);
                position += 1;
                kept_to = position;
            }
            _ => position += 1,
        }
    }
    if kept_to == 0 {
        return Cow::Borrowed(text);
    }
    out.push_str(&text[kept_to..]);
    Cow::Owned(out)
}

/// Appends `text` to `out` as a JSON string, escaped as `serde_json` escapes.
///
/// Quotes, backslashes and the characters below U+0020 are escaped, nothing else is.
pub fn push_string(out: &mut String, text: &str) {
    out.push('"');
    let mut kept_to = 0;
    for (position, byte) in text.bytes().enumerate() {
        let escape = match byte {
            b'"' => "\\\"",
            b'\\' => "\\\\",
            b'\n' => "\\n",
            b'\r' => "\\r",
            b'\t' => "\\t",
            0x8 => "\\b",
            0xC => "\\f",
            0x0..=0x1F => "",
            _ => continue,
        };
        out.push_str(&text[kept_to..position]);
        out.push_str(escape);
        if escape.is_empty() {
            out.push_str("\\u00");
            out.extend([byte >> 4, byte & 0xF].map(|digit| char::from(b"0123456789abcdef"[usize::from(digit)])));
        }
        kept_to = position + 1;
    }
    out.push_str(&text[kept_to..]);
    out.push('"');
}

/// Writes one object, its members in the order of the calls.
///
/// # Example
/// ```
/// use context_fragments::json::ObjectWriter;
///
/// let mut object = ObjectWriter::new();
/// object.string("type", "message").raw("content", "[]");
/// assert_eq!(object.finish(), r#"{"type":"message","content":[]}"#);
/// ```
#[derive(Clone, Debug)]
pub struct ObjectWriter {
    out: String,
}

impl Default for ObjectWriter {
    fn default() -> Self {
        Self::new()
    }
}

impl ObjectWriter {
    /// Starts an empty object.
    #[must_use]
    pub fn new() -> Self {
        Self { out: String::from("{") }
    }

    /// Adds a member whose value is the string `value`.
    pub fn string(&mut self, key: &str, value: &str) -> &mut Self {
        self.key(key);
        push_string(&mut self.out, value);
        self
    }

    /// Adds a member whose value is `value` as it stands; the caller vouches that it is one JSON value.
    pub fn raw(&mut self, key: &str, value: &str) -> &mut Self {
        self.key(key);
        self.out.push_str(value);
        self
    }

    /// Adds a member as another object holds it.
    pub fn member(&mut self, (key, value): (Json<'_>, Json<'_>)) -> &mut Self {
        self.comma();
        self.out.push_str(key.as_raw());
        self.out.push(':');
        self.out.push_str(value.as_raw());
        self
    }

    /// Ends the object.
    #[must_use]
    pub fn finish(mut self) -> String {
        self.out.push('}');
        self.out
    }

    fn key(&mut self, key: &str) {
        self.comma();
        push_string(&mut self.out, key);
        self.out.push(':');
    }

    fn comma(&mut self) {
        if self.out.len() > 1 {
            self.out.push(',');
        }
    }
}
