//! Going on with a session from its log.

use std::{fs::File, sync::Arc};

use context_manager::Incoming;

use crate::{
    Error, InterruptedTurn, Session, SessionOptions,
    abort::AbortReason,
    making::{Making, blocking},
    record::{Conversation, message_of},
    replay::Replay,
    rollout::{
        Durability, LiveEvents, LogFormat, LogLock, LogSource, Metadata, OpenLimits, Owner, Record, RecoveryReport,
        RolloutItem, SessionFolder, opened,
    },
    store::{FsStore, Journal, JournalRules, Store as _, StoreSink},
    tool_fact,
};

/// A session that was resumed, and what was found on the way.
#[derive(Debug)]
#[non_exhaustive]
pub struct Resumed {
    /// The session.
    pub session: Session,
    /// Every damage of the log, with its place and its reason. A torn tail was cut.
    pub report: RecoveryReport,
    /// The turn that was live when the process died. It was closed.
    pub interrupted: Option<InterruptedTurn>,
}

impl Session {
    /// Goes on with the session whose log lies in `folder`.
    ///
    /// The log is read from its newest undamaged checkpoint on, so the cost is that of the live window; without a checkpoint
    /// it is read once, forwards. How much may be held is up to [`with_open_limits`](SessionOptions::with_open_limits).
    ///
    /// History, wire bytes, positions, baseline and settings are those of the log, and so are the base instructions; model,
    /// tools and everything else come from `options`. No file of the project is read: what changed on disk meanwhile is
    /// said by the next step, as one appended replacement. Sections of the host's own have to be among the settings again:
    /// one that is missing leaves the world state, which a [warning](crate::Step::warnings) of the next step says.
    ///
    /// # An interrupted turn
    /// A turn that was live when the process died is closed. In every later prompt a synthetic output stands for each of
    /// its calls without an output, which says that it was aborted and [what is known of it](crate::CallState): whether it
    /// was started, and what it gave. If the user's words of that turn are in the log, a `<turn_aborted>` message follows,
    /// by which the model reads that the program stopped and that it should check what those calls did before it repeats
    /// them.
    ///
    /// # Errors
    /// Nothing was written with any of these. [`Error::Io`] without a log, [`Error::NotOurs`] and [`Error::Compressed`] for
    /// another file, [`Error::Empty`], [`Error::Unfinished`] for half of a fork, [`Error::Busy`] with the process that holds it. [`Error::Unresumable`] for an edited
    /// log and for one of a newer version, with the place. [`Error::SentMismatch`] if the prompt that was sent last cannot
    /// be made again, [`Error::OverLimit`] before more is held than the options allow, [`Error::Replay`] for a record that does not fit what stands before it.
    /// [`Error::WarmUp`], [`Error::Clock`].
    ///
    /// With [`Error::Append`] or [`Error::Sync`] the log could be read and not be written.
    pub async fn resume(folder: &SessionFolder, options: SessionOptions) -> Result<Resumed, Error> {
        let mut making = Making::new("".into(), options);
        making.warm_up_only().await?;
        let at_ms = making.host.clock.now().map_err(|source| Error::Clock { source })?.at_ms();
        let owner = Owner::this_process(making.machine.clone(), at_ms);
        let (manager, recording) = (making.host.new_manager(), making.host.recording(None));
        let (place, profile, durability) = (folder.clone(), making.host.profile.clone(), making.host.durability);
        let (rules, limits) = (making.host.log, making.host.open_limits);
        let (mut replayed, report, log) = blocking(move || {
            let path = place.log_path();
            let replayed = || {
                let (mut replay, report) = read(&place, limits, Replay::new(manager.clone(), recording.clone()))?;
                replay.verify_sent(std::slice::from_ref(&profile)).map_err(|error| error.in_log(&path))?;
                Ok::<_, Error>((replay, report))
            };
            check_format(&place)?;
            if !place.lock_path().exists() {
                // A copied log that cannot be resumed gets no lock file beside it: nothing is written.
                replayed()?;
            }
            let lock = LogLock::acquire(&place.lock_path(), &owner)?;
            let (replay, report) = replayed()?;
            let log = open_locked(&place, lock, &owner, durability, rules)?;
            Ok((replay.into_replayed(), report, log))
        })
        .await?;
        let interrupted = replayed.interrupted.take();
        let base = replayed.parts.text(context_manager::PartName::Base).to_owned();
        making.settings.parts = making.settings.parts.with_base(base);
        let id: Arc<str> = replayed.header.as_ref().map_or("", |meta| meta.session_id.as_str()).into();
        let session = making.finish(id, Some(log), Some(folder.clone()), Some(replayed));
        let mut closed = None;
        if let Some(interrupted) = interrupted {
            session.close_turn(&interrupted.turn, interrupted.has_input).await?;
            closed = Some(interrupted.turn);
        }
        Ok(Resumed { session, report, interrupted: closed })
    }

    /// Closes a turn of an earlier process.
    async fn close_turn(&self, turn: &InterruptedTurn, has_input: bool) -> Result<(), Error> {
        let outputs = self.inner.host.profile.synthetic_text;
        let ending = AbortReason::process_ended().ending(&turn.id, &turn.closed_calls, &turn.states, outputs);
        let notice = ending.notice.filter(|_| has_input);
        let items = notice.map(|notice| message_of(&notice)).transpose()?.unwrap_or_default();
        let mut conversation = Conversation::of(Some(turn.id.clone()), items.into_iter().map(Incoming::new).collect());
        let metadata = Metadata::new().with_turn_id(turn.id.as_str());
        let record = Record::from(RolloutItem::TurnAborted(ending.record)).with_metadata(metadata);
        conversation.then_write = vec![record.into()];
        let closed = ending.closed;
        conversation.then = Box::new(move |state| tool_fact::tell(&mut state.manager, &closed));
        let gate = self.inner.enter().await?;
        self.inner.record_conversation_items(gate, conversation).await.map(drop)
    }
}

/// Takes the log under the lock that the caller holds, and writes who opened it.
fn open_locked(
    folder: &SessionFolder,
    lock: LogLock,
    owner: &Owner,
    durability: Durability,
    rules: JournalRules,
) -> Result<Journal, Error> {
    let mut store = FsStore::new(folder.clone());
    let claimed = store.claim_locked(lock)?;
    let drafts = [opened(owner, claimed.report.torn_tail)];
    let appended = store.append(claimed.next_ordinal, owner.since_ms, &drafts, durability)?;
    Ok(Journal::new(Box::new(StoreSink::new(Box::new(store), &appended)), rules, Some(appended)))
}

/// Makes sure that the file is a log of ours before anything is touched.
fn check_format(folder: &SessionFolder) -> Result<(), Error> {
    let path = folder.log_path();
    let source = LogSource::open(&path)?;
    if source.is_packed() {
        return Err(Error::Compressed { path: folder.compressed_log_path() });
    }
    match source.format() {
        LogFormat::Own | LogFormat::Empty => Ok(()),
        format => Err(Error::NotOurs { path, format }),
    }
}

/// Reads the live part of the log: from its newest checkpoint on, or all of it.
fn read(folder: &SessionFolder, limits: OpenLimits, mut replay: Replay) -> Result<(Replay, RecoveryReport), Error> {
    let path = folder.log_path();
    let file = File::open(&path).map_err(|source| Error::Io { action: "open", path: path.clone(), source })?;
    let mut events = LiveEvents::open(file, limits, Some(Arc::new(folder.clone())), path.clone())?;
    let mut failed = None;
    events.read_ahead(|event| {
        let found = match event {
            Err(error @ Error::OverLimit { .. }) => return Err(error),
            Err(error) => Some(error),
            Ok(event) => replay.apply(&event).err(),
        };
        // What forbids a resume explains why a record does not fit, so the whole log is looked at first.
        failed = failed.take().or(found);
        Ok(())
    })?;
    let report = events.into_report();
    if let Some(finding) = report.obstacles().next().cloned() {
        return Err(Error::Unresumable { path, finding });
    }
    if let Some(error) = failed {
        return Err(error.in_log(&path));
    }
    if report.records == 0 {
        return Err(Error::Empty { path, contents: report.contents });
    }
    if replay.misses_window() {
        // A window that was written and is lost is damage, and what stands behind it may be worth a repair.
        let lost = report.findings.iter().find(|finding| finding.problem.is_loss());
        return Err(match lost.cloned() {
            Some(finding) => Error::Unresumable { path, finding },
            None => Error::Unfinished { path },
        });
    }
    Ok((replay, report))
}
