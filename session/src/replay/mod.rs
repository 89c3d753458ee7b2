//! Rebuilding a history from a log, event by event.

mod agent_mail;
mod applied;
mod change;
mod replayed;
mod sent;
mod survey;
mod window;

use std::{borrow::Cow, sync::Arc};

use agents_md::NestedTargets;
use context_fragments::{ContextItem, Kind};
use context_manager::{
    ContextManager, Cursor, Fact, Incoming, Model, Origin, Parts, Position, Profile, Recording, Replacement, Restored,
    Rewrite, SUMMARY_KIND, TurnId,
};
use world_state::{MergePatch, WorldStateSnapshot};

pub use self::{
    applied::Applied,
    survey::{Survey, Survivors},
};
use self::{
    change::{Changes, next_position},
    sent::LastSent,
    survey::looks_like_summary,
    window::LARGEST_NUMBER,
};
pub(crate) use self::{
    replayed::Replayed,
    window::{Window, begin},
};
use crate::{
    Error, OpenCall,
    calls::OpenCalls,
    nested::{self, reached_in, reached_in_details},
    records::answered_by,
    rollout::{
        Checkpoint, LoggedOrigin, Metadata, PartsChange, Place, RawJson, Record, ReplayEvent, Rollback, RolloutItem,
        SentMark, SessionMeta, WorldStateItem,
    },
    tool_fact::{self, ToolFacts},
};

/// Rebuilds a history from the events of a log, one after the other, in one forward pass.
///
/// It takes own logs and Codex rollouts. Between two events everything can be looked at: the history so far, the parts of
/// a prompt, the turn that is live. So a resume drives it to the end, and a tool that explains a log stops at each event.
///
/// An own log is put back as it stands: bytes, positions, kinds, bounds. Items of a foreign log were never bounded, so they
/// are recorded as new ones, each held to its saved limit.
///
/// # Example
/// ```
/// use context_fragments::Limit;
/// use context_manager::{ContextManager, Recording, TruncationPolicy};
/// use session::{Applied, Replay, rollout::Events};
///
/// let log = concat!(
///     r#"{"timestamp":"2026-09-01T08:00:00.000Z","type":"event_msg","payload":{"type":"task_started","turn_id":"t1"}}"#, "\n",
///     r#"{"timestamp":"2026-09-01T08:00:00.000Z","type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"hi"}]}}"#, "\n",
/// );
/// let recording = Recording::new(TruncationPolicy::codex(Limit::Tokens(10_000)));
/// let mut replay = Replay::new(ContextManager::new(), recording);
/// for event in Events::open(std::io::Cursor::new(log))? {
///     match replay.apply(&event?)? {
///         Applied::TurnStarted => assert_eq!(replay.turn().unwrap().as_str(), "t1"),
///         Applied::Item(position) => assert_eq!(position.number(), 0),
///         other => panic!("{other:?}"),
///     }
/// }
/// assert_eq!(replay.manager().history().item_count(), 1);
/// # Ok::<(), session::Error>(())
/// ```
#[derive(Debug)]
pub struct Replay {
    manager: ContextManager,
    recording: Recording,
    header: Option<SessionMeta>,
    parts: Parts,
    turn: Option<LoggedTurn>,
    last_turn_number: u64,
    last_model: Option<Arc<str>>,
    last_sent: Option<LastSent>,
    /// What happened to the history since the prompt that was sent last.
    since_sent: Changes,
    /// What of a foreign log counts, if it was surveyed.
    survivors: Option<Survivors>,
    /// How many events were taken.
    events: usize,
    /// How many compactions there were.
    epoch: u64,
    tells_starts: bool,
    /// A checkpoint was taken.
    has_window: bool,
    /// The folders that tools had reached, as the log says it last.
    nested: Option<NestedTargets>,
    /// The kinds of the last item that has any.
    last_kinds: Arc<[Kind]>,
}

/// A turn that has begun and not ended.
#[derive(Debug)]
struct LoggedTurn {
    id: TurnId,
    has_input: bool,
    open_calls: OpenCalls,
    facts: ToolFacts,
}

impl Replay {
    /// Starts with `manager`, which should be empty, and with how items of a foreign log are recorded.
    #[must_use]
    pub fn new(manager: ContextManager, foreign: Recording) -> Self {
        Self {
            manager,
            recording: foreign,
            header: None,
            parts: Parts::new(Model::new("")),
            turn: None,
            last_turn_number: 0,
            last_model: None,
            last_sent: None,
            since_sent: Changes::default(),
            survivors: None,
            events: 0,
            epoch: 0,
            tells_starts: false,
            has_window: false,
            nested: None,
            last_kinds: Arc::default(),
        }
    }

    /// The same for a foreign log that was [surveyed](Survey): compactions of turns that were taken back later are passed
    /// over, and [`settle`](Self::settle) knows what counts at the end.
    #[must_use]
    pub fn surveyed(manager: ContextManager, foreign: Recording, survivors: Survivors) -> Self {
        Self { survivors: Some(survivors), ..Self::new(manager, foreign) }
    }

    /// Ends the replay of a surveyed log: baseline, settings and model become those that no rollback took away.
    pub fn settle(&mut self) {
        let Some(survivors) = self.survivors.take() else { return };
        let reference = survivors.reference_context_item();
        if self.manager.reference_context_item() != reference {
            self.manager.set_reference_context_item(reference.cloned());
        }
        let baseline = survivors.world_state_baseline();
        if self.manager.world_state_baseline() != baseline {
            self.manager.set_world_state_baseline(baseline.cloned());
        }
        self.last_model = survivors.model().map(Arc::from);
    }

    /// Takes the next event and says what it did.
    ///
    /// # Errors
    /// [`Error::Replay`] for a record that does not fit what stands before it, and for one that this version cannot replay.
    /// The history stands as it stood, and the next event can be taken.
    pub fn apply(&mut self, event: &ReplayEvent) -> Result<Applied, Error> {
        let number = self.events;
        self.events += 1;
        if event.place == Place::Repeated {
            return Ok(Applied::Repeated);
        }
        let Record { item, metadata, blobs, .. } = &event.record;
        if !blobs.is_empty() {
            return Err(Error::replay(event, "its blobs have to be put in first"));
        }
        if metadata.position.is_some_and(|position| position > LARGEST_NUMBER) {
            return Err(Error::replay(event, "its position leaves no room for others"));
        }
        match item {
            RolloutItem::SessionMeta(meta) => self.start(event, meta),
            RolloutItem::TurnStarted(turn) => Ok(self.begin(turn.turn_id.as_deref())),
            RolloutItem::TurnEnded(_) => Ok(self.end(Applied::TurnEnded)),
            RolloutItem::TurnAborted(turn) => {
                if !turn.calls.is_empty() {
                    let calls = turn.calls.clone();
                    self.change(event, move |manager| {
                        tool_fact::tell(manager, &calls);
                        Ok(())
                    })?;
                }
                Ok(self.end(Applied::TurnAborted))
            }
            RolloutItem::Item(item) => {
                let kinds = self.kinds_of(metadata);
                let item = ContextItem::new(item.clone(), kinds);
                self.add(event, item, metadata)
            }
            RolloutItem::WorldState(state) => self.tell(event, state, metadata),
            RolloutItem::TurnContext(context) => {
                if let Some(model) = context.model() {
                    self.last_model = Some(model.as_ref().into());
                }
                let turn = context.turn_id().map(|id| TurnId::new(id.as_ref()));
                self.state(event, Fact::TurnContext(Some(context.clone())), metadata, turn)?;
                Ok(Applied::TurnContext)
            }
            RolloutItem::Parts(change) => self.change_parts(event, change),
            RolloutItem::Sent(mark) => Ok(self.send(event, mark)),
            RolloutItem::Rollback(rollback) => self.roll_back(event, rollback),
            RolloutItem::Checkpoint(checkpoint) if checkpoint.counters.next_position.is_some() => {
                self.rewrite(event, checkpoint)
            }
            RolloutItem::Checkpoint(checkpoint) => {
                let was_taken_back = |left: &Survivors| checkpoint.items.is_some() && !left.replaces(number);
                if self.survivors.as_ref().is_some_and(was_taken_back) {
                    return Ok(Applied::Nothing);
                }
                self.compact(event, checkpoint)
            }
            RolloutItem::Other { type_name, payload, .. } if tool_fact::is_type(type_name) => {
                let (position, fact) = tool_fact::read(type_name, payload).map_err(|why| Error::replay(event, why))?;
                self.tells_starts = true;
                if let Some(turn) = &mut self.turn {
                    turn.facts.note(position, fact);
                }
                Ok(Applied::Nothing)
            }
            RolloutItem::Other { type_name, payload, .. } if type_name == nested::RECORD => {
                let reached = nested::read(payload).map_err(|why| Error::replay(event, why))?;
                self.nested = Some(reached);
                Ok(Applied::Nothing)
            }
            RolloutItem::Other { type_name, payload, .. } if type_name == agent_mail::TYPE => {
                match agent_mail::item_of(payload.json()) {
                    Some(item) => self.add(event, item.into(), metadata),
                    None => Err(Error::replay(event, "its mail has no content")),
                }
            }
            _ => Ok(Applied::Nothing),
        }
    }

    /// The history as it stands after the events so far, with baseline and settings.
    ///
    /// A prompt of it is what would have been sent there; [`parts`](Self::parts) has what goes with it.
    #[must_use]
    pub const fn manager(&self) -> &ContextManager {
        &self.manager
    }

    /// The header; none before it was met.
    #[must_use]
    pub const fn header(&self) -> Option<&SessionMeta> {
        self.header.as_ref()
    }

    /// What a prompt has beside its items there, without the name of the model.
    #[must_use]
    pub const fn parts(&self) -> &Parts {
        &self.parts
    }

    /// The model of the last turn context.
    #[must_use]
    pub fn model(&self) -> Option<&str> {
        self.last_model.as_deref()
    }

    /// The turn that is live.
    #[must_use]
    pub fn turn(&self) -> Option<&TurnId> {
        self.turn.as_ref().map(|turn| &turn.id)
    }

    /// The calls of the live turn that have no output.
    #[must_use]
    pub fn open_calls(&self) -> Vec<OpenCall> {
        self.turn.as_ref().map(|turn| turn.open_calls.to_vec()).unwrap_or_default()
    }

    /// Makes the prompt that was sent last once more and compares it with its mark; nothing to do if none was sent.
    ///
    /// From here on the manager compares prompts with that one.
    ///
    /// # Errors
    /// [`Error::SentMismatch`] if another prompt comes out, [`Error::Replay`] if `profiles` does not have the profile by
    /// which it was made.
    pub fn verify_sent(&mut self, profiles: &[Profile]) -> Result<(), Error> {
        let Some(last) = self.last_sent.take() else { return Ok(()) };
        let mut manager = last.verified(profiles)?;
        self.since_sent.repeat(&mut manager)?;
        self.manager = manager;
        Ok(())
    }

    /// Says that the log is half of a fork: the window with which it begins is not there.
    pub(crate) fn misses_window(&self) -> bool {
        let parent = self.header.as_ref().and_then(|header| header.parent.as_ref());
        parent.is_some_and(|parent| parent.brings_window) && !self.has_window
    }

    fn start(&mut self, event: &ReplayEvent, meta: &SessionMeta) -> Result<Applied, Error> {
        // A foreign log may carry the headers of the sessions that it was forked from.
        if self.header.is_none() {
            self.parts = parts_of_header(meta).map_err(|source| Error::replay(event, source))?;
            self.header = Some(meta.clone());
        }
        Ok(Applied::Start)
    }

    fn begin(&mut self, id: Option<&str>) -> Applied {
        let id = TurnId::new(id.unwrap_or_default());
        let number = id.as_str().strip_prefix("turn-").and_then(|number| number.parse().ok());
        // The next turn has to get a number of its own.
        let number = number.filter(|number| *number < LARGEST_NUMBER);
        self.last_turn_number = self.last_turn_number.max(number.unwrap_or(0));
        self.turn =
            Some(LoggedTurn { id, has_input: false, open_calls: OpenCalls::default(), facts: ToolFacts::default() });
        Applied::TurnStarted
    }

    fn end(&mut self, applied: Applied) -> Applied {
        self.turn = None;
        applied
    }

    /// The kinds of an item. Most have none, and those of the others are mostly those of the item before that has some.
    fn kinds_of(&mut self, metadata: &Metadata) -> Arc<[Kind]> {
        if metadata.kinds.is_empty() {
            return Arc::default();
        }
        if *self.last_kinds != *metadata.kinds {
            self.last_kinds = metadata.kinds.as_slice().into();
        }
        Arc::clone(&self.last_kinds)
    }

    /// The id of a turn. The items of one turn share it: a long log has many.
    fn turn_named(&self, id: &Arc<str>) -> TurnId {
        let live = self.turn.as_ref().map(|turn| &turn.id).filter(|live| live.as_str() == &**id);
        live.cloned().unwrap_or_else(|| TurnId::new(Arc::clone(id)))
    }

    fn add(&mut self, event: &ReplayEvent, item: ContextItem, metadata: &Metadata) -> Result<Applied, Error> {
        let turn = metadata.turn_id.as_ref().map(|id| self.turn_named(id));
        let is_own = metadata.position.is_some();
        let (position, dropped) = if let Some(position) = metadata.position.map(Position::new) {
            let mut restored = Restored::new(item, position);
            restored.turn = turn;
            restored.origin = metadata.origin.as_ref().and_then(origin_of);
            restored.acceptance_order = metadata.acceptance_order;
            restored.model = metadata.model.clone();
            restored.truncation_limit = metadata.truncation_limit;
            restored.moved_from = metadata.moved_from.map(Position::new);
            if self.last_sent.is_none() {
                // Nothing of it has to be done once more.
                self.manager.restore(restored).map_err(|source| Error::replay(event, source))?;
            } else {
                self.change(event, move |manager| manager.restore(restored.clone()))?;
            }
            (Some(position), None)
        } else {
            let mut incoming = Incoming::new(as_summary(item, None));
            incoming.limit_tokens = metadata.truncation_limit.map(context_fragments::Limit::token_budget);
            let turn = turn.or_else(|| self.turn.as_ref().map(|turn| turn.id.clone()));
            let mut recording = self.recording.clone();
            recording.turn = turn;
            let recorded = self.change(event, move |manager| manager.record_items([incoming.clone()], &recording))?;
            (recorded.positions.first().copied(), recorded.dropped.first().map(|dropped| dropped.reason))
        };
        if let (Some(turn), Some(added)) = (&mut self.turn, self.manager.history().items().next_back())
            && position == Some(added.position())
            && (!is_own || added.turn() == Some(&turn.id))
        {
            turn.open_calls.note(added, answered_by(metadata));
            turn.has_input |= added.origin() == Origin::User;
        }
        Ok(match (position, dropped) {
            (Some(position), _) => Applied::Item(position),
            (None, Some(reason)) => Applied::Dropped(reason),
            (None, None) => Applied::Nothing,
        })
    }

    fn tell(&mut self, event: &ReplayEvent, item: &WorldStateItem, metadata: &Metadata) -> Result<Applied, Error> {
        let unreadable = |_| Error::replay(event, "its state is no object of sections, none of them null");
        let text = item.state().as_str();
        let (now, patch) = match item {
            WorldStateItem::Full(_) => (serde_json::from_str::<WorldStateSnapshot>(text).map_err(unreadable)?, None),
            WorldStateItem::Patch(_) => {
                let patch: MergePatch = serde_json::from_str(text).map_err(unreadable)?;
                let Some(mut told) = self.manager.world_state_baseline().cloned() else {
                    return Ok(Applied::PatchIgnored);
                };
                told.apply_merge_patch(&patch);
                (told, Some(patch))
            }
        };
        // A rollback takes back what the model was told, and not that tools were there.
        self.nested = reached_in(Some(&now)).or_else(|| self.nested.take());
        let turn = metadata.turn_id.clone().map(TurnId::new);
        self.state(event, Fact::Baseline(Some(now)), metadata, turn)?;
        Ok(match patch {
            Some(patch) => Applied::Patched(patch),
            None => Applied::Told,
        })
    }

    /// Puts back a fact: at its position, or behind what stands where the log has no positions.
    fn state(
        &mut self,
        event: &ReplayEvent,
        fact: Fact,
        metadata: &Metadata,
        turn: Option<TurnId>,
    ) -> Result<(), Error> {
        let position = metadata.position.map(Position::new);
        self.change(event, move |manager| {
            let position = position.unwrap_or_else(|| next_position(manager));
            manager.restore_fact(fact.clone(), position, turn.clone())
        })
    }

    fn change_parts(&mut self, event: &ReplayEvent, change: &PartsChange) -> Result<Applied, Error> {
        let mut parts = self.parts.clone();
        let failed = |source| Error::replay(event, source);
        if let Some(parameters) = &change.parameters {
            parts = parts.with_parameters(parameters.as_str()).map_err(failed)?;
        }
        if let Some(tools) = &change.tools {
            parts = parts.with_tools(tools.as_str()).map_err(failed)?;
        }
        if let Some(schema) = &change.schema {
            parts = parts.with_schema(schema.as_str()).map_err(failed)?;
        }
        let mut modalities = parts.model().modalities();
        modalities.images = change.images.unwrap_or(modalities.images);
        modalities.audio = change.audio.unwrap_or(modalities.audio);
        let model = parts.model().clone().with_modalities(modalities);
        self.parts = parts.with_model(model);
        Ok(Applied::Parts)
    }

    fn send(&mut self, event: &ReplayEvent, mark: &SentMark) -> Applied {
        self.manager.restore_sent(mark.synthetic_outputs.iter().copied().map(Position::new));
        let model = Model::new(mark.model.as_deref().unwrap_or_default());
        let model = model.with_modalities(self.parts.model().modalities());
        let parts = self.parts.clone().with_model(model);
        self.last_sent = Some(LastSent::new(event, self.manager.clone(), parts, mark.clone()));
        self.since_sent = Changes::default();
        Applied::Sent
    }

    fn roll_back(&mut self, event: &ReplayEvent, rollback: &Rollback) -> Result<Applied, Error> {
        let turns = rollback.n_turns.and_then(|turns| usize::try_from(turns).ok());
        let rolled_back = match (rollback.to_position, turns) {
            (Some(position), _) => {
                let cursor = Cursor::at(Position::new(position));
                self.change(event, move |manager| manager.rollback_to(cursor))?
            }
            (None, Some(turns)) => self.change(event, move |manager| Ok(manager.drop_last_n_user_turns(turns)))?,
            (None, None) => return Err(Error::replay(event, "it does not say which turns go")),
        };
        self.turn = None;
        if let Some(model) = self.manager.reference_context_item().and_then(|context| context.model()) {
            self.last_model = Some(model.as_ref().into());
        }
        Ok(Applied::RolledBack(rolled_back))
    }

    /// Replaces the history by a compaction of a foreign log; baseline and settings are cleared, until the log says them.
    fn compact(&mut self, event: &ReplayEvent, checkpoint: &Checkpoint) -> Result<Applied, Error> {
        let window: Vec<Replacement> = match &checkpoint.items {
            Some(items) => items
                .iter()
                .map(|item| {
                    let kept = ContextItem::new(item.item.clone(), item.metadata.kinds.as_slice());
                    as_summary(kept, checkpoint.summary.as_deref()).into()
                })
                .collect(),
            // The oldest logs hold the summary alone: what the user said survives, and the summary follows.
            None => {
                let said = self.manager.history().items().filter(|item| item.origin() == Origin::User);
                let summary = checkpoint.summary.iter().map(|summary| {
                    ContextItem::new(context_fragments::WireItem::user_text(summary), [SUMMARY_KIND]).into()
                });
                said.map(|item| Replacement::Keep(item.position())).chain(summary).collect()
            }
        };
        let mut recording = self.recording.clone();
        recording.turn = None;
        let recorded = self.change(event, move |manager| {
            let recorded = manager.rewrite(Rewrite::Compaction, window.clone(), &recording)?;
            manager.set_reference_context_item(None);
            Ok(recorded)
        })?;
        Ok(Applied::Compacted { items: recorded.positions.len() })
    }

    /// Puts the window of an own checkpoint in the place of the history.
    fn rewrite(&mut self, event: &ReplayEvent, checkpoint: &Checkpoint) -> Result<Applied, Error> {
        let window = Window::of(checkpoint).map_err(|reason| Error::replay(event, reason))?;
        let items = window.len();
        self.epoch = checkpoint.counters.epoch.unwrap_or(self.epoch);
        self.last_turn_number = self.last_turn_number.max(window.last_turn_number());
        if let Some(turn) = &mut self.turn {
            turn.has_input |= window.has_input_of(&turn.id);
        }
        self.change(event, move |manager| window.install(manager))?;
        self.has_window = true;
        let details = checkpoint.details.as_ref().map(RawJson::json);
        let said = |key: &str| details.and_then(|details| details.member(key));
        self.nested = details.and_then(reached_in_details).or_else(|| reached_in(self.manager.world_state_baseline()));
        if let Some(model) = said("model").and_then(context_fragments::json::Json::to_str) {
            self.last_model = Some(model.as_ref().into());
        }
        self.tells_starts |= said("tells_starts").is_some_and(|said| said.as_raw() == "true");
        if let Some(model) = self.manager.reference_context_item().and_then(|context| context.model()) {
            self.last_model = Some(model.as_ref().into());
        }
        Ok(Applied::Compacted { items })
    }

    /// Changes the history, and remembers how as long as the prompt that was sent last has to be made again.
    fn change<T>(
        &mut self,
        event: &ReplayEvent,
        change: impl Fn(&mut ContextManager) -> Result<T, context_manager::Error> + Send + Sync + 'static,
    ) -> Result<T, Error> {
        let done = change(&mut self.manager).map_err(|source| Error::replay(event, source))?;
        if self.last_sent.is_some() {
            self.since_sent.push(move |manager| change(manager).map(drop));
        }
        Ok(done)
    }
}

/// The kinds of an item; most have none, and all of these share one empty list.
fn kinds_of(metadata: &Metadata) -> Arc<[Kind]> {
    if metadata.kinds.is_empty() { Arc::default() } else { metadata.kinds.as_slice().into() }
}

/// The item as a summary, if it looks like one or is the one that the log has apart.
fn as_summary(item: ContextItem, summary: Option<&str>) -> ContextItem {
    let is_user = item.item().role() == Some(context_fragments::Role::User);
    let first = || item.item().json().member("content")?.elements().next()?.member("text")?.to_str();
    let is_summary = is_user && first().is_some_and(|text| Some(text.as_ref()) == summary || looks_like_summary(&text));
    match is_summary {
        true => ContextItem::new(item.item().clone(), vec![SUMMARY_KIND; item.kinds().len().max(1)]),
        false => item,
    }
}

pub(super) const fn origin_of(logged: &LoggedOrigin) -> Option<Origin> {
    match logged {
        LoggedOrigin::User => Some(Origin::User),
        LoggedOrigin::Model => Some(Origin::Model),
        LoggedOrigin::Tool => Some(Origin::Tool),
        LoggedOrigin::Host => Some(Origin::Host),
        LoggedOrigin::Repair => Some(Origin::Repair),
        LoggedOrigin::Other(_) => None,
    }
}

/// The parts of a prompt as the header of a log has them.
fn parts_of_header(meta: &SessionMeta) -> Result<Parts, context_manager::Error> {
    let mut parts = Parts::new(Model::new(""));
    if let Some(base) = &meta.base_instructions {
        // A foreign log may hold another value than a string; it is kept as the text that it is.
        let text = base.json().to_str().map_or_else(|| base.as_str().to_owned(), Cow::into_owned);
        parts = parts.with_base(text);
    }
    if let Some(parameters) = &meta.parameters {
        parts = parts.with_parameters(parameters.as_str())?;
    }
    if let Some(tools) = &meta.tools {
        parts = parts.with_tools(tools.as_str())?;
    }
    Ok(parts)
}
