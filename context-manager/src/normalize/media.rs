//! Placeholders for images and audio that a model cannot take.

use context_fragments::{ContextItem, ItemType, Kind, WireItem, json::Json};

use super::Rule;
use crate::{Modalities, edit};

const IMAGE_PLACEHOLDER: &str = "image content omitted because you do not support image input";
const AUDIO_PLACEHOLDER: &str = "audio content omitted because you do not support audio input";

/// An item without the media that had to go.
pub(super) struct Stripped {
    pub(super) item: ContextItem,
    pub(super) images: usize,
    pub(super) audio: usize,
    cleared_result: bool,
}

impl Stripped {
    pub(super) fn rules(&self) -> impl Iterator<Item = Rule> + use<> {
        let parts_had_images = self.images > usize::from(self.cleared_result);
        [
            parts_had_images.then_some(Rule::ImageUnsupported),
            self.cleared_result.then_some(Rule::ImageResultCleared),
            (self.audio > 0).then_some(Rule::AudioUnsupported),
        ]
        .into_iter()
        .flatten()
    }
}

/// `item` with placeholders for what is not `allowed`; none if it has nothing of that.
pub(super) fn stripped(item: &ContextItem, allowed: Modalities) -> Option<Stripped> {
    let wire = item.item();
    let no_images = !allowed.images && wire.has_images();
    let no_audio = !allowed.audio && wire.has_audio();
    if !no_images && !no_audio {
        return None;
    }
    let mut stripped = Stripped { item: item.clone(), images: 0, audio: 0, cleared_result: false };
    for key in ["content", "output"] {
        strip_parts(&mut stripped, key, no_images, no_audio);
    }
    if no_images && wire.item_type() == ItemType::ImageGenerationCall {
        let result = wire.json().member("result").and_then(Json::to_str);
        if result.is_some_and(|result| !result.is_empty()) {
            stripped.images += 1;
            stripped.cleared_result = true;
            let kinds = stripped.item.kinds().to_vec();
            stripped.item = ContextItem::new(with_member(stripped.item.item(), "result", "\"\""), kinds);
        }
    }
    (stripped.images + stripped.audio > 0).then_some(stripped)
}

/// Puts placeholders for the media in the list under `key`, and their kinds beside them.
fn strip_parts(stripped: &mut Stripped, key: &str, no_images: bool, no_audio: bool) {
    let Some(list) = stripped.item.item().json().member(key) else { return };
    let mut parts = Vec::new();
    let mut kinds = Vec::new();
    let known = stripped.item.kinds();
    // Kinds that do not match the parts say nothing about any of them.
    let aligned = known.len() == list.elements().count();
    let (mut images, mut audio) = (0, 0);
    for (index, part) in list.elements().enumerate() {
        let part_type = part.member("type").and_then(Json::to_str);
        let replaced = match part_type.as_deref() {
            Some("input_image") if no_images => {
                images += 1;
                Some((IMAGE_PLACEHOLDER, Kind::IMAGES_UNSUPPORTED))
            }
            Some("input_audio") if no_audio => {
                audio += 1;
                Some((AUDIO_PLACEHOLDER, Kind::AUDIO_UNSUPPORTED))
            }
            _ => None,
        };
        match replaced {
            Some((text, kind)) => {
                parts.push(edit::text_part(text));
                kinds.push(kind);
            }
            None => {
                parts.push(part.as_raw().to_owned());
                let kind = known.get(index).filter(|_| aligned);
                kinds.push(kind.cloned().unwrap_or(Kind::UNKNOWN));
            }
        }
    }
    if images + audio > 0 {
        let item = with_member(stripped.item.item(), key, &edit::array(&parts));
        stripped.item = ContextItem::new(item, kinds);
        stripped.images += images;
        stripped.audio += audio;
    }
}

/// The item with `key` set; `value` is JSON that was written here.
fn with_member(item: &WireItem, key: &str, value: &str) -> WireItem {
    item.with_member(key, value).unwrap_or_else(|_| item.clone())
}
