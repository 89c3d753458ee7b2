//! The owner of a history.

use std::{collections::BTreeMap, fmt, sync::Arc};

use context_fragments::{RetainedKinds, TurnContextItem};
use world_state::WorldStateSnapshot;

use crate::{
    Admitted, Entry, Error, Estimate, Fact, FactEntry, HistorySnapshot, Incoming, Log, Modalities, Normalized, Parts,
    Position, PrefixGuard, Preset, Profile, Prompt, Recorded, Recording, Rewrite, Sent, State, TokenCounter, TurnId,
    call_state::CallStates,
    normalize::{StoredItems, Target, Tools, project, project_into},
    prompt::Body,
    record::{ReadyItem, admit},
};

/// Owns one history: records, projects, proves, rolls back.
///
/// A clone is a fork of all that stands, in O(1): both sides share it and go on alone; [`fork`](Self::fork) takes turns
/// back and sees to open calls. A [`snapshot`](Self::snapshot) is the immutable view.
///
/// # Example
/// ```
/// use context_fragments::{ContextItem, Limit, WireItem};
/// use context_manager::{ContextManager, Model, Parts, Profile, Proof, Recording, TruncationPolicy};
///
/// let recording = Recording::new(TruncationPolicy::new(Limit::Tokens(10_000)));
/// let parts = Parts::new(Model::new("m1")).with_base("You are careful.");
/// let mut manager = ContextManager::new();
///
/// manager.record_items([ContextItem::user_text("list the files")], &recording)?;
/// let first = manager.for_prompt(&parts, &Profile::responses());
/// manager.mark_sent(&first)?;
///
/// manager.record_items([WireItem::function_call("shell", "{}", "c1")], &recording)?;
/// manager.record_items([WireItem::function_call_output("c1", "a.rs")], &recording)?;
/// let second = manager.for_prompt(&parts, &Profile::responses());
/// assert_eq!(second.proof(), &Proof::Extends { shared: 1, new: 2 });
/// # Ok::<(), context_manager::Error>(())
/// ```
#[derive(Clone)]
pub struct ContextManager {
    pub(crate) preset: Preset,
    pub(crate) history: HistorySnapshot,
    pub(crate) next_position: u64,
    pub(crate) rewrites: Arc<Vec<(u64, Rewrite)>>,
    /// Calls whose synthetic output was sent, by position. It stands beside the log, so that no rollback forgets it.
    pub(crate) closed: Arc<[Position]>,
    /// What the host knows of calls without an output, by position.
    pub(crate) call_states: CallStates,
    /// Where rewrites that keep an epoch moved the inputs that begin turns.
    pub(crate) moves: Arc<BTreeMap<Position, Position>>,
    pub(crate) guard: PrefixGuard,
    counter: Arc<dyn TokenCounter>,
}

impl ContextManager {
    /// Makes an empty history.
    #[must_use]
    pub fn new() -> Self {
        Self::with_preset(Preset::Default)
    }

    /// Makes an empty history that behaves as `preset` says.
    #[must_use]
    pub fn with_preset(preset: Preset) -> Self {
        Self {
            preset,
            history: HistorySnapshot::default(),
            next_position: 0,
            rewrites: Arc::default(),
            closed: Arc::default(),
            call_states: Arc::default(),
            moves: Arc::default(),
            guard: PrefixGuard::new(),
            counter: Arc::new(Estimate),
        }
    }

    /// The same with another way to count tokens, for what is recorded from here on.
    #[must_use]
    pub fn with_counter(mut self, counter: Arc<dyn TokenCounter>) -> Self {
        self.counter = counter;
        self
    }

    /// Records `items` in their order: filters them, holds tool outputs to the bound, appends.
    ///
    /// # Shape
    /// The result has the position of every recorded item, what the filter kept out, and the whole of every output that
    /// was cut.
    /// # Errors
    /// [`Error::ItemTooLarge`]: nothing was recorded.
    pub fn record_items<I>(&mut self, items: I, recording: &Recording) -> Result<Recorded, Error>
    where
        I: IntoIterator<Item: Into<Incoming>>,
    {
        let admitted = self.admit(items, recording)?;
        Ok(self.append_all(admitted))
    }

    /// Records what a world state had to say, and then moves the baseline to it.
    ///
    /// # Errors
    /// [`Error::ItemTooLarge`]: nothing was recorded and the baseline stands where it stood.
    pub fn record_update<I>(
        &mut self,
        items: I,
        baseline: WorldStateSnapshot,
        recording: &Recording,
    ) -> Result<Recorded, Error>
    where
        I: IntoIterator<Item: Into<Incoming>>,
    {
        let recorded = self.record_items(items, recording)?;
        if self.world_state_baseline() != Some(&baseline) {
            self.record_fact(Fact::Baseline(Some(baseline)), recording.turn.clone());
        }
        Ok(recorded)
    }

    /// Filters, bounds and measures `items` without recording them.
    ///
    /// For a host that writes its log before it installs: [`append_all`](Self::append_all) cannot fail.
    ///
    /// # Errors
    /// [`Error::ItemTooLarge`] for the first item above the cap.
    pub fn admit<I>(&self, items: I, recording: &Recording) -> Result<Admitted, Error>
    where
        I: IntoIterator<Item: Into<Incoming>>,
    {
        admit(items.into_iter().map(Into::into), recording, self.counter.as_ref())
    }

    /// Appends what was admitted.
    pub fn append_all(&mut self, admitted: Admitted) -> Recorded {
        let Admitted { ready, dropped, mut originals } = admitted;
        let mut positions = Vec::with_capacity(ready.len());
        let mut uncut = originals.iter_mut().peekable();
        for (index, item) in ready {
            let position = self.append(item);
            if let Some(original) = uncut.next_if(|original| original.index == index) {
                original.position = Some(position);
            }
            positions.push(position);
        }
        Recorded { positions, dropped, originals }
    }

    /// Appends one item that was admitted; O(1), however many snapshots live.
    pub fn append(&mut self, item: ReadyItem) -> Position {
        self.push_item(item, None)
    }

    /// The immutable view of the history as it stands; O(1), no allocation.
    #[must_use]
    #[inline]
    pub fn snapshot(&self) -> HistorySnapshot {
        self.history.clone()
    }

    /// The history as it stands, borrowed.
    #[must_use]
    pub const fn history(&self) -> &HistorySnapshot {
        &self.history
    }

    /// How many rewrites there were; appending is none.
    #[must_use]
    pub fn history_version(&self) -> u64 {
        self.history.history_version()
    }

    /// The kinds that stand in the history.
    #[must_use]
    pub fn retained_kinds(&self) -> RetainedKinds {
        self.history.retained_kinds()
    }

    /// The world state that the model was told.
    #[must_use]
    pub fn world_state_baseline(&self) -> Option<&WorldStateSnapshot> {
        self.history.world_state_baseline()
    }

    /// The settings that were last made visible; none means that the next turn says everything.
    #[must_use]
    pub fn reference_context_item(&self) -> Option<&TurnContextItem> {
        self.history.reference_context_item()
    }

    /// Says what the model has been told; call it only once the items that tell it are recorded.
    ///
    /// An equal baseline adds nothing.
    pub fn set_world_state_baseline(&mut self, baseline: Option<WorldStateSnapshot>) {
        if self.world_state_baseline() == baseline.as_ref() {
            return;
        }
        self.record_fact(Fact::Baseline(baseline), None);
    }

    /// Says which settings were made visible; none makes the next turn say everything.
    ///
    /// An equal item adds nothing.
    pub fn set_reference_context_item(&mut self, item: Option<TurnContextItem>) {
        if self.reference_context_item() == item.as_ref() {
            return;
        }
        let turn = item.as_ref().and_then(TurnContextItem::turn_id).map(|id| TurnId::new(id.as_ref()));
        self.record_fact(Fact::TurnContext(item), turn);
    }

    /// Projects the history into a prompt: pure, O(n), the store is not touched. A [`Projector`](crate::Projector) gives
    /// the same prompts for what is new.
    ///
    /// The prompt says its repairs, the provenance of every item, and how it relates to the prompt that was sent last.
    #[must_use]
    pub fn for_prompt(&self, parts: &Parts, profile: &Profile) -> Prompt {
        let model = parts.model();
        let target = Target { allowed: model.modalities(), model: Some(model.name()) };
        let mut items = Log::new();
        let normalized = project_into(&mut items, &self.stored_items(), target, &self.tools(profile));
        let body = Body {
            snapshot: self.snapshot(),
            rewrites: Arc::clone(&self.rewrites),
            parts: parts.clone(),
            profile: profile.clone(),
            items,
            repairs: normalized.repairs.into_iter().collect(),
            media: normalized.media,
            closed: normalized.closed.into(),
            states: Arc::clone(&self.call_states),
            orphans: normalized.orphans.into(),
            counter: Arc::clone(&self.counter),
            sealed: Log::new(),
        };
        Prompt::new(Arc::new(body), self.guard.last())
    }

    /// The history as a model with these modalities takes it, with kinds and origins, without a prompt around it.
    ///
    /// No model is named, so reasoning of every model stays.
    #[must_use]
    pub fn for_prompt_annotated(&self, allowed: Modalities, profile: &Profile) -> Normalized {
        project(&self.stored_items(), Target { allowed, model: None }, &self.tools(profile))
    }

    fn stored_items(&self) -> StoredItems<'_> {
        StoredItems { log: &self.history.log, closed: &self.closed }
    }

    fn tools<'a>(&'a self, profile: &'a Profile) -> Tools<'a> {
        Tools { profile, counter: self.counter.as_ref(), states: &self.call_states }
    }

    /// Takes `prompt` as sent: later prompts are compared with it, and its synthetic outputs never flip.
    ///
    /// # Errors
    /// [`Error::Stale`] if items were added or rewritten since the prompt was made. Nothing was marked.
    pub fn mark_sent(&mut self, prompt: &Prompt) -> Result<Sent, Error> {
        if !prompt.history().same_items(&self.history) {
            return Err(Error::Stale {
                prompt_items: prompt.history().item_count(),
                prompt_version: prompt.history().history_version(),
                items: self.history.item_count(),
                version: self.history.history_version(),
            });
        }
        self.closed = Arc::clone(&prompt.projected().closed);
        self.keep_sent_states(prompt);
        Ok(Sent {
            proof: self.guard.mark_sent(prompt),
            parts: prompt.parts().digests(),
            model: prompt.parts().model().name().to_owned(),
            chain: prompt.chain(),
            items: prompt.items().len(),
            synthetic_outputs: prompt.synthetic_outputs().to_vec(),
            call_states: self.call_states_of(prompt.synthetic_outputs()),
        })
    }

    /// The guard that holds the prompt that was sent last.
    #[must_use]
    pub const fn guard(&self) -> &PrefixGuard {
        &self.guard
    }

    /// Takes over what an earlier run had sent: the calls whose synthetic output must not flip.
    pub fn restore_sent(&mut self, synthetic_outputs: impl IntoIterator<Item = Position>) {
        let mut closed: Vec<Position> = synthetic_outputs.into_iter().collect();
        closed.sort_unstable();
        closed.dedup();
        self.closed = closed.into();
    }

    pub(crate) const fn shared_counter(&self) -> &Arc<dyn TokenCounter> {
        &self.counter
    }

    pub(crate) fn counter(&self) -> &dyn TokenCounter {
        self.counter.as_ref()
    }

    /// `change` of the state at the end, or of the empty one.
    pub(crate) fn state_or_default(&self, change: impl FnOnce(&State) -> State) -> State {
        match self.history.log.last() {
            Some(entry) => change(entry.state()),
            None => change(&State::default()),
        }
    }

    /// Appends an item that stood at `moved_from` before a rewrite.
    pub(crate) fn push_item(&mut self, item: ReadyItem, moved_from: Option<Position>) -> Position {
        let position = self.claim_position();
        let preset = self.preset;
        let envelope = item.placed(position, moved_from, |item| {
            self.state_or_default(|state| state.with_item(item, moved_from, preset))
        });
        self.history.log.push(Entry::Item(envelope));
        position
    }

    pub(crate) fn push_fact(&mut self, fact: Fact, turn: Option<TurnId>, state: State) {
        let position = self.claim_position();
        self.history.log.push(Entry::Fact(Arc::new(FactEntry { fact, position, turn, state })));
    }

    fn record_fact(&mut self, fact: Fact, turn: Option<TurnId>) {
        let position = Position::new(self.next_position);
        let state = self.state_or_default(|state| state.with_fact(&fact, position, turn.as_ref()));
        self.push_fact(fact, turn, state);
    }

    fn claim_position(&mut self) -> Position {
        let position = Position::new(self.next_position);
        self.next_position += 1;
        position
    }
}

impl Default for ContextManager {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for ContextManager {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ContextManager")
            .field("preset", &self.preset)
            .field("entries", &self.history.entry_count())
            .field("items", &self.history.item_count())
            .field("tokens", &self.history.tokens())
            .field("history_version", &self.history_version())
            .finish_non_exhaustive()
    }
}
