//! What the model would be sent.

use std::fs;

use insta::assert_snapshot;

use crate::setup::{Tree, link};

/// The texts of all parts, in their order.
fn texts(json: &str) -> Vec<String> {
    let items: Vec<serde_json::Value> = serde_json::from_str(json).unwrap();
    let parts = items.iter().flat_map(|item| item["content"].as_array().unwrap());
    parts.map(|part| part["text"].as_str().unwrap().to_owned()).collect()
}

/// The text of the part that holds the instruction files.
fn instructions(json: &str) -> Option<String> {
    texts(json).into_iter().find(|text| text.starts_with("# AGENTS.md instructions"))
}

fn nested() -> Tree {
    Tree::new()
        .folder("r/.git")
        .file("r/AGENTS.md", "ROOT")
        .file("r/app/AGENTS.override.md", "APP")
        .file("r/app/AGENTS.md", "PLAIN")
        .file("home/AGENTS.md", "GLOBAL")
}

#[test]
fn a_tree_with_nested_and_override_files() {
    assert_snapshot!("nested_and_override", nested().prompt_input("r/app", &["fix the failing test"]).good());
}

#[test]
fn the_codex_preset_says_the_same_of_a_plain_tree() {
    let tree = nested();
    let codex = tree.prompt_input("r/app", &["fix it", "--preset", "codex"]).good();
    assert_eq!(codex, tree.prompt_input("r/app", &["fix it"]).good());
}

#[test]
fn without_git_only_the_folder_itself_counts() {
    let tree = Tree::new().file("p/AGENTS.md", "ABOVE").file("p/a/AGENTS.md", "HERE");
    let told = instructions(&tree.prompt_input("p/a", &["x"]).good());
    assert_eq!(told.as_deref(), Some("# AGENTS.md instructions for /t/p/a\n\n<INSTRUCTIONS>\nHERE\n</INSTRUCTIONS>"));
}

#[test]
fn an_untrusted_project_says_nothing_and_the_user_still_does() {
    let told = instructions(&nested().prompt_input("r/app", &["x", "--untrusted"]).good());
    assert_eq!(told.as_deref(), Some("# AGENTS.md instructions\n\n<INSTRUCTIONS>\nGLOBAL\n</INSTRUCTIONS>"));
}

#[test]
fn nothing_found_is_nothing_said() {
    let tree = Tree::new().folder("r/.git");
    let out = tree.prompt_input("r", &["x"]).good();
    assert_eq!(instructions(&out), None);
    assert_eq!(texts(&out).len(), 3, "permissions, environment, prompt: {out}");
}

#[test]
fn a_big_tree_fits_its_budget_and_says_what_was_cut() {
    let mut tree = Tree::new().folder("big/.git").file("big/AGENTS.md", "x".repeat(79).as_str().to_owned() + "\n");
    let mut folder = String::from("big");
    for level in 0..18 {
        folder.push_str(&format!("/d{level}"));
        tree = tree.file(&format!("{folder}/AGENTS.md"), format!("rules of level {level}\n"));
    }
    let line = "every rule stands on a line of its own, forty-nine!\n";
    tree = tree.file("big/d0/AGENTS.md", line.repeat(35 * 1024 / line.len() + 1)).file("shared/rules.md", "linked\n");
    fs::remove_file(tree.path("big/d0/d1/AGENTS.md")).unwrap();
    link(&tree.path("shared/rules.md"), &tree.path("big/d0/d1/AGENTS.md"));
    link(&tree.path("big/d0/d1/d2/AGENTS.md"), &tree.path("big/d0/d1/d2/d3/AGENTS.override.md"));

    let ran = tree.prompt_input(&folder, &["x"]);
    assert_eq!(ran.status, 0);
    let told = instructions(&ran.out).unwrap();
    assert!(told.len() <= 40_000, "{}", told.len());
    assert!(told.contains("rules of level 17\n"), "the most specific file is whole");
    assert!(told.contains("linked\n"));
    assert_eq!(told.matches("rules of level 2\n").count(), 1, "reached twice, said once");
    assert!(ran.err.lines().count() >= 1 && ran.err.contains("/t/big/d0/AGENTS.md"), "{}", ran.err);

    let codex = tree.prompt_input(&folder, &["x", "--preset", "codex"]);
    let told = instructions(&codex.out).unwrap();
    assert!(!told.contains("rules of level 17"), "the reference drops the most specific file");
}

#[test]
fn the_same_inputs_give_the_same_bytes() {
    let tree = nested();
    let run = |args: &[&str]| tree.prompt_input("r/app", args).good();
    assert_eq!(run(&["x"]), run(&["x"]));
    let wire = run(&["x", "--wire"]);
    assert_eq!(wire.matches('\n').count(), 0, "the exact bytes, without the line feed of a terminal");
    let pretty: serde_json::Value = serde_json::from_str(&run(&["x"])).unwrap();
    assert_eq!(serde_json::from_str::<serde_json::Value>(&wire).unwrap(), pretty);
    let elsewhere = tree.run("home", &["prompt-input", "x", "--wire", "--cwd", tree.path("r/app").to_str().unwrap()]);
    assert!(elsewhere.good().contains("for /t/r/app"));
}

#[test]
fn every_setting_is_told() {
    let tree = Tree::new().folder("r/.git").file("other/AGENTS.md", "OTHER");
    let other = tree.path("other");
    let args =
        ["x", "--sandbox", "read-only", "--approval", "never", "--home", other.to_str().unwrap(), "--model", "m1"];
    let told = texts(&tree.prompt_input("r", &args).good());
    assert!(told[0].contains("Sandbox mode: read-only.") && told[0].contains("Approval policy: never."), "{told:?}");
    assert!(told[1].contains("OTHER"), "{told:?}");
    let line = |tag: &str, value: &str| told[2].contains(&format!("<{tag}>{value}</{tag}>"));
    assert!(line("cwd", "/t/r") && line("shell", "bash"), "{told:?}");
    assert!(line("current_date", "2026-10-20") && line("timezone", "Etc/UTC"), "{told:?}");
}

#[test]
fn what_is_not_given_comes_from_the_machine() {
    let tree = Tree::new().folder("r/.git");
    let told = texts(&tree.run("r", &["prompt-input", "--timezone", "Pacific/Kiritimati"]).good());
    assert_eq!(told.len(), 2, "without a prompt there is only the context");
    assert!(told[1].contains("<shell>zsh</shell>"), "{told:?}");
    let date = told[1].split("<current_date>").nth(1).and_then(|rest| rest.get(..10)).unwrap();
    let today = jiff::Timestamp::now().in_tz("Pacific/Kiritimati").unwrap().date();
    let yesterday = today.yesterday().unwrap();
    assert!([today, yesterday].iter().any(|day| day.to_string() == date), "{date}");
}

#[test]
fn line_ends_of_the_prompt_are_one_kind() {
    let tree = Tree::new().folder("r/.git");
    let out = tree.prompt_input("r", &["a\r\nb\rc\n"]).good();
    assert_eq!(texts(&out).last().unwrap(), "a\nb\nc\n");
}

#[test]
fn a_prompt_that_looks_like_context_stays_the_users() {
    let tree = Tree::new().folder("r/.git");
    let typed = "<environment_context>hi</environment_context>";
    let out = tree.prompt_input("r", &[typed]).good();
    assert_eq!(texts(&out).last().unwrap(), typed);
}

#[test]
fn a_linked_folder_keeps_its_name() {
    let tree = Tree::new().folder("r/.git").file("r/AGENTS.md", "ROOT").folder("links");
    link(&tree.path("r"), &tree.path("links/to"));
    let linked = tree.path("links/to");
    let out = tree.prompt_input("home", &["x", "--cwd", linked.to_str().unwrap()]).good();
    assert!(instructions(&out).unwrap().starts_with("# AGENTS.md instructions for /t/links/to\n"));
}

#[test]
fn network_prefixes_mode_and_environments_are_told() {
    let tree = Tree::new().folder("r/.git").file("plan.md", "Plan first.");
    let mode = format!("plan={}", tree.path("plan.md").display());
    let args = [
        "x",
        "--network",
        "--approved-prefix",
        "git  pull",
        "--approved-prefix",
        "rg",
        "--mode",
        &mode,
        "--env",
        "remote=/srv/a",
        "--env",
        "box=C:\\work=1",
    ];
    let told = texts(&tree.prompt_input("r", &args).good());
    assert!(told[0].contains("The network can be used."), "{told:?}");
    assert!(told[0].contains("- [\"git\", \"pull\"]\n- [\"rg\"]"), "{told:?}");
    assert_eq!(told[1], "<collaboration_mode>Plan first.</collaboration_mode>");
    let places = &told[2];
    assert!(places.contains("<environment id=\"local\" primary=\"true\">\n      <cwd>/t/r</cwd>"), "{places}");
    assert!(places.contains("<environment id=\"remote\">\n      <cwd>/srv/a</cwd>"), "{places}");
    assert!(places.contains("<environment id=\"box\">\n      <cwd>C:\\work=1</cwd>"), "{places}");
    assert!(places.contains("<network enabled=\"true\"></network>"), "{places}");
}

#[test]
fn since_a_saved_state_only_what_changed_is_said() {
    let tree = nested();
    let state = tree.path("state.json");
    let state = state.to_str().unwrap();
    let first = tree.prompt_input("r/app", &["x", "--save-state", state]).good();
    assert_eq!(first, tree.prompt_input("r/app", &["x"]).good(), "saving changes nothing that is printed");
    let saved: serde_json::Value = serde_json::from_reader(fs::File::open(state).unwrap()).unwrap();
    assert_eq!(saved["snapshot"]["environments"]["current_date"], "2026-10-20");
    assert!(saved["retained_kinds"].as_array().unwrap().contains(&"agents_md.instructions".into()));

    assert_eq!(tree.prompt_input("r/app", &["--since", state]).good().trim(), "[]", "nothing changed");
    let args = ["next", "--since", state, "--approved-prefix", "rg", "--date", "2026-10-21", "--save-state", state];
    let run = |args: &[&str]| {
        let fixed = ["prompt-input", "--timezone", "Etc/UTC", "--shell", "bash"];
        texts(&tree.run("r/app", &[&fixed, args].concat()).good())
    };
    let day = "<environment_context>\n  <current_date>2026-10-21</current_date>\n</environment_context>";
    assert_eq!(run(&args), ["Approved command prefix saved:\n- [\"rg\"]", day, "next"]);
    // What was written then counts from then on, and what the history held before is still held.
    assert_eq!(run(&["y", "--since", state, "--approved-prefix", "rg", "--date", "2026-10-21"]), ["y"]);
}

#[test]
fn a_state_that_its_section_cannot_read_is_reported_and_said_again() {
    let state = r#"{"snapshot":{"environments":7,"gone":true},"retained_kinds":["environments.environment_context"]}"#;
    let tree = Tree::new().folder("r/.git").file("state", state);
    let ran = tree.prompt_input("r", &["x", "--since", tree.path("state").to_str().unwrap()]);
    assert_eq!((ran.status, texts(&ran.out).len()), (0, 3), "{}", ran.out);
    assert!(ran.err.contains("state of section `environments` could not be read"), "{}", ran.err);
    assert!(ran.err.contains("section `gone` left the world"), "{}", ran.err);
}
