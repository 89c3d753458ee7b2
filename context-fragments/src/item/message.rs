//! What people, models and agents say.

use std::borrow::Cow;

use super::{content::Content, fields::Fields, head::Role};
use crate::{Error, json::Json};

/// A `message`.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Message<'a> {
    /// Who speaks.
    pub role: Role,
    /// The role as it is spelled on the wire.
    pub role_name: Cow<'a, str>,
    /// What is said.
    pub content: Content<'a>,
    /// The item's id.
    pub id: Option<Cow<'a, str>>,
    /// `commentary`, `partial_answer`, `final_answer`, or what else stands there.
    pub phase: Option<Cow<'a, str>>,
    /// The provider's word on completeness.
    pub status: Option<Cow<'a, str>>,
    /// The item as it stands.
    pub json: Json<'a>,
}

impl<'a> Message<'a> {
    pub(super) fn read(json: Json<'a>) -> Result<Self, Error> {
        let fields = Fields::of("message", json);
        let role_name = fields.required_str("role")?;
        Ok(Self {
            role: Role::from_name(&role_name),
            role_name,
            content: Content::read(&fields, "content")?,
            id: fields.optional_str("id"),
            phase: fields.optional_str("phase"),
            status: fields.optional_str("status"),
            json,
        })
    }
}

/// An `agent_message`: one agent speaks to another.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct AgentMessage<'a> {
    /// The agent that speaks.
    pub author: Cow<'a, str>,
    /// The agent that is spoken to.
    pub recipient: Cow<'a, str>,
    /// What is said.
    pub content: Content<'a>,
    /// The item as it stands.
    pub json: Json<'a>,
}

impl<'a> AgentMessage<'a> {
    pub(super) fn read(json: Json<'a>) -> Result<Self, Error> {
        let fields = Fields::of("agent_message", json);
        Ok(Self {
            author: fields.required_str("author")?,
            recipient: fields.required_str("recipient")?,
            content: Content::read(&fields, "content")?,
            json,
        })
    }
}

/// A `reasoning` item.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Reasoning<'a> {
    /// The item's id.
    pub id: Option<Cow<'a, str>>,
    /// The array of summary parts, where there is one.
    pub summary: Option<Json<'a>>,
    /// The array of readable reasoning, where there is one.
    pub content: Option<Json<'a>>,
    /// What only the provider can read.
    pub encrypted_content: Option<Cow<'a, str>>,
    /// The item as it stands.
    pub json: Json<'a>,
}

impl<'a> Reasoning<'a> {
    pub(super) fn read(json: Json<'a>) -> Self {
        let fields = Fields::of("reasoning", json);
        Self {
            id: fields.optional_str("id"),
            summary: fields.optional("summary"),
            content: fields.optional("content"),
            encrypted_content: fields.optional_str("encrypted_content"),
            json,
        }
    }
}
