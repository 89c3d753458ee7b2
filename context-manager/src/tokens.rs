//! How many tokens an item is thought to cost.
//!
//! The estimate counts content at four bytes a token: no ids, no metadata, no JSON escapes. It is a floor for planning,
//! wrong by up to a factor of two for code and for Chinese or Japanese text. Images count by their patches where their
//! original size is asked for, and like every other image else; PCM audio in a WAV container counts by its length in time,
//! other audio by the length of its URL.

use std::{borrow::Cow, fmt};

use context_fragments::{
    ContentItem, ItemType, Role, WireItem, estimate_tokens,
    json::{Json, Shape},
};

use crate::{
    audio::wav_tokens,
    image::{self, Probed},
};

/// What an image costs, in bytes, unless its original size is asked for.
pub const IMAGE_BYTES: usize = 7_373;

/// What an image costs, in bytes, that the provider holds and reads in its original size: 10,000 patches of 4 bytes.
pub const ORIGINAL_FILE_IMAGE_BYTES: usize = 40_000;

/// The side of the squares by which an image in its original size is counted, in pixels.
const PATCH_SIDE: u32 = 32;

/// How many of these squares an image has at most.
const MAX_PATCHES: usize = 10_000;

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

    /// The cost of a text that is no item, such as the base instructions, in tokens; the estimate by default.
    fn count_text(&self, text: &str) -> u64 {
        text_tokens(text)
    }
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

/// A piece of an item that costs something.
pub(crate) enum Cost<'a> {
    /// Text that a tokenizer can count.
    Text(&'a str),
    /// The same as a JSON string, which an estimate need not decode.
    Quoted(Json<'a>),
    /// What no tokenizer sees, in bytes of the estimate.
    Bytes(usize),
}

/// The content of an item, in bytes; saturating.
fn content_bytes(item: &WireItem) -> usize {
    let mut sum = 0_usize;
    each_cost(item, &mut |cost| {
        sum = sum.saturating_add(match cost {
            Cost::Text(text) => text.len(),
            Cost::Quoted(text) => text.text_len().unwrap_or(0),
            Cost::Bytes(bytes) => bytes,
        });
    });
    sum
}

/// Calls `add` for every piece of an item that costs something.
pub(crate) fn each_cost(item: &WireItem, add: &mut dyn FnMut(Cost<'_>)) {
    // Of these two, nothing else costs anything.
    match item.item_type() {
        ItemType::Message => return body(item.body(), add),
        ItemType::Reasoning => return encrypted(item.body(), add),
        _ => {}
    }
    let fields = Fields::of(item);
    match item.item_type() {
        ItemType::AgentMessage => {
            text(fields.author, add);
            text(fields.recipient, add);
            body(fields.content, add);
        }
        ItemType::Compaction | ItemType::ContextCompaction => encrypted(fields.encrypted_content, add),
        ItemType::FunctionCall | ItemType::CustomToolCall => {
            text(fields.name, add);
            match fields.namespace.filter(|namespace| !namespace.is_null()) {
                None => add(Cost::Text(DEFAULT_NAMESPACE)),
                namespace => text(namespace, add),
            }
            text(fields.arguments.or(fields.input), add);
        }
        ItemType::FunctionCallOutput => {
            body(fields.output, add);
            [fields.call_id, fields.name, fields.namespace].into_iter().for_each(|field| text(field, add));
        }
        ItemType::CustomToolCallOutput => {
            body(fields.output, add);
            text(fields.call_id, add);
            text(fields.name, add);
        }
        ItemType::AdditionalTools | ItemType::ToolSearchOutput => raw(fields.tools, add),
        ItemType::ToolSearchCall => raw(fields.arguments, add),
        ItemType::LocalShellCall | ItemType::WebSearchCall => raw(fields.action, add),
        ItemType::ImageGenerationCall => {
            text(fields.revised_prompt, add);
            let has_image = fields.result.and_then(Json::to_str).is_some_and(|result| !result.is_empty());
            add(Cost::Bytes(if has_image { IMAGE_BYTES } else { 0 }));
        }
        _ => {}
    }
}

/// What only the provider can read, without what its encryption adds.
fn encrypted(value: Option<Json<'_>>, add: &mut dyn FnMut(Cost<'_>)) {
    let len = value.and_then(Json::text_len).unwrap_or(0);
    let bytes = len.saturating_mul(3).wrapping_div(4).saturating_sub(ENCRYPTED_OVERHEAD);
    add(Cost::Bytes(bytes));
}

/// A message's content or a tool's output: one text, or parts.
fn body(body: Option<Json<'_>>, add: &mut dyn FnMut(Cost<'_>)) {
    let Some(body) = body else { return };
    match body.shape() {
        Shape::String => text(Some(body), add),
        Shape::Array => body.elements().for_each(|element| match text_of(element) {
            Some(found) => text(Some(found), add),
            None => part(&ContentItem::parse(element), add),
        }),
        _ => {}
    }
}

/// The text of a part that is one of text and nothing else; the last of two equal keys counts.
fn text_of(part: Json<'_>) -> Option<Json<'_>> {
    let (mut is_text, mut text) = (false, None);
    for (key, value) in part.members() {
        if key.is_text("type") {
            is_text = value.is_text("input_text") || value.is_text("output_text");
        } else if key.is_text("text") {
            text = Some(value);
        }
    }
    text.filter(|text| is_text && text.shape() == Shape::String)
}

fn part(part: &ContentItem<'_>, add: &mut dyn FnMut(Cost<'_>)) {
    match part {
        ContentItem::InputText { text, .. } | ContentItem::OutputText { text, .. } => add(Cost::Text(text)),
        ContentItem::InputImage { image_url, file_id, detail, .. } => {
            let is_original = detail.as_deref() == Some("original");
            add(Cost::Bytes(match image_url {
                Some(url) if is_original => original_image_bytes(url),
                None if is_original && file_id.is_some() => ORIGINAL_FILE_IMAGE_BYTES,
                _ => IMAGE_BYTES,
            }));
        }
        ContentItem::InputAudio { audio_url, .. } => add(Cost::Bytes(audio_bytes(audio_url))),
        ContentItem::EncryptedContent { encrypted_content, .. } => {
            add(Cost::Bytes(encrypted_content.len().saturating_mul(9).div_ceil(16)));
        }
        _ => {}
    }
}

/// What an inline image costs that is read in its original size, in bytes: its patches, or what every image costs if its
/// header does not tell how many there are.
fn original_image_bytes(url: &str) -> usize {
    let Probed::Sized(size) = image::probe(url) else { return IMAGE_BYTES };
    let patches = usize::try_from(size.patches(PATCH_SIDE)).unwrap_or(usize::MAX);
    patches.min(MAX_PATCHES).saturating_mul(4)
}

/// What audio costs, in bytes: whole tokens of its length in time, or of its URL's length where that is not known.
pub(crate) fn audio_bytes(url: &str) -> usize {
    let tokens =
        wav_tokens(url).map_or_else(|| estimate_tokens(url.len()), |n| usize::try_from(n).unwrap_or(usize::MAX));
    tokens.saturating_mul(4)
}

/// A string; nothing for another value.
fn text(value: Option<Json<'_>>, add: &mut dyn FnMut(Cost<'_>)) {
    if let Some(text) = value.filter(|value| value.shape() == Shape::String) {
        add(Cost::Quoted(text));
    }
}

/// The JSON of a value; nothing for none and for null.
fn raw(value: Option<Json<'_>>, add: &mut dyn FnMut(Cost<'_>)) {
    if let Some(value) = value.filter(|value| !value.is_null()) {
        add(Cost::Text(value.as_raw()));
    }
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
    fn of(item: &'a WireItem) -> Self {
        let mut fields = Self::default();
        for (key, value) in item.members() {
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
