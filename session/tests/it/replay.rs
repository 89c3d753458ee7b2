//! Replaying logs event by event, own ones and those of the Codex CLI.

use std::io::Cursor;

use context_fragments::{Limit, WireItem};
use context_manager::{ContextManager, PrefixGuard, Profile, Proof, Recording, TruncationPolicy};
use session::{
    Applied, Replay,
    rollout::{
        Checkpoint, CheckpointCause, CheckpointItem, Draft, Events, LogFormat, Metadata, Record, RolloutItem,
        SessionMeta,
    },
};

use crate::{
    sample::log_of,
    stage::{Stage, short, short_item, simple_turn},
};

fn replay() -> Replay {
    Replay::new(ContextManager::new(), Recording::new(TruncationPolicy::codex(Limit::Tokens(10_000))))
}

fn line(type_name: &str, payload: &str) -> String {
    format!(r#"{{"timestamp":"2026-09-01T08:00:00.000Z","type":"{type_name}","payload":{payload}}}"#) + "\n"
}

fn user(text: &str) -> String {
    line(
        "response_item",
        &format!(r#"{{"type":"message","role":"user","content":[{{"type":"input_text","text":"{text}"}}]}}"#),
    )
}

fn started(turn: &str) -> String {
    line("event_msg", &format!(r#"{{"type":"task_started","turn_id":"{turn}"}}"#))
}

const FULL: &str = r#"{"full":true,"state":{"model":"m1","kept":{"x":1}}}"#;
const FULL_2: &str = r#"{"full":true,"state":{"model":"m9"}}"#;
const PATCH: &str = r#"{"full":false,"state":{"model":"m2"}}"#;
const COMPACTED: &str = r#"{"message":"","replacement_history":[{"type":"message","role":"user","content":[{"type":"input_text","text":"kept"}]}]}"#;

/// The baseline that is left at the end of a log of these lines.
#[track_caller]
fn check_baseline(lines: &[String], want: Option<&str>) {
    let mut replay = replay();
    for event in Events::open(Cursor::new(lines.concat())).unwrap() {
        replay.apply(&event.unwrap()).unwrap();
    }
    let told = replay.manager().world_state_baseline().map(|told| serde_json::to_string(told).unwrap());
    assert_eq!(told.as_deref(), want, "{lines:#?}");
}

#[test]
fn the_baseline_of_a_log_is_what_its_records_say() {
    let [full, full_2, patch] = [FULL, FULL_2, PATCH].map(|state| line("world_state", state));
    let compacted = line("compacted", COMPACTED);
    let told = user("<environment_context>\\n</environment_context>");
    let turn = |id: &str, records: &[&String]| {
        [started(id)]
            .into_iter()
            .chain(records.iter().map(|record| (*record).clone()))
            .chain([user(id)])
            .collect::<String>()
    };
    let rolled_back = line("event_msg", r#"{"type":"thread_rolled_back","num_turns":1}"#);
    let f = Some(r#"{"kept":{"x":1},"model":"m1"}"#);
    check_baseline(&[turn("a", &[&full])], f);
    check_baseline(&[turn("a", &[&full]), turn("b", &[&patch])], Some(r#"{"kept":{"x":1},"model":"m2"}"#));
    check_baseline(&[turn("a", &[&patch])], None);
    check_baseline(&[turn("a", &[&full]), compacted.clone()], None);
    check_baseline(&[turn("a", &[&full]), compacted.clone(), turn("b", &[&full_2, &patch])], Some(r#"{"model":"m2"}"#));
    check_baseline(&[turn("a", &[&full]), turn("b", &[&told, &patch]), rolled_back], f);
    check_baseline(&[compacted, turn("a", &[&patch, &full])], f);
}

#[test]
fn a_codex_rollout_is_followed_event_by_event() {
    let context =
        r#"{"turn_id":"t1","cwd":"/r","approval_policy":"never","sandbox_policy":{"type":"read-only"},"model":"m1"}"#;
    let log = [
        line("session_meta", r#"{"id":"s1","base_instructions":{"text":"Base."},"cwd":"/r"}"#),
        started("t1"),
        user("# AGENTS.md instructions for /r\\n\\n<INSTRUCTIONS>\\nUse tabs.\\n</INSTRUCTIONS>"),
        line("world_state", FULL),
        line("turn_context", context),
        user("one"),
        line("response_item", r#"{"type":"function_call","name":"sh","arguments":"{}","call_id":"c1"}"#),
        line("response_item", r#"{"type":"function_call_output","call_id":"c1","output":"ok"}"#),
        line("response_item", r#"{"type":"message","role":"system","content":[]}"#),
        line("event_msg", r#"{"type":"task_complete","turn_id":"t1"}"#),
        started("t2"),
        user("two"),
        line("event_msg", r#"{"type":"turn_aborted","turn_id":"t2","reason":"interrupted"}"#),
        line("event_msg", r#"{"type":"thread_rolled_back","num_turns":1}"#),
        line("compacted", COMPACTED),
        line("world_state", PATCH),
        line("compacted", r#"{"message":"what happened"}"#),
    ]
    .concat();
    let mut replay = replay();
    let (mut did, mut open) = (Vec::new(), Vec::new());
    let mut guard = PrefixGuard::new();
    let mut proofs = Vec::new();
    let events = Events::open(Cursor::new(log)).unwrap();
    assert_eq!(events.format(), LogFormat::Codex);
    for event in events {
        let event = event.unwrap();
        let applied = replay.apply(&event).unwrap();
        if matches!(event.record.item, RolloutItem::TurnEnded(_) | RolloutItem::Checkpoint(_)) {
            let prompt = replay.manager().for_prompt(replay.parts(), &Profile::codex());
            proofs.push(guard.mark_sent(&prompt));
        }
        open.push(replay.open_calls().len());
        did.push(applied);
    }
    let names: Vec<String> = did.iter().map(|applied| format!("{applied:?}")).collect();
    let starts = [
        "Start",
        "TurnStarted",
        "Item",
        "Told",
        "TurnContext",
        "Item",
        "Item",
        "Item",
        "Dropped(SystemMessage)",
        "TurnEnded",
        "TurnStarted",
        "Item",
        "TurnAborted",
        "RolledBack(RolledBack { turns: 1, items: 1",
        "Compacted",
        "PatchIgnored",
        "Compacted { items: 2 }",
    ];
    assert_eq!(names.len(), starts.len());
    for (name, start) in names.iter().zip(starts) {
        assert!(name.starts_with(start), "{name} where {start} was expected");
    }
    assert_eq!(open.iter().filter(|n| **n == 1).count(), 1);
    assert!(matches!(proofs[0], Proof::First) && proofs[1].is_legal() && !proofs[1].extends(), "{proofs:?}");
    let left: Vec<String> = replay.manager().history().items().map(|item| short_item(item.item())).collect();
    assert_eq!(left, ["user(kept)", "user(what happened)"]);
    assert!(replay.manager().reference_context_item().is_none());
    assert_eq!((replay.model(), replay.header().unwrap().session_id.as_str()), (Some("m1"), "s1"));
    assert_eq!(replay.parts().text(context_manager::PartName::Base), "Base.");
}

#[tokio::test]
async fn an_own_log_can_be_looked_at_after_each_event() {
    let stage = Stage::new().await;
    let first = simple_turn(&stage.session, "one", "1").await;
    stage.session.set_model("m2");
    let second = simple_turn(&stage.session, "two", "2").await;
    let mut replay = replay();
    let mut prompts = Vec::new();
    let mut told = Vec::new();
    for event in Events::open(Cursor::new(stage.file.bytes())).unwrap() {
        let event = event.unwrap();
        match replay.apply(&event).unwrap() {
            Applied::Sent => prompts.push(replay.manager().for_prompt(replay.parts(), &Profile::responses())),
            Applied::Patched(patch) => told.push(patch.to_string()),
            Applied::Told => told.push("everything".into()),
            Applied::Item(position) => {
                let item = replay.manager().history().entry_at(position).unwrap().as_item().unwrap();
                assert_eq!(short_item(item.item()), short(&event.record.item));
            }
            _ => {}
        }
    }
    let sent: Vec<String> = prompts.iter().map(context_manager::Prompt::input_json).collect();
    assert_eq!(sent, [first.prompt().input_json(), second.prompt().input_json()]);
    assert_eq!(told, ["everything", r#"{"collaboration_mode":{"model":"m2"},"model":"m2"}"#]);
    assert!(replay.turn().is_none());
    replay.verify_sent(&[]).unwrap();
    assert_eq!(replay.manager().history().item_count(), stage.session.history().item_count());
    let next = replay.manager().for_prompt(replay.parts(), &Profile::responses());
    assert_eq!(next.proof(), &Proof::Extends { shared: 5, new: 1 });
}

#[tokio::test]
async fn an_event_that_does_not_fit_is_an_error_and_the_next_one_is_taken() {
    let stage = Stage::new().await;
    simple_turn(&stage.session, "one", "1").await;
    let events: Vec<_> = Events::open(Cursor::new(stage.file.bytes())).unwrap().map(Result::unwrap).collect();
    let mut replay = replay();
    for event in &events {
        replay.apply(event).unwrap();
    }
    let items = replay.manager().history().item_count();
    let again = events.iter().find(|event| matches!(event.record.item, RolloutItem::Item(_))).unwrap();
    let error = replay.apply(again).unwrap_err();
    assert!(error.to_string().contains("cannot be replayed: position 0 does not follow"), "{error}");
    let mut repeated = again.clone();
    repeated.place = session::rollout::Place::Repeated;
    assert_eq!(replay.apply(&repeated).unwrap(), Applied::Repeated);
    assert_eq!(replay.manager().history().item_count(), items);
}

/// A window that repeats a position is told with its record, and takes nothing away.
#[test]
fn a_window_that_does_not_fit_leaves_the_history_as_it_was() {
    let item =
        |text: &str, position| CheckpointItem::new(WireItem::user_text(text), Metadata::new().with_position(position));
    let recorded = |text: &str, position| {
        Record::from(RolloutItem::Item(WireItem::user_text(text)))
            .with_metadata(Metadata::new().with_position(position))
    };
    let mut window = Checkpoint::new(CheckpointCause::Compaction, vec![item("three", 9), item("four", 9)]);
    window.counters.next_position = Some(10);
    let records = [
        RolloutItem::SessionMeta(SessionMeta::new("s1")).into(),
        recorded("one", 1),
        recorded("two", 2),
        RolloutItem::Checkpoint(window).into(),
        recorded("five", 10),
    ];
    let log = log_of(&records.map(Draft::from));
    let mut replay = replay();
    let mut refused = Vec::new();
    for event in Events::open(Cursor::new(log)).unwrap() {
        refused.extend(replay.apply(&event.unwrap()).err().map(|error| error.to_string()));
    }
    assert!(refused.len() == 1 && refused[0].starts_with("record 3 at byte "), "{refused:?}");
    let left: Vec<_> = replay.manager().history().items().map(|item| short_item(item.item())).collect();
    assert_eq!(left, ["user(one)", "user(two)", "user(five)"]);
    assert_eq!(replay.manager().history().history_version(), 0);
}
