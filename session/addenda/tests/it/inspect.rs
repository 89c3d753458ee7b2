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
