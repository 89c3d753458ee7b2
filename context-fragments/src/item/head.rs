//! What can be known of an item without parsing its body.

use std::{borrow::Cow, ops::Range};

use crate::json::{Json, Shape, Watch};

/// The `type` of an item.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ItemType {
    /// `message`, or no `type` beside a `role`.
    Message,
    /// `agent_message`.
    AgentMessage,
    /// `reasoning`.
    Reasoning,
    /// `local_shell_call`.
    LocalShellCall,
    /// `function_call`.
    FunctionCall,
    /// `function_call_output`.
    FunctionCallOutput,
    /// `custom_tool_call`.
    CustomToolCall,
    /// `custom_tool_call_output`.
    CustomToolCallOutput,
    /// `tool_search_call`.
    ToolSearchCall,
    /// `tool_search_output`.
    ToolSearchOutput,
    /// `web_search_call`.
    WebSearchCall,
    /// `image_generation_call`.
    ImageGenerationCall,
    /// `additional_tools`.
    AdditionalTools,
    /// `compaction`, or its old name `compaction_summary`.
    Compaction,
    /// `context_compaction`.
    ContextCompaction,
    /// `compaction_trigger`.
    CompactionTrigger,
    /// `configuration_update`.
    ConfigurationUpdate,
    /// Any other type, or none; the bytes are kept all the same.
    Unknown,
}

impl ItemType {
    /// Reads the name that stands on the wire.
    #[must_use]
    pub fn from_name(name: &str) -> Self {
        match name {
            "message" => Self::Message,
            "agent_message" => Self::AgentMessage,
            "reasoning" => Self::Reasoning,
            "local_shell_call" => Self::LocalShellCall,
            "function_call" => Self::FunctionCall,
            "function_call_output" => Self::FunctionCallOutput,
            "custom_tool_call" => Self::CustomToolCall,
            "custom_tool_call_output" => Self::CustomToolCallOutput,
            "tool_search_call" => Self::ToolSearchCall,
            "tool_search_output" => Self::ToolSearchOutput,
            "web_search_call" => Self::WebSearchCall,
            "image_generation_call" => Self::ImageGenerationCall,
            "additional_tools" => Self::AdditionalTools,
            "compaction" | "compaction_summary" => Self::Compaction,
            "context_compaction" => Self::ContextCompaction,
            "compaction_trigger" => Self::CompactionTrigger,
            "configuration_update" => Self::ConfigurationUpdate,
            _ => Self::Unknown,
        }
    }
}

/// Who speaks in a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Role {
    /// `user`: the person, or context that a host gives in the person's place.
    User,
    /// `developer`: the host.
    Developer,
    /// `assistant`: the model.
    Assistant,
    /// `system`.
    System,
    /// Another role; its name is in the bytes.
    Other,
}

impl Role {
    /// Reads the name that stands on the wire.
    #[must_use]
    pub fn from_name(name: &str) -> Self {
        match name {
            "user" => Self::User,
            "developer" => Self::Developer,
            "assistant" => Self::Assistant,
            "system" => Self::System,
            _ => Self::Other,
        }
    }

    /// The name on the wire; `other` for [`Role::Other`], whose real name only the item knows.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Developer => "developer",
            Self::Assistant => "assistant",
            Self::System => "system",
            Self::Other => "other",
        }
    }
}

/// A range of an item's bytes. Half the size of a `Range<usize>`: a head stands beside every item.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Span {
    start: u32,
    end: u32,
}

impl Span {
    /// Where `part`, which is borrowed from `whole`, stands in it.
    fn of(part: &str, whole: &str) -> Self {
        let start = part.as_ptr().addr().saturating_sub(whole.as_ptr().addr());
        let narrow = |position: usize| u32::try_from(position).unwrap_or(u32::MAX);
        Self { start: narrow(start), end: narrow(start + part.len()) }
    }

    /// The value that stands there; none for the empty span.
    pub(super) fn json(self, whole: &str) -> Option<Json<'_>> {
        whole.get(self.range()?).filter(|raw| !raw.is_empty()).map(Json::trusted)
    }

    fn range(self) -> Option<Range<usize>> {
        Some(usize::try_from(self.start).ok()?..usize::try_from(self.end).ok()?)
    }
}

/// What is scanned once when an item is made. The last of two equal keys wins.
#[derive(Clone, Copy, Debug)]
pub(super) struct Head {
    pub(super) item_type: ItemType,
    pub(super) role: Option<Role>,
    /// A `type` stands in it.
    named: bool,
    /// The body of a type that [has one](Self::name_beside_body), else the name of the type: a head stands beside every
    /// item, and four spans would make each larger.
    body_or_name: Span,
    pub(super) call_id: Span,
    pub(super) item_id: Span,
    pub(super) has_images: bool,
    pub(super) has_audio: bool,
}

impl Head {
    /// Scans `object`, whose text is all of the item's bytes.
    pub(super) fn scan(object: Json<'_>) -> Self {
        let mut scan = HeadScan::default();
        for (key, value) in object.members() {
            scan.take(key, value);
        }
        scan.may_hold_media = scan.parts.is_some_and(|parts| may_hold_media(parts.as_raw()));
        scan.finish(object.as_raw())
    }

    /// The name of a type whose items have a body.
    const fn name_beside_body(&self) -> Option<&'static str> {
        match self.item_type {
            ItemType::Message => Some("message"),
            ItemType::FunctionCall => Some("function_call"),
            ItemType::FunctionCallOutput => Some("function_call_output"),
            ItemType::CustomToolCallOutput => Some("custom_tool_call_output"),
            ItemType::Reasoning => Some("reasoning"),
            _ => None,
        }
    }

    /// The type as it is spelled in `whole`, decoded; none if there is none.
    pub(super) fn type_name<'a>(&self, whole: &'a str) -> Option<Cow<'a, str>> {
        match self.name_beside_body() {
            Some(name) => self.named.then_some(Cow::Borrowed(name)),
            None => self.body_or_name.json(whole)?.to_str(),
        }
    }

    /// Where that is said; empty if it is not there.
    pub(super) fn body_range(&self) -> Range<usize> {
        self.name_beside_body().and_then(|_| self.body_or_name.range()).unwrap_or(0..0)
    }

    /// What the item says.
    pub(super) fn body<'a>(&self, whole: &'a str) -> Option<Json<'a>> {
        self.name_beside_body().and_then(|_| self.body_or_name.json(whole))
    }
}

/// The members of an item that a head is made of. Of each the last one counts.
#[derive(Debug, Default)]
pub(super) struct HeadScan<'a> {
    item_type: Option<Json<'a>>,
    role: Option<Json<'a>>,
    call_id: Option<Json<'a>>,
    item_id: Option<Json<'a>>,
    content: Option<Json<'a>>,
    output: Option<Json<'a>>,
    arguments: Option<Json<'a>>,
    encrypted_content: Option<Json<'a>>,
    result: Option<Json<'a>>,
    /// `content` or `output`, whichever stands last.
    parts: Option<Json<'a>>,
    /// A string is the name of a part with media in it, or may be one.
    may_hold_media: bool,
}

impl<'a> HeadScan<'a> {
    fn take(&mut self, key: Json<'a>, value: Json<'a>) {
        let Some(key) = key.to_name() else { return };
        let place = match key.as_ref() {
            "type" => &mut self.item_type,
            "role" => &mut self.role,
            "call_id" => &mut self.call_id,
            "id" => &mut self.item_id,
            "content" => {
                self.parts = Some(value);
                &mut self.content
            }
            "output" => {
                self.parts = Some(value);
                &mut self.output
            }
            "arguments" => &mut self.arguments,
            "encrypted_content" => &mut self.encrypted_content,
            "result" => &mut self.result,
            _ => return,
        };
        *place = Some(value);
    }

    /// The head of the item whose text is `whole`.
    pub(super) fn finish(self, whole: &str) -> Head {
        let span = |value: Option<Json<'_>>| {
            let text = value.filter(|value| value.shape() == Shape::String);
            text.map_or_else(Span::default, |text| Span::of(text.as_raw(), whole))
        };
        let item_type = match self.item_type {
            Some(name) => name.to_name().map_or(ItemType::Unknown, |name| ItemType::from_name(&name)),
            None => ItemType::Unknown,
        };
        let mut head = Head {
            item_type,
            role: self.role.and_then(Json::to_name).map(|name| Role::from_name(&name)),
            named: self.item_type.is_some(),
            body_or_name: span(self.item_type),
            call_id: span(self.call_id),
            item_id: span(self.item_id),
            has_images: false,
            has_audio: false,
        };
        if !head.named && head.role.is_some() {
            head.item_type = ItemType::Message;
        }
        let body = match head.item_type {
            ItemType::Message => self.content,
            ItemType::FunctionCall => self.arguments,
            ItemType::FunctionCallOutput | ItemType::CustomToolCallOutput => self.output,
            ItemType::Reasoning => self.encrypted_content,
            _ => None,
        };
        if head.name_beside_body().is_some() {
            head.body_or_name = body.map_or_else(Span::default, |body| Span::of(body.as_raw(), whole));
        }
        // Most contents have neither, and that is told without finding out where each part ends.
        let parts = self.parts.filter(|_| self.may_hold_media);
        for part in parts.into_iter().flat_map(Json::elements) {
            match part.member("type").and_then(Json::to_str).as_deref() {
                Some("input_image") => head.has_images = true,
                Some("input_audio") => head.has_audio = true,
                _ => {}
            }
        }
        if head.item_type == ItemType::ImageGenerationCall {
            head.has_images |= self.result.and_then(Json::to_str).is_some_and(|result| !result.is_empty());
        }
        head
    }

    /// The same for a text that was walked over; `has_code_units` says that one of its strings may be spelled in another way.
    pub(super) fn finish_walked(mut self, whole: &str, has_code_units: bool) -> Head {
        self.may_hold_media |= has_code_units;
        self.finish(whole)
    }
}

impl<'a> Watch<'a> for HeadScan<'a> {
    fn member(&mut self, key: &'a str, value: &'a str) {
        self.take(Json::trusted(key), Json::trusted(value));
    }

    fn string(&mut self, inner: &'a [u8]) {
        self.may_hold_media |= matches!(inner, b"input_image" | b"input_audio");
    }
}

/// Says that a list of parts has the name of a part with media in it, or an escape that may spell one.
fn may_hold_media(raw: &str) -> bool {
    ["input_image", "input_audio", "\\u"].iter().any(|sign| raw.contains(sign))
}
