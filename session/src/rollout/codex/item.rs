//! Items of a Codex rollout: what the host saw of them is lifted out of the wire bytes.

use std::borrow::Cow;

use context_fragments::{
    ItemType, Kind, Limit, Role, WireItem,
    json::{Json, ObjectWriter, Shape},
    recognise_developer_text, recognise_user_text,
};

use crate::{
    Error,
    rollout::{
        RawJson,
        metadata::{KindsSource, Metadata},
    },
};

const PASSTHROUGH: &str = "internal_chat_message_metadata_passthrough";

/// Splits an item into its wire bytes and its metadata; `beside` is the line's own `metadata`.
pub(super) fn lift(payload: Json<'_>, beside: Option<Json<'_>>) -> Result<(WireItem, Metadata), Error> {
    let misread = |source| Error::Json { place: "response_item.payload".into(), source };
    let whole = WireItem::from_json(payload).map_err(misread)?;
    let passthrough = payload.member(PASSTHROUGH);
    let mut metadata = Metadata::new();
    let mut foreign = ObjectWriter::new();
    for (key, source) in [("passthrough", passthrough), ("metadata", beside)] {
        let Some(source) = source else { continue };
        foreign.raw(key, RawJson::from_json(source).as_str());
        read_host(source, &mut metadata);
    }
    if passthrough.is_some() || beside.is_some() {
        metadata.foreign = Some(RawJson::parse(&foreign.finish())?);
    }
    let item = whole.without_member(PASSTHROUGH);
    if metadata.kinds.is_empty() {
        let kinds = recognise(&item);
        if !kinds.is_empty() {
            metadata.kinds = kinds;
            metadata.kinds_source = KindsSource::Recognised;
        }
    }
    Ok((item, metadata))
}

/// Reads what a host wrote beside an item; members of another shape say nothing.
fn read_host(source: Json<'_>, metadata: &mut Metadata) {
    if let Some(turn_id) = source.member("turn_id").and_then(Json::to_str) {
        metadata.turn_id = Some(turn_id.into());
    }
    let kinds = source.member("content_item_kinds").into_iter().flat_map(Json::elements);
    let kinds: Vec<_> = kinds.filter_map(Json::to_str).map(|label| Kind::new(label.as_ref())).collect();
    if !kinds.is_empty() {
        metadata.kinds = kinds;
    }
    let limit = source.member("fallback_token_limit_override").and_then(|limit| limit.as_raw().parse().ok());
    if let Some(tokens) = limit {
        metadata.truncation_limit = Some(Limit::Tokens(tokens));
    }
}

/// The kinds of a message's parts by their looks; nothing for other items and for the model's own messages.
fn recognise(item: &WireItem) -> Vec<Kind> {
    let (ItemType::Message, Some(role @ (Role::User | Role::Developer))) = (item.item_type(), item.role()) else {
        return Vec::new();
    };
    let Some(content) = item.json().member("content") else { return Vec::new() };
    if content.shape() == Shape::String {
        return content.to_str().map(|text| kind_of_text(&text, role)).into_iter().collect();
    }
    content.elements().map(|part| kind_of_part(part, role)).collect()
}

fn kind_of_part(part: Json<'_>, role: Role) -> Kind {
    let name = part.member("type").and_then(Json::to_str).unwrap_or(Cow::Borrowed(""));
    match (name.as_ref(), part.member("text").and_then(Json::to_str)) {
        (_, Some(text)) => kind_of_text(&text, role),
        ("input_image", None) if role == Role::User => Kind::USER_IMAGE,
        ("input_audio", None) if role == Role::User => Kind::USER_AUDIO,
        _ => Kind::UNKNOWN,
    }
}

fn kind_of_text(text: &str, role: Role) -> Kind {
    match role {
        Role::User => recognise_user_text(text).unwrap_or(Kind::USER_TEXT),
        _ => recognise_developer_text(text).unwrap_or(Kind::UNKNOWN),
    }
}
