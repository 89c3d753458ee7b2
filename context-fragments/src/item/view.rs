//! The typed view of an item.

use serde::{Serialize, Serializer};

use super::{
    AdditionalTools, AgentMessage, Compaction, ConfigurationUpdate, CustomToolCall, FunctionCall, ImageGenerationCall,
    ItemType, LocalShellCall, Message, Reasoning, ToolOutput, ToolSearchCall, ToolSearchOutput, WebSearchCall,
    WireItem,
};
use crate::{Error, json::Json};

/// An item, parsed on demand; made by [`WireItem::view`].
///
/// A view borrows the item and keeps the whole of it as [`ResponseItem::json`], so what is not known here is not lost: an
/// unknown type is [`ResponseItem::Unknown`], unknown fields and enum values stay where they stand, and a view serialises
/// to the item's own bytes.
///
/// # Example
/// ```
/// use context_fragments::{ResponseItem, WireItem};
///
/// let item = WireItem::parse(br#"{"type":"function_call","name":"ls","arguments":"{}","call_id":"c1","new":1e2}"#)?;
/// let ResponseItem::FunctionCall(call) = item.view()? else { unreachable!() };
/// assert_eq!(call.name, "ls");
/// assert_eq!(call.json.member("new").map(|new| new.as_raw()), Some("1e2"));
/// # Ok::<(), context_fragments::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ResponseItem<'a> {
    /// `message`.
    Message(Message<'a>),
    /// `agent_message`.
    AgentMessage(AgentMessage<'a>),
    /// `reasoning`.
    Reasoning(Reasoning<'a>),
    /// `local_shell_call`.
    LocalShellCall(LocalShellCall<'a>),
    /// `function_call`.
    FunctionCall(FunctionCall<'a>),
    /// `function_call_output`.
    FunctionCallOutput(ToolOutput<'a>),
    /// `custom_tool_call`.
    CustomToolCall(CustomToolCall<'a>),
    /// `custom_tool_call_output`.
    CustomToolCallOutput(ToolOutput<'a>),
    /// `tool_search_call`.
    ToolSearchCall(ToolSearchCall<'a>),
    /// `tool_search_output`.
    ToolSearchOutput(ToolSearchOutput<'a>),
    /// `web_search_call`.
    WebSearchCall(WebSearchCall<'a>),
    /// `image_generation_call`.
    ImageGenerationCall(ImageGenerationCall<'a>),
    /// `additional_tools`.
    AdditionalTools(AdditionalTools<'a>),
    /// `compaction`.
    Compaction(Compaction<'a>),
    /// `context_compaction`.
    ContextCompaction(Compaction<'a>),
    /// `compaction_trigger`.
    CompactionTrigger(Json<'a>),
    /// `configuration_update`.
    ConfigurationUpdate(ConfigurationUpdate<'a>),
    /// Any other type.
    Unknown(Json<'a>),
}

impl<'a> ResponseItem<'a> {
    pub(super) fn parse(item: &'a WireItem) -> Result<Self, Error> {
        let json = item.json();
        Ok(match item.item_type() {
            ItemType::Message => Self::Message(Message::read(json)?),
            ItemType::AgentMessage => Self::AgentMessage(AgentMessage::read(json)?),
            ItemType::Reasoning => Self::Reasoning(Reasoning::read(json)),
            ItemType::LocalShellCall => Self::LocalShellCall(LocalShellCall::read(json)?),
            ItemType::FunctionCall => Self::FunctionCall(FunctionCall::read(json)?),
            ItemType::FunctionCallOutput => Self::FunctionCallOutput(ToolOutput::read("function_call_output", json)?),
            ItemType::CustomToolCall => Self::CustomToolCall(CustomToolCall::read(json)?),
            ItemType::CustomToolCallOutput => {
                Self::CustomToolCallOutput(ToolOutput::read("custom_tool_call_output", json)?)
            }
            ItemType::ToolSearchCall => Self::ToolSearchCall(ToolSearchCall::read(json)?),
            ItemType::ToolSearchOutput => Self::ToolSearchOutput(ToolSearchOutput::read(json)?),
            ItemType::WebSearchCall => Self::WebSearchCall(WebSearchCall::read(json)),
            ItemType::ImageGenerationCall => Self::ImageGenerationCall(ImageGenerationCall::read(json)),
            ItemType::AdditionalTools => Self::AdditionalTools(AdditionalTools::read(json)?),
            ItemType::Compaction => Self::Compaction(Compaction::read_full(json)?),
            ItemType::ContextCompaction => Self::ContextCompaction(Compaction::read_marker(json)),
            ItemType::CompactionTrigger => Self::CompactionTrigger(json),
            ItemType::ConfigurationUpdate => Self::ConfigurationUpdate(ConfigurationUpdate::read(json)),
            ItemType::Unknown => Self::Unknown(json),
        })
    }

    /// The item as it stands.
    #[must_use]
    pub const fn json(&self) -> Json<'a> {
        match self {
            Self::Message(view) => view.json,
            Self::AgentMessage(view) => view.json,
            Self::Reasoning(view) => view.json,
            Self::LocalShellCall(view) => view.json,
            Self::FunctionCall(view) => view.json,
            Self::FunctionCallOutput(view) | Self::CustomToolCallOutput(view) => view.json,
            Self::CustomToolCall(view) => view.json,
            Self::ToolSearchCall(view) => view.json,
            Self::ToolSearchOutput(view) => view.json,
            Self::WebSearchCall(view) => view.json,
            Self::ImageGenerationCall(view) => view.json,
            Self::AdditionalTools(view) => view.json,
            Self::Compaction(view) | Self::ContextCompaction(view) => view.json,
            Self::ConfigurationUpdate(view) => view.json,
            Self::CompactionTrigger(json) | Self::Unknown(json) => *json,
        }
    }
}

impl Serialize for ResponseItem<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.json().serialize(serializer)
    }
}
