//! Case rows about which files apply.

use std::path::{Path, PathBuf};

use agents_md::{
    BudgetOrder, Discovery, Error, FileBytes, FileIdentity, FileKind, FileSystem, Inputs, LoadedAgentsMd, Locus,
    MemoryFs, NoRoot, Note, Operation, Outcome, ProbeAnswer, ProbeAsk, ReadAnswer, ReadAsk, Strictness, SymlinkPolicy,
    TrustLevel, TurnEnvironmentSelection, UserSource, discover_blocking,
};

fn load(discovery: &Discovery, inputs: &Inputs, fs: &MemoryFs) -> LoadedAgentsMd {
    discover_blocking(discovery, inputs, fs).unwrap()
}

fn contents(loaded: &LoadedAgentsMd) -> Vec<&str> {
    loaded.entries().iter().map(|entry| entry.contents()).collect()
}

#[track_caller]
fn check(loaded: &LoadedAgentsMd, want: &[&str], outcomes: &[(&str, Outcome)]) {
    assert_eq!(contents(loaded), want);
    for (path, outcome) in outcomes {
        assert_eq!(loaded.trace().outcome("local", path), Some(outcome), "{path}");
    }
}

fn shadowed(by: &str) -> Outcome {
    Outcome::Shadowed { by: by.into() }
}

fn duplicate(environment: Option<&str>, path: &str) -> Outcome {
    Outcome::Duplicate { of: Locus { environment: environment.map(Into::into), path: path.into() } }
}

#[test]
fn d01_override_hides_plain() {
    let fs = MemoryFs::new()
        .with_folder("/r/.git")
        .with_file("/r/AGENTS.md", "ROOT")
        .with_file("/r/app/AGENTS.override.md", "APP")
        .with_file("/r/app/AGENTS.md", "PLAIN");
    for discovery in [Discovery::default(), Discovery::codex()] {
        let loaded = load(&discovery, &Inputs::local("/r/app"), &fs);
        let by = "/r/app/AGENTS.override.md";
        check(&loaded, &["ROOT", "APP"], &[("/r/app/AGENTS.md", shadowed(by))]);
    }
}

#[test]
fn d02_blank_override_falls_through() {
    for blank in ["", " \n\t", "\u{FEFF}", "\u{FEFF} \r\n"] {
        let fs = MemoryFs::new()
            .with_folder("/r/.git")
            .with_file("/r/AGENTS.md", "ROOT")
            .with_file("/r/app/AGENTS.override.md", blank)
            .with_file("/r/app/AGENTS.md", "PLAIN");
        let loaded = load(&Discovery::default(), &Inputs::local("/r/app"), &fs);
        let outcomes =
            [("/r/app/AGENTS.override.md", Outcome::Blank), ("/r/app/AGENTS.md", Outcome::Loaded { bytes: 5 })];
        check(&loaded, &["ROOT", "PLAIN"], &outcomes);
    }
}

#[test]
fn d02_blank_override_hides_plain_in_the_codex_preset() {
    let fs = MemoryFs::new().with_file("/r/AGENTS.override.md", " \n").with_file("/r/AGENTS.md", "PLAIN");
    let loaded = load(&Discovery::codex(), &Inputs::local("/r"), &fs);
    let by = "/r/AGENTS.override.md";
    check(&loaded, &[], &[(by, Outcome::Blank), ("/r/AGENTS.md", shadowed(by))]);
    assert!(loaded.is_empty());
}

#[test]
fn d03_no_root_is_explained() {
    let fs = MemoryFs::new().with_file("/p/AGENTS.md", "P").with_folder("/p/a/b");
    let inputs = Inputs::local("/p/a/b");
    let mut discovery = Discovery::default();
    let loaded = load(&discovery, &inputs, &fs);
    assert!(loaded.is_empty());
    let notes: Vec<String> = loaded.trace().environments()[0].notes.iter().map(ToString::to_string).collect();
    assert_eq!(notes, ["no root marker found, looked for [.git] up to /"]);

    discovery.no_root = NoRoot::WalkTo("/p".into());
    check(&load(&discovery, &inputs, &fs), &["P"], &[("/p/a/b/AGENTS.md", Outcome::Absent)]);

    discovery.no_root = NoRoot::WalkTo("/elsewhere".into());
    let loaded = load(&discovery, &inputs, &fs);
    check(&loaded, &[], &[("/p/a/b/AGENTS.md", Outcome::Absent)]);
    assert_eq!(loaded.trace().outcome("local", "/p/AGENTS.md"), None);
    let boundary = PathBuf::from("/elsewhere");
    assert!(loaded.trace().environments()[0].notes.contains(&Note::BoundaryElsewhere { boundary }));
}

#[test]
fn d06_worktree_copy_wins_over_the_main_one() {
    let fs = MemoryFs::new()
        .with_folder("/r/.git")
        .with_file("/r/AGENTS.md", "SAME")
        .with_file("/r/.wt/x/.git", "gitdir: /r/.git/worktrees/x")
        .with_file("/r/.wt/x/AGENTS.md", "SAME");
    let mut discovery = Discovery::default();
    discovery.root_markers.clear();
    discovery.no_root = NoRoot::WalkTo("/".into());
    let loaded = load(&discovery, &Inputs::local("/r/.wt/x"), &fs);
    let kept = "/r/.wt/x/AGENTS.md";
    check(
        &loaded,
        &["SAME"],
        &[("/r/AGENTS.md", duplicate(Some("local"), kept)), (kept, Outcome::Loaded { bytes: 4 })],
    );
    assert_eq!(loaded.sources().collect::<Vec<_>>(), [PathBuf::from(kept)]);
}

#[test]
fn d08_other_markers_decide_the_root() {
    let fs = MemoryFs::new()
        .with_file("/r/.codex-root", "")
        .with_folder("/r/n/.git")
        .with_file("/r/AGENTS.md", "ROOT")
        .with_file("/r/n/AGENTS.md", "NESTED");
    let mut discovery = Discovery::default();
    discovery.root_markers = vec![".codex-root".into()];
    check(&load(&discovery, &Inputs::local("/r/n"), &fs), &["ROOT", "NESTED"], &[]);
}

#[test]
fn d08_the_nearest_of_several_markers_decides() {
    let fs = MemoryFs::new()
        .with_folder("/r/.git")
        .with_file("/r/AGENTS.md", "ROOT")
        .with_folder("/r/n/.hg")
        .with_file("/r/n/AGENTS.md", "NESTED");
    let mut discovery = Discovery::default();
    discovery.root_markers = vec![".git".into(), ".hg".into(), String::new(), "./.git".into()];
    let loaded = load(&discovery, &Inputs::local("/r/n/deep"), &fs);
    check(&loaded, &["NESTED"], &[("/r/n/.hg", Outcome::RootMarker), ("/r/n/.git", Outcome::Absent)]);
}

#[test]
fn d08_a_marker_that_is_a_candidate_is_probed_once() {
    let fs = MemoryFs::new().with_file("/r/AGENTS.md", "ROOT").with_folder("/r/n");
    let mut discovery = Discovery::default();
    discovery.root_markers = vec!["AGENTS.md".into()];
    let loaded = load(&discovery, &Inputs::local("/r/n"), &fs);
    check(&loaded, &["ROOT"], &[("/r/AGENTS.md", Outcome::Loaded { bytes: 4 })]);
    let probes =
        |path: &str| fs.accesses().iter().filter(|a| a.op == Operation::Probe && a.path == Path::new(path)).count();
    assert_eq!((probes("/r/AGENTS.md"), probes("/r/n/AGENTS.md")), (1, 1));
}

#[test]
fn d09_without_markers_only_the_working_folder() {
    let fs = MemoryFs::new().with_folder("/r/.git").with_file("/r/AGENTS.md", "ROOT").with_file("/r/a/AGENTS.md", "A");
    for mut discovery in [Discovery::default(), Discovery::codex()] {
        discovery.root_markers.clear();
        let loaded = load(&discovery, &Inputs::local("/r/a"), &fs);
        check(&loaded, &["A"], &[]);
        assert_eq!(loaded.trace().environments()[0].notes, [Note::NoMarkers]);
        assert_eq!(loaded.trace().outcome("local", "/r/AGENTS.md"), None);
    }
}

#[test]
fn d10_home_is_the_project() {
    let fs = MemoryFs::new().with_folder("/home/me/.git").with_file("/home/me/AGENTS.md", "ME");
    let inputs = Inputs::local("/home/me").with_user(UserSource::Folder("/home/me".into()));
    let loaded = load(&Discovery::default(), &inputs, &fs);
    check(&loaded, &[], &[("/home/me/AGENTS.md", duplicate(None, "/home/me/AGENTS.md"))]);
    assert_eq!((loaded.user_text(), loaded.text()), (Some("ME"), "ME"));
    assert_eq!(loaded.trace().user_outcome("/home/me/AGENTS.md"), Some(&Outcome::Loaded { bytes: 2 }));

    let twice = load(&Discovery::codex(), &inputs, &fs);
    assert_eq!(twice.text(), "ME\n\n--- project-doc ---\n\nME");
}

#[test]
fn d10_one_file_through_a_link_below() {
    let fs = MemoryFs::new()
        .with_folder("/r/.git")
        .with_file("/r/AGENTS.md", "RULES")
        .with_link("/r/a/AGENTS.md", "../AGENTS.md");
    let loaded = load(&Discovery::default(), &Inputs::local("/r/a"), &fs);
    check(&loaded, &["RULES"], &[("/r/AGENTS.md", duplicate(Some("local"), "/r/a/AGENTS.md"))]);
}

#[test]
fn d11_linked_second_name_is_loaded_once() {
    let fs = MemoryFs::new().with_file("/r/AGENTS.md", "RULES").with_link("/r/CLAUDE.md", "AGENTS.md");
    let mut discovery = Discovery::default();
    discovery.fallback_names = vec!["CLAUDE.md".into(), "AGENTS.md".into(), String::new(), "CLAUDE.md".into()];
    let loaded = load(&discovery, &Inputs::local("/r"), &fs);
    check(&loaded, &["RULES"], &[("/r/CLAUDE.md", duplicate(Some("local"), "/r/AGENTS.md"))]);
}

#[test]
fn d11_a_fallback_that_is_another_file_is_shadowed() {
    let fs = MemoryFs::new().with_file("/r/AGENTS.md", "RULES").with_file("/r/CLAUDE.md", "OTHER");
    let mut discovery = Discovery::default();
    discovery.fallback_names = vec!["CLAUDE.md".into(), "../CLAUDE.md".into(), "/etc/passwd".into()];
    let loaded = load(&discovery, &Inputs::local("/r"), &fs);
    check(&loaded, &["RULES"], &[("/r/CLAUDE.md", shadowed("/r/AGENTS.md"))]);
    let ignored: Vec<_> = loaded.trace().environments()[0]
        .notes
        .iter()
        .filter_map(|note| if let Note::NameIgnored { name } = note { Some(name.as_str()) } else { None })
        .collect();
    assert_eq!(ignored, ["../CLAUDE.md", "/etc/passwd"]);
    assert!(fs.accesses().iter().all(|access| !access.path.ends_with("passwd")));
}

#[test]
fn d15_a_folder_of_that_name_is_skipped() {
    let fs = MemoryFs::new()
        .with_folder("/r/AGENTS.override.md")
        .with_folder("/r/AGENTS.md")
        .with_file("/r/RULES.md", "FALLBACK");
    for mut discovery in [Discovery::default(), Discovery::codex()] {
        discovery.fallback_names.push("RULES.md".into());
        let loaded = load(&discovery, &Inputs::local("/r"), &fs);
        check(&loaded, &["FALLBACK"], &[("/r/AGENTS.md", Outcome::NotAFile { found: FileKind::Folder })]);
    }
}

#[test]
fn d16_a_pipe_or_device_is_never_read() {
    let fs = MemoryFs::new()
        .with_other("/dev/zero")
        .with_other("/r/AGENTS.override.md")
        .with_link("/r/AGENTS.md", "/dev/zero");
    for discovery in [Discovery::default(), Discovery::codex()] {
        let loaded = load(&discovery, &Inputs::local("/r"), &fs);
        let odd = Outcome::NotAFile { found: FileKind::Other };
        check(&loaded, &[], &[("/r/AGENTS.override.md", odd.clone()), ("/r/AGENTS.md", odd)]);
    }
    assert!(fs.accesses().iter().all(|access| access.op == Operation::Probe));
}

fn with_secret() -> MemoryFs {
    MemoryFs::new()
        .with_file("/outside/secret", "SECRET")
        .with_folder("/w/r/.git")
        .with_link("/w/r/AGENTS.md", "../../outside/secret")
        .with_file("/w/r/docs/rules.md", "INSIDE")
        .with_link("/w/r/a/AGENTS.md", "../docs/rules.md")
}

#[test]
fn d17_links_by_policy() {
    let load_with = |symlinks| {
        let mut discovery = Discovery::default();
        discovery.symlinks = symlinks;
        let fs = with_secret();
        let loaded = load(&discovery, &Inputs::local("/w/r/a"), &fs);
        let reads = fs.accesses().into_iter().filter(|access| access.op == Operation::Read);
        let reads: Vec<_> = reads.map(|access| access.path.display().to_string()).collect();
        (loaded, reads)
    };
    let (loaded, _) = load_with(SymlinkPolicy::Follow);
    check(&loaded, &["SECRET", "INSIDE"], &[]);

    let (loaded, reads) = load_with(SymlinkPolicy::WithinRoot);
    check(&loaded, &["INSIDE"], &[("/w/r/AGENTS.md", Outcome::OutsideRoot { target: "/outside/secret".into() })]);
    assert_eq!(reads, ["/w/r/docs/rules.md"]);
    assert_eq!(loaded.warnings().len(), 1);

    let (loaded, reads) = load_with(SymlinkPolicy::Reject);
    check(
        &loaded,
        &[],
        &[("/w/r/AGENTS.md", Outcome::SymlinkRejected), ("/w/r/a/AGENTS.md", Outcome::SymlinkRejected)],
    );
    assert_eq!(reads, Vec::<String>::new());
}

#[test]
fn d17_a_linked_folder_cannot_lead_out_of_the_root() {
    let fs =
        MemoryFs::new().with_file("/outside/AGENTS.md", "OUT").with_folder("/r/.git").with_link("/r/a", "/outside");
    let mut discovery = Discovery::default();
    discovery.symlinks = SymlinkPolicy::WithinRoot;
    let loaded = load(&discovery, &Inputs::local("/r/a"), &fs);
    check(&loaded, &[], &[("/r/a/AGENTS.md", Outcome::OutsideRoot { target: "/outside/AGENTS.md".into() })]);
}

#[test]
fn d17_a_root_that_is_itself_behind_a_link_is_resolved_too() {
    let fs = MemoryFs::new().with_folder("/real/.git").with_file("/real/AGENTS.md", "R").with_link("/link", "/real");
    let mut discovery = Discovery::default();
    discovery.symlinks = SymlinkPolicy::WithinRoot;
    let loaded = load(&discovery, &Inputs::local("/link"), &fs);
    check(&loaded, &["R"], &[("/link", Outcome::Root { resolved: "/real".into() })]);
}

/// A disk on which somebody puts another file in place between each probe and its read.
struct Swapped(MemoryFs);

impl FileSystem for Swapped {
    type Handle = ();

    fn probe(&self, ask: &ProbeAsk) -> (ProbeAnswer, Option<()>) {
        self.0.probe(ask)
    }

    fn read(&self, ask: &ReadAsk, _: Option<()>) -> ReadAnswer {
        let mut file = FileBytes::whole(b"SECRET".to_vec());
        file.identity = Some(FileIdentity { volume: 1, file: 1_000 });
        assert!(ask.max_bytes() > 6);
        ReadAnswer::Bytes(file)
    }
}

#[test]
fn d17_what_was_swapped_after_the_check_is_not_shown() {
    let fs = Swapped(MemoryFs::new().with_file("/r/AGENTS.md", "CHECKED"));
    let mut discovery = Discovery::default();
    for symlinks in [SymlinkPolicy::WithinRoot, SymlinkPolicy::Reject] {
        discovery.symlinks = symlinks;
        let loaded = discover_blocking(&discovery, &Inputs::local("/r"), &fs).unwrap();
        check(&loaded, &[], &[("/r/AGENTS.md", Outcome::Replaced)]);
        assert_eq!(loaded.warnings().len(), 1);
    }
    // Where links are followed anyway, an editor that saves by renaming is no attack.
    discovery.symlinks = SymlinkPolicy::Follow;
    assert_eq!(discover_blocking(&discovery, &Inputs::local("/r"), &fs).unwrap().text(), "SECRET");
}

fn with_unreadable() -> MemoryFs {
    MemoryFs::new()
        .with_folder("/r/.git")
        .with_file("/r/AGENTS.md", "ROOT")
        .with_file("/r/a/AGENTS.md", "A")
        .failing_read("/r/a/AGENTS.md", std::io::ErrorKind::PermissionDenied)
}

#[test]
fn d19_denied_file_is_reported_or_an_error() {
    let mut discovery = Discovery::default();
    let inputs = Inputs::local("/r/a");
    let loaded = load(&discovery, &inputs, &with_unreadable());
    let denied = Outcome::Denied { op: Operation::Read, error: "permission denied".into() };
    check(&loaded, &["ROOT"], &[("/r/a/AGENTS.md", denied)]);
    let warnings: Vec<String> = loaded.warnings().iter().map(ToString::to_string).collect();
    assert_eq!(warnings, ["could not read /r/a/AGENTS.md (local): permission denied"]);

    discovery.strictness = Strictness::Strict;
    let error = discover_blocking(&discovery, &inputs, &with_unreadable()).unwrap_err();
    assert_eq!(error.to_string(), "could not read /r/a/AGENTS.md (environment `local`)");
    assert!(matches!(error, Error::Access { op: Operation::Read, .. }));
    assert_eq!(error.io_kind(), Some(std::io::ErrorKind::PermissionDenied));
}

#[test]
fn d19_a_restricted_environment_is_strict() {
    let inputs = Inputs::new(vec![TurnEnvironmentSelection::new("box", "/r/a").restricted()]);
    let error = discover_blocking(&Discovery::default(), &inputs, &with_unreadable()).unwrap_err();
    assert_eq!(error.to_string(), "could not read /r/a/AGENTS.md (environment `box`)");
}

#[test]
fn d19_the_codex_preset_drops_the_environment() {
    let loaded = load(&Discovery::codex(), &Inputs::local("/r/a"), &with_unreadable());
    let denied = Outcome::Denied { op: Operation::Read, error: "permission denied".into() };
    check(&loaded, &[], &[("/r/AGENTS.md", Outcome::Discarded), ("/r/a/AGENTS.md", denied)]);
    assert!(loaded.is_empty());

    let inputs = Inputs::new(vec![TurnEnvironmentSelection::new("box", "/r/a").restricted()]);
    let error = discover_blocking(&Discovery::codex(), &inputs, &with_unreadable()).unwrap_err();
    let want = "failed to load AGENTS.md instructions for environment `box`: permission denied";
    assert_eq!(error.to_string(), want);
    assert_eq!(error.io_kind(), Some(std::io::ErrorKind::PermissionDenied));
}

#[test]
fn d19_a_folder_that_may_not_be_searched() {
    let fs = with_unreadable().denying("/r/a");
    let loaded = load(&Discovery::default(), &Inputs::local("/r/a"), &fs);
    let denied = Outcome::Denied { op: Operation::Probe, error: "permission denied".into() };
    check(&loaded, &["ROOT"], &[("/r/a/.git", denied.clone()), ("/r/a/AGENTS.override.md", denied)]);
}

#[test]
fn d19_a_shadowed_file_may_be_unreadable_in_a_strict_discovery() {
    let fs = with_unreadable().with_file("/r/a/AGENTS.override.md", "OVERRIDE");
    let mut discovery = Discovery::default();
    discovery.strictness = Strictness::Strict;
    let loaded = load(&discovery, &Inputs::local("/r/a"), &fs);
    check(&loaded, &["ROOT", "OVERRIDE"], &[("/r/a/AGENTS.md", shadowed("/r/a/AGENTS.override.md"))]);
}

#[test]
fn d19_an_unreadable_user_file() {
    let fs = MemoryFs::new()
        .with_file("/home/AGENTS.override.md", "X")
        .failing_read("/home/AGENTS.override.md", std::io::ErrorKind::PermissionDenied)
        .with_file("/home/AGENTS.md", "HOME");
    let inputs = Inputs::default().with_user(UserSource::Folder("/home".into()));
    let want = "Failed to read global AGENTS.md instructions from `/home/AGENTS.override.md`: permission denied";
    for discovery in [Discovery::default(), Discovery::codex()] {
        let loaded = load(&discovery, &inputs, &fs);
        let warnings: Vec<String> = loaded.warnings().iter().map(ToString::to_string).collect();
        assert_eq!((loaded.text(), warnings.as_slice()), ("HOME", [want.to_owned()].as_slice()));
    }
    let mut strict = Discovery::default();
    strict.strictness = Strictness::Strict;
    let error = discover_blocking(&strict, &inputs, &fs).unwrap_err();
    assert_eq!(error.to_string(), "could not read /home/AGENTS.override.md");
}

#[test]
fn d20_a_file_that_vanishes_is_skipped() {
    let fs = MemoryFs::new()
        .with_folder("/r/.git")
        .with_file("/r/AGENTS.md", "ROOT")
        .with_vanishing("/r/a/AGENTS.override.md")
        .with_file("/r/a/AGENTS.md", "PLAIN");
    for (mut discovery, want) in
        [(Discovery::default(), ["ROOT", "PLAIN"].as_slice()), (Discovery::codex(), ["ROOT"].as_slice())]
    {
        discovery.strictness = Strictness::Strict;
        let loaded = load(&discovery, &Inputs::local("/r/a"), &fs);
        check(&loaded, want, &[("/r/a/AGENTS.override.md", Outcome::Vanished)]);
        assert!(loaded.warnings().is_empty());
    }
}

#[test]
fn d21_each_root_has_its_own_chain_budget_and_header() {
    let fs = MemoryFs::new()
        .with_folder("/a/.git")
        .with_file("/a/AGENTS.md", "aaaa")
        .with_file("/a/x/AGENTS.md", "xxxx")
        .with_folder("/b/.git")
        .with_file("/b/AGENTS.md", "bbbb");
    let selections = vec![TurnEnvironmentSelection::new("local", "/a/x"), TurnEnvironmentSelection::new("local", "/b")];
    let inputs = Inputs::new(selections);
    let mut discovery = Discovery::default();
    discovery.max_bytes = 8;
    let loaded = load(&discovery, &inputs, &fs);
    assert_eq!(loaded.text(), "for `local` with root /a/x\n\naaaa\n\nxxxx\n\nfor `local` with root /b\n\nbbbb",);
    assert_eq!(loaded.directory(), None);
    let roots: Vec<_> = loaded.trace().environments().iter().map(|e| e.root.clone().unwrap()).collect();
    assert_eq!(roots, [PathBuf::from("/a"), PathBuf::from("/b")]);
}

#[test]
fn d21_a_file_that_two_roots_share_is_loaded_with_the_first() {
    let fs = MemoryFs::new()
        .with_folder("/r/.git")
        .with_file("/r/AGENTS.md", "ROOT")
        .with_file("/r/a/AGENTS.md", "A")
        .with_file("/r/b/AGENTS.md", "B");
    let inputs =
        Inputs::new(vec![TurnEnvironmentSelection::new("a", "/r/a"), TurnEnvironmentSelection::new("b", "/r/b")]);
    let loaded = load(&Discovery::default(), &inputs, &fs);
    assert_eq!(contents(&loaded), ["ROOT", "A", "B"]);
    assert_eq!(loaded.trace().outcome("b", "/r/AGENTS.md"), Some(&duplicate(Some("a"), "/r/AGENTS.md")));
}

#[test]
fn d21_equal_text_in_two_environments_is_kept_for_both() {
    let fs = MemoryFs::new().with_file("/a/AGENTS.md", "SAME").with_file("/b/AGENTS.md", "SAME");
    let inputs = Inputs::new(vec![TurnEnvironmentSelection::new("a", "/a"), TurnEnvironmentSelection::new("b", "/b")]);
    assert_eq!(contents(&load(&Discovery::default(), &inputs, &fs)), ["SAME", "SAME"]);
}

#[test]
fn d23_an_untrusted_project_gives_nothing() {
    let fs = MemoryFs::new().with_file("/home/AGENTS.md", "HOME").with_file("/r/AGENTS.md", "PROJECT");
    let inputs = Inputs::local("/r").with_user(UserSource::Folder("/home".into()));
    for discovery in [Discovery::default(), Discovery::codex()] {
        let untrusted = load(&discovery, &inputs.clone().with_trust(TrustLevel::Untrusted), &fs);
        assert_eq!(untrusted.text(), "HOME");
        assert_eq!(untrusted.trace().environments()[0].notes, [Note::Untrusted]);
        assert!(fs.accesses().iter().all(|access| !access.path.starts_with("/r")));
    }
    for trust in [TrustLevel::Trusted, TrustLevel::Unknown] {
        let trusted = load(&Discovery::default(), &inputs.clone().with_trust(trust), &fs);
        assert_eq!(trusted.text(), "HOME\n\n--- project-doc ---\n\nPROJECT");
    }
}

#[test]
fn the_order_of_the_budget_does_not_change_the_order_of_the_text() {
    let fs = MemoryFs::new().with_folder("/r/.git").with_file("/r/AGENTS.md", "ROOT").with_file("/r/a/AGENTS.md", "A");
    for order in [BudgetOrder::NearestFirst, BudgetOrder::RootFirst] {
        for mut discovery in [Discovery::default(), Discovery::codex()] {
            discovery.order = order;
            assert_eq!(load(&discovery, &Inputs::local("/r/a"), &fs).text(), "ROOT\n\nA");
        }
    }
}

#[test]
fn a_relative_folder_is_refused() {
    let error = discover_blocking(&Discovery::default(), &Inputs::local("r/a"), &MemoryFs::new()).unwrap_err();
    assert_eq!(error.to_string(), "the folder r/a must be absolute (environment `local`)");
    assert!(error.is_misuse());
    let inputs = Inputs::default().with_user(UserSource::Folder("home".into()));
    let error = discover_blocking(&Discovery::default(), &inputs, &MemoryFs::new()).unwrap_err();
    assert_eq!(error.to_string(), "the folder home must be absolute");
}
