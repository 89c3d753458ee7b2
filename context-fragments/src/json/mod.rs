//! Borrowed pieces of JSON that keep every byte.
//!
//! A parser that builds a tree reorders keys, respells numbers and refuses lone surrogates. Here a value is the text that
//! it stands in, checked once, and read in place. What is not JSON is shown to `serde_json`, which says where and why.

mod check;
mod run;
mod cursor;
mod string;
mod write;

use std::{borrow::Cow, cmp::Ordering, fmt, str};

use serde_json::value::RawValue;

use crate::Error;

pub(crate) use self::{
    check::{Checked, Watch, check},
    cursor::string_len,
    write::compacted,
};
pub use self::{
    cursor::{Elements, Members},
    write::{ObjectWriter, compact, push_string},
};

/// One JSON value, as the text in which it stands.
///
/// Equality is that of the text, so `1e2` and `100` differ.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Json<'a>(&'a str);

/// What sort of value a [`Json`] is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(clippy::exhaustive_enums, reason = "JSON has exactly these shapes")]
pub enum Shape {
    /// `null`.
    Null,
    /// `true` or `false`.
    Bool,
    /// A number, in any spelling.
    Number,
    /// A string.
    String,
    /// An array.
    Array,
    /// An object.
    Object,
}

impl Shape {
    /// The shape's name with its article, for errors.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::Bool => "a boolean",
            Self::Number => "a number",
            Self::String => "a string",
            Self::Array => "an array",
            Self::Object => "an object",
        }
    }
}

impl<'a> Json<'a> {
    /// Checks that `text` is one JSON value and borrows it without the white space around it.
    ///
    /// Any nesting depth, any number and any escape is taken, lone surrogates too.
    ///
    /// # Errors
    /// [`Error::NotJson`] with the place.
    /// # Example
    /// ```
    /// use context_fragments::json::Json;
    ///
    /// let json = Json::parse(r#" {"n": 1e2, "n": 12345678901234567890123} "#)?;
    /// assert_eq!(json.member("n").map(Json::as_raw), Some("12345678901234567890123"));
    /// # Ok::<(), context_fragments::Error>(())
    /// ```
    pub fn parse(text: &'a str) -> Result<Self, Error> {
        Self::checked(text, &mut ()).map(|checked| Self(checked.value))
    }

    /// The same, and more of what the walk over the text finds.
    pub(crate) fn checked(text: &'a str, watch: &mut impl Watch<'a>) -> Result<Checked<'a>, Error> {
        if let Some(checked) = check(text, watch) {
            return Ok(checked);
        }
        match serde_json::from_str::<&RawValue>(text) {
            Ok(raw) => Ok(Checked { value: raw.get(), is_compact: false, has_code_units: true }),
            Err(source) => Err(Error::NotJson { line: source.line(), column: source.column(), source }),
        }
    }

    /// Checks that `bytes` are UTF-8 and one JSON value.
    ///
    /// # Errors
    /// [`Error::NotUtf8`] or [`Error::NotJson`], each with the place.
    pub fn parse_bytes(bytes: &'a [u8]) -> Result<Self, Error> {
        text_of(bytes).and_then(Self::parse)
    }

    /// Takes a text that is known to be one JSON value without white space around it.
    pub(crate) const fn trusted(text: &'a str) -> Self {
        Self(text)
    }

    /// The text of the value, byte for byte.
    #[must_use]
    pub const fn as_raw(self) -> &'a str {
        self.0
    }

    /// What sort of value this is.
    #[must_use]
    pub fn shape(self) -> Shape {
        match self.0.as_bytes().first() {
            Some(b'"') => Shape::String,
            Some(b'{') => Shape::Object,
            Some(b'[') => Shape::Array,
            Some(b't' | b'f') => Shape::Bool,
            Some(b'n') => Shape::Null,
            _ => Shape::Number,
        }
    }

    /// Says that this is `null`.
    #[must_use]
    pub fn is_null(self) -> bool {
        self.shape() == Shape::Null
    }

    /// The decoded string, if this is one; a lone surrogate becomes U+FFFD.
    ///
    /// Borrows where nothing is escaped.
    #[must_use]
    pub fn to_str(self) -> Option<Cow<'a, str>> {
        (self.shape() == Shape::String).then(|| string::decode(self.0))
    }

    /// The same for what is mostly short, as a key or the name of a type.
    pub(crate) fn to_name(self) -> Option<Cow<'a, str>> {
        let inner = (self.shape() == Shape::String).then(|| string::inner(self.0))?;
        let is_plain = !inner.as_bytes().iter().fold(false, |found, byte| found | (*byte == b'\\'));
        Some(if is_plain { Cow::Borrowed(inner) } else { string::decode(self.0) })
    }

    /// How many bytes the decoded string has, if this is one; it is not decoded.
    ///
    /// # Example
    /// ```
    /// use context_fragments::json::Json;
    ///
    /// let json = Json::parse(r#""caf\u00e9\n""#)?;
    /// assert_eq!((json.text_len(), json.to_str().map(|text| text.len())), (Some(6), Some(6)));
    /// # Ok::<(), context_fragments::Error>(())
    /// ```
    #[must_use]
    pub fn text_len(self) -> Option<usize> {
        (self.shape() == Shape::String).then(|| string::decoded_len(self.0))
    }

    /// The members of an object in their order, duplicates included; nothing for another shape.
    #[must_use]
    pub fn members(self) -> Members<'a> {
        Members::new(self)
    }

    /// The elements of an array in their order; nothing for another shape.
    #[must_use]
    pub fn elements(self) -> Elements<'a> {
        Elements::new(self)
    }

    /// The value of `key`; the last one wins where a key stands twice.
    #[must_use]
    pub fn member(self, key: &str) -> Option<Self> {
        self.members().filter(|(name, _)| name.is_text(key)).last().map(|(_, value)| value)
    }

    /// Says that this is a string that decodes to `text`.
    #[must_use]
    pub fn is_text(self, text: &str) -> bool {
        if self.shape() != Shape::String {
            return false;
        }
        // An escape is one to five bytes longer than what it stands for, so most strings are told apart by their lengths.
        let inner = string::inner(self.0);
        match inner.len().cmp(&text.len()) {
            Ordering::Less => false,
            Ordering::Equal => inner == text && !text.contains('\\'),
            Ordering::Greater => inner.len() <= 6 * text.len() && string::decode(self.0) == text,
        }
    }
}

/// The text that `bytes` are.
pub(crate) fn text_of(bytes: &[u8]) -> Result<&str, Error> {
    str::from_utf8(bytes).map_err(|error| Error::NotUtf8 { position: error.valid_up_to() })
}

impl fmt::Debug for Json<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Json({})", self.0)
    }
}

impl fmt::Display for Json<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

impl serde::Serialize for Json<'_> {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let raw: &RawValue = serde_json::from_str(self.0).map_err(serde::ser::Error::custom)?;
        raw.serialize(serializer)
    }
}
