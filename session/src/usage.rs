//! What a request took, as the provider says it.

use context_fragments::json::{Json, ObjectWriter};

use crate::{Error, rollout::RawJson};

/// What a request took, in tokens, as the provider says it. What the provider does not say is not known.
///
/// In the log it has the names of the OpenTelemetry conventions for generative models.
///
/// # Example
/// ```
/// use session::Usage;
///
/// let said = r#"{"input_tokens":1500,"input_tokens_details":{"cached_tokens":1200},"output_tokens":80}"#;
/// let usage = Usage::from_responses(said)?;
/// assert_eq!((usage.input_tokens, usage.cache_read_tokens), (Some(1500), Some(1200)));
/// # Ok::<(), session::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Usage {
    /// The whole prompt: `gen_ai.usage.input_tokens`.
    pub input_tokens: Option<u64>,
    /// What of it came out of the provider's cache: `gen_ai.usage.cache_read.input_tokens`.
    pub cache_read_tokens: Option<u64>,
    /// What of it was written into the cache: `gen_ai.usage.cache_creation.input_tokens`.
    pub cache_creation_tokens: Option<u64>,
    /// The answer: `gen_ai.usage.output_tokens`.
    pub output_tokens: Option<u64>,
    /// What of the answer was reasoning: `gen_ai.usage.reasoning.output_tokens`.
    pub reasoning_tokens: Option<u64>,
}

impl Usage {
    /// Knows nothing.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Reads the `usage` object of the Responses wire.
    ///
    /// # Errors
    /// [`Error::Json`] if it is no JSON. A member of another shape is not known.
    pub fn from_responses(json: &str) -> Result<Self, Error> {
        let usage = Json::parse(json).map_err(|source| Error::Json { place: "usage".into(), source })?;
        let number = |value: Option<Json<'_>>| value.and_then(|value| value.as_raw().parse().ok());
        let detail = |object: &str, key: &str| usage.member(object).and_then(|details| details.member(key));
        Ok(Self {
            input_tokens: number(usage.member("input_tokens")),
            cache_read_tokens: number(detail("input_tokens_details", "cached_tokens")),
            cache_creation_tokens: number(detail("input_tokens_details", "cache_write_tokens")),
            output_tokens: number(usage.member("output_tokens")),
            reasoning_tokens: number(detail("output_tokens_details", "reasoning_tokens")),
        })
    }

    /// What is known, by the names of the conventions.
    pub fn attributes(&self) -> impl Iterator<Item = (&'static str, u64)> + use<> {
        let all = [
            ("gen_ai.usage.input_tokens", self.input_tokens),
            ("gen_ai.usage.cache_read.input_tokens", self.cache_read_tokens),
            ("gen_ai.usage.cache_creation.input_tokens", self.cache_creation_tokens),
            ("gen_ai.usage.output_tokens", self.output_tokens),
            ("gen_ai.usage.reasoning.output_tokens", self.reasoning_tokens),
        ];
        all.into_iter().filter_map(|(name, tokens)| Some((name, tokens?)))
    }

    pub(crate) fn to_json(self) -> Result<RawJson, Error> {
        let mut object = ObjectWriter::new();
        for (name, tokens) in self.attributes() {
            object.raw(name, &tokens.to_string());
        }
        RawJson::parse(&object.finish())
    }
}
