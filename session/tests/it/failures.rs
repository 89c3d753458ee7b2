//! A log that fails, and callers that stop waiting.

use std::{
    future::Future,
    pin::pin,
    task::{Context, Poll, Waker},
    time::Duration,
};

use context_fragments::WireItem;
use session::{
    AbortReason, Error, ToolResult, UserInput,
    rollout::{Durability, RolloutItem},
};

use crate::{
    sample::read,
    stage::{Disk, Stage, call, history, options, project, send, simple_turn, stored},
};

/// Everything that a call could have changed.
fn all_of(stage: &Stage) -> (Vec<String>, usize, Option<String>, Option<String>, Vec<u8>) {
    let history = stage.session.history();
    (
        stored(&stage.session),
        history.entry_count(),
        history.world_state_baseline().map(|told| format!("{told:?}")),
        history.reference_context_item().map(|context| context.as_str().to_owned()),
        stage.file.bytes(),
    )
}

#[tokio::test]
async fn if_the_log_refuses_nothing_is_installed_and_the_same_call_says_it_later() {
    let stage = Stage::new().await;
    simple_turn(&stage.session, "one", "1").await;
    stage.disk.becomes(project("Use two spaces."));
    stage.session.invalidate_instructions();
    stage.session.set_model("m2");
    let turn = stage.session.begin_turn(UserInput::text("two")).unwrap();

    let before = all_of(&stage);
    stage.file.with(|state| state.faults.free = Some(300));
    let error = turn.next_step().await.unwrap_err();
    assert!(error.is_retryable() && !error.is_misuse(), "{error}");
    assert_eq!(error.to_string(), "could not append record 10 to log; the log was cut back to its last whole record");
    assert_eq!(all_of(&stage), before);

    // There is room again: the same call says what is to be said, once.
    stage.file.with(|state| state.faults.free = None);
    let step = send(&turn).await;
    assert_eq!(history(&stage.session)[4..], ["user(# AGENTS.md instructions for /r)", "user(two)"]);
    assert_eq!(step.appended().len(), 2);

    // So it is with every other call.
    turn.record([call("c1")]).await.unwrap();
    let open = turn.open_calls();
    stage.file.with(|state| state.faults.free = Some(0));
    let before = all_of(&stage);
    turn.record([WireItem::assistant_text("x")]).await.unwrap_err();
    turn.record_output(&open[0], "ok").await.unwrap_err();
    turn.abort(AbortReason::Interrupted).await.unwrap_err();
    assert_eq!((all_of(&stage), turn.open_calls()), (before, open.clone()));
    stage.file.with(|state| state.faults.free = None);
    turn.record_output(&open[0], "ok").await.unwrap();
    let step = turn.next_step().await.unwrap();
    let proof = stage.session.preview().proof().clone();
    stage.file.with(|state| state.faults.free = Some(0));
    turn.mark_sent(&step).await.unwrap_err();
    assert_eq!(stage.session.preview().proof(), &proof, "a prompt whose mark is not in the log was not sent");
    stage.file.with(|state| state.faults.free = None);
    turn.mark_sent(&step).await.unwrap();
    stage.file.with(|state| state.faults.free = Some(0));
    turn.finish().await.unwrap_err();
    assert!(stage.session.live_turn().is_some());
    stage.file.with(|state| state.faults.free = None);
    turn.finish().await.unwrap();
    assert!(stage.session.live_turn().is_none());
}

#[tokio::test]
async fn after_a_failed_sync_the_records_stand_and_are_not_written_again() {
    let disk = Disk::project("Use tabs.");
    let mut stage = Stage::with(&disk, options(&disk).with_durability(Durability::DataSync)).await;
    let turn = stage.session.begin_turn(UserInput::text("one")).unwrap();
    stage.file.with(|state| state.faults.sync_failures = 1);
    let error = turn.next_step().await.unwrap_err();
    assert!(matches!(error, Error::Sync { .. }) && error.is_recorded());
    assert_eq!(history(&stage.session).len(), 3);
    let logged = stage.new_records();
    assert_eq!(logged.len(), 6);

    let step = turn.next_step().await.unwrap();
    assert!(stage.new_records().is_empty());
    assert_eq!(step.prompt().items().len(), 3);
    turn.mark_sent(&step).await.unwrap();
    stage.session.sync().await.unwrap();
    let synced = stage.file.with(|state| state.disk.clone());
    assert_eq!(synced, stage.file.bytes());
}

#[tokio::test]
async fn instructions_that_cannot_be_read_stop_the_step_and_only_that() {
    let disk = Disk::project("Use tabs.");
    let stage = Stage::with(&disk, options(&disk)).await;
    simple_turn(&stage.session, "one", "1").await;
    let restricted = session::SessionEnvironment::new("box", "/r").restricted();
    stage.session.set_environments([restricted]);
    stage.disk.becomes(project("Use tabs.").failing_read("/r/AGENTS.md", std::io::ErrorKind::PermissionDenied));
    let turn = stage.session.begin_turn(UserInput::text("two")).unwrap();
    let before = all_of(&stage);
    assert!(matches!(turn.next_step().await, Err(Error::Instructions { .. })));
    assert_eq!(all_of(&stage), before);
    stage.disk.becomes(project("Use tabs."));
    assert_eq!(send(&turn).await.appended().len(), 2);
}

#[tokio::test]
async fn an_item_that_is_too_large_refuses_the_whole_answer() {
    let stage = Stage::new().await;
    let turn = stage.session.begin_turn(UserInput::text("one")).unwrap();
    send(&turn).await;
    let before = all_of(&stage);
    let huge = WireItem::assistant_text(&"x".repeat(33 << 20));
    let error = turn.record([WireItem::assistant_text("small"), huge]).await.unwrap_err();
    let cause = std::error::Error::source(&error).unwrap().to_string();
    assert!(cause.starts_with("item 1 has 346"), "{cause}");
    assert_eq!(all_of(&stage), before);
}

/// Polls a call some times, with pauses in which the writing thread gets on, and then drops it.
async fn poll_and_drop<T>(call: impl Future<Output = T>, polls: usize) -> Option<T> {
    let mut call = pin!(call);
    for poll in 0..polls {
        if poll > 0 {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        if let Poll::Ready(value) = call.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
            return Some(value);
        }
    }
    None
}

/// However far a call got before it was dropped: it is whole or it is not there, and the next call goes on.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_dropped_step_is_whole_or_nothing_and_is_made_again() {
    let mut dropped = 0;
    for polls in [0, 1, 2, 3, 40] {
        let stage = Stage::slow().await;
        let turn = stage.session.begin_turn(UserInput::text("one")).unwrap();
        dropped += usize::from(poll_and_drop(turn.next_step(), polls).await.is_none());
        let step = send(&turn).await;
        let items = step.prompt().items().len();
        assert_eq!((items, history(&stage.session).len()), (3, 3), "after {polls} polls");

        dropped += usize::from(poll_and_drop(turn.mark_sent(&step), polls).await.is_none());
        turn.mark_sent(&step).await.unwrap();
        turn.record([call("c1")]).await.unwrap();
        let open = turn.open_calls();
        dropped +=
            usize::from(poll_and_drop(turn.record_output(&open[0], ToolResult::text("ok")), polls).await.is_none());
        match turn.record_output(&open[0], "ok").await {
            Ok(_) | Err(Error::NotOpen { .. }) => {}
            Err(error) => panic!("{error}"),
        }
        dropped += usize::from(poll_and_drop(turn.abort(AbortReason::Interrupted), polls).await.is_none());
        match turn.abort(AbortReason::Interrupted).await {
            Ok(_) | Err(Error::TurnOver { .. }) => {}
            Err(error) => panic!("{error}"),
        }
        assert_eq!(history(&stage.session)[3..], ["call(c1)", "output(c1, ok)", "user(<turn_aborted>)"]);

        // The log is the history, whatever was dropped.
        let (lines, report) = read(&stage.file.bytes());
        assert!(report.is_clean());
        let logged: Vec<String> = lines
            .iter()
            .filter_map(|line| match line.decode().unwrap().item {
                RolloutItem::Item(item) => Some(item.as_str().to_owned()),
                _ => None,
            })
            .collect();
        assert_eq!(logged, stored(&stage.session), "after {polls} polls");
    }
    // Four were never polled; how far the others got is up to the machine.
    assert!(dropped > 4, "only {dropped} calls were dropped");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn outputs_from_many_tasks_are_recorded_once_each() {
    let stage = Stage::new().await;
    let turn = stage.session.begin_turn(UserInput::text("one")).unwrap();
    send(&turn).await;
    let calls: Vec<WireItem> = (0..50).map(|number| call(&format!("c{number}"))).collect();
    turn.record(calls).await.unwrap();
    let tasks: Vec<_> = turn
        .open_calls()
        .into_iter()
        .map(|call| {
            let turn = turn.clone();
            tokio::spawn(async move { turn.record_output(&call, format!("for {}", call.call_id())).await })
        })
        .collect();
    for task in tasks {
        task.await.unwrap().unwrap();
    }
    assert!(turn.open_calls().is_empty());
    assert!(send(&turn).await.prompt().repairs().is_empty());
    let (lines, _) = read(&stage.file.bytes());
    let ordinals: Vec<u64> = lines.iter().map(session::rollout::LoggedLine::ordinal).collect();
    assert_eq!(ordinals, (0..lines.len() as u64).collect::<Vec<_>>());
}
