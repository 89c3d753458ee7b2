//! Compaction: what is replaced, what stays, and that nothing happens halfway.

use std::{
    collections::VecDeque,
    future::Future,
    pin::{Pin, pin},
    sync::{Arc, Mutex},
    task::{Context, Poll},
    time::Duration,
};

use async_trait::async_trait;
use context_fragments::{Kind, UserShellCommand, WireItem};
use context_manager::{Proof, Rewrite, SUMMARY_KIND};
use session::{
    Compacted, Compaction, CompactionOutcome, CompactionTrigger, ContextInjection, CostModel, Error, ModelSettings,
    Session, Summarizer, Summary, SummaryError, SummaryRequest, UserInput, rollout::RolloutItem,
};

use crate::{
    resume::{Desk, entries},
    sample::read,
    stage::{Disk, Stage, call, history, options, project, send, short_item, simple_turn, stored},
};

/// Answers each request with the next of its answers, after giving way once; notes how large the requests were.
struct Script {
    answers: Mutex<VecDeque<Result<Summary, SummaryError>>>,
    asked: Mutex<Vec<(u64, usize, String)>>,
}

impl Script {
    fn new(answers: impl IntoIterator<Item = Result<Summary, SummaryError>>) -> Self {
        Self { answers: Mutex::new(answers.into_iter().collect()), asked: Mutex::default() }
    }

    fn says(text: &str) -> Self {
        Self::new([Ok(Summary::Text(text.into()))])
    }

    fn asked(&self) -> Vec<(u64, usize, String)> {
        self.asked.lock().unwrap().clone()
    }
}

#[async_trait]
impl Summarizer for Script {
    async fn summarize(&self, request: SummaryRequest) -> Result<Summary, SummaryError> {
        let last = request.prompt.items().last().map(|item| short_item(item.item())).unwrap_or_default();
        self.asked.lock().unwrap().push((request.prompt.input_tokens(), request.skipped, last));
        tokio::task::yield_now().await;
        self.answers.lock().unwrap().pop_front().unwrap()
    }
}

/// A turn with a tool whose output is long.
async fn long_turn(session: &Session, said: &str, id: &str) {
    let turn = session.begin_turn(UserInput::text(said)).unwrap();
    let step = turn.next_step().await.unwrap();
    assert!(turn.mark_sent(&step).await.unwrap().proof.is_legal());
    turn.record([call(id)]).await.unwrap();
    turn.record_output(&turn.open_calls()[0], "line of output\n".repeat(400)).await.unwrap();
    send(&turn).await;
    turn.record([WireItem::assistant_text(&format!("answer to {said}"))]).await.unwrap();
    turn.finish().await.unwrap();
}

async fn compact(session: &Session, compaction: &Compaction, script: &Script) -> Compacted {
    match session.compact(compaction, script).await.unwrap() {
        CompactionOutcome::Done(done) => done,
        other => panic!("{other:?}"),
    }
}

fn manual() -> Compaction {
    Compaction::new(CompactionTrigger::Manual)
}

/// How often each section stands in a prompt.
fn sections(items: &[String]) -> Vec<usize> {
    ["<permissions instructions>", "# AGENTS.md instructions", "<environment_context>"]
        .iter()
        .map(|marker| items.iter().map(|item| item.matches(marker).count()).sum())
        .collect()
}

#[tokio::test]
async fn t09_after_a_compaction_between_turns_each_section_stands_once_and_no_context_is_kept() {
    let mut stage = Stage::new().await;
    let session = stage.session.clone();
    session
        .record_user_shell_command(&UserShellCommand::new("ls", 0, Duration::from_millis(500), "a.rs"))
        .await
        .unwrap();
    long_turn(&session, "one", "c1").await;
    long_turn(&session, "two", "c2").await;
    stage.new_records();
    let script = Script::says("Both were answered.");
    let done = compact(&session, &manual().keeping(["Both were", "nobody says this"]), &script).await;
    assert_eq!(stage.new_records(), ["checkpoint", "parts"]);
    assert_eq!((done.injection, done.injected, done.skipped), (ContextInjection::NextStep, 0, 0));
    assert_eq!(done.missing, ["nobody says this"]);
    assert!(done.tokens_after < done.tokens_before);
    let left = history(&session);
    assert_eq!(left[..2], ["user(one)", "user(two)"]);
    assert!(left[2].starts_with("user(The conversation up to here was summed up"), "{left:?}");
    assert_eq!((left.len(), done.kept.len()), (3, 2));
    assert_eq!(session.history().items().last().unwrap().kinds(), [SUMMARY_KIND]);
    assert!(session.history().world_state_baseline().is_none());
    let asked = script.asked();
    assert!(asked.len() == 1 && asked[0].2.starts_with("user(Sum up this conversation"), "{asked:?}");

    let turn = session.begin_turn(UserInput::text("three")).unwrap();
    let step = turn.next_step().await.unwrap();
    let sent = turn.mark_sent(&step).await.unwrap();
    let Proof::Broken(_) = &sent.proof else { panic!("{:?}", sent.proof) };
    assert!(sent.proof.is_legal(), "{:?}", sent.proof);
    assert_eq!(sections(&stored(&session)), [1, 1, 1]);
    assert_eq!(history(&session).last().unwrap(), "user(three)");
    turn.record([WireItem::assistant_text("3")]).await.unwrap();
    turn.finish().await.unwrap();
    // And from here on prompts extend each other again.
    simple_turn(&session, "four", "4").await;
}

#[tokio::test]
async fn t09_a_compaction_inside_a_turn_says_the_context_before_the_last_words_of_the_user() {
    let stage = Stage::new().await;
    let session = stage.session.clone();
    long_turn(&session, "one", "c1").await;
    let turn = session.begin_turn(UserInput::text("two")).unwrap();
    send(&turn).await;
    turn.record([call("c2")]).await.unwrap();
    let error = session.compact(&Compaction::new(CompactionTrigger::MidTurn), &Script::new([])).await.unwrap_err();
    assert!(matches!(error, Error::OpenCalls { .. }), "{error}");
    turn.record_output(&turn.open_calls()[0], "line of output\n".repeat(400)).await.unwrap();
    let compaction = Compaction::new(CompactionTrigger::MidTurn);
    let done = compact(&session, &compaction, &Script::says("One is done, two runs.")).await;
    assert_eq!((done.injection, done.injected), (ContextInjection::Now, 2));
    let left = history(&session);
    assert_eq!(left[0], "user(one)");
    assert_eq!(left[1], "developer(<permissions instructions>)");
    assert!(left[2].starts_with("user(# AGENTS.md"), "{left:?}");
    assert_eq!(left[3], "user(two)");
    assert!(left[4].starts_with("user(The conversation up to here"), "{left:?}");
    assert_eq!(sections(&stored(&session)), [1, 1, 1]);
    let step = turn.next_step().await.unwrap();
    assert!(step.appended().is_empty(), "nothing is left to be said: {:?}", history(&session));
    turn.mark_sent(&step).await.unwrap();
    turn.record([WireItem::assistant_text("2")]).await.unwrap();
    turn.finish().await.unwrap();
    // The host may want it otherwise: then the next step says everything.
    let turn = session.begin_turn(UserInput::text("three")).unwrap();
    send(&turn).await;
    turn.record([call("c3")]).await.unwrap();
    turn.record_output(&turn.open_calls()[0], "line of output\n".repeat(400)).await.unwrap();
    let later = Compaction::new(CompactionTrigger::MidTurn).with_injection(ContextInjection::NextStep);
    compact(&session, &later, &Script::says("All is done.")).await;
    assert_eq!(sections(&stored(&session)), [0, 0, 0]);
    turn.next_step().await.unwrap();
    assert_eq!(sections(&stored(&session)), [1, 1, 1]);
}

/// A future that is polled so often and then given up.
struct GivenUp<F> {
    inner: F,
    left: usize,
}

impl<F: Future + Unpin> Future for GivenUp<F> {
    type Output = Option<F::Output>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        if self.left == 0 {
            return Poll::Ready(None);
        }
        self.left -= 1;
        match Pin::new(&mut self.inner).poll(context) {
            Poll::Ready(value) => Poll::Ready(Some(value)),
            Poll::Pending if self.left == 0 => Poll::Ready(None),
            Poll::Pending => Poll::Pending,
        }
    }
}

#[tokio::test]
async fn t10_a_compaction_that_is_dropped_at_any_await_point_happened_whole_or_not_at_all() {
    let mut outcomes = (0, 0);
    for mid_turn in [false, true] {
        for polls in 1..40 {
            let stage = Stage::slow().await;
            let session = stage.session.clone();
            long_turn(&session, "one", "c1").await;
            let turn = session.begin_turn(UserInput::text("two")).unwrap();
            if mid_turn {
                send(&turn).await;
            }
            let before = entries(&session);
            let baseline = session.history().world_state_baseline().cloned();
            let script = Script::says("Short.");
            let compaction = Compaction::new(CompactionTrigger::Manual);
            let given_up = {
                let asked = Box::pin(session.compact(&compaction, &script));
                pin!(GivenUp { inner: asked, left: polls }).await.is_none()
            };
            // The next call waits for what has begun.
            let step = turn.next_step().await.unwrap();
            let is_done = session.history().items().any(|item| item.kinds().contains(&SUMMARY_KIND));
            let now = entries(&session);
            if is_done {
                outcomes.0 += 1;
                assert_eq!(sections(&stored(&session)), [1, 1, 1]);
            } else {
                outcomes.1 += 1;
                assert!(given_up && now.starts_with(&before), "{now:#?}");
                assert!(session.history().world_state_baseline().is_some());
                if mid_turn {
                    assert_eq!(session.history().world_state_baseline(), baseline.as_ref());
                }
            }
            assert!(step.prompt().proof().is_legal());
            let checkpoints =
                read(&stage.file.bytes()).0.iter().filter(|line| line.type_name() == "checkpoint").count();
            assert_eq!(checkpoints, usize::from(is_done), "log and history agree");
            if !given_up {
                break;
            }
        }
    }
    assert!(outcomes.0 >= 2 && outcomes.1 >= 2, "{outcomes:?}");
}

#[tokio::test]
async fn a_failed_compaction_changes_nothing() {
    let mut stage = Stage::new().await;
    let session = stage.session.clone();
    let error = session.compact(&manual(), &Script::new([])).await.unwrap_err();
    assert_eq!(error.to_string(), "there is nothing to compact");
    long_turn(&session, "one", "c1").await;
    stage.new_records();
    let before = entries(&session);
    let opaque = WireItem::assistant_text("no compaction");
    for (answer, words) in [
        (Err(SummaryError::failed("the line is dead")), "could not get a summary: the summary could not be made"),
        (Ok(Summary::Text(" \n".into())), "could not get a summary: the summary is empty"),
        (
            Ok(Summary::Items(vec![opaque])),
            "could not get a summary: none of the items is a compaction of the provider",
        ),
        (Ok(Summary::Text("word ".repeat(10_000))), "the window would have"),
    ] {
        let error = session.compact(&manual(), &Script::new([answer])).await.unwrap_err();
        let source = std::error::Error::source(&error).map_or(String::new(), |source| format!(": {source}"));
        assert!(format!("{error}{source}").starts_with(words), "{error}{source}");
        assert_eq!(entries(&session), before);
    }
    // Somebody speaks while the summary is made.
    struct Busy(Session);
    #[async_trait]
    impl Summarizer for Busy {
        async fn summarize(&self, _: SummaryRequest) -> Result<Summary, SummaryError> {
            self.0
                .record_user_shell_command(&UserShellCommand::new("ls", 0, Duration::from_millis(500), "a.rs"))
                .await
                .unwrap();
            Ok(Summary::Text("Short.".into()))
        }
    }
    let error = session.compact(&manual(), &Busy(session.clone())).await.unwrap_err();
    assert!(matches!(error, Error::HistoryMoved), "{error}");
    assert_eq!(entries(&session)[..before.len()], before);
    assert!(!stage.new_records().contains(&"checkpoint".to_owned()));
}

#[tokio::test]
async fn the_ladder_leaves_out_the_oldest_exchanges_and_always_ends() {
    let stage = Stage::new().await;
    let session = stage.session.clone();
    for number in 0..12 {
        long_turn(&session, &format!("question {number}"), &format!("c{number}")).await;
    }
    let too_large = || Err(SummaryError::TooLarge { limit: None });
    let script = Script::new([too_large(), too_large(), Ok(Summary::Text("Short.".into()))]);
    let done = compact(&session, &manual(), &script).await;
    let asked = script.asked();
    assert_eq!(asked.len(), 3);
    assert!(asked.windows(2).all(|pair| pair[1].0 * 4 <= pair[0].0 * 3 + 400 && pair[1].1 > pair[0].1), "{asked:?}");
    assert_eq!(done.skipped, asked[2].1);
    assert_eq!(done.kept.len(), 12, "what was not shown is not lost: the user's words stay");

    for number in 0..12 {
        long_turn(&session, &format!("again {number}"), &format!("d{number}")).await;
    }
    let before = entries(&session);
    let script = Script::new((0..200).map(|_| too_large()));
    let error = session.compact(&manual(), &script).await.unwrap_err();
    let Error::Irreducible { floor, largest, .. } = &error else { panic!("{error}") };
    assert!(*floor > 0 && !largest.is_empty() && largest[0].contains(" tokens"), "{error}");
    assert!(script.asked().len() < 40);
    assert_eq!(entries(&session), before);
    // A model that says how much it takes is asked once more.
    let limited = Script::new([Err(SummaryError::TooLarge { limit: Some(4_000) }), Ok(Summary::Text("Short.".into()))]);
    compact(&session, &manual(), &limited).await;
    assert!(limited.asked()[1].0 <= 4_200, "{:?}", limited.asked());
}

#[tokio::test]
async fn the_newest_words_of_the_user_stay_up_to_the_budget() {
    let stage = Stage::new().await;
    let session = stage.session.clone();
    long_turn(&session, &"first ".repeat(600), "c1").await;
    long_turn(&session, &"middle ".repeat(100), "c2").await;
    let turn = session.begin_turn(UserInput::text("look").with_image("data:image/png;base64,AAAA", "low")).unwrap();
    send(&turn).await;
    turn.record([WireItem::assistant_text("seen")]).await.unwrap();
    turn.finish().await.unwrap();
    let done = compact(&session, &manual().retaining(300), &Script::says("Short.")).await;
    let left = session.history();
    let texts: Vec<_> = left.items().map(|item| item.item().as_str().to_owned()).collect();
    assert_eq!(texts.len(), 4, "{texts:?}");
    assert!(texts[0].contains("tokens truncated") && texts[0].contains("first"), "{}", texts[0]);
    assert!(texts[1].contains("middle middle") && !texts[1].contains("truncated"));
    assert!(texts[2].contains("look") && !texts[2].contains("image"), "{}", texts[2]);
    assert_eq!(done.kept.len(), 1, "what was cut is new");
    assert_eq!(left.items().next().unwrap().kinds(), [Kind::USER_TEXT]);
    let none = compact(&session, &manual().retaining(0), &Script::says(".")).await;
    assert_eq!((none.items_after, none.kept.len()), (1, 0));
}

#[tokio::test]
async fn items_of_the_provider_are_kept_as_they_are() {
    let desk = Desk::new();
    let session = desk.create().await;
    long_turn(&session, "one", "c1").await;
    let opaque = r#"{"type":"compaction","encrypted_content":"gAAA\u0041","id":"cmp_1"}"#;
    let items = vec![WireItem::parse(opaque.as_bytes()).unwrap()];
    compact(&session, &manual(), &Script::new([Ok(Summary::Items(items))])).await;
    assert_eq!(stored(&session).last().unwrap(), opaque);
    let live = entries(&session);
    session.close().await.unwrap();
    let resumed = Session::resume(&desk.folder, options(&desk.disk)).await.unwrap();
    assert_eq!(stored(&resumed.session).last().unwrap(), opaque);
    assert_eq!(entries(&resumed.session), live);
}

/// With nothing of the user left, the context that is said at once stands before what stands for the conversation.
#[tokio::test]
async fn with_no_words_of_the_user_the_context_stands_before_the_summary() {
    let opaque = || WireItem::parse(br#"{"type":"compaction","encrypted_content":"gAAA"}"#).unwrap();
    for (summary, last) in
        [(Summary::Items(vec![opaque()]), "compaction"), (Summary::Text("Short.".into()), "user(The conversation")]
    {
        let stage = Stage::new().await;
        let session = stage.session.clone();
        let turn = session.begin_turn(UserInput::text("one")).unwrap();
        send(&turn).await;
        turn.record([call("c1")]).await.unwrap();
        turn.record_output(&turn.open_calls()[0], "line of output\n".repeat(400)).await.unwrap();
        let compaction = Compaction::new(CompactionTrigger::MidTurn).retaining(0);
        let done = compact(&session, &compaction, &Script::new([Ok(summary)])).await;
        assert_eq!((done.injected, done.kept.len()), (2, 0));
        let left = history(&session);
        assert_eq!(left.len(), 3, "{left:?}");
        assert_eq!(left[0], "developer(<permissions instructions>)");
        assert!(left[1].starts_with("user(# AGENTS.md") && left[2].starts_with(last), "{left:?}");
        assert!(turn.next_step().await.unwrap().appended().is_empty());
    }
}

/// A log of old times holds notices of the program among the words of the user; a compaction keeps none of them.
#[tokio::test]
async fn notices_and_context_of_a_foreign_log_are_no_words_of_the_user() {
    let said = [
        "# AGENTS.md instructions for /r\\n\\n<INSTRUCTIONS>\\nUse tabs.\\n</INSTRUCTIONS>",
        "<environment_context>\\n  <cwd>/r</cwd>\\n</environment_context>",
        "Warning: The maximum number of unified exec processes you can keep open is 60 and you have 61.",
        "fix the bug",
        "Warning: this is what I say myself",
    ];
    let line = |kind: &str, payload: String| {
        format!("{{\"timestamp\":\"2026-09-01T08:00:00.000Z\",\"type\":\"{kind}\",\"payload\":{payload}}}\n")
    };
    let message = |role: &str, part: &str, text: &str| {
        let content = format!(r#"[{{"type":"{part}","text":"{text}"}}]"#);
        line("response_item", format!(r#"{{"type":"message","role":"{role}","content":{content}}}"#))
    };
    let mut log = line("session_meta", r#"{"id":"s1","cwd":"/r"}"#.into());
    log.extend(said.map(|text| message("user", "input_text", text)));
    log += &message("assistant", "output_text", &"a long answer ".repeat(400));
    let desk = Desk::new();
    let temporary = tempfile::tempdir().unwrap();
    let path = temporary.path().join("rollout-x.jsonl");
    std::fs::write(&path, log).unwrap();
    let owner = session::rollout::Owner::this_process("here", crate::sample::AT_MS);
    let import = session::foreign::Import::new(owner, crate::sample::AT_MS);
    session::foreign::import(&path, &desk.folder, &import).unwrap();
    let session = Session::resume(&desk.folder, options(&desk.disk)).await.unwrap().session;
    assert_eq!(history(&session).len(), 6);
    compact(&session, &manual(), &Script::says("Short.")).await;
    let left = history(&session);
    assert_eq!(left[..2], ["user(fix the bug)", "user(Warning: this is what I say myself)"]);
    assert_eq!(left.len(), 3, "{left:?}");
}

#[tokio::test]
async fn a_compaction_that_does_not_pay_is_not_made() {
    let stage = Stage::new().await;
    let session = stage.session.clone();
    long_turn(&session, "one", "c1").await;
    let before = entries(&session);
    let dear = CostModel::new(1.0, 0.1).expecting_turns(2);
    let outcome = session.compact(&manual().if_it_pays(dear), &Script::new([])).await.unwrap();
    let CompactionOutcome::NotWorthIt(verdict) = outcome else { panic!("{outcome:?}") };
    assert!(verdict.with > verdict.without);
    assert_eq!(entries(&session), before);
    // Where the provider refuses the history, nobody asks what it costs.
    let overflow = Compaction::new(CompactionTrigger::Overflow).if_it_pays(dear);
    assert_eq!(compact(&session, &overflow, &Script::says("Short.")).await.trigger, CompactionTrigger::Overflow);
}

#[tokio::test]
async fn a_model_switch_around_a_compaction_is_still_said() {
    let desk = Desk::new();
    let session = desk.create().await;
    long_turn(&session, "one", "c1").await;
    compact(&session, &manual(), &Script::says("Short.")).await;
    session.close().await.unwrap();
    let session = Session::resume(&desk.folder, options(&desk.disk)).await.unwrap().session;
    session.set_model(ModelSettings::from("m2").with_instructions("Be brief."));
    simple_turn_after_break(&session, "two").await;
    let switch = history(&session).iter().filter(|item| item.starts_with("developer(<model_switch>")).count();
    assert_eq!(switch, 1, "{:?}", history(&session));
}

async fn simple_turn_after_break(session: &Session, said: &str) {
    let turn = session.begin_turn(UserInput::text(said)).unwrap();
    let step = turn.next_step().await.unwrap();
    assert!(turn.mark_sent(&step).await.unwrap().proof.is_legal());
    turn.record([WireItem::assistant_text("ok")]).await.unwrap();
    turn.finish().await.unwrap();
}

#[tokio::test]
async fn b17_a_changed_file_is_announced_once_after_a_resume_behind_a_compaction_too() {
    for injection in [ContextInjection::NextStep, ContextInjection::Now] {
        let desk = Desk::new();
        let session = desk.create().await;
        long_turn(&session, "one", "c1").await;
        let turn = session.begin_turn(UserInput::text("two")).unwrap();
        send(&turn).await;
        let compaction = Compaction::new(CompactionTrigger::MidTurn).with_injection(injection);
        compact(&session, &compaction, &Script::says("Short.")).await;
        let live = entries(&session);
        drop(turn);
        session.close().await.unwrap();
        desk.disk.becomes(project("Use two spaces."));
        let resumed = Session::resume(&desk.folder, options(&desk.disk)).await.unwrap();
        let session = resumed.session;
        assert_eq!(entries(&session)[..live.len()], live);
        assert_eq!(resumed.interrupted.unwrap().id.as_str(), "turn-2");
        simple_turn_after_break(&session, "three").await;
        let told = stored(&session).iter().filter(|item| item.contains("Use two spaces.")).count();
        let replaced = stored(&session).iter().filter(|item| item.contains("replace all previously")).count();
        let is_now = injection == ContextInjection::Now;
        assert_eq!((told, replaced), (1, usize::from(is_now)), "{:#?}", stored(&session));
        simple_turn(&session, "four", "4").await;
        let told = stored(&session).iter().filter(|item| item.contains("Use two spaces.")).count();
        assert_eq!(told, 1);
    }
}

#[tokio::test]
async fn a_log_with_a_compaction_is_rebuilt_from_its_end_and_from_its_start() {
    let desk = Desk::new();
    let session = desk.create().await;
    long_turn(&session, "one", "c1").await;
    session.set_tools(r#"[{"type":"function","name":"ls"}]"#).unwrap();
    long_turn_after_break(&session).await;
    compact(&session, &manual(), &Script::says("Short.")).await;
    session.set_tools(r#"[{"type":"function","name":"sh"}]"#).unwrap();
    simple_turn_after_break(&session, "three").await;
    let live = entries(&session);
    let next = session.preview().input_json();
    session.close().await.unwrap();
    let resumed = Session::resume(&desk.folder, options(&desk.disk)).await.unwrap();
    assert_eq!(entries(&resumed.session), live);
    assert_eq!(resumed.session.preview().input_json(), next);
    assert!(resumed.session.preview().proof().extends());
    simple_turn(&resumed.session, "four", "4").await;
    resumed.session.close().await.unwrap();

    let recording = context_manager::Recording::new(context_manager::TruncationPolicy::new(
        context_fragments::Limit::Tokens(10_000),
    ));
    let mut replay = session::Replay::new(context_manager::ContextManager::new(), recording);
    let mut compactions = 0;
    for event in desk.folder.events().unwrap() {
        let event = event.unwrap();
        compactions += usize::from(matches!(event.record.item, RolloutItem::Checkpoint(_)));
        replay.apply(&event).unwrap();
    }
    assert_eq!(compactions, 1);
    replay.verify_sent(&[]).unwrap();
    let whole: Vec<_> = replay.manager().history().items().map(|item| item.position()).collect();
    let tail: Vec<_> = resumed.session.history().items().map(|item| item.position()).collect();
    assert_eq!(whole, tail);
    let rewrite = replay.manager().history().entries().next().unwrap().clone();
    let context_manager::Entry::Fact(fact) = rewrite else { panic!("{rewrite:?}") };
    let is_compaction = context_manager::Fact::Rewritten { rewrite: Rewrite::Compaction, version: 1 };
    assert_eq!(fact.fact(), &is_compaction);
}

async fn long_turn_after_break(session: &Session) {
    let turn = session.begin_turn(UserInput::text("two")).unwrap();
    let step = turn.next_step().await.unwrap();
    assert!(turn.mark_sent(&step).await.unwrap().proof.is_legal());
    turn.record([call("c2")]).await.unwrap();
    turn.record_output(&turn.open_calls()[0], "line of output\n".repeat(400)).await.unwrap();
    send(&turn).await;
    turn.record([WireItem::assistant_text("2")]).await.unwrap();
    turn.finish().await.unwrap();
}

#[tokio::test]
async fn readers_do_not_wait_for_a_compaction() {
    let disk = Disk::project("Use tabs.");
    let stage = Stage::with(&disk, options(&disk)).await;
    let session = stage.session.clone();
    long_turn(&session, "one", "c1").await;
    struct Reads(Session, Arc<Mutex<usize>>);
    #[async_trait]
    impl Summarizer for Reads {
        async fn summarize(&self, _: SummaryRequest) -> Result<Summary, SummaryError> {
            *self.1.lock().unwrap() = self.0.history().item_count() + self.0.preview().items().len();
            Ok(Summary::Text("Short.".into()))
        }
    }
    let seen = Arc::new(Mutex::new(0));
    session.compact(&manual(), &Reads(session.clone(), Arc::clone(&seen))).await.unwrap();
    assert!(*seen.lock().unwrap() > 8);
}
