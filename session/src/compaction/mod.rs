//! Compaction: old items are replaced by a summary.

mod cost;
mod ladder;
mod outcome;
mod retained;
mod summarizer;

use std::sync::Arc;

use context_fragments::ContextItem;
use context_manager::{ContextManager, Origin, Rewrite, SUMMARY_KIND, TokenCounter, TurnId};
use world_state::{WorldState, WorldStateSnapshot};

pub use self::{
    cost::{CostModel, Verdict},
    outcome::{Compacted, CompactionOutcome},
    summarizer::{Summarizer, Summary, SummaryError, SummaryRequest},
};
use self::{ladder::Ladder, outcome::details_of, retained::retained};
use crate::{
    Error, Session, StepContext,
    capture::{build_world_state_for_step, capture_step_context, turn_context_of},
    commit::{Batch, Gate, Stage, State},
    records::{parts_change, unsaid_parts},
    render::build_initial_context,
    rewriting::{Rewriting, Standing, WindowItem, positions_of},
    rollout::{Metadata, Record, RolloutItem},
    trace::{Work, in_span},
};

/// What opens a summary, so that the next model knows what it reads.
const SUMMARY_HEAD: &str = "The conversation up to here was summed up to make room. The summary stands for everything \
                            that was said and done before it, except for the messages of the user that are kept above:";

/// What asks for a summary, unless the host says it in its own words.
const INSTRUCTIONS: &str = "Sum up this conversation for another model that goes on with the work and sees nothing else \
                            of it. Say what the user wants, what was done and how, which files and commands matter, \
                            what was found out, what is left to do, and every rule that was agreed on.";

/// Why a history is compacted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum CompactionTrigger {
    /// Before a turn, because there is little room left.
    PreTurn,
    /// Inside a turn, between two steps.
    MidTurn,
    /// Somebody asked for it.
    Manual,
    /// A request was refused because it was too large.
    Overflow,
}

impl CompactionTrigger {
    /// The word in the log.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::PreTurn => "pre_turn",
            Self::MidTurn => "mid_turn",
            Self::Manual => "manual",
            Self::Overflow => "overflow",
        }
    }
}

/// When the context is said again that a compaction takes away.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ContextInjection {
    /// By the next step, before the user's words: for a compaction between turns.
    NextStep,
    /// By the compaction itself, before the last words of the user: for one inside a turn.
    Now,
}

impl ContextInjection {
    /// The word in the log.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::NextStep => "next_step",
            Self::Now => "now",
        }
    }
}

/// How a history is compacted.
///
/// # Example
/// ```
/// use session::{Compaction, CompactionTrigger};
///
/// let compaction = Compaction::new(CompactionTrigger::Manual).keeping(["fix the bug"]);
/// assert_eq!(compaction.retained_tokens, 20_000);
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Compaction {
    /// Why.
    pub trigger: CompactionTrigger,
    /// When the context is said again. By default at once inside a turn, and by the next step elsewhere.
    pub injection: Option<ContextInjection>,
    /// How many tokens of the user's own messages stay, the newest first: 20,000 by default.
    pub retained_tokens: u64,
    /// What asks for the summary.
    pub instructions: Arc<str>,
    /// Says whether it pays; none asks nobody. One that is made because a request was refused is never vetoed.
    pub cost: Option<CostModel>,
    /// What the window should still say: goals, what is done and pending, constraints, facts. What of it is missing is
    /// reported.
    pub keeps: Vec<String>,
}

impl Compaction {
    /// Compacts for this reason, with the defaults.
    #[must_use]
    pub fn new(trigger: CompactionTrigger) -> Self {
        Self {
            trigger,
            injection: None,
            retained_tokens: 20_000,
            instructions: INSTRUCTIONS.into(),
            cost: None,
            keeps: Vec::new(),
        }
    }

    /// Says when the context is said again.
    #[must_use]
    pub const fn with_injection(mut self, injection: ContextInjection) -> Self {
        self.injection = Some(injection);
        self
    }

    /// Keeps so many tokens of the user's own messages.
    #[must_use]
    pub const fn retaining(mut self, tokens: u64) -> Self {
        self.retained_tokens = tokens;
        self
    }

    /// Asks for the summary in other words.
    #[must_use]
    pub fn with_instructions(mut self, instructions: impl Into<Arc<str>>) -> Self {
        self.instructions = instructions.into();
        self
    }

    /// Lets this model say whether it pays.
    #[must_use]
    pub const fn if_it_pays(mut self, cost: CostModel) -> Self {
        self.cost = Some(cost);
        self
    }

    /// Names what the window should still say afterwards.
    #[must_use]
    pub fn keeping(mut self, phrases: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.keeps.extend(phrases.into_iter().map(Into::into));
        self
    }
}

/// What a compaction says again at once.
struct Said {
    items: Vec<ContextItem>,
    baseline: WorldStateSnapshot,
    context: StepContext,
    turn: TurnId,
}

/// What a compaction works from: the history as it stood when it began.
struct Start {
    manager: ContextManager,
    turn: Option<TurnId>,
    injection: ContextInjection,
}

impl Session {
    /// Replaces the history by a summary of it and the newest words of the user.
    ///
    /// The summary is made by the host's `summarizer`, without holding anything up: other calls go on meanwhile, and if one
    /// of them changed the history, nothing is replaced. Where a model refuses the whole history, the oldest exchanges are
    /// left out of the request, more each time; that ends at the newest one.
    ///
    /// Each section of the context stands exactly once in the next prompt: nothing of it is kept among the user's words.
    ///
    /// # Cancellation
    /// Dropped before the write begins, it has done nothing; dropped while it writes, it is done, whole. With an error the
    /// history, the baseline and the settings are what they were.
    ///
    /// # Errors
    /// [`Error::OpenCalls`] inside of a tool round. [`Error::NothingToCompact`] without anything that a summary could stand
    /// for. [`Error::Summary`] from the summarizer, [`Error::Irreducible`] if even the newest exchange is too large for it;
    /// it names the largest items. [`Error::HistoryMoved`] if the history changed meanwhile: make another one.
    /// [`Error::NotSmaller`] if the new window would not be smaller. [`Error::Clock`], [`Error::Instructions`],
    /// [`Error::WorldState`], and what the log says.
    pub async fn compact(
        &self,
        compaction: &Compaction,
        summarizer: &dyn Summarizer,
    ) -> Result<CompactionOutcome, Error> {
        in_span(Work::Compaction, &self.inner.id, "", self.compact_with(compaction, summarizer)).await
    }

    async fn compact_with(
        &self,
        compaction: &Compaction,
        summarizer: &dyn Summarizer,
    ) -> Result<CompactionOutcome, Error> {
        let start = self.start_of(compaction)?;
        let history = start.manager.history();
        if history.items().all(|item| item.origin() == Origin::Host) {
            return Err(Error::NothingToCompact);
        }
        let tokens_before = history.tokens();
        let counter = self.inner.host.counter.as_ref();
        let kept = retained(&start.manager, compaction.retained_tokens);
        if let Some(cost) = compaction.cost.filter(|_| compaction.trigger != CompactionTrigger::Overflow) {
            let tokens_kept = kept.iter().map(|item| tokens_of(counter, item)).sum();
            let verdict = cost.weigh(tokens_before, tokens_kept);
            if !verdict.pays() {
                return Ok(CompactionOutcome::NotWorthIt(verdict));
            }
        }
        let settings = self.settings();
        let mut ladder =
            Ladder::new(&start.manager, &settings.parts, &self.inner.host.profile, &compaction.instructions);
        let summary = ladder.climb(summarizer, compaction.trigger).await?;
        let skipped = ladder.skipped();

        // From here on other calls wait: what was summed up must be what is replaced.
        let mut gate = self.inner.enter().await?;
        let said = match (start.injection, &start.turn) {
            (ContextInjection::Now, Some(turn)) => Some(self.said_again(&mut gate, turn).await?),
            _ => None,
        };
        let (epoch, standing, moment) = {
            let state = self.inner.state();
            let now = state.manager.history();
            let is_same = now.history_version() == history.history_version()
                && now.end_cursor() == history.end_cursor()
                && state.live.as_ref().filter(|live| live.stage == Stage::Begun).map(|live| &live.id)
                    == start.turn.as_ref();
            if !is_same {
                return Err(Error::HistoryMoved);
            }
            (state.epoch.saturating_add(1), Standing::of(&state), self.inner.now()?)
        };
        let summary = match summary {
            Summary::Text(text) => Summary::Text(self.inner.host.redacted_text(text)),
            opaque @ Summary::Items(_) => opaque,
        };
        let text = summary.text().map(str::to_owned);
        let (items, injected) = window_of(kept, summary, said.as_ref(), start.turn.as_ref());
        let tokens_after: u64 = items.iter().map(|item| tokens_of(counter, item)).sum();
        // What the next step says again counts too.
        let context: u64 = match start.injection {
            ContextInjection::Now => 0,
            ContextInjection::NextStep => {
                history.items().filter(|item| is_context(item.context_item())).map(|item| item.tokens()).sum()
            }
        };
        if tokens_after.saturating_add(context) >= tokens_before {
            return Err(Error::NotSmaller { before: tokens_before, after: tokens_after.saturating_add(context) });
        }
        let mut done = Compacted {
            trigger: compaction.trigger,
            injection: start.injection,
            items_before: history.item_count(),
            items_after: items.len(),
            kept: items.iter().filter_map(kept_from).collect(),
            injected,
            skipped,
            tokens_before,
            tokens_after,
            missing: missing(&compaction.keeps, &items),
            history_version: 0,
            positions: Vec::new(),
        };
        let rewriting = Rewriting {
            rewrite: Rewrite::Compaction,
            items,
            baseline: said.as_ref().map(|said| said.baseline.clone()),
            reference: said.as_ref().map(|said| turn_context_of(&said.context, &said.turn)),
            epoch,
            summary: text,
            details: Some(details_of(&done, compaction, &standing)?),
        };
        let (checkpoint, next) = rewriting.apply(&start.manager)?;
        done.history_version = next.history_version();
        done.positions = positions_of(&checkpoint);
        let mut record = Record::from(RolloutItem::Checkpoint(checkpoint));
        record.metadata.turn_id = start.turn.as_ref().map(|turn| turn.as_str().into());
        // Who reads the log from here on does not see the records before.
        let parts = parts_change(&unsaid_parts(), &gate.logged_parts)?;
        let mut drafts = vec![record.into()];
        drafts.extend(parts.map(|parts| Record::from(RolloutItem::Parts(parts)).with_metadata(Metadata::new()).into()));
        let install = Box::new(move |state: &mut State| {
            state.manager = next;
            state.epoch = epoch;
        });
        let batch = Batch { at_ms: moment.at_ms(), drafts, logged_parts: None, install };
        drop(self.inner.commit(gate, batch).await?);
        Ok(CompactionOutcome::Done(done))
    }

    fn start_of(&self, compaction: &Compaction) -> Result<Start, Error> {
        let state = self.inner.state();
        let live = state.live.as_ref().filter(|live| live.stage == Stage::Begun);
        if let Some(live) = live {
            live.refuse_open_calls()?;
        }
        let turn = live.map(|live| live.id.clone());
        let by_default = if turn.is_some() { ContextInjection::Now } else { ContextInjection::NextStep };
        let injection = match &turn {
            // Outside of a turn there is nobody to whom anything could be said now.
            None => ContextInjection::NextStep,
            Some(_) => compaction.injection.unwrap_or(by_default),
        };
        Ok(Start { manager: state.manager.clone(), turn, injection })
    }

    /// Everything that the model should know, as a window opens with it.
    async fn said_again(&self, gate: &mut Gate, turn: &TurnId) -> Result<Said, Error> {
        let inner = &self.inner;
        let (settings, targets) = {
            let state = inner.state();
            (state.settings.clone(), state.nested.clone())
        };
        let context = capture_step_context(gate, &inner.host, settings, &targets).await?;
        let last_model = inner.state().last_model.clone();
        let failed = |source| Error::WorldState { source };
        // The world of the steps stays as it is: if the write fails, nothing was said.
        let mut world = WorldState::new();
        build_world_state_for_step(&mut world, &inner.host, &context, last_model.as_ref()).map_err(failed)?;
        let full = world.render_full().map_err(failed)?;
        let items = build_initial_context(full.updates);
        Ok(Said { items, baseline: full.snapshot, context, turn: turn.clone() })
    }
}

/// The window: what the user said, the context before the last of it if it is said now, and the summary.
fn window_of(
    kept: Vec<WindowItem>,
    summary: Summary,
    said: Option<&Said>,
    turn: Option<&TurnId>,
) -> (Vec<WindowItem>, usize) {
    let mut items = kept;
    let injected = said.map_or(0, |said| said.items.len());
    if let Some(said) = said {
        let place = items.len().saturating_sub(1);
        let context = said.items.iter().cloned();
        let turn = Some(said.turn.clone());
        let context = context.map(|item| WindowItem::New { item, turn: turn.clone(), origin: Origin::Host });
        items.splice(place..place, context);
    }
    let turn = turn.cloned();
    match summary {
        Summary::Text(text) => {
            let text = format!("{SUMMARY_HEAD}\n{text}");
            let item = ContextItem::new(context_fragments::WireItem::user_text(&text), [SUMMARY_KIND]);
            items.push(WindowItem::New { item, turn, origin: Origin::Host });
        }
        Summary::Items(opaque) => {
            let opaque = opaque.into_iter().map(|item| {
                let item = ContextItem::from(item);
                WindowItem::New { item, turn: turn.clone(), origin: Origin::Model }
            });
            items.extend(opaque);
        }
    }
    (items, injected)
}

fn kept_from(item: &WindowItem) -> Option<context_manager::Position> {
    match item {
        WindowItem::Kept(envelope) => Some(envelope.position()),
        WindowItem::New { .. } => None,
    }
}

/// What of these phrases no item of the window says.
fn missing(phrases: &[String], items: &[WindowItem]) -> Vec<String> {
    let texts: Vec<String> = items.iter().map(|item| retained::text_of(item.item().item())).collect();
    let is_missing = |phrase: &&String| !texts.iter().any(|text| text.contains(phrase.as_str()));
    phrases.iter().filter(is_missing).cloned().collect()
}

fn is_context(item: &ContextItem) -> bool {
    Origin::of(item) == Origin::Host && !item.kinds().contains(&SUMMARY_KIND)
}

fn tokens_of(counter: &dyn TokenCounter, item: &WindowItem) -> u64 {
    match item {
        WindowItem::Kept(envelope) => envelope.tokens(),
        WindowItem::New { item, .. } => counter.count(item.item()),
    }
}
