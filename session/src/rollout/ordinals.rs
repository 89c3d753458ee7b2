//! Which ordinals have been seen.

use std::collections::BTreeMap;

use super::report::Problem;

/// Where a record stands among the others.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Place {
    /// Behind the one before it, with or without a gap.
    InOrder,
    /// Behind records that were written after it.
    Late,
    /// Its ordinal stood before; the same record was written twice, or two writers wrote without a lock.
    Repeated,
    /// It was edited and its ordinal is not the one that belongs there, so the ordinal proves nothing.
    Unknown,
}

/// The gaps below the highest ordinal so far. Damage is rare, so they are few.
#[derive(Clone, Debug, Default)]
pub(super) struct Ordinals {
    next: u64,
    /// Nothing was seen, and the first one counts as it stands.
    any_first: bool,
    /// First missing ordinal to last missing one.
    gaps: BTreeMap<u64, u64>,
}

impl Ordinals {
    /// Reading starts at the record with this ordinal.
    pub(super) fn from(next: u64) -> Self {
        Self { next, any_first: false, gaps: BTreeMap::new() }
    }

    /// Reading starts at a record whose ordinal is not known.
    pub(super) fn unknown() -> Self {
        Self { any_first: true, ..Self::default() }
    }

    /// One above the highest ordinal so far.
    pub(super) const fn next(&self) -> u64 {
        self.next
    }

    /// Takes the ordinal of an edited record, which counts only if it is the one that belongs there: a digit that was
    /// changed must not make the records behind it look misplaced.
    pub(super) fn see_edited(&mut self, ordinal: u64) -> (Place, Option<Problem>) {
        if ordinal == self.next || self.any_first { self.see(ordinal) } else { (Place::Unknown, None) }
    }

    /// Takes the ordinal of the next record in the file.
    pub(super) fn see(&mut self, ordinal: u64) -> (Place, Option<Problem>) {
        if std::mem::take(&mut self.any_first) {
            self.next = ordinal;
        }
        if ordinal >= self.next {
            let missing = (ordinal > self.next).then(|| {
                let (first, last) = (self.next, ordinal - 1);
                self.gaps.insert(first, last);
                Problem::OrdinalsMissing { first, last }
            });
            self.next = ordinal.saturating_add(1);
            return (Place::InOrder, missing);
        }
        let gap = self.gaps.range(..=ordinal).next_back().map(|(&first, &last)| (first, last));
        match gap {
            Some((first, last)) if ordinal <= last => {
                self.gaps.remove(&first);
                if first < ordinal {
                    self.gaps.insert(first, ordinal - 1);
                }
                if ordinal < last {
                    self.gaps.insert(ordinal + 1, last);
                }
                (Place::Late, Some(Problem::OrdinalOutOfOrder { ordinal }))
            }
            _ => (Place::Repeated, Some(Problem::OrdinalRepeated { ordinal })),
        }
    }
}
