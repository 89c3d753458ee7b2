//! The parts of a prompt that are no items, where they changed.

use context_fragments::json::{Json, ObjectWriter};

use super::{RawJson, field::Fields};
use crate::Error;

/// The parts of the next `sent` prompt that are not those that stood: the header's, or those of the record of this type
/// before it. Written before that `sent` record, so that its digests can be checked and its prompt made again.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct PartsChange {
    /// The parameters of the request.
    pub parameters: Option<RawJson>,
    /// The tools.
    pub tools: Option<RawJson>,
    /// The output schema; `null` where there is none any more.
    pub schema: Option<RawJson>,
    /// Whether the model takes images. At the start of a log it does.
    pub images: Option<bool>,
    /// Whether the model takes audio. At the start of a log it does.
    pub audio: Option<bool>,
}

impl PartsChange {
    pub(super) fn to_json(&self) -> String {
        let mut object = ObjectWriter::new();
        for (key, value) in [("parameters", &self.parameters), ("tools", &self.tools), ("schema", &self.schema)] {
            if let Some(value) = value {
                object.raw(key, value.as_str());
            }
        }
        for (key, value) in [("images", self.images), ("audio", self.audio)] {
            if let Some(value) = value {
                object.raw(key, if value { "true" } else { "false" });
            }
        }
        object.finish()
    }

    pub(super) fn from_json(payload: Json<'_>) -> Result<Self, Error> {
        let fields = Fields::of(payload, "parts")?;
        Ok(Self {
            parameters: fields.raw("parameters"),
            tools: fields.raw("tools"),
            // Here null is a value: there is no schema any more.
            schema: payload.member("schema").map(RawJson::from_json),
            images: fields.flag("images")?,
            audio: fields.flag("audio")?,
        })
    }
}
