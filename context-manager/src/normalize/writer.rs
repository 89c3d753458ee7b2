//! Writing the items of a projection, one stored item after the other.

use std::{borrow::Cow, collections::BTreeMap, sync::Arc};

use context_fragments::{ContextItem, WireItem};

use super::{
    Fate, MediaReport, PromptItem, Provenance, Repair, Rule, Source,
    item::{Made, Own},
    media, synthetic,
};
use crate::{
    CallState, Digest, Modalities, Origin, OutputPlace, Position, Profile, SyntheticText, TokenCounter, edit,
    flaw::Flaw, surrogates, tokens::is_model_made,
};

/// What becomes of the stored items, by index.
pub(crate) trait Plan {
    fn fate(&self, index: usize) -> Fate;
    /// For a call: the outputs that stand behind it.
    fn moved_behind(&self, index: usize) -> &[usize];
    fn needs_synthetic(&self, index: usize) -> bool;
    /// The name that a call, or an output of it, gets instead of its id.
    fn name_of(&self, index: usize) -> Option<&str>;
    /// Why the id of the item itself is left out.
    fn lost_id(&self, index: usize) -> Option<Rule>;
    /// Says that the item is known to be written as it stands, with nothing behind it. That of nearly every item is told
    /// without a look at it, which is what a projection of a long history costs.
    fn is_plain(&self, index: usize) -> bool;
}

/// What items are written with.
#[derive(Clone, Copy)]
pub(crate) struct Tools<'c> {
    pub(crate) profile: &'c Profile,
    pub(crate) counter: &'c dyn TokenCounter,
    pub(crate) states: &'c BTreeMap<Position, CallState>,
}

/// What was written, and where it goes on.
pub(crate) struct Writer<'c> {
    tools: Tools<'c>,
    /// How many items stand before those that are written here.
    first_place: usize,
    link: Digest,
    tokens: u64,
    /// Outputs that wait for the end of their group of calls, each behind its call.
    group: Vec<(usize, usize)>,
    /// The ordinal of the stored item that was written last.
    group_end: usize,
    pub(crate) items: Vec<PromptItem>,
    pub(crate) repairs: Vec<Repair>,
    pub(crate) media: MediaReport,
    pub(crate) closed: Vec<Position>,
    pub(crate) orphans: Vec<Position>,
}

impl<'c> Writer<'c> {
    /// Starts a projection.
    pub(crate) fn new(allowed: Modalities, tools: &Tools<'c>) -> Self {
        let media = MediaReport { allowed, present: Modalities::TEXT, removed_images: 0, removed_audio: 0 };
        Self::behind(0, None, media, tools)
    }

    /// Goes on behind `n_before` items of which `last` is the last one.
    pub(crate) fn behind(n_before: usize, last: Option<&PromptItem>, media: MediaReport, tools: &Tools<'c>) -> Self {
        Self {
            tools: *tools,
            group: Vec::new(),
            group_end: 0,
            first_place: n_before,
            link: last.map_or(Digest::CHAIN_START, PromptItem::link),
            tokens: last.map_or(0, PromptItem::tokens_to_here),
            items: Vec::new(),
            repairs: Vec::new(),
            media,
            closed: Vec::new(),
            orphans: Vec::new(),
        }
    }

    /// Writes what becomes of the stored item at `index`: the item, its synthetic output, and what moves behind it.
    pub(crate) fn entry<'s>(
        &mut self,
        plan: &impl Plan,
        index: usize,
        source: &Source<'_>,
        at: &dyn Fn(usize) -> Option<Source<'s>>,
    ) {
        if let Some(stored) = source.envelope().filter(|_| self.group.is_empty() && plan.is_plain(index)) {
            return self.push_made(Made::Stored(Arc::clone(stored)));
        }
        self.settle(plan, index, source, at);
        match plan.fate(index) {
            Fate::Keep => self.stored(plan, index, source, None),
            Fate::Remove(rule, why) => self.remove(source, rule, why),
            Fate::MovedBehind(_) => {}
            Fate::Late(rule) => self.late(source, rule),
        }
        self.group_end = source.ordinal();
        let behind = plan.moved_behind(index);
        self.group.extend(behind.iter().map(|&output| (index, output)));
        let needs_synthetic = plan.needs_synthetic(index);
        // An output that came before its call ends the group, as a synthetic one does: what was sent is never parted.
        let is_closed = needs_synthetic || behind.iter().any(|&output| output < index);
        if is_closed || self.tools.profile.output_place != OutputPlace::Grouped {
            self.close_group(plan, at);
        }
        if needs_synthetic {
            self.synthetic(plan, index, source);
        }
    }

    /// Ends the group of calls, if the stored item at `index` is no part of it.
    ///
    /// What is left out whatever stands around it ends nothing: outputs that came to stand in its place would part
    /// reasoning from what it led to.
    pub(crate) fn settle<'s>(
        &mut self,
        plan: &impl Plan,
        index: usize,
        source: &Source<'_>,
        at: &dyn Fn(usize) -> Option<Source<'s>>,
    ) {
        if !plan.fate(index).is_left_out() && !is_model_made(source.item()) {
            self.close_group(plan, at);
        }
    }

    /// Says that no output waits for the end of its group, so that writing may begin again here.
    pub(crate) fn is_between_groups(&self) -> bool {
        self.group.is_empty()
    }

    /// Writes the outputs that were kept back for the end of their group of calls.
    fn close_group<'s>(&mut self, plan: &impl Plan, at: &dyn Fn(usize) -> Option<Source<'s>>) {
        for (call, output) in std::mem::take(&mut self.group) {
            let Some(source) = at(output) else { continue };
            let is_in_place = source.ordinal() == self.group_end + 1;
            let moved = match output < call {
                true => Some((Rule::EarlyOutput, "the output stood before its call")),
                false if is_in_place => None,
                false => Some((Rule::OutputOrder, "the output stood apart from its call")),
            };
            self.group_end = source.ordinal();
            self.stored(plan, output, &source, moved);
        }
    }

    /// Writes a stored item, with its own bytes unless something of it has to go.
    fn stored(&mut self, plan: &impl Plan, index: usize, source: &Source<'_>, moved: Option<(Rule, &'static str)>) {
        let mut repairs = Vec::new();
        if let Some((rule, why)) = moved {
            self.repair(source, rule, why);
            repairs.push(rule);
        }
        let mut item = Cow::Borrowed(source.context_item());
        if let Some(name) = plan.name_of(index) {
            self.repair(source, Rule::DuplicateCallId, "an earlier call has this id");
            repairs.push(Rule::DuplicateCallId);
            item = Cow::Owned(renamed(source.context_item(), name));
        }
        if let Some(rule) = plan.lost_id(index) {
            let is_repeated = rule == Rule::RepeatedItemId;
            self.repair(
                source,
                rule,
                if is_repeated { "an earlier item has this id" } else { "the reasoning before it is left out" },
            );
            repairs.push(rule);
            item = Cow::Owned(without_id(&item));
        }
        let item = self.content_repaired(source, item, &mut repairs);
        let item = self.surrogates_repaired(source, item, &mut repairs);
        self.push(source, source.origin(), item, repairs);
    }

    /// Writes the output of a call that was sent as closed, as a message of its own.
    fn late(&mut self, source: &Source<'_>, rule: Rule) {
        let is_duplicate = rule == Rule::DuplicateOutput;
        self.repair(
            source,
            rule,
            if is_duplicate { "the call has an output" } else { "the call had been closed and sent" },
        );
        let mut repairs = vec![rule];
        let output = self.content_repaired(source, Cow::Borrowed(source.context_item()), &mut repairs);
        let mut message = synthetic::late_message(output.item());
        // What an output may be in this profile, a message may not be.
        if let Some(flaw) = Flaw::of(message.item()).filter(|flaw| flaw.is_mended_by(self.tools.profile)) {
            self.repair(source, flaw.rule(), flaw.why());
            repairs.push(flaw.rule());
            message = flaw.mend(&message);
        }
        let item = self.surrogates_repaired(source, Cow::Owned(message), &mut repairs);
        self.push(source, source.origin(), item, repairs);
    }

    /// Writes the synthetic output of a call.
    fn synthetic(&mut self, plan: &impl Plan, index: usize, source: &Source<'_>) {
        self.repair(source, Rule::MissingOutput, "the call has no output");
        self.closed.extend(source.position());
        let mut call = Cow::Borrowed(source.context_item());
        if let Some(name) = plan.name_of(index) {
            call = Cow::Owned(renamed(&call, name));
        }
        if plan.lost_id(index).is_some() {
            call = Cow::Owned(without_id(&call));
        }
        let state = source.position().and_then(|position| self.tools.states.get(&position));
        let told = state.filter(|_| self.tools.profile.synthetic_text == SyntheticText::Told).map(CallState::text);
        let text = told.as_deref().unwrap_or(synthetic::ABORTED);
        let Some(output) = synthetic::output_of(call.item(), text) else { return };
        let mut repairs = vec![Rule::MissingOutput];
        let item = self.surrogates_repaired(source, Cow::Owned(ContextItem::from(output)), &mut repairs);
        self.push(source, Origin::Repair, item, repairs);
    }

    fn remove(&mut self, source: &Source<'_>, rule: Rule, why: &'static str) {
        self.repair(source, rule, why);
        if rule == Rule::OrphanOutput {
            self.orphans.extend(source.position());
        }
    }

    /// `item` without media that cannot be taken and without its flaw, if the profile mends it.
    fn content_repaired<'i>(
        &mut self,
        source: &Source<'_>,
        item: Cow<'i, ContextItem>,
        repairs: &mut Vec<Rule>,
    ) -> Cow<'i, ContextItem> {
        let mut item = item;
        let media = &mut self.media;
        media.present.images |= item.item().has_images();
        media.present.audio |= item.item().has_audio();
        // Parts are counted as they are stored, so media go before blank parts do.
        if let Some(stripped) = media::stripped(&item, source.measured().images(), media.allowed, self.tools.profile) {
            media.removed_images += stripped.images;
            media.removed_audio += stripped.audio;
            for reason in stripped.reasons {
                let place = self.place();
                let repair = Repair::new(reason.rule, source, place, reason.why).about(reason.part, reason.image);
                self.repairs.push(repair);
                if !repairs.contains(&reason.rule) {
                    repairs.push(reason.rule);
                }
            }
            item = Cow::Owned(stripped.item);
        }
        if let Some(flaw) = source.findings().flaw.filter(|flaw| flaw.is_mended_by(self.tools.profile)) {
            self.repair(source, flaw.rule(), flaw.why());
            repairs.push(flaw.rule());
            item = Cow::Owned(flaw.mend(&item));
        }
        item
    }

    /// `item` without lone surrogates.
    fn surrogates_repaired<'i>(
        &mut self,
        source: &Source<'_>,
        item: Cow<'i, ContextItem>,
        repairs: &mut Vec<Rule>,
    ) -> Cow<'i, ContextItem> {
        if source.findings().lone_surrogates
            && let Ok(wire) = WireItem::parse(surrogates::repaired(item.item().as_str()).as_bytes())
            && &wire != item.item()
        {
            self.repair(source, Rule::LoneSurrogate, "half of a surrogate pair stands alone");
            repairs.push(Rule::LoneSurrogate);
            return Cow::Owned(ContextItem::new(wire, Arc::from(item.kinds())));
        }
        item
    }

    fn push(&mut self, source: &Source<'_>, origin: Origin, item: Cow<'_, ContextItem>, repairs: Vec<Rule>) {
        let made = match (item, source.envelope()) {
            (Cow::Borrowed(_), Some(stored)) if repairs.is_empty() => Made::Stored(Arc::clone(stored)),
            (item, _) => {
                let provenance =
                    Provenance { origin, position: source.position(), turn: source.turn().cloned(), repairs };
                let (digest, tokens) = match &item {
                    Cow::Borrowed(_) => (source.measured().digest, source.measured().tokens),
                    Cow::Owned(item) => (Digest::of(item.item().as_bytes()), self.tools.counter.count(item.item())),
                };
                Made::Own(Box::new(Own { item: item.into_owned(), digest, tokens, provenance }))
            }
        };
        self.push_made(made);
    }

    fn push_made(&mut self, made: Made) {
        let item = PromptItem::behind(self.link, self.tokens, made);
        self.link = item.link();
        self.tokens = item.tokens_to_here();
        self.items.push(item);
    }

    /// Hands on what was written so far.
    pub(crate) fn hand_on(&mut self, items: &mut impl Extend<PromptItem>) {
        self.first_place += self.items.len();
        items.extend(self.items.drain(..));
    }

    fn repair(&mut self, source: &Source<'_>, rule: Rule, why: &'static str) {
        let place = self.place();
        self.repairs.push(Repair::new(rule, source, place, why));
    }

    /// Where the next item comes to stand.
    fn place(&self) -> usize {
        self.first_place + self.items.len()
    }
}

/// The item without an id of its own.
fn without_id(item: &ContextItem) -> ContextItem {
    ContextItem::new(item.item().without_member("id"), Arc::from(item.kinds()))
}

/// The call or output with another call id.
fn renamed(item: &ContextItem, name: &str) -> ContextItem {
    match item.item().with_member("call_id", &edit::quoted(name)) {
        Ok(wire) => ContextItem::new(wire, Arc::from(item.kinds())),
        Err(_) => item.clone(),
    }
}
