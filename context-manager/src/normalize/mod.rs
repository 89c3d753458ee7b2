//! Making a history acceptable to a provider.
//!
//! The plain form: total, deterministic, idempotent, one pass to pair calls with outputs and one to write. It never
//! touches the store, never fails, and lists every repair.

mod item;
mod known;
mod local;
mod media;
mod pairing;
mod repair;
mod source;
mod synthetic;
mod writer;

use context_fragments::{ContextItem, Kind};

use crate::{Modalities, Position, Profile, measured::Measured, tokens::Estimate};

use self::pairing::Pairing;
pub use self::repair::{Repair, Rule};
pub use self::{
    item::{PromptItem, Provenance},
    media::{IMAGE_TOO_LARGE_KIND, IMAGE_UNDECODABLE_KIND},
};
pub(crate) use self::{
    known::{ByFamily, Known},
    local::{Target, left_out},
    pairing::{Family, Fate, is_server_search, without_id},
    source::{Source, Sources, StoredItems},
    writer::{Plan, Tools, Writer},
};
use crate::call_state::CallStates;

/// The kind of the message in which an output is given that came after its call was closed.
pub const LATE_OUTPUT_KIND: Kind = Kind::from_static("tools.late_output");

/// Which media a model may get, which ones the history holds, and what was taken out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct MediaReport {
    /// What the model takes.
    pub allowed: Modalities,
    /// What the history holds.
    pub present: Modalities,
    /// Images that a placeholder stands for, or that were cleared.
    pub removed_images: usize,
    /// Audio that a placeholder stands for.
    pub removed_audio: usize,
}

/// A history as a provider takes it.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Normalized {
    /// The items in the order in which they are sent.
    pub items: Vec<PromptItem>,
    /// What was changed, in the order of the items.
    pub repairs: Vec<Repair>,
    /// What became of images and audio.
    pub media: MediaReport,
    /// The calls that got a synthetic output, by position, increasing.
    pub closed: Vec<Position>,
    /// The outputs that were left out because they have no call, by position, increasing.
    pub orphans: Vec<Position>,
    /// How many items and table entries were looked at: the measure of the work, for tests.
    pub steps: usize,
}

/// Makes `items` acceptable to a provider, without a history behind them.
///
/// # Shape
/// Every call has an output of its family directly behind it or later; no output is without a call; no medium is there
/// that the model cannot take; no lone surrogate is there, no reasoning that stands alone, and no flaw of content that the
/// profile mends. Everything else is byte for byte what was given.
///
/// # Example
/// ```
/// use context_fragments::{ContextItem, WireItem};
/// use context_manager::{Modalities, Profile, Rule, normalize};
///
/// let call: ContextItem = WireItem::function_call("shell", "{}", "c1").into();
/// let normalized = normalize(&[call], Modalities::ALL, &Profile::responses());
/// assert_eq!(normalized.items[1].item(), &WireItem::function_call_output("c1", "aborted"));
/// assert_eq!(normalized.repairs[0].rule(), Rule::MissingOutput);
/// ```
#[must_use]
pub fn normalize(items: &[ContextItem], allowed: Modalities, profile: &Profile) -> Normalized {
    let items: Vec<Measured> = items.iter().map(|item| Measured::new(item.clone(), &Estimate)).collect();
    let sources: Vec<_> = items.iter().enumerate().map(|(n_before, item)| Source::listed(item, n_before)).collect();
    let states = CallStates::default();
    project(
        sources.as_slice(),
        Target { allowed, model: None },
        &Tools { profile, counter: &Estimate, states: &states },
    )
}

/// The normaliser, and its items as a list.
pub(crate) fn project<S: Sources + ?Sized>(sources: &S, target: Target<'_>, tools: &Tools<'_>) -> Normalized {
    let mut items = Vec::new();
    let rest = project_into(&mut items, sources, target, tools);
    Normalized { items, ..rest }
}

/// How many items are written before they are handed on.
const HANDED_ON: usize = 256;

/// The normaliser, which hands its items on to `items`; in what it gives there are none.
///
/// They are handed on while they are written, so that no second list of them is ever held.
pub(crate) fn project_into<S: Sources + ?Sized>(
    items: &mut impl Extend<PromptItem>,
    sources: &S,
    target: Target<'_>,
    tools: &Tools<'_>,
) -> Normalized {
    let pairing = Pairing::of(sources, target, tools.profile);
    let mut writer = Writer::new(tools.profile.allowed(target.allowed), tools);
    for (index, source) in sources.each() {
        writer.entry(&pairing, index, &source, &|index| sources.at(index));
        if writer.items.len() >= HANDED_ON {
            writer.hand_on(items);
        }
    }
    writer.hand_on(items);
    let Writer { repairs, media, closed, orphans, .. } = writer;
    Normalized { items: Vec::new(), repairs, media, closed, orphans, steps: sources.len() + pairing.steps() }
}
