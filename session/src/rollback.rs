//! Taking turns back, and going on from one of them elsewhere.

use std::sync::Arc;

use context_manager::{Cursor, ForkPolicy, PartName, Position, RolledBack};

use crate::{
    Error, LogFailure, NewSession, Session, SessionOptions,
    commit::Batch,
    making::blocking,
    rewriting::{Standing, fork_checkpoint},
    rollout::{Metadata, Owner, Parent, Record, Rollback, RolloutItem, SessionFolder},
    store::{self, FsStore, Journal, JournalRules, StoreSink},
};

/// How a session is forked.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Fork {
    /// The id of the new session.
    pub id: Arc<str>,
    /// The turn before which it begins; without one it has all that was recorded.
    pub cursor: Option<Cursor>,
    /// What becomes of calls without an output.
    pub policy: ForkPolicy,
    /// Who finds its instruction files.
    pub instructions: ForkInstructions,
}

/// Who finds the instruction files of a fork.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ForkInstructions {
    /// The manager of the session from which it comes: what was loaded there holds, and nothing is read again.
    #[default]
    Inherited,
    /// The manager among the options of the fork. What it finds and what was not told yet is said by the first step.
    Rediscovered,
}

impl Fork {
    /// Forks at the end, closes open calls, inherits instructions.
    #[must_use]
    pub fn new(id: impl Into<Arc<str>>) -> Self {
        Self { id: id.into(), cursor: None, policy: ForkPolicy::closing(), instructions: ForkInstructions::default() }
    }

    /// Begins before the turn at this cursor.
    #[must_use]
    pub const fn at(mut self, cursor: Cursor) -> Self {
        self.cursor = Some(cursor);
        self
    }

    /// Says what becomes of calls without an output.
    #[must_use]
    pub fn with_policy(mut self, policy: ForkPolicy) -> Self {
        self.policy = policy;
        self
    }

    /// Says who finds the instruction files.
    #[must_use]
    pub const fn with_instructions(mut self, instructions: ForkInstructions) -> Self {
        self.instructions = instructions;
        self
    }
}

impl Session {
    /// Takes back the turn to which `cursor` leads, the context that was said for it, and all that came later.
    ///
    /// [`HistorySnapshot::cursors`](context_manager::HistorySnapshot::cursors) lists the cursors. Baseline and settings are
    /// those that were true there, so the next step says what has to be said again. A rollback that is asked for twice
    /// happens once and is one record.
    ///
    /// # Errors
    /// [`Error::TurnLive`] while a turn is live. [`Error::History`] with
    /// [`BeyondEpoch`](context_manager::Error::BeyondEpoch) for a turn from before the newest compaction.
    /// [`Error::Clock`], and what the log says. Nothing was taken back, unless the error [says so](Error::is_recorded).
    pub async fn rollback_to(&self, cursor: Cursor) -> Result<RolledBack, Error> {
        let gate = self.inner.enter().await?;
        let manager = {
            let state = self.inner.state();
            if let Some(live) = &state.live {
                return Err(Error::TurnLive { turn: live.id.to_string() });
            }
            state.manager.clone()
        };
        let mut next = manager.clone();
        let rolled_back = next.rollback_to(cursor).map_err(Error::history)?;
        if next.history_version() == manager.history_version() {
            return Ok(rolled_back);
        }
        let mut record = Rollback::to_position(cursor.position().number());
        record.history_version = Some(next.history_version());
        let record = Record::from(RolloutItem::Rollback(record)).with_metadata(Metadata::new());
        let model = next.reference_context_item().and_then(|context| context.model().map(|model| Arc::from(&*model)));
        let install = Box::new(move |state: &mut crate::commit::State| {
            state.manager = next;
            state.last_model = model.or(state.last_model.take());
        });
        let batch =
            Batch { at_ms: self.inner.now()?.at_ms(), drafts: vec![record.into()], logged_parts: None, install };
        drop(self.inner.commit(gate, batch).await?);
        Ok(rolled_back)
    }

    /// Takes back the newest `turns` turns of this window; with more than there are, all of them.
    ///
    /// A turn is an input of a person, what was said for it, and all up to the next one; what was added to it while it
    /// went on is a part of it.
    ///
    /// # Errors
    /// As [`rollback_to`](Self::rollback_to); [`BeyondEpoch`](context_manager::Error::BeyondEpoch) if turns were compacted
    /// that this would have to take back.
    pub async fn rollback(&self, turns: usize) -> Result<RolledBack, Error> {
        let history = self.history();
        let found = match turns.checked_sub(1) {
            None => Some(history.end_cursor()),
            Some(before) => history.cursors().rev().nth(before),
        };
        let cursor = match found {
            Some(cursor) => cursor,
            // The very first position is from before any compaction; without one, all turns go.
            None if self.inner.state().epoch > 0 => Cursor::at(Position::new(0)),
            None => history.cursors().next().unwrap_or_else(|| history.end_cursor()),
        };
        self.rollback_to(cursor).await
    }

    /// Makes a session of its own in `folder` that goes on from a turn of this one. This one goes on too.
    ///
    /// Its log begins with the whole window, and its blobs are linked (copied where the file system has no links), so it
    /// needs nothing of this session's files and outlives them. Base instructions are those of
    /// this session; all else comes from `options`. It may be made while a turn is live: calls that run have no output
    /// there, and get what the policy says.
    ///
    /// # Errors
    /// [`Error::History`] with [`BeyondEpoch`](context_manager::Error::BeyondEpoch) as for
    /// [`rollback_to`](Self::rollback_to). [`Error::Exists`], [`Error::Busy`] and what else
    /// [`SessionFolder::create`] and [`Session::resume`] say. This session is not changed.
    pub async fn fork(&self, fork: &Fork, folder: &SessionFolder, options: SessionOptions) -> Result<Self, Error> {
        let (manager, epoch, base, standing) = {
            let state = self.inner.state();
            let base: Arc<str> = state.settings.parts.text(PartName::Base).into();
            (state.manager.clone(), state.epoch, base, Standing::of(&state))
        };
        let cursor = fork.cursor.unwrap_or_else(|| manager.history().end_cursor());
        let child = manager.fork(cursor, &fork.policy).map_err(Error::history)?.manager;
        let checkpoint = fork_checkpoint(&child, epoch, &standing)?;
        let mut options = options;
        if fork.instructions == ForkInstructions::Inherited {
            options.host.instructions.clone_from(&self.inner.host.instructions);
        }
        let parent = Parent::new(self.id(), Some(cursor.position().number())).with_window();
        let start = NewSession::new(Arc::clone(&fork.id)).with_base(base.clone()).with_parent(parent);
        options.settings.parts = options.settings.parts.clone().with_base(base);
        let meta = start.header(&options.settings)?;
        let moment = options.host.clock.now().map_err(|source| Error::Clock { source })?;
        let owner = Owner::this_process(options.machine.clone(), moment.at_ms());
        let durability = options.host.durability;
        // A fork whose window is not in its log is none, so nothing waits here.
        let rules = JournalRules { log_failure: LogFailure::FailClosed, ..options.host.log };
        let mut store = FsStore::new(folder.clone());
        if let Some(parent) = self.folder() {
            store = store.linking_blobs_of(parent.clone());
        }
        blocking(move || {
            let taken = store::create(&mut store, &meta, &owner, durability)?.appended;
            let mut log = Journal::new(Box::new(StoreSink::new(Box::new(store), &taken)), rules, Some(taken));
            log.append(moment.at_ms(), vec![RolloutItem::Checkpoint(checkpoint).into()], durability)
        })
        .await?;
        Ok(Self::resume(folder, options).await?.session)
    }
}
