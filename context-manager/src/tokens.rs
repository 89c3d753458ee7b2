//! How many tokens an item is thought to cost.
//!
//! The estimate counts content at four bytes a token: no ids, no metadata, no JSON escapes. It is a floor for planning,
//! wrong by up to a factor of two for code and for Chinese or Japanese text. Audio counts as long as its URL, and an
//! inline image with `detail: "original"` counts like every other image: neither is decoded here.

use std::{borrow::Cow, fmt};

use context_fragments::{
    ContentItem, ItemType, Role, WireItem, estimate_tokens,
    json::{Json, Shape},
};

/// What an image costs, in bytes, unless its original size is asked for.
pub const IMAGE_BYTES: usize = 7_373;

/// What an image costs, in bytes, that the provider holds and reads in its original size: 10,000 patches of 4 bytes.
pub const ORIGINAL_FILE_IMAGE_BYTES: usize = 40_000;

/// What stands for the namespace of a call that names none.
const DEFAULT_NAMESPACE: &str = "functions";

/// What encrypted reasoning has on top of the text in it, in bytes.
const ENCRYPTED_OVERHEAD: usize = 650;

/// Counts the tokens of one item, once, when it is recorded.
///
/// # Example
/// ```
/// use context_fragments::WireItem;
/// use context_manager::{Estimate, TokenCounter};
///
/// assert_eq!(Estimate.count(&WireItem::user_text("hello")), 2);
/// ```
pub trait TokenCounter: fmt::Debug + Send + Sync {
    /// The cost of `item`, in tokens.
    fn count(&self, item: &WireItem) -> u64;
}

/// The estimate at four bytes a token.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "it has nothing to hold")]
pub struct Estimate;

impl TokenCounter for Estimate {
    fn count(&self, item: &WireItem) -> u64 {
        u64::try_from(estimate_tokens(content_bytes(item))).unwrap_or(u64::MAX)
    }
}

/// The estimate of a text, such as the base instructions, in tokens.
#[must_use]
pub fn text_tokens(text: &str) -> u64 {
    u64::try_from(estimate_tokens(text.len())).unwrap_or(u64::MAX)
}

/// Says that the model made the item, so that a provider's count of its answer covers it.
pub(crate) fn is_model_made(item: &WireItem) -> bool {
    match item.item_type() {
        ItemType::Message => item.role() == Some(Role::Assistant),
        ItemType::Reasoning
        | ItemType::LocalShellCall
        | ItemType::FunctionCall
        | ItemType::CustomToolCall
        | ItemType::ToolSearchCall
        | ItemType::WebSearchCall
        | ItemType::ImageGenerationCall
        | ItemType::Compaction
        | ItemType::ContextCompaction => true,
        _ => false,
    }
}

/// The content of an item, in bytes; saturating.
fn content_bytes(item: &WireItem) -> usize {
    let fields = Fields::of(item.json());
    let sum = |parts: &[usize]| parts.iter().fold(0_usize, |sum, part| sum.saturating_add(*part));
    match item.item_type() {
        ItemType::Message => body_bytes(fields.content),
        ItemType::AgentMessage => sum(&[text(fields.author), text(fields.recipient), body_bytes(fields.content)]),
        ItemType::Reasoning | ItemType::Compaction | ItemType::ContextCompaction => {
            text(fields.encrypted_content).saturating_mul(3).wrapping_div(4).saturating_sub(ENCRYPTED_OVERHEAD)
        }
        ItemType::FunctionCall | ItemType::CustomToolCall => {
            let namespace = fields.namespace.filter(|namespace| !namespace.is_null());
            let namespace = namespace.map_or(DEFAULT_NAMESPACE.len(), |namespace| text(Some(namespace)));
            sum(&[text(fields.name), namespace, text(fields.arguments.or(fields.input))])
        }
        ItemType::FunctionCallOutput => {
            sum(&[body_bytes(fields.output), text(fields.call_id), text(fields.name), text(fields.namespace)])
        }
        ItemType::CustomToolCallOutput => sum(&[body_bytes(fields.output), text(fields.call_id), text(fields.name)]),
        ItemType::AdditionalTools | ItemType::ToolSearchOutput => raw(fields.tools),
        ItemType::ToolSearchCall => raw(fields.arguments),
        ItemType::LocalShellCall | ItemType::WebSearchCall => raw(fields.action),
        ItemType::ImageGenerationCall => {
            let image = if text(fields.result) > 0 { IMAGE_BYTES } else { 0 };
            sum(&[text(fields.revised_prompt), image])
        }
        _ => 0,
    }
}

/// A message's content or a tool's output: one text, or parts.
fn body_bytes(body: Option<Json<'_>>) -> usize {
    let Some(body) = body else { return 0 };
    match body.shape() {
        Shape::String => text(Some(body)),
        Shape::Array => {
            body.elements().map(|part| part_bytes(&ContentItem::parse(part))).fold(0, usize::saturating_add)
        }
        _ => 0,
    }
}

fn part_bytes(part: &ContentItem<'_>) -> usize {
    match part {
        ContentItem::InputText { text, .. } | ContentItem::OutputText { text, .. } => text.len(),
        ContentItem::InputImage { image_url, file_id, detail, .. } => {
            let is_original_file = image_url.is_none() && file_id.is_some() && detail.as_deref() == Some("original");
            if is_original_file { ORIGINAL_FILE_IMAGE_BYTES } else { IMAGE_BYTES }
        }
        ContentItem::InputAudio { audio_url, .. } => audio_bytes(audio_url),
        ContentItem::EncryptedContent { encrypted_content, .. } => {
            encrypted_content.len().saturating_mul(9).div_ceil(16)
        }
        _ => 0,
    }
}

/// What audio costs, in bytes: whole tokens of its URL's length.
pub(crate) fn audio_bytes(url: &str) -> usize {
    estimate_tokens(url.len()).saturating_mul(4)
}

/// The length of a decoded string; 0 for another value.
fn text(value: Option<Json<'_>>) -> usize {
    value.and_then(Json::to_str).map_or(0, |text| text.len())
}

/// The length of the JSON of a value; 0 for none and for null.
fn raw(value: Option<Json<'_>>) -> usize {
    value.filter(|value| !value.is_null()).map_or(0, |value| value.as_raw().len())
}

/// The members that cost something, found in one pass.
#[derive(Default)]
struct Fields<'a> {
    content: Option<Json<'a>>,
    output: Option<Json<'a>>,
    author: Option<Json<'a>>,
    recipient: Option<Json<'a>>,
    encrypted_content: Option<Json<'a>>,
    name: Option<Json<'a>>,
    namespace: Option<Json<'a>>,
    arguments: Option<Json<'a>>,
    input: Option<Json<'a>>,
    call_id: Option<Json<'a>>,
    tools: Option<Json<'a>>,
    action: Option<Json<'a>>,
    revised_prompt: Option<Json<'a>>,
    result: Option<Json<'a>>,
}

impl<'a> Fields<'a> {
    fn of(object: Json<'a>) -> Self {
        let mut fields = Self::default();
        for (key, value) in object.members() {
            let key = key.to_str().unwrap_or(Cow::Borrowed(""));
            let field = match key.as_ref() {
                "content" => &mut fields.content,
                "output" => &mut fields.output,
                "author" => &mut fields.author,
                "recipient" => &mut fields.recipient,
                "encrypted_content" => &mut fields.encrypted_content,
                "name" => &mut fields.name,
                "namespace" => &mut fields.namespace,
                "arguments" => &mut fields.arguments,
                "input" => &mut fields.input,
                "call_id" => &mut fields.call_id,
                "tools" => &mut fields.tools,
                "action" => &mut fields.action,
                "revised_prompt" => &mut fields.revised_prompt,
                "result" => &mut fields.result,
                _ => continue,
            };
            *field = Some(value);
        }
        fields
    }
}
