//! Making a history acceptable to a provider.
//!
//! The plain form: total, deterministic, idempotent, one pass to pair calls with outputs and one to write. It never
//! touches the store, never fails, and lists every repair.

mod local;
mod media;
mod pairing;
mod repair;
mod synthetic;
mod writer;

use context_fragments::{ContextItem, Kind, WireItem};

use crate::{
    Digest, Modalities, Origin, Position, Profile, ResponseItemEnvelope, TokenCounter, TurnId, findings::Findings,
    tokens::Estimate,
};

pub use self::media::{IMAGE_TOO_LARGE_KIND, IMAGE_UNDECODABLE_KIND};
use self::pairing::Pairing;
pub use self::repair::{Repair, Rule};
pub(crate) use self::{
    local::{Target, left_out},
    pairing::{Family, Fate, is_server_search, without_id},
    writer::{Plan, Tools, Writer},
};
use crate::call_state::CallStates;

/// The kind of the message in which an output is given that came after its call was closed.
pub const LATE_OUTPUT_KIND: Kind = Kind::from_static("tools.late_output");

/// Where an item of a prompt came from.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Provenance {
    /// Who made it; [`Origin::Repair`] for a synthetic output.
    pub origin: Origin,
    /// The entry that it is, or for which it was made; none if it came from no history.
    pub position: Option<Position>,
    /// The turn of that entry.
    pub turn: Option<TurnId>,
    /// The repairs that made it, or changed it; empty for bytes that are those of the store.
    pub repairs: Vec<Rule>,
}

/// One item as it is sent, and where it came from.
#[derive(Clone, Debug)]
pub struct PromptItem {
    item: ContextItem,
    digest: Digest,
    tokens: u64,
    provenance: Provenance,
    /// The chain up to and with this item.
    link: Digest,
    /// The estimate of all items up to and with this one; saturating.
    tokens_to_here: u64,
}

impl PromptItem {
    /// The bytes on the wire.
    #[must_use]
    pub const fn item(&self) -> &WireItem {
        self.item.item()
    }

    /// The item and the kinds of its parts.
    #[must_use]
    pub const fn context_item(&self) -> &ContextItem {
        &self.item
    }

    /// The kinds of the content parts.
    #[must_use]
    pub fn kinds(&self) -> &[Kind] {
        self.item.kinds()
    }

    /// The SHA-256 of the bytes.
    #[must_use]
    pub const fn digest(&self) -> Digest {
        self.digest
    }

    /// The estimate, in tokens.
    #[must_use]
    pub const fn tokens(&self) -> u64 {
        self.tokens
    }

    /// The prefix chain up to and with this item: `SHA-256(link before || SHA-256(bytes))`, from 32 zero bytes.
    ///
    /// Two prompts with the same link at the same index have the same bytes up to there.
    #[must_use]
    pub const fn link(&self) -> Digest {
        self.link
    }

    pub(crate) const fn tokens_to_here(&self) -> u64 {
        self.tokens_to_here
    }

    /// Where it came from.
    #[must_use]
    pub const fn provenance(&self) -> &Provenance {
        &self.provenance
    }
}

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

/// One stored item, as the normaliser reads it.
#[derive(Clone, Debug)]
pub(crate) struct Source<'a> {
    pub(crate) item: &'a ContextItem,
    pub(crate) digest: Digest,
    pub(crate) tokens: u64,
    pub(crate) origin: Origin,
    pub(crate) position: Option<Position>,
    pub(crate) turn: Option<&'a TurnId>,
    pub(crate) model: Option<&'a str>,
    pub(crate) findings: &'a Findings,
    /// How many items stand before it.
    pub(crate) ordinal: usize,
    /// A synthetic output of this call was sent.
    pub(crate) closed: bool,
}

impl<'a> Source<'a> {
    /// A stored item; `closed` says that a synthetic output of this call was sent.
    pub(crate) fn stored(envelope: &'a ResponseItemEnvelope, closed: bool) -> Self {
        Self {
            item: envelope.context_item(),
            digest: envelope.digest(),
            tokens: envelope.tokens(),
            origin: envelope.origin(),
            position: Some(envelope.position()),
            turn: envelope.turn(),
            model: envelope.model(),
            findings: &envelope.measured.findings,
            ordinal: envelope.state().items(),
            closed,
        }
    }
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
    let findings: Vec<Findings> = items.iter().map(Findings::of).collect();
    let sources: Vec<Source<'_>> = items
        .iter()
        .zip(&findings)
        .enumerate()
        .map(|(ordinal, (item, findings))| Source {
            item,
            digest: Digest::of(item.item().as_bytes()),
            tokens: Estimate.count(item.item()),
            origin: Origin::of(item),
            position: None,
            turn: None,
            model: None,
            findings,
            ordinal,
            closed: false,
        })
        .collect();
    let states = CallStates::default();
    project(&sources, Target { allowed, model: None }, &Tools { profile, counter: &Estimate, states: &states })
}

/// The normaliser over stored items.
pub(crate) fn project(sources: &[Source<'_>], target: Target<'_>, tools: &Tools<'_>) -> Normalized {
    let pairing = Pairing::of(sources, target, tools.profile);
    let mut writer = Writer::new(tools.profile.allowed(target.allowed), tools);
    writer.items.reserve(sources.len());
    for (index, source) in sources.iter().enumerate() {
        writer.entry(&pairing, index, source, &|index| sources.get(index).cloned());
    }
    let Writer { items, repairs, media, closed, orphans, .. } = writer;
    Normalized { items, repairs, media, closed, orphans, steps: sources.len() + pairing.steps() }
}
