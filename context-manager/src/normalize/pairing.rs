//! Which output belongs to which call.

use std::{
    borrow::Cow,
    collections::{HashMap, HashSet},
    hash::{Hash, Hasher},
};

use context_fragments::{ItemType, WireItem, json::Json};

use super::{
    Plan, Rule, Source, Sources, Target,
    known::{Ids, Known},
    local::left_out,
};
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

/// What the ways back over a history need of an item, so that it is looked at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Seen {
    /// It is left out, or no item.
    Gone,
    Reasoning,
    /// The model made it, and it is no reasoning.
    OfModel,
    OfOthers,
}

impl Seen {
    fn of(item: &WireItem) -> Self {
        match item.item_type() {
            ItemType::Reasoning => Self::Reasoning,
            _ if is_model_made(item) => Self::OfModel,
            _ => Self::OfOthers,
        }
    }
}

/// The fate of every item, found in one pass.
pub(super) struct Pairing {
    /// Of the items that are not kept as they stand.
    fates: HashMap<usize, Fate>,
    /// For a call, by index: what stands directly behind it.
    behind: HashMap<usize, Vec<usize>>,
    synthetic: Vec<bool>,
    /// The items that are written as they stand, if they get no synthetic output.
    plain: Vec<bool>,
    /// For a call that is renamed, and for its output: the name.
    names: HashMap<usize, String>,
    /// Items whose own id is left out, and why.
    lost_ids: HashMap<usize, Rule>,
    steps: usize,
}

/// How many items are looked at before something is done with them. They lie far apart in memory, and where nothing but
/// looking is done, a processor does not wait for one before it asks for the next.
const LOOKED_AT_ONCE: usize = 32;

/// What is read of an item.
struct Look<'a> {
    index: usize,
    source: Source<'a>,
    is_plain: bool,
    call_id: Option<Cow<'a, str>>,
}

impl<'a> Look<'a> {
    fn at((index, source): (usize, Source<'a>)) -> Self {
        let item = source.item();
        let is_plain = source.findings().are_none() && !item.has_images() && !item.has_audio();
        Self { index, is_plain, call_id: item.call_id(), source }
    }
}

impl Pairing {
    pub(super) fn of<S: Sources + ?Sized>(sources: &S, target: Target<'_>, profile: &Profile) -> Self {
        let mut known = Ids::default();
        let mut pairing = Self {
            fates: HashMap::new(),
            behind: HashMap::new(),
            synthetic: vec![false; sources.len()],
            plain: vec![false; sources.len()],
            names: HashMap::new(),
            lost_ids: HashMap::new(),
            steps: 0,
        };
        let is_renaming = profile.duplicate_id == DuplicateId::Rename;
        let mut given: HashSet<(Family, String)> = HashSet::new();
        let mut item_ids = ItemIds::of_at_most(sources.len(), profile);
        let mut seen = vec![Seen::Gone; sources.len()];
        let (mut each, mut looks) = (sources.each().map(Look::at), Vec::with_capacity(LOOKED_AT_ONCE));
        loop {
            looks.extend(each.by_ref().take(LOOKED_AT_ONCE));
            if looks.is_empty() {
                break;
            }
            for Look { index, source, is_plain, call_id } in looks.drain(..) {
                pairing.steps += 1;
                pairing.plain[index] = is_plain;
                let item = source.item();
                let left_out = left_out(&source, target, profile);
                if let Some(rule) = item_ids.lost(item, left_out.is_some(), profile) {
                    pairing.lost_ids.insert(index, rule);
                    pairing.plain[index] = false;
                }
                if let Some(fate) = left_out {
                    pairing.set(index, fate);
                    continue;
                }
                seen[index] = Seen::of(item);
                let (call, output) = (Family::of_call(item.item_type()), Family::of_output(item.item_type()));
                let Some((family, id)) = call.or(output).zip(call_id) else { continue };
                if is_renaming && call.is_some() {
                    pairing.name(index, (family, &id), &known, &mut given);
                }
                let known = known.of(family, id);
                match (is_renaming, call.is_some()) {
                    (true, true) => pairing.own_call(index, known, source.closed, profile),
                    (true, false) => pairing.own_output(index, known, item, profile),
                    (false, true) => pairing.call(index, known, source.closed, profile),
                    (false, false) => pairing.output(index, known, item, profile),
                }
            }
        }
        // An output that came first and found no call is an orphan.
        for index in known.iter().flat_map(|known| known.early.iter()) {
            pairing.steps += 1;
            pairing.set(index, Fate::ORPHAN);
        }
        if !is_renaming {
            pairing.find_unanswered(sources, &known, profile);
        }
        if profile.lone_reasoning == Mend::Apply {
            pairing.find_lone_reasoning(&seen);
        }
        pairing
    }

    /// Where an output answers all calls of its id: finds those of which none was found.
    fn find_unanswered<S: Sources + ?Sized>(&mut self, sources: &S, known: &Ids<'_>, profile: &Profile) {
        for (index, source) in sources.each() {
            self.steps += 1;
            let item = source.item();
            let Some((family, id)) = Family::of_call(item.item_type()).zip(item.call_id()) else { continue };
            let answered = known.get(family, &id).is_some_and(|known| known.answered);
            self.synthetic[index] = !answered || (source.closed && profile.late_output == LateOutput::Append);
        }
    }

    /// Finds the reasoning that is followed by nothing that the model made, from the end on.
    fn find_lone_reasoning(&mut self, seen: &[Seen]) {
        let mut is_followed = false;
        for (index, seen) in seen.iter().enumerate().rev() {
            self.steps += 1;
            match seen {
                // What is not there follows nothing.
                Seen::Gone => {}
                Seen::OfModel => is_followed = true,
                Seen::OfOthers => is_followed = false,
                Seen::Reasoning if is_followed => {}
                Seen::Reasoning => self.set(index, Fate::LONE),
            }
        }
    }

    fn set(&mut self, index: usize, fate: Fate) {
        self.fates.insert(index, fate);
        self.plain[index] = false;
    }

    /// Says what stands behind a call.
    fn set_behind(&mut self, call: usize, outputs: Vec<usize>) {
        self.behind.insert(call, outputs);
        self.plain[call] = false;
    }

    fn set_name(&mut self, index: usize, name: String) {
        self.names.insert(index, name);
        self.plain[index] = false;
    }

    pub(super) const fn steps(&self) -> usize {
        self.steps
    }

    /// Gives the call at `index` a name of its own, if an earlier call has its id.
    fn name(
        &mut self,
        index: usize,
        (family, id): (Family, &str),
        known: &Ids<'_>,
        given: &mut HashSet<(Family, String)>,
    ) {
        let n_calls = |id: &str| known.get(family, id).map_or(0, |known| known.calls);
        let n_before = n_calls(id);
        if n_before == 0 && (given.is_empty() || !given.contains(&(family, id.to_owned()))) {
            return;
        }
        let mut number = n_before.max(1);
        let mut name = format!("{id}_dup{number}");
        while n_calls(&name) > 0 || !given.insert((family, name.clone())) {
            self.steps += 1;
            number += 1;
            name = format!("{id}_dup{number}");
        }
        self.set_name(index, name);
    }

    /// A call that shares its output with no other.
    fn own_call(&mut self, index: usize, known: &mut Known, closed: bool, profile: &Profile) {
        known.calls += 1;
        let served = std::mem::take(&mut known.served);
        if closed && profile.late_output == LateOutput::Append {
            known.closed += 1;
            self.synthetic[index] = true;
            // A rewrite took the call of an output that was late; it must not move behind a later call.
            for output in std::mem::take(&mut known.early).iter() {
                self.steps += 1;
                self.set(output, Fate::LATE);
            }
        } else if served {
            // The provider's output stands where it is.
        } else if let Some(output) = known.early.pop_front() {
            self.give_name(output, index);
            if profile.early_output == EarlyOutput::Move || profile.places_outputs() {
                self.set(output, Fate::MovedBehind(index));
                self.set_behind(index, vec![output]);
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
                self.set(index, Fate::MovedBehind(call));
                self.set_behind(call, vec![index]);
            }
        } else if is_server_search(item) {
            // The provider ran it; it needs no call of ours, but it answers the first one if that is still to come.
            known.served |= known.calls == 0;
        } else if known.calls == 0 {
            known.early.push_back(index);
        } else if known.closed > 0 {
            self.set(index, Fate::LATE);
        } else {
            self.set(index, Fate::DUPLICATE);
        }
    }

    fn give_name(&mut self, output: usize, call: usize) {
        if let Some(name) = self.names.get(&call) {
            self.set_name(output, name.clone());
        }
    }

    fn call(&mut self, index: usize, known: &mut Known, closed: bool, profile: &Profile) {
        known.calls += 1;
        let closed = closed && profile.late_output == LateOutput::Append;
        if closed {
            known.closed += 1;
            // A rewrite took the call of an output that was late; it must not move behind a later call.
            for output in std::mem::take(&mut known.early).iter() {
                self.steps += 1;
                self.set(output, Fate::LATE);
            }
            return;
        }
        if known.early.is_empty() {
            return;
        }
        known.answered = true;
        let early = std::mem::take(&mut known.early);
        if profile.early_output == EarlyOutput::Move {
            for output in early.iter() {
                self.steps += 1;
                self.set(output, Fate::MovedBehind(index));
            }
            self.set_behind(index, early.iter().collect());
        }
    }

    fn output(&mut self, index: usize, known: &mut Known, item: &WireItem, profile: &Profile) {
        if is_server_search(item) {
            // The provider ran it; it needs no call of ours, but it answers one that is there.
            known.answered = true;
        } else if known.calls == 0 {
            known.early.push_back(index);
        } else if profile.late_output == LateOutput::Append && known.closed == known.calls {
            self.set(index, Fate::LATE);
        } else {
            known.answered = true;
        }
    }
}

/// The ids of the items so far.
struct ItemIds<'a> {
    seen: HashSet<ById<'a>>,
    /// The reasoning before this place was left out.
    is_reasoning_gone: bool,
}

/// An item, compared by its id. A table of ids would be three times as large, and there is one for nearly every item.
struct ById<'a>(&'a WireItem);

impl PartialEq for ById<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.0.item_id() == other.0.item_id()
    }
}

impl Eq for ById<'_> {}

impl Hash for ById<'_> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.item_id().hash(state);
    }
}

impl<'a> ItemIds<'a> {
    /// A table that has room for all of them: to grow, it would have to look at every item again.
    fn of_at_most(n_items: usize, profile: &Profile) -> Self {
        let n_items = if profile.repeated_item_id == Mend::Apply { n_items } else { 0 };
        Self { seen: HashSet::with_capacity(n_items), is_reasoning_gone: false }
    }

    /// Why the id of `item` is left out, if it is: an earlier item has it, or it names a pair with reasoning that is gone.
    fn lost(&mut self, item: &'a WireItem, is_left_out: bool, profile: &Profile) -> Option<Rule> {
        match (item.item_type() == ItemType::Reasoning, is_left_out) {
            (true, _) => self.is_reasoning_gone = is_left_out,
            (false, true) => {}
            (false, false) => self.is_reasoning_gone &= is_model_made(item),
        }
        item.item_id()?;
        if profile.repeated_item_id == Mend::Apply && !self.seen.insert(ById(item)) {
            return Some(Rule::RepeatedItemId);
        }
        (self.is_reasoning_gone && profile.ids_without_reasoning == Mend::Apply).then_some(Rule::IdWithoutReasoning)
    }
}

impl Plan for Pairing {
    fn is_plain(&self, index: usize) -> bool {
        self.plain.get(index).copied().unwrap_or(false) && !self.needs_synthetic(index)
    }

    fn fate(&self, index: usize) -> Fate {
        self.fates.get(&index).copied().unwrap_or(Fate::Keep)
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
