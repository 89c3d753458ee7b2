//! What hosts may do with the public types across threads.

use std::fs::File;

use session::{
    AbortReason, Aborted, Applied, Error, InterruptedTurn, Moment, NewSession, OpenCall, Replay, Resumed, Session,
    SessionEnvironment, SessionOptions, Settings, Step, StepContext, StepEnvironment, ToolResult, Turn, UserInput,
    rollout::{
        AsyncLog, Checkpoint, CodexReader, Draft, Events, LogFile, LogLock, LogWriter, LoggedLine, Metadata, Opening,
        Record, RecordReader, RecoveryReport, ReplayEvent, RolloutItem, SessionFolder, SessionMeta,
    },
};

fn shared<T: Send + Sync + ?Sized>() {}
fn sent<T: Send + ?Sized>() {}

#[test]
fn public_types_are_send_and_sync() {
    shared::<(AsyncLog, LogWriter, LogLock, SessionFolder, Opening)>();
    shared::<(Draft, Record, RolloutItem, Checkpoint, SessionMeta, Metadata)>();
    shared::<(RecordReader<File>, CodexReader<File>, Events<File>, LoggedLine, ReplayEvent, RecoveryReport)>();
    shared::<Error>();
    shared::<(Session, Turn, Step, StepContext, StepEnvironment, Settings, SessionEnvironment, NewSession, Moment)>();
    shared::<(OpenCall, ToolResult, UserInput, AbortReason, Aborted, InterruptedTurn, Resumed, Replay, Applied)>();
    // Warm-ups are futures, which need not be shared.
    sent::<SessionOptions>();
}

/// A host may spawn every call.
#[test]
fn the_futures_of_all_calls_can_be_sent() {
    fn is_sent<T: Send>(_: impl FnOnce(Session, Turn, Step, OpenCall) -> T) {}
    is_sent(|_, turn, _, _| async move { turn.next_step().await.map(drop) });
    is_sent(|_, turn, step, _| async move { turn.mark_sent(&step).await.map(drop) });
    is_sent(|_, turn, _, _| async move { turn.record(Vec::<context_fragments::WireItem>::new()).await.map(drop) });
    is_sent(|_, turn, _, call| async move { turn.record_output(&call, "ok").await.map(drop) });
    is_sent(|_, turn, _, _| async move { turn.abort(AbortReason::Interrupted).await.map(drop) });
    is_sent(|_, turn, _, _| async move { turn.finish().await });
    is_sent(|session, _, _, _| async move { session.sync().await });
    is_sent(|session, _, _, _| async move { session.close().await });
    is_sent(|session, _, _, _| async move {
        let folder = session.folder().cloned().ok_or(Error::Closed)?;
        let options = SessionOptions::new(session.settings(), Moment::new(0));
        Session::resume(&folder, options).await.map(drop)
    });
}

#[test]
fn a_log_file_is_object_safe() {
    sent::<dyn LogFile>();
}
