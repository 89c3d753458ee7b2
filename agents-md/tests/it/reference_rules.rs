//! The codex preset: what OpenAI Codex CLI loads, rule by rule.

use std::io::ErrorKind;

use agents_md::{
    Discovery, FileKind, Inputs, InstructionProvenance, LoadedAgentsMd, MemoryFs, Note, Outcome, Strictness,
    TurnEnvironmentSelection, UserSource, discover_blocking,
};

fn codex(max_bytes: usize) -> Discovery {
    let mut discovery = Discovery::codex();
    discovery.max_bytes = max_bytes;
    discovery
}

fn load(discovery: &Discovery, inputs: &Inputs, fs: &MemoryFs) -> LoadedAgentsMd {
    discover_blocking(discovery, inputs, fs).unwrap()
}

fn two(first: &str, second: &str) -> Inputs {
    Inputs::new(vec![
        TurnEnvironmentSelection::new("primary", first),
        TurnEnvironmentSelection::new("secondary", second),
    ])
}

fn home() -> UserSource {
    UserSource::Folder("/home".into())
}

fn contents(loaded: &LoadedAgentsMd) -> Vec<&str> {
    loaded.entries().iter().map(|entry| entry.contents()).collect()
}

/// Loads files in folders that lie in one another, the root's first.
#[track_caller]
fn check_budget(files: &[&[u8]], max_bytes: usize, want: &[&str]) {
    let mut fs = MemoryFs::new().with_folder("/r/.git");
    let mut folder = "/r".to_owned();
    for (depth, bytes) in files.iter().enumerate() {
        if depth > 0 {
            folder.push_str("/d");
        }
        fs = fs.with_file(format!("{folder}/AGENTS.md"), *bytes);
    }
    assert_eq!(contents(&load(&codex(max_bytes), &Inputs::local(folder), &fs)), want);
}

#[test]
fn budget_vectors() {
    check_budget(&[b"aaaa", b"bbbbbb"], 7, &["aaaa", "bbb"]);
    check_budget(&[b"aaaaaaa", b"b"], 7, &["aaaaaaa"]);
    check_budget(&[&[b' '; 100], b"bbbbb"], 5, &["bbbbb"]);
    check_budget(&["aé".as_bytes()], 2, &["a\u{FFFD}"]);
    check_budget(&[b"  \nx"], 3, &[]);
    check_budget(&[b"  \nx", b"abc"], 3, &["abc"]);
    check_budget(&[b"aaaa"], 4, &["aaaa"]);
    check_budget(&[b"aaaa", b"bbbbbb"], 0, &[]);
}

#[test]
fn the_budget_is_one_for_all_environments() {
    let fs = MemoryFs::new().with_file("/a/AGENTS.md", "ABCDE").with_file("/b/AGENTS.md", "VWXYZ");
    let loaded = load(&codex(3), &two("/a", "/b"), &fs);
    assert_eq!(contents(&loaded), ["ABC"]);
    assert_eq!(loaded.directory(), Some("/a"));
    let dropped = loaded.trace().outcome("secondary", "/b/AGENTS.md").unwrap();
    assert_eq!(dropped.to_string(), "left out: 5 bytes did not fit the project budget");
}

#[test]
fn between_environments_the_decoded_length_counts() {
    // "aé" cut to 2 bytes is 4 bytes of text, so of 6 bytes only 2 are left for the second.
    let fs = MemoryFs::new().with_file("/a/AGENTS.md", *b"a\xC3").with_file("/b/AGENTS.md", "VWXYZ");
    assert_eq!(contents(&load(&codex(6), &two("/a", "/b"), &fs)), ["a\u{FFFD}", "VW"]);
    // Inside one environment the length in the file counts.
    check_budget(&[b"a\xC3", b"VWXYZ"], 6, &["a\u{FFFD}", "VWXY"]);
}

#[test]
fn an_environment_after_the_budget_cannot_fail() {
    let fs = MemoryFs::new()
        .with_file("/a/AGENTS.md", "ABCDE")
        .with_file("/b/AGENTS.md", "VWXYZ")
        .failing_probe("/b/AGENTS.override.md", ErrorKind::PermissionDenied);
    let mut inputs = two("/a", "/b");
    inputs.environments =
        inputs.environments.iter().map(|selection| selection.clone().restricted()).collect::<Vec<_>>().into();
    assert_eq!(contents(&load(&codex(5), &inputs, &fs)), ["ABCDE"]);
    let error = discover_blocking(&codex(6), &inputs, &fs).unwrap_err();
    assert_eq!(
        error.to_string(),
        "failed to load AGENTS.md instructions for environment `secondary`: permission denied"
    );
}

#[test]
fn a_file_after_the_budget_cannot_fail() {
    let fs = MemoryFs::new()
        .with_folder("/r/.git")
        .with_file("/r/AGENTS.md", "ABCDE")
        .with_file("/r/a/AGENTS.md", "VWXYZ")
        .failing_read("/r/a/AGENTS.md", ErrorKind::PermissionDenied);
    assert_eq!(contents(&load(&codex(5), &Inputs::local("/r/a"), &fs)), ["ABCDE"]);
    assert_eq!(contents(&load(&codex(6), &Inputs::local("/r/a"), &fs)), [""; 0]);
}

#[test]
fn no_file_gives_nothing() {
    let loaded = load(&codex(4_096), &Inputs::local("/r"), &MemoryFs::new().with_folder("/r"));
    assert!(loaded.is_empty() && loaded.fragment().is_none() && loaded.warnings().is_empty());
}

#[test]
fn a_file_below_the_limit_is_whole() {
    let fs = MemoryFs::new().with_file("/r/AGENTS.md", "hello world");
    assert_eq!(load(&codex(4_096), &Inputs::local("/r"), &fs).text(), "hello world");
}

#[test]
fn a_file_above_the_limit_keeps_its_head() {
    let fs = MemoryFs::new().with_file("/r/AGENTS.md", vec![b'A'; 2_048]);
    let loaded = load(&codex(1_024), &Inputs::local("/r"), &fs);
    assert_eq!(loaded.text(), "A".repeat(1_024));
}

#[test]
fn the_total_limit_cuts_the_nested_file_in_silence() {
    let fs =
        MemoryFs::new().with_folder("/r/.git").with_file("/r/AGENTS.md", "root").with_file("/r/a/AGENTS.md", "abcdef");
    let loaded = load(&codex(7), &Inputs::local("/r/a"), &fs);
    assert_eq!((loaded.text(), loaded.warnings().len()), ("root\n\nabc", 0));
    let outcome = loaded.trace().outcome("local", "/r/a/AGENTS.md").unwrap();
    assert_eq!(outcome.to_string(), "cut to fit the project budget: 3 of 6 bytes kept");
}

#[test]
fn invalid_utf8_of_a_project_is_replaced_in_silence() {
    let fs = MemoryFs::new().with_file("/r/AGENTS.md", *b"project\xFF doc");
    let loaded = load(&codex(4_096), &Inputs::local("/r"), &fs);
    assert_eq!((loaded.text(), loaded.warnings().len()), ("project\u{FFFD} doc", 0));
    assert_eq!(loaded.decode_reports().next().unwrap().1.replacements, 1);
}

#[test]
fn invalid_utf8_of_the_user_is_replaced_with_a_warning() {
    let fs = MemoryFs::new().with_file("/home/AGENTS.md", *b"global\xFF doc");
    let loaded = load(&Discovery::codex(), &Inputs::default().with_user(home()), &fs);
    assert_eq!(loaded.text(), "global\u{FFFD} doc");
    let warnings: Vec<String> = loaded.warnings().iter().map(ToString::to_string).collect();
    let want = "Global AGENTS.md instructions from `/home/AGENTS.md` contain invalid UTF-8: invalid utf-8 sequence of \
                1 bytes from index 6. Invalid byte sequences were replaced.";
    assert_eq!(warnings, [want]);
}

#[test]
fn an_unreadable_marker_is_passed_over() {
    let fs = MemoryFs::new()
        .with_folder("/r/.git")
        .with_file("/r/AGENTS.md", "ROOT")
        .with_file("/r/a/AGENTS.md", "A")
        .failing_probe("/r/a/.git", ErrorKind::PermissionDenied)
        .failing_probe("/r/.git", ErrorKind::TimedOut);
    let mut discovery = codex(4_096);
    discovery.strictness = Strictness::Strict;
    let loaded = load(&discovery, &Inputs::local("/r/a"), &fs);
    assert_eq!(loaded.text(), "A");
    let outcome = |path| loaded.trace().outcome("local", path).unwrap().to_string();
    assert_eq!(outcome("/r/a/.git"), "denied to look at: permission denied");
    assert_eq!(outcome("/r/.git"), "could not look at it: timed out");
}

#[test]
fn a_read_error_drops_the_environment() {
    let fs = MemoryFs::new()
        .with_file("/a/AGENTS.md", "A")
        .failing_read("/a/AGENTS.md", ErrorKind::PermissionDenied)
        .with_file("/b/AGENTS.md", "B");
    let loaded = load(&Discovery::codex(), &two("/a", "/b"), &fs);
    assert_eq!((loaded.text(), loaded.directory()), ("B", Some("/b")));
    let note = loaded.trace().environments()[0].notes.last().unwrap();
    assert_eq!(note.to_string(), "/a/AGENTS.md failed and with it the environment: permission denied");
}

#[test]
fn a_working_folder_that_is_a_file_is_an_error_of_the_environment() {
    let fs = MemoryFs::new().with_file("/r/file", "x");
    let loaded = load(&Discovery::codex(), &Inputs::local("/r/file"), &fs);
    assert!(matches!(loaded.trace().environments()[0].notes.last(), Some(Note::EnvironmentFailed { .. })));
    let loaded = load(&Discovery::default(), &Inputs::local("/r/file"), &fs);
    assert_eq!(loaded.trace().outcome("local", "/r/file/AGENTS.md"), Some(&Outcome::Absent));
}

#[test]
fn a_file_that_vanished_is_skipped() {
    let fs = MemoryFs::new().with_vanishing("/r/AGENTS.md");
    assert!(load(&Discovery::codex(), &Inputs::local("/r"), &fs).is_empty());
}

#[test]
fn the_root_is_found_from_below_by_a_marker_file() {
    let fs = MemoryFs::new()
        .with_file("/r/.git", "gitdir: elsewhere")
        .with_file("/r/AGENTS.md", "root level doc")
        .with_folder("/r/a/b");
    assert_eq!(load(&Discovery::codex(), &Inputs::local("/r/a/b"), &fs).text(), "root level doc");
}

#[test]
fn nothing_above_the_root_is_searched() {
    let fs = MemoryFs::new()
        .with_folder("/o/.git")
        .with_file("/o/AGENTS.md", "OUTER")
        .with_folder("/o/r/.git")
        .with_file("/o/r/AGENTS.md", "INNER");
    for discovery in [Discovery::default(), Discovery::codex()] {
        let loaded = load(&discovery, &Inputs::local("/o/r"), &fs);
        assert_eq!(loaded.text(), "INNER");
        assert_eq!(loaded.trace().outcome("local", "/o/AGENTS.md"), None);
    }
}

#[test]
fn user_and_project_are_merged() {
    let fs = MemoryFs::new().with_file("/home/AGENTS.md", "base instructions").with_file("/r/AGENTS.md", "proj doc");
    let loaded = load(&Discovery::codex(), &Inputs::local("/r").with_user(home()), &fs);
    assert_eq!(loaded.text(), "base instructions\n\n--- project-doc ---\n\nproj doc");
}

fn two_projects() -> MemoryFs {
    MemoryFs::new()
        .with_file("/home/AGENTS.md", "global doc")
        .with_folder("/p/.git")
        .with_file("/p/AGENTS.md", "root doc")
        .with_file("/p/n/AGENTS.md", "nested doc")
        .with_file("/s/AGENTS.md", "secondary doc")
}

#[test]
fn several_environments_are_labelled() {
    let inputs = two("/p/n", "/s").with_user(home()).with_internal("guidance");
    let loaded = load(&Discovery::codex(), &inputs, &two_projects());
    let want = "global doc\n\nfor `primary` with root /p/n\n\nroot doc\n\nnested doc\n\n\
                for `secondary` with root /s\n\nsecondary doc\n\nguidance";
    assert_eq!((loaded.text(), loaded.directory()), (want, None));
    let sources: Vec<_> = loaded.sources().map(|path| path.display().to_string()).collect();
    assert_eq!(sources, ["/home/AGENTS.md", "/p/AGENTS.md", "/p/n/AGENTS.md", "/s/AGENTS.md"]);
    assert_eq!(loaded.entries().last().unwrap().provenance(), &InstructionProvenance::Internal);
}

#[test]
fn one_contributing_environment_is_not_labelled() {
    let fs = MemoryFs::new().with_file("/s/AGENTS.md", "doc").with_folder("/p");
    let loaded = load(&Discovery::codex(), &two("/p", "/s"), &fs);
    assert_eq!((loaded.text(), loaded.directory()), ("doc", Some("/s")));
    let loaded = load(&Discovery::codex(), &two("/s", "/p"), &fs);
    assert_eq!((loaded.text(), loaded.directory()), ("doc", Some("/s")));
}

#[test]
fn the_user_alone_stays_as_it_is() {
    let fs = MemoryFs::new().with_file("/home/AGENTS.md", "  global doc \n").with_folder("/r");
    let loaded = load(&Discovery::codex(), &Inputs::local("/r").with_user(home()), &fs);
    assert_eq!((loaded.text(), loaded.directory()), ("global doc", None));
}

#[test]
fn the_users_blank_override_falls_through() {
    for (name, text) in [("AGENTS.override.md", "OVERRIDE"), ("AGENTS.md", "PLAIN")] {
        let blank = if name == "AGENTS.md" { " \n" } else { "OVERRIDE" };
        let fs = MemoryFs::new()
            .with_file("/home/AGENTS.override.md", blank)
            .with_file("/home/AGENTS.md", "PLAIN")
            .with_file("/home/EXAMPLE.md", "NEVER");
        let mut discovery = Discovery::codex();
        discovery.fallback_names.push("EXAMPLE.md".into());
        let loaded = load(&discovery, &Inputs::default().with_user(home()), &fs);
        assert_eq!(loaded.text(), text);
    }
    let fs = MemoryFs::new().with_folder("/home/AGENTS.override.md").with_file("/home/AGENTS.md", "PLAIN");
    let loaded = load(&Discovery::codex(), &Inputs::default().with_user(home()), &fs);
    assert_eq!((loaded.text(), loaded.warnings().len()), ("PLAIN", 0));
    let given = UserSource::Given { text: " \n".into(), source: None };
    assert!(load(&Discovery::codex(), &Inputs::default().with_user(given), &fs).is_empty());
}

#[test]
fn root_and_working_folder_are_loaded_in_order() {
    let fs = MemoryFs::new()
        .with_folder("/r/.git")
        .with_file("/r/AGENTS.md", "root doc")
        .with_file("/r/c/AGENTS.md", "crate doc");
    let loaded = load(&Discovery::codex(), &Inputs::local("/r/c"), &fs);
    assert_eq!(loaded.text(), "root doc\n\ncrate doc");
    let sources: Vec<_> = loaded.sources().map(|path| path.display().to_string()).collect();
    assert_eq!(sources, ["/r/AGENTS.md", "/r/c/AGENTS.md"]);
}

#[test]
fn a_custom_marker_hides_git() {
    let fs = MemoryFs::new()
        .with_file("/r/.codex-root", "")
        .with_file("/r/AGENTS.md", "parent doc")
        .with_folder("/r/c/.git")
        .with_file("/r/c/AGENTS.md", "child doc");
    let mut discovery = Discovery::codex();
    discovery.root_markers = vec![".codex-root".into()];
    assert_eq!(load(&discovery, &Inputs::local("/r/c"), &fs).text(), "parent doc\n\nchild doc");
}

#[test]
fn a_linked_working_folder_keeps_its_path() {
    let fs = MemoryFs::new()
        .with_folder("/real/.git")
        .with_file("/real/sub/AGENTS.md", "linked doc")
        .with_link("/w/link", "/real/sub");
    let loaded = load(&Discovery::codex(), &Inputs::local("/w/link"), &fs);
    let sources: Vec<_> = loaded.sources().map(|path| path.display().to_string()).collect();
    assert_eq!((loaded.text(), sources), ("linked doc", vec!["/w/link/AGENTS.md".to_owned()]));
    assert_eq!(loaded.trace().environments()[0].root, None);
}

#[test]
fn names_are_tried_in_order() {
    let mut discovery = Discovery::codex();
    discovery.fallback_names =
        ["EXAMPLE.md", "", "AGENTS.md", "EXAMPLE.md", "docs/RULES.md"].map(str::to_owned).to_vec();
    let text = |fs: &MemoryFs| load(&discovery, &Inputs::local("/r"), fs).text().to_owned();
    let mut fs = MemoryFs::new().with_file("/r/docs/RULES.md", "in docs");
    assert_eq!(text(&fs), "in docs");
    fs = fs.with_file("/r/EXAMPLE.md", "fallback");
    assert_eq!(text(&fs), "fallback");
    fs = fs.with_file("/r/AGENTS.md", "plain");
    assert_eq!(text(&fs), "plain");
    fs = fs.with_file("/r/AGENTS.override.md", "override");
    assert_eq!(text(&fs), "override");
}

#[test]
fn odd_files_are_passed_over() {
    let fs = MemoryFs::new().with_folder("/r/AGENTS.override.md").with_file("/r/AGENTS.md", "plain");
    assert_eq!(load(&Discovery::codex(), &Inputs::local("/r"), &fs).text(), "plain");
    let fs = MemoryFs::new().with_other("/r/AGENTS.md");
    let loaded = load(&Discovery::codex(), &Inputs::local("/r"), &fs);
    assert_eq!(loaded.trace().outcome("local", "/r/AGENTS.md"), Some(&Outcome::NotAFile { found: FileKind::Other }));
    assert_eq!(loaded.sources().count(), 0);
}
