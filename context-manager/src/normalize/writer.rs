//! Writing the items of a projection, one stored item after the other.

use std::{borrow::Cow, sync::Arc};

use context_fragments::{ContextItem, WireItem};

use super::{Fate, MediaReport, PromptItem, Provenance, Repair, Rule, Source, media, synthetic};
use crate::{Digest, Modalities, Origin, Position, Profile, TokenCounter, edit, flaw::Mended, surrogates};

/// What was written, and where it goes on.
pub(crate) struct Writer<'c> {
    profile: &'c Profile,
    counter: &'c dyn TokenCounter,
    /// How many items stand before those that are written here.
    first_place: usize,
    link: Digest,
    tokens: u64,
    pub(crate) items: Vec<PromptItem>,
    pub(crate) repairs: Vec<Repair>,
    pub(crate) media: MediaReport,
    pub(crate) closed: Vec<Position>,
    pub(crate) orphans: Vec<Position>,
}

impl<'c> Writer<'c> {
    /// Starts a projection.
    pub(crate) fn new(allowed: Modalities, profile: &'c Profile, counter: &'c dyn TokenCounter) -> Self {
        let media = MediaReport { allowed, present: Modalities::TEXT, removed_images: 0, removed_audio: 0 };
        Self::behind(0, None, media, profile, counter)
    }

    /// Goes on behind `n_before` items of which `last` is the last one.
    pub(crate) fn behind(
        n_before: usize,
        last: Option<&PromptItem>,
        media: MediaReport,
        profile: &'c Profile,
        counter: &'c dyn TokenCounter,
    ) -> Self {
        Self {
            profile,
            counter,
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

    /// Writes what becomes of one stored item, its synthetic output, and the early outputs that move behind it.
    pub(crate) fn source<'s>(
        &mut self,
        source: &Source<'_>,
        name: Option<&str>,
        fate: Fate,
        needs_synthetic: bool,
        behind: impl Iterator<Item = &'s Source<'s>>,
    ) {
        match fate {
            Fate::Keep => self.stored(source, name, None),
            Fate::Remove(rule, why) => self.remove(source, rule, why),
            Fate::MovedBehind(_) => {}
            Fate::Late(rule) => self.late(source, rule),
        }
        if needs_synthetic {
            self.synthetic(source, name);
        }
        for early in behind {
            self.stored(early, name, Some(Rule::EarlyOutput));
        }
    }

    /// Writes a stored item, with its own bytes unless media or surrogates have to go.
    fn stored(&mut self, source: &Source<'_>, name: Option<&str>, moved: Option<Rule>) {
        let mut repairs = Vec::new();
        if let Some(rule) = moved {
            self.repair(source, rule, "the output stood before its call");
            repairs.push(rule);
        }
        let mut item = Cow::Borrowed(source.item);
        if let Some(name) = name {
            self.repair(source, Rule::DuplicateCallId, "an earlier call has this id");
            repairs.push(Rule::DuplicateCallId);
            item = Cow::Owned(renamed(source.item, name));
        }
        let Some(mended) = self.mended(source, item, &mut repairs) else { return };
        let item = self.content_repaired(source, mended, &mut repairs);
        self.push(source, source.origin, item, repairs);
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
        // An output is never left out by a mend.
        let Some(output) = self.mended(source, Cow::Borrowed(source.item), &mut repairs) else { return };
        let message = synthetic::late_message(output.item());
        let item = self.content_repaired(source, Cow::Owned(message), &mut repairs);
        self.push(source, source.origin, item, repairs);
    }

    /// Writes the synthetic output of a call.
    fn synthetic(&mut self, source: &Source<'_>, name: Option<&str>) {
        self.repair(source, Rule::MissingOutput, "the call has no output");
        self.closed.extend(source.position);
        let call = name.map(|name| renamed(source.item, name));
        let Some(output) = synthetic::output_of(call.as_ref().unwrap_or(source.item).item()) else { return };
        let mut repairs = vec![Rule::MissingOutput];
        let item = self.content_repaired(source, Cow::Owned(ContextItem::from(output)), &mut repairs);
        self.push(source, Origin::Repair, item, repairs);
    }

    fn remove(&mut self, source: &Source<'_>, rule: Rule, why: &'static str) {
        self.repair(source, rule, why);
        if rule == Rule::OrphanOutput {
            self.orphans.extend(source.position);
        }
    }

    /// `item` without its flaw, if the profile mends it; none if the item is left out.
    fn mended<'i>(
        &mut self,
        source: &Source<'_>,
        item: Cow<'i, ContextItem>,
        repairs: &mut Vec<Rule>,
    ) -> Option<Cow<'i, ContextItem>> {
        let Some(flaw) = source.flaw.filter(|flaw| flaw.is_mended_by(self.profile)) else { return Some(item) };
        self.repair(source, flaw.rule(), flaw.why());
        repairs.push(flaw.rule());
        match flaw.mend(&item) {
            Mended::Item(item) => Some(Cow::Owned(item)),
            Mended::Gone => None,
        }
    }

    /// `item` without lone surrogates and without media that the model cannot take; none if it is as it is stored.
    fn content_repaired(
        &mut self,
        source: &Source<'_>,
        item: Cow<'_, ContextItem>,
        repairs: &mut Vec<Rule>,
    ) -> Option<ContextItem> {
        let mut item = item;
        if source.lone_surrogates
            && let Ok(wire) = WireItem::parse(surrogates::repaired(item.item().as_str()).as_bytes())
            && &wire != item.item()
        {
            self.repair(source, Rule::LoneSurrogate, "half of a surrogate pair stands alone");
            repairs.push(Rule::LoneSurrogate);
            item = Cow::Owned(ContextItem::new(wire, Arc::from(item.kinds())));
        }
        let media = &mut self.media;
        media.present.images |= item.item().has_images();
        media.present.audio |= item.item().has_audio();
        if let Some(stripped) = media::stripped(&item, media.allowed) {
            media.removed_images += stripped.images;
            media.removed_audio += stripped.audio;
            for rule in stripped.rules() {
                self.repair(source, rule, "the model does not take it");
                repairs.push(rule);
            }
            item = Cow::Owned(stripped.item);
        }
        match item {
            Cow::Borrowed(_) => None,
            Cow::Owned(item) => Some(item),
        }
    }

    fn push(&mut self, source: &Source<'_>, origin: Origin, changed: Option<ContextItem>, repairs: Vec<Rule>) {
        let provenance = Provenance { origin, position: source.position, turn: source.turn.cloned(), repairs };
        let (item, digest, tokens) = match changed {
            None => (source.item.clone(), source.digest, source.tokens),
            Some(item) => {
                let (digest, tokens) = (Digest::of(item.item().as_bytes()), self.counter.count(item.item()));
                (item, digest, tokens)
            }
        };
        self.link = self.link.chained(digest);
        self.tokens = self.tokens.saturating_add(tokens);
        let (link, tokens_to_here) = (self.link, self.tokens);
        self.items.push(PromptItem { item, digest, tokens, provenance, link, tokens_to_here });
    }

    fn repair(&mut self, source: &Source<'_>, rule: Rule, why: &'static str) {
        let place = self.first_place + self.items.len();
        self.repairs.push(Repair::new(rule, source, place, why));
    }
}

/// The call or output with another call id.
fn renamed(item: &ContextItem, name: &str) -> ContextItem {
    match item.item().with_member("call_id", &edit::quoted(name)) {
        Ok(wire) => ContextItem::new(wire, Arc::from(item.kinds())),
        Err(_) => item.clone(),
    }
}
