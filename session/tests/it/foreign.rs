//! Codex rollouts in, and out again.

use std::io::Cursor;

use session::{
    Error, Session, Survey, UserInput,
    foreign::{Import, Imported, Loss, export, import},
    rollout::{Events, Owner, SessionFolder},
};

use crate::{
    resume::{Desk, entries},
    sample::AT_MS,
    stage::{history, options, send, simple_turn},
};

const GENERATIONS: [(&str, &str); 5] = [
    ("0.58", include_str!("../data/codex-0.58.jsonl")),
    ("0.105", include_str!("../data/codex-0.105.jsonl")),
    ("0.144", include_str!("../data/codex-0.144.jsonl")),
    ("0.149", include_str!("../data/codex-0.149.jsonl")),
    ("0.153", include_str!("../data/codex-0.153.jsonl")),
];

fn take(log: &[u8], folder: &SessionFolder) -> Imported {
    import_bytes(log, folder).unwrap()
}

fn import_bytes(log: &[u8], folder: &SessionFolder) -> Result<Imported, Error> {
    let temporary = tempfile::tempdir().unwrap();
    let path = temporary.path().join("rollout-x.jsonl");
    std::fs::write(&path, log).unwrap();
    import(&path, folder, &Import::new(Owner::this_process("here", AT_MS), AT_MS))
}

fn give(folder: &SessionFolder) -> (String, Vec<String>) {
    let mut out = Vec::new();
    let exported = export(folder.events().unwrap(), &mut out).unwrap();
    (String::from_utf8(out).unwrap(), exported.losses.iter().map(|loss| loss.to_string()).collect())
}

#[test]
fn every_generation_comes_out_line_for_line_as_it_went_in() {
    for (version, text) in GENERATIONS {
        let temporary = tempfile::tempdir().unwrap();
        let folder = SessionFolder::new(temporary.path().join("s"));
        let imported = take(text.as_bytes(), &folder);
        assert_eq!(imported.lines, text.lines().count() as u64, "{version}");
        assert!(imported.items > 0, "{version}");
        let (out, losses) = give(&folder);
        assert_eq!(out, text, "{version}");
        assert_eq!(losses, [""; 0], "{version}");
    }
}

#[tokio::test]
async fn an_imported_session_resumes_and_goes_on() {
    for (version, text) in GENERATIONS {
        let desk = Desk::new();
        let imported = take(text.as_bytes(), &desk.folder);
        let resumed = Session::resume(&desk.folder, options(&desk.disk)).await.unwrap();
        assert!(resumed.report.is_clean(), "{version}: {:?}", resumed.report.findings);
        let session = resumed.session;
        assert_eq!(session.history().item_count(), imported.items, "{version}");
        assert_eq!(session.id(), imported.session_id, "{version}");
        let before = session.preview().input_json();
        let turn = session.begin_turn(UserInput::text("go on")).unwrap();
        let step = turn.next_step().await.unwrap();
        assert!(turn.mark_sent(&step).await.unwrap().proof.is_legal());
        let start = before.strip_suffix(']').unwrap();
        assert!(step.prompt().input_json().starts_with(start), "{version}: what was imported stays as it is");
        turn.record([context_fragments::WireItem::assistant_text("gone on")]).await.unwrap();
        turn.finish().await.unwrap();
        simple_turn(&session, "and on", "ok").await;
        let live = entries(&session);
        session.close().await.unwrap();
        let session = Session::resume(&desk.folder, options(&desk.disk)).await.unwrap().session;
        assert_eq!(entries(&session), live, "{version}");
        session.close().await.unwrap();

        // Out again: the old lines as they were, and the new turns in the same words.
        let (out, losses) = give(&desk.folder);
        assert!(out.starts_with(text), "{version}");
        let new = &out[text.len()..];
        assert!(new.contains(r#""type":"task_started","turn_id":"turn-1""#), "{version}: {new}");
        assert!(new.contains(r#""text":"go on""#), "{version}: {new}");
        assert_eq!(losses, ["1 x parts has no counterpart", "2 x sent has no counterpart"], "{version}");
        let mut survey = Survey::new();
        let events: Vec<_> = Events::open(Cursor::new(&out)).unwrap().map(Result::unwrap).collect();
        events.iter().for_each(|event| survey.take(event));
        assert_eq!(survey.finish().model(), Some("m1"), "{version}");
        if text.contains(r#""ordinal""#) {
            let ordinals: Vec<_> = events.iter().filter_map(|event| event.ordinal).collect();
            assert!(ordinals.windows(2).all(|pair| pair[0] < pair[1]), "{version}: {ordinals:?}");
            assert_eq!(ordinals.len(), events.len(), "{version}");
        }
    }
}

#[tokio::test]
async fn a_session_of_ours_that_went_through_the_other_format_has_nothing_new_to_say() {
    let desk = Desk::new();
    let session = desk.create().await;
    simple_turn(&session, "one", "1").await;
    simple_turn(&session, "two", "2").await;
    let before = history(&session);
    session.close().await.unwrap();
    let (out, _) = give(&desk.folder);
    let other = Desk::new();
    let imported = take(out.as_bytes(), &other.folder);
    assert!(imported.losses.is_empty(), "{:?}", imported.losses.iter().collect::<Vec<_>>());
    let session = Session::resume(&other.folder, options(&other.disk)).await.unwrap().session;
    assert_eq!(history(&session), before);
    let turn = session.begin_turn(UserInput::text("three")).unwrap();
    let step = turn.next_step().await.unwrap();
    assert_eq!(step.appended().len(), 1, "{:?}", history(&session));
    assert_eq!(turn.id().as_str(), "turn-3");
    drop(send(&turn).await);
}

#[test]
fn what_is_no_text_or_has_blanks_is_told_or_kept() {
    let temporary = tempfile::tempdir().unwrap();
    let folder = SessionFolder::new(temporary.path().join("s"));
    let text = GENERATIONS[4].1;
    let (first, rest) = text.split_once('\n').unwrap();
    let odd = format!("{first}\r\n\n{{ \"timestamp\": 1 }}\nno json at all\n");
    let mut log = odd.clone().into_bytes();
    log.extend(b"\xFF\xFE broken\n");
    log.extend(rest.as_bytes());
    let imported = take(&log, &folder);
    let lines = imported.losses.iter().filter(|loss| matches!(loss, Loss::Line { .. })).count();
    assert_eq!(lines, 1);
    assert!(imported.losses.iter().any(|loss| loss.to_string().starts_with("line 5 is left out: it is no UTF-8")));
    assert!(imported.losses.iter().any(|loss| matches!(loss, Loss::Meaning { .. })));
    assert_eq!(give(&folder).0, format!("{odd}{rest}"));
}

#[test]
fn what_is_no_rollout_is_refused_and_makes_no_session() {
    let temporary = tempfile::tempdir().unwrap();
    let folder = SessionFolder::new(temporary.path().join("s"));
    for (log, words) in [(&b""[..], "x.jsonl is empty"), (b"hello\n", "x.jsonl cannot be appended to")] {
        let error = import_bytes(log, &folder).unwrap_err();
        assert!(error.to_string().contains(words), "{error}");
        assert!(!folder.log_path().exists());
    }
    take(GENERATIONS[0].1.as_bytes(), &folder);
    let error = import_bytes(GENERATIONS[0].1.as_bytes(), &folder).unwrap_err();
    assert!(matches!(error, Error::Exists { .. }), "{error}");
}
