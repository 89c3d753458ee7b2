//! Which load or check runs, what stands meanwhile, and whose result is kept.

use std::{
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    time::SystemTime,
};

use tokio::sync::watch;

use crate::{
    document::LoadedAgentsMd,
    evidence::Evidence,
    freshness::{DuringLoad, Refresh},
    inputs::{TrustLevel, TurnEnvironmentSelection},
    provider::ProvidedInstructions,
};

/// What decides which instructions hold.
#[derive(Clone, Debug)]
pub(crate) struct Key {
    pub(crate) selections: Arc<[TurnEnvironmentSelection]>,
    pub(crate) trust: TrustLevel,
    pub(crate) provided: Option<ProvidedInstructions>,
}

/// The same, borrowed from a caller.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Asked<'a> {
    pub(crate) selections: &'a Arc<[TurnEnvironmentSelection]>,
    pub(crate) trust: TrustLevel,
    pub(crate) provided: Option<&'a ProvidedInstructions>,
}

impl Asked<'_> {
    fn key(self) -> Key {
        Key { selections: Arc::clone(self.selections), trust: self.trust, provided: self.provided.cloned() }
    }
}

impl Key {
    /// Why this key is not the one asked for; none if it is.
    fn differs(&self, asked: Asked<'_>) -> Option<Refresh> {
        if !Arc::ptr_eq(&self.selections, asked.selections) && self.selections != *asked.selections {
            return Some(Refresh::Selections);
        }
        if self.trust != asked.trust {
            return Some(Refresh::Trust);
        }
        let is_same = match (&self.provided, asked.provided) {
            (None, None) => true,
            (Some(ours), Some(theirs)) => ours.is_same(theirs),
            _ => false,
        };
        (!is_same).then_some(Refresh::UserInstructions)
    }

    /// Whether what was loaded for this key may be seen while something is loaded for the one asked for.
    fn may_show(&self, asked: Asked<'_>) -> bool {
        let is_still_allowed = |ours: &TurnEnvironmentSelection| {
            asked.selections.iter().any(|theirs| theirs.id == ours.id && theirs.access == ours.access)
        };
        self.trust == asked.trust && self.selections.iter().all(is_still_allowed)
    }
}

/// What a caller has to do.
pub(crate) enum Entry {
    Hit(Arc<LoadedAgentsMd>, u64),
    Wait(watch::Receiver<()>),
    /// Look whether the files are what they were.
    Check(Standing, u64),
    Load(Load),
}

/// What stands and is to be checked.
#[derive(Clone, Debug)]
pub(crate) struct Standing {
    pub(crate) loaded: Arc<LoadedAgentsMd>,
    pub(crate) evidence: Evidence,
    pub(crate) read_at: Option<SystemTime>,
}

pub(crate) struct Load {
    pub(crate) number: u64,
    pub(crate) reason: Refresh,
    /// What was loaded before, in case it is the same.
    pub(crate) before: Option<Arc<LoadedAgentsMd>>,
    /// What was seen of the files, where only the user's instructions have changed since.
    pub(crate) seen: Option<Evidence>,
}

/// What a caller that does not trust what stands wants done about it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Distrust {
    Nothing,
    Check,
    Load,
}

#[derive(Debug, Default)]
struct State {
    /// The key of what stands or is being loaded.
    key: Option<Key>,
    standing: Option<Standing>,
    /// What stood for another key, or before an edit, with its key.
    before: Option<(Key, Arc<LoadedAgentsMd>)>,
    /// Closes when the load or check that runs ends, however it ends.
    running: Option<watch::Sender<()>>,
    /// Why there is nothing although there is a key.
    reason: Option<Refresh>,
    /// The number of the newest load or check after which the files were what stands.
    proven: u64,
}

/// One state for all callers of a manager. Its lock is never held over input or output.
#[derive(Debug, Default)]
pub(crate) struct Flights {
    /// The number of the newest load, check or invalidation; changed only under the lock, read also without it.
    generation: Arc<AtomicU64>,
    state: Mutex<State>,
}

impl Flights {
    pub(crate) fn generation(&self) -> &Arc<AtomicU64> {
        &self.generation
    }

    pub(crate) fn number(&self) -> u64 {
        self.generation.load(Ordering::Acquire)
    }

    /// Looks what stands for a key; says what its caller has to do.
    ///
    /// `since` is the newest number when the caller came: a check that began later has seen every edit that the caller can
    /// know of, an earlier one may not have.
    pub(crate) fn enter(&self, asked: Asked<'_>, distrust: Distrust, since: u64) -> Entry {
        let mut state = self.state();
        let change = state.key.as_ref().map(|key| key.differs(asked));
        let is_proven = distrust == Distrust::Nothing || state.proven > since;
        let reason = match change {
            Some(None) => match (&state.standing, &state.running) {
                (Some(standing), _) if is_proven => return Entry::Hit(Arc::clone(&standing.loaded), self.number()),
                (_, Some(running)) => return Entry::Wait(running.subscribe()),
                (Some(standing), None) if distrust == Distrust::Check => {
                    let standing = standing.clone();
                    state.running = Some(watch::Sender::new(()));
                    return Entry::Check(standing, self.next());
                }
                (Some(_), None) => Refresh::Files,
                (None, None) => state.reason.unwrap_or(Refresh::Retry),
            },
            Some(Some(reason)) => reason,
            None => Refresh::First,
        };
        let number = self.next();
        Entry::Load(Self::begin(&mut state, asked, number, reason))
    }

    /// Goes on from a check that found a change to a load; none if it was overtaken.
    pub(crate) fn changed(&self, asked: Asked<'_>, number: u64) -> Option<Load> {
        let mut state = self.state();
        (self.number() == number).then(|| {
            // Who waits for the check waits on for the load.
            let running = state.running.take();
            let load = Self::begin(&mut state, asked, number, Refresh::Files);
            state.running = running;
            load
        })
    }

    fn begin(state: &mut State, asked: Asked<'_>, number: u64, reason: Refresh) -> Load {
        let seen = state.standing.as_ref().filter(|_| reason == Refresh::UserInstructions);
        let seen = seen.map(|standing| standing.evidence.clone());
        let stood = state.standing.take().zip(state.key.take()).map(|(standing, key)| (key, standing.loaded));
        let before = stood.or(state.before.take());
        let same = before.as_ref().map(|(_, loaded)| Arc::clone(loaded));
        state.before = before.filter(|(key, _)| key.may_show(asked));
        state.key = Some(asked.key());
        state.reason = None;
        state.running = Some(watch::Sender::new(()));
        Load { number, reason, before: same, seen }
    }

    /// Makes everything older than now out of date; called under the lock.
    fn next(&self) -> u64 {
        self.generation.fetch_add(1, Ordering::AcqRel) + 1
    }

    pub(crate) fn visible(&self, during: DuringLoad) -> Option<Arc<LoadedAgentsMd>> {
        let state = self.state();
        match (&state.standing, &state.before, during) {
            (Some(standing), ..) => Some(Arc::clone(&standing.loaded)),
            (None, Some((_, before)), DuringLoad::KeepPrevious) if state.running.is_some() => Some(Arc::clone(before)),
            _ => None,
        }
    }

    pub(crate) fn invalidate(&self) {
        let mut state = self.state();
        self.next();
        (state.running, state.standing, state.before) = (None, None, None);
        state.reason = Some(Refresh::Invalidated);
    }

    /// The right to keep what a load or a check finds.
    pub(crate) fn ticket(&self, number: u64, of: Work) -> Ticket<'_> {
        Ticket { flights: self, number, of }
    }

    /// The state is whole at every moment a panic could leave it, so a poisoned lock is no reason to stop.
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What a ticket is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Work {
    Load,
    /// Dropped early, it leaves what stands.
    Check,
}

/// The right to keep what was found, until something newer begins. Dropped early, a load leaves nothing behind.
#[derive(Debug)]
pub(crate) struct Ticket<'a> {
    flights: &'a Flights,
    number: u64,
    of: Work,
}

impl Ticket<'_> {
    /// Keeps what was loaded.
    pub(crate) fn keep(&self, standing: Standing) {
        let mut state = self.flights.state();
        if self.flights.number() == self.number {
            state.standing = Some(standing);
            state.before = None;
            state.proven = self.number;
        }
    }

    /// Notes that the files are what they were, and when they were read last.
    pub(crate) fn prove(&self, read_at: Option<SystemTime>) {
        let mut state = self.flights.state();
        if self.flights.number() == self.number {
            state.proven = self.number;
            if let Some(standing) = &mut state.standing {
                standing.read_at = read_at;
            }
        }
    }

    /// Goes on as a load.
    pub(crate) fn load(&mut self) {
        self.of = Work::Load;
    }

    /// Forgets what stands: a check has failed, so nobody knows whether it still holds.
    pub(crate) fn fail(&self) {
        let mut state = self.flights.state();
        if self.flights.number() == self.number {
            state.standing = None;
        }
    }
}

impl Drop for Ticket<'_> {
    fn drop(&mut self) {
        let mut state = self.flights.state();
        if self.flights.number() == self.number {
            state.running = None;
            if self.of == Work::Load {
                state.before = None;
            }
        }
    }
}
