//! Making a session: the first reading of the instructions, and the warm-ups beside it.

use std::{
    io::ErrorKind,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use agents_md::{AgentsMdManager, Discovery};
use session::{
    Error, Moment, Session, SessionEnvironment, SessionOptions,
    rollout::{LogWriter, SessionFolder, WriterStart},
};

use crate::{
    sample::{SharedFile, file_bytes, read},
    stage::{Disk, moment, new_session, options, project, settings},
};

#[tokio::test]
async fn a_strict_error_stops_construction_after_all_warm_ups_and_leaves_no_log() {
    let disk = Disk::new(project("Use tabs.").failing_read("/r/AGENTS.md", ErrorKind::PermissionDenied));
    let manager = AgentsMdManager::on_blocking(Discovery::default(), Arc::clone(&disk));
    let finished = Arc::new(AtomicUsize::new(0));
    let restricted = settings().with_environments([SessionEnvironment::new("box", "/r").restricted()]);
    let mut options = SessionOptions::new(restricted, moment()).with_instructions(manager);
    for delay_ms in [0, 20] {
        let finished = Arc::clone(&finished);
        options = options.with_warm_up("connect", async move {
            tokio::time::sleep(Duration::from_millis(delay_ms)).await;
            finished.fetch_add(1, Ordering::SeqCst);
            Ok(())
        });
    }
    let temporary = tempfile::tempdir().unwrap();
    let folder = SessionFolder::new(temporary.path().join("s1"));
    let error = Session::create(&folder, new_session(), options).await.unwrap_err();
    assert_eq!(finished.load(Ordering::SeqCst), 2);
    let causes = std::iter::successors(Some(&error as &dyn std::error::Error), |error| error.source());
    let words = causes.map(ToString::to_string).collect::<Vec<_>>().join(": ");
    for word in ["could not load the instructions", "environment `box`", "/r/AGENTS.md", "permission denied"] {
        assert!(words.contains(word), "`{word}` is missing in: {words}");
    }
    assert!(!folder.path().exists());
}

#[tokio::test]
async fn a_failed_warm_up_is_named_and_the_others_still_finish() {
    let disk = Disk::project("Use tabs.");
    let finished = Arc::new(AtomicUsize::new(0));
    let last = Arc::clone(&finished);
    let options = options(&disk)
        .with_warm_up("provider", async { Err("no route".into()) })
        .with_warm_up("tools", async { Err("too late to be named".into()) })
        .with_warm_up("cache", async move {
            tokio::task::yield_now().await;
            last.fetch_add(1, Ordering::SeqCst);
            Ok(())
        });
    let error = Session::in_memory(new_session(), options).await.unwrap_err();
    assert_eq!(finished.load(Ordering::SeqCst), 1);
    assert_eq!(error.to_string(), "the warm-up `provider` failed");
    assert_eq!(std::error::Error::source(&error).unwrap().to_string(), "no route");
}

#[tokio::test]
async fn a_clock_that_fails_stops_the_call_and_changes_nothing() {
    let disk = Disk::project("Use tabs.");
    let broken = Arc::new(AtomicUsize::new(0));
    let switch = Arc::clone(&broken);
    let clock = move || match switch.load(Ordering::SeqCst) {
        0 => Ok(Moment::new(0)),
        _ => Err("the battery is empty".into()),
    };
    let manager = AgentsMdManager::on_blocking(Discovery::default(), Arc::clone(&disk));
    let options = SessionOptions::new(settings(), clock).with_instructions(manager);
    let session = Session::in_memory(new_session(), options).await.unwrap();
    let turn = session.begin_turn(session::UserInput::text("one")).unwrap();
    broken.store(1, Ordering::SeqCst);
    let error = turn.next_step().await.unwrap_err();
    assert_eq!(error.to_string(), "failed to read current time");
    assert_eq!(session.history().entry_count(), 0);
    broken.store(0, Ordering::SeqCst);
    assert_eq!(turn.next_step().await.unwrap().appended().len(), 3);
}

#[tokio::test]
async fn the_header_holds_what_the_session_was_started_with() {
    let disk = Disk::project("Use tabs.");
    let temporary = tempfile::tempdir().unwrap();
    let folder = SessionFolder::new(temporary.path().join("s1"));
    let session = Session::create(&folder, new_session(), options(&disk)).await.unwrap();
    let (lines, report) = read(&file_bytes(&folder.log_path()));
    assert!(report.is_clean());
    let session::rollout::RolloutItem::SessionMeta(meta) = lines[0].decode().unwrap().item else { panic!("no header") };
    assert_eq!((meta.session_id.as_str(), meta.cwd.as_deref()), ("s1", Some("/r")));
    assert_eq!(meta.base_instructions.unwrap().as_str(), r#""You are careful.""#);
    assert_eq!(meta.tools.unwrap().as_str(), r#"[{"type":"function","name":"sh"}]"#);
    assert_eq!(meta.program.as_deref(), Some("demo 0.1.0"));
    assert_eq!((session.id(), session.folder()), ("s1", Some(&folder)));

    let error = Session::create(&folder, new_session(), options(&disk)).await.unwrap_err();
    assert!(error.is_busy(), "{error}");
    drop(session);
    let error = Session::create(&folder, new_session(), options(&disk)).await.unwrap_err();
    assert!(matches!(error, Error::Exists { .. }), "{error}");
}

#[tokio::test]
async fn a_log_that_cannot_take_the_header_is_an_error_of_construction() {
    let disk = Disk::project("Use tabs.");
    let file = SharedFile::default();
    file.with(|state| state.faults.free = Some(10));
    let writer = LogWriter::new(file.clone(), "log", WriterStart::NEW);
    let error = Session::create_on(writer, new_session(), options(&disk)).await.unwrap_err();
    assert!(matches!(error, Error::Append { .. }), "{error}");
    assert!(file.bytes().is_empty());
}
