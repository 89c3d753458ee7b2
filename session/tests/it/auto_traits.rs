//! What hosts may do with the public types across threads.

use std::fs::File;

use session::{
    Error,
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
}

#[test]
fn a_log_file_is_object_safe() {
    sent::<dyn LogFile>();
}
