//! A session whose log is away: it goes on, claims nothing, and writes all of it in order when there is room.

use context_fragments::WireItem;
use session::{
    Error, LogFailure, Session, UserInput,
    rollout::{Durability, LogWriter, SessionFolder, WriterStart},
    store::{CapReached, LogCaps, LogHealth},
};

use crate::{
    sample::{AT_MS, SharedFile, read},
    stage::{Disk, call, new_session, options, simple_turn},
};

async fn session(file: &SharedFile, durability: Durability, max_pending: usize) -> Session {
    let options = options(&Disk::project("Use tabs."))
        .with_log_failure(LogFailure::Degraded)
        .with_log_backlog(max_pending)
        .with_durability(durability);
    Session::create_on(writer(file), new_session(), options).await.unwrap()
}

fn writer(file: &SharedFile) -> LogWriter<SharedFile> {
    LogWriter::new(file.clone(), "log", WriterStart::NEW)
}

/// The types in the file, each record whole and in its place.
fn types(bytes: &[u8]) -> Vec<String> {
    let (lines, report) = read(bytes);
    assert!(report.is_clean(), "{:?}", report.findings);
    lines.iter().map(|line| line.type_name().to_owned()).collect()
}

#[tokio::test]
async fn s13_a_full_disk_degrades_and_room_makes_healthy_again_in_order() {
    let file = SharedFile::default();
    let session = session(&file, Durability::Flush, 100).await;
    let watch = session.watch_log();
    simple_turn(&session, "one", "1").await;
    let before = types(&file.bytes());
    let flushed = session.log_status().flushed_through;
    assert_eq!(flushed, Some(before.len() as u64 - 1));

    // No room for three appends: a short write, then none.
    let turn = session.begin_turn(UserInput::text("two")).unwrap();
    file.with(|state| state.faults.free = Some(100));
    let step = turn.next_step().await.unwrap();
    turn.mark_sent(&step).await.unwrap();
    turn.record([call("c1")]).await.unwrap();
    let status = session.log_status();
    let LogHealth::Degraded { since_ms, pending, last_error } = &status.health else { panic!("{status:?}") };
    assert_eq!((*since_ms, *pending), (AT_MS, 5), "turn_started, turn_context, item, sent, item");
    assert_eq!(last_error.as_ref(), "could not append record 10 to log; nothing was written: no storage space");
    assert_eq!(*watch.borrow(), status);
    // Nothing is claimed meanwhile, and nothing half-written stands in the log.
    assert_eq!(status.flushed_through, flushed);
    assert_eq!(types(&file.bytes()), before);
    assert_eq!(session.history().item_count(), 6, "the session goes on in memory");
    session.sync().await.unwrap_err();

    file.with(|state| state.faults.free = None);
    let open = turn.open_calls();
    turn.record_output(&open[0], "ok").await.unwrap();
    let status = session.log_status();
    assert!(status.health.is_healthy(), "{status:?}");
    let after = types(&file.bytes());
    assert_eq!(after[before.len()..], ["turn_started", "turn_context", "item", "sent", "item", "item"]);
    assert_eq!(status.flushed_through, Some(after.len() as u64 - 1));
}

#[tokio::test]
async fn a_full_backlog_refuses_a_step_and_never_an_output() {
    let file = SharedFile::default();
    let session = session(&file, Durability::Flush, 4).await;
    let turn = session.begin_turn(UserInput::text("one")).unwrap();
    let step = turn.next_step().await.unwrap();
    file.with(|state| state.faults.free = Some(0));
    turn.mark_sent(&step).await.unwrap();
    turn.record([call("c1"), call("c2"), call("c3")]).await.unwrap();
    for open in turn.open_calls() {
        turn.record_output(&open, "ok").await.unwrap();
    }
    let error = turn.next_step().await.unwrap_err();
    assert!(error.is_retryable() && matches!(error, Error::BacklogFull { pending: 7, limit: 4, .. }), "{error}");
    assert_eq!(
        error.to_string(),
        "7 records wait for the log, and 4 are the most: no step is taken before they are written"
    );
    session.close().await.unwrap_err();
    file.with(|state| state.faults.free = None);
    // The step itself drains what waits.
    turn.next_step().await.unwrap();
    assert!(session.log_status().health.is_healthy());
    assert_eq!(types(&file.bytes()).iter().filter(|name| *name == "item").count(), 3 + 3 + 3);
}

#[tokio::test]
async fn a_level_that_could_not_be_had_is_owed_and_not_claimed() {
    let file = SharedFile::default();
    let session = session(&file, Durability::DataSync, 100).await;
    simple_turn(&session, "one", "1").await;
    let synced = session.log_status().synced_through;
    assert_eq!(synced, session.log_status().flushed_through);
    file.with(|state| state.faults.sync_failures = 2);
    let turn = session.begin_turn(UserInput::text("two")).unwrap();
    turn.next_step().await.unwrap();
    let status = session.log_status();
    assert!(matches!(status.health, LogHealth::Degraded { pending: 0, .. }), "{status:?}");
    assert_eq!(status.synced_through, synced);
    assert!(status.flushed_through > synced);
    turn.record([WireItem::assistant_text("2")]).await.unwrap();
    assert!(!session.log_status().health.is_healthy());
    turn.finish().await.unwrap();
    let status = session.log_status();
    assert!(status.health.is_healthy(), "{status:?}");
    assert_eq!(status.synced_through, status.flushed_through);
    let on_disk = file.with(|state| state.disk.clone());
    assert_eq!(on_disk, file.bytes());
}

/// Someone else wrote to the log: waiting cannot help, and nothing is fused with their bytes.
#[tokio::test]
async fn what_waiting_cannot_mend_is_an_error_at_once() {
    let file = SharedFile::default();
    let session = session(&file, Durability::Flush, 100).await;
    let turn = session.begin_turn(UserInput::text("one")).unwrap();
    file.with(|state| state.bytes.extend(b"their line\n"));
    let error = turn.next_step().await.unwrap_err();
    assert!(matches!(error, Error::ChangedOutside { .. }), "{error}");
    assert_eq!(session.history().item_count(), 0);
}

#[tokio::test]
async fn what_waits_is_written_when_the_session_goes() {
    let file = SharedFile::default();
    let session = session(&file, Durability::Flush, 100).await;
    let turn = session.begin_turn(UserInput::text("one")).unwrap();
    file.with(|state| state.faults.free = Some(0));
    turn.next_step().await.unwrap();
    file.with(|state| state.faults.free = None);
    drop((turn, session));
    assert_eq!(types(&file.bytes()).last().unwrap(), "item");
}

/// An idle session has a header and nothing else, however often it is asked to write.
#[tokio::test]
async fn a_second_sync_writes_nothing() {
    let file = SharedFile::default();
    let session = session(&file, Durability::Flush, 100).await;
    session.sync().await.unwrap();
    assert_eq!(types(&file.bytes()), ["session_meta"]);
    simple_turn(&session, "one", "1").await;
    session.sync().await.unwrap();
    let (bytes, writes) = (file.bytes(), file.with(|state| state.appends));
    session.sync().await.unwrap();
    assert_eq!((file.bytes(), file.with(|state| state.appends)), (bytes, writes));
}

/// Where no log can be made nobody gets a session, and once the path is mended the same call makes it.
#[tokio::test]
async fn a_path_that_cannot_be_written_is_an_error_until_it_is_mended() {
    let root = tempfile::tempdir().unwrap();
    // A file stands where the folder belongs: that stops every user, root too.
    let place = root.path().join("sessions");
    std::fs::write(&place, b"").unwrap();
    let folder = SessionFolder::new(place.join("s1"));
    let disk = Disk::project("Use tabs.");
    let error = Session::create(&folder, new_session(), options(&disk)).await.unwrap_err();
    assert!(matches!(error, Error::Io { .. }), "{error}");
    assert_eq!(place.metadata().unwrap().len(), 0);
    std::fs::remove_file(&place).unwrap();
    let session = Session::create(&folder, new_session(), options(&disk)).await.unwrap();
    simple_turn(&session, "one", "1").await;
    session.close().await.unwrap();
    assert!(folder.events().unwrap().count() > 5);
}

#[tokio::test]
async fn caps_are_reported_and_refuse_nothing() {
    let file = SharedFile::default();
    let caps = LogCaps::default().with_record_bytes(5_000).with_session_bytes(20_000);
    let options = options(&Disk::project("Use tabs.")).with_log_caps(caps);
    let session = Session::create_on(writer(&file), new_session(), options).await.unwrap();
    simple_turn(&session, "one", "1").await;
    assert_eq!(session.log_status().caps_reached, []);
    let long = "x".repeat(9_000);
    simple_turn(&session, &long, &long).await;
    let status = session.log_status();
    let [
        CapReached::Record { type_name, bytes, cap: 5_000 },
        CapReached::Record { .. },
        CapReached::Session { cap: 20_000, .. },
    ] = status.caps_reached.as_slice()
    else {
        panic!("{status:?}")
    };
    assert_eq!(type_name, "item");
    assert!(*bytes > 9_000 && *bytes < 9_200);
    let recorded = read(&file.bytes()).0.iter().filter(|line| line.text().contains(&long)).count();
    assert_eq!(recorded, 2);
}
