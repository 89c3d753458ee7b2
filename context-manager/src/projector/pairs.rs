//! Which output belongs to which call, kept while a history grows.

use std::collections::{HashMap, HashSet};

use context_fragments::{ItemType, WireItem};

use crate::{
    EarlyOutput, LateOutput, Profile,
    normalize::{Family, Fate, is_server_search, without_id},
};

/// What is known of one call id of one family.
#[derive(Default)]
struct Known {
    calls: usize,
    /// Calls whose synthetic output was sent.
    closed: usize,
    /// An output stands in the projection as the output of this id.
    answered: bool,
    /// Outputs that came before any call.
    early: Vec<usize>,
    /// Calls with a synthetic output that gives way to the real one.
    open: Vec<usize>,
}

/// The fates of the entries so far, by index in the log. Only what is not kept as it stands is held.
#[derive(Default)]
pub(super) struct Pairs {
    known: [HashMap<Box<str>, Known>; 3],
    fates: HashMap<usize, Fate>,
    /// For a call: the outputs that move behind it.
    behind: HashMap<usize, Vec<usize>>,
    synthetic: HashSet<usize>,
    /// The first entry whose fate is another one than it was when it was written.
    changed_from: Option<usize>,
}

/// A mark that the pairs cannot take up in place.
pub(super) struct NeedsRebuild;

impl Pairs {
    /// Takes up the item at `index`, which stands behind all others; `closed` says that its synthetic output was sent.
    pub(super) fn push(&mut self, index: usize, item: &WireItem, closed: bool, profile: &Profile) {
        let (call, output) = (Family::of_call(item.item_type()), Family::of_output(item.item_type()));
        match (call.or(output), item.call_id()) {
            (None, _) if item.item_type() == ItemType::Unknown => self.set(index, Fate::UNKNOWN_TYPE),
            (None, _) => {}
            (Some(_), None) => {
                let fate = without_id(item, profile);
                self.set(index, fate);
            }
            (Some(family), Some(id)) => {
                let mut known = self.known_of(family).get_mut(id.as_ref()).map(std::mem::take).unwrap_or_default();
                if call.is_some() {
                    self.call(index, &mut known, closed, profile);
                } else {
                    self.output(index, &mut known, item, profile);
                }
                match self.known_of(family).get_mut(id.as_ref()) {
                    Some(place) => *place = known,
                    None => drop(self.known_of(family).insert(id.into(), known)),
                }
            }
        }
    }

    /// Takes up that the synthetic output of the call at `index` was sent.
    ///
    /// A call without an output has none behind it, so that no fate changes but those that are still to come. For every
    /// other one the history has to be read again.
    pub(super) fn close(&mut self, index: usize, call: &WireItem) -> Result<(), NeedsRebuild> {
        let Some((family, id)) = Family::of_call(call.item_type()).zip(call.call_id()) else { return Ok(()) };
        let known = self.known_of(family).get_mut(id.as_ref()).ok_or(NeedsRebuild)?;
        let place = known.open.iter().position(|&open| open == index).ok_or(NeedsRebuild)?;
        known.open.remove(place);
        known.closed += 1;
        Ok(())
    }

    /// The first entry that has to be written again, if there is one; asking takes the note away.
    pub(super) fn take_changed_from(&mut self) -> Option<usize> {
        self.changed_from.take()
    }

    pub(super) fn fate(&self, index: usize) -> Fate {
        self.fates.get(&index).copied().unwrap_or(Fate::Keep)
    }

    pub(super) fn moved_behind(&self, index: usize) -> &[usize] {
        self.behind.get(&index).map_or(&[], Vec::as_slice)
    }

    pub(super) fn needs_synthetic(&self, index: usize) -> bool {
        self.synthetic.contains(&index)
    }

    /// Says that what is written for this entry may change when more entries come.
    pub(super) fn is_unsettled(&self, index: usize) -> bool {
        self.synthetic.contains(&index) || self.fate(index) == Fate::ORPHAN
    }

    fn known_of(&mut self, family: Family) -> &mut HashMap<Box<str>, Known> {
        let [functions, customs, searches] = &mut self.known;
        match family {
            Family::Function => functions,
            Family::Custom => customs,
            Family::Search => searches,
        }
    }

    fn set(&mut self, index: usize, fate: Fate) {
        if fate == Fate::Keep {
            self.fates.remove(&index);
        } else {
            self.fates.insert(index, fate);
        }
    }

    /// Gives an entry that was written another fate.
    fn change(&mut self, index: usize, fate: Fate) {
        self.set(index, fate);
        self.note_change(index);
    }

    fn note_change(&mut self, index: usize) {
        self.changed_from = Some(self.changed_from.map_or(index, |first| first.min(index)));
    }

    fn call(&mut self, index: usize, known: &mut Known, closed: bool, profile: &Profile) {
        known.calls += 1;
        if closed && profile.late_output == LateOutput::Append {
            known.closed += 1;
            self.synthetic.insert(index);
            for output in known.early.drain(..) {
                self.change(output, Fate::Late);
            }
            return;
        }
        if !known.early.is_empty() {
            self.answer(known);
            let early = std::mem::take(&mut known.early);
            let is_moved = profile.early_output == EarlyOutput::Move;
            for &output in &early {
                self.change(output, if is_moved { Fate::MovedBehind(index) } else { Fate::Keep });
            }
            if is_moved {
                self.behind.insert(index, early);
            }
        }
        if !known.answered {
            known.open.push(index);
            self.synthetic.insert(index);
        }
    }

    fn output(&mut self, index: usize, known: &mut Known, item: &WireItem, profile: &Profile) {
        if is_server_search(item) {
            self.answer(known);
        } else if known.calls == 0 {
            known.early.push(index);
            self.set(index, Fate::ORPHAN);
        } else if profile.late_output == LateOutput::Append && known.closed == known.calls {
            self.set(index, Fate::Late);
        } else {
            self.answer(known);
        }
    }

    /// The id has an output: the synthetic ones that may give way do.
    fn answer(&mut self, known: &mut Known) {
        known.answered = true;
        for call in known.open.drain(..) {
            self.synthetic.remove(&call);
            self.note_change(call);
        }
    }
}
