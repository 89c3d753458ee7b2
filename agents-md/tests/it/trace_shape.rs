//! The shape of a trace: for people one line each, for programs one object each.

use std::io::ErrorKind;

use agents_md::{
    Discovery, Inputs, LoadedAgentsMd, MemoryFs, SymlinkPolicy, ThreadInstructions, TurnEnvironmentSelection,
    UserSource, discover_blocking,
};

fn mixed() -> LoadedAgentsMd {
    let fs = MemoryFs::new()
        .with_file("/home/AGENTS.md", "HOME")
        .with_folder("/r/.git")
        .with_file("/r/AGENTS.md", "root")
        .with_file("/r/a/AGENTS.override.md", "\n")
        .with_folder("/r/a/AGENTS.md")
        .with_link("/r/a/CLAUDE.md", "../AGENTS.md")
        .with_file("/r/a/b/AGENTS.override.md", "0123456789")
        .with_file("/r/a/b/AGENTS.md", "hidden")
        .with_other("/r/a/b/CLAUDE.md")
        .with_file("/r/a/b/c/AGENTS.md", "closed")
        .failing_read("/r/a/b/c/AGENTS.md", ErrorKind::PermissionDenied)
        .with_vanishing("/r/a/b/c/CLAUDE.md")
        .with_folder("/s");
    let mut discovery = Discovery::default();
    discovery.max_bytes = 8;
    discovery.fallback_names.push("CLAUDE.md".into());
    let selections =
        vec![TurnEnvironmentSelection::new("main", "/r/a/b/c"), TurnEnvironmentSelection::new("side", "/s")];
    let inputs = Inputs::new(selections)
        .with_user(UserSource::Folder("/home".into()))
        .with_thread(ThreadInstructions::new("THREAD").unwrap());
    discover_blocking(&discovery, &inputs, &fs).unwrap()
}

#[test]
fn people_read_one_line_for_each_path() {
    insta::assert_snapshot!(mixed().trace(), @r#"
    main: root /r found by .git
    side: no root marker found, looked for [.git] up to /
    user: /home/AGENTS.override.md: absent
    user: /home/AGENTS.md: loaded, 4 bytes
    thread: loaded, 6 bytes
    main: /r/a/b/c/.git: absent
    main: /r/a/b/.git: absent
    main: /r/a/.git: absent
    main: /r/.git: marks the root
    main: /r/AGENTS.override.md: absent
    main: /r/AGENTS.md: the same as /r/a/CLAUDE.md (environment `main`)
    main: /r/CLAUDE.md: absent
    main: /r/a/AGENTS.override.md: blank
    main: /r/a/AGENTS.md: not a regular file but a folder
    main: /r/a/CLAUDE.md: left out: 4 bytes did not fit the project budget
    main: /r/a/b/AGENTS.override.md: cut to fit the project budget: 8 of 10 bytes kept
    main: /r/a/b/AGENTS.md: shadowed by /r/a/b/AGENTS.override.md
    main: /r/a/b/CLAUDE.md: not a regular file but a pipe, device, socket or link
    main: /r/a/b/c/AGENTS.override.md: absent
    main: /r/a/b/c/AGENTS.md: denied to read: permission denied
    main: /r/a/b/c/CLAUDE.md: vanished between probe and read
    side: /s/.git: absent
    side: /.git: absent
    side: /s/AGENTS.override.md: absent
    side: /s/AGENTS.md: absent
    side: /s/CLAUDE.md: absent
    "#);
}

#[test]
fn programs_read_one_object_for_each_path() {
    let loaded = mixed();
    let rows: Vec<String> = loaded.trace().rows().iter().map(|row| serde_json::to_string(row).unwrap()).collect();
    insta::assert_snapshot!(rows.join("\n"), @r#"
    {"scope":"user","path":"/home/AGENTS.override.md","outcome":"absent"}
    {"scope":"user","path":"/home/AGENTS.md","outcome":"loaded","bytes":4}
    {"scope":"thread","path":null,"outcome":"loaded","bytes":6}
    {"scope":"project","index":0,"environment":"main","path":"/r/a/b/c/.git","outcome":"absent"}
    {"scope":"project","index":0,"environment":"main","path":"/r/a/b/.git","outcome":"absent"}
    {"scope":"project","index":0,"environment":"main","path":"/r/a/.git","outcome":"absent"}
    {"scope":"project","index":0,"environment":"main","path":"/r/.git","outcome":"root_marker"}
    {"scope":"project","index":0,"environment":"main","path":"/r/AGENTS.override.md","outcome":"absent"}
    {"scope":"project","index":0,"environment":"main","path":"/r/AGENTS.md","outcome":"duplicate","of":{"environment":"main","path":"/r/a/CLAUDE.md"}}
    {"scope":"project","index":0,"environment":"main","path":"/r/CLAUDE.md","outcome":"absent"}
    {"scope":"project","index":0,"environment":"main","path":"/r/a/AGENTS.override.md","outcome":"blank"}
    {"scope":"project","index":0,"environment":"main","path":"/r/a/AGENTS.md","outcome":"not_a_file","found":"folder"}
    {"scope":"project","index":0,"environment":"main","path":"/r/a/CLAUDE.md","outcome":"dropped_by_budget","of":4,"budget":"project"}
    {"scope":"project","index":0,"environment":"main","path":"/r/a/b/AGENTS.override.md","outcome":"cut","kept":8,"of":10,"budget":"project"}
    {"scope":"project","index":0,"environment":"main","path":"/r/a/b/AGENTS.md","outcome":"shadowed","by":"/r/a/b/AGENTS.override.md"}
    {"scope":"project","index":0,"environment":"main","path":"/r/a/b/CLAUDE.md","outcome":"not_a_file","found":"other"}
    {"scope":"project","index":0,"environment":"main","path":"/r/a/b/c/AGENTS.override.md","outcome":"absent"}
    {"scope":"project","index":0,"environment":"main","path":"/r/a/b/c/AGENTS.md","outcome":"denied","op":"read","error":"permission denied"}
    {"scope":"project","index":0,"environment":"main","path":"/r/a/b/c/CLAUDE.md","outcome":"vanished"}
    {"scope":"project","index":1,"environment":"side","path":"/s/.git","outcome":"absent"}
    {"scope":"project","index":1,"environment":"side","path":"/.git","outcome":"absent"}
    {"scope":"project","index":1,"environment":"side","path":"/s/AGENTS.override.md","outcome":"absent"}
    {"scope":"project","index":1,"environment":"side","path":"/s/AGENTS.md","outcome":"absent"}
    {"scope":"project","index":1,"environment":"side","path":"/s/CLAUDE.md","outcome":"absent"}
    "#);
    insta::assert_snapshot!(serde_json::to_string(loaded.trace().environments()).unwrap(), @r#"[{"environment":"main","cwd":"/r/a/b/c","root":"/r","notes":[{"note":"root_found","root":"/r","marker":".git"}]},{"environment":"side","cwd":"/s","root":null,"notes":[{"note":"no_root","markers":[".git"],"up_to":"/"}]}]"#);
}

#[test]
fn links_have_outcomes_of_their_own() {
    let fs = MemoryFs::new()
        .with_folder("/r/.git")
        .with_file("/outside", "X")
        .with_link("/r/AGENTS.override.md", "../outside")
        .with_file("/r/AGENTS.md", "R");
    let mut discovery = Discovery::default();
    let mut trace = String::new();
    for symlinks in [SymlinkPolicy::WithinRoot, SymlinkPolicy::Reject] {
        discovery.symlinks = symlinks;
        trace += &discover_blocking(&discovery, &Inputs::local("/r"), &fs).unwrap().trace().to_string();
    }
    insta::assert_snapshot!(trace, @r#"
    local: root /r found by .git
    local: /r/.git: marks the root
    local: /r: the root, which is /r
    local: /r/AGENTS.override.md: leads out of the root to /outside, not read
    local: /r/AGENTS.md: loaded, 1 byte
    local: root /r found by .git
    local: /r/.git: marks the root
    local: /r/AGENTS.override.md: a symbolic link, not read
    local: /r/AGENTS.md: loaded, 1 byte
    "#);
}

#[test]
fn the_name_of_an_outcome_is_the_one_that_is_serialised() {
    let loaded = mixed();
    for row in loaded.trace().rows() {
        let json: serde_json::Value = serde_json::to_value(&row.outcome).unwrap();
        assert_eq!(json["outcome"], row.outcome.name());
    }
}
