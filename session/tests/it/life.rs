//! Rollback, fork, and work that was interrupted.

use context_fragments::{WireItem, json::ObjectWriter};
use context_manager::{ByteBudget, ForkPolicy, OpenCalls, Prompt};
use session::{
    AbortReason, CallState, Compaction, CompactionTrigger, Error, Fork, ForkInstructions, Preset, Session, Summarizer,
    Summary, SummaryError, SummaryRequest, ToolResult, UserInput,
    rollout::{LoggedLine, RawJson, RolloutItem, SessionFolder},
};

use crate::{
    resume::{Desk, entries},
    sample::file_bytes,
    stage::{Disk, Stage, call, history, options, project, send, simple_turn, stored},
};

async fn turn_after_break(session: &Session, said: &str) {
    let turn = session.begin_turn(UserInput::text(said)).unwrap();
    let step = turn.next_step().await.unwrap();
    assert!(turn.mark_sent(&step).await.unwrap().proof.is_legal());
    turn.record([WireItem::assistant_text("ok")]).await.unwrap();
    turn.finish().await.unwrap();
}

#[tokio::test]
async fn t12_a_rollback_takes_whole_turns_and_what_was_added_to_them() {
    let desk = Desk::new();
    let session = desk.create().await;
    let turn = session.begin_turn(UserInput::text("one")).unwrap();
    send(&turn).await;
    turn.steer(UserInput::text("and quickly")).unwrap();
    send(&turn).await;
    turn.record([WireItem::assistant_text("1")]).await.unwrap();
    turn.finish().await.unwrap();
    let first = entries(&session);
    assert_eq!(session.history().cursors().count(), 1, "what was added is no turn");
    simple_turn(&session, "two", "2").await;
    desk.disk.becomes(project("Use two spaces."));
    session.invalidate_instructions();
    simple_turn(&session, "three", "3").await;
    let second = session.history().cursors().nth(1).unwrap();

    let live = session.begin_turn(UserInput::text("four")).unwrap();
    assert!(matches!(session.rollback(1).await.unwrap_err(), Error::TurnLive { .. }));
    live.abort(AbortReason::Replaced).await.unwrap();
    let done = session.rollback_to(second).await.unwrap();
    assert_eq!(done.turns, 2);
    let items = |entries: &[String]| entries.len();
    assert_eq!(history(&session).len(), 5, "{:?}", history(&session));
    assert!(items(&entries(&session)) <= items(&first) + 2);
    // Twice is once, and one record.
    let records = desk.folder.events().unwrap().count();
    assert_eq!(session.rollback_to(second).await.unwrap().turns, 0);
    assert_eq!(desk.folder.events().unwrap().count(), records);

    let live = entries(&session);
    session.close().await.unwrap();
    let resumed = Session::resume(&desk.folder, options(&desk.disk)).await.unwrap().session;
    assert_eq!(entries(&resumed), live);
    // What is true is said again, since the turn in which it was said is gone.
    turn_after_break(&resumed, "again").await;
    let told = stored(&resumed).iter().filter(|item| item.contains("Use two spaces.")).count();
    assert_eq!(told, 1, "{:#?}", history(&resumed));
    simple_turn(&resumed, "more", "m").await;
    assert_eq!(resumed.rollback(99).await.unwrap().turns, 3);
    assert_eq!(history(&resumed).iter().filter(|item| item.starts_with("assistant")).count(), 0);
    assert_eq!(resumed.rollback(0).await.unwrap().turns, 0);
}

struct Short;

#[async_trait::async_trait]
impl Summarizer for Short {
    async fn summarize(&self, _: SummaryRequest) -> Result<Summary, SummaryError> {
        Ok(Summary::Text("Short.".into()))
    }
}

async fn with_long_output(session: &Session, said: &str) {
    let turn = session.begin_turn(UserInput::text(said)).unwrap();
    let step = turn.next_step().await.unwrap();
    turn.mark_sent(&step).await.unwrap();
    turn.record([call("c1")]).await.unwrap();
    turn.record_output(&turn.open_calls()[0], "line of output\n".repeat(400)).await.unwrap();
    send(&turn).await;
    turn.record([WireItem::assistant_text("1")]).await.unwrap();
    turn.finish().await.unwrap();
}

#[tokio::test]
async fn t14_a_rollback_over_a_compaction_is_refused_before_and_after_a_resume() {
    let desk = Desk::new();
    let session = desk.create().await;
    with_long_output(&session, "one").await;
    let old = session.history().cursors().next().unwrap();
    session.compact(&Compaction::new(CompactionTrigger::Manual), &Short).await.unwrap();
    let window = stored(&session);
    turn_after_break(&session, "two").await;
    for resumed in [false, true] {
        let session = match resumed {
            false => session.clone(),
            true => {
                session.close().await.unwrap();
                Session::resume(&desk.folder, options(&desk.disk)).await.unwrap().session
            }
        };
        let before = entries(&session);
        for error in [session.rollback_to(old).await.unwrap_err(), session.rollback(2).await.unwrap_err()] {
            let Error::History { source, .. } = &error else { panic!("{error}") };
            assert!(source.is_beyond_epoch(), "{source}");
        }
        assert_eq!(entries(&session), before);
        if resumed {
            // The turn behind the compaction goes, and exactly what the compaction left stands: nothing was told yet.
            assert_eq!(session.rollback(1).await.unwrap().turns, 1);
            assert_eq!(stored(&session), window);
            assert!(session.history().reference_context_item().is_none());
            assert!(session.history().world_state_baseline().is_none());
            let last = desk.folder.events().unwrap().last().unwrap().unwrap();
            assert_eq!(last.record.item.type_name(), "rollback");
            turn_after_break(&session, "three").await;
            assert_eq!(stored(&session)[..window.len()], window);
            assert_eq!(history(&session)[window.len()], "developer(<permissions instructions>)");
        }
    }
}

#[tokio::test]
async fn a_fork_goes_on_alone_from_its_own_log() {
    let desk = Desk::new();
    let session = desk.create().await;
    simple_turn(&session, "one", "1").await;
    simple_turn(&session, "two", "2").await;
    let cursor = session.history().cursors().nth(1).unwrap();
    let before = entries(&session);
    let temporary = tempfile::tempdir().unwrap();
    let folder = SessionFolder::new(temporary.path().join("child"));
    let fork = Fork::new("child").at(cursor);
    let child = session.fork(&fork, &folder, options(&desk.disk)).await.unwrap();
    assert_eq!(entries(&session), before, "the parent is not changed");
    assert_eq!(child.id(), "child");
    assert_eq!(stored(&child), stored(&session)[..4]);
    let parent = folder.events().unwrap().next().unwrap().unwrap();
    let RolloutItem::SessionMeta(meta) = parent.record.item else { panic!("a header comes first") };
    assert_eq!(meta.parent.unwrap().position, Some(cursor.position().number()));

    // Inherited instructions are in the history: nothing is said again.
    let turn = child.begin_turn(UserInput::text("other")).unwrap();
    let step = turn.next_step().await.unwrap();
    assert_eq!(step.appended().len(), 1, "{:?}", history(&child));
    assert_eq!(turn.id().as_str(), "turn-2");
    let live = entries(&child);
    drop((turn, step));
    child.close().await.unwrap();
    // The parent may go away.
    session.close().await.unwrap();
    std::fs::remove_dir_all(desk.folder.path()).unwrap();
    let resumed = Session::resume(&folder, options(&desk.disk)).await.unwrap().session;
    assert_eq!(entries(&resumed)[..live.len()], live);
    turn_after_break(&resumed, "more").await;
}

#[tokio::test]
async fn a_fork_of_a_turn_that_runs_closes_its_calls_and_may_look_for_instructions_anew() {
    let desk = Desk::new();
    let session = desk.create().await;
    let turn = session.begin_turn(UserInput::text("do both")).unwrap();
    send(&turn).await;
    turn.record([call("c1"), call("c2")]).await.unwrap();
    let temporary = tempfile::tempdir().unwrap();
    let elsewhere = Disk::project("Use two spaces.");
    let policy = ForkPolicy::child_of("c1", "You are the child.").with_others(OpenCalls::Drop);
    let fork = Fork::new("child").with_policy(policy).with_instructions(ForkInstructions::Rediscovered);
    let folder = SessionFolder::new(temporary.path().join("child"));
    let child = session.fork(&fork, &folder, options(&elsewhere)).await.unwrap();
    assert_eq!(history(&child)[3..], ["call(c1)", "output(c1, You are the child.)"]);
    turn_after_break(&child, "go").await;
    let told = stored(&child).iter().filter(|item| item.contains("Use two spaces.")).count();
    assert_eq!(told, 1);
    assert_eq!(turn.open_calls().len(), 2, "the parent's calls still run");
}

#[tokio::test]
async fn s16_after_a_crash_the_model_reads_what_became_of_each_call() {
    let desk = Desk::new();
    let session = desk.create().await;
    let turn = session.begin_turn(UserInput::text("do all")).unwrap();
    send(&turn).await;
    turn.record([call("c1"), call("c2"), call("c3")]).await.unwrap();
    let calls = turn.open_calls();
    turn.start_call(&calls[1]).await.unwrap();
    turn.start_call(&calls[2]).await.unwrap();
    turn.record_partial_output(&calls[2], "half of it").await.unwrap();
    let logged = desk.folder.events().unwrap().count();
    drop(turn);
    session.close().await.unwrap();
    let resumed = Session::resume(&desk.folder, options(&desk.disk)).await.unwrap();
    let interrupted = resumed.interrupted.unwrap();
    let partial = CallState::Partial("half of it".into());
    assert_eq!(interrupted.states, [CallState::NotStarted, CallState::ResultUnknown, partial]);
    let session = resumed.session;
    let told = stored(&session).last().unwrap().clone();
    assert!(told.contains("check what they did before you repeat them"), "{told}");
    assert!(desk.folder.events().unwrap().count() > logged, "the evidence stays");
    let turn = session.begin_turn(UserInput::text("and?")).unwrap();
    let step = send(&turn).await;
    assert_eq!(
        synthetic(step.prompt()),
        [
            "aborted: the tool was not started",
            "aborted: the tool was started and its outcome is unknown; check what it has done before you call it again",
            "aborted: the tool was stopped while it ran. It had put out:\nhalf of it",
        ]
    );
    assert!(!told.contains("not started"), "what the outputs say is said once: {told}");
    turn.record([WireItem::assistant_text("I will look.")]).await.unwrap();

    // A result that arrives after all is appended, and moves nothing.
    let late = ToolResult::text("it did it");
    session.record_late_output(&interrupted.closed_calls[1], late.clone()).await.unwrap();
    let error = session.record_late_output(&interrupted.closed_calls[1], late).await.unwrap_err();
    assert!(matches!(error, Error::NotOpen { .. }), "{error}");
    let step = send(&turn).await;
    assert!(step.prompt().input_json().contains("it did it"));
    let live = entries(&session);
    drop((turn, step));
    session.close().await.unwrap();
    let resumed = Session::resume(&desk.folder, options(&desk.disk)).await.unwrap();
    assert_eq!(entries(&resumed.session)[..live.len()], live);
}

#[tokio::test]
async fn s16_a_host_that_says_nothing_of_starts_reads_that_the_result_is_unknown() {
    let desk = Desk::new();
    let session = desk.create().await;
    let turn = session.begin_turn(UserInput::text("do it")).unwrap();
    send(&turn).await;
    turn.record([call("c1")]).await.unwrap();
    drop(turn);
    session.close().await.unwrap();
    let resumed = Session::resume(&desk.folder, options(&desk.disk)).await.unwrap();
    assert_eq!(resumed.interrupted.unwrap().states, [CallState::ResultUnknown]);
    let said = synthetic(&resumed.session.preview());
    assert!(said.len() == 1 && said[0].contains("its outcome is unknown"), "{said:?}");
}

/// What the outputs say that no record holds.
fn synthetic(prompt: &Prompt) -> Vec<String> {
    let outputs =
        prompt.items().iter().filter_map(|item| Some(item.item().json().member("output")?.to_str()?.into_owned()));
    outputs.filter(|output| output.starts_with("aborted")).collect()
}

/// The reference says `aborted` and no more, so the notice says what is known.
#[tokio::test]
async fn s16_the_preset_of_the_reference_keeps_its_word_and_the_notice_tells_the_rest() {
    let desk = Desk::new();
    let codex = || options(&desk.disk).with_preset(Preset::Codex);
    let session = Session::create(&desk.folder, crate::stage::new_session(), codex()).await.unwrap();
    let turn = session.begin_turn(UserInput::text("do all")).unwrap();
    send(&turn).await;
    turn.record([call("c1"), call("c2"), call("c3")]).await.unwrap();
    let calls = turn.open_calls();
    turn.start_call(&calls[1]).await.unwrap();
    turn.record_partial_output(&calls[2], "half of it").await.unwrap();
    drop(turn);
    session.close().await.unwrap();
    let session = Session::resume(&desk.folder, codex()).await.unwrap().session;
    assert_eq!(synthetic(&session.preview()), ["aborted"; 3]);
    let told = stored(&session).last().unwrap().clone();
    assert!(told.contains(r"\n- sh (c1): not started\n- sh (c2): started, result unknown\n- sh (c3): finished with partial output:\nhalf of it"), "{told}");
}

/// What is known of a call outlives rewrites, forks and resumes, and nothing that was sent ever says something else.
#[tokio::test]
async fn what_was_said_of_a_call_is_said_again_after_a_rewrite_a_fork_and_a_resume() {
    let desk = Desk::new();
    let mut session = desk.create().await;
    let turn = session.begin_turn(UserInput::text("do it").with_image(image(), "auto")).unwrap();
    send(&turn).await;
    turn.record([call("c0"), call("c1"), call("c2"), call("c3")]).await.unwrap();
    let calls = turn.open_calls();
    turn.record_output(&calls[0], "line\n".repeat(2_000)).await.unwrap();
    turn.start_call(&calls[2]).await.unwrap();
    turn.record_partial_output(&calls[3], "words ".repeat(5_000)).await.unwrap();
    turn.abort(AbortReason::Interrupted).await.unwrap();
    let said = synthetic(&session.preview());
    assert_eq!(said.len(), 3);
    assert!(said[2].contains("words") && said[2].len() < 4_200 && said[2].contains("truncated"), "{}", said[2]);
    simple_turn(&session, "and on", "ok").await;
    for rewrite in [0, 1, 2] {
        match rewrite {
            0 => drop(session.shorten_outputs(100, 0).await.unwrap().unwrap()),
            1 => drop(session.elide_over(&ByteBudget::new(100).keeping_newest(0)).await.unwrap().unwrap()),
            _ => {}
        }
        assert_eq!(synthetic(&session.preview()), said);
        turn_after_break(&session, "more").await;
        assert_eq!(synthetic(&session.preview()), said);
        let temporary = tempfile::tempdir().unwrap();
        let folder = SessionFolder::new(temporary.path().join("child"));
        let child = session.fork(&Fork::new("child"), &folder, options(&desk.disk)).await.unwrap();
        assert_eq!(synthetic(&child.preview()), said);
        // It was sent, so a result that comes now is a message of its own there too.
        let turn = child.begin_turn(UserInput::text("elsewhere")).unwrap();
        send(&turn).await;
        turn.record([WireItem::function_call_output("c1", "late")]).await.unwrap();
        assert_eq!(synthetic(&child.preview())[..3], said);
        send(&turn).await;
        session.close().await.unwrap();
        session = Session::resume(&desk.folder, options(&desk.disk)).await.unwrap().session;
        assert_eq!(synthetic(&session.preview()), said);
        simple_turn(&session, "again", "ok").await;
    }
}

fn image() -> String {
    format!("data:image/png;base64,{}", "A".repeat(4_000))
}

/// A log from before the calls of an aborted turn were written down: it goes on saying what it said.
#[tokio::test]
async fn a_log_that_says_nothing_of_its_calls_says_aborted() {
    let desk = Desk::new();
    let session = desk.create().await;
    let turn = session.begin_turn(UserInput::text("do it")).unwrap();
    send(&turn).await;
    turn.record([call("c1")]).await.unwrap();
    turn.abort(AbortReason::Interrupted).await.unwrap();
    session.close().await.unwrap();
    let records: Vec<_> = desk.folder.events().unwrap().map(|event| event.unwrap().record).collect();
    let other = Desk::new();
    std::fs::create_dir_all(other.folder.path()).unwrap();
    let drafts = records.into_iter().map(|mut record| {
        if let RolloutItem::TurnAborted(turn) = &mut record.item {
            assert_eq!(turn.calls.len(), 1);
            turn.calls.clear();
        }
        record.into()
    });
    std::fs::write(other.folder.log_path(), crate::sample::log_of(&drafts.collect::<Vec<_>>())).unwrap();
    let session = Session::resume(&other.folder, options(&desk.disk)).await.unwrap().session;
    assert_eq!(synthetic(&session.preview()), ["aborted"]);
    simple_turn(&session, "and on", "ok").await;
    session.close().await.unwrap();
    let session = Session::resume(&other.folder, options(&desk.disk)).await.unwrap().session;
    assert_eq!(synthetic(&session.preview()), ["aborted"]);
}

/// Behind a checkpoint nobody sees the old records, and a call that was not started is still known not to be.
#[tokio::test]
async fn a_host_that_says_when_calls_start_is_known_behind_a_compaction_too() {
    let desk = Desk::new();
    let session = desk.create().await;
    with_long_output(&session, "one").await;
    let turn = session.begin_turn(UserInput::text("two")).unwrap();
    send(&turn).await;
    turn.record([call("c2")]).await.unwrap();
    turn.start_call(&turn.open_calls()[0]).await.unwrap();
    turn.record_output(&turn.open_calls()[0], "ok").await.unwrap();
    send(&turn).await;
    turn.finish().await.unwrap();
    session.compact(&Compaction::new(CompactionTrigger::Manual), &Short).await.unwrap();
    session.close().await.unwrap();
    let session = Session::resume(&desk.folder, options(&desk.disk)).await.unwrap().session;
    let turn = session.begin_turn(UserInput::text("three")).unwrap();
    let step = turn.next_step().await.unwrap();
    turn.mark_sent(&step).await.unwrap();
    turn.record([call("c3")]).await.unwrap();
    drop((turn, step));
    session.close().await.unwrap();
    let resumed = Session::resume(&desk.folder, options(&desk.disk)).await.unwrap();
    assert_eq!(resumed.interrupted.unwrap().states, [CallState::NotStarted]);
}

#[tokio::test]
async fn two_calls_with_one_id_are_answered_in_any_order() {
    let desk = Desk::new();
    let session = desk.create().await;
    let turn = session.begin_turn(UserInput::text("do both")).unwrap();
    send(&turn).await;
    let twice = [call("c1"), WireItem::function_call("sh", r#"{"other":1}"#, "c1")];
    turn.record(twice).await.unwrap();
    let calls = turn.open_calls();
    turn.record_output(&calls[1], "second").await.unwrap();
    assert_eq!(turn.open_calls(), calls[..1]);
    drop(turn);
    session.close().await.unwrap();
    // The log knows which one it was.
    let resumed = Session::resume(&desk.folder, options(&desk.disk)).await.unwrap();
    assert_eq!(resumed.interrupted.unwrap().closed_calls, calls[..1]);
}

#[tokio::test]
async fn a_failed_turn_says_which_calls_were_not_started() {
    let stage = Stage::new().await;
    let turn = stage.session.begin_turn(UserInput::text("do both")).unwrap();
    send(&turn).await;
    turn.record([call("c1"), call("c2")]).await.unwrap();
    turn.start_call(&turn.open_calls()[0]).await.unwrap();
    let aborted = turn.abort(AbortReason::Failed).await.unwrap();
    assert_eq!(aborted.states, [CallState::ResultUnknown, CallState::NotStarted]);
    let said = synthetic(&stage.session.preview());
    assert!(said[0].contains("its outcome is unknown") && said[1].ends_with("was not started"), "{said:?}");
}

#[tokio::test]
async fn what_must_not_be_recorded_is_in_no_summary_and_in_no_partial_output() {
    struct Leaks;
    #[async_trait::async_trait]
    impl Summarizer for Leaks {
        async fn summarize(&self, _: SummaryRequest) -> Result<Summary, SummaryError> {
            Ok(Summary::Text("The key is AKIAIOSFODNN7EXAMPLE.".into()))
        }
    }
    let disk = Disk::project("Use tabs.");
    let options = options(&disk).with_redaction(session::SecretPatterns);
    let stage = Stage::with(&disk, options).await;
    with_long_output(&stage.session, "one").await;
    stage.session.compact(&Compaction::new(CompactionTrigger::Manual), &Leaks).await.unwrap();
    let turn = stage.session.begin_turn(UserInput::text("two")).unwrap();
    let step = turn.next_step().await.unwrap();
    turn.mark_sent(&step).await.unwrap();
    turn.record([call("c2")]).await.unwrap();
    turn.record_partial_output(&turn.open_calls()[0], "found AKIAIOSFODNN7EXAMPLE").await.unwrap();
    let log = String::from_utf8(stage.file.bytes()).unwrap();
    assert!(log.contains("The key is ") && log.contains("found "), "{log}");
    assert!(!log.contains("AKIAIOSFODNN7EXAMPLE"), "{log}");
    assert!(stored(&stage.session).iter().all(|item| !item.contains("AKIAIOSFODNN7EXAMPLE")));
}

/// A folder of its own with the same log, whose last record of this type says something else of calls.
fn with_calls(desk: &Desk, type_name: &str, calls: &str) -> Desk {
    let other = Desk::new();
    std::fs::create_dir_all(other.folder.path()).unwrap();
    let lines = crate::sample::read(&file_bytes(&desk.folder.log_path())).0;
    let last = lines.iter().rposition(|line| line.type_name() == type_name).unwrap();
    let mut drafts: Vec<_> = lines.iter().map(LoggedLine::to_draft).collect();
    let mut record = lines[last].decode().unwrap();
    let mut object = ObjectWriter::new();
    for member in lines[last].payload().unwrap().members().filter(|(key, _)| !key.is_text("calls")) {
        object.member(member);
    }
    object.raw("calls", calls);
    let payload = RawJson::parse(&object.finish()).unwrap();
    record.item = RolloutItem::Other { type_name: type_name.to_owned(), version: 1, payload };
    drafts[last] = record.into();
    std::fs::write(other.folder.log_path(), crate::sample::log_of(&drafts)).unwrap();
    other
}

/// Two turns that were aborted: in the first one c1 got an output and c2 none, which was sent; in the second one c3 got
/// none, which was not. Gives the positions of all three.
async fn two_aborted(session: &Session) -> [u64; 3] {
    let turn = session.begin_turn(UserInput::text("do it")).unwrap();
    send(&turn).await;
    turn.record([call("c1"), call("c2")]).await.unwrap();
    let mut calls = turn.open_calls();
    turn.start_call(&calls[0]).await.unwrap();
    turn.record_output(&calls[0], "ok").await.unwrap();
    turn.abort(AbortReason::Replaced).await.unwrap();
    let turn = session.begin_turn(UserInput::text("and this")).unwrap();
    send(&turn).await;
    turn.record([call("c3")]).await.unwrap();
    calls.extend(turn.open_calls());
    turn.start_call(&calls[2]).await.unwrap();
    turn.abort(AbortReason::Replaced).await.unwrap();
    let said = synthetic(&session.preview());
    assert!(said.len() == 2 && said[0] == NOT_STARTED && said[1].contains("outcome is unknown"), "{said:?}");
    [0, 1, 2].map(|index| calls[index].position().number())
}

const NOT_STARTED: &str = "aborted: the tool was not started";

/// Whatever a log says of its calls, what was sent stays, and what cannot be read says nothing or is named.
#[tokio::test]
async fn what_a_log_says_of_calls_flips_nothing_that_was_sent() {
    let desk = Desk::new();
    let session = desk.create().await;
    let [answered, sent, unsent] = two_aborted(&session).await;
    let live = synthetic(&session.preview());
    session.close().await.unwrap();

    let of = |position: u64, rest: &str| format!(r#"[{{"call":{position},{rest}}}]"#);
    let says_nothing = [
        "null".to_owned(),
        "[]".to_owned(),
        of(unsent, r#""state":"dreamt""#),
        of(unsent, r#""state":null"#),
        of(unsent, r#""text":"half""#),
        of(answered, r#""state":"not_started""#),
        of(sent, r#""state":"partial","text":"half""#),
        of(0, r#""state":"result_unknown""#),
        of(unsent + 1, r#""state":"result_unknown""#),
        of(u64::MAX, r#""state":"result_unknown""#),
    ];
    for calls in says_nothing {
        let other = with_calls(&desk, "turn_aborted", &calls);
        let resumed = Session::resume(&other.folder, options(&desk.disk)).await.unwrap();
        assert!(resumed.report.is_clean() && resumed.interrupted.is_none(), "{calls}");
        let prompt = resumed.session.preview();
        assert_eq!(synthetic(&prompt), [NOT_STARTED, "aborted"], "{calls}");
        assert!(prompt.proof().extends(), "{calls}");
    }
    let partial = with_calls(&desk, "turn_aborted", &of(unsent, r#""state":"partial""#));
    let session = Session::resume(&partial.folder, options(&desk.disk)).await.unwrap().session;
    assert!(synthetic(&session.preview())[1].contains("before it had put out anything"));

    // A record that is not what its type says is told and passed over, and who comes next closes the turn.
    let misshapen = [
        "7".to_owned(),
        r#""not_started""#.to_owned(),
        "{}".to_owned(),
        "[7]".to_owned(),
        "[null]".to_owned(),
        r#"[{"state":"not_started"}]"#.to_owned(),
        of(unsent, r#""state":7"#),
        of(unsent, r#""state":"partial","text":7"#),
        format!(r#"[{{"call":"{unsent}","state":"not_started"}}]"#),
        r#"[{"call":-1,"state":"not_started"}]"#.to_owned(),
        r#"[{"call":4.0,"state":"not_started"}]"#.to_owned(),
    ];
    for calls in misshapen {
        let other = with_calls(&desk, "turn_aborted", &calls);
        let resumed = Session::resume(&other.folder, options(&desk.disk)).await.unwrap();
        let found: Vec<String> = resumed.report.findings.iter().map(ToString::to_string).collect();
        assert!(found.len() == 1 && found[0].contains("turn_aborted.calls"), "{calls}: {found:?}");
        assert_eq!(resumed.interrupted.unwrap().closed_calls.len(), 1, "{calls}");
        let prompt = resumed.session.preview();
        assert_eq!(synthetic(&prompt), live, "{calls}");
        assert!(prompt.proof().extends(), "{calls}");
    }
}

/// The same for the window of a fork.
#[tokio::test]
async fn what_a_window_says_of_calls_flips_nothing_that_was_sent() {
    let desk = Desk::new();
    let session = desk.create().await;
    let [answered, _, unsent] = two_aborted(&session).await;
    simple_turn(&session, "and on", "ok").await;
    let said = synthetic(&session.preview());
    let child = Desk::new();
    let forked = session.fork(&Fork::new("child"), &child.folder, options(&desk.disk)).await.unwrap();
    assert_eq!(synthetic(&forked.preview()), said);
    simple_turn(&forked, "elsewhere", "ok").await;
    forked.close().await.unwrap();
    // Of a window nothing was sent under the eyes of its reader: what it says of its calls is what they say.
    let calls = format!(r#"[{{"call":{answered},"state":"not_started"}},{{"call":{unsent},"state":"dreamt"}}]"#);
    for calls in ["null", "[]", &calls] {
        let other = with_calls(&child, "checkpoint", calls);
        let error = Session::resume(&other.folder, options(&desk.disk)).await.unwrap_err();
        assert!(matches!(error, Error::SentMismatch { .. }), "{calls}: {error}");
    }
    for calls in ["7", r#"[{"call":null,"state":"partial"}]"#] {
        let other = with_calls(&child, "checkpoint", calls);
        let error = Session::resume(&other.folder, options(&desk.disk)).await.unwrap_err();
        let told = error.to_string();
        assert!(told.contains("cannot be resumed") && told.contains("checkpoint.calls"), "{calls}: {told}");
    }
}
