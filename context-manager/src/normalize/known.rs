//! What is known of call ids.

use std::{
    borrow::Cow,
    collections::{HashMap, VecDeque},
};

use super::Family;

/// One of something for each family of calls.
#[derive(Debug, Default)]
pub(crate) struct ByFamily<T> {
    functions: T,
    customs: T,
    searches: T,
}

impl<T> ByFamily<T> {
    pub(crate) const fn of(&self, family: Family) -> &T {
        match family {
            Family::Function => &self.functions,
            Family::Custom => &self.customs,
            Family::Search => &self.searches,
        }
    }

    pub(crate) const fn of_mut(&mut self, family: Family) -> &mut T {
        match family {
            Family::Function => &mut self.functions,
            Family::Custom => &mut self.customs,
            Family::Search => &mut self.searches,
        }
    }
}

/// What is known of each call id. The tables hold places in a list, since a table that grows is nearly half empty.
#[derive(Debug, Default)]
pub(super) struct Ids<'a> {
    places: ByFamily<HashMap<Cow<'a, str>, usize>>,
    known: Vec<Known>,
}

impl<'a> Ids<'a> {
    pub(super) fn get(&self, family: Family, id: &str) -> Option<&Known> {
        self.known.get(*self.places.of(family).get(id)?)
    }

    /// What is known of an id; nothing yet, if it is new.
    pub(super) fn of(&mut self, family: Family, id: Cow<'a, str>) -> &mut Known {
        let place = *self.places.of_mut(family).entry(id).or_insert(self.known.len());
        if place == self.known.len() {
            self.known.push(Known::default());
        }
        &mut self.known[place]
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &Known> {
        self.known.iter()
    }
}

/// What is known of one call id of one family while a history is read.
#[derive(Clone, Debug, Default)]
pub(crate) struct Known {
    pub(crate) calls: u32,
    /// Calls whose synthetic output was sent; an output that comes when all calls are closed is late.
    pub(crate) closed: u32,
    /// Outputs that came before any call.
    pub(crate) early: Queue,
    /// Calls without an output, whose synthetic output gives way to the real one.
    pub(crate) open: Queue,
    /// An output stands in the projection as the output of this id.
    pub(crate) answered: bool,
    /// The provider's output of the first call came before it; where ids are not shared.
    pub(crate) served: bool,
}

/// Indexes, oldest first. Nearly every one holds a single index or none, and that one costs no allocation: there are two
/// for each call id.
#[derive(Clone, Debug)]
pub(crate) struct Queue {
    /// [`NONE`](Self::NONE) if there is none.
    first: usize,
    /// What stands behind the first one.
    #[expect(clippy::box_collection, reason = "it is nearly always none, and so a third of the size")]
    more: Option<Box<VecDeque<usize>>>,
}

impl Queue {
    /// No history is as long as that.
    const NONE: usize = usize::MAX;

    pub(crate) const fn is_empty(&self) -> bool {
        self.first == Self::NONE
    }

    pub(crate) fn push_back(&mut self, index: usize) {
        if self.is_empty() {
            self.first = index;
        } else {
            self.more.get_or_insert_default().push_back(index);
        }
    }

    pub(crate) fn pop_front(&mut self) -> Option<usize> {
        let first = self.iter().next()?;
        self.first = self.more.as_deref_mut().and_then(VecDeque::pop_front).unwrap_or(Self::NONE);
        Some(first)
    }

    /// Takes `index` out; false if it is not there.
    pub(crate) fn remove(&mut self, index: usize) -> bool {
        let kept: Vec<usize> = self.iter().filter(|kept| *kept != index).collect();
        let was_there = kept.len() != self.iter().count();
        *self = kept.into_iter().collect();
        was_there
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = usize> {
        let first = (!self.is_empty()).then_some(self.first);
        first.into_iter().chain(self.more.iter().flat_map(|more| more.iter().copied()))
    }
}

impl Default for Queue {
    fn default() -> Self {
        Self { first: Self::NONE, more: None }
    }
}

impl FromIterator<usize> for Queue {
    fn from_iter<I: IntoIterator<Item = usize>>(indexes: I) -> Self {
        let mut queue = Self::default();
        indexes.into_iter().for_each(|index| queue.push_back(index));
        queue
    }
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn a_queue_gives_what_a_list_gives(ops in prop::collection::vec((0_u8..4, 0_usize..6), 0..24)) {
            let (mut queue, mut list) = (Queue::default(), VecDeque::new());
            for (op, index) in ops {
                match op {
                    0 => prop_assert_eq!(queue.pop_front(), list.pop_front()),
                    1 => {
                        let place = list.iter().position(|kept| *kept == index);
                        prop_assert_eq!(queue.remove(index), place.is_some());
                        place.and_then(|place| list.remove(place));
                    }
                    // An index stands in it once.
                    _ if list.contains(&index) => {}
                    _ => {
                        queue.push_back(index);
                        list.push_back(index);
                    }
                }
                prop_assert_eq!(queue.is_empty(), list.is_empty());
                prop_assert!(queue.iter().eq(list.iter().copied()), "{queue:?} {list:?}");
            }
        }
    }
}
