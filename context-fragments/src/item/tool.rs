//! Calls of tools and what came back.

use std::borrow::Cow;

use super::{content::Content, fields::Fields};
use crate::{Error, json::Json};

/// A `function_call`.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct FunctionCall<'a> {
    /// The function.
    pub name: Cow<'a, str>,
    /// The namespace of the function.
    pub namespace: Option<Cow<'a, str>>,
    /// The arguments: JSON text, if the model wrote it well.
    pub arguments: Cow<'a, str>,
    /// What ties it to its output.
    pub call_id: Cow<'a, str>,
    /// The item's id.
    pub id: Option<Cow<'a, str>>,
    /// The item as it stands.
    pub json: Json<'a>,
}

impl<'a> FunctionCall<'a> {
    pub(super) fn read(json: Json<'a>) -> Result<Self, Error> {
        let fields = Fields::of("function_call", json);
        Ok(Self {
            name: fields.required_str("name")?,
            namespace: fields.optional_str("namespace"),
            arguments: fields.required_str("arguments")?,
            call_id: fields.required_str("call_id")?,
            id: fields.optional_str("id"),
            json,
        })
    }
}

/// A `function_call_output` or a `custom_tool_call_output`.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ToolOutput<'a> {
    /// What ties it to its call; none for an event that a tool sent unasked.
    pub call_id: Option<Cow<'a, str>>,
    /// The tool, where it is named.
    pub name: Option<Cow<'a, str>>,
    /// The namespace of the tool.
    pub namespace: Option<Cow<'a, str>>,
    /// What came back.
    pub output: Content<'a>,
    /// The item's id.
    pub id: Option<Cow<'a, str>>,
    /// The item as it stands.
    pub json: Json<'a>,
}

impl<'a> ToolOutput<'a> {
    pub(super) fn read(owner: &'static str, json: Json<'a>) -> Result<Self, Error> {
        let fields = Fields::of(owner, json);
        Ok(Self {
            call_id: fields.optional_str("call_id"),
            name: fields.optional_str("name"),
            namespace: fields.optional_str("namespace"),
            output: Content::read(&fields, "output")?,
            id: fields.optional_str("id"),
            json,
        })
    }
}

/// A `custom_tool_call`.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct CustomToolCall<'a> {
    /// The tool.
    pub name: Cow<'a, str>,
    /// The namespace of the tool.
    pub namespace: Option<Cow<'a, str>>,
    /// What the model gave it, as free text.
    pub input: Cow<'a, str>,
    /// What ties it to its output.
    pub call_id: Cow<'a, str>,
    /// The item's id.
    pub id: Option<Cow<'a, str>>,
    /// The item as it stands.
    pub json: Json<'a>,
}

impl<'a> CustomToolCall<'a> {
    pub(super) fn read(json: Json<'a>) -> Result<Self, Error> {
        let fields = Fields::of("custom_tool_call", json);
        Ok(Self {
            name: fields.required_str("name")?,
            namespace: fields.optional_str("namespace"),
            input: fields.required_str("input")?,
            call_id: fields.required_str("call_id")?,
            id: fields.optional_str("id"),
            json,
        })
    }
}

/// A `local_shell_call`.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct LocalShellCall<'a> {
    /// What ties it to its output.
    pub call_id: Option<Cow<'a, str>>,
    /// `completed`, `in_progress`, `incomplete`, or what else stands there.
    pub status: Option<Cow<'a, str>>,
    /// The command and its settings.
    pub action: Json<'a>,
    /// The item's id.
    pub id: Option<Cow<'a, str>>,
    /// The item as it stands.
    pub json: Json<'a>,
}

impl<'a> LocalShellCall<'a> {
    pub(super) fn read(json: Json<'a>) -> Result<Self, Error> {
        let fields = Fields::of("local_shell_call", json);
        Ok(Self {
            call_id: fields.optional_str("call_id"),
            status: fields.optional_str("status"),
            action: fields.required("action", "an object")?,
            id: fields.optional_str("id"),
            json,
        })
    }
}

/// A `tool_search_call`.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ToolSearchCall<'a> {
    /// What ties it to its output.
    pub call_id: Option<Cow<'a, str>>,
    /// `client` or `server`.
    pub execution: Option<Cow<'a, str>>,
    /// What was searched for, in any shape.
    pub arguments: Json<'a>,
    /// The item's id.
    pub id: Option<Cow<'a, str>>,
    /// The item as it stands.
    pub json: Json<'a>,
}

impl<'a> ToolSearchCall<'a> {
    pub(super) fn read(json: Json<'a>) -> Result<Self, Error> {
        let fields = Fields::of("tool_search_call", json);
        Ok(Self {
            call_id: fields.optional_str("call_id"),
            execution: fields.optional_str("execution"),
            arguments: fields.required("arguments", "a value")?,
            id: fields.optional_str("id"),
            json,
        })
    }
}

/// A `tool_search_output`.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ToolSearchOutput<'a> {
    /// What ties it to its call.
    pub call_id: Option<Cow<'a, str>>,
    /// `client` or `server`: the server's need no call.
    pub execution: Option<Cow<'a, str>>,
    /// The array of tools that were found.
    pub tools: Json<'a>,
    /// The item as it stands.
    pub json: Json<'a>,
}

impl<'a> ToolSearchOutput<'a> {
    pub(super) fn read(json: Json<'a>) -> Result<Self, Error> {
        let fields = Fields::of("tool_search_output", json);
        Ok(Self {
            call_id: fields.optional_str("call_id"),
            execution: fields.optional_str("execution"),
            tools: fields.required_array("tools")?,
            json,
        })
    }
}

/// A `web_search_call`.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct WebSearchCall<'a> {
    /// The provider's word on completeness.
    pub status: Option<Cow<'a, str>>,
    /// What was searched for.
    pub action: Option<Json<'a>>,
    /// The item as it stands.
    pub json: Json<'a>,
}

impl<'a> WebSearchCall<'a> {
    pub(super) fn read(json: Json<'a>) -> Self {
        let fields = Fields::of("web_search_call", json);
        Self { status: fields.optional_str("status"), action: fields.optional("action"), json }
    }
}
