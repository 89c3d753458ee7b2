//! What a provider counted, and how long that may be believed.

use std::sync::Arc;

use context_fragments::ItemType;

use crate::{Digest, HistorySnapshot, Model, Position, Preset, ResponseItemEnvelope, tokens};

/// What a provider reported as the tokens of a request and its answer, tied to the history and the model it is true of.
///
/// # Example
/// ```
/// use context_fragments::{ContextItem, Limit, WireItem};
/// use context_manager::{ContextManager, Model, Recording, TotalTokens, TruncationPolicy, UsageAnchor};
///
/// let recording = Recording::new(TruncationPolicy::new(Limit::Tokens(10_000)));
/// let (mut manager, model) = (ContextManager::new(), Model::new("m1"));
/// manager.record_items([WireItem::user_text("hi"), WireItem::assistant_text("hello")], &recording)?;
/// let anchor = UsageAnchor::new(manager.history(), &model, 1_200);
///
/// manager.record_items([ContextItem::user_text("12345678")], &recording)?;
/// assert_eq!(anchor.total(manager.history(), &model), TotalTokens::Known(1_202));
/// assert_eq!(anchor.total(manager.history(), &Model::new("m2")), TotalTokens::Unknown);
/// # Ok::<(), context_manager::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UsageAnchor {
    total_tokens: u64,
    version: u64,
    model: Arc<str>,
    /// The last item that was counted; none for an empty history.
    at: Option<Counted>,
}

/// An item, and what stands before it: a fork may have an equal item at the same position behind other ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Counted {
    position: Position,
    digest: Digest,
    items: usize,
    bytes: u64,
    tokens: u64,
}

impl Counted {
    fn of(envelope: &ResponseItemEnvelope) -> Self {
        let state = envelope.state();
        Self {
            position: envelope.position(),
            digest: envelope.digest(),
            items: state.items(),
            bytes: state.bytes(),
            tokens: state.tokens(),
        }
    }
}

/// How many tokens a request has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "a number is known or it is not")]
pub enum TotalTokens {
    /// What the provider counted, and the estimate of what came after.
    Known(u64),
    /// The provider counted another history, or for another model.
    Unknown,
}

impl TotalTokens {
    /// The number, if it is known.
    #[must_use]
    pub const fn known(self) -> Option<u64> {
        match self {
            Self::Known(tokens) => Some(tokens),
            Self::Unknown => None,
        }
    }
}

impl UsageAnchor {
    /// Takes the total that `model` reported for its answer, which `history` ends with.
    ///
    /// It counts up to the last item that the model made, or up to the end if it made none.
    #[must_use]
    pub fn new(history: &HistorySnapshot, model: &Model, total_tokens: u64) -> Self {
        let is_model_made = |envelope: &&ResponseItemEnvelope| tokens::is_model_made(envelope.item());
        let last = history.items().rev().find(is_model_made).or_else(|| history.items().next_back());
        Self { total_tokens, version: history.history_version(), model: model.name().into(), at: last.map(Counted::of) }
    }

    /// What the provider reported.
    #[must_use]
    pub const fn total_tokens(&self) -> u64 {
        self.total_tokens
    }

    /// The tokens of `history` for `model`: what was counted, and the estimate of what came after.
    ///
    /// Unknown after a rewrite, for a history that does not hold what was counted, and for another model. What was counted
    /// is known by its last item and by how many items, bytes and tokens there are up to it.
    #[must_use]
    pub fn total(&self, history: &HistorySnapshot, model: &Model) -> TotalTokens {
        if self.version != history.history_version() || *self.model != *model.name() {
            return TotalTokens::Unknown;
        }
        let before = match self.at {
            None => Some(0),
            Some(counted) => history
                .entry_at(counted.position)
                .and_then(|entry| entry.as_item())
                .filter(|envelope| Counted::of(envelope) == counted)
                .map(|_| counted.tokens),
        };
        match before {
            Some(before) => {
                TotalTokens::Known(self.total_tokens.saturating_add(history.tokens().saturating_sub(before)))
            }
            None => TotalTokens::Unknown,
        }
    }
}

impl HistorySnapshot {
    /// The estimate of the reasoning before the last user turn, in tokens; 0 if there is no user turn.
    ///
    /// Some providers leave it out of what they report, although it is sent.
    #[must_use]
    pub fn reasoning_tokens_before_last_turn(&self, preset: Preset) -> u64 {
        let begins = |envelope: &ResponseItemEnvelope| envelope.measured.findings.marks.begins_turn(preset);
        let mut items = self.items().rev();
        if !items.by_ref().any(begins) {
            return 0;
        }
        let reasoning = items.filter(|envelope| envelope.item().item_type() == ItemType::Reasoning);
        reasoning.map(ResponseItemEnvelope::tokens).fold(0, u64::saturating_add)
    }
}
