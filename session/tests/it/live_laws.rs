//! Laws 7 and 8 on random conversations.

use std::sync::Arc;

use agents_md::{AgentsMdManager, Discovery, MemoryFs, TrustLevel};
use context_fragments::{ApprovalPolicy, Permissions, SandboxMode, WireItem};
use context_manager::{HistorySnapshot, Proof};
use proptest::prelude::*;
use session::{
    AbortReason, CollaborationMode, Compaction, CompactionTrigger, ContextInjection, Error, Fork, ModelSettings,
    Session, SessionOptions, Summarizer, Summary, SummaryError, SummaryRequest, ToolResult, Turn, UserInput,
    rollout::{LogWriter, SessionFolder, WriterStart},
};

use crate::{
    laws::at_least,
    resume::entries,
    sample::{SharedFile, read},
    stage::{Disk, call, moment, new_session, options, place, project, stored, without_instructions},
};

/// One thing that happens in a session. Where it makes no sense, it is passed over.
#[derive(Clone, Debug)]
enum Op {
    Begin(u8),
    Step { sent: bool },
    Answer(u8),
    Calls(u8),
    Output { size: u16 },
    Finish,
    Abort(u8),
    Change(u8),
    Steer,
    Touch,
    Compact { now: bool },
    Rollback(u8),
    Fork { from_start: bool },
    Fact,
}

fn op() -> impl Strategy<Value = Op> {
    prop_oneof![
        3 => any::<u8>().prop_map(Op::Begin),
        5 => prop_oneof![4 => Just(true), 1 => Just(false)].prop_map(|sent| Op::Step { sent }),
        3 => any::<u8>().prop_map(Op::Answer),
        2 => (1_u8..3).prop_map(Op::Calls),
        4 => prop_oneof![0_u16..50, 4_000_u16..5_000].prop_map(|size| Op::Output { size }),
        2 => Just(Op::Finish),
        1 => (0_u8..3).prop_map(Op::Abort),
        4 => (0_u8..10).prop_map(Op::Change),
        1 => Just(Op::Steer),
    ]
}

/// Mostly whole turns, with anything in between.
fn conversation() -> impl Strategy<Value = Vec<Op>> {
    let turn =
        (proptest::collection::vec(op(), 0..3), proptest::collection::vec(op(), 0..6)).prop_map(|(first, rest)| {
            let mut ops = first;
            ops.extend([Op::Begin(1), Op::Step { sent: true }]);
            ops.extend(rest);
            ops
        });
    proptest::collection::vec(turn, 1..4).prop_map(|turns| turns.concat())
}

fn change(session: &Session, disk: &Disk, kind: u8) {
    match kind {
        0 => session.set_model(ModelSettings::from("m2").with_instructions("Be brief.")),
        1 => session.set_model(ModelSettings::from("m1").with_instructions("Be long.")),
        2 => session.set_permissions(Permissions::new(SandboxMode::DangerFullAccess, ApprovalPolicy::OnRequest)),
        3 => session.set_collaboration_mode(CollaborationMode::new("plan").with_instructions("Ask first.")),
        4 => session.set_collaboration_mode(CollaborationMode::default()),
        5 => session.set_environments([place("/s")]),
        6 => session.set_environments([place("/r")]),
        7 => session.set_trust(TrustLevel::Untrusted),
        8 => {
            disk.becomes(with_web(without_instructions()));
            session.invalidate_instructions();
        }
        _ => {
            disk.becomes(with_web(project("Use two spaces.")));
            session.invalidate_instructions();
        }
    }
}

/// The same disk with a folder below the first one that has instructions of its own.
fn with_web(files: MemoryFs) -> MemoryFs {
    files.with_file("/r/web/AGENTS.md", "Use pixels.")
}

/// Does one thing; an error is the log's, everything that would be misuse is passed over.
async fn perform(session: &Session, disk: &Arc<Disk>, op: &Op) -> Result<(), Error> {
    let turn = session.live_turn();
    let passed_over = |result: Result<(), Error>| match result {
        Err(error) if error.is_misuse() => Ok(()),
        other => other,
    };
    let on = |turn: Option<Turn>| turn.ok_or(());
    match op {
        Op::Begin(said) => {
            let begun = session.begin_turn(UserInput::text(format!("please {said}")));
            passed_over(begun.map(drop))
        }
        Op::Change(kind) => {
            change(session, disk, *kind);
            Ok(())
        }
        Op::Step { sent } => {
            let Ok(turn) = on(turn) else { return Ok(()) };
            let step = match turn.next_step().await {
                Ok(step) => step,
                Err(error) => return passed_over(Err(error)),
            };
            let proof = step.prompt().proof();
            // Only what a rewrite declares may break the prefix.
            assert!(proof.is_legal() && (proof.extends() || session.history().history_version() > 0), "{proof:?}");
            if *sent { turn.mark_sent(&step).await.map(drop) } else { Ok(()) }
        }
        Op::Answer(text) => {
            let Ok(turn) = on(turn) else { return Ok(()) };
            passed_over(turn.record([WireItem::assistant_text(&text.to_string())]).await.map(drop))
        }
        Op::Calls(n) => {
            let Ok(turn) = on(turn) else { return Ok(()) };
            let base = session.history().item_count();
            let calls: Vec<WireItem> = (0..*n).map(|number| call(&format!("c{base}-{number}"))).collect();
            passed_over(turn.record(calls).await.map(drop))
        }
        Op::Output { size } => {
            let Ok(turn) = on(turn) else { return Ok(()) };
            let Some(open) = turn.open_calls().into_iter().next() else { return Ok(()) };
            let result = ToolResult::text("o".repeat(usize::from(*size))).held_to(500);
            turn.record_output(&open, result).await.map(drop)
        }
        Op::Finish => {
            let Ok(turn) = on(turn) else { return Ok(()) };
            passed_over(turn.finish().await)
        }
        Op::Abort(kind) => {
            let Ok(turn) = on(turn) else { return Ok(()) };
            let reason = match kind {
                0 => AbortReason::Interrupted,
                1 => AbortReason::Replaced,
                _ => AbortReason::Failed,
            };
            passed_over(turn.abort(reason).await.map(drop))
        }
        Op::Steer => {
            let Ok(turn) = on(turn) else { return Ok(()) };
            passed_over(turn.steer(UserInput::text("and quickly")))
        }
        Op::Touch => {
            // A tool that reaches a folder says something behind it; what nobody wrote is lost with the process.
            let Ok(turn) = on(turn) else { return Ok(()) };
            match turn.record([WireItem::assistant_text("look")]).await {
                Ok(_) => session.touch("/r/web/index.ts"),
                Err(error) => return passed_over(Err(error)),
            };
            turn.record([WireItem::assistant_text("seen")]).await.map(drop)
        }
        Op::Compact { now } => {
            let injection = if *now { ContextInjection::Now } else { ContextInjection::NextStep };
            let compaction = Compaction::new(CompactionTrigger::Manual).with_injection(injection).retaining(200);
            match session.compact(&compaction, &Short).await {
                Err(Error::NothingToCompact | Error::NotSmaller { .. }) => Ok(()),
                other => passed_over(other.map(drop)),
            }
        }
        Op::Rollback(turns) => match session.rollback(usize::from(*turns)).await {
            Err(Error::History { source, .. }) if source.is_beyond_epoch() => Ok(()),
            other => passed_over(other.map(drop)),
        },
        Op::Fork { from_start } => {
            fork(session, disk, *from_start).await;
            Ok(())
        }
        Op::Fact => {
            let Ok(turn) = on(turn) else { return Ok(()) };
            let Some(open) = turn.open_calls().into_iter().next() else { return Ok(()) };
            turn.start_call(&open).await?;
            if open.position().number() % 2 == 0 { turn.record_partial_output(&open, "half").await } else { Ok(()) }
        }
    }
}

struct Short;

#[async_trait::async_trait]
impl Summarizer for Short {
    async fn summarize(&self, _: SummaryRequest) -> Result<Summary, SummaryError> {
        Ok(Summary::Text("Short.".into()))
    }
}

/// A fork is rebuilt from its own log as what it was, and goes on.
async fn fork(session: &Session, disk: &Arc<Disk>, from_start: bool) {
    let temporary = tempfile::tempdir().unwrap();
    let folder = SessionFolder::new(temporary.path().join("child"));
    let mut how = Fork::new("child");
    if let Some(cursor) = session.history().cursors().next().filter(|_| from_start) {
        how = how.at(cursor);
    }
    let before = entries(session);
    let child = session.fork(&how, &folder, options(disk)).await.unwrap();
    assert_eq!(entries(session), before);
    let (live, next) = (entries(&child), child.preview().input_json());
    child.close().await.unwrap();
    let child = Session::resume(&folder, options(disk)).await.unwrap().session;
    assert_eq!((entries(&child), child.preview().input_json()), (live, next));
    let turn = child.begin_turn(UserInput::text("elsewhere")).unwrap();
    let step = turn.next_step().await.unwrap();
    turn.mark_sent(&step).await.unwrap();
    assert!(turn.next_step().await.unwrap().appended().is_empty());
}

/// The same with everything that rewrites a history.
fn life() -> impl Strategy<Value = Vec<Op>> {
    let rewriting = prop_oneof![
        3 => any::<bool>().prop_map(|now| Op::Compact { now }),
        3 => (1_u8..4).prop_map(Op::Rollback),
        1 => any::<bool>().prop_map(|from_start| Op::Fork { from_start }),
        1 => Just(Op::Fact),
        1 => Just(Op::Touch),
    ];
    let op = prop_oneof![6 => op(), 2 => rewriting];
    let turn = proptest::collection::vec(op, 2..8).prop_map(|rest| {
        let mut ops = vec![Op::Begin(1), Op::Step { sent: true }, Op::Calls(1), Op::Output { size: 4_500 }];
        ops.extend(rest);
        ops.push(Op::Finish);
        ops
    });
    proptest::collection::vec(turn, 1..4).prop_map(|turns| turns.concat())
}

async fn session_on(file: &SharedFile, disk: &Arc<Disk>) -> Session {
    let writer = LogWriter::new(file.clone(), "log", WriterStart::NEW);
    Session::create_on(writer, new_session(), options(disk)).await.unwrap()
}

fn run(test: impl Future<Output = ()>) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(test);
}

proptest! {
    #![proptest_config(at_least(100))]

    /// A log that refuses now and then changes nothing but time: what failed is said by the next try, once, and the
    /// history is that of a session whose log never failed. And once a step was taken, nothing is left to be said.
    #[test]
    fn law_7_the_baseline_is_what_the_model_was_told(
        ops in conversation(),
        free in proptest::collection::vec(proptest::option::of(0_usize..900), 40),
    ) {
        run(async {
            let files = || Disk::new(with_web(project("Use tabs.")));
            let (disk, calm_disk) = (files(), files());
            let (file, calm_file) = (SharedFile::default(), SharedFile::default());
            let (session, calm) = (session_on(&file, &disk).await, session_on(&calm_file, &calm_disk).await);
            for (op, free) in ops.iter().zip(free.iter().chain(std::iter::repeat(&None))) {
                let before = (entries(&session), session.preview().proof().clone());
                file.with(|state| state.faults.free = *free);
                let first_try = perform(&session, &disk, op).await;
                file.with(|state| state.faults.free = None);
                if let Err(error) = first_try {
                    assert!(error.is_retryable(), "{error}");
                    let kept = entries(&session);
                    // A step whose mark could not be written was recorded all the same: that is another call.
                    if !matches!(op, Op::Step { .. }) {
                        assert_eq!((kept, session.preview().proof().clone()), before);
                    }
                    perform(&session, &disk, op).await.unwrap();
                }
                perform(&calm, &calm_disk, op).await.unwrap();
                assert_eq!(entries(&session), entries(&calm));
            }
            if let Some(turn) = session.live_turn() {
                turn.abort(AbortReason::Replaced).await.unwrap();
            }
            let turn = session.begin_turn(UserInput::text("last")).unwrap();
            turn.next_step().await.unwrap();
            assert!(turn.next_step().await.unwrap().appended().is_empty());
        });
    }

    /// The process stops between any two writes. What is rebuilt is what was live: history, baseline, settings, and the
    /// prompt, up to what closes a turn that was live.
    #[test]
    fn law_8_what_was_acknowledged_is_rebuilt_after_a_stop_between_any_two_writes(ops in conversation()) {
        run(stopped_after_each_write(&ops));
    }

    /// The same over compactions, rollbacks, forks and aborts. What is rebuilt reads the log from its newest checkpoint.
    #[test]
    fn law_8_a_whole_life_is_rebuilt_after_a_stop_between_any_two_writes(ops in life()) {
        run(stopped_after_each_write(&ops));
    }
}

/// Does everything, and after each write goes on from a copy of the log.
async fn stopped_after_each_write(ops: &[Op]) {
    let disk = Disk::new(with_web(project("Use tabs.")));
    let file = SharedFile::default();
    let session = session_on(&file, &disk).await;
    let temporary = tempfile::tempdir().unwrap();
    let mut logged = 0;
    for (number, op) in ops.iter().enumerate() {
        perform(&session, &disk, op).await.unwrap();
        let bytes = file.bytes();
        if bytes.len() == logged {
            continue;
        }
        logged = bytes.len();
        let folder = SessionFolder::new(temporary.path().join(number.to_string()));
        std::fs::create_dir_all(folder.path()).unwrap();
        std::fs::write(folder.log_path(), &bytes).unwrap();
        is_rebuilt(&session, &disk, &folder).await;
    }
    if let Some(turn) = session.live_turn() {
        turn.abort(AbortReason::Interrupted).await.unwrap();
    }
    let folder = SessionFolder::new(temporary.path().join("end"));
    std::fs::create_dir_all(folder.path()).unwrap();
    std::fs::write(folder.log_path(), file.bytes()).unwrap();
    goes_on_alike(&session, &disk, &folder).await;
}

/// The live session and the one that is made of its log say the same in their next steps, whatever changed and was not
/// told.
async fn goes_on_alike(session: &Session, disk: &Arc<Disk>, folder: &SessionFolder) {
    let manager = AgentsMdManager::on_blocking(Discovery::default(), Arc::clone(disk));
    let options = SessionOptions::new(session.settings(), moment()).with_instructions(manager);
    let resumed = Session::resume(folder, options).await.unwrap().session;
    session.invalidate_instructions();
    let mut prompts = Vec::new();
    for session in [session, &resumed] {
        let turn = session.begin_turn(UserInput::text("last")).unwrap();
        let step = turn.next_step().await.unwrap();
        assert!(step.prompt().proof().is_legal());
        prompts.push((turn.id().clone(), step.prompt().input_json(), stored(session)));
    }
    assert_eq!(prompts[0], prompts[1]);
}

/// Resumes a copy of the log of a live session; what comes of it is what the live one is.
async fn is_rebuilt(session: &Session, disk: &Arc<Disk>, folder: &SessionFolder) {
    let options = || {
        let manager = AgentsMdManager::on_blocking(Discovery::default(), Arc::clone(disk));
        SessionOptions::new(session.settings(), moment()).with_instructions(manager)
    };
    let resumed = Session::resume(folder, options()).await.unwrap();
    assert!(resumed.report.is_clean());
    let (live, rebuilt) = (entries(session), entries(&resumed.session));
    assert_eq!(rebuilt[..live.len()], live);
    let notices = rebuilt.len() - live.len();
    assert!(notices <= usize::from(resumed.interrupted.is_some()), "{rebuilt:#?}");
    let (now, then) = (session.history(), resumed.session.history());
    assert_eq!(then.world_state_baseline(), now.world_state_baseline());
    let reference =
        |history: &HistorySnapshot| history.reference_context_item().map(|context| context.as_str().to_owned());
    assert_eq!(reference(&then), reference(&now));
    assert_eq!(then.history_version(), now.history_version());

    let (here, there) = (session.preview(), resumed.session.preview());
    assert!(there.proof().is_legal(), "{:?}", there.proof());
    if now.history_version() == 0 {
        assert!(there.proof().extends(), "{:?}", there.proof());
        assert_eq!(matches!(here.proof(), Proof::First), matches!(there.proof(), Proof::First));
    }
    match &resumed.interrupted {
        None => {
            assert_eq!(here.input_json(), there.input_json());
            // Both go on in the same way.
            let turn = resumed.session.begin_turn(UserInput::text("next")).unwrap();
            let next = turn.next_step().await.unwrap();
            assert!(next.prompt().proof().is_legal(), "{:?}", next.prompt().proof());
            assert!(now.history_version() > 0 || next.prompt().proof().extends(), "{:?}", next.prompt().proof());
            assert!(turn.next_step().await.unwrap().appended().is_empty());
        }
        Some(interrupted) => {
            // Nothing but the synthetic outputs of the calls that were open tells the two apart, and nothing was said of
            // those before.
            if interrupted.closed_calls.is_empty() {
                assert!(there.input_json().starts_with(here.input_json().strip_suffix(']').unwrap()));
            }
            // Who comes next says the same of them.
            let (closed, said) = (entries(&resumed.session), there.input_json());
            resumed.session.close().await.unwrap();
            let again = Session::resume(folder, options()).await.unwrap();
            assert!(again.interrupted.is_none());
            assert_eq!((entries(&again.session), again.session.preview().input_json()), (closed, said));
        }
    }
}

/// A write that was torn by the end of the process leaves whole records of one batch. Whatever is missing, the model is told
/// everything, and nothing more than once again.
#[tokio::test]
async fn a_batch_torn_at_any_record_repeats_each_notice_at_most_once() {
    let disk = Disk::project("Use tabs.");
    let file = SharedFile::default();
    let session = session_on(&file, &disk).await;
    crate::stage::simple_turn(&session, "one", "1").await;
    disk.becomes(project("Use two spaces."));
    session.invalidate_instructions();
    session.set_model(ModelSettings::from("m2").with_instructions("Be brief."));
    crate::stage::simple_turn(&session, "two", "2").await;
    let bytes = file.bytes();
    let (lines, _) = read(&bytes);
    let mut torn_batches = 0;
    for line in &lines[1..] {
        let temporary = tempfile::tempdir().unwrap();
        let folder = SessionFolder::new(temporary.path().join("s1"));
        std::fs::create_dir_all(folder.path()).unwrap();
        let cut = usize::try_from(line.offset()).unwrap();
        std::fs::write(folder.log_path(), &bytes[..cut + 20]).unwrap();
        let manager = AgentsMdManager::on_blocking(Discovery::default(), Arc::clone(&disk));
        let options = SessionOptions::new(session.settings(), moment()).with_instructions(manager);
        let resumed = Session::resume(&folder, options).await.unwrap();
        assert_eq!(resumed.report.torn_tail.map(|tail| tail.offset), Some(line.offset()));
        let turn = resumed.session.begin_turn(UserInput::text("next")).unwrap();
        let step = turn.next_step().await.unwrap();
        assert!(step.prompt().proof().extends());
        assert!(turn.next_step().await.unwrap().appended().is_empty());
        let items = stored(&resumed.session);
        let times = |text: &str| items.iter().filter(|item| item.contains(text)).count();
        for text in ["<permissions instructions>", "Use two spaces.", "<environment_context>"] {
            assert!((1..=2).contains(&times(text)), "{text} is said {} times: {items:#?}", times(text));
        }
        assert!(times("Use tabs.") <= 2 && times("<model_switch>") <= 2, "{items:#?}");
        torn_batches += usize::from(times("<permissions instructions>") == 2 || times("Use two spaces.") == 2);
    }
    assert!(torn_batches >= 4, "no batch was torn behind its items: {torn_batches}");
}
