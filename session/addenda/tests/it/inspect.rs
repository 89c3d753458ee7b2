//! What a log holds, turn by turn.

use std::fs;

use insta::assert_snapshot;
use serde_json::Value;

use crate::setup::{Ran, Tree};

/// One log of each generation of the Codex CLI, and one of this project.
const LOGS: &[&str] = &["codex-0.58", "codex-0.105", "codex-0.144", "codex-0.149", "codex-0.153", "own-format-1"];

#[expect(clippy::disallowed_methods, reason = "a test reads its own fixtures")]
fn log(name: &str) -> Vec<u8> {
    fs::read(format!("{}/../tests/data/{name}.jsonl", env!("CARGO_MANIFEST_DIR"))).unwrap()
}

fn inspect(bytes: &[u8], more: &[&str]) -> Ran {
    let tree = Tree::new().file("log.jsonl", bytes);
    tree.run("", &[&["inspect", "log.jsonl"], more].concat())
}

fn document(bytes: &[u8]) -> Value {
    serde_json::from_str(&inspect(bytes, &["--json"]).good()).unwrap()
}

#[test]
fn each_generation_has_its_document() {
    for name in LOGS {
        assert_snapshot!(format!("document_{name}"), inspect(&log(name), &["--json"]).good());
    }
}

#[test]
fn the_same_is_told_in_words() {
    assert_snapshot!("words_codex-0.144", inspect(&log("codex-0.144"), &[]).good());
    assert_snapshot!("words_own-format-1", inspect(&log("own-format-1"), &[]).good());
}

/// A log that is cut has whole records before the cut, or none at all; it never fails. Each byte where that matters most,
/// and every 61st of the rest; `ADDENDA_EVERY_BYTE` asks for all of them.
#[test]
fn a_cut_log_tells_what_stands_before_the_cut() {
    #[expect(clippy::disallowed_methods, reason = "the caller of a test speaks through the environment")]
    let every_byte = std::env::var_os("ADDENDA_EVERY_BYTE").is_some();
    for name in LOGS {
        let whole = log(name);
        let mut records = 0;
        for cut in 0..whole.len() {
            let near_an_end = whole[cut.saturating_sub(1)..(cut + 1).min(whole.len())].contains(&b'\n');
            if !(every_byte || near_an_end || cut % 61 == 0 || cut < 20) {
                continue;
            }
            let ran = inspect(&whole[..cut], &["--json"]);
            if ran.status == 1 {
                assert_eq!((records, ran.out.as_str()), (0, ""), "{name} cut at {cut}");
                assert!(ran.err.starts_with("addenda: log.jsonl: no complete record in it: "), "{}", ran.err);
                continue;
            }
            let document: Value = serde_json::from_str(&ran.good()).unwrap();
            let now = document["recovery"]["records"].as_u64().unwrap();
            assert!(now == records || now == records + 1, "{name} cut at {cut}: {records} then {now}");
            records = now;
        }
        assert!(records > 5, "{name}");
    }
}

#[test]
fn damage_is_told_with_its_place_and_the_rest_stays() {
    for name in LOGS {
        let whole = log(name);
        let clean = document(&whole);
        let count = |document: &Value| document["recovery"]["records"].as_u64().unwrap();
        let findings = |document: &Value| document["recovery"]["findings"].as_array().unwrap().len();
        let middle = whole.iter().enumerate().filter(|(_, byte)| **byte == b'\n').nth(3).unwrap().0 + 1;

        let marked = document(&[b"\xEF\xBB\xBF", whole.as_slice()].concat());
        assert_eq!((count(&marked), findings(&marked)), (count(&clean), findings(&clean) + 1), "{name}");

        let garbage = document(&[&whole[..middle], b"%% not a record %%\n", &whole[middle..]].concat());
        assert_eq!((count(&garbage), findings(&garbage)), (count(&clean), findings(&clean) + 1), "{name}");
        assert!(garbage["recovery"]["findings"].to_string().contains(&format!("byte {middle} ")), "{garbage}");

        let mut broken = whole.clone();
        broken[middle + 40] = 0xFF;
        let broken = document(&broken);
        assert_eq!(count(&broken), count(&clean) - 1, "{name}");
        assert!(broken["recovery"]["findings"].to_string().contains("not UTF-8"), "{broken}");
        assert_eq!(broken["recovery"]["clean"], false);
    }
}

#[test]
fn nothing_in_it_is_1_and_nothing_known_is_2() {
    let ended = |bytes: &[u8]| {
        let ran = inspect(bytes, &[]);
        assert_eq!(ran.out, "");
        assert_eq!(ran.err.matches('\n').count(), 1, "{}", ran.err);
        (ran.status, ran.err.trim_end().to_owned())
    };
    let none = |contents: &str| (1, format!("addenda: log.jsonl: no complete record in it: {contents}"));
    assert_eq!(ended(b""), none("no byte"));
    assert_eq!(ended(b" \n\n"), none("only blank lines"));
    assert_eq!(ended(b"{\"timestamp\":\"2026-09"), none("only damaged lines"));
    let unknown = (2, "addenda: log.jsonl: neither a session log nor a Codex rollout".to_owned());
    assert_eq!(ended(b"Dear diary\n"), unknown);
    assert_eq!(ended(b"{\"a\":1}\n"), unknown);
    assert_eq!(ended(b"\x00\x01\x02"), unknown);
    assert_eq!(ended(b"\x28\xB5\x2F\xFD\x00"), unknown);
}

#[test]
fn what_cannot_be_opened_is_named() {
    let tree = Tree::new().folder("empty");
    assert_eq!(tree.run("", &["inspect", "missing.jsonl"]).refused(), "addenda: missing.jsonl: no such file");
    assert_eq!(tree.run("", &["inspect", "empty"]).refused(), "addenda: empty: no such file");
    let line = tree.run("", &["inspect"]).refused();
    assert!(line.contains("<ROLLOUT>"), "{line}");
}

#[test]
fn a_folder_stands_for_the_log_in_it() {
    let tree = Tree::new().file("session/rollout.jsonl", log("own-format-1"));
    let of_folder = tree.run("", &["inspect", "session"]).good();
    assert_eq!(of_folder, tree.run("", &["inspect", "session/rollout.jsonl"]).good());
}

/// A log of ours in which an output was cut and the history was compacted.
fn compacted_log(folder: &session::rollout::SessionFolder) {
    use context_fragments::{Limit, WireItem};
    use session::rollout::{
        Checkpoint, CheckpointCause, CheckpointItem, Durability, LoggedOrigin, Metadata, Original, Owner, RawJson,
        Record, RolloutItem, SessionMeta, TurnStarted,
    };
    let at = |position: u64, origin| Metadata::new().with_position(position).with_turn_id("turn-1").with_origin(origin);
    let mut cut = at(2, LoggedOrigin::Tool);
    cut.truncation_limit = Some(Limit::Tokens(2));
    let mut kept = at(4, LoggedOrigin::User);
    kept.moved_from = Some(0);
    let items = vec![
        CheckpointItem::new(WireItem::user_text("fix it"), kept),
        CheckpointItem::new(WireItem::user_text("Short."), at(5, LoggedOrigin::Host)),
    ];
    let mut checkpoint = Checkpoint::new(CheckpointCause::Compaction, items);
    checkpoint.counters.next_position = Some(6);
    checkpoint.counters.epoch = Some(1);
    let details = r#"{"trigger":"manual","injection":"next_step","replaced_items":2,"injected_items":0,"kept":[0],"missing":["the goal"]}"#;
    checkpoint.details = Some(RawJson::parse(details).unwrap());
    let records: Vec<session::rollout::Draft> = vec![
        RolloutItem::TurnStarted(TurnStarted::new("turn-1")).into(),
        Record::from(RolloutItem::Item(WireItem::user_text("fix it"))).with_metadata(at(0, LoggedOrigin::User)).into(),
        Record::from(RolloutItem::Item(WireItem::function_call("sh", "{}", "c1")))
            .with_metadata(at(1, LoggedOrigin::Model))
            .into(),
        Record::from(RolloutItem::Item(WireItem::function_call_output("c1", "abcd…fghi")))
            .with_metadata(cut)
            .with_original(Original::Inline(WireItem::function_call_output("c1", &"abcdefghi".repeat(9))))
            .into(),
        RolloutItem::Checkpoint(checkpoint).into(),
    ];
    let owner = Owner::this_process("here", 1_792_483_200_123);
    let mut writer = folder.create(&SessionMeta::new("s1"), &owner, Durability::Flush).unwrap().writer;
    writer.append(1_792_483_200_123, &records, Durability::Flush).unwrap();
}

#[test]
fn a_compaction_and_a_cut_output_are_told_with_what_became_of_them() {
    let tree = Tree::new();
    compacted_log(&session::rollout::SessionFolder::new(tree.path("s1")));
    let told = tree.run("", &["inspect", "s1"]).good();
    for line in [
        "  cut     function_call_output (c1) at 2, held to 2 tokens: 139 bytes became 69\n",
        "  compact manual: 3 items became 2, ",
        "          2 replaced, kept those at 0; 0 of context said, the rest next step\n",
        "          missing: the goal\n",
        "damage: none\n",
    ] {
        assert!(told.contains(line), "{line}\nis not in\n{told}");
    }
    let document: Value = serde_json::from_str(&tree.run("", &["inspect", "s1", "--json"]).good()).unwrap();
    let turn = &document["turns"][0];
    assert_eq!(turn["compactions"][0]["trigger"], "manual");
    assert_eq!(turn["compactions"][0]["kept"], serde_json::json!([0]));
    assert_eq!(turn["truncations"][0]["limit"], "2 tokens");
}
