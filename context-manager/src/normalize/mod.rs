//! Making a history acceptable to a provider.
//!
//! The plain form: total, deterministic, idempotent, one pass to pair calls with outputs and one to write. It never
//! touches the store, never fails, and lists every repair.

mod media;
mod pairing;
mod repair;
mod synthetic;

use std::sync::Arc;

use context_fragments::{ContextItem, Kind, WireItem};

use crate::{Digest, Modalities, Origin, Position, Profile, TokenCounter, TurnId, surrogates, tokens::Estimate};

pub(crate) use self::pairing::Family;
use self::pairing::{Fate, Pairing};
pub use self::repair::{Repair, Rule};

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
    pub(crate) lone_surrogates: bool,
    /// A synthetic output of this call was sent.
    pub(crate) closed: bool,
}

/// Makes `items` acceptable to a provider, without a history behind them.
///
/// # Shape
/// Every call has an output of its family directly behind it or later; no output is without a call; no medium is there
/// that the model cannot take; no lone surrogate is there. Everything else is byte for byte what was given.
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
    let sources: Vec<Source<'_>> = items
        .iter()
        .map(|item| Source {
            item,
            digest: Digest::of(item.item().as_bytes()),
            tokens: Estimate.count(item.item()),
            origin: Origin::of(item),
            position: None,
            turn: None,
            lone_surrogates: surrogates::has_lone(item.item().as_str()),
            closed: false,
        })
        .collect();
    project(&sources, allowed, profile, &Estimate)
}

/// The normaliser over stored items.
pub(crate) fn project(
    sources: &[Source<'_>],
    allowed: Modalities,
    profile: &Profile,
    counter: &dyn TokenCounter,
) -> Normalized {
    let pairing = Pairing::of(sources, profile);
    let mut writer = Writer::new(allowed, counter, sources.len());
    for (index, source) in sources.iter().enumerate() {
        match pairing.fate(index) {
            Fate::Keep => writer.stored(source, None),
            Fate::Remove(rule, why) => writer.remove(source, rule, why),
            Fate::MovedBehind(_) => {}
            Fate::Late => writer.late(source),
        }
        if pairing.needs_synthetic(index) {
            writer.synthetic(source);
        }
        for &early in pairing.moved_behind(index) {
            if let Some(source) = sources.get(early) {
                writer.stored(source, Some(Rule::EarlyOutput));
            }
        }
    }
    let mut normalized = writer.normalized;
    normalized.steps += sources.len() + pairing.steps();
    normalized
}

/// Writes the items of a projection, one after the other.
struct Writer<'c> {
    counter: &'c dyn TokenCounter,
    normalized: Normalized,
}

impl<'c> Writer<'c> {
    fn new(allowed: Modalities, counter: &'c dyn TokenCounter, len: usize) -> Self {
        let media = MediaReport { allowed, present: Modalities::TEXT, removed_images: 0, removed_audio: 0 };
        let normalized = Normalized {
            items: Vec::with_capacity(len),
            repairs: Vec::new(),
            media,
            closed: Vec::new(),
            orphans: Vec::new(),
            steps: 0,
        };
        Self { counter, normalized }
    }

    /// Writes a stored item, with its own bytes unless media or surrogates have to go.
    fn stored(&mut self, source: &Source<'_>, moved: Option<Rule>) {
        let mut repairs = Vec::new();
        if let Some(rule) = moved {
            self.repair(source, rule, "the output stood before its call");
            repairs.push(rule);
        }
        let item = self.content_repaired(source, source.item, source.lone_surrogates, &mut repairs);
        self.push(source, source.origin, item, repairs);
    }

    /// Writes the output of a call that was sent as closed, as a message of its own.
    fn late(&mut self, source: &Source<'_>) {
        self.repair(source, Rule::LateOutput, "the call had been closed and sent");
        let message = synthetic::late_message(source.item.item());
        let mut repairs = vec![Rule::LateOutput];
        let item = self.content_repaired(source, &message, source.lone_surrogates, &mut repairs);
        self.push(source, source.origin, Some(item.unwrap_or(message)), repairs);
    }

    /// Writes the synthetic output of a call.
    fn synthetic(&mut self, source: &Source<'_>) {
        self.repair(source, Rule::MissingOutput, "the call has no output");
        self.normalized.closed.extend(source.position);
        let Some(output) = synthetic::output_of(source.item.item()) else { return };
        let mut repairs = vec![Rule::MissingOutput];
        let output = ContextItem::from(output);
        let item = self.content_repaired(source, &output, source.lone_surrogates, &mut repairs);
        self.push(source, Origin::Repair, Some(item.unwrap_or(output)), repairs);
    }

    fn remove(&mut self, source: &Source<'_>, rule: Rule, why: &'static str) {
        self.repair(source, rule, why);
        if rule == Rule::OrphanOutput {
            self.normalized.orphans.extend(source.position);
        }
    }

    /// `item` without lone surrogates and without media that the model cannot take; none if it stays as it is.
    fn content_repaired(
        &mut self,
        source: &Source<'_>,
        item: &ContextItem,
        lone_surrogates: bool,
        repairs: &mut Vec<Rule>,
    ) -> Option<ContextItem> {
        let mut changed = None;
        if lone_surrogates
            && let Ok(wire) = WireItem::parse(surrogates::repaired(item.item().as_str()).as_bytes())
            && &wire != item.item()
        {
            self.repair(source, Rule::LoneSurrogate, "half of a surrogate pair stands alone");
            repairs.push(Rule::LoneSurrogate);
            changed = Some(ContextItem::new(wire, Arc::from(item.kinds())));
        }
        let media = &mut self.normalized.media;
        media.present.images |= item.item().has_images();
        media.present.audio |= item.item().has_audio();
        if let Some(stripped) = media::stripped(changed.as_ref().unwrap_or(item), media.allowed) {
            media.removed_images += stripped.images;
            media.removed_audio += stripped.audio;
            for rule in stripped.rules() {
                self.repair(source, rule, "the model does not take it");
                repairs.push(rule);
            }
            changed = Some(stripped.item);
        }
        changed
    }

    fn push(&mut self, source: &Source<'_>, origin: Origin, changed: Option<ContextItem>, repairs: Vec<Rule>) {
        let provenance = Provenance { origin, position: source.position, turn: source.turn.cloned(), repairs };
        let (item, digest, tokens) = match changed {
            None => (source.item.clone(), source.digest, source.tokens),
            Some(item) => {
                let (digest, tokens) = (Digest::of(item.item().as_bytes()), self.counter.count(item.item()));
                (item, digest, tokens)
            }
        };
        self.normalized.items.push(PromptItem { item, digest, tokens, provenance });
    }

    fn repair(&mut self, source: &Source<'_>, rule: Rule, why: &'static str) {
        let place = self.normalized.items.len();
        self.normalized.repairs.push(Repair::new(rule, source, place, why));
    }
}
