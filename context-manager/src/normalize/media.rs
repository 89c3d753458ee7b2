//! Placeholders for images and audio that a model or its provider cannot take.

use std::borrow::Cow;

use context_fragments::{ContextItem, ItemType, Kind, WireItem, json::Json};

use super::Rule;
use crate::{ImageSize, Mend, Modalities, Profile, edit, findings::FoundImage};

/// The kind of the placeholder for an image with more pixels than are taken.
pub const IMAGE_TOO_LARGE_KIND: Kind = Kind::from_static("images.too_large");

/// The kind of the placeholder for an image whose data cannot be decoded.
pub const IMAGE_UNDECODABLE_KIND: Kind = Kind::from_static("images.undecodable");

const IMAGE_PLACEHOLDER: &str = "image content omitted because you do not support image input";
const AUDIO_PLACEHOLDER: &str = "audio content omitted because you do not support audio input";
const UNDECODABLE_PLACEHOLDER: &str = "image content omitted because its data cannot be decoded";

/// Why something was taken out of an item.
pub(super) struct Reason {
    pub(super) rule: Rule,
    pub(super) why: &'static str,
    pub(super) part: Option<(&'static str, usize)>,
    pub(super) image: Option<ImageSize>,
}

impl Reason {
    const fn unsupported(rule: Rule) -> Self {
        Self { rule, why: "the model does not take it", part: None, image: None }
    }
}

/// An item without the media that had to go.
pub(super) struct Stripped {
    pub(super) item: ContextItem,
    pub(super) images: usize,
    pub(super) audio: usize,
    pub(super) reasons: Vec<Reason>,
}

/// Says by which rule the provider refuses an image, and why, whether that is mended or not.
fn refused(image: &FoundImage, profile: &Profile) -> Option<(Rule, Mend, &'static str)> {
    match (image.size, profile.max_image_px) {
        (None, _) => Some((Rule::ImageUndecodable, profile.undecodable_image, "its data cannot be decoded")),
        (Some(size), Some(max)) if size.longest() > max => {
            Some((Rule::ImageTooLarge, profile.large_image, "a side has more pixels than are taken"))
        }
        _ => None,
    }
    .filter(|(_, mend, _)| *mend != Mend::Allow)
}

/// `item` with placeholders for what is not `allowed` and for images that the provider refuses; none if it has nothing of
/// that.
pub(super) fn stripped(
    item: &ContextItem,
    images: &[FoundImage],
    allowed: Modalities,
    profile: &Profile,
) -> Option<Stripped> {
    let wire = item.item();
    let gone = Gone {
        images: !allowed.images && wire.has_images(),
        audio: !allowed.audio && wire.has_audio(),
        bad: images.iter().any(|image| refused(image, profile).is_some_and(|(_, mend, _)| mend == Mend::Apply)),
    };
    if !gone.images && !gone.audio && !gone.bad {
        return None;
    }
    let mut stripped = Stripped { item: item.clone(), images: 0, audio: 0, reasons: Vec::new() };
    for key in ["content", "output"] {
        strip_parts(&mut stripped, key, gone, images, profile);
    }
    if gone.images && wire.item_type() == ItemType::ImageGenerationCall {
        let result = wire.json().member("result").and_then(Json::to_str);
        if result.is_some_and(|result| !result.is_empty()) {
            stripped.images += 1;
            stripped.reasons.push(Reason::unsupported(Rule::ImageResultCleared));
            let kinds = stripped.item.kinds().to_vec();
            stripped.item = ContextItem::new(with_member(stripped.item.item(), "result", "\"\""), kinds);
        }
    }
    (stripped.images + stripped.audio > 0).then_some(stripped)
}

/// What has to go.
#[derive(Clone, Copy)]
struct Gone {
    images: bool,
    audio: bool,
    bad: bool,
}

/// The placeholder of an image that the provider refuses, if the profile puts one.
fn placeholder_of(
    images: &[FoundImage],
    key: &'static str,
    part: usize,
    profile: &Profile,
) -> Option<(Cow<'static, str>, Kind, Reason)> {
    let image = images.iter().find(|image| image.key == key && image.part == part)?;
    let (rule, _, why) = refused(image, profile).filter(|(_, mend, _)| *mend == Mend::Apply)?;
    let reason = Reason { rule, why, part: Some((key, part)), image: image.size };
    Some(match image.size {
        None => (UNDECODABLE_PLACEHOLDER.into(), IMAGE_UNDECODABLE_KIND, reason),
        Some(size) => {
            let max = profile.max_image_px.unwrap_or(u32::MAX);
            let text = format!("image content omitted because it has {size} pixels and a side may have {max}");
            (text.into(), IMAGE_TOO_LARGE_KIND, reason)
        }
    })
}

/// Puts placeholders for the media in the list under `key`, and their kinds beside them.
fn strip_parts(stripped: &mut Stripped, key: &'static str, gone: Gone, found: &[FoundImage], profile: &Profile) {
    let Some(list) = stripped.item.item().json().member(key) else { return };
    let mut parts = Vec::new();
    let mut kinds = Vec::new();
    let known = stripped.item.kinds();
    // Kinds that do not match the parts say nothing about any of them.
    let aligned = known.len() == list.elements().count();
    let (mut images, mut audio) = (0, 0);
    let mut reasons: Vec<Reason> = Vec::new();
    let add = |reasons: &mut Vec<Reason>, rule: Rule| {
        if reasons.iter().all(|reason| reason.rule != rule) {
            reasons.push(Reason::unsupported(rule));
        }
    };
    for (index, part) in list.elements().enumerate() {
        let part_type = part.member("type").and_then(Json::to_str);
        let replaced: Option<(Cow<'static, str>, Kind)> = match part_type.as_deref() {
            Some("input_image") if gone.images => {
                images += 1;
                add(&mut reasons, Rule::ImageUnsupported);
                Some((IMAGE_PLACEHOLDER.into(), Kind::IMAGES_UNSUPPORTED))
            }
            Some("input_audio") if gone.audio => {
                audio += 1;
                add(&mut reasons, Rule::AudioUnsupported);
                Some((AUDIO_PLACEHOLDER.into(), Kind::AUDIO_UNSUPPORTED))
            }
            Some("input_image") if gone.bad => {
                placeholder_of(found, key, index, profile).map(|(text, kind, reason)| {
                    images += 1;
                    reasons.push(reason);
                    (text, kind)
                })
            }
            _ => None,
        };
        match replaced {
            Some((text, kind)) => {
                parts.push(edit::text_part(&text));
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
        for reason in reasons {
            // Content and output of one item: one repair for what the model does not take.
            if reason.part.is_some() || stripped.reasons.iter().all(|old| old.rule != reason.rule) {
                stripped.reasons.push(reason);
            }
        }
    }
}

/// The item with `key` set; `value` is JSON that was written here.
fn with_member(item: &WireItem, key: &str, value: &str) -> WireItem {
    item.with_member(key, value).unwrap_or_else(|_| item.clone())
}
