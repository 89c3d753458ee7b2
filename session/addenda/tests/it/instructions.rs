//! Which files apply, and why.

use insta::assert_snapshot;
use serde_json::Value;

use crate::setup::Tree;

/// The table without its rules and its alignment, which depend on how long the paths are.
fn squeezed(table: &str) -> String {
    let words = |line: &str| line.split_whitespace().collect::<Vec<_>>().join(" ");
    let has_words = |line: &String| line.chars().any(char::is_alphanumeric);
    table.lines().map(words).filter(has_words).collect::<Vec<_>>().join("\n")
}

fn tree() -> Tree {
    Tree::new()
        .folder("r/.git")
        .file("r/AGENTS.md", "ROOT")
        .file("r/app/AGENTS.override.md", " \n\t")
        .file("r/app/AGENTS.md", "PLAIN")
        .folder("r/app/web/AGENTS.md")
        .file("r/app/web/index.ts", "")
        .file("home/AGENTS.md", "GLOBAL")
}

#[test]
fn the_table_names_every_path_that_was_looked_at() {
    let out = tree().run("r/app/web", &["instructions"]).good();
    assert_snapshot!(squeezed(&out), @"
    3 instruction files apply, in this order:
    1. /t/home/AGENTS.md
    2. /t/r/AGENTS.md
    3. /t/r/app/AGENTS.md
    local: root /t/r found by .git
    AGENTS.override.md in app was not used because it is blank.
    AGENTS.md in app/web was not used because it is not a regular file but a folder.
    FOR PATH OUTCOME
    user /t/home/AGENTS.override.md absent
    user /t/home/AGENTS.md loaded, 6 bytes
    local /t/r/app/web/.git absent
    local /t/r/app/.git absent
    local /t/r/.git marks the root
    local /t/r/AGENTS.override.md absent
    local /t/r/AGENTS.md loaded, 4 bytes
    local /t/r/app/AGENTS.override.md blank
    local /t/r/app/AGENTS.md loaded, 5 bytes
    local /t/r/app/web/AGENTS.override.md absent
    local /t/r/app/web/AGENTS.md not a regular file but a folder
    ");
}

#[test]
fn a_file_is_asked_for_as_its_folder() {
    let tree = tree();
    let of_file = tree.run("home", &["instructions", tree.path("r/app/web/index.ts").to_str().unwrap()]).good();
    assert_eq!(of_file, tree.run("r/app/web", &["instructions"]).good());
    assert_eq!(of_file, tree.run("r/app/web", &["instructions", "index.ts"]).good());
    assert_eq!(of_file, tree.run("r", &["instructions", "app/../app/web"]).good());
}

#[test]
fn the_document_holds_what_applies_and_the_whole_trace() {
    let out = tree().run("r/app", &["instructions", "--json"]).good();
    let document: Value = serde_json::from_str(&out).unwrap();
    assert_eq!(document["applies"], serde_json::json!(["/t/home/AGENTS.md", "/t/r/AGENTS.md", "/t/r/app/AGENTS.md"]));
    assert_eq!(document["directory"], "/t/r/app");
    assert_eq!(document["text"], "GLOBAL\n\n--- project-doc ---\n\nROOT\n\nPLAIN");
    let rows = document["trace"]["rows"].as_array().unwrap();
    let outcome = |path: &str| {
        let mut found = rows.iter().filter(|row| row["path"] == path);
        let row = found.next().unwrap();
        assert!(found.next().is_none(), "{path} stands twice");
        row["outcome"].as_str().unwrap().to_owned()
    };
    assert_eq!(outcome("/t/r/app/AGENTS.override.md"), "blank");
    assert_eq!(outcome("/t/r/app/AGENTS.md"), "loaded");
}

#[test]
fn a_check_fails_for_what_is_cut_hidden_unreadable_or_duplicated() {
    let clean = Tree::new().folder("r/.git").file("r/AGENTS.md", "ROOT").file("r/a/AGENTS.md", "A");
    assert_eq!(
        clean.run("r/a", &["instructions", "--check"]).good(),
        "Nothing is cut, hidden, unreadable or duplicated.\n"
    );
    let check = |name: &str, text: &str, want: &str| {
        let tree = Tree::new().folder("r/.git").file("r/AGENTS.md", "ROOT").file("r/a/AGENTS.md", "A");
        let ran = tree.file(name, text).run("r/a", &["instructions", "--check"]);
        assert_eq!((ran.status, ran.err.as_str(), ran.out.trim_end()), (1, "", want));
    };
    check(
        "r/a/AGENTS.override.md",
        "O",
        "hidden: AGENTS.md in a was not used because AGENTS.override.md in the same folder comes first.",
    );
    check(
        "r/a/agents.override.md",
        "O",
        "hidden: agents.override.md in a was not used because its name is not AGENTS.override.md, and every letter counts.",
    );
    check(
        "r/a/AGENTS.md",
        "ROOT",
        "duplicated: AGENTS.md in /t/r was not used because it is the same as /t/r/a/AGENTS.md (environment `local`).",
    );
    check(
        "r/a/AGENTS.override.md/x",
        "",
        "unreadable: AGENTS.override.md in a was not used because it is not a regular file but a folder.",
    );
    check(
        "r/AGENTS.md",
        &"x\n".repeat(20_000),
        "cut: AGENTS.md in /t/r was used in part, 32766 of 40000 bytes, because the rest did not fit the project budget.",
    );
}

#[test]
fn a_check_as_json_ends_with_the_same_status() {
    let tree = Tree::new().folder("r/.git").file("r/agents.md", "x");
    let ran = tree.run("r", &["instructions", "--check", "--json"]);
    assert_eq!((ran.status, ran.err.as_str()), (1, ""));
    let document: Value = serde_json::from_str(&ran.out).unwrap();
    assert_eq!(document["findings"][0]["finding"], "near_miss");
    assert_eq!(document["problems"][0]["problem"], "hidden");
    assert_eq!(document["explanation"].as_array().unwrap().len(), 1);
    let without = tree.run("r", &["instructions", "--json"]).good();
    assert_eq!(without, ran.out, "without --check the same document is no failure");
}

#[test]
fn untrusted_and_nothing_found_are_said_in_words() {
    let tree = tree();
    let untrusted = squeezed(&tree.run("r/app", &["instructions", "--untrusted"]).good());
    assert!(
        untrusted.starts_with("One instruction file applies: /t/home/AGENTS.md\nlocal: the project is not trusted")
    );
    let empty = Tree::new().folder("r/.git");
    assert!(empty.run("r", &["instructions"]).good().starts_with("No instruction file applies.\n"));
}

#[test]
fn the_codex_preset_keeps_its_warts() {
    let out = tree().run("r/app", &["instructions", "--json", "--preset", "codex"]).good();
    let document: Value = serde_json::from_str(&out).unwrap();
    assert_eq!(document["text"], "GLOBAL\n\n--- project-doc ---\n\nROOT", "the blank override hides AGENTS.md");
}

#[cfg(unix)]
#[test]
fn the_name_of_a_folder_neither_breaks_a_line_nor_steers_the_terminal() {
    let tree = Tree::new().folder("r/.git").file("r/a\n\u{1b}[31mb/AGENTS.md", [b'x', 0xff]);
    let folder = tree.path("r/a\n\u{1b}[31mb");
    let out = tree.run("r", &["instructions", folder.to_str().unwrap()]).good();
    assert!(!out.contains('\u{1b}'), "{out:?}");
    assert!(
        out.lines().any(|line| line.contains(r"/t/r/a\n\u{1b}[31mb/AGENTS.md") && line.contains("loaded, 4 bytes")),
        "{out}"
    );
    assert!(out.contains("warning: Project AGENTS.md instructions from"), "{out}");
    let warned = tree.run("r", &["prompt-input", "x", "--cwd", folder.to_str().unwrap()]).err;
    assert!(warned.lines().count() == 1 && !warned.contains('\u{1b}'), "{warned:?}");
}
