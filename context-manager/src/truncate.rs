//! Holding a tool output to a limit.

use std::borrow::Cow;

use context_fragments::{
    ContentItem, ItemType, Limit, MarkerRoom, WireItem, cut_middle, estimate_tokens,
    json::{Json, Shape},
};

use crate::{edit, tokens};

/// How a tool output is held to a limit when it is recorded.
///
/// Only tool outputs are cut. What the user or the model said is accepted or refused as it is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TruncationPolicy {
    limit: Limit,
    allowance: f64,
    room: MarkerRoom,
}

impl TruncationPolicy {
    /// Holds outputs to `limit`, the marker and the notices about left-out parts included.
    #[must_use]
    pub const fn new(limit: Limit) -> Self {
        Self { limit, allowance: 1.0, room: MarkerRoom::Inside }
    }

    /// Holds outputs to `limit` times 1.2, rounded up, with the marker on top, as OpenAI Codex CLI does.
    #[must_use]
    pub const fn codex(limit: Limit) -> Self {
        Self { limit, allowance: 1.2, room: MarkerRoom::OnTop }
    }

    /// The limit that an output gets.
    #[must_use]
    pub fn effective_limit(&self) -> Limit {
        if self.allowance > 1.0 { self.limit.scaled(self.allowance) } else { self.limit }
    }

    /// Whether the marker counts.
    #[must_use]
    pub const fn marker_room(&self) -> MarkerRoom {
        self.room
    }
}

/// Says that recording cuts items of this type.
pub(crate) fn is_cuttable(item_type: ItemType) -> bool {
    matches!(item_type, ItemType::FunctionCallOutput | ItemType::CustomToolCallOutput)
}

/// The item with its output held to `limit`; none if it fits as it is.
pub(crate) fn cut_output(item: &WireItem, limit: Limit, room: MarkerRoom) -> Option<WireItem> {
    let output = item.json().member("output")?;
    let replaced = match output.shape() {
        Shape::String => {
            let text = output.to_str()?;
            edit::quoted(&cut_text(&text, limit, room)?)
        }
        Shape::Array => cut_parts(output, limit, room)?,
        // No provider gives this; it is bounded all the same, as the text that it is.
        _ => edit::quoted(&cut_text(output.as_raw(), limit, room)?),
    };
    item.with_member("output", &replaced).ok()
}

/// Cuts the middle out of `text`; none if it fits, or if it is the result of such a cut.
fn cut_text(text: &str, limit: Limit, room: MarkerRoom) -> Option<Cow<'_, str>> {
    let fits = text.len() <= limit.byte_budget();
    if fits || (matches!(room, MarkerRoom::OnTop) && is_cut_to(text, limit.byte_budget())) {
        return None;
    }
    Some(cut_middle(text, limit, room))
}

/// Says that `text` has a truncation marker and that what stands around it is within `budget` bytes.
///
/// With the marker on top a text that was cut is longer than the limit, so that a second pass at the same limit would
/// cut it again. A text that only looks so is still held to the budget and one marker.
fn is_cut_to(text: &str, budget: usize) -> bool {
    [" tokens truncated…", " chars truncated…"].iter().any(|words| {
        text.match_indices(words).any(|(at, words)| {
            let before = text[..at].trim_end_matches(|digit: char| digit.is_ascii_digit());
            let digits = at - before.len();
            digits > 0 && before.ends_with('…') && text.len() - (digits + words.len() + '…'.len_utf8()) <= budget
        })
    })
}

/// What is left of a limit, in its own unit.
#[derive(Clone, Copy)]
struct Budget {
    limit: Limit,
    left: usize,
}

impl Budget {
    fn new(limit: Limit, reserved_bytes: usize) -> Self {
        let left = match limit {
            Limit::Bytes(bytes) => bytes.saturating_sub(reserved_bytes),
            Limit::Tokens(tokens) => tokens.saturating_sub(estimate_tokens(reserved_bytes)),
        };
        Self { limit, left }
    }

    fn cost_of(&self, bytes: usize) -> usize {
        match self.limit {
            Limit::Bytes(_) => bytes,
            Limit::Tokens(_) => estimate_tokens(bytes),
        }
    }

    fn take(&mut self, cost: usize) -> bool {
        let fits = cost <= self.left;
        if fits {
            self.left -= cost;
        }
        fits
    }

    fn rest(&self) -> Limit {
        match self.limit {
            Limit::Bytes(_) => Limit::Bytes(self.left),
            Limit::Tokens(_) => Limit::Tokens(self.left),
        }
    }
}

/// The parts after one walk, and what had to go.
#[derive(Default)]
struct Walk {
    kept: Vec<String>,
    cut: usize,
    omitted_texts: usize,
    omitted_audio: usize,
}

impl Walk {
    fn is_whole(&self) -> bool {
        self.cut == 0 && self.omitted_texts == 0 && self.omitted_audio == 0
    }

    fn notices(&self) -> impl Iterator<Item = String> {
        let notice = |count: usize, what: &str| (count > 0).then(|| format!("[omitted {count} {what} items ...]"));
        notice(self.omitted_texts, "text").into_iter().chain(notice(self.omitted_audio, "audio"))
    }
}

/// The parts held to one shared budget; none if they fit.
fn cut_parts(parts: Json<'_>, limit: Limit, room: MarkerRoom) -> Option<String> {
    let mut walk = walk_parts(parts, limit, room, 0);
    if walk.is_whole() {
        return None;
    }
    if matches!(room, MarkerRoom::Inside) {
        // The notices count too. How long they are is known only after a walk, and a smaller budget can only make
        // more of them, so the room is that of the longest notices that this output could need.
        let reserved =
            Walk { omitted_texts: parts.elements().count(), omitted_audio: walk.omitted_audio, ..Walk::default() };
        walk = walk_parts(parts, limit, room, reserved.notices().map(|notice| notice.len()).sum());
    }
    let notices: Vec<String> = walk.notices().map(|notice| edit::text_part(&notice)).collect();
    walk.kept.extend(notices);
    Some(edit::array(&walk.kept))
}

fn walk_parts(parts: Json<'_>, limit: Limit, room: MarkerRoom, reserved_bytes: usize) -> Walk {
    let mut budget = Budget::new(limit, reserved_bytes);
    let mut walk = Walk::default();
    for part in parts.elements() {
        match ContentItem::parse(part) {
            ContentItem::InputText { text, .. } | ContentItem::OutputText { text, .. } => {
                walk_text(&mut walk, &mut budget, part, &text, room);
            }
            ContentItem::InputImage { .. } | ContentItem::EncryptedContent { .. } => {
                walk.kept.push(part.as_raw().into());
            }
            ContentItem::InputAudio { audio_url, .. } => {
                let cost = budget.cost_of(tokens::audio_bytes(&audio_url));
                if budget.take(cost) {
                    walk.kept.push(part.as_raw().into());
                } else {
                    walk.omitted_audio += 1;
                }
            }
            // A part that nobody knows must not be a way around the bound.
            _ => {
                let cost = budget.cost_of(part.as_raw().len());
                if budget.take(cost) {
                    walk.kept.push(part.as_raw().into());
                } else {
                    walk.omitted_texts += 1;
                }
            }
        }
    }
    walk
}

fn walk_text(walk: &mut Walk, budget: &mut Budget, part: Json<'_>, text: &str, room: MarkerRoom) {
    if text.is_empty() {
        return;
    }
    if budget.left == 0 {
        walk.omitted_texts += 1;
        return;
    }
    let cost = budget.cost_of(text.len());
    let already_cut = matches!(room, MarkerRoom::OnTop) && is_cut_to(text, budget.rest().byte_budget());
    if already_cut || budget.take(cost) {
        if already_cut {
            budget.left = budget.left.saturating_sub(cost);
        }
        walk.kept.push(part.as_raw().into());
        return;
    }
    let cut = cut_middle(text, budget.rest(), room);
    budget.left = 0;
    if cut.is_empty() {
        walk.omitted_texts += 1;
        return;
    }
    walk.cut += 1;
    walk.kept.push(edit::with_member(part, "text", &edit::quoted(&cut)));
}
