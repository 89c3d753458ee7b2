//! Taking old images and audio out of the history, by one declared rewrite.

use std::collections::HashMap;

use context_fragments::{ContextItem, ItemType, Kind, WireItem, json::Json};

use crate::{
    ContextManager, Entry, Error, HistorySnapshot, Position, Rewrite, edit,
    inline_media::{PART_LISTS, inline_part_bytes, result_bytes},
    record::ReadyItem,
};

/// The kind of the text that stands for an image or audio that was elided.
pub const ELIDED_KIND: Kind = Kind::from_static("media.elided");

const IMAGE_ELIDED: &str = "[image removed from the history, to keep requests small]";
const AUDIO_ELIDED: &str = "[audio removed from the history, to keep requests small]";

/// No more than this is added for what goes.
const TEXT_BYTES: u64 = 64;

/// How many bytes a history may have on the wire: a limit beside that of tokens.
///
/// An image costs few tokens and many bytes, and providers refuse a request that is too large whatever its tokens are.
/// Where the history is above `max_bytes`, its oldest media go until it is at `low_bytes`. The room between them is what
/// later images need: until it is used up, none of them changes anything that was sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct ByteBudget {
    /// Above this something goes.
    pub max_bytes: u64,
    /// Down to this it goes; half of `max_bytes` by default, so that a break of the prefix is rare.
    pub low_bytes: u64,
    /// So many of the newest items with media stay whatever they cost; one by default, which the model is about to see.
    pub keep_newest: usize,
}

impl ByteBudget {
    /// Allows `max_bytes`, and goes down to half of them.
    #[must_use]
    pub const fn new(max_bytes: u64) -> Self {
        Self { max_bytes, low_bytes: max_bytes / 2, keep_newest: 1 }
    }

    /// The same with another low-water mark.
    #[must_use]
    pub const fn down_to(mut self, low_bytes: u64) -> Self {
        self.low_bytes = low_bytes;
        self
    }

    /// The same with another number of items whose media stay.
    #[must_use]
    pub const fn keeping_newest(mut self, n_items: usize) -> Self {
        self.keep_newest = n_items;
        self
    }
}

/// What an elision did; a log that holds [`elided`](Self::elided) can have it done again.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Elided {
    /// The items whose media went: where they stood, and where they stand.
    pub elided: Vec<(Position, Position)>,
    /// How many images and audio parts went.
    pub media: usize,
    /// The bytes of the items before.
    pub bytes_before: u64,
    /// The bytes of the items after.
    pub bytes_after: u64,
    /// The history version from here on.
    pub history_version: u64,
}

impl HistorySnapshot {
    /// The items whose media have to go for `budget`, oldest first; empty if the history is within it.
    ///
    /// Text is never taken, so a history of much text may stay above its budget.
    #[must_use]
    pub fn plan_elision(&self, budget: &ByteBudget) -> Vec<Position> {
        if self.bytes() <= budget.max_bytes {
            return Vec::new();
        }
        let with_media: Vec<(Position, u64)> = self
            .items()
            .map(|item| (item.position(), item.measured.media_bytes()))
            .filter(|(_, media_bytes)| *media_bytes > TEXT_BYTES)
            .collect();
        let mut bytes = self.bytes();
        let n_free = with_media.len().saturating_sub(budget.keep_newest);
        let mut goes = Vec::new();
        for (position, media_bytes) in with_media.into_iter().take(n_free) {
            if bytes <= budget.low_bytes {
                break;
            }
            // A text stands for what goes.
            bytes = bytes.saturating_sub(media_bytes).saturating_add(TEXT_BYTES);
            goes.push(position);
        }
        goes
    }
}

impl ContextManager {
    /// Takes the oldest media out of the history if it is above `budget`; none if it is not, or if it has none to take.
    ///
    /// # Example
    /// ```
    /// use context_fragments::{ContextItem, Limit, Part, Role, WireItem};
    /// use context_manager::{ByteBudget, ContextManager, Recording, Rewrite, TruncationPolicy};
    ///
    /// let recording = Recording::new(TruncationPolicy::new(Limit::Tokens(10_000)));
    /// let url = format!("data:image/png;base64,{}", "A".repeat(1_000));
    /// let image = || ContextItem::from(WireItem::message(Role::User, &[Part::InputImage { url: &url, detail: "auto" }]));
    /// let mut manager = ContextManager::new();
    /// manager.record_items((0..5).map(|_| image()), &recording)?;
    /// let budget = ByteBudget::new(5_000).down_to(3_700);
    /// let elided = manager.elide_over(&budget)?.expect("it is above the budget");
    /// assert_eq!((elided.elided.len(), manager.history().bytes() <= 3_700), (2, true));
    /// assert!(manager.elide_over(&budget)?.is_none());
    /// # Ok::<(), context_manager::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`elide`](Self::elide); what the history itself names is there.
    pub fn elide_over(&mut self, budget: &ByteBudget) -> Result<Option<Elided>, Error> {
        let goes = self.history.plan_elision(budget);
        self.elide(&goes)
    }

    /// Takes images and audio that stand in these items themselves out of the history: a text stands for each, the result
    /// of an image generation is cleared. None if there was nothing to take.
    ///
    /// It is one [rewrite](Rewrite::Elide), which a log can have done again. What stands before the first of these items
    /// is shared and keeps its positions; what stands behind gets new ones and remembers the old. Baseline and settings
    /// stay. A position that is given twice counts once.
    ///
    /// # Errors
    /// [`Error::NoSuchItem`] if there is no item at one of the positions. Nothing was changed.
    pub fn elide(&mut self, positions: &[Position]) -> Result<Option<Elided>, Error> {
        let mut changed: HashMap<usize, ReadyItem> = HashMap::new();
        let mut media = 0;
        for &position in positions {
            let index = self.history.index_of(position);
            let found = index.zip(self.history.entry_at(position).and_then(Entry::as_item));
            let (index, envelope) = found.ok_or(Error::NoSuchItem { position })?;
            if changed.contains_key(&index) {
                continue;
            }
            if let Some((item, n_media)) = without_media(envelope.context_item()) {
                media += n_media;
                changed.insert(index, envelope.measured.with_item(item, self.counter()).into());
            }
        }
        let Some(&first) = changed.keys().min() else { return Ok(None) };
        let bytes_before = self.history.bytes();
        let mut old: Vec<(usize, Position)> = Vec::new();
        let moved = self.rewrite_from(first, Rewrite::Elide, |index, envelope| {
            let ready = changed.remove(&index);
            if ready.is_some() {
                old.push((index, envelope.position()));
            }
            Some(ready.unwrap_or_else(|| envelope.ready()))
        });
        let now: HashMap<Position, Position> = moved.into_iter().collect();
        Ok(Some(Elided {
            elided: old.iter().filter_map(|(_, old)| now.get(old).map(|now| (*old, *now))).collect(),
            media,
            bytes_before,
            bytes_after: self.history.bytes(),
            history_version: self.history_version(),
        }))
    }
}

impl ContextManager {
    /// Puts `placeholder` for every image of the newest tool output, if no input of a person came after it; says whether
    /// it did.
    ///
    /// For an image that a provider refuses: images of a tool can go without a loss that a person would miss, and those that
    /// a person gave stay. It is a [rewrite](Rewrite::Elide).
    pub fn replace_last_turn_images(&mut self, placeholder: &str) -> bool {
        let is_output = |item: &WireItem| item.item_type() == ItemType::FunctionCallOutput;
        let newest = (0..self.history.log.len()).rev().find_map(|index| {
            let envelope = self.history.log.get(index)?.as_item()?;
            let begins = envelope.measured.findings.marks.begins_turn(self.preset);
            (begins || is_output(envelope.item())).then_some((index, envelope))
        });
        let Some((index, envelope)) = newest.filter(|(_, envelope)| is_output(envelope.item())) else { return false };
        let is_image = |part: Json<'_>| part.member("type").and_then(Json::to_str).as_deref() == Some("input_image");
        let text_for = |part: Json<'_>| is_image(part).then(|| edit::text_part(placeholder));
        let Some((item, _)) = without_parts(envelope.context_item(), "output", text_for) else { return false };
        let mut changed = Some(envelope.measured.with_item(item, self.counter()).into());
        self.rewrite_from(index, Rewrite::Elide, |_, envelope| {
            Some(changed.take().unwrap_or_else(|| envelope.ready()))
        });
        true
    }
}

/// The text that stands for a part that is an image or audio itself.
fn text_for_inline(part: Json<'_>) -> Option<String> {
    let is_audio = part.member("type").and_then(Json::to_str).as_deref() == Some("input_audio");
    (inline_part_bytes(part) > 0).then(|| edit::text_part(if is_audio { AUDIO_ELIDED } else { IMAGE_ELIDED }))
}

/// The item with a text for each image and audio part that stands in it, and how many those are; none if there is none.
fn without_media(item: &ContextItem) -> Option<(ContextItem, usize)> {
    let mut n_media = 0;
    let mut item = item.clone();
    for key in PART_LISTS {
        if let Some((changed, n_parts)) = without_parts(&item, key, text_for_inline) {
            item = changed;
            n_media += n_parts;
        }
    }
    if result_bytes(item.item()) > 0 {
        item = with_member(&item, "result", "\"\"", item.kinds().to_vec())?;
        n_media += 1;
    }
    (n_media > 0).then_some((item, n_media))
}

/// The item with a text where `text_for` gives one, and how many those are.
fn without_parts(
    item: &ContextItem,
    key: &str,
    text_for: impl Fn(Json<'_>) -> Option<String>,
) -> Option<(ContextItem, usize)> {
    let list = item.item().json().member(key)?;
    let known = item.kinds();
    // Kinds that do not match the parts say nothing about any of them.
    let aligned = known.len() == list.elements().count();
    let (mut parts, mut kinds, mut n_media) = (Vec::new(), Vec::new(), 0);
    for (index, part) in list.elements().enumerate() {
        if let Some(text) = text_for(part) {
            parts.push(text);
            kinds.push(ELIDED_KIND);
            n_media += 1;
        } else {
            parts.push(part.as_raw().to_owned());
            kinds.push(known.get(index).filter(|_| aligned).cloned().unwrap_or(Kind::UNKNOWN));
        }
    }
    if n_media == 0 {
        return None;
    }
    Some((with_member(item, key, &edit::array(&parts), kinds)?, n_media))
}

fn with_member(item: &ContextItem, key: &str, value: &str, kinds: Vec<Kind>) -> Option<ContextItem> {
    let wire: WireItem = item.item().with_member(key, value).ok()?;
    Some(ContextItem::new(wire, kinds))
}
