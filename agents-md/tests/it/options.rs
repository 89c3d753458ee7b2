//! What is off by default: overlays, names of other tools, references, rules for some files, rules of the repository.

use agents_md::{
    Discovery, Imports, Inputs, LoadedAgentsMd, Locus, MemoryFs, NameSet, Outcome, Overlays, SymlinkPolicy, UserSource,
    discover_blocking,
};

fn load(discovery: &Discovery, cwd: &str, fs: &MemoryFs) -> LoadedAgentsMd {
    discover_blocking(discovery, &Inputs::local(cwd), fs).unwrap()
}

fn contents(loaded: &LoadedAgentsMd) -> Vec<&str> {
    loaded.entries().iter().map(|entry| entry.contents()).collect()
}

#[track_caller]
fn check(loaded: &LoadedAgentsMd, path: &str, want: &Outcome) {
    assert_eq!(loaded.trace().outcome("local", path), Some(want), "{}", loaded.trace());
}

fn notes(loaded: &LoadedAgentsMd) -> Vec<String> {
    loaded.trace().environments()[0].notes.iter().skip(1).map(ToString::to_string).collect()
}

#[test]
fn local_overlays_are_added_behind_the_file_of_their_folder() {
    let fs = MemoryFs::new()
        .with_folder("/r/.git")
        .with_file("/r/AGENTS.md", "R")
        .with_file("/r/AGENTS.local.md", "MINE")
        .with_file("/r/a/AGENTS.local.md", "ONLY MINE");
    assert_eq!(contents(&load(&Discovery::default(), "/r/a", &fs)), ["R"]);
    let mut discovery = Discovery::default();
    discovery.overlays = Overlays::Local;
    let loaded = load(&discovery, "/r/a", &fs);
    assert_eq!(contents(&loaded), ["R", "MINE", "ONLY MINE"]);
    check(&loaded, "/r/AGENTS.local.md", &Outcome::Loaded { bytes: 4 });
    check(&loaded, "/r/a/AGENTS.md", &Outcome::Absent);
}

#[test]
fn d11_names_of_other_tools_are_added_and_a_link_between_them_counts_once() {
    let fs = MemoryFs::new()
        .with_folder("/r/.git")
        .with_file("/r/AGENTS.md", "A")
        .with_link("/r/CLAUDE.md", "AGENTS.md")
        .with_file("/r/GEMINI.md", "G")
        .with_file("/r/.goosehints", "H")
        .with_file("/r/.cursorrules", "C")
        .with_file("/r/.github/copilot-instructions.md", "P")
        .with_file("/r/two", "2")
        .with_file("/r/CLAUDE.local.md", "L");
    let mut discovery = Discovery::default();
    let custom = NameSet::Custom(vec!["one".into(), "two".into(), "../three".into()]);
    discovery.also = vec![NameSet::Claude, NameSet::Gemini, NameSet::Goose, NameSet::Cursor, NameSet::Copilot, custom];
    discovery.overlays = Overlays::Local;
    let loaded = load(&discovery, "/r", &fs);
    assert_eq!(contents(&loaded), ["A", "L", "G", "H", "C", "P", "2"]);
    let of = Locus { environment: Some("local".into()), path: "/r/AGENTS.md".into() };
    check(&loaded, "/r/CLAUDE.md", &Outcome::Duplicate { of });
    assert_eq!(notes(&loaded), ["the name \"../three\" could lead out of the folder, it was not tried"]);
    assert_eq!(load(&Discovery::default(), "/r", &fs).text(), "A", "they are off by default");
}

fn importing() -> Discovery {
    let mut discovery = Discovery::default();
    discovery.imports = Some(Imports::default());
    discovery
}

#[test]
fn b18_a_cycle_is_reported_and_each_file_is_inlined_once() {
    let fs = MemoryFs::new()
        .with_folder("/r/.git")
        .with_file("/r/AGENTS.md", "top\n@./a.md\nend\n")
        .with_file("/r/a.md", "A\n@./b.md\n")
        .with_file("/r/b.md", "B\n@./a.md\nB2");
    let loaded = load(&importing(), "/r", &fs);
    assert_eq!(loaded.text(), "top\nA\nB\n@./a.md\nB2\nend\n");
    assert_eq!(notes(&loaded), ["/r/b.md refers to @./a.md, which was not followed: it refers back to itself"]);
    check(&loaded, "/r/a.md", &Outcome::Imported { bytes: 10, into: "/r/AGENTS.md".into() });
    check(&loaded, "/r/b.md", &Outcome::Imported { bytes: 12, into: "/r/a.md".into() });
    assert_eq!(load(&Discovery::default(), "/r", &fs).text(), "top\n@./a.md\nend\n", "off by default");
}

#[test]
fn b18_a_file_that_refers_to_itself_is_a_cycle() {
    let fs = MemoryFs::new().with_folder("/r/.git").with_file("/r/AGENTS.md", "@AGENTS.md");
    let loaded = load(&importing(), "/r", &fs);
    assert_eq!(loaded.text(), "@AGENTS.md");
    assert_eq!(notes(&loaded), ["/r/AGENTS.md refers to @AGENTS.md, which was not followed: it refers back to itself"]);
}

#[test]
fn b20_references_start_at_the_real_folder_of_the_file() {
    let fs = MemoryFs::new()
        .with_file("/dotfiles/claude/CLAUDE.md", "mine\n@./eng.md\n")
        .with_file("/dotfiles/claude/eng.md", "ENG\n")
        .with_link("/home/.claude/CLAUDE.md", "/dotfiles/claude/CLAUDE.md")
        .with_file("/home/.claude/eng.md", "WRONG")
        .with_folder("/r/.git");
    let mut discovery = importing();
    discovery.also.push(NameSet::Claude);
    let inputs = Inputs::local("/r").with_user(UserSource::Folder("/home/.claude".into()));
    let loaded = discover_blocking(&discovery, &inputs, &fs).unwrap();
    assert_eq!(loaded.text(), "mine\nENG\n");
    let imported = Outcome::Imported { bytes: 4, into: "/home/.claude/CLAUDE.md".into() };
    assert_eq!(loaded.trace().user_outcome("/dotfiles/claude/eng.md"), Some(&imported));
}

#[test]
fn references_stay_in_the_root() {
    let fs = MemoryFs::new()
        .with_file("/secret.md", "SECRET")
        .with_folder("/r/.git")
        .with_link("/r/a/link.md", "/secret.md")
        .with_file("/r/a/in.md", "IN")
        .with_file(
            "/r/a/AGENTS.md",
            "@../../secret.md\n@/secret.md\n@link.md\n@~/x.md\n@in.md @gone.md\n@/r/a/in.md\n",
        );
    let loaded = load(&importing(), "/r/a", &fs);
    assert_eq!(loaded.text(), "@../../secret.md\n@/secret.md\n@link.md\n@~/x.md\n@in.md @gone.md\nIN\n@/r/a/in.md\n",);
    check(&loaded, "/r/a/link.md", &Outcome::OutsideRoot { target: "/secret.md".into() });
    check(&loaded, "/r/a/gone.md", &Outcome::Absent);
    assert_eq!(
        notes(&loaded).join("\n").replace("/r/a/AGENTS.md refers to ", ""),
        "@../../secret.md, which was not followed: it leads out of the root\n\
         @/secret.md, which was not followed: it leads out of the root\n\
         @~/x.md, which was not followed: it starts in a home folder\n\
         @/r/a/in.md, which was not followed: its text is there already"
    );
    assert!(fs.accesses().iter().all(|access| access.path != std::path::Path::new("/secret.md")));
}

#[test]
fn references_are_bounded_in_depth_number_and_bytes() {
    let chain = (0..9).fold(MemoryFs::new().with_folder("/r/.git").with_file("/r/AGENTS.md", "@0.md"), |fs, n| {
        fs.with_file(format!("/r/{n}.md"), format!("{n}\n@{}.md", n + 1))
    });
    let loaded = load(&importing(), "/r", &chain);
    assert_eq!(loaded.text(), "0\n1\n2\n3\n4\n@5.md");
    assert_eq!(notes(&loaded), ["/r/4.md refers to @5.md, which was not followed: too many files refer to each other"]);

    let text: String = (0..40).map(|n| format!("@{n}.md\n")).collect();
    let wide = (0..40).fold(MemoryFs::new().with_folder("/r/.git").with_file("/r/AGENTS.md", text), |fs, n| {
        fs.with_file(format!("/r/{n}.md"), format!("{n}\n"))
    });
    let loaded = load(&importing(), "/r", &wide);
    assert_eq!(notes(&loaded).len(), 8);
    assert!(loaded.text().ends_with("31\n@32.md\n@33.md\n@34.md\n@35.md\n@36.md\n@37.md\n@38.md\n@39.md\n"));

    let fs = MemoryFs::new()
        .with_folder("/r/.git")
        .with_file("/r/AGENTS.md", "@a.md\n@b.md\n@huge.md\n@pipe.md\n@blank.md\n")
        .with_file("/r/a.md", "aaaa\n")
        .with_file("/r/b.md", "b\n")
        .with_sparse_file("/r/huge.md", 5 << 30)
        .with_other("/r/pipe.md")
        .with_file("/r/blank.md", "\n");
    let mut discovery = importing();
    discovery.imports = Some({
        let mut imports = Imports::default();
        imports.max_bytes = 6;
        imports
    });
    let loaded = load(&discovery, "/r", &fs);
    assert_eq!(loaded.text(), "aaaa\n@b.md\n@huge.md\n@pipe.md\n@blank.md\n");
    let dropped = |of| Outcome::DroppedByBudget { of, budget: agents_md::Budget::Imports };
    check(&loaded, "/r/b.md", &dropped(2));
    check(&loaded, "/r/huge.md", &dropped(5 << 30));
    check(&loaded, "/r/pipe.md", &Outcome::NotAFile { found: agents_md::FileKind::Other });
    check(&loaded, "/r/blank.md", &Outcome::Blank);
}

#[test]
fn a_file_that_is_loaded_is_not_imported_and_what_is_hidden_imports_nothing() {
    let fs = MemoryFs::new()
        .with_folder("/r/.git")
        .with_file("/r/AGENTS.md", "ROOT")
        .with_file("/r/a/AGENTS.override.md", "@../AGENTS.md\n")
        .with_file("/r/a/AGENTS.md", "@x.md")
        .with_file("/r/a/x.md", "X");
    let loaded = load(&importing(), "/r/a", &fs);
    assert_eq!(contents(&loaded), ["ROOT", "@../AGENTS.md\n"]);
    assert_eq!(loaded.trace().outcome("local", "/r/a/x.md"), None, "nobody asked for it");
    let mut discovery = importing();
    discovery.symlinks = SymlinkPolicy::Reject;
    let linked = MemoryFs::new().with_folder("/r/.git").with_file("/r/x", "X").with_link("/r/AGENTS.md", "x");
    check(&load(&discovery, "/r", &linked), "/r/AGENTS.md", &Outcome::SymlinkRejected);
}

#[test]
fn a_denied_import_is_an_error_where_the_environment_is_strict() {
    let fs = MemoryFs::new()
        .with_folder("/r/.git")
        .with_file("/r/AGENTS.md", "@x.md")
        .with_file("/r/x.md", "X")
        .failing_read("/r/x.md", std::io::ErrorKind::PermissionDenied);
    let selection = agents_md::TurnEnvironmentSelection::new("box", "/r").restricted();
    let error = discover_blocking(&importing(), &Inputs::new(vec![selection]), &fs).unwrap_err();
    assert_eq!(error.to_string(), "could not read /r/x.md (environment `box`)");
    assert_eq!(load(&importing(), "/r", &fs).text(), "@x.md");
}

#[cfg(feature = "globs")]
#[test]
fn front_matter_narrows_a_file_to_what_is_touched() {
    use agents_md::Scoping;
    let fs = MemoryFs::new()
        .with_folder("/r/.git")
        .with_file("/r/AGENTS.md", "---\nglobs: src/**/*.ts, [\n---\nTS rules")
        .with_file("/r/GEMINI.md", "---\nalwaysApply: true\n---\nALWAYS")
        .with_file("/r/a/AGENTS.override.md", "---\napplyTo: '*.py'\n---\nPY rules")
        .with_file("/r/a/AGENTS.md", "PLAIN");
    let mut discovery = Discovery::default();
    discovery.scoping = Scoping::FrontMatter;
    discovery.also.push(NameSet::Gemini);
    let of = |touched: &str| discover_blocking(&discovery, &Inputs::local("/r/a").with_touched(touched), &fs).unwrap();
    let loaded = of("/r/src/x/y.ts");
    assert_eq!(contents(&loaded), ["TS rules", "ALWAYS", "PLAIN"]);
    check(&loaded, "/r/a/AGENTS.override.md", &Outcome::OutOfScope { patterns: vec!["*.py".into()] });
    assert_eq!(notes(&loaded), ["/r/AGENTS.md has the pattern \"[\", which is none"]);
    assert_eq!(contents(&of("a/z.py")), ["ALWAYS", "PY rules"]);
    assert_eq!(contents(&of("/elsewhere/src/y.ts")), ["ALWAYS", "PLAIN"]);
    discovery.scoping = Scoping::Off;
    assert!(load(&discovery, "/r", &fs).text().starts_with("---\nglobs"), "off, it is text");
}

#[cfg(feature = "gitignore")]
#[test]
fn what_the_repository_excludes_is_left_out_but_for_overlays() {
    use agents_md::Ignores;
    let fs = MemoryFs::new()
        .with_folder("/r/.git")
        .with_file("/r/.gitignore", "/vendor/\n*.local.md\n")
        .with_file("/r/AGENTS.md", "R")
        .with_file("/r/AGENTS.local.md", "MINE")
        .with_file("/r/vendor/x/AGENTS.override.md", "")
        .with_file("/r/vendor/x/AGENTS.md", "VENDOR")
        .with_file("/r/app/.gitignore", "AGENTS.override.md\n")
        .with_file("/r/app/AGENTS.override.md", "OVERRIDE")
        .with_file("/r/app/AGENTS.md", "APP");
    let mut discovery = Discovery::default();
    discovery.overlays = Overlays::Local;
    assert_eq!(contents(&load(&discovery, "/r/vendor/x", &fs)), ["R", "MINE", "VENDOR"]);
    discovery.ignores = Ignores::GitIgnore;
    let loaded = load(&discovery, "/r/vendor/x", &fs);
    assert_eq!(contents(&loaded), ["R", "MINE"]);
    check(&loaded, "/r/vendor/x/AGENTS.md", &Outcome::Ignored { by: "/r/.gitignore".into() });
    check(&loaded, "/r/.gitignore", &Outcome::IgnoreRules);
    check(&loaded, "/r/vendor/.gitignore", &Outcome::Absent);
    let loaded = load(&discovery, "/r/app", &fs);
    assert_eq!(contents(&loaded), ["R", "MINE", "APP"]);
    check(&loaded, "/r/app/AGENTS.override.md", &Outcome::Ignored { by: "/r/app/.gitignore".into() });
}
