//! One conversation: a handle, and how it is made.

use std::{fmt, sync::Arc};

use agents_md::AgentsMdManager;
use context_fragments::{ContextItem, ContextualUserFragment, UserShellCommand};
use context_manager::{HistorySnapshot, Incoming, PartName, Prompt, Recorded, TurnId};

use crate::{
    Error, OpenCall, SessionOptions, Settings, ToolResult, Turn, UserInput,
    calls::OpenCalls,
    commit::{Access, Inner, LiveTurn, Stage},
    making::{Making, blocking},
    record::{Conversation, message_of},
    rollout::{LogFile, LogWriter, Owner, Parent, RawJson, RolloutItem, SessionFolder, SessionMeta},
    store::{self, FsStore, Journal, LogStatus, Store, StoreSink},
    tool_fact::ToolFacts,
};

/// One conversation. A clone is another handle to the same one.
///
/// It needs a tokio runtime: the log is written on the threads that tokio keeps for blocking work.
///
/// # Example
/// ```
/// use context_fragments::{ApprovalPolicy, Permissions, SandboxMode, WireItem};
/// use session::{Moment, NewSession, Session, SessionOptions, Settings, UserInput};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), session::Error> {
/// let permissions = Permissions::new(SandboxMode::ReadOnly, ApprovalPolicy::Never);
/// let options = SessionOptions::new(Settings::new("m1", permissions), Moment::new(1_792_483_200_123));
/// let session = Session::in_memory(NewSession::new("s1"), options).await?;
///
/// let turn = session.begin_turn(UserInput::text("fix the bug"))?;
/// let step = turn.next_step().await?;
/// turn.mark_sent(&step).await?; // then send step.prompt()
/// turn.record([WireItem::assistant_text("Done.")]).await?;
/// turn.finish().await?;
/// assert_eq!(session.history().item_count(), 3); // permissions, the user's words, the answer
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Session {
    pub(crate) inner: Arc<Inner>,
}

/// What a new session starts with. It stands in the header of the log and never changes.
#[derive(Clone, Debug)]
pub struct NewSession {
    id: Arc<str>,
    base: Arc<str>,
    program: Option<String>,
    parent: Option<Parent>,
}

impl NewSession {
    /// Names a session; ids come from the host.
    #[must_use]
    pub fn new(id: impl Into<Arc<str>>) -> Self {
        Self { id: id.into(), base: "".into(), program: None, parent: None }
    }

    /// Sets the base instructions. They stay as they are, whatever model answers.
    #[must_use]
    pub fn with_base(mut self, base: impl Into<Arc<str>>) -> Self {
        self.base = base.into();
        self
    }

    /// Names the program that makes the log, with its version.
    #[must_use]
    pub fn by_program(mut self, program: impl Into<String>) -> Self {
        self.program = Some(program.into());
        self
    }

    /// Names the session that this one goes on from.
    #[must_use]
    pub fn with_parent(mut self, parent: Parent) -> Self {
        self.parent = Some(parent);
        self
    }

    pub(crate) fn header(&self, settings: &Settings) -> Result<SessionMeta, Error> {
        let mut meta = SessionMeta::new(self.id.as_ref());
        meta.program.clone_from(&self.program);
        meta.parent.clone_from(&self.parent);
        meta.cwd = settings.environments.first().map(|place| place.cwd().to_string_lossy().into_owned());
        meta.base_instructions = Some(RawJson::string(&self.base));
        meta.parameters = Some(RawJson::parse(settings.parts.text(PartName::Parameters))?);
        meta.tools = Some(RawJson::parse(settings.parts.text(PartName::Tools))?);
        Ok(meta)
    }
}

impl Session {
    /// Starts a session whose log is made in `folder`.
    ///
    /// The instructions are read for the first time and the warm-ups of the host run side by side, all to their end; then
    /// the log is made.
    ///
    /// # Errors
    /// [`Error::Instructions`] if a file that must not be skipped could not be read: it names environment, path and cause.
    /// [`Error::WarmUp`], [`Error::Clock`]. [`Error::Exists`], [`Error::Busy`] and what else
    /// [`SessionFolder::create`] says. With an error no log was made.
    pub async fn create(folder: &SessionFolder, start: NewSession, options: SessionOptions) -> Result<Self, Error> {
        let mut making = Making::new(start.base.clone(), options);
        let at_ms = making.warm_up().await?;
        let meta = start.header(&making.settings)?;
        let owner = Owner::this_process(making.machine.clone(), at_ms);
        let (mut store, durability, rules) = (FsStore::new(folder.clone()), making.host.durability, making.host.log);
        let log = blocking(move || {
            let taken = store::create(&mut store, &meta, &owner, durability)?;
            Ok(Journal::new(Box::new(StoreSink::new(Box::new(store), &taken.appended)), rules, Some(taken.appended)))
        });
        let log = log.await?;
        Ok(making.finish(start.id, Some(log), Some(folder.clone()), None))
    }

    /// Starts a session whose log is made in a store of the host's own.
    ///
    /// # Errors
    /// As [`create`](Self::create), and what the store says.
    pub async fn create_in(
        mut store: Box<dyn Store>,
        start: NewSession,
        options: SessionOptions,
    ) -> Result<Self, Error> {
        let mut making = Making::new(start.base.clone(), options);
        let at_ms = making.warm_up().await?;
        let meta = start.header(&making.settings)?;
        let owner = Owner::this_process(making.machine.clone(), at_ms);
        let (durability, rules) = (making.host.durability, making.host.log);
        let log = blocking(move || {
            let taken = store::create(store.as_mut(), &meta, &owner, durability)?;
            Ok(Journal::new(Box::new(StoreSink::new(store, &taken.appended)), rules, Some(taken.appended)))
        });
        let log = log.await?;
        Ok(making.finish(start.id, Some(log), None, None))
    }

    /// Starts a session whose log is written to a file of the host's own, which has to be empty.
    ///
    /// # Errors
    /// As [`create`](Self::create), [`Error::Exists`] if the file is not empty, and what the writer says.
    pub async fn create_on<F: LogFile + 'static>(
        mut writer: LogWriter<F>,
        start: NewSession,
        options: SessionOptions,
    ) -> Result<Self, Error> {
        if !writer.is_empty() {
            return Err(Error::Exists { path: writer.path().to_owned() });
        }
        let mut making = Making::new(start.base.clone(), options);
        let at_ms = making.warm_up().await?;
        let header = [RolloutItem::SessionMeta(start.header(&making.settings)?).into()];
        let (durability, rules) = (making.host.durability, making.host.log);
        let log = blocking(move || {
            let appended = writer.append(at_ms, &header, durability)?;
            Ok(Journal::new(Box::new(writer), rules, Some(appended)))
        });
        let log = log.await?;
        Ok(making.finish(start.id, Some(log), None, None))
    }

    /// Starts a session without a log: it ends with the process.
    ///
    /// # Errors
    /// As [`create`](Self::create), without what a log could say.
    pub async fn in_memory(start: NewSession, options: SessionOptions) -> Result<Self, Error> {
        let mut making = Making::new(start.base.clone(), options);
        making.warm_up().await?;
        Ok(making.finish(start.id, None, None, None))
    }

    /// The id.
    #[must_use]
    pub fn id(&self) -> &str {
        &self.inner.id
    }

    /// Where the log lies; none for a session that has no folder.
    #[must_use]
    pub fn folder(&self) -> Option<&SessionFolder> {
        self.inner.folder.as_ref()
    }

    /// The history as it stands; it costs the same at any size.
    #[must_use]
    pub fn history(&self) -> HistorySnapshot {
        self.inner.state().manager.snapshot()
    }

    /// The settings that the next step will work with.
    #[must_use]
    pub fn settings(&self) -> Settings {
        self.inner.state().settings.clone()
    }

    /// What finds the instruction files.
    #[must_use]
    pub fn instructions(&self) -> Option<&Arc<AgentsMdManager>> {
        self.inner.host.instructions.as_ref()
    }

    /// The prompt that would be sent now, without a look at files, clock and readiness. It disturbs nothing.
    #[must_use]
    pub fn preview(&self) -> Prompt {
        let (manager, parts) = {
            let state = self.inner.state();
            (state.manager.clone(), state.settings.parts.clone())
        };
        manager.for_prompt(&parts, &self.inner.host.profile)
    }

    /// Begins a turn with what the user says. Nothing is recorded before its first step.
    ///
    /// # Errors
    /// [`Error::TurnLive`] while another turn is live: finish or abort that one first.
    pub fn begin_turn(&self, input: UserInput) -> Result<Turn, Error> {
        let mut state = self.inner.state();
        if let Some(live) = &state.live {
            return Err(Error::TurnLive { turn: live.id.to_string() });
        }
        state.serial += 1;
        let (serial, id) = (state.serial, TurnId::new(format!("turn-{}", state.last_turn_number + 1)));
        state.live = Some(LiveTurn {
            serial,
            id: id.clone(),
            staged: vec![input],
            stage: Stage::Staged,
            open_calls: OpenCalls::default(),
            facts: ToolFacts::default(),
        });
        drop(state);
        Ok(Turn { inner: Arc::clone(&self.inner), serial, id })
    }

    /// The turn that is live, for who has lost its handle or wants to abort it.
    #[must_use]
    pub fn live_turn(&self) -> Option<Turn> {
        let state = self.inner.state();
        let live = state.live.as_ref()?;
        Some(Turn { inner: Arc::clone(&self.inner), serial: live.serial, id: live.id.clone() })
    }

    /// Records a notice of the host, such as a [`SubAgentNotice`](crate::SubAgentNotice), as
    /// [`record_user_shell_command`](Self::record_user_shell_command) records a command.
    ///
    /// # Errors
    /// As [`record_user_shell_command`](Self::record_user_shell_command).
    pub async fn record_notice(&self, notice: &impl ContextualUserFragment) -> Result<Recorded, Error> {
        self.record_beside(message_of(notice)?).await
    }

    /// Records a command that the user ran beside the conversation, in one write; it belongs to the turn that is live.
    ///
    /// # Errors
    /// [`Error::Fragment`], [`Error::History`], [`Error::Clock`], and what the log says. Nothing was recorded, unless it is
    /// [`Error::Sync`].
    pub async fn record_user_shell_command(&self, command: &UserShellCommand) -> Result<Recorded, Error> {
        self.record_beside(message_of(command)?).await
    }

    async fn record_beside(&self, items: Vec<ContextItem>) -> Result<Recorded, Error> {
        let items = items.into_iter().map(Incoming::new).collect();
        let gate = self.inner.enter().await?;
        let turn = {
            let state = self.inner.state();
            state.live.as_ref().filter(|live| live.stage == Stage::Begun).map(|live| live.id.clone())
        };
        self.inner.record_conversation_items(gate, Conversation::of(turn, items)).await
    }

    /// Records a result that arrives for a call whose turn is over, in one write: it is appended, and moves nothing.
    ///
    /// A prompt that was sent said that the call was aborted; it goes on saying so, and the model reads the result in a
    /// message of its own.
    ///
    /// # Errors
    /// [`Error::NotOpen`] if the call has an output, is of the turn that is live, or is not in the history any more.
    /// [`Error::OpenCalls`] while calls of a live turn have no output: nothing comes between a call and its output.
    /// [`Error::WrongOutput`], [`Error::History`], [`Error::Clock`], and what the log says.
    pub async fn record_late_output(&self, call: &OpenCall, result: impl Into<ToolResult>) -> Result<Recorded, Error> {
        let result = result.into();
        let mut output = Incoming::new(call.output(&result)?);
        output.limit_tokens = result.limit_tokens;
        let gate = self.inner.enter().await?;
        {
            let state = self.inner.state();
            if let Some(live) = &state.live {
                live.refuse_open_calls()?;
            }
            if !call.waits_in(state.manager.history()) {
                let turn = call.turn().map_or_else(String::new, ToString::to_string);
                return Err(Error::NotOpen { call_id: call.call_id().to_owned(), turn });
            }
        }
        let mut conversation = Conversation::of(call.turn().cloned(), vec![output]);
        conversation.success = result.success;
        self.inner.record_conversation_items(gate, conversation).await
    }

    /// Ends the session here: waits for the calls that run, and gives the log back for another process.
    ///
    /// Later calls of any handle are refused with [`Error::Closed`]; the history can still be looked at. Without it the log
    /// is given back when the last handle goes, turns included. A turn that is live is left as it is: who resumes the
    /// session closes it.
    ///
    /// # Errors
    /// [`Error::Closed`] if it was closed before. [`Error::Append`] or [`Error::Sync`] if records wait that cannot be
    /// written: the session stays open, so that it can be tried again.
    pub async fn close(&self) -> Result<(), Error> {
        let mut gate = self.inner.enter().await?;
        blocking(move || {
            gate.log.as_mut().map_or(Ok(()), Journal::flush)?;
            gate.access = Access::Closed;
            gate.log = None;
            Ok(())
        })
        .await
    }

    /// How the log is doing: whether it takes what is recorded, how far it is, which caps were reached.
    #[must_use]
    pub fn log_status(&self) -> LogStatus {
        self.inner.log_status.borrow().clone()
    }

    /// The same as a value to watch.
    #[must_use]
    pub fn watch_log(&self) -> tokio::sync::watch::Receiver<LogStatus> {
        self.inner.log_status.clone()
    }

    /// Writes what waits for the log, and waits until everything that was recorded survives a loss of power.
    ///
    /// # Errors
    /// [`Error::Append`], [`Error::Sync`], [`Error::Lost`].
    pub async fn sync(&self) -> Result<(), Error> {
        let mut gate = self.inner.enter().await?;
        blocking(move || gate.log.as_mut().map_or(Ok(()), Journal::sync)).await
    }
}

impl fmt::Debug for Session {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Session").field("id", &self.inner.id).field("history", &self.inner.state().manager).finish()
    }
}
