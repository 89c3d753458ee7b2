//! What was sent: the proof that the next prompt extends it needs no more than this.

use context_fragments::json::{Json, ObjectWriter};

use super::{Sha256, field::Fields};
use crate::Error;

/// A prompt is about to be sent; written before its first byte leaves.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SentMark {
    /// The digest of the parameters, model included.
    pub parameters: Sha256,
    /// The digest of the base instructions.
    pub base: Sha256,
    /// The digest of the tools.
    pub tools: Sha256,
    /// The digest of the output schema.
    pub schema: Sha256,
    /// The end of the chain over the projected items.
    pub chain: Sha256,
    /// How many projected items there are.
    pub n_items: u64,
    /// The version of the history that was projected.
    pub history_version: u64,
    /// The profile that projected it, by name.
    pub profile: Option<String>,
    /// The model that it was for, by name: some reasoning is for one model alone.
    pub model: Option<String>,
    /// The positions of the calls that were given a synthetic output in this prompt.
    pub synthetic_outputs: Vec<u64>,
}

impl SentMark {
    /// A prompt of `n_items` items: the digests of parameters, base, tools and schema, and the end of its chain.
    #[must_use]
    pub const fn new(parts: [Sha256; 4], chain: Sha256, n_items: u64) -> Self {
        let [parameters, base, tools, schema] = parts;
        Self {
            parameters,
            base,
            tools,
            schema,
            chain,
            n_items,
            history_version: 0,
            profile: None,
            model: None,
            synthetic_outputs: Vec::new(),
        }
    }

    /// The digests of parameters, base, tools and schema.
    #[must_use]
    pub const fn parts(&self) -> [Sha256; 4] {
        [self.parameters, self.base, self.tools, self.schema]
    }

    pub(super) fn to_json(&self) -> String {
        let mut object = ObjectWriter::new();
        for (key, digest) in
            ["parameters", "base", "tools", "schema", "chain"].iter().zip(self.parts().iter().chain([&self.chain]))
        {
            object.string(key, &digest.to_string());
        }
        object.raw("n_items", &self.n_items.to_string());
        object.raw("history_version", &self.history_version.to_string());
        if let Some(profile) = &self.profile {
            object.string("profile", profile);
        }
        if let Some(model) = &self.model {
            object.string("model", model);
        }
        let positions: Vec<_> = self.synthetic_outputs.iter().map(u64::to_string).collect();
        object.raw("synthetic_outputs", &format!("[{}]", positions.join(",")));
        object.finish()
    }

    pub(super) fn from_json(payload: Json<'_>) -> Result<Self, Error> {
        let fields = Fields::of(payload, "sent")?;
        let digest = |key| fields.digest(key).and_then(|found| fields.need(key, "a digest", found));
        let number = |key| fields.number(key).and_then(|found| fields.need(key, "a number", found));
        let positions = fields.array("synthetic_outputs")?.into_iter().flat_map(Json::elements);
        let positions = positions.map(|position| position.as_raw().parse().ok()).collect::<Option<_>>();
        Ok(Self {
            parameters: digest("parameters")?,
            base: digest("base")?,
            tools: digest("tools")?,
            schema: digest("schema")?,
            chain: digest("chain")?,
            n_items: number("n_items")?,
            history_version: number("history_version")?,
            profile: fields.string("profile")?,
            model: fields.string("model")?,
            synthetic_outputs: positions
                .ok_or_else(|| Error::misshapen("sent.synthetic_outputs", "an array of positions"))?,
        })
    }
}
