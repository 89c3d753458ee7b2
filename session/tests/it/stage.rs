//! A session on a disk in memory, with a log that tests can look into.

use std::sync::{Arc, Condvar, Mutex};

use agents_md::{AgentsMdManager, Discovery, FileSystem, MemoryFs, ProbeAnswer, ProbeAsk, ReadAnswer, ReadAsk};
use context_fragments::{ApprovalPolicy, Permissions, SandboxMode, WireItem};
use context_manager::{Proof, ResponseItemEnvelope};
use session::{
    LogFailure, Moment, NewSession, Session, SessionEnvironment, SessionOptions, Settings, Step, Turn, UserInput,
    rollout::{LogFile, LogWriter, RolloutItem, WriterStart},
};

use crate::sample::{AT_MS, SharedFile, read};

/// A disk on which a test changes files while a session runs.
#[derive(Debug, Default)]
pub(crate) struct Disk(Mutex<MemoryFs>);

impl Disk {
    pub(crate) fn new(files: MemoryFs) -> Arc<Self> {
        Arc::new(Self(Mutex::new(files)))
    }

    /// A project in `/r` and one in `/s`, each with instructions, and `text` in those of `/r`.
    pub(crate) fn project(text: &str) -> Arc<Self> {
        Self::new(project(text))
    }

    /// How often anything was asked of the disk since it became what it is.
    pub(crate) fn accesses(&self) -> usize {
        self.0.lock().unwrap().accesses().len()
    }

    pub(crate) fn becomes(&self, files: MemoryFs) {
        *self.0.lock().unwrap() = files;
    }
}

pub(crate) fn project(text: &str) -> MemoryFs {
    without_instructions().with_file("/r/AGENTS.md", text)
}

pub(crate) fn without_instructions() -> MemoryFs {
    MemoryFs::new().with_folder("/r/.git").with_folder("/s/.git").with_file("/s/AGENTS.md", "Use spaces.")
}

impl FileSystem for Disk {
    type Handle = ();

    fn probe(&self, ask: &ProbeAsk) -> (ProbeAnswer, Option<()>) {
        self.0.lock().unwrap().probe(ask)
    }

    fn read(&self, ask: &ReadAsk, _: Option<()>) -> ReadAnswer {
        self.0.lock().unwrap().read(ask, None)
    }
}

pub(crate) fn permissions() -> Permissions {
    Permissions::new(SandboxMode::ReadOnly, ApprovalPolicy::Never)
}

pub(crate) fn place(cwd: &str) -> SessionEnvironment {
    SessionEnvironment::new("local", cwd).with_shell("bash")
}

pub(crate) fn moment() -> Moment {
    Moment::new(AT_MS).with_date("2026-10-20".parse().unwrap()).with_timezone("UTC")
}

pub(crate) fn settings() -> Settings {
    Settings::new("m1", permissions())
        .with_environments([place("/r")])
        .with_tools(r#"[{"type":"function","name":"sh"}]"#)
        .unwrap()
}

pub(crate) fn options(disk: &Arc<Disk>) -> SessionOptions {
    let manager = AgentsMdManager::on_blocking(Discovery::default(), Arc::clone(disk));
    // The write comes first, so that a test sees at once what the log refuses; `degraded.rs` has the other policy.
    SessionOptions::new(settings(), moment()).with_instructions(manager).with_log_failure(LogFailure::FailClosed)
}

pub(crate) fn new_session() -> NewSession {
    NewSession::new("s1").with_base("You are careful.").by_program("demo 0.1.0")
}

/// A file that sleeps before it takes anything.
struct SlowFile(SharedFile);

impl LogFile for SlowFile {
    fn len(&mut self) -> std::io::Result<u64> {
        self.0.len()
    }

    fn append(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        std::thread::sleep(std::time::Duration::from_millis(3));
        self.0.append(bytes)
    }

    fn cut(&mut self, len: u64) -> std::io::Result<()> {
        self.0.cut(len)
    }

    fn sync_data(&mut self) -> std::io::Result<()> {
        self.0.sync_data()
    }

    fn read_at(&mut self, offset: u64, bytes: &mut [u8]) -> std::io::Result<usize> {
        self.0.read_at(offset, bytes)
    }

    fn write_over(&mut self, offset: u64, bytes: &[u8]) -> std::io::Result<()> {
        self.0.write_over(offset, bytes)
    }
}

/// Stops writes until a test lets them go on, so that nothing depends on how long a write takes.
#[derive(Clone, Debug, Default)]
pub(crate) struct Hold(Arc<(Mutex<Held>, Condvar)>);

#[derive(Debug, Default)]
struct Held {
    is_on: bool,
    /// A write has come and waits.
    has_one: bool,
}

impl Hold {
    /// From now on the next write waits.
    pub(crate) fn on(&self) {
        self.0.0.lock().unwrap().is_on = true;
    }

    /// Says that a write waits.
    pub(crate) fn has_one(&self) -> bool {
        self.0.0.lock().unwrap().has_one
    }

    /// Lets writes go on.
    pub(crate) fn off(&self) {
        *self.0.0.lock().unwrap() = Held::default();
        self.0.1.notify_all();
    }

    fn pass(&self) {
        let mut held = self.0.0.lock().unwrap();
        while held.is_on {
            held.has_one = true;
            held = self.0.1.wait(held).unwrap();
        }
    }
}

/// A file whose writes wait while they are held.
struct HeldFile(SharedFile, Hold);

impl LogFile for HeldFile {
    fn len(&mut self) -> std::io::Result<u64> {
        self.0.len()
    }

    fn append(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.1.pass();
        self.0.append(bytes)
    }

    fn cut(&mut self, len: u64) -> std::io::Result<()> {
        self.0.cut(len)
    }

    fn sync_data(&mut self) -> std::io::Result<()> {
        self.0.sync_data()
    }

    fn read_at(&mut self, offset: u64, bytes: &mut [u8]) -> std::io::Result<usize> {
        self.0.read_at(offset, bytes)
    }

    fn write_over(&mut self, offset: u64, bytes: &[u8]) -> std::io::Result<()> {
        self.0.write_over(offset, bytes)
    }
}

/// A session with a log in memory.
pub(crate) struct Stage {
    pub(crate) session: Session,
    pub(crate) disk: Arc<Disk>,
    pub(crate) file: SharedFile,
    seen: usize,
}

impl Stage {
    pub(crate) async fn new() -> Self {
        let disk = Disk::project("Use tabs.");
        Self::with(&disk, options(&disk)).await
    }

    pub(crate) async fn with(disk: &Arc<Disk>, options: SessionOptions) -> Self {
        let file = SharedFile::default();
        Self::over(disk, options, file.clone(), file).await
    }

    /// A session whose log takes its time.
    pub(crate) async fn slow() -> Self {
        let disk = Disk::project("Use tabs.");
        let file = SharedFile::default();
        Self::over(&disk, options(&disk), SlowFile(file.clone()), file).await
    }

    /// A session whose writes can be held.
    pub(crate) async fn held(hold: &Hold) -> Self {
        let disk = Disk::project("Use tabs.");
        let file = SharedFile::default();
        Self::over(&disk, options(&disk), HeldFile(file.clone(), hold.clone()), file).await
    }

    async fn over(disk: &Arc<Disk>, options: SessionOptions, log: impl LogFile + 'static, file: SharedFile) -> Self {
        let writer = LogWriter::new(log, "log", WriterStart::NEW);
        let session = Session::create_on(writer, new_session(), options).await.unwrap();
        let seen = read(&file.bytes()).0.len();
        Self { session, disk: Arc::clone(disk), file, seen }
    }

    /// The records since the last look, each as its type and what tells it apart.
    pub(crate) fn new_records(&mut self) -> Vec<String> {
        let (lines, report) = read(&self.file.bytes());
        assert!(report.is_clean(), "{:?}", report.findings);
        let new = lines[self.seen..].iter().map(|line| short(&line.decode().unwrap().item)).collect();
        self.seen = lines.len();
        new
    }

    pub(crate) fn writes(&self) -> usize {
        self.file.with(|state| state.appends)
    }
}

/// A record in a few words.
pub(crate) fn short(item: &RolloutItem) -> String {
    match item {
        RolloutItem::Item(item) => short_item(item),
        RolloutItem::WorldState(state) => {
            let text = state.state().as_str();
            match state {
                session::rollout::WorldStateItem::Full(_) => "world_state(full)".into(),
                session::rollout::WorldStateItem::Patch(_) => format!("world_state({text})"),
            }
        }
        RolloutItem::TurnAborted(turn) => format!("turn_aborted({})", turn.reason.as_deref().unwrap_or_default()),
        other => other.type_name().into(),
    }
}

/// An item in a few words: who speaks, and the start of what is said.
pub(crate) fn short_item(item: &WireItem) -> String {
    let json = item.json();
    let text = |key: &str| json.member(key).and_then(|value| value.to_str()).unwrap_or_default().into_owned();
    match item.type_name().as_ref() {
        "message" => {
            let texts: Vec<String> = json
                .member("content")
                .unwrap()
                .elements()
                .map(|part| {
                    let text = part.member("text").and_then(|text| text.to_str()).unwrap_or_default().into_owned();
                    text.lines().next().unwrap_or_default().to_owned()
                })
                .collect();
            format!("{}({})", text("role"), texts.join(" | "))
        }
        "function_call" => format!("call({})", text("call_id")),
        "function_call_output" => format!("output({}, {})", text("call_id"), text("output")),
        other => other.to_owned(),
    }
}

/// The items of the history in a few words.
pub(crate) fn history(session: &Session) -> Vec<String> {
    session.history().items().map(|envelope| short_item(envelope.item())).collect()
}

/// The bytes of each item in the history.
pub(crate) fn stored(session: &Session) -> Vec<String> {
    session.history().items().map(ResponseItemEnvelope::item).map(|item| item.as_str().to_owned()).collect()
}

/// Takes a step and sends it; what was sent before must be its prefix.
pub(crate) async fn send(turn: &Turn) -> Step {
    let step = turn.next_step().await.unwrap();
    let sent = turn.mark_sent(&step).await.unwrap();
    assert!(sent.proof.extends(), "{:?}", sent.proof);
    assert_eq!(&sent.proof, step.prompt().proof());
    step
}

/// A whole turn without tools.
pub(crate) async fn simple_turn(session: &Session, said: &str, answered: &str) -> Step {
    let turn = session.begin_turn(UserInput::text(said)).unwrap();
    let step = send(&turn).await;
    turn.record([WireItem::assistant_text(answered)]).await.unwrap();
    turn.finish().await.unwrap();
    step
}

pub(crate) fn call(id: &str) -> WireItem {
    WireItem::function_call("sh", "{}", id)
}

pub(crate) fn extends(proof: &Proof) -> bool {
    matches!(proof, Proof::Extends { .. } | Proof::Identical)
}
