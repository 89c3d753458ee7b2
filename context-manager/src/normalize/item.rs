//! One item of a prompt.

use std::sync::Arc;

use context_fragments::{ContextItem, Kind, WireItem};

use super::Rule;
use crate::{Digest, Origin, Position, ResponseItemEnvelope, TurnId};

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
///
/// An item that is sent as it is stored is shared with the history, so a prompt keeps what it shows alive, and the state
/// that was true there, also behind a rewrite that took it away.
#[derive(Clone, Debug)]
pub struct PromptItem {
    made: Made,
    /// The chain up to and with this item.
    link: Digest,
    /// The estimate of all items up to and with this one; saturating.
    tokens_to_here: u64,
}

/// Of what a prompt item is made.
#[derive(Clone, Debug)]
pub(super) enum Made {
    /// An entry as it stands: nearly every item is one, so it is shared and not copied.
    Stored(Arc<ResponseItemEnvelope>),
    /// Anything else.
    Own(Box<Own>),
}

/// An item that no history has in this form or at this place.
#[derive(Clone, Debug)]
pub(super) struct Own {
    pub(super) item: ContextItem,
    pub(super) digest: Digest,
    pub(super) tokens: u64,
    pub(super) provenance: Provenance,
}

impl PromptItem {
    /// Takes an item that stands behind the one with `link` and `tokens` up to there.
    pub(super) fn behind(link: Digest, tokens: u64, made: Made) -> Self {
        let mut item = Self { made, link, tokens_to_here: tokens };
        item.link = link.chained(item.digest());
        item.tokens_to_here = tokens.saturating_add(item.tokens());
        item
    }

    /// The bytes on the wire.
    #[must_use]
    pub fn item(&self) -> &WireItem {
        self.context_item().item()
    }

    /// The item and the kinds of its parts.
    #[must_use]
    pub fn context_item(&self) -> &ContextItem {
        match &self.made {
            Made::Stored(envelope) => envelope.context_item(),
            Made::Own(own) => &own.item,
        }
    }

    /// The kinds of the content parts.
    #[must_use]
    pub fn kinds(&self) -> &[Kind] {
        self.context_item().kinds()
    }

    /// The SHA-256 of the bytes.
    #[must_use]
    pub fn digest(&self) -> Digest {
        match &self.made {
            Made::Stored(envelope) => envelope.digest(),
            Made::Own(own) => own.digest,
        }
    }

    /// The estimate, in tokens.
    #[must_use]
    pub fn tokens(&self) -> u64 {
        match &self.made {
            Made::Stored(envelope) => envelope.tokens(),
            Made::Own(own) => own.tokens,
        }
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
    pub fn provenance(&self) -> Provenance {
        match &self.made {
            Made::Stored(envelope) => Provenance {
                origin: envelope.origin(),
                position: Some(envelope.position()),
                turn: envelope.turn().cloned(),
                repairs: Vec::new(),
            },
            Made::Own(own) => own.provenance.clone(),
        }
    }
}
