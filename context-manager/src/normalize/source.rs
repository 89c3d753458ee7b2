//! The items that a normaliser reads.

use std::sync::Arc;

use context_fragments::{ContextItem, WireItem};

use crate::{Entry, Log, Origin, Position, ResponseItemEnvelope, TurnId, findings::Findings, measured::Measured};

/// One item, as the normaliser reads it: where it stands, so that nothing is read of it that is not asked for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Source<'a> {
    stands: Stands<'a>,
    /// A synthetic output of this call was sent.
    pub(crate) closed: bool,
}

#[derive(Clone, Copy, Debug)]
enum Stands<'a> {
    InHistory(&'a Arc<ResponseItemEnvelope>),
    /// In a list, behind as many others.
    InList(&'a Measured, usize),
}

impl<'a> Source<'a> {
    /// A stored item; `closed` says that a synthetic output of this call was sent.
    pub(crate) const fn stored(envelope: &'a Arc<ResponseItemEnvelope>, closed: bool) -> Self {
        Self { stands: Stands::InHistory(envelope), closed }
    }

    /// An item of a list, in which `n_before` items stand before it.
    pub(crate) const fn listed(item: &'a Measured, n_before: usize) -> Self {
        Self { stands: Stands::InList(item, n_before), closed: false }
    }

    /// The entry that it is, if a history has it.
    pub(crate) const fn envelope(self) -> Option<&'a Arc<ResponseItemEnvelope>> {
        match self.stands {
            Stands::InHistory(envelope) => Some(envelope),
            Stands::InList(..) => None,
        }
    }

    pub(crate) fn measured(self) -> &'a Measured {
        match self.stands {
            Stands::InHistory(envelope) => &envelope.measured,
            Stands::InList(item, _) => item,
        }
    }

    pub(crate) fn context_item(self) -> &'a ContextItem {
        &self.measured().item
    }

    pub(crate) fn item(self) -> &'a WireItem {
        self.context_item().item()
    }

    pub(crate) fn findings(self) -> Findings {
        self.measured().findings
    }

    pub(crate) fn origin(self) -> Origin {
        self.findings().origin
    }

    pub(crate) fn position(self) -> Option<Position> {
        self.envelope().map(|envelope| envelope.position())
    }

    pub(crate) fn turn(self) -> Option<&'a TurnId> {
        self.envelope()?.turn()
    }

    pub(crate) fn model(self) -> Option<&'a str> {
        self.envelope()?.model()
    }

    /// A number that is one more for the item that stands next.
    pub(crate) fn ordinal(self) -> usize {
        match self.stands {
            Stands::InHistory(envelope) => envelope.state().items(),
            Stands::InList(_, n_before) => n_before,
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
        self.get(index).copied()
    }

    fn each(&self) -> impl Iterator<Item = (usize, Source<'_>)> {
        self.iter().copied().enumerate()
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
