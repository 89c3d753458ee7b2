//! What a person saw, beside what the model saw.

use std::borrow::Cow;

use context_fragments::{
    ContentItem, ContextItem, ItemType, Kind, Role, WireItem,
    json::{Json, Shape},
    recognise_user_text,
};

use crate::{ContextManager, Cursor, Entry, HistorySnapshot, Preset, ResponseItemEnvelope, boundary::parts_by_person};

const HOOK_PROMPT: Kind = Kind::from_static("hooks.prompt");

/// One item of the conversation as a person sees it, with the envelope behind it.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct VisibleItem<'a> {
    /// What stands in the history: position, turn, origin, and the item itself.
    pub envelope: &'a ResponseItemEnvelope,
    /// The number of the turn that it belongs to, from 1; 0 before the first one.
    ///
    /// It is the turn that a rollback counts: the view of the model and that of a person divide a history in one way.
    pub turn: usize,
    /// The cursor of the turn, if the turn begins here.
    pub begins: Option<Cursor>,
    /// What is shown.
    pub shown: Shown<'a>,
}

/// What a person sees of an item.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Shown<'a> {
    /// What a person said; the media are counted.
    Input {
        /// The texts, in their order, without the labels of images.
        texts: Vec<Cow<'a, str>>,
        /// How many images there are.
        images: usize,
        /// How many audio parts there are.
        audio: usize,
    },
    /// What a hook had to say; it is no input and begins no turn.
    HookPrompts(Vec<HookPrompt>),
    /// What another agent wrote.
    Mail {
        /// Who wrote it.
        author: Cow<'a, str>,
        /// The texts, in their order.
        texts: Vec<Cow<'a, str>>,
    },
    /// What the model answered.
    Answer {
        /// The texts, in their order.
        texts: Vec<Cow<'a, str>>,
    },
    /// What the model tells of its reasoning; reasoning of which nothing can be read is not shown.
    Thought {
        /// The texts of the summary, in their order.
        texts: Vec<Cow<'a, str>>,
    },
    /// A tool is called, or searched for, or the web is.
    Call {
        /// The name of the tool, or the type of the item if it has none.
        name: Cow<'a, str>,
        /// The id of the call.
        call_id: Option<Cow<'a, str>>,
    },
    /// A tool gave something back.
    Output {
        /// The id of the call.
        call_id: Option<Cow<'a, str>>,
        /// The texts, in their order.
        texts: Vec<Cow<'a, str>>,
        /// How many images there are.
        images: usize,
        /// How many audio parts there are.
        audio: usize,
    },
    /// The model made an image.
    ImageMade,
    /// What stands for older turns.
    Summary {
        /// The texts; none if only the provider can read it.
        texts: Vec<Cow<'a, str>>,
    },
}

/// What a hook had to say.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct HookPrompt {
    /// The run of the hook.
    pub run_id: String,
    /// The text, unescaped.
    pub text: String,
}

impl ContextManager {
    /// The conversation as a person sees it, oldest first; see [`HistorySnapshot::visible_items`].
    pub fn visible_items(&self) -> impl Iterator<Item = VisibleItem<'_>> {
        self.history.visible_items(self.preset)
    }
}

impl HistorySnapshot {
    /// The conversation as a person sees it, oldest first.
    ///
    /// # Shape
    /// Context and the host's words are not there. Of a message of context and a person's words the words are there; in the
    /// codex preset the whole message is hidden, and is no turn. Hook prompts, tool activity and summaries are there.
    /// `preset` is that of the manager.
    pub fn visible_items(&self, preset: Preset) -> impl Iterator<Item = VisibleItem<'_>> {
        let mut turns_before = 0;
        self.log.iter().filter_map(move |entry| {
            let turn = entry.state().turns();
            let begins = turn > std::mem::replace(&mut turns_before, turn);
            let Entry::Item(envelope) = entry else { return None };
            let shown = shown(envelope, preset)?;
            let begins = begins.then(|| Cursor::at(envelope.position()));
            Some(VisibleItem { envelope, turn, begins, shown })
        })
    }
}

fn shown(envelope: &ResponseItemEnvelope, preset: Preset) -> Option<Shown<'_>> {
    let wire = envelope.item();
    let member = |key: &str| wire.json().member(key).and_then(Json::to_str);
    match wire.item_type() {
        ItemType::Message => message(envelope, preset),
        ItemType::AgentMessage => {
            Some(Shown::Mail { author: member("author").unwrap_or_default(), texts: texts_in(wire, "content") })
        }
        ItemType::Reasoning => {
            let texts = texts_in(wire, "summary");
            (!texts.is_empty()).then_some(Shown::Thought { texts })
        }
        ItemType::FunctionCall
        | ItemType::CustomToolCall
        | ItemType::LocalShellCall
        | ItemType::ToolSearchCall
        | ItemType::WebSearchCall => {
            Some(Shown::Call { name: member("name").unwrap_or_else(|| wire.type_name()), call_id: wire.call_id() })
        }
        ItemType::FunctionCallOutput | ItemType::CustomToolCallOutput | ItemType::ToolSearchOutput => {
            let (images, audio) = media_in(wire.json().member("output"));
            Some(Shown::Output { call_id: wire.call_id(), texts: texts_in(wire, "output"), images, audio })
        }
        ItemType::ImageGenerationCall => Some(Shown::ImageMade),
        ItemType::Compaction | ItemType::ContextCompaction => Some(Shown::Summary { texts: Vec::new() }),
        _ => None,
    }
}

fn message(envelope: &ResponseItemEnvelope, preset: Preset) -> Option<Shown<'_>> {
    let wire = envelope.item();
    match wire.role() {
        Some(Role::Assistant) if envelope.measured.findings.marks.begins_turn(preset) => Some(mail(wire)),
        Some(Role::Assistant) => Some(Shown::Answer { texts: texts_in(wire, "content") }),
        Some(Role::User) if envelope.measured.findings.marks.is_summary => {
            Some(Shown::Summary { texts: texts_in(wire, "content") })
        }
        Some(Role::User) => match hook_prompts(envelope.context_item()) {
            Some(prompts) => Some(Shown::HookPrompts(prompts)),
            None if envelope.measured.findings.marks.begins_turn(preset) => Some(input(envelope.context_item())),
            None => None,
        },
        _ => None,
    }
}

/// What a person said in a message.
fn input(item: &ContextItem) -> Shown<'_> {
    let content = item.item().json().member("content");
    if let Some(text) = content.and_then(Json::to_str) {
        return Shown::Input { texts: vec![text], images: 0, audio: 0 };
    }
    let parts: Vec<ContentItem<'_>> = parts_by_person(item).into_iter().map(ContentItem::parse).collect();
    let is_image = |index: Option<usize>| {
        index.and_then(|index| parts.get(index)).is_some_and(|part| matches!(part, ContentItem::InputImage { .. }))
    };
    let (mut texts, mut images, mut audio) = (Vec::new(), 0, 0);
    for (index, part) in parts.iter().enumerate() {
        match part {
            // A label of an image stands directly before it, and what closes the label directly behind it.
            ContentItem::InputText { text, .. }
                if (is_image_label(text) && is_image(index.checked_add(1)))
                    || (text.trim() == "</image>" && is_image(index.checked_sub(1))) => {}
            ContentItem::InputText { text, .. } | ContentItem::OutputText { text, .. } => texts.push(text.clone()),
            ContentItem::InputImage { .. } => images += 1,
            ContentItem::InputAudio { .. } => audio += 1,
            _ => {}
        }
    }
    Shown::Input { texts, images, audio }
}

fn is_image_label(text: &str) -> bool {
    let text = text.trim();
    text.strip_prefix("<image").is_some_and(|rest| rest.starts_with([' ', '>'])) && text.ends_with('>')
}

/// Mail that stands in an assistant message, as one object.
fn mail(wire: &WireItem) -> Shown<'_> {
    let texts = texts_in(wire, "content");
    let of = |key: &str| {
        let mail = texts.first().and_then(|text| Json::parse(text).ok())?;
        mail.member(key)?.to_str().map(|text| Cow::Owned(text.into_owned()))
    };
    let author = of("author").unwrap_or_default();
    Shown::Mail { author, texts: of("content").into_iter().collect() }
}

/// The prompts of hooks in a message that has them and nothing else but context.
fn hook_prompts(item: &ContextItem) -> Option<Vec<HookPrompt>> {
    let list = item.item().json().member("content").filter(|content| content.shape() == Shape::Array)?;
    let mut prompts = Vec::new();
    let kinds = item.kinds();
    for (index, part) in list.elements().enumerate() {
        let ContentItem::InputText { text, .. } = ContentItem::parse(part) else { return None };
        let is_hook = match kinds.get(index) {
            Some(kind) => *kind == HOOK_PROMPT,
            None => recognise_user_text(&text).is_some_and(|kind| kind == HOOK_PROMPT),
        };
        if is_hook {
            prompts.push(hook_prompt(&text)?);
        } else {
            let is_context = match kinds.get(index) {
                Some(kind) => !kind.is_user_authored(),
                None => recognise_user_text(&text).is_some(),
            };
            if !is_context {
                return None;
            }
        }
    }
    (!prompts.is_empty()).then_some(prompts)
}

/// Reads `<hook_prompt hook_run_id="…">…</hook_prompt>`.
fn hook_prompt(text: &str) -> Option<HookPrompt> {
    let rest = text.trim().strip_prefix("<hook_prompt")?.trim_start().strip_prefix("hook_run_id=\"")?;
    let (run_id, rest) = rest.split_once('"')?;
    let text = rest.trim_start().strip_prefix('>')?.strip_suffix("</hook_prompt>")?;
    Some(HookPrompt { run_id: unescaped(run_id), text: unescaped(text) })
}

/// A text in which characters were escaped for XML; `&amp;` comes last, so that nothing is unescaped twice.
fn unescaped(text: &str) -> String {
    text.replace("&lt;", "<").replace("&gt;", ">").replace("&quot;", "\"").replace("&apos;", "'").replace("&amp;", "&")
}

/// The texts of a list of parts, or of a plain string.
fn texts_in<'a>(wire: &'a WireItem, key: &str) -> Vec<Cow<'a, str>> {
    let Some(value) = wire.json().member(key) else { return Vec::new() };
    match value.shape() {
        Shape::String => value.to_str().into_iter().collect(),
        _ => value.elements().filter_map(text_of).collect(),
    }
}

/// The text of a part of any type that has one.
fn text_of(part: Json<'_>) -> Option<Cow<'_, str>> {
    part.member("text").and_then(Json::to_str)
}

fn media_in(list: Option<Json<'_>>) -> (usize, usize) {
    let (mut images, mut audio) = (0, 0);
    for part in list.into_iter().flat_map(Json::elements).map(ContentItem::parse) {
        match part {
            ContentItem::InputImage { .. } => images += 1,
            ContentItem::InputAudio { .. } => audio += 1,
            _ => {}
        }
    }
    (images, audio)
}
