//! Calls with things of another turn or another session, and what a dropped call must not forget.

use std::{
    future::Future,
    pin::pin,
    task::{Context, Waker},
    time::Duration,
};

use session::{AbortReason, Error, Replay, UserInput, rollout::Durability};

use crate::stage::{Disk, Hold, Stage, call, history, options, permissions, send, simple_turn};

/// Reads the log of a stage and makes the prompt that was sent last once more.
fn verify(stage: &Stage) -> Result<(), Error> {
    let recording = context_manager::Recording::new(context_manager::TruncationPolicy::new(
        context_fragments::Limit::Tokens(10_000),
    ));
    let mut replay = Replay::new(context_manager::ContextManager::new(), recording);
    for event in session::rollout::Events::open(std::io::Cursor::new(stage.file.bytes()))? {
        replay.apply(&event?)?;
    }
    replay.verify_sent(&[])
}

const OTHER_TOOLS: &str = r#"[{"type":"function","name":"ls"}]"#;
const TOOLS: &str = r#"[{"type":"function","name":"sh"}]"#;

/// The log knows of the tools that a dropped call wrote, so going back to the old ones is a change again.
#[tokio::test]
async fn a_dropped_mark_with_other_tools_is_remembered_by_the_next_one() {
    let hold = Hold::default();
    let stage = Stage::held(&hold).await;
    let turn = stage.session.begin_turn(UserInput::text("one")).unwrap();
    send(&turn).await;
    stage.session.set_tools(OTHER_TOOLS).unwrap();
    let step = turn.next_step().await.unwrap();
    hold.on();
    {
        let mut marking = pin!(turn.mark_sent(&step));
        let mut context = Context::from_waker(Waker::noop());
        while !hold.has_one() {
            assert!(marking.as_mut().poll(&mut context).is_pending());
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    }
    hold.off();
    stage.session.set_tools(TOOLS).unwrap();
    let step = turn.next_step().await.unwrap();
    turn.mark_sent(&step).await.unwrap();
    verify(&stage).unwrap();
}

#[tokio::test]
async fn a_mark_whose_sync_failed_is_remembered_by_the_next_one() {
    let disk = Disk::project("Use tabs.");
    let stage = Stage::with(&disk, options(&disk).with_durability(Durability::DataSync)).await;
    let turn = stage.session.begin_turn(UserInput::text("one")).unwrap();
    send(&turn).await;
    stage.session.set_tools(OTHER_TOOLS).unwrap();
    let step = turn.next_step().await.unwrap();
    stage.file.with(|state| state.faults.sync_failures = 1);
    assert!(turn.mark_sent(&step).await.unwrap_err().is_recorded());
    stage.session.set_tools(TOOLS).unwrap();
    let step = turn.next_step().await.unwrap();
    turn.mark_sent(&step).await.unwrap();
    verify(&stage).unwrap();
}

#[tokio::test]
async fn a_call_of_another_session_is_not_open_here() {
    let (here, there) = (Stage::new().await, Stage::new().await);
    let turn = here.session.begin_turn(UserInput::text("one")).unwrap();
    let other = there.session.begin_turn(UserInput::text("one")).unwrap();
    send(&turn).await;
    send(&other).await;
    turn.record([call("c1")]).await.unwrap();
    other.record([call("c2")]).await.unwrap();
    let before = history(&here.session);
    let error = turn.record_output(&other.open_calls()[0], "ok").await.unwrap_err();
    assert!(matches!(&error, Error::NotOpen { call_id, .. } if call_id == "c2"), "{error}");
    assert_eq!((history(&here.session), turn.open_calls().len()), (before, 1));
}

#[tokio::test]
async fn a_step_of_a_turn_that_is_over_is_not_sent_in_the_next_turn() {
    let stage = Stage::new().await;
    let turn = stage.session.begin_turn(UserInput::text("one")).unwrap();
    let step = send(&turn).await;
    turn.abort(AbortReason::Replaced).await.unwrap();
    let next = stage.session.begin_turn(UserInput::text("two")).unwrap();
    let writes = stage.writes();
    let error = next.mark_sent(&step).await.unwrap_err();
    assert!(matches!(&error, Error::TurnOver { turn, .. } if turn == "turn-1"), "{error}");
    assert_eq!(stage.writes(), writes);
    // One of another session is not sent here either.
    let other = Stage::new().await;
    let foreign = send(&other.session.begin_turn(UserInput::text("one")).unwrap()).await;
    next.abort(AbortReason::Replaced).await.unwrap();
    let third = stage.session.begin_turn(UserInput::text("three")).unwrap();
    send(&third).await;
    third.mark_sent(&foreign).await.unwrap_err();
    verify(&stage).unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn handles_that_work_at_once_leave_one_log_that_can_be_resumed() {
    let stage = Stage::slow().await;
    simple_turn(&stage.session, "zero", "0").await;
    let mut tasks = Vec::new();
    for worker in 0..6 {
        let session = stage.session.clone();
        tasks.push(tokio::spawn(async move {
            for round in 0..12 {
                match worker {
                    0 => session.set_model(format!("m{round}").as_str()),
                    1 => session.set_permissions(permissions()),
                    _ => {}
                }
                let turn = match session.begin_turn(UserInput::text(format!("{worker}-{round}"))) {
                    Ok(turn) => turn,
                    Err(Error::TurnLive { .. }) => match session.live_turn() {
                        Some(turn) => turn,
                        None => continue,
                    },
                    Err(other) => panic!("{other}"),
                };
                let expected = |error: &Error| {
                    matches!(
                        error,
                        Error::TurnOver { .. }
                            | Error::OpenCalls { .. }
                            | Error::NoStep { .. }
                            | Error::NotOpen { .. }
                            | Error::InputWaiting { .. }
                    ) || error.is_stale()
                };
                match turn.next_step().await {
                    Ok(step) => {
                        if let Err(error) = turn.mark_sent(&step).await {
                            assert!(expected(&error), "{error}");
                        }
                    }
                    Err(error) => assert!(expected(&error), "{error}"),
                }
                let id = format!("{worker}-{round}");
                if let Err(error) = turn.record([call(&id)]).await {
                    assert!(expected(&error), "{error}");
                }
                for open in turn.open_calls() {
                    if let Err(error) = turn.record_output(&open, "ok").await {
                        assert!(expected(&error), "{error}");
                    }
                }
                let ended =
                    if round % 3 == 0 { turn.abort(AbortReason::Failed).await.map(drop) } else { turn.finish().await };
                if let Err(error) = ended {
                    assert!(expected(&error), "{error}");
                }
            }
        }));
    }
    for task in tasks {
        task.await.unwrap();
    }
    verify(&stage).unwrap();
}
