//! Items and managers that the tests are made of.

use base64::{Engine, engine::general_purpose::STANDARD};
use context_fragments::{ContextItem, Kind, Limit, Part, Role, WireItem};
use context_manager::{
    ContextManager, Incoming, Model, Parts, Preset, Profile, Prompt, Recording, TruncationPolicy, TurnId,
};

pub(crate) fn recording() -> Recording {
    Recording::new(TruncationPolicy::new(Limit::Tokens(10_000)))
}

pub(crate) fn in_turn(turn: &str) -> Recording {
    recording().in_turn(TurnId::new(turn))
}

pub(crate) fn user(text: &str) -> ContextItem {
    ContextItem::user_text(text)
}

pub(crate) fn assistant(text: &str) -> ContextItem {
    WireItem::assistant_text(text).into()
}

pub(crate) fn call(id: &str) -> ContextItem {
    WireItem::function_call("shell", "{}", id).into()
}

pub(crate) fn output(id: &str, text: &str) -> ContextItem {
    WireItem::function_call_output(id, text).into()
}

pub(crate) fn custom_call(id: &str) -> ContextItem {
    WireItem::custom_tool_call("apply_patch", "p", id).into()
}

pub(crate) fn custom_output(id: &str, text: &str) -> ContextItem {
    WireItem::custom_tool_call_output(id, text).into()
}

pub(crate) fn raw(json: &str) -> ContextItem {
    WireItem::parse(json.as_bytes()).expect("the test's item is JSON").into()
}

/// A message of one text part per kind.
pub(crate) fn message(role: Role, parts: &[(Kind, &str)]) -> ContextItem {
    let texts: Vec<Part<'_>> = parts.iter().map(|(_, text)| Part::InputText(text)).collect();
    let kinds: Vec<Kind> = parts.iter().map(|(kind, _)| kind.clone()).collect();
    ContextItem::new(WireItem::message(role, &texts), kinds)
}

pub(crate) fn developer(kind: Kind, text: &str) -> ContextItem {
    message(Role::Developer, &[(kind, text)])
}

pub(crate) fn environment(text: &str) -> ContextItem {
    message(Role::User, &[(Kind::ENVIRONMENT_CONTEXT, text)])
}

pub(crate) fn image_message() -> ContextItem {
    raw(
        r#"{"type":"message","role":"user","content":[{"type":"input_text","text":"see"},{"type":"input_image","image_url":"data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==","detail":"high"}]}"#,
    )
}

/// An image of which there is the header of a PNG and nothing else, as a data URL.
pub(crate) fn png(width: u32, height: u32) -> String {
    let mut bytes = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR".to_vec();
    bytes.extend(width.to_be_bytes());
    bytes.extend(height.to_be_bytes());
    data_url("image/png", &bytes)
}

pub(crate) fn data_url(media_type: &str, bytes: &[u8]) -> String {
    format!("data:{media_type};base64,{}", STANDARD.encode(bytes))
}

/// A user message with an id and one image.
pub(crate) fn picture(url: &str) -> ContextItem {
    raw(&format!(
        r#"{{"type":"message","id":"msg_7","role":"user","content":[{{"type":"input_text","text":"see"}},{{"type":"input_image","image_url":"{url}"}}]}}"#
    ))
}

pub(crate) fn reasoning(signature: &str) -> ContextItem {
    raw(&format!(r#"{{"type":"reasoning","id":"rs_{signature}","summary":[],"encrypted_content":"{signature}"}}"#))
}

pub(crate) fn manager_of<I>(items: I) -> ContextManager
where
    I: IntoIterator<Item: Into<Incoming>>,
{
    manager_with(Preset::Default, items)
}

pub(crate) fn manager_with<I>(preset: Preset, items: I) -> ContextManager
where
    I: IntoIterator<Item: Into<Incoming>>,
{
    let mut manager = ContextManager::with_preset(preset);
    manager.record_items(items, &recording()).expect("the test's items are small");
    manager
}

pub(crate) fn parts() -> Parts {
    Parts::new(Model::new("m1")).with_base("base")
}

pub(crate) fn prompt(manager: &ContextManager) -> Prompt {
    manager.for_prompt(&parts(), &Profile::responses())
}

pub(crate) fn codex_prompt(manager: &ContextManager) -> Prompt {
    manager.for_prompt(&parts(), &Profile::codex())
}

/// The history in short: one word per item.
pub(crate) fn stored(manager: &ContextManager) -> Vec<String> {
    manager.history().items().map(|envelope| short(envelope.item())).collect()
}

/// The prompt in short: one word per item.
pub(crate) fn projected(prompt: &Prompt) -> Vec<String> {
    prompt.items().iter().map(|item| short(item.item())).collect()
}

/// `U"hi"`, `C(1)`, `O(1,"ok")` and so on.
pub(crate) fn short(item: &WireItem) -> String {
    let json = item.json();
    let text =
        |key: &str| json.member(key).and_then(context_fragments::json::Json::to_str).unwrap_or_default().into_owned();
    let content = || {
        let parts = json.member("content").into_iter().flat_map(context_fragments::json::Json::elements);
        let texts = parts.map(|part| match context_fragments::ContentItem::parse(part).text() {
            Some(text) => text.to_string(),
            None => "?".to_owned(),
        });
        texts.collect::<Vec<_>>().join("|")
    };
    let id = text("call_id");
    match item.type_name().as_ref() {
        "message" => {
            let role = item.role().map_or('?', |role| role.as_str().chars().next().unwrap_or('?')).to_ascii_uppercase();
            format!("{role}\"{}\"", content())
        }
        "function_call" => format!("C({id})"),
        "function_call_output" => format!("O({id},{})", json.member("output").map_or("none", |output| output.as_raw())),
        "custom_tool_call" => format!("CC({id})"),
        "custom_tool_call_output" => {
            format!("CO({id},{})", json.member("output").map_or("none", |output| output.as_raw()))
        }
        other => format!("{other}({id})"),
    }
}

/// The rules of the repairs, by id.
pub(crate) fn rules(prompt: &Prompt) -> Vec<&'static str> {
    prompt.repairs().iter().map(|repair| repair.rule().id()).collect()
}
