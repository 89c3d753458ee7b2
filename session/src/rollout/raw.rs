//! JSON that is kept as text.

use std::{fmt, sync::Arc};

use context_fragments::json::{self, Json};

use crate::Error;

/// One JSON value as the text that it stands in, without white space between its tokens.
///
/// Key order, number spelling and escapes stay, so that a value comes out of the log as it went in. Equality is that of
/// the text. A clone is a reference count.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct RawJson(Arc<str>);

impl RawJson {
    /// Checks that `text` is one JSON value and takes it.
    ///
    /// # Errors
    /// [`Error::Json`] if it is not.
    /// # Example
    /// ```
    /// use session::rollout::RawJson;
    ///
    /// assert_eq!(RawJson::parse("{ \"n\": 1e2 }")?.as_str(), r#"{"n":1e2}"#);
    /// # Ok::<(), session::Error>(())
    /// ```
    pub fn parse(text: &str) -> Result<Self, Error> {
        let compact = json::compact(text).map_err(|source| Error::Json { place: "value".into(), source })?;
        Ok(Self(compact.into()))
    }

    /// Takes a value that was read.
    #[must_use]
    pub fn from_json(value: Json<'_>) -> Self {
        // A borrowed value is valid, so the fallback is its own text.
        Self(json::compact(value.as_raw()).unwrap_or_else(|_| value.as_raw().to_owned()).into())
    }

    /// Takes a string as a JSON string.
    #[must_use]
    pub fn string(text: &str) -> Self {
        let mut out = String::with_capacity(text.len() + 2);
        json::push_string(&mut out, text);
        Self(out.into())
    }

    /// The text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The value to read in.
    #[must_use]
    #[expect(clippy::expect_used, clippy::missing_panics_doc, reason = "every constructor checks the text")]
    pub fn json(&self) -> Json<'_> {
        Json::parse(&self.0).expect("the text was checked when it was taken")
    }
}

impl fmt::Debug for RawJson {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "RawJson({})", self.0)
    }
}

impl fmt::Display for RawJson {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
