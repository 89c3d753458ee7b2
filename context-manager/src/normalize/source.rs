//! The items that a normaliser reads.

use std::sync::Arc;

use context_fragments::ContextItem;

use crate::{Entry, Log, Origin, Position, ResponseItemEnvelope, TurnId, findings::Findings};

/// One item, as the normaliser reads it.
#[derive(Clone, Debug)]
pub(crate) struct Source<'a> {
    pub(crate) item: &'a ContextItem,
    pub(crate) origin: Origin,
    pub(crate) position: Option<Position>,
    pub(crate) turn: Option<&'a TurnId>,
    pub(crate) model: Option<&'a str>,
    pub(crate) findings: &'a Findings,
    /// How many items stand before it.
    pub(crate) ordinal: usize,
    /// A synthetic output of this call was sent.
    pub(crate) closed: bool,
    /// The entry that it is, if a history has it.
    pub(crate) stored: Option<&'a Arc<ResponseItemEnvelope>>,
}

impl<'a> Source<'a> {
    /// A stored item; `closed` says that a synthetic output of this call was sent.
    pub(crate) fn stored(envelope: &'a Arc<ResponseItemEnvelope>, closed: bool) -> Self {
        Self {
            item: envelope.context_item(),
            origin: envelope.origin(),
            position: Some(envelope.position()),
            turn: envelope.turn(),
            model: envelope.model(),
            findings: &envelope.measured.findings,
            ordinal: envelope.state().items(),
            closed,
            stored: Some(envelope),
        }
    }
}

/// Items by index. In a history facts have an index too, and no item stands there.
pub(crate) trait Sources {
    /// One more than the largest index.
    fn len(&self) -> usize;

    /// The item at this index.
    fn at(&self, index: usize) -> Option<Source<'_>>;

    /// The items with their indexes, in their order.
    fn each(&self) -> impl Iterator<Item = (usize, Source<'_>)>;
}

impl Sources for [Source<'_>] {
    fn len(&self) -> usize {
        self.len()
    }

    fn at(&self, index: usize) -> Option<Source<'_>> {
        self.get(index).cloned()
    }

    fn each(&self) -> impl Iterator<Item = (usize, Source<'_>)> {
        self.iter().cloned().enumerate()
    }
}

/// The items of a history, read where they stand.
#[derive(Clone, Copy, Debug)]
pub(crate) struct StoredItems<'a> {
    pub(crate) log: &'a Log<Entry>,
    /// The calls whose synthetic output was sent, by position, increasing.
    pub(crate) closed: &'a [Position],
}

impl StoredItems<'_> {
    fn source<'s>(&self, entry: &'s Entry) -> Option<Source<'s>> {
        let Entry::Item(envelope) = entry else { return None };
        Some(Source::stored(envelope, self.closed.binary_search(&envelope.position()).is_ok()))
    }
}

impl Sources for StoredItems<'_> {
    fn len(&self) -> usize {
        self.log.len()
    }

    fn at(&self, index: usize) -> Option<Source<'_>> {
        self.source(self.log.get(index)?)
    }

    fn each(&self) -> impl Iterator<Item = (usize, Source<'_>)> {
        self.log.iter().enumerate().filter_map(|(index, entry)| Some((index, self.source(entry)?)))
    }
}
