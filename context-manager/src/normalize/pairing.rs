//! Which output belongs to which call.

use std::{
    borrow::Cow,
    collections::{HashMap, HashSet, VecDeque},
};

use context_fragments::{ItemType, WireItem, json::Json};

use super::{Plan, Rule, Source, Target, local::left_out};
use crate::{DuplicateId, EarlyOutput, LateOutput, Mend, MisshapenId, Profile, tokens::is_model_made};

/// Calls and outputs pair by id inside one family.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Family {
    /// Function calls and local shell calls.
    Function,
    /// Custom tool calls.
    Custom,
    /// Tool searches.
    Search,
}

impl Family {
    pub(crate) fn of_call(item_type: ItemType) -> Option<Self> {
        match item_type {
            ItemType::FunctionCall | ItemType::LocalShellCall => Some(Self::Function),
            ItemType::CustomToolCall => Some(Self::Custom),
            ItemType::ToolSearchCall => Some(Self::Search),
            _ => None,
        }
    }

    pub(crate) fn of_output(item_type: ItemType) -> Option<Self> {
        match item_type {
            ItemType::FunctionCallOutput => Some(Self::Function),
            ItemType::CustomToolCallOutput => Some(Self::Custom),
            ItemType::ToolSearchOutput => Some(Self::Search),
            _ => None,
        }
    }
}

/// What becomes of one stored item.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fate {
    /// It is projected where it stands.
    Keep,
    /// It is left out.
    Remove(Rule, &'static str),
    /// It is projected behind the call at this index.
    MovedBehind(usize),
    /// It is projected as a message of its own.
    Late(Rule),
}

impl Fate {
    pub(crate) const FOREIGN: Self = Self::Remove(Rule::ForeignReasoning, "another model made it");
    pub(crate) const LONE: Self = Self::Remove(Rule::LoneReasoning, "what it led to does not follow");
    pub(crate) const UNKNOWN_TYPE: Self = Self::Remove(Rule::UnknownType, "no provider is known to take it");
    pub(crate) const DUPLICATE: Self = Self::Late(Rule::DuplicateOutput);
    pub(crate) const LATE: Self = Self::Late(Rule::LateOutput);
    pub(crate) const ORPHAN: Self = Self::Remove(Rule::OrphanOutput, "no call has this id");

    /// Says that it is left out, and that no item which is still to come changes that.
    pub(crate) const fn is_left_out(self) -> bool {
        matches!(self, Self::Remove(rule, _) if !matches!(rule, Rule::OrphanOutput | Rule::LoneReasoning))
    }
}

/// What is known of one call id of one family while the history is read.
#[derive(Default)]
struct Known {
    calls: usize,
    /// Calls whose synthetic output was sent; an output that comes when all calls are closed is late.
    closed: usize,
    /// An output stands in the projection as the output of this id.
    answered: bool,
    /// Outputs that came before any call, oldest first.
    early: VecDeque<usize>,
    /// Calls without an output, oldest first; where ids are not shared.
    open: VecDeque<usize>,
    /// The provider's output of the first call came before it; where ids are not shared.
    served: bool,
}

/// The fate of every item, found in one pass.
pub(super) struct Pairing {
    fates: Vec<Fate>,
    /// For a call, by index: what stands directly behind it.
    behind: HashMap<usize, Vec<usize>>,
    synthetic: Vec<bool>,
    /// For a call that is renamed, and for its output: the name.
    names: HashMap<usize, String>,
    /// Items whose own id is left out, and why.
    lost_ids: HashMap<usize, Rule>,
    steps: usize,
}

impl Pairing {
    pub(super) fn of(sources: &[Source<'_>], target: Target<'_>, profile: &Profile) -> Self {
        let mut known: HashMap<(Family, Cow<'_, str>), Known> = HashMap::new();
        let mut pairing = Self {
            fates: vec![Fate::Keep; sources.len()],
            behind: HashMap::new(),
            synthetic: vec![false; sources.len()],
            names: HashMap::new(),
            lost_ids: HashMap::new(),
            steps: 0,
        };
        let is_renaming = profile.duplicate_id == DuplicateId::Rename;
        let mut used: HashSet<(Family, String)> = HashSet::new();
        for (index, source) in sources.iter().enumerate() {
            pairing.steps += 1;
            let item = source.item.item();
            if let Some(fate) = left_out(source, target, profile) {
                pairing.fates[index] = fate;
                continue;
            }
            let (call, output) = (Family::of_call(item.item_type()), Family::of_output(item.item_type()));
            match (call.or(output), item.call_id()) {
                (None, _) | (Some(_), None) => {}
                (Some(family), Some(id)) => {
                    if is_renaming && call.is_some() {
                        let n_before = known.get(&(family, id.clone())).map_or(0, |known| known.calls);
                        pairing.name(index, (family, &id), n_before, &mut used);
                    }
                    let known = known.entry((family, id)).or_default();
                    if is_renaming && call.is_some() {
                        pairing.own_call(index, known, source.closed, profile);
                    } else if is_renaming {
                        pairing.own_output(index, known, item, profile);
                    } else if call.is_some() {
                        pairing.call(index, known, source.closed, profile);
                    } else {
                        pairing.output(index, known, item, profile);
                    }
                }
            }
        }
        // An output that came first and found no call is an orphan.
        for &index in known.values().flat_map(|known| &known.early) {
            pairing.steps += 1;
            pairing.fates[index] = Fate::ORPHAN;
        }
        if !is_renaming {
            pairing.find_unanswered(sources, &known, profile);
        }
        pairing.find_lone_reasoning(sources, target, profile);
        pairing.find_lost_ids(sources, target, profile);
        pairing
    }

    /// Where an output answers all calls of its id: finds those of which none was found.
    fn find_unanswered(
        &mut self,
        sources: &[Source<'_>],
        known: &HashMap<(Family, Cow<'_, str>), Known>,
        profile: &Profile,
    ) {
        for (index, source) in sources.iter().enumerate() {
            self.steps += 1;
            let item = source.item.item();
            let Some((family, id)) = Family::of_call(item.item_type()).zip(item.call_id()) else { continue };
            let answered = known.get(&(family, id)).is_some_and(|known| known.answered);
            self.synthetic[index] = !answered || (source.closed && profile.late_output == LateOutput::Append);
        }
    }

    /// Finds the reasoning that is followed by nothing that the model made, from the end on.
    fn find_lone_reasoning(&mut self, sources: &[Source<'_>], target: Target<'_>, profile: &Profile) {
        if profile.lone_reasoning != Mend::Apply {
            return;
        }
        let mut is_followed = false;
        for (index, source) in sources.iter().enumerate().rev() {
            self.steps += 1;
            let item = source.item.item();
            if left_out(source, target, profile).is_some() {
                // What is not there follows nothing.
            } else if item.item_type() != ItemType::Reasoning {
                is_followed = is_model_made(item);
            } else if !is_followed {
                self.fates[index] = Fate::LONE;
            }
        }
    }

    /// Finds the item ids that an earlier item has, and those that name a pair with reasoning that is gone.
    fn find_lost_ids(&mut self, sources: &[Source<'_>], target: Target<'_>, profile: &Profile) {
        let mut seen = HashSet::new();
        let mut is_reasoning_gone = false;
        for (index, source) in sources.iter().enumerate() {
            self.steps += 1;
            let item = source.item.item();
            let is_left_out = left_out(source, target, profile).is_some();
            match (item.item_type() == ItemType::Reasoning, is_left_out) {
                (true, _) => is_reasoning_gone = is_left_out,
                (false, true) => {}
                (false, false) => is_reasoning_gone &= is_model_made(item),
            }
            let Some(id) = item.item_id() else { continue };
            let is_repeated = !seen.insert(id);
            if is_repeated && profile.repeated_item_id == Mend::Apply {
                self.lost_ids.insert(index, Rule::RepeatedItemId);
            } else if is_reasoning_gone && profile.ids_without_reasoning == Mend::Apply {
                self.lost_ids.insert(index, Rule::IdWithoutReasoning);
            }
        }
    }

    pub(super) const fn steps(&self) -> usize {
        self.steps
    }

    /// Gives the call at `index` a name of its own, if an earlier call has its id.
    fn name(
        &mut self,
        index: usize,
        (family, id): (Family, &str),
        n_before: usize,
        used: &mut HashSet<(Family, String)>,
    ) {
        if used.insert((family, id.to_owned())) {
            return;
        }
        let mut number = n_before.max(1);
        let mut name = format!("{id}_dup{number}");
        while !used.insert((family, name.clone())) {
            self.steps += 1;
            number += 1;
            name = format!("{id}_dup{number}");
        }
        self.names.insert(index, name);
    }

    /// A call that shares its output with no other.
    fn own_call(&mut self, index: usize, known: &mut Known, closed: bool, profile: &Profile) {
        known.calls += 1;
        let served = std::mem::take(&mut known.served);
        if closed && profile.late_output == LateOutput::Append {
            known.closed += 1;
            self.synthetic[index] = true;
            // A rewrite took the call of an output that was late; it must not move behind a later call.
            for output in known.early.drain(..) {
                self.steps += 1;
                self.fates[output] = Fate::LATE;
            }
        } else if served {
            // The provider's output stands where it is.
        } else if let Some(output) = known.early.pop_front() {
            self.give_name(output, index);
            if profile.early_output == EarlyOutput::Move || profile.places_outputs() {
                self.fates[output] = Fate::MovedBehind(index);
                self.behind.insert(index, vec![output]);
            }
        } else {
            self.synthetic[index] = true;
            known.open.push_back(index);
        }
    }

    /// An output that answers one call.
    fn own_output(&mut self, index: usize, known: &mut Known, item: &WireItem, profile: &Profile) {
        if let Some(call) = known.open.pop_front() {
            self.synthetic[call] = false;
            self.give_name(index, call);
            if profile.places_outputs() {
                self.fates[index] = Fate::MovedBehind(call);
                self.behind.insert(call, vec![index]);
            }
        } else if is_server_search(item) {
            // The provider ran it; it needs no call of ours, but it answers the first one if that is still to come.
            known.served |= known.calls == 0;
        } else if known.calls == 0 {
            known.early.push_back(index);
        } else if known.closed > 0 {
            self.fates[index] = Fate::LATE;
        } else {
            self.fates[index] = Fate::DUPLICATE;
        }
    }

    fn give_name(&mut self, output: usize, call: usize) {
        if let Some(name) = self.names.get(&call) {
            self.names.insert(output, name.clone());
        }
    }

    fn call(&mut self, index: usize, known: &mut Known, closed: bool, profile: &Profile) {
        known.calls += 1;
        let closed = closed && profile.late_output == LateOutput::Append;
        if closed {
            known.closed += 1;
            // A rewrite took the call of an output that was late; it must not move behind a later call.
            for output in known.early.drain(..) {
                self.steps += 1;
                self.fates[output] = Fate::LATE;
            }
            return;
        }
        if known.early.is_empty() {
            return;
        }
        known.answered = true;
        let early = std::mem::take(&mut known.early);
        if profile.early_output == EarlyOutput::Move {
            self.steps += early.len();
            for &output in &early {
                self.fates[output] = Fate::MovedBehind(index);
            }
            self.behind.insert(index, early.into());
        }
    }

    fn output(&mut self, index: usize, known: &mut Known, item: &WireItem, profile: &Profile) {
        if is_server_search(item) {
            // The provider ran it; it needs no call of ours, but it answers one that is there.
            known.answered = true;
        } else if known.calls == 0 {
            known.early.push_back(index);
        } else if profile.late_output == LateOutput::Append && known.closed == known.calls {
            self.fates[index] = Fate::LATE;
        } else {
            known.answered = true;
        }
    }
}

impl Plan for Pairing {
    fn fate(&self, index: usize) -> Fate {
        self.fates.get(index).copied().unwrap_or(Fate::Keep)
    }

    fn moved_behind(&self, index: usize) -> &[usize] {
        self.behind.get(&index).map_or(&[], Vec::as_slice)
    }

    fn needs_synthetic(&self, index: usize) -> bool {
        self.synthetic.get(index).copied().unwrap_or(false)
    }

    fn name_of(&self, index: usize) -> Option<&str> {
        self.names.get(&index).map(String::as_str)
    }

    fn lost_id(&self, index: usize) -> Option<Rule> {
        self.lost_ids.get(&index).copied()
    }
}

/// What becomes of a call or an output whose call id is absent, null or no string.
pub(crate) fn without_id(item: &WireItem, profile: &Profile) -> Option<Fate> {
    if profile.misshapen_id == MisshapenId::Keep {
        return None;
    }
    let is_absent = item.json().member("call_id").is_none_or(Json::is_null);
    let may_be_absent = matches!(
        item.item_type(),
        ItemType::FunctionCallOutput | ItemType::LocalShellCall | ItemType::ToolSearchCall | ItemType::ToolSearchOutput
    );
    if !is_absent {
        Some(Fate::Remove(Rule::MisshapenCallId, "the call id is no string"))
    } else if !may_be_absent {
        Some(Fate::Remove(Rule::MisshapenCallId, "there is no call id"))
    } else {
        None
    }
}

/// Says that a tool search ran at the provider.
pub(crate) fn is_server_search(item: &WireItem) -> bool {
    item.item_type() == ItemType::ToolSearchOutput
        && item.json().member("execution").is_some_and(|execution| execution.is_text("server"))
}
