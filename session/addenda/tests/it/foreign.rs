//! Rollouts of the Codex CLI in and out.

use std::fs;

use crate::setup::Tree;

#[expect(clippy::disallowed_methods, reason = "a test reads its own fixtures")]
fn log(name: &str) -> Vec<u8> {
    fs::read(format!("{}/../tests/data/{name}.jsonl", env!("CARGO_MANIFEST_DIR"))).unwrap()
}

#[test]
fn a_rollout_comes_out_as_it_went_in() {
    for name in ["codex-0.58", "codex-0.105", "codex-0.144", "codex-0.149", "codex-0.153"] {
        let text = log(name);
        let tree = Tree::new().file("rollout.jsonl", &text);
        let told = tree.run("", &["import", "rollout.jsonl", "s1"]).good();
        assert!(told.starts_with("session ") && told.contains(" lines kept, "), "{told}");
        assert_eq!(tree.run("", &["export", "s1"]).good().into_bytes(), text, "{name}");
        assert_eq!(tree.run("", &["export", "s1", "-o", "out.jsonl"]).good(), "");
        #[cfg(unix)]
        {
            // It holds what the conversation holds.
            let mode = tree.path("out.jsonl").metadata().unwrap().permissions();
            assert_eq!(std::os::unix::fs::PermissionsExt::mode(&mode) & 0o777, 0o600);
        }
        assert!(tree.run("", &["export", "s1", "-o", "out.jsonl"]).refused().starts_with("addenda: out.jsonl: "));
        let document = tree.run("", &["inspect", "s1", "--json"]).good();
        let document: serde_json::Value = serde_json::from_str(&document).unwrap();
        assert_eq!(document["recovery"]["clean"], true, "{name}");
        assert!(document["history"]["items"].as_u64().unwrap() > 0, "{name}");
        assert!(tree.run("", &["import", "rollout.jsonl", "s1"]).refused().contains("holds a log already"));
    }
}

#[test]
fn what_was_lost_is_told() {
    let mut text = log("codex-0.153");
    text.extend(b"\xFF\xFE\n");
    let tree = Tree::new().file("rollout.jsonl", &text);
    let told = tree.run("", &["import", "rollout.jsonl", "s1", "--id", "mine"]).good();
    assert!(told.starts_with("session mine in s1: "), "{told}");
    assert!(told.contains("is left out: it is no UTF-8 behind byte 0"), "{told}");
}

#[test]
fn what_is_no_rollout_is_refused() {
    let tree = Tree::new().file("a.txt", "hello\n").folder("d");
    assert!(tree.run("", &["import", "a.txt", "s1"]).refused().starts_with("addenda: a.txt "));
    assert!(tree.run("", &["import", "d", "s1"]).refused().contains(" d"));
    assert!(tree.run("", &["import", "none", "s1"]).refused().contains(" none"));
    assert!(tree.run("", &["export", "none"]).refused().contains("none"));
}
