//! A resume from the newest checkpoint gives the session that all of the log gives.

use context_fragments::WireItem;
use session::{
    Compaction, CompactionTrigger, Error, Replay, Session, Summarizer, Summary, SummaryError, SummaryRequest,
    UserInput,
    rollout::{OpenLimits, SessionFolder, stats},
};

use crate::{
    sample::{file_bytes, read},
    stage::{Disk, call, new_session, options, send, simple_turn, stored},
};

struct Short;

#[async_trait::async_trait]
impl Summarizer for Short {
    async fn summarize(&self, _: SummaryRequest) -> Result<Summary, SummaryError> {
        Ok(Summary::Text("Short.".into()))
    }
}

async fn long_turn(session: &Session, said: &str) {
    let turn = session
        .begin_turn(UserInput::text(said).with_image("https://a.example/".to_owned() + &"i".repeat(40_000), "auto"))
        .unwrap();
    send(&turn).await;
    turn.record([call("c1")]).await.unwrap();
    turn.record_output(&turn.open_calls()[0], "line of output\n".repeat(2_000)).await.unwrap();
    send(&turn).await;
    turn.record([WireItem::assistant_text("done")]).await.unwrap();
    turn.finish().await.unwrap();
}

async fn compact(session: &Session, trigger: CompactionTrigger) {
    session.compact(&Compaction::new(trigger), &Short).await.unwrap();
}

/// A turn whose first prompt does not extend the one before, because of a compaction between them.
async fn turn_after_break(session: &Session, said: &str) {
    let turn = session.begin_turn(UserInput::text(said)).unwrap();
    let step = turn.next_step().await.unwrap();
    turn.mark_sent(&step).await.unwrap();
    turn.record([WireItem::assistant_text("ok")]).await.unwrap();
    turn.finish().await.unwrap();
}

/// The history that all records give, one after the other.
fn from_all(folder: &SessionFolder) -> Vec<String> {
    let recording = context_manager::Recording::new(context_manager::TruncationPolicy::new(
        context_fragments::Limit::Tokens(10_000),
    ));
    let mut replay = Replay::new(context_manager::ContextManager::new(), recording);
    for event in folder.events().unwrap() {
        replay.apply(&event.unwrap()).unwrap();
    }
    replay.manager().history().items().map(|item| item.item().as_str().to_owned()).collect()
}

#[tokio::test]
async fn s10_a_resume_from_the_tail_gives_what_the_whole_log_gives() {
    let root = tempfile::tempdir().unwrap();
    let folder = SessionFolder::new(root.path().join("s1"));
    let disk = Disk::project("Use tabs.");
    let mut session = Session::create(&folder, new_session(), options(&disk)).await.unwrap();
    for number in 0..3 {
        long_turn(&session, &format!("long {number}")).await;
        compact(&session, CompactionTrigger::Manual).await;
        turn_after_break(&session, &format!("after {number}")).await;
        simple_turn(&session, &format!("more {number}"), "yes").await;
        let (live, entries) = (stored(&session), session.history().entry_count());
        let next = session.preview().input_json();
        session.close().await.unwrap();

        let resumed = Session::resume(&folder, options(&disk)).await.unwrap();
        assert!(resumed.report.is_clean() && resumed.interrupted.is_none());
        assert_eq!(stored(&resumed.session), live);
        assert_eq!(resumed.session.preview().input_json(), next);
        let items: Vec<_> = resumed.session.history().items().map(|item| item.item().as_str().to_owned()).collect();
        assert_eq!(items, from_all(&folder));
        assert!(resumed.session.history().entry_count() <= entries + 1);
        session = resumed.session;
        // The guard in it proves that the next prompt extends the one that was sent last.
        simple_turn(&session, &format!("resumed {number}"), "yes").await;
    }
    session.close().await.unwrap();

    // What stands before the newest checkpoint is not even looked at: not its damage, not its missing blobs.
    let counted = stats(folder.path(), &mut |_| ()).unwrap();
    assert!(counted.live_bytes < counted.bytes / 2, "{counted:?}");
    let mut bytes = file_bytes(&folder.log_path());
    let (lines, _) = read(&bytes);
    let old = usize::try_from(lines[4].offset()).unwrap();
    bytes[old..old + 40].fill(b'#');
    std::fs::write(folder.log_path(), bytes).unwrap();
    let resumed = Session::resume(&folder, options(&disk)).await.unwrap();
    assert!(resumed.report.is_clean(), "{:?}", resumed.report);
    resumed.session.close().await.unwrap();

    let limits = OpenLimits::default().with_max_bytes(500);
    let refused = Session::resume(&folder, options(&disk).with_open_limits(limits)).await.unwrap_err();
    assert!(matches!(refused, Error::OverLimit { limit: 500, .. }), "{refused}");
}

#[tokio::test]
async fn a_turn_in_which_a_checkpoint_stands_is_closed_like_any_other() {
    let root = tempfile::tempdir().unwrap();
    let folder = SessionFolder::new(root.path().join("s1"));
    let disk = Disk::project("Use tabs.");
    let session = Session::create(&folder, new_session(), options(&disk)).await.unwrap();
    long_turn(&session, "first").await;
    let turn = session.begin_turn(UserInput::text("second")).unwrap();
    send(&turn).await;
    turn.record([call("c2")]).await.unwrap();
    turn.record_output(&turn.open_calls()[0], "line of output\n".repeat(2_000)).await.unwrap();
    compact(&session, CompactionTrigger::MidTurn).await;
    let step = turn.next_step().await.unwrap();
    turn.mark_sent(&step).await.unwrap();
    turn.record([call("c3")]).await.unwrap();
    drop((turn, session));

    let resumed = Session::resume(&folder, options(&disk)).await.unwrap();
    let interrupted = resumed.interrupted.expect("the turn was live");
    assert_eq!(interrupted.id.as_str(), "turn-2");
    assert_eq!(interrupted.closed_calls.iter().map(|call| call.call_id()).collect::<Vec<_>>(), ["c3"]);
    assert!(resumed.session.preview().input_json().contains("turn_aborted"));
    let turn = resumed.session.begin_turn(UserInput::text("third")).unwrap();
    assert_eq!(turn.id().as_str(), "turn-3");
}

/// The session's own fork, whose blobs are links.
#[cfg(unix)]
#[tokio::test]
async fn s22_a_fork_links_its_blobs_and_outlives_its_parent() {
    use std::os::unix::fs::MetadataExt as _;

    let root = tempfile::tempdir().unwrap();
    let folder = SessionFolder::new(root.path().join("parent"));
    let disk = Disk::project("Use tabs.");
    let session = Session::create(&folder, new_session(), options(&disk)).await.unwrap();
    long_turn(&session, "first").await;
    let child_folder = SessionFolder::new(root.path().join("child"));
    let fork = session::Fork::new("child");
    let child = session.fork(&fork, &child_folder, options(&disk)).await.unwrap();
    let names: Vec<_> =
        std::fs::read_dir(child_folder.blobs_path()).unwrap().map(|entry| entry.unwrap().path()).collect();
    assert!(!names.is_empty() && names.iter().any(|path| path.metadata().unwrap().nlink() == 2), "{names:?}");
    let before = child.preview().input_json();
    session.close().await.unwrap();
    let owner = session::rollout::Owner::this_process("here", crate::sample::AT_MS);
    session::rollout::delete(&folder, &owner).unwrap();
    child.close().await.unwrap();
    let resumed = Session::resume(&child_folder, options(&disk)).await.unwrap();
    assert_eq!(resumed.session.preview().input_json(), before);
    simple_turn(&resumed.session, "go on", "yes").await;
}
