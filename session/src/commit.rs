//! Writing and installing: the log first, then the history, and both or neither.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use agents_md::{NestedTargets, TurnEnvironmentSelection};
use context_manager::{ContextManager, Parts, Position, Projector, TurnId};
use tokio::sync::OwnedMutexGuard;
use world_state::WorldState;

use crate::{
    Error, Moment, Observed, OpenCall, Settings, UserInput,
    calls::OpenCalls,
    capture::Places,
    making::blocking,
    nested::Nested,
    options::Host,
    rollout::{Draft, SessionFolder},
    store::{Journal, LogStatus},
    tool_fact::ToolFacts,
};

/// What all handles of a session share.
pub(crate) struct Inner {
    pub(crate) id: Arc<str>,
    pub(crate) host: Host,
    pub(crate) folder: Option<SessionFolder>,
    /// How the log is doing; it can be looked at while something is written.
    pub(crate) log_status: tokio::sync::watch::Receiver<LogStatus>,
    /// What one call at a time works with. Whoever holds it may write and install.
    pub(crate) gate: Arc<tokio::sync::Mutex<Gate>>,
    /// What everybody may look at; it is never locked while something is awaited or written.
    pub(crate) state: Mutex<State>,
}

/// What one call at a time works with.
pub(crate) struct Gate {
    pub(crate) log: Option<Journal>,
    pub(crate) access: Access,
    /// What the log says about the parts of a prompt.
    pub(crate) logged_parts: Parts,
    pub(crate) world: WorldState,
    /// Makes the prompts of the steps from what is new.
    pub(crate) projector: Projector,
    /// The ready environments of the last step: the same `Arc` again is a hit without a comparison.
    pub(crate) selections: Arc<[TurnEnvironmentSelection]>,
    /// The section of the places of the last step, and what it was made of.
    pub(crate) places: Option<Places>,
    /// What the last step found in the folders that tools have reached.
    pub(crate) nested: Option<Nested>,
}

/// What everybody may look at.
pub(crate) struct State {
    pub(crate) manager: ContextManager,
    pub(crate) settings: Settings,
    pub(crate) live: Option<LiveTurn>,
    /// The number in the id of the newest turn that is in the history.
    pub(crate) last_turn_number: u64,
    /// Counts the turns that were begun here, so that a handle never speaks of another turn with the same id.
    pub(crate) serial: u64,
    /// The model of the last turn context: what a switch is told against where no baseline says it.
    pub(crate) last_model: Option<Arc<str>>,
    /// How many compactions there were.
    pub(crate) epoch: u64,
    /// A call was said to be started, so a call of which that was not said was not.
    pub(crate) tells_starts: bool,
    /// The folders that tools have reached.
    pub(crate) nested: NestedTargets,
    /// The revision of them that the log knows.
    pub(crate) logged_reached: u64,
}

/// The turn that is under way.
pub(crate) struct LiveTurn {
    pub(crate) serial: u64,
    pub(crate) id: TurnId,
    /// What the user said and no step has taken up yet.
    pub(crate) staged: Vec<UserInput>,
    pub(crate) stage: Stage,
    pub(crate) open_calls: OpenCalls,
    /// What is known of calls that run.
    pub(crate) facts: ToolFacts,
}

/// Whether a turn is in the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stage {
    /// Nothing of it was recorded.
    Staged,
    /// Its first step was recorded.
    Begun,
}

/// Whether calls are taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Access {
    Open,
    Closed,
}

/// What one call adds: the records of one write, and the change that they describe.
pub(crate) struct Batch {
    pub(crate) at_ms: i64,
    pub(crate) drafts: Vec<Draft>,
    /// What the log says about the parts of a prompt behind these records, if they say something about it.
    pub(crate) logged_parts: Option<Parts>,
    pub(crate) install: Box<dyn FnOnce(&mut State) + Send>,
}

pub(crate) type Gated = OwnedMutexGuard<Gate>;

impl Inner {
    /// Waits for the calls before this one.
    pub(crate) async fn enter(&self) -> Result<Gated, Error> {
        let gate = Arc::clone(&self.gate).lock_owned().await;
        match gate.access {
            Access::Open => Ok(gate),
            Access::Closed => Err(Error::Closed),
        }
    }

    /// Every change of the state is whole before its lock is given back, so a poisoned lock is no reason to stop.
    pub(crate) fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn now(&self) -> Result<Moment, Error> {
        self.host.clock.now().map_err(|source| Error::Clock { source })
    }

    /// Refuses to go on while too many records wait for the log.
    pub(crate) async fn refuse_full_backlog(&self, mut gate: Gated) -> Result<Gated, Error> {
        if self.log_status.borrow().health.is_healthy() {
            return Ok(gate);
        }
        blocking(move || {
            gate.log.as_mut().map_or(Ok(()), Journal::refuse_full_backlog)?;
            Ok(gate)
        })
        .await
    }

    /// Writes the records and then installs the change; with an error, neither.
    ///
    /// Once it has begun it runs to its end, also if the caller stops waiting: the next call finds both or neither. Where
    /// the records are in the log and only the promise about a loss of power could not be had, the change is installed
    /// and the error says so.
    pub(crate) async fn commit(self: &Arc<Self>, mut gate: Gated, batch: Batch) -> Result<Gated, Error> {
        let Batch { at_ms, drafts, logged_parts, install } = batch;
        let install = move |gate: &mut Gate, state: &mut State| {
            if let Some(parts) = logged_parts {
                gate.logged_parts = parts;
            }
            install(state);
        };
        if gate.log.is_none() || drafts.is_empty() {
            install(&mut gate, &mut self.state());
            self.tell(&[]);
            return Ok(gate);
        }
        let names = self.names_of(&drafts);
        let inner = Arc::clone(self);
        let task = tokio::task::spawn_blocking(move || {
            let durability = inner.host.durability;
            let written = gate.log.as_mut().map_or(Ok(()), |log| log.append(at_ms, drafts, durability));
            let is_recorded = written.as_ref().map_or_else(Error::is_recorded, |()| true);
            if is_recorded {
                install(&mut gate, &mut inner.state());
                inner.tell(&names);
            }
            written.map(|()| gate)
        });
        task.await.unwrap_or(Err(Error::WriterStopped))
    }
}

impl Inner {
    /// The types of records, if anybody wants to hear of them.
    fn names_of(&self, drafts: &[Draft]) -> Vec<String> {
        if self.host.observers.is_empty() {
            return Vec::new();
        }
        let name = |draft: &Draft| match draft {
            Draft::New(record) => Some(record.item.type_name().to_owned()),
            _ => None,
        };
        drafts.iter().filter_map(name).collect()
    }

    /// Tells the observers of what is in the log and in the history now.
    fn tell(&self, records: &[String]) {
        if self.host.observers.is_empty() {
            return;
        }
        let history = self.state().manager.snapshot();
        for observer in &self.host.observers {
            observer.recorded(&Observed { session: &self.id, records, history: &history });
        }
    }
}

impl State {
    /// The live turn, if it is the one that the handle speaks of.
    pub(crate) fn turn(&self, serial: u64, id: &TurnId) -> Result<&LiveTurn, Error> {
        match &self.live {
            Some(live) if live.serial == serial => Ok(live),
            _ => Err(Error::TurnOver { turn: id.to_string() }),
        }
    }

    /// Installs a longer history, and notes the calls that it opened and closed; `answers` is the call that its output
    /// answers, where the host says it.
    pub(crate) fn install(&mut self, next: ContextManager, answers: Option<Position>) {
        let n_new = next.history().entry_count().saturating_sub(self.manager.history().entry_count());
        if let Some(live) = &mut self.live {
            let mut added: Vec<_> =
                next.history().entries().rev().take(n_new).filter_map(|entry| entry.as_item()).collect();
            added.reverse();
            let of_turn = added.into_iter().filter(|item| item.turn() == Some(&live.id));
            of_turn.for_each(|item| live.open_calls.note(item, answers));
        }
        self.manager = next;
    }
}

impl LiveTurn {
    pub(crate) fn refuse_open_calls(&self) -> Result<(), Error> {
        if self.open_calls.is_empty() {
            return Ok(());
        }
        let calls = self.open_calls.iter().map(OpenCall::call_id).map(str::to_owned).collect();
        Err(Error::OpenCalls { turn: self.id.to_string(), calls })
    }
}
