//! An item with what is made of it once.

use std::sync::Arc;

use context_fragments::{ContextItem, Limit};

use crate::{
    Digest, Origin, Position, TokenCounter, TurnId,
    findings::{Findings, FoundImage, found_images},
    inline_media::inline_media_bytes,
};

/// An item, and what is made once: its digest, its estimate, and what the host said of it.
#[derive(Clone, Debug)]
pub(crate) struct Measured {
    pub(crate) item: ContextItem,
    pub(crate) digest: Digest,
    pub(crate) tokens: u64,
    pub(crate) turn: Option<TurnId>,
    pub(crate) limit: Option<Limit>,
    /// What few items have.
    rare: Option<Box<Rare>>,
    /// The model that made it, where a model did.
    pub(crate) model: Option<Arc<str>>,
    pub(crate) findings: Findings,
}

/// What few items have: it stands aside, so that it makes the others no larger.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Rare {
    acceptance_order: Option<u64>,
    /// The number that a rewrite which kept the item took away.
    moved_from: Option<Position>,
    /// The bytes of images and audio that stand in the item itself.
    media_bytes: u64,
    /// What the headers of its inline images say; none if they say nothing.
    images: Option<Arc<Vec<FoundImage>>>,
}

impl Measured {
    /// Makes what is made once: digest, estimate, and the checks of the content.
    pub(crate) fn new(item: ContextItem, counter: &dyn TokenCounter) -> Self {
        let (media_bytes, images) = (inline_media_bytes(item.item()), found_images(item.item()));
        let mut measured = Self {
            digest: Digest::of(item.item().as_bytes()),
            tokens: counter.count(item.item()),
            findings: Findings::of(&item),
            model: None,
            turn: None,
            rare: None,
            limit: None,
            item,
        };
        measured.set_rare(Rare { media_bytes, images, ..Rare::default() });
        measured
    }

    /// The order in which the host accepted it.
    pub(crate) fn acceptance_order(&self) -> Option<u64> {
        self.rare.as_ref()?.acceptance_order
    }

    /// The number that a rewrite which kept the item took away.
    pub(crate) fn moved_from(&self) -> Option<Position> {
        self.rare.as_ref()?.moved_from
    }

    pub(crate) fn set_acceptance_order(&mut self, acceptance_order: Option<u64>) {
        if self.acceptance_order() != acceptance_order {
            self.set_rare(Rare { acceptance_order, ..self.rare() });
        }
    }

    pub(crate) fn set_moved_from(&mut self, moved_from: Option<Position>) {
        if self.moved_from() != moved_from {
            self.set_rare(Rare { moved_from, ..self.rare() });
        }
    }

    /// The bytes of images and audio that stand in the item itself.
    pub(crate) fn media_bytes(&self) -> u64 {
        self.rare.as_ref().map_or(0, |rare| rare.media_bytes)
    }

    /// The images of which something is known.
    pub(crate) fn images(&self) -> &[FoundImage] {
        self.rare.as_ref().and_then(|rare| rare.images.as_deref()).map_or(&[], Vec::as_slice)
    }

    fn rare(&self) -> Rare {
        self.rare.as_deref().cloned().unwrap_or_default()
    }

    fn set_rare(&mut self, rare: Rare) {
        self.rare = (rare != Rare::default()).then(|| Box::new(rare));
    }

    /// The same entry with another item in it.
    pub(crate) fn with_item(&self, item: ContextItem, counter: &dyn TokenCounter) -> Self {
        let mut measured =
            Self { turn: self.turn.clone(), limit: self.limit, model: self.model.clone(), ..Self::new(item, counter) };
        measured.findings.origin = self.origin();
        let Rare { media_bytes, images, .. } = measured.rare();
        measured.set_rare(Rare { media_bytes, images, ..self.rare() });
        measured
    }

    /// Who made it.
    pub(crate) const fn origin(&self) -> Origin {
        self.findings.origin
    }
}
