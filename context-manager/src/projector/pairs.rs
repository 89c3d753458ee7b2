//! Which output belongs to which call, kept while a history grows.

use std::collections::{HashMap, HashSet};

use context_fragments::{ItemType, WireItem};

use crate::{
    DuplicateId, EarlyOutput, LateOutput, Mend, Profile,
    normalize::{ByFamily, Family, Fate, Known, Plan, Rule, Source, Target, is_server_search, left_out},
    tokens::is_model_made,
};

/// The fates of the entries so far, by index in the log. Only what is not kept as it stands is held.
#[derive(Default)]
pub(super) struct Pairs {
    known: ByFamily<HashMap<Box<str>, Known>>,
    fates: HashMap<usize, Fate>,
    /// For a call: the outputs that move behind it.
    behind: HashMap<usize, Vec<usize>>,
    synthetic: HashSet<usize>,
    /// For a call that is renamed, and for its output: the name.
    names: HashMap<usize, Box<str>>,
    /// The names that were given.
    given: ByFamily<HashSet<Box<str>>>,
    /// The reasoning at the end: nothing that the model made follows it yet.
    run: Vec<usize>,
    /// The reasoning before the items at the end was left out.
    is_reasoning_gone: bool,
    /// The item ids so far, where it matters that they repeat.
    item_ids: HashSet<Box<str>>,
    /// Items whose own id is left out, and why.
    lost_ids: HashMap<usize, Rule>,
    /// The first entry whose fate is another one than it was when it was written.
    changed_from: Option<usize>,
}

/// A mark that the pairs cannot take up in place.
pub(super) struct NeedsRebuild;

impl Pairs {
    /// Takes up the item at `index`, which stands behind all others.
    pub(super) fn push(&mut self, index: usize, source: &Source<'_>, target: Target<'_>, profile: &Profile) {
        let left_out = left_out(source, target, profile);
        self.follow_reasoning(index, source.item(), left_out.is_some(), profile);
        self.note_id(index, source.item(), profile);
        match left_out {
            Some(fate) => self.set(index, fate),
            None => self.pair(index, source.item(), source.closed, profile),
        }
    }

    /// Keeps the reasoning at the end out until what it led to is there.
    fn follow_reasoning(&mut self, index: usize, item: &WireItem, is_left_out: bool, profile: &Profile) {
        let is_reasoning = item.item_type() == ItemType::Reasoning;
        if is_reasoning {
            self.is_reasoning_gone = is_left_out;
        }
        if is_left_out {
            // What is not there follows nothing.
            return;
        }
        if !is_reasoning {
            self.is_reasoning_gone &= is_model_made(item);
            for lone in std::mem::take(&mut self.run) {
                if is_model_made(item) {
                    self.change(lone, Fate::Keep);
                }
            }
        } else if profile.lone_reasoning == Mend::Apply {
            self.set(index, Fate::LONE);
            self.run.push(index);
        }
    }

    /// Finds out whether the item's own id may stay.
    fn note_id(&mut self, index: usize, item: &WireItem, profile: &Profile) {
        let Some(id) = item.item_id() else { return };
        let is_repeated = profile.repeated_item_id == Mend::Apply && !self.item_ids.insert(id.into());
        if is_repeated {
            self.lost_ids.insert(index, Rule::RepeatedItemId);
        } else if self.is_reasoning_gone && profile.ids_without_reasoning == Mend::Apply {
            self.lost_ids.insert(index, Rule::IdWithoutReasoning);
        }
    }

    /// Finds the other end of a call or an output.
    fn pair(&mut self, index: usize, item: &WireItem, closed: bool, profile: &Profile) {
        let (call, output) = (Family::of_call(item.item_type()), Family::of_output(item.item_type()));
        match (call.or(output), item.call_id()) {
            (None, _) | (Some(_), None) => {}
            (Some(family), Some(id)) => {
                let mut known = self.known.of_mut(family).get_mut(id.as_ref()).map(std::mem::take).unwrap_or_default();
                let is_renaming = profile.duplicate_id == DuplicateId::Rename;
                if is_renaming && call.is_some() {
                    self.name(index, family, &id, known.calls);
                    self.own_call(index, &mut known, closed, profile);
                } else if is_renaming {
                    self.own_output(index, &mut known, item, profile);
                } else if call.is_some() {
                    self.call(index, &mut known, closed, profile);
                } else {
                    self.output(index, &mut known, item, profile);
                }
                match self.known.of_mut(family).get_mut(id.as_ref()) {
                    Some(place) => *place = known,
                    None => drop(self.known.of_mut(family).insert(id.into(), known)),
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
        let known = self.known.of_mut(family).get_mut(id.as_ref()).ok_or(NeedsRebuild)?;
        if !known.open.remove(index) {
            return Err(NeedsRebuild);
        }
        known.closed += 1;
        Ok(())
    }

    /// The first entry that has to be written again, if there is one; asking takes the note away.
    pub(super) fn take_changed_from(&mut self) -> Option<usize> {
        self.changed_from.take()
    }

    /// Takes up that something else is known of the call at `index`.
    pub(super) fn note_state(&mut self, index: usize) {
        if self.synthetic.contains(&index) {
            self.note_change(index);
        }
    }

    /// Says that what is written for this entry may change when more entries come.
    pub(super) fn is_unsettled(&self, index: usize) -> bool {
        self.synthetic.contains(&index) || matches!(self.fate(index), Fate::ORPHAN | Fate::LONE)
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

    /// Gives the call at `index` a name of its own, if an earlier call has its id.
    fn name(&mut self, index: usize, family: Family, id: &str, n_before: u32) {
        if n_before == 0 && !self.given.of(family).contains(id) {
            return;
        }
        let name = (n_before.max(1)..)
            .map(|number| format!("{id}_dup{number}"))
            .find(|name| !self.is_used(family, name))
            .unwrap_or_default();
        self.given.of_mut(family).insert(name.as_str().into());
        self.names.insert(index, name.into());
    }

    /// Says that a call has this id, or was given it.
    fn is_used(&self, family: Family, id: &str) -> bool {
        self.given.of(family).contains(id) || self.known.of(family).get(id).is_some_and(|known| known.calls > 0)
    }

    /// A call that shares its output with no other.
    fn own_call(&mut self, index: usize, known: &mut Known, closed: bool, profile: &Profile) {
        known.calls += 1;
        let served = std::mem::take(&mut known.served);
        if closed && profile.late_output == LateOutput::Append {
            known.closed += 1;
            self.synthetic.insert(index);
            for output in std::mem::take(&mut known.early).iter() {
                self.change(output, Fate::LATE);
            }
        } else if served {
            // The provider's output stands where it is.
        } else if let Some(output) = known.early.pop_front() {
            self.give_name(output, index);
            if profile.early_output == EarlyOutput::Move || profile.places_outputs() {
                self.change(output, Fate::MovedBehind(index));
                self.behind.insert(index, vec![output]);
            } else {
                self.change(output, Fate::Keep);
            }
        } else {
            known.open.push_back(index);
            self.synthetic.insert(index);
        }
    }

    /// An output that answers one call.
    fn own_output(&mut self, index: usize, known: &mut Known, item: &WireItem, profile: &Profile) {
        if let Some(call) = known.open.pop_front() {
            self.synthetic.remove(&call);
            self.note_change(call);
            self.give_name(index, call);
            if profile.places_outputs() {
                self.set(index, Fate::MovedBehind(call));
                self.behind.insert(call, vec![index]);
            }
        } else if is_server_search(item) {
            known.served |= known.calls == 0;
        } else if known.calls == 0 {
            known.early.push_back(index);
            self.set(index, Fate::ORPHAN);
        } else {
            self.set(index, if known.closed > 0 { Fate::LATE } else { Fate::DUPLICATE });
        }
    }

    fn give_name(&mut self, output: usize, call: usize) {
        if let Some(name) = self.names.get(&call).cloned() {
            self.names.insert(output, name);
        }
    }

    fn call(&mut self, index: usize, known: &mut Known, closed: bool, profile: &Profile) {
        known.calls += 1;
        if closed && profile.late_output == LateOutput::Append {
            known.closed += 1;
            self.synthetic.insert(index);
            for output in std::mem::take(&mut known.early).iter() {
                self.change(output, Fate::LATE);
            }
            return;
        }
        if !known.early.is_empty() {
            self.answer(known);
            let early = std::mem::take(&mut known.early);
            let is_moved = profile.early_output == EarlyOutput::Move;
            for output in early.iter() {
                self.change(output, if is_moved { Fate::MovedBehind(index) } else { Fate::Keep });
            }
            if is_moved {
                self.behind.insert(index, early.iter().collect());
            }
        }
        if !known.answered {
            known.open.push_back(index);
            self.synthetic.insert(index);
        }
    }

    fn output(&mut self, index: usize, known: &mut Known, item: &WireItem, profile: &Profile) {
        if is_server_search(item) {
            self.answer(known);
        } else if known.calls == 0 {
            known.early.push_back(index);
            self.set(index, Fate::ORPHAN);
        } else if profile.late_output == LateOutput::Append && known.closed == known.calls {
            self.set(index, Fate::LATE);
        } else {
            self.answer(known);
        }
    }

    /// The id has an output: the synthetic ones that may give way do.
    fn answer(&mut self, known: &mut Known) {
        known.answered = true;
        for call in std::mem::take(&mut known.open).iter() {
            self.synthetic.remove(&call);
            self.note_change(call);
        }
    }
}

impl Plan for Pairs {
    fn is_plain(&self, _: usize) -> bool {
        // What is written here was pushed a moment ago, so a look at it costs little.
        false
    }

    fn fate(&self, index: usize) -> Fate {
        self.fates.get(&index).copied().unwrap_or(Fate::Keep)
    }

    fn moved_behind(&self, index: usize) -> &[usize] {
        self.behind.get(&index).map_or(&[], Vec::as_slice)
    }

    fn needs_synthetic(&self, index: usize) -> bool {
        self.synthetic.contains(&index)
    }

    fn name_of(&self, index: usize) -> Option<&str> {
        self.names.get(&index).map(AsRef::as_ref)
    }

    fn lost_id(&self, index: usize) -> Option<Rule> {
        self.lost_ids.get(&index).copied()
    }
}
