//! Instruction files of folders that tools reach: told once in a window, and remembered.

use agents_md::MemoryFs;
use context_fragments::WireItem;
use session::{
    Compaction, CompactionTrigger, Fork, Session, SessionEnvironment, Summarizer, Summary, SummaryError,
    SummaryRequest, UserInput, rollout::SessionFolder,
};

use crate::{
    resume::{Desk, entries},
    stage::{Stage, call, history, options, place, project, send, simple_turn, stored},
};

const WEB: &str = "user(# Nested AGENTS.md instructions for /r/web)";

fn nested(text: &str) -> MemoryFs {
    project("Use tabs.").with_file("/r/web/AGENTS.md", text).with_file("/r/api/AGENTS.md", "Use commas.")
}

fn told(session: &Session) -> Vec<String> {
    stored(session).into_iter().filter(|item| item.contains("Nested AGENTS.md")).collect()
}

struct Short;

#[async_trait::async_trait]
impl Summarizer for Short {
    async fn summarize(&self, _: SummaryRequest) -> Result<Summary, SummaryError> {
        Ok(Summary::Text("Short.".into()))
    }
}

#[tokio::test]
async fn a_folder_is_told_once_and_what_changed_in_it_with_the_next_turn() {
    let mut stage = Stage::new().await;
    stage.disk.becomes(nested("Use pixels."));
    let turn = stage.session.begin_turn(UserInput::text("one")).unwrap();
    send(&turn).await;
    assert!(turn.touch("/r/web/src/index.ts"));
    assert!(!turn.touch("web/src/other.ts"), "the folder is the same");
    stage.new_records();
    let step = send(&turn).await;
    assert_eq!(step.context().nested_instructions().unwrap().entries().len(), 1);
    let records = stage.new_records();
    assert_eq!(records[0], WEB);
    assert!(
        records[1].contains(r#""agents_md_targets":{"shown":[],"targets":[["local","/r/web/src"]]}"#),
        "{records:?}"
    );
    assert_eq!(records[2..], ["sent"]);

    // Another folder below it has no file of its own: it is remembered, and nothing is said.
    turn.touch("/r/web/test/a.ts");
    assert!(send(&turn).await.appended().is_empty());
    let accesses = stage.disk.accesses();
    send(&turn).await;
    assert_eq!(stage.disk.accesses(), accesses, "nothing is read while nothing new is reached");
    turn.record([WireItem::assistant_text("1")]).await.unwrap();
    turn.finish().await.unwrap();

    stage.disk.becomes(nested("Use points."));
    simple_turn(&stage.session, "two", "2").await;
    stage.disk.becomes(project("Use tabs."));
    simple_turn(&stage.session, "three", "3").await;
    let told = told(&stage.session);
    assert_eq!(told.len(), 3, "{told:?}");
    assert!(told[1].contains("replace all previously") && told[1].contains("Use points."), "{told:?}");
    assert!(told[2].contains("no longer apply"), "{told:?}");
}

#[tokio::test]
async fn what_was_reached_is_known_after_a_resume_and_after_a_compaction() {
    let desk = Desk::new();
    desk.disk.becomes(nested("Use pixels."));
    let session = desk.create().await;
    let turn = session.begin_turn(UserInput::text("one")).unwrap();
    send(&turn).await;
    turn.touch("/r/web/index.ts");
    send(&turn).await;
    turn.record([WireItem::assistant_text(&"much ".repeat(2_000))]).await.unwrap();
    turn.finish().await.unwrap();
    let live = entries(&session);
    session.close().await.unwrap();

    let session = Session::resume(&desk.folder, options(&desk.disk)).await.unwrap().session;
    assert_eq!(entries(&session), live);
    let step = simple_turn(&session, "two", "2").await;
    assert_eq!((step.warnings(), told(&session).len()), (&[][..], 1));

    // No world state stands between a compaction and the next step; the checkpoint knows it.
    session.compact(&Compaction::new(CompactionTrigger::Manual), &Short).await.unwrap();
    assert!(told(&session).is_empty());
    session.close().await.unwrap();
    let session = Session::resume(&desk.folder, options(&desk.disk)).await.unwrap().session;
    let turn = session.begin_turn(UserInput::text("three")).unwrap();
    let step = turn.next_step().await.unwrap();
    assert!(turn.mark_sent(&step).await.unwrap().proof.is_legal());
    assert_eq!(told(&session).len(), 1, "{:?}", history(&session));
    turn.record([WireItem::assistant_text(&"much ".repeat(2_000))]).await.unwrap();

    // Inside of a turn the compaction itself says it again.
    session.compact(&Compaction::new(CompactionTrigger::MidTurn), &Short).await.unwrap();
    assert_eq!(told(&session).len(), 1);
    let step = turn.next_step().await.unwrap();
    assert!(step.appended().is_empty(), "{:?}", history(&session));
}

#[tokio::test]
async fn a_folder_is_reached_in_the_environment_that_is_named() {
    let stage = Stage::new().await;
    stage.disk.becomes(nested("Use pixels.").with_file("/s/web/AGENTS.md", "Use points."));
    stage.session.set_environments([place("/r"), SessionEnvironment::new("other", "/s")]);
    assert!(!stage.session.touch_in("nowhere", "web/a.ts"));
    assert!(stage.session.touch_in("other", "web/a.ts"));
    simple_turn(&stage.session, "one", "1").await;
    let said = told(&stage.session);
    assert!(said.len() == 1 && said[0].contains("for /s/web") && said[0].contains("Use points."), "{said:?}");
    assert!(stage.session.touch("/r/api/a.rs"));
    stage.session.set_trust(agents_md::TrustLevel::Untrusted);
    simple_turn(&stage.session, "two", "2").await;
    let said = told(&stage.session);
    assert!(said.len() == 2 && said[1].contains("no longer apply"), "{said:?}");
    assert!(said.iter().all(|item| !item.contains("Use commas.")), "an untrusted project is not read: {said:?}");
    // A turn that was taken back took what it told along: it is told again.
    stage.session.set_trust(agents_md::TrustLevel::Trusted);
    simple_turn(&stage.session, "three", "3").await;
    assert!(told(&stage.session).iter().any(|item| item.contains("Use commas.")));
    stage.session.rollback(1).await.unwrap();
    assert!(told(&stage.session).iter().all(|item| !item.contains("Use commas.")));
    let turn = stage.session.begin_turn(UserInput::text("four")).unwrap();
    turn.next_step().await.unwrap();
    assert!(told(&stage.session).iter().any(|item| item.contains("Use commas.")), "{:?}", history(&stage.session));
}

/// A tool reaches a folder, and the process dies before the next step.
#[tokio::test]
async fn what_was_reached_is_written_with_whatever_is_recorded_next() {
    let desk = Desk::new();
    desk.disk.becomes(nested("Use pixels."));
    let session = desk.create().await;
    let turn = session.begin_turn(UserInput::text("one")).unwrap();
    send(&turn).await;
    turn.record([call("c1")]).await.unwrap();
    turn.touch("/r/web/index.ts");
    let records = || desk.folder.events().unwrap().map(|event| event.unwrap().record.item.type_name().to_owned());
    let before = records().count();
    turn.record_output(&turn.open_calls()[0], "ok").await.unwrap();
    assert_eq!(records().skip(before).collect::<Vec<_>>(), ["item", "folders_reached"]);
    turn.record([WireItem::assistant_text("1")]).await.unwrap();
    assert_eq!(records().skip(before + 2).collect::<Vec<_>>(), ["item"], "it is written once");
    drop(turn);
    session.close().await.unwrap();
    let session = Session::resume(&desk.folder, options(&desk.disk)).await.unwrap().session;
    assert!(told(&session).is_empty());
    simple_turn(&session, "two", "2").await;
    assert_eq!(told(&session).len(), 1, "{:?}", history(&session));
    assert!(!session.touch("/r/web/index.ts"), "it is known");

    // A turn that is taken back takes along what it told, and not that the tool was there.
    session.rollback(1).await.unwrap();
    session.close().await.unwrap();
    let session = Session::resume(&desk.folder, options(&desk.disk)).await.unwrap().session;
    simple_turn_after_break(&session, "three").await;
    assert_eq!(told(&session).len(), 1, "{:?}", history(&session));
}

#[tokio::test]
async fn a_fork_between_a_compaction_and_the_next_step_knows_what_was_reached() {
    let desk = Desk::new();
    desk.disk.becomes(nested("Use pixels."));
    let session = desk.create().await;
    let turn = session.begin_turn(UserInput::text("one")).unwrap();
    send(&turn).await;
    turn.touch("/r/web/index.ts");
    send(&turn).await;
    turn.record([WireItem::assistant_text(&"much ".repeat(2_000))]).await.unwrap();
    turn.finish().await.unwrap();
    session.compact(&Compaction::new(CompactionTrigger::Manual), &Short).await.unwrap();
    session.touch("/r/api/main.rs");
    let temporary = tempfile::tempdir().unwrap();
    let folder = SessionFolder::new(temporary.path().join("child"));
    let child = session.fork(&Fork::new("child"), &folder, options(&desk.disk)).await.unwrap();
    simple_turn_after_break(&child, "go on").await;
    let said = told(&child).concat();
    assert!(said.contains("/r/web") && said.contains("/r/api"), "{:?}", history(&child));
    // The parent says the same.
    simple_turn_after_break(&session, "go on").await;
    assert_eq!(told(&session), told(&child));
}

async fn simple_turn_after_break(session: &Session, said: &str) {
    let turn = session.begin_turn(UserInput::text(said)).unwrap();
    let step = turn.next_step().await.unwrap();
    assert!(turn.mark_sent(&step).await.unwrap().proof.is_legal());
    turn.record([WireItem::assistant_text("ok")]).await.unwrap();
    turn.finish().await.unwrap();
}
