//! Where a user's turn begins, and what is context around it.

use context_fragments::{
    ContentItem, ContextItem, ItemType, Kind, Role,
    json::{Json, Shape},
    recognise_developer_text, recognise_user_text,
};

use crate::Preset;

/// The kind of a message that holds the summary of a compaction; it is no user's turn.
pub const SUMMARY_KIND: Kind = Kind::from_static("compaction.summary");

/// What an item is for the turns of a history, found once when it is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Marks {
    begins: bool,
    begins_in_codex: bool,
    /// It stands for what a compaction took away.
    pub(crate) is_summary: bool,
}

impl Marks {
    /// Reads the content once, for both presets.
    ///
    /// A user message counts if a person wrote a part of it. The codex preset is stricter: one part of context, and the
    /// message is none; and it takes an assistant message that is structured agent mail for a turn.
    pub(crate) fn of(item: &ContextItem) -> Self {
        let wire = item.item();
        let is_opaque = matches!(wire.item_type(), ItemType::Compaction | ItemType::ContextCompaction);
        let (begins, begins_in_codex) = match (wire.item_type(), wire.role()) {
            (ItemType::AgentMessage, _) => (true, true),
            (ItemType::Message, Some(Role::User)) => {
                let parts = MessageParts::of(item);
                (parts.other > 0 || parts.context == 0, parts.context == 0)
            }
            (ItemType::Message, Some(Role::Assistant)) => (false, is_agent_mail(item)),
            _ => (false, false),
        };
        Self { begins, begins_in_codex, is_summary: is_opaque || item.kinds().contains(&SUMMARY_KIND) }
    }

    /// Says that a turn begins with the item, if it is not added to a turn that goes on.
    pub(crate) const fn begins_turn(self, preset: Preset) -> bool {
        match preset {
            Preset::Default => self.begins,
            Preset::Codex => self.begins_in_codex,
        }
    }
}

/// The parts of a message: how many are context that a host gave, and how many are not.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct MessageParts {
    pub(crate) context: usize,
    pub(crate) other: usize,
}

impl MessageParts {
    /// Counts by the kinds; only an item without kinds is judged by its texts.
    pub(crate) fn of(item: &ContextItem) -> Self {
        let role = item.item().role();
        let kinds = item.kinds();
        let mut parts = Self::default();
        let mut count = |is_context: bool| match is_context {
            true => parts.context += 1,
            false => parts.other += 1,
        };
        if kinds.is_empty() {
            let content = item.item().json().member("content");
            match content.filter(|content| content.shape() == Shape::Array) {
                Some(list) => list.elements().for_each(|part| count(looks_like_context(role, part))),
                None => count(false),
            }
        } else {
            // A developer message is the host's free words unless its kind names a feature.
            kinds.iter().for_each(|kind| count(is_context_kind(kind)));
        }
        parts
    }
}

/// The parts of a user message that a person wrote, in their order.
///
/// Where kinds and parts do not match, nothing can be told of a single part, and all of them are given.
pub(crate) fn parts_by_person(item: &ContextItem) -> Vec<Json<'_>> {
    let Some(list) = item.item().json().member("content").filter(|content| content.shape() == Shape::Array) else {
        return Vec::new();
    };
    let kinds = item.kinds();
    if kinds.is_empty() {
        return list.elements().filter(|part| !looks_like_context(Some(Role::User), *part)).collect();
    }
    let aligned = kinds.len() == list.elements().count();
    let is_persons = |index: usize| !aligned || kinds.get(index).is_none_or(|kind| !is_context_kind(kind));
    list.elements().enumerate().filter(|(index, _)| is_persons(*index)).map(|(_, part)| part).collect()
}

fn is_context_kind(kind: &Kind) -> bool {
    !kind.is_user_authored() && !kind.as_str().starts_with("generic.")
}

fn looks_like_context(role: Option<Role>, part: Json<'_>) -> bool {
    let ContentItem::InputText { text, .. } = ContentItem::parse(part) else { return false };
    match role {
        Some(Role::User) => recognise_user_text(&text).is_some(),
        Some(Role::Developer) => recognise_developer_text(&text).is_some(),
        _ => false,
    }
}

/// Says that an assistant message is one JSON object that names an author, a recipient and a content.
fn is_agent_mail(item: &ContextItem) -> bool {
    // Most answers are told from mail without reading them.
    if !item.item().as_str().contains("recipient") {
        return false;
    }
    let content = item.item().json().member("content");
    let mut parts = content.into_iter().flat_map(Json::elements);
    let (Some(part), None) = (parts.next(), parts.next()) else { return false };
    let part = ContentItem::parse(part);
    let Some(text) = part.text() else { return false };
    let Ok(mail) = Json::parse(text) else { return false };
    ["author", "recipient", "content"]
        .iter()
        .all(|key| mail.member(key).is_some_and(|value| value.shape() == Shape::String))
}
