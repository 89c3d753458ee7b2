//! `fsck`, `repair`, `salvage`, `stats`, `delete`.

use std::fs;

use insta::assert_snapshot;
use serde_json::Value;

use crate::setup::{Ran, Tree};

#[expect(clippy::disallowed_methods, reason = "a test reads its own fixtures")]
fn log() -> Vec<u8> {
    fs::read(format!("{}/../tests/data/own-format-1.jsonl", env!("CARGO_MANIFEST_DIR"))).unwrap()
}

/// The one blob that the log names.
const BLOB: &str = "s1/blobs/63c1dd951ffedf6f7fd968ad4efa39b8ed584f162f46e715114ee184f8de9201";

fn sound() -> Tree {
    Tree::new().file("s1/rollout.jsonl", log()).file(BLOB, "AAAA")
}

/// A session whose fourth line is destroyed.
fn damaged() -> Tree {
    let mut log = log();
    let at = log.iter().enumerate().filter(|(_, byte)| **byte == b'\n').nth(2).unwrap().0 + 1;
    log[at..at + 10].fill(b'#');
    Tree::new().file("s1/rollout.jsonl", log).file(BLOB, "AAAA")
}

#[track_caller]
fn no(ran: Ran) -> String {
    assert_eq!((ran.status, ran.err.as_str()), (1, ""), "{}", ran.out);
    ran.out
}

#[test]
fn a_sound_log_is_a_yes_and_a_damaged_one_a_no() {
    let tree = sound();
    assert_snapshot!(tree.run("", &["fsck", "s1"]).good(), @r#"
    s1: sound (17 records, 1 blobs)
      byte 4516 (line 17): half a surrogate pair in a string (127 bytes)
    "#);
    let document: Value = serde_json::from_str(&tree.run("", &["fsck", "s1/rollout.jsonl", "--json"]).good()).unwrap();
    assert_eq!((&document["sound"], &document["format"]), (&true.into(), &"own".into()));

    let tree = damaged();
    assert_snapshot!(no(tree.run("", &["fsck", "s1"])), @r#"
    s1: not sound (16 records, 1 blobs)
      byte 601 (line 4): not JSON (186 bytes)
      byte 788 (line 5): record 3 is missing (164 bytes)
      byte 4516 (line 17): half a surrogate pair in a string (127 bytes)
    "#);
    let document: Value = serde_json::from_str(&no(tree.run("", &["fsck", "s1", "--json"]))).unwrap();
    assert_eq!((&document["sound"], document["findings"].as_array().unwrap().len()), (&false.into(), 3));
}

#[test]
fn what_is_repaired_is_sound_and_the_old_one_stays() {
    let tree = damaged();
    assert_snapshot!(no(tree.run("", &["repair", "s1", "s2"])), @r#"
    s2: 13 records
      byte 601 (line 4): not JSON (186 bytes)
      byte 788 (line 5): record 3 is missing (164 bytes)
      byte 4516 (line 17): half a surrogate pair in a string (127 bytes)
      left out: record 4 (world_state) at byte 788: it may speak of what was lost
      left out: record 5 (turn_context) at byte 953: it may speak of what was lost
      left out: record 7 (sent) at byte 1443: it may speak of what was lost
    "#);
    tree.run("", &["fsck", "s2"]).good();
    no(tree.run("", &["fsck", "s1"]));
    assert_snapshot!(tree.run("", &["repair", "s1", "s2"]).refused(), @"addenda: s2/rollout.jsonl holds a log already");
    let whole = sound();
    let document: Value = serde_json::from_str(&whole.run("", &["repair", "s1", "s2", "--json"]).good()).unwrap();
    assert_eq!(document["left_out"], Value::Array(Vec::new()));
}

#[test]
fn what_can_be_read_is_salvaged_into_a_new_file() {
    let tree = damaged();
    let document: Value =
        serde_json::from_str(&tree.run("", &["salvage", "s1", "out.jsonl", "--json"]).good()).unwrap();
    let out = std::io::read_to_string(fs::File::open(tree.path("out.jsonl")).unwrap()).unwrap();
    assert_eq!(document["records"], out.lines().count());
    // Half a surrogate pair is kept as it stands, and this parser does not take it.
    let parsed = out.lines().filter(|line| serde_json::from_str::<Value>(line).is_ok()).count();
    assert_eq!((out.lines().count(), parsed), (16, 15));
    assert_snapshot!(tree.run("", &["salvage", "s1", "out.jsonl"]).refused(), @"addenda: out.jsonl: File exists (os error 17)");
    let tree = Tree::new().file("empty", "");
    assert_eq!(tree.run("", &["salvage", "empty", "out"]).status, 1);
}

#[test]
fn stats_say_what_holds_the_bytes() {
    let tree = sound();
    assert_snapshot!(tree.run("", &["stats", "s1"]).good(), @r#"
    17 records, 4644 bytes; 1415 bytes from the newest checkpoint on; 1 blobs, 4 bytes
     type          records  bytes   %  largest  blobs
     checkpoint          1   1133  24     1133      0
     item                3    939  20      397      4
     sent                1    558  12      558      0
     world_state         2    352   7      187      0
     session_meta        1    347   7      347      0
     turn_context        1    239   5      239      0
     notice              1    154   3      154      0
     turn_aborted        1    149   3      149      0
     rollback            1    143   3      143      0
     opened              1    129   2      129      0
     acme.mood           1    128   2      128      0
     turn_started        1    125   2      125      0
     turn_ended          1    124   2      124      0
     usage               1    124   2      124      0
    "#);
    let document: Value = serde_json::from_str(&tree.run("", &["stats", "s1", "--json"]).good()).unwrap();
    assert_eq!(document["bytes"], log().len());
    let types = document["types"].as_object().unwrap();
    assert_eq!(types.values().map(|of_type| of_type["bytes"].as_u64().unwrap()).sum::<u64>(), log().len() as u64);
    let empty = Tree::new().file("empty", "").run("", &["stats", "empty"]);
    assert_eq!((empty.status, empty.err.as_str()), (1, "addenda: empty: no record in it: no byte\n"));
}

#[test]
fn a_log_is_packed_read_as_it_lies_and_put_back() {
    let tree = sound();
    let told = tree.run("", &["pack", "s1"]).good();
    assert!(told.starts_with(&format!("s1: packed, {} bytes became ", log().len())), "{told}");
    assert!(!tree.path("s1/rollout.jsonl").exists());
    tree.run("", &["fsck", "s1"]).good();
    assert!(tree.run("", &["pack", "s1"]).refused().contains("s1/rollout.jsonl"));
    let document: Value = serde_json::from_str(&tree.run("", &["unpack", "s1", "--json"]).good()).unwrap();
    assert_eq!(document["bytes_after"], log().len());
    let again = std::io::read_to_string(fs::File::open(tree.path("s1/rollout.jsonl")).unwrap()).unwrap();
    assert_eq!(again.into_bytes(), log());
    assert!(tree.run("", &["unpack", "s1"]).refused().contains("s1/rollout.jsonl.zst"));
    assert!(!tree.path("s1/rollout.jsonl.tmp").exists());
}

/// Folders, pipes, devices and files of something else: each is one line, nothing hangs and nothing is made.
#[cfg(unix)]
#[test]
fn what_is_no_log_is_refused_by_every_verb_and_makes_nothing() {
    let tree = sound().folder("empty").folder("odd/rollout.jsonl").file("text", "hello\nworld\n");
    let made = std::process::Command::new("mkfifo").arg(tree.path("pipe")).status().unwrap();
    assert!(made.success());
    let given = ["empty", "odd", "pipe", "/dev/zero", "/dev/null", "none", "a\nb"];
    for given in given {
        for verb in [
            &["fsck", given][..],
            &["stats", given],
            &["inspect", given],
            &["repair", given, "new"],
            &["salvage", given, "new"],
            &["delete", given, "--yes"],
            &["import", given, "new"],
            &["export", given, "-o", "new"],
            &["pack", given],
            &["unpack", given],
        ] {
            let ran = tree.run("", verb);
            assert_eq!(
                (ran.status, ran.out.as_str(), ran.err.matches('\n').count()),
                (2, "", 1),
                "{verb:?} {}",
                ran.err
            );
            assert!(!tree.path("new").exists(), "{verb:?} made something");
        }
    }
    for left in ["empty/lock", "odd/lock", "lock"] {
        assert!(!tree.path(left).exists(), "{left}");
    }
    // A file of something else is no log.
    for verb in [&["repair", "text", "new"][..], &["import", "text", "new"]] {
        assert!(tree.run("", verb).refused().contains("text"));
        assert!(!tree.path("new").exists());
    }
    // Source and target are one.
    for verb in
        [&["repair", "s1", "s1"][..], &["repair", "s1/rollout.jsonl", "s1"], &["salvage", "s1", "s1/rollout.jsonl"]]
    {
        tree.run("", verb).refused();
    }
    tree.run("", &["fsck", "s1"]).good();
    let codex = format!("{}/../tests/data/codex-0.153.jsonl", env!("CARGO_MANIFEST_DIR"));
    fs::create_dir(tree.path("s3")).unwrap();
    fs::copy(&codex, tree.path("s3/rollout.jsonl")).unwrap();
    tree.run("", &["import", "s3/rollout.jsonl", "s3"]).refused();
    let copied = tree.path("s3/rollout.jsonl").metadata().unwrap().len();
    assert_eq!(std::path::Path::new(&codex).metadata().unwrap().len(), copied);
}

#[cfg(unix)]
#[test]
fn what_links_lead_to_stays_as_it_is() {
    let tree = sound().file("precious", "mine").folder("shared");
    let blob = BLOB.strip_prefix("s1/blobs/").unwrap();
    fs::rename(tree.path(BLOB), tree.path("shared").join(blob)).unwrap();
    fs::remove_dir(tree.path("s1/blobs")).unwrap();
    crate::setup::link(&tree.path("shared"), &tree.path("s1/blobs"));
    crate::setup::link(&tree.path("s1"), &tree.path("linked"));
    tree.run("", &["fsck", "linked"]).good();
    assert!(tree.run("", &["delete", "linked", "--yes"]).refused().contains("a link"));

    // A lock, or a file that is yet to get its name, may be a link that somebody put there.
    crate::setup::link(&tree.path("precious"), &tree.path("s1/lock"));
    for verb in [&["delete", "s1", "--yes"][..], &["pack", "s1"]] {
        assert!(tree.run("", verb).refused().contains("no link"));
    }
    fs::remove_file(tree.path("s1/lock")).unwrap();
    crate::setup::link(&tree.path("precious"), &tree.path("s1/rollout.jsonl.zst.tmp"));
    tree.run("", &["pack", "s1"]).good();
    let text = |path: &str| std::io::read_to_string(fs::File::open(tree.path(path)).unwrap()).unwrap();
    assert_eq!(text("precious"), "mine");
    tree.run("", &["unpack", "s1"]).good();

    // An export that fails leaves no half of a file: this log cannot be replayed.
    assert!(tree.run("", &["export", "s1", "-o", "out.jsonl"]).refused().contains("cannot be replayed"));
    assert!(!tree.path("out.jsonl").exists());

    assert_eq!(tree.run("", &["delete", "s1", "--yes"]).good(), "s1: deleted; its folder holds other files\n");
    assert!(tree.path("shared").join(blob).exists(), "the blobs of others stay");
}

#[test]
fn a_session_is_deleted_only_if_it_is_said_twice() {
    let tree = sound();
    let asked = tree.run("", &["delete", "s1"]);
    assert_eq!((asked.status, asked.err.as_str()), (1, "addenda: s1: nothing was deleted: say --yes\n"));
    assert!(tree.path("s1/rollout.jsonl").exists());
    assert_eq!(tree.run("", &["delete", "s1", "--yes"]).good(), "s1: deleted\n");
    assert!(!tree.path("s1").exists());
    let tree = tree.folder("notes").file("notes/a", "x");
    assert_snapshot!(tree.run("", &["delete", "notes", "--yes"]).refused(), @"addenda: could not delete notes/rollout.jsonl: entity not found");
    assert!(tree.path("notes/a").exists());
}
