//! Turns and steps: the order of the log, one write per call, and what is refused.

use std::time::Duration;

use context_fragments::{Kind, UserShellCommand, WireItem};
use context_manager::Proof;
use session::{
    AbortReason, CollaborationMode, Error, ReadinessFlag, Session, SessionEnvironment, SessionOptions, ToolResult,
    UserInput,
    rollout::{Original, RolloutItem},
};
use world_state::{AgentsMdState, WorldStateSection};

use crate::{
    sample::read,
    stage::{
        Disk, Hold, Stage, call, history, moment, new_session, options, place, project, send, settings, short_item,
        simple_turn, stored,
    },
};

#[tokio::test]
async fn a_first_turn_is_logged_in_order_with_one_write_a_call() {
    let mut stage = Stage::new().await;
    let (lines, _) = read(&stage.file.bytes());
    assert_eq!(lines.iter().map(|line| line.type_name()).collect::<Vec<_>>(), ["session_meta"]);

    let turn = stage.session.begin_turn(UserInput::text("fix the bug")).unwrap();
    assert!(stage.new_records().is_empty(), "nothing is recorded before the first step");

    let before = stage.writes();
    let step = turn.next_step().await.unwrap();
    assert_eq!(stage.writes(), before + 1);
    assert_eq!(
        stage.new_records(),
        [
            "turn_started",
            "developer(<permissions instructions>)",
            "user(# AGENTS.md instructions for /r | <environment_context>)",
            "world_state(full)",
            "turn_context",
            "user(fix the bug)",
        ]
    );
    assert_eq!((step.appended().len(), step.prompt().proof()), (3, &Proof::First));

    turn.mark_sent(&step).await.unwrap();
    assert_eq!(stage.writes(), before + 2);
    assert_eq!(stage.new_records(), ["sent"]);

    turn.record([WireItem::assistant_text("looking"), call("c1"), call("c2")]).await.unwrap();
    assert_eq!(stage.writes(), before + 3);
    let calls = turn.open_calls();
    assert_eq!(calls.iter().map(|call| call.call_id()).collect::<Vec<_>>(), ["c1", "c2"]);
    assert_eq!((calls[0].name().as_deref(), calls[0].arguments().as_ref()), (Some("sh"), "{}"));

    turn.record_output(&calls[1], "two").await.unwrap();
    turn.record_output(&calls[0], ToolResult::text("one").failed()).await.unwrap();
    assert!(turn.open_calls().is_empty());
    assert_eq!(
        stage.new_records(),
        ["assistant(looking)", "call(c1)", "call(c2)", "output(c2, two)", "output(c1, one)"]
    );
    let (lines, _) = read(&stage.file.bytes());
    assert_eq!(lines.last().unwrap().decode().unwrap().metadata.success, Some(false));

    let writes = stage.writes();
    let second = turn.next_step().await.unwrap();
    assert_eq!(stage.writes(), writes, "a step in which nothing changed writes nothing");
    assert_eq!(second.prompt().proof(), &Proof::Extends { shared: 3, new: 5 });
    turn.mark_sent(&second).await.unwrap();
    turn.record([WireItem::assistant_text("done")]).await.unwrap();
    turn.finish().await.unwrap();
    assert_eq!(stage.new_records(), ["sent", "assistant(done)", "turn_ended"]);
    assert!(stage.session.live_turn().is_none());
}

#[tokio::test]
async fn a_second_turn_says_only_what_changed() {
    let mut stage = Stage::new().await;
    simple_turn(&stage.session, "one", "1").await;
    stage.new_records();

    simple_turn(&stage.session, "two", "2").await;
    assert_eq!(
        stage.new_records(),
        ["turn_started", "turn_context", "user(two)", "sent", "assistant(2)", "turn_ended"]
    );

    stage.session.set_environments([place("/s")]);
    simple_turn(&stage.session, "three", "3").await;
    assert_eq!(
        stage.new_records(),
        [
            "turn_started",
            "user(# AGENTS.md instructions for /s | <environment_context>)",
            r#"world_state({"agents_md":{"directory":"/s","text":"Use spaces."},"environments":{"environments":{"local":{"cwd":"/s"}}}})"#,
            "turn_context",
            "user(three)",
            "sent",
            "assistant(3)",
            "turn_ended",
        ]
    );
}

#[tokio::test]
async fn a_change_inside_a_turn_stands_between_output_and_answer() {
    let mut stage = Stage::new().await;
    let turn = stage.session.begin_turn(UserInput::text("one")).unwrap();
    send(&turn).await;
    turn.record([call("c1")]).await.unwrap();
    stage.new_records();
    let calls = turn.open_calls();
    turn.record_output(&calls[0], "ok").await.unwrap();
    stage.disk.becomes(project("Use two spaces."));
    stage.session.invalidate_instructions();
    send(&turn).await;
    turn.record([WireItem::assistant_text("done")]).await.unwrap();
    assert_eq!(
        stage.new_records(),
        [
            "output(c1, ok)",
            "user(# AGENTS.md instructions for /r)",
            r#"world_state({"agents_md":{"text":"Use two spaces."}})"#,
            "sent",
            "assistant(done)",
        ]
    );
}

#[tokio::test]
async fn a_change_that_says_nothing_is_a_patch_alone() {
    let mut stage = Stage::new().await;
    let turn = stage.session.begin_turn(UserInput::text("one")).unwrap();
    send(&turn).await;
    stage.new_records();
    stage.session.set_collaboration_mode(CollaborationMode::new("plan"));
    let step = send(&turn).await;
    assert!(step.appended().is_empty());
    assert_eq!(stage.new_records(), [r#"world_state({"collaboration_mode":{"mode":"plan"}})"#, "sent"]);
}

#[tokio::test]
async fn an_abort_closes_calls_says_so_and_is_logged_behind_its_notice() {
    let mut stage = Stage::new().await;
    let turn = stage.session.begin_turn(UserInput::text("one")).unwrap();
    send(&turn).await;
    turn.record([call("c1"), call("c2")]).await.unwrap();
    let calls = turn.open_calls();
    turn.record_output(&calls[0], "ok").await.unwrap();
    turn.steer(UserInput::text("stop")).unwrap();
    stage.new_records();

    let writes = stage.writes();
    let aborted = stage.session.live_turn().unwrap().abort(AbortReason::Interrupted).await.unwrap();
    assert_eq!((stage.writes(), aborted.closed_calls), (writes + 1, vec![calls[1].clone()]));
    assert_eq!(aborted.unrecorded, [UserInput::text("stop")]);
    assert_eq!(stage.new_records(), ["user(<turn_aborted>)", "turn_aborted(interrupted)"]);
    assert!(turn.open_calls().is_empty());
    assert!(matches!(turn.next_step().await, Err(Error::TurnOver { turn, .. }) if turn == "turn-1"));
    assert!(turn.record_output(&calls[1], "late").await.unwrap_err().is_misuse());

    // The next turn is not held up, and the model reads an output for each call.
    let step = simple_turn(&stage.session, "two", "2").await;
    let items: Vec<String> = step.prompt().items().iter().map(|item| short_item(item.item())).collect();
    assert_eq!(
        items[3..],
        [
            "call(c1)",
            "call(c2)",
            "output(c2, aborted: the tool was started and its outcome is unknown; check what it has done before you call it again)",
            "output(c1, ok)",
            "user(<turn_aborted>)",
            "user(two)"
        ]
    );
}

#[tokio::test]
async fn each_reason_of_an_abort_tells_the_model_what_it_should_know() {
    for (reason, want) in [
        (AbortReason::Interrupted, vec!["user(<turn_aborted>)", "turn_aborted(interrupted)"]),
        (AbortReason::Replaced, vec!["turn_aborted(replaced)"]),
        (AbortReason::Failed, vec!["user(<turn_aborted>)", "turn_aborted(failed)"]),
        (
            AbortReason::Other { word: "budget".into(), guidance: "The budget is spent.".into() },
            vec!["user(<turn_aborted>)", "turn_aborted(budget)"],
        ),
    ] {
        let mut stage = Stage::new().await;
        let turn = stage.session.begin_turn(UserInput::text("one")).unwrap();
        send(&turn).await;
        stage.new_records();
        turn.abort(reason).await.unwrap();
        assert_eq!(stage.new_records(), want);
    }
}

#[tokio::test]
async fn a_turn_without_a_step_leaves_nothing_and_gives_its_words_back() {
    let mut stage = Stage::new().await;
    let turn = stage.session.begin_turn(UserInput::text("one")).unwrap();
    assert!(matches!(turn.finish().await, Err(Error::InputWaiting { .. })));
    let aborted = turn.abort(AbortReason::Interrupted).await.unwrap();
    assert_eq!(aborted.unrecorded, [UserInput::text("one")]);
    assert!(stage.new_records().is_empty());

    // Its id is free again, and its handle speaks of nothing.
    let next = stage.session.begin_turn(UserInput::text("two")).unwrap();
    assert_eq!((turn.id(), next.id().as_str()), (next.id(), "turn-1"));
    assert!(matches!(turn.next_step().await, Err(Error::TurnOver { .. })));
    assert_eq!(send(&next).await.appended().len(), 3);
}

#[tokio::test]
async fn misuse_is_refused_by_name_and_changes_nothing() {
    let mut stage = Stage::new().await;
    let turn = stage.session.begin_turn(UserInput::text("one")).unwrap();
    let error = stage.session.begin_turn(UserInput::text("two")).unwrap_err();
    assert_eq!(error.to_string(), "turn turn-1 is live: finish or abort it before another one begins");
    let error = turn.record([WireItem::assistant_text("early")]).await.unwrap_err();
    assert_eq!(error.to_string(), "turn turn-1 has no step yet: its context stands before everything else");

    let step = send(&turn).await;
    turn.record([call("c1"), call("c2")]).await.unwrap();
    stage.new_records();
    let error = turn.next_step().await.unwrap_err();
    assert_eq!(error.to_string(), "turn turn-1 has calls without an output: c1, c2");
    assert!(matches!(turn.finish().await, Err(Error::OpenCalls { calls, .. }) if calls == ["c1", "c2"]));
    let error = turn.mark_sent(&step).await.unwrap_err();
    assert!(error.is_stale() && !error.is_misuse(), "{error}");

    let calls = turn.open_calls();
    for (item, found) in [
        (WireItem::function_call_output("c2", "x"), "an output of the call `c2`"),
        (WireItem::custom_tool_call_output("c1", "x"), "an item of type `custom_tool_call_output`"),
    ] {
        let error = turn.record_output(&calls[0], item).await.unwrap_err();
        assert_eq!(error.to_string(), format!("the call c1 cannot be answered with {found}"));
    }
    let search =
        br#"{"type":"tool_search_call","call_id":"s1","status":"completed","execution":"client","arguments":{}}"#;
    turn.record([WireItem::parse(search).unwrap()]).await.unwrap();
    let error = turn.record_output(&turn.open_calls()[2], "found").await.unwrap_err();
    assert_eq!(error.to_string(), "the call s1 cannot be answered with a text, where this call needs an output item");
    assert_eq!(stage.new_records(), ["tool_search_call"]);

    turn.record_output(&calls[0], "ok").await.unwrap();
    let error = turn.record_output(&calls[0], "ok").await.unwrap_err();
    assert_eq!(error.to_string(), "the call c1 is not open in turn turn-1");
    assert_eq!(stage.new_records(), ["output(c1, ok)"]);
}

#[tokio::test]
async fn a_step_keeps_what_was_true_when_it_was_made() {
    let stage = Stage::new().await;
    let turn = stage.session.begin_turn(UserInput::text("one")).unwrap();
    let step = turn.next_step().await.unwrap();
    stage.session.set_model("m2");
    stage.session.set_environments([place("/s")]);
    stage.disk.becomes(project("Use two spaces."));
    stage.session.invalidate_instructions();
    let later = turn.next_step().await.unwrap();
    let read = |step: &session::Step| {
        let context = step.context();
        (
            context.instructions().unwrap().text().to_owned(),
            context.environments()[0].selection.cwd.display().to_string(),
            context.parts().model().name().to_owned(),
        )
    };
    assert_eq!(read(&step), ("Use tabs.".into(), "/r".into(), "m1".into()));
    assert_eq!(read(&later), ("Use spaces.".into(), "/s".into(), "m2".into()));
    assert_eq!(step.context().parts().text(context_manager::PartName::Base), "You are careful.");
}

#[tokio::test]
async fn an_environment_that_starts_is_said_and_its_files_wait() {
    let disk = Disk::project("Use tabs.");
    let flag = ReadinessFlag::starting();
    let starting = SessionEnvironment::new("local", "/r").with_readiness(flag.clone());
    let options = options(&disk);
    let mut stage = Stage::with(&disk, options).await;
    stage.session.set_environments([starting]);
    let turn = stage.session.begin_turn(UserInput::text("one")).unwrap();
    let step = send(&turn).await;
    assert_eq!(step.context().instructions().unwrap().text(), "");
    assert_eq!(stage.new_records()[1..3], ["developer(<permissions instructions>)", "user(<environment_context>)"]);
    flag.set_ready();
    send(&turn).await;
    assert_eq!(
        stage.new_records(),
        [
            "user(# AGENTS.md instructions for /r | <environment_context>)",
            r#"world_state({"agents_md":{"directory":"/r","text":"Use tabs."},"environments":{"environments":{"local":{"status":"available"}}}})"#,
            "sent",
        ]
    );
}

/// Some environments come up while the turn goes on, each when it is ready, and the selection that instructions are read
/// for grows with them.
#[tokio::test]
async fn environments_that_become_ready_between_steps_enter_the_selection() {
    let disk = Disk::new(project("Use tabs.").with_folder("/t/.git").with_file("/t/AGENTS.md", "Use commas."));
    let mut stage = Stage::with(&disk, options(&disk)).await;
    let flags = [ReadinessFlag::starting(), ReadinessFlag::starting()];
    let later =
        |id: &str, cwd: &str, flag: &ReadinessFlag| SessionEnvironment::new(id, cwd).with_readiness(flag.clone());
    stage.session.set_environments([place("/r"), later("two", "/s", &flags[0]), later("three", "/t", &flags[1])]);
    let turn = stage.session.begin_turn(UserInput::text("one")).unwrap();
    let texts = |step: &session::Step| {
        let text = step.context().instructions().unwrap().text().to_owned();
        ["Use tabs.", "Use spaces.", "Use commas."].map(|words| text.contains(words))
    };
    let mut before = send(&turn).await;
    assert_eq!(texts(&before), [true, false, false]);
    stage.new_records();
    for (flag, want) in [(&flags[1], [true, false, true]), (&flags[0], [true; 3])] {
        assert_eq!(send(&turn).await.prompt().proof(), &Proof::Identical);
        stage.new_records();
        flag.set_ready();
        let step = send(&turn).await;
        assert_eq!(texts(&step), want);
        assert_eq!(step.appended().len(), 1);
        let said = stage.new_records();
        assert!(said[0].contains("# AGENTS.md instructions") && said[0].contains("<environment_context>"), "{said:?}");
        let kept = before.prompt().input_json();
        assert!(step.prompt().input_json().starts_with(kept.strip_suffix(']').unwrap()));
        let ready = |step: &session::Step| {
            step.context().environments().iter().filter(|place| place.status == session::StepReadiness::Ready).count()
        };
        assert_eq!(ready(&step), ready(&before) + 1, "a step keeps what was ready when it was made");
        before = step;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn of_many_callers_one_gets_the_turn_and_the_others_a_clear_error() {
    let stage = Stage::new().await;
    for round in 1..=20 {
        let callers: Vec<_> = (0..8)
            .map(|caller| {
                let session = stage.session.clone();
                tokio::spawn(async move { session.begin_turn(UserInput::text(format!("caller {caller}"))) })
            })
            .collect();
        let mut turns = Vec::new();
        for caller in callers {
            match caller.await.unwrap() {
                Ok(turn) => turns.push(turn),
                Err(error) => {
                    let want = format!("turn turn-{round} is live: finish or abort it before another one begins");
                    assert_eq!((error.to_string(), error.is_misuse()), (want, true));
                }
            }
        }
        let [turn] = turns.as_slice() else { panic!("{} callers have a turn", turns.len()) };

        // Several steps of the one turn at once: they wait for each other, and what is new is said once.
        let steps: Vec<_> = (0..8)
            .map(|_| {
                let turn = turn.clone();
                tokio::spawn(async move { turn.next_step().await.unwrap() })
            })
            .collect();
        let mut appended = Vec::new();
        for step in steps {
            appended.push(step.await.unwrap().appended().len());
        }
        appended.sort_unstable();
        assert_eq!(appended, [0, 0, 0, 0, 0, 0, 0, if round == 1 { 3 } else { 1 }]);
        send(turn).await;
        turn.record([WireItem::assistant_text("ok")]).await.unwrap();
        turn.finish().await.unwrap();
    }
}

/// Who only looks does not wait for a write, nor for a step that waits for it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn readers_do_not_wait_for_a_turn() {
    let hold = Hold::default();
    let stage = Stage::held(&hold).await;
    let turn = stage.session.begin_turn(UserInput::text("one")).unwrap();
    hold.on();
    let step = tokio::spawn({
        let turn = turn.clone();
        async move { turn.next_step().await.unwrap() }
    });
    while !hold.has_one() {
        tokio::task::yield_now().await;
    }
    // The step is in the middle of its write and stays there.
    assert_eq!(stage.session.history().item_count(), 0, "half a step is seen");
    assert!(stage.session.preview().items().is_empty());
    assert!(stage.session.live_turn().is_some() && turn.open_calls().is_empty());
    assert!(!step.is_finished());
    hold.off();
    step.await.unwrap();
    assert_eq!(stage.session.history().item_count(), 3);
}

#[tokio::test]
async fn words_of_the_user_and_his_commands_are_recorded_where_they_belong() {
    let mut stage = Stage::new().await;
    let command = UserShellCommand::new("ls", 0, Duration::from_millis(12), "a.rs");
    stage.session.record_user_shell_command(&command).await.unwrap();
    let turn = stage.session.begin_turn(UserInput::text("one")).unwrap();
    send(&turn).await;
    turn.record([WireItem::assistant_text("1")]).await.unwrap();
    stage.session.record_user_shell_command(&command).await.unwrap();
    turn.steer(UserInput::text("and quickly")).unwrap();
    stage.session.set_model("m2");
    send(&turn).await;
    turn.record([WireItem::assistant_text("2")]).await.unwrap();
    turn.finish().await.unwrap();
    let turns: Vec<_> = stage
        .session
        .history()
        .items()
        .map(|item| (short_item(item.item()), item.turn().map(ToString::to_string)))
        .collect();
    let of_turn = |text: &str| (text.to_owned(), Some("turn-1".to_owned()));
    assert_eq!(turns[0], ("user(<user_shell_command>)".to_owned(), None));
    assert_eq!(
        turns[5..],
        [of_turn("user(<user_shell_command>)"), of_turn("user(and quickly)"), of_turn("assistant(2)"),]
    );
    let kinds: Vec<Kind> = stage.session.history().items().next().unwrap().kinds().to_vec();
    assert_eq!(kinds, [Kind::USER_SHELL_COMMAND]);
    assert!(stage.new_records().contains(&"user(and quickly)".to_owned()));
}

#[tokio::test]
async fn a_cut_output_stands_whole_in_the_log() {
    let stage = Stage::new().await;
    let turn = stage.session.begin_turn(UserInput::text("one")).unwrap();
    send(&turn).await;
    turn.record([call("c1")]).await.unwrap();
    let long = "x".repeat(100_000);
    let recorded =
        turn.record_output(&turn.open_calls()[0], ToolResult::text(long.clone()).held_to(100)).await.unwrap();
    assert_eq!(recorded.originals.len(), 1);
    assert!(stored(&stage.session).last().unwrap().len() < 500);
    let (lines, _) = read(&stage.file.bytes());
    let record = lines.last().unwrap().decode().unwrap();
    assert_eq!(record.original, Some(Original::Inline(WireItem::function_call_output("c1", &long))));
    let RolloutItem::Item(logged) = record.item else { panic!("no item") };
    assert_eq!(logged.as_str(), stored(&stage.session).last().unwrap());
}

#[tokio::test]
async fn a_preview_and_a_step_that_was_not_sent_disturb_nothing() {
    let stage = Stage::new().await;
    let turn = stage.session.begin_turn(UserInput::text("one")).unwrap();
    let dropped = turn.next_step().await.unwrap();
    let sent = send(&turn).await;
    assert_eq!(dropped.prompt().input_json(), sent.prompt().input_json());
    assert_eq!(stage.session.preview().proof(), &Proof::Identical);
    turn.record([WireItem::assistant_text("1")]).await.unwrap();
    assert_eq!(stage.session.preview().proof(), &Proof::Extends { shared: 3, new: 1 });
}

#[tokio::test]
async fn a_session_without_a_log_does_the_same() {
    let disk = Disk::project("Use tabs.");
    let session = Session::in_memory(new_session(), options(&disk)).await.unwrap();
    let stage = Stage::new().await;
    for session in [&session, &stage.session] {
        simple_turn(session, "one", "1").await;
        session.set_model("m2");
        simple_turn(session, "two", "2").await;
    }
    assert_eq!(stored(&session), stored(&stage.session));
    assert!(session.folder().is_none());
}

#[tokio::test]
async fn a_host_without_instruction_files_has_none() {
    let session = Session::in_memory(new_session(), SessionOptions::new(settings(), moment())).await.unwrap();
    simple_turn(&session, "one", "1").await;
    assert_eq!(
        history(&session),
        ["developer(<permissions instructions>)", "user(<environment_context>)", "user(one)", "assistant(1)"]
    );
    assert!(session.history().world_state_baseline().unwrap().section(AgentsMdState::ID).is_some());
}
