//! The items that are neither speech nor a tool's call and output.

use std::borrow::Cow;

use super::fields::Fields;
use crate::{Error, json::Json};

/// An `image_generation_call`.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ImageGenerationCall<'a> {
    /// The item's id.
    pub id: Option<Cow<'a, str>>,
    /// The provider's word on completeness.
    pub status: Option<Cow<'a, str>>,
    /// The prompt as the provider rewrote it.
    pub revised_prompt: Option<Cow<'a, str>>,
    /// The image in base64; empty where it was cleared.
    pub result: Cow<'a, str>,
    /// The item as it stands.
    pub json: Json<'a>,
}

impl<'a> ImageGenerationCall<'a> {
    pub(super) fn read(json: Json<'a>) -> Self {
        let fields = Fields::of("image_generation_call", json);
        Self {
            id: fields.optional_str("id"),
            status: fields.optional_str("status"),
            revised_prompt: fields.optional_str("revised_prompt"),
            result: fields.optional_str("result").unwrap_or_default(),
            json,
        }
    }
}

/// An `additional_tools` item: tools that are declared from here on.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct AdditionalTools<'a> {
    /// The array of declarations.
    pub tools: Json<'a>,
    /// The item as it stands.
    pub json: Json<'a>,
}

impl<'a> AdditionalTools<'a> {
    pub(super) fn read(json: Json<'a>) -> Result<Self, Error> {
        let fields = Fields::of("additional_tools", json);
        Ok(Self { tools: fields.required_array("tools")?, json })
    }
}

/// A `compaction` or a `context_compaction`: what the provider made of older items.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Compaction<'a> {
    /// What only the provider can read.
    pub encrypted_content: Option<Cow<'a, str>>,
    /// The item as it stands.
    pub json: Json<'a>,
}

impl<'a> Compaction<'a> {
    /// Reads a `compaction`, which needs its content.
    pub(super) fn read_full(json: Json<'a>) -> Result<Self, Error> {
        let encrypted_content = Fields::of("compaction", json).required_str("encrypted_content")?;
        Ok(Self { encrypted_content: Some(encrypted_content), json })
    }

    /// Reads a `context_compaction`, which may stand without.
    pub(super) fn read_marker(json: Json<'a>) -> Self {
        let encrypted_content = Fields::of("context_compaction", json).optional_str("encrypted_content");
        Self { encrypted_content, json }
    }
}

/// A `configuration_update`: settings of the request that change inside a window.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ConfigurationUpdate<'a> {
    /// The reasoning settings.
    pub reasoning: Option<Json<'a>>,
    /// The item as it stands.
    pub json: Json<'a>,
}

impl<'a> ConfigurationUpdate<'a> {
    pub(super) fn read(json: Json<'a>) -> Self {
        let reasoning = Fields::of("configuration_update", json).optional("reasoning");
        Self { reasoning, json }
    }
}
