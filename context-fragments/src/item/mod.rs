//! Items on the wire: bytes first, typed views on demand.

mod content;
mod fields;
mod head;
mod make;
mod message;
mod other;
mod tool;
mod view;
mod wire;

pub use self::{
    content::{Content, ContentItem},
    head::{ItemType, Role},
    make::Part,
    message::{AgentMessage, Message, Reasoning},
    other::{AdditionalTools, Compaction, ConfigurationUpdate, ImageGenerationCall},
    tool::{CustomToolCall, FunctionCall, LocalShellCall, ToolOutput, ToolSearchCall, ToolSearchOutput, WebSearchCall},
    view::ResponseItem,
    wire::WireItem,
};
