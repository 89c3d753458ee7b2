//! One turn: from what the user says to the end of the agent's answer.

use std::{fmt, sync::Arc};

use context_manager::{Incoming, Recorded, Sent, TurnId};

use crate::{
    AbortReason, Aborted, Error, OpenCall, Step, ToolResult, Usage, UserInput,
    calls::OpenCalls,
    capture::capture_step_context,
    commit::{Batch, Inner, Stage, State},
    effort,
    options::EffortUpdates,
    record::{Conversation, message_of},
    records::{parts_change, records_of, sent_mark},
    render::{Rendered, record_step_world_state_if_changed},
    rollout::{Draft, Metadata, Record, RolloutItem, TurnEnded, TurnStarted},
    tool_fact::{self, ToolFact},
    trace::{self, Work, in_span},
};

/// A turn that is under way. A clone speaks of the same turn, for example to [`abort`](Self::abort) it from another task.
///
/// # Cancellation
/// Calls of a session are served one after the other. A call that is dropped before it writes has done nothing; one that
/// is dropped while it writes runs to its end, and the next call finds all of it. A dropped
/// [`next_step`](Self::next_step) is simply made again: it says nothing twice. After a dropped
/// [`record`](Self::record), look at the [history](crate::Session::history) before you record the same items again.
///
/// Dropping the turn does not end it: [`Session::live_turn`](crate::Session::live_turn) gives it back.
#[derive(Clone)]
pub struct Turn {
    pub(crate) inner: Arc<Inner>,
    pub(crate) serial: u64,
    pub(crate) id: TurnId,
}

impl Turn {
    /// The id, unique in the session, such as `turn-3`.
    #[must_use]
    pub const fn id(&self) -> &TurnId {
        &self.id
    }

    /// Makes the next request: looks at readiness, instructions and settings, appends what the model does not know yet,
    /// and projects the history.
    ///
    /// The first step of a turn also records what the user said, after the context. All of it is one write; a step in
    /// which nothing changed writes nothing.
    ///
    /// # Errors
    /// [`Error::OpenCalls`] while calls of this turn have no output, [`Error::TurnOver`], [`Error::Clock`],
    /// [`Error::Instructions`] if a file that must not be skipped could not be read, [`Error::WorldState`] and
    /// [`Error::History`] for context that cannot be said, [`Error::BacklogFull`] while too much waits for the log, and
    /// what else the log says. Nothing was recorded, unless the error [says so](Error::is_recorded): then the next call makes the same step.
    pub async fn next_step(&self) -> Result<Step, Error> {
        in_span(Work::Step, &self.inner.id, self.id.as_str(), self.take_step()).await
    }

    async fn take_step(&self) -> Result<Step, Error> {
        let inner = &self.inner;
        let mut gate = inner.enter().await?;
        let (settings, targets) = {
            let state = inner.state();
            let live = state.turn(self.serial, &self.id)?;
            live.refuse_open_calls()?;
            if live.stage == Stage::Staged {
                // With a turn, files in the folders that were reached are read again.
                gate.nested = None;
            }
            (state.settings.clone(), state.nested.clone())
        };
        gate = inner.refuse_full_backlog(gate).await?;
        let context = Arc::new(capture_step_context(&mut gate, &inner.host, settings, &targets).await?);
        let (manager, stage, staged, last_model) = {
            let state = inner.state();
            let live = state.turn(self.serial, &self.id)?;
            (state.manager.clone(), live.stage, live.staged.clone(), state.last_model.clone())
        };
        let rendered = record_step_world_state_if_changed(
            &manager,
            &mut gate.world,
            &inner.host,
            &context,
            &self.id,
            last_model.as_ref(),
            &staged,
        )?;
        let mut drafts = Vec::new();
        if gate.log.is_some() {
            if stage == Stage::Staged {
                drafts.push(self.record_of(RolloutItem::TurnStarted(TurnStarted::new(self.id.as_str()))));
            }
            drafts.extend(records_of(&manager, &rendered.next, &rendered.beside)?);
        }
        let next = rendered.next.clone();
        let model: Arc<str> = context.settings.model.model.name().into();
        let n_taken = staged.len();
        // The world state of the step says which folders were reached.
        let reached = context.nested.is_some().then(|| targets.revision());
        let install = Box::new(move |state: &mut State| {
            state.install(next, None);
            state.logged_reached = reached.unwrap_or(state.logged_reached);
            state.last_model = Some(model);
            let Some(live) = &mut state.live else { return };
            live.staged.drain(..n_taken);
            if live.stage == Stage::Staged {
                live.stage = Stage::Begun;
                state.last_turn_number += 1;
            }
        });
        let batch = Batch { at_ms: context.moment.at_ms(), drafts, logged_parts: None, install };
        let mut gate = inner.commit(gate, batch).await?;
        let prompt = gate.projector.prompt(&rendered.next, context.parts());
        drop(gate);
        let effort = match inner.host.effort_updates {
            EffortUpdates::Appended => effort::pinned(rendered.next.history()).map(Arc::from),
            EffortUpdates::Unsaid => context.settings.effort.clone(),
        };
        let Rendered { appended, warnings, .. } = rendered;
        Ok(Step { turn: self.id.clone(), context, prompt, appended, warnings, effort })
    }

    /// Says that the step's prompt is about to be sent. The mark is in the log before this returns; send the first byte
    /// after it.
    ///
    /// From here on later prompts are compared with this one, and the synthetic outputs in it stay.
    ///
    /// # Errors
    /// [`Error::History`] with a [stale](Error::is_stale) prompt if items were recorded since the step was made: take
    /// another one. [`Error::TurnOver`], [`Error::Clock`], and what the log says. Nothing was marked.
    pub async fn mark_sent(&self, step: &Step) -> Result<Sent, Error> {
        in_span(Work::MarkSent, &self.inner.id, self.id.as_str(), self.mark(step)).await
    }

    async fn mark(&self, step: &Step) -> Result<Sent, Error> {
        let inner = &self.inner;
        let gate = inner.enter().await?;
        let mut next = {
            let state = inner.state();
            state.turn(self.serial, &self.id)?;
            if step.turn != self.id {
                return Err(Error::TurnOver { turn: step.turn.to_string() });
            }
            state.manager.clone()
        };
        let sent = next.mark_sent(step.prompt()).map_err(Error::history)?;
        let mut drafts = Vec::new();
        if gate.log.is_some() {
            let change = parts_change(&gate.logged_parts, step.context.parts())?;
            drafts.extend(change.map(|change| self.record_of(RolloutItem::Parts(change))));
            let mark = sent_mark(&sent, next.history_version(), &step.prompt.profile().name);
            drafts.push(self.record_of(RolloutItem::Sent(mark)));
        }
        let at_ms = inner.now()?.at_ms();
        let install = Box::new(move |state: &mut State| state.install(next, None));
        let logged_parts = Some(step.context.parts().clone());
        drop(inner.commit(gate, Batch { at_ms, drafts, logged_parts, install }).await?);
        Ok(sent)
    }

    /// Records what the model answered, in one write.
    ///
    /// # Errors
    /// [`Error::NoStep`] before the first step, [`Error::TurnOver`], [`Error::History`] if an item is too large,
    /// [`Error::Clock`], and what the log says. None of the items was recorded, unless the error [says so](Error::is_recorded).
    pub async fn record<I>(&self, items: I) -> Result<Recorded, Error>
    where
        I: IntoIterator<Item: Into<Incoming>>,
    {
        let items: Vec<Incoming> = items.into_iter().map(Into::into).collect();
        let gate = self.inner.enter().await?;
        {
            let state = self.inner.state();
            if state.turn(self.serial, &self.id)?.stage == Stage::Staged {
                return Err(Error::NoStep { turn: self.id.to_string() });
            }
        }
        let recording = self.inner.record_conversation_items(gate, Conversation::of(Some(self.id.clone()), items));
        in_span(Work::Record, &self.inner.id, self.id.as_str(), recording).await
    }

    /// The calls of this turn that have no output yet, in the order in which they were made; none once it is over.
    #[must_use]
    pub fn open_calls(&self) -> Vec<OpenCall> {
        let state = self.inner.state();
        state.turn(self.serial, &self.id).map_or_else(|_| Vec::new(), |live| live.open_calls.to_vec())
    }

    /// Records what a tool gave back for a call, in one write.
    ///
    /// An output over the bound is cut for the model, and stands whole beside it in the log.
    ///
    /// # Errors
    /// [`Error::NotOpen`] if the call has an output already or is not of this turn, [`Error::WrongOutput`] if an item does
    /// not answer it, [`Error::TurnOver`], [`Error::History`], [`Error::Clock`], and what the log says. Nothing was
    /// recorded, unless the error [says so](Error::is_recorded).
    pub async fn record_output(&self, call: &OpenCall, result: impl Into<ToolResult>) -> Result<Recorded, Error> {
        let result = result.into();
        let mut output = Incoming::new(call.output(&result)?);
        output.limit_tokens = result.limit_tokens;
        let gate = self.inner.enter().await?;
        let is_ambiguous = {
            let state = self.inner.state();
            self.open(&state, call)?.is_ambiguous(call)
        };
        let mut conversation = Conversation::of(Some(self.id.clone()), vec![output]);
        conversation.answers = is_ambiguous.then_some(call.position());
        conversation.success = result.success;
        let recording = self.inner.record_conversation_items(gate, conversation);
        in_span(Work::Record, &self.inner.id, self.id.as_str(), recording).await
    }

    /// Notes in the log what the provider says that a request took. It is no part of the history.
    ///
    /// # Errors
    /// [`Error::TurnOver`], [`Error::Clock`], and what the log says.
    pub async fn record_usage(&self, usage: &Usage) -> Result<(), Error> {
        let gate = self.inner.enter().await?;
        self.inner.state().turn(self.serial, &self.id)?;
        trace::usage(&self.inner.id, self.id.as_str(), usage);
        let mut conversation = Conversation::of(None, Vec::new());
        conversation.then_write = vec![self.record_of(RolloutItem::Usage(usage.to_json()?))];
        self.inner.record_conversation_items(gate, conversation).await.map(drop)
    }

    /// Adds what the user says while the turn runs; the next step records it, behind what changed.
    ///
    /// # Errors
    /// [`Error::TurnOver`].
    pub fn steer(&self, input: UserInput) -> Result<(), Error> {
        let mut state = self.inner.state();
        state.turn(self.serial, &self.id)?;
        if let Some(live) = &mut state.live {
            live.staged.push(input);
        }
        Ok(())
    }

    /// Ends the turn with the answer that was recorded.
    ///
    /// # Errors
    /// [`Error::OpenCalls`] while calls have no output and [`Error::InputWaiting`] while the user's words wait for a step:
    /// go on, or [`abort`](Self::abort). [`Error::TurnOver`], [`Error::Clock`], and what the log says; the turn is still
    /// live then, unless the error [says so](Error::is_recorded).
    pub async fn finish(&self) -> Result<(), Error> {
        let gate = self.inner.enter().await?;
        {
            let state = self.inner.state();
            let live = state.turn(self.serial, &self.id)?;
            live.refuse_open_calls()?;
            if !live.staged.is_empty() {
                return Err(Error::InputWaiting { turn: self.id.to_string() });
            }
        }
        let mut conversation = Conversation::of(None, Vec::new());
        conversation.then_write = vec![self.record_of(RolloutItem::TurnEnded(TurnEnded::new(self.id.as_str())))];
        conversation.then = Box::new(|state| state.live = None);
        self.inner.record_conversation_items(gate, conversation).await.map(drop)
    }

    /// Ends the turn from outside and closes its calls.
    ///
    /// The model reads a notice, as the reason says, and for each call without an output a synthetic one that says that it
    /// was aborted and [what is known of it](crate::CallState); in the profile of OpenAI Codex CLI that output says
    /// `aborted`, and the notice the rest. A turn of which no step was taken leaves nothing, and its input comes back.
    ///
    /// # Errors
    /// [`Error::TurnOver`], [`Error::Fragment`] if the guidance cannot be rendered, [`Error::Clock`], and what the log
    /// says; the turn is still live then, unless the error [says so](Error::is_recorded).
    pub async fn abort(&self, reason: AbortReason) -> Result<Aborted, Error> {
        let gate = self.inner.enter().await?;
        let outputs = self.inner.host.profile.synthetic_text;
        let (stage, aborted, ending) = {
            let state = self.inner.state();
            let live = state.turn(self.serial, &self.id)?;
            let closed_calls = live.open_calls.to_vec();
            let states = live.facts.states(&closed_calls, state.tells_starts);
            let ending = reason.ending(&self.id, &closed_calls, &states, outputs);
            (live.stage, Aborted { closed_calls, states, unrecorded: live.staged.clone() }, ending)
        };
        let mut conversation = Conversation::of(Some(self.id.clone()), Vec::new());
        if stage == Stage::Begun {
            let items = ending.notice.map(|notice| message_of(&notice)).transpose()?.unwrap_or_default();
            conversation.items = items.into_iter().map(Incoming::new).collect();
            conversation.then_write = vec![self.record_of(RolloutItem::TurnAborted(ending.record))];
        }
        let closed = ending.closed;
        conversation.then = Box::new(move |state| {
            tool_fact::tell(&mut state.manager, &closed);
            state.live = None;
        });
        self.inner.record_conversation_items(gate, conversation).await?;
        Ok(aborted)
    }

    /// Says in the log that a call starts, before it does.
    ///
    /// After a crash the model then reads of each call without a result whether it was started. It is one write, for hosts
    /// whose tools do things that must not be done twice. Once one call of a session was said to be started, a call of
    /// which it was not said counts as not started.
    ///
    /// # Errors
    /// [`Error::NotOpen`], [`Error::TurnOver`], [`Error::Clock`], and what the log says.
    pub async fn start_call(&self, call: &OpenCall) -> Result<(), Error> {
        self.note_fact(call, ToolFact::Started).await
    }

    /// Keeps in the log what a call has given so far: if nothing more comes of it, the model reads this.
    ///
    /// # Errors
    /// As [`start_call`](Self::start_call).
    pub async fn record_partial_output(&self, call: &OpenCall, text: impl Into<String>) -> Result<(), Error> {
        self.note_fact(call, ToolFact::Partial(text.into())).await
    }

    async fn note_fact(&self, call: &OpenCall, fact: ToolFact) -> Result<(), Error> {
        let fact = match fact {
            ToolFact::Partial(text) => ToolFact::Partial(self.inner.host.redacted_text(text)),
            ToolFact::Started => ToolFact::Started,
        };
        let gate = self.inner.enter().await?;
        self.open(&self.inner.state(), call)?;
        let mut conversation = Conversation::of(None, Vec::new());
        conversation.then_write = vec![self.record_of(fact.record(call)?)];
        let position = call.position();
        conversation.then = Box::new(move |state| {
            state.tells_starts = true;
            if let Some(live) = &mut state.live {
                live.facts.note(position, fact);
            }
        });
        self.inner.record_conversation_items(gate, conversation).await.map(drop)
    }

    /// The open calls, if this one is among them.
    fn open<'a>(&self, state: &'a State, call: &OpenCall) -> Result<&'a OpenCalls, Error> {
        let open = &state.turn(self.serial, &self.id)?.open_calls;
        if !open.contains(call) {
            let (call_id, turn) = (call.call_id().to_owned(), self.id.to_string());
            return Err(Error::NotOpen { call_id, turn });
        }
        Ok(open)
    }

    /// A record of this turn that is no entry of the history.
    fn record_of(&self, item: RolloutItem) -> Draft {
        Record::from(item).with_metadata(Metadata::new().with_turn_id(self.id.as_str())).into()
    }
}

impl fmt::Debug for Turn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Turn").field("session", &self.inner.id).field("id", &self.id).finish_non_exhaustive()
    }
}
