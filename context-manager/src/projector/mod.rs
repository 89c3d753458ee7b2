//! The projection of a history that grows, made of what is new.

mod pairs;

use std::{collections::BTreeMap, fmt, sync::Arc};

use context_fragments::ItemType;

use self::pairs::{NeedsRebuild, Pairs};
use crate::{
    ContextManager, Entry, HistorySnapshot, LateOutput, Log, MediaReport, Mend, Modalities, OutputPlace, Parts,
    Position, Profile, Prompt, PromptItem, Repair, TokenCounter,
    call_state::CallStates,
    chunks::Segments,
    normalize::{Family, Source, Sources as _, StoredItems, Target, Tools, Writer},
    prompt::Body,
};

/// Projects one history into prompts, and does only what is new since the prompt before.
///
/// Its prompts are those of [`ContextManager::for_prompt`], item by item, repair by repair and proof by proof. A prompt of
/// it is a view: it shares the items with those before, whatever the length.
///
/// # Cost
/// Nothing new: no allocation. `k` new items: what these items cost. An output that takes the place of a synthetic one, or
/// that stood before its call, costs what stands behind that place; the list of calls with a synthetic output is written
/// anew when it changes. After a rewrite, and for a model that takes other media, all of it is made again. A wrong use
/// costs time and nothing else: any history may follow on any other.
///
/// It holds the prompt that it made last, one entry for each call id, and the items joined into chunks for
/// [`Prompt::body`].
///
/// # Example
/// ```
/// use context_fragments::{ContextItem, Limit};
/// use context_manager::{ContextManager, Model, Parts, Profile, Projector, Proof, Recording, TruncationPolicy};
///
/// let recording = Recording::new(TruncationPolicy::new(Limit::Tokens(10_000)));
/// let parts = Parts::new(Model::new("m1"));
/// let mut manager = ContextManager::new();
/// let mut projector = Projector::new(Profile::responses());
///
/// manager.record_items([ContextItem::user_text("one")], &recording)?;
/// let first = projector.prompt(&manager, &parts);
/// manager.mark_sent(&first)?;
/// manager.record_items([ContextItem::user_text("two")], &recording)?;
/// let second = projector.prompt(&manager, &parts);
/// assert_eq!(second.proof(), &Proof::Extends { shared: 1, new: 1 });
/// # Ok::<(), context_manager::Error>(())
/// ```
pub struct Projector {
    profile: Profile,
    grown: Option<Grown>,
}

impl Projector {
    /// Makes a projector for these rows, which has seen nothing yet.
    #[must_use]
    pub const fn new(profile: Profile) -> Self {
        Self { profile, grown: None }
    }

    /// The rows by which histories are made to fit.
    #[must_use]
    pub const fn profile(&self) -> &Profile {
        &self.profile
    }

    /// Projects the history into a prompt, as [`ContextManager::for_prompt`] does.
    #[must_use]
    pub fn prompt(&mut self, manager: &ContextManager, parts: &Parts) -> Prompt {
        let model = parts.model();
        let target = Target { allowed: self.profile.allowed(model.modalities()), model: Some(model.name()) };
        let is_same = self.grown.as_mut().is_some_and(|grown| grown.follow(manager, target, &self.profile));
        let grown = if is_same {
            self.grown.as_mut()
        } else {
            let mut grown = Grown::new(manager, target);
            grown.take_up(manager, target, &self.profile);
            Some(self.grown.insert(grown))
        };
        match grown {
            Some(grown) => grown.prompt(manager, parts, &self.profile),
            // There is always one; the plain form says the same.
            None => manager.for_prompt(parts, &self.profile),
        }
    }
}

impl fmt::Debug for Projector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let items = self.grown.as_ref().map(|grown| grown.items.len());
        f.debug_struct("Projector").field("profile", &self.profile.name).field("items", &items).finish_non_exhaustive()
    }
}

/// How much was written before an entry.
#[derive(Clone, Copy)]
struct Mark {
    items: usize,
    repairs: usize,
    closed: usize,
    orphans: usize,
    media: MediaReport,
}

/// What has been projected.
struct Grown {
    /// The history up to which everything is taken up.
    seen: HistorySnapshot,
    /// The marks that were taken up.
    was_sent: Arc<[Position]>,
    /// What was known of calls.
    states: CallStates,
    counter: Arc<dyn TokenCounter>,
    /// The model for which it is projected.
    model: Arc<str>,
    /// There is reasoning of which the model is known.
    has_authors: bool,
    pairs: Pairs,
    items: Log<PromptItem>,
    repairs: Log<Repair>,
    closed: Vec<Position>,
    orphans: Vec<Position>,
    media: MediaReport,
    /// Where writing can begin again: before every entry whose fate may still change.
    marks: BTreeMap<usize, Mark>,
    segments: Segments,
    /// The prompt that was made last, and nothing has been taken up since.
    last: Option<Arc<Body>>,
    shared_closed: Arc<[Position]>,
    shared_orphans: Arc<[Position]>,
}

impl Grown {
    fn new(manager: &ContextManager, target: Target<'_>) -> Self {
        Self {
            states: Arc::clone(&manager.call_states),
            model: target.model.unwrap_or_default().into(),
            has_authors: false,
            seen: HistorySnapshot::default(),
            was_sent: Arc::clone(&manager.closed),
            counter: Arc::clone(manager.shared_counter()),
            pairs: Pairs::default(),
            items: Log::new(),
            repairs: Log::new(),
            closed: Vec::new(),
            orphans: Vec::new(),
            media: MediaReport {
                allowed: target.allowed,
                present: Modalities::TEXT,
                removed_images: 0,
                removed_audio: 0,
            },
            marks: BTreeMap::new(),
            segments: Segments::default(),
            last: None,
            shared_closed: Arc::default(),
            shared_orphans: Arc::default(),
        }
    }

    /// Takes up what is new; false if this is another history than the one that was seen.
    fn follow(&mut self, manager: &ContextManager, target: Target<'_>, profile: &Profile) -> bool {
        let is_longer = match self.seen.log.len().checked_sub(1) {
            None => true,
            // An entry is pushed once, behind a prefix that never changes: the same entry has the same prefix.
            Some(last) => {
                self.seen.log.last().zip(manager.history.log.get(last)).is_some_and(|(one, two)| one.ptr_eq(two))
            }
        };
        let is_counted = Arc::ptr_eq(&self.counter, manager.shared_counter());
        if !is_longer || !is_counted || self.media.allowed != target.allowed {
            return false;
        }
        let is_asked = target.model.is_some_and(|name| *name == *self.model);
        if !is_asked && self.has_authors && profile.foreign_reasoning == Mend::Apply {
            return false;
        }
        if !is_asked {
            self.model = target.model.unwrap_or_default().into();
        }
        if !Arc::ptr_eq(&self.was_sent, &manager.closed) {
            if profile.late_output == LateOutput::Append && self.take_marks(&manager.closed).is_err() {
                return false;
            }
            self.was_sent = Arc::clone(&manager.closed);
        }
        let knows_more = !Arc::ptr_eq(&self.states, &manager.call_states);
        if knows_more {
            self.take_states(&manager.call_states);
        }
        if knows_more || self.seen.log.len() != manager.history.log.len() {
            self.take_up(manager, target, profile);
        }
        true
    }

    /// Takes up what is known of calls, `now` instead of what was known.
    fn take_states(&mut self, now: &CallStates) {
        let before = std::mem::replace(&mut self.states, Arc::clone(now));
        for position in before.keys().chain(now.keys()) {
            if before.get(position) != now.get(position)
                && let Some(index) = self.seen.index_of(*position)
            {
                self.pairs.note_state(index);
            }
        }
    }

    /// Takes up the marks of outputs that were sent, `now` instead of those that were known.
    fn take_marks(&mut self, now: &[Position]) -> Result<(), NeedsRebuild> {
        let was_sent = Arc::clone(&self.was_sent);
        let (mut before, mut after) = (was_sent.iter().peekable(), now.iter().peekable());
        loop {
            match (before.peek(), after.peek()) {
                (None, None) => return Ok(()),
                (Some(one), Some(two)) if one == two => {
                    before.next();
                    after.next();
                }
                (Some(one), two) if two.is_none_or(|two| one < two) => {
                    // What is not in the history closes nothing, so its mark is not missed.
                    if self.seen.entry_at(**one).is_some() {
                        return Err(NeedsRebuild);
                    }
                    before.next();
                }
                (_, Some(two)) => {
                    if let Some(index) = self.seen.index_of(**two)
                        && let Some(Entry::Item(call)) = self.seen.log.get(index)
                    {
                        self.pairs.close(index, call.item())?;
                    }
                    after.next();
                }
                (Some(_), None) => return Err(NeedsRebuild),
            }
        }
    }

    /// Takes up the entries behind those that were seen.
    fn take_up(&mut self, manager: &ContextManager, target: Target<'_>, profile: &Profile) {
        let log = &manager.history.log;
        let first_new = self.seen.log.len();
        for (index, entry) in (first_new..).zip(log.iter_from(first_new)) {
            if let Entry::Item(envelope) = entry {
                let closed = is_marked(&manager.closed, envelope.position());
                let source = Source::stored(envelope, closed);
                self.has_authors |= envelope.item().item_type() == ItemType::Reasoning && envelope.model().is_some();
                self.pairs.push(index, &source, target, profile);
            }
        }
        self.seen = manager.history.clone();
        self.last = None;
        let changed = self.pairs.take_changed_from().filter(|changed| *changed < first_new);
        let from = match changed {
            None => first_new,
            Some(changed) => self.go_back(changed),
        };
        self.write_from(from, profile);
    }

    /// Forgets what was written for the entry at `changed` and behind it; gives where writing has to begin again.
    fn go_back(&mut self, changed: usize) -> usize {
        let start = Mark {
            items: 0,
            repairs: 0,
            closed: 0,
            orphans: 0,
            media: MediaReport { present: Modalities::TEXT, removed_images: 0, removed_audio: 0, ..self.media },
        };
        // An entry whose fate changes has a mark; if it had none, an earlier one is as right, only slower.
        let (from, mark) = self.marks.range(..=changed).next_back().map_or((0, start), |(from, mark)| (*from, *mark));
        self.marks.split_off(&from);
        self.items.truncate(mark.items);
        self.repairs.truncate(mark.repairs);
        self.closed.truncate(mark.closed);
        self.orphans.truncate(mark.orphans);
        self.media = mark.media;
        self.segments.truncate(&self.items);
        from
    }

    /// Writes the entries from the one at `from` on.
    fn write_from(&mut self, from: usize, profile: &Profile) {
        let log = &self.seen.log;
        let base = Mark {
            items: self.items.len(),
            repairs: self.repairs.len(),
            closed: self.closed.len(),
            orphans: self.orphans.len(),
            media: self.media,
        };
        let tools = Tools { profile, counter: self.counter.as_ref(), states: &self.states };
        let mut writer = Writer::behind(base.items, self.items.last(), self.media, &tools);
        // Whether a call is closed is told by the pairs, so the writer need not know it.
        let items = StoredItems { log, closed: &[] };
        let source = |index: usize| items.at(index);
        for (index, entry) in (from..).zip(log.iter_from(from)) {
            let Entry::Item(envelope) = entry else { continue };
            let stored = Source::stored(envelope, false);
            writer.settle(&self.pairs, index, &stored, &source);
            let begins_group =
                profile.output_place == OutputPlace::Grouped && Family::of_call(envelope.item().item_type()).is_some();
            if writer.is_between_groups() && (begins_group || self.pairs.is_unsettled(index)) {
                let mark = Mark {
                    items: base.items + writer.items.len(),
                    repairs: base.repairs + writer.repairs.len(),
                    closed: base.closed + writer.closed.len(),
                    orphans: base.orphans + writer.orphans.len(),
                    media: writer.media,
                };
                self.marks.insert(index, mark);
            }
            writer.entry(&self.pairs, index, &stored, &source);
        }
        let Writer { items, repairs, media, closed, orphans, .. } = writer;
        self.items.extend(items);
        self.repairs.extend(repairs);
        self.closed.extend(closed);
        self.orphans.extend(orphans);
        self.media = media;
        self.segments.extend(&self.items);
        share(&self.closed, &mut self.shared_closed);
        share(&self.orphans, &mut self.shared_orphans);
    }

    /// The prompt of what was taken up.
    fn prompt(&mut self, manager: &ContextManager, parts: &Parts, profile: &Profile) -> Prompt {
        let last = self
            .last
            .take()
            .filter(|last| last.parts.is_same_as(parts) && Arc::ptr_eq(&last.rewrites, &manager.rewrites));
        let body = last.unwrap_or_else(|| {
            Arc::new(Body {
                snapshot: manager.snapshot(),
                rewrites: Arc::clone(&manager.rewrites),
                parts: parts.clone(),
                profile: profile.clone(),
                items: self.items.clone(),
                repairs: self.repairs.clone(),
                media: self.media,
                closed: Arc::clone(&self.shared_closed),
                states: Arc::clone(&self.states),
                orphans: Arc::clone(&self.shared_orphans),
                counter: Arc::clone(&self.counter),
                sealed: self.segments.sealed.clone(),
            })
        });
        self.last = Some(Arc::clone(&body));
        Prompt::new(body, manager.guard().last())
    }
}

fn is_marked(positions: &[Position], position: Position) -> bool {
    positions.binary_search(&position).is_ok()
}

/// Keeps `shared` equal to `list`; it is made again only if it differs.
fn share(list: &[Position], shared: &mut Arc<[Position]>) {
    if list != shared.as_ref() {
        *shared = list.into();
    }
}
