//! Images and audio that stand in an item itself, and not behind a link.

use context_fragments::{ItemType, WireItem, json::Json};

/// The members of an item that hold a list of parts.
pub(crate) const PART_LISTS: [&str; 2] = ["content", "output"];

/// How many bytes of the item on the wire are images and audio.
pub(crate) fn inline_media_bytes(item: &WireItem) -> u64 {
    if !item.has_images() && !item.has_audio() {
        return 0;
    }
    let parts = PART_LISTS.iter().filter_map(|key| item.json().member(key)).flat_map(Json::elements);
    let in_parts = parts.map(inline_part_bytes).fold(0, u64::saturating_add);
    in_parts.saturating_add(result_bytes(item))
}

/// How many bytes of a part are an image or audio.
pub(crate) fn inline_part_bytes(part: Json<'_>) -> u64 {
    let part_type = part.member("type").and_then(Json::to_str);
    let url = match part_type.as_deref() {
        Some("input_image") => part.member("image_url"),
        Some("input_audio") => part.member("audio_url"),
        _ => None,
    };
    url.map_or(0, |url| match url.to_str() {
        Some(text) if is_data_url(&text) => quoted_bytes(url),
        _ => 0,
    })
}

/// How many bytes the image has that a call made.
pub(crate) fn result_bytes(item: &WireItem) -> u64 {
    match item.item_type() {
        ItemType::ImageGenerationCall => item.json().member("result").map_or(0, |result| match result.to_str() {
            Some(_) => quoted_bytes(result),
            None => 0,
        }),
        _ => 0,
    }
}

/// The bytes of a JSON string without its quotes.
fn quoted_bytes(text: Json<'_>) -> u64 {
    u64::try_from(text.as_raw().len().saturating_sub(2)).unwrap_or(u64::MAX)
}

fn is_data_url(url: &str) -> bool {
    url.get(..5).is_some_and(|scheme| scheme.eq_ignore_ascii_case("data:"))
}
