//! Files of folders that tools reach.

use agents_md::{
    Discovery, Inputs, LoadedAgentsMd, Locus, MemoryFs, NestedLoaded, NestedTargets, Note, Outcome, TrustLevel,
    TurnEnvironmentSelection, discover_blocking, load_nested_blocking,
};
use context_fragments::ContextualUserFragment as _;

fn tree() -> MemoryFs {
    MemoryFs::new()
        .with_folder("/r/.git")
        .with_file("/r/AGENTS.md", "ROOT")
        .with_file("/r/a/AGENTS.md", "A")
        .with_file("/r/a/b/AGENTS.override.md", "B")
        .with_file("/r/a/b/AGENTS.md", "HIDDEN")
        .with_file("/r/c/AGENTS.md", "C")
        .with_file("/elsewhere/AGENTS.md", "E")
}

fn startup(discovery: &Discovery, inputs: &Inputs, fs: &MemoryFs) -> LoadedAgentsMd {
    discover_blocking(discovery, inputs, fs).unwrap()
}

fn nested(inputs: &Inputs, targets: &NestedTargets, fs: &MemoryFs) -> NestedLoaded {
    let discovery = Discovery::default();
    load_nested_blocking(&discovery, inputs, &startup(&discovery, inputs, fs), targets, fs).unwrap()
}

fn contents(nested: &NestedLoaded) -> Vec<&str> {
    nested.entries().iter().map(|entry| entry.contents()).collect()
}

fn touched(files: &[&str]) -> NestedTargets {
    let mut targets = NestedTargets::new();
    for file in files {
        targets.touch("local", file);
    }
    targets
}

#[test]
fn files_on_the_way_to_what_was_touched_are_read_and_their_siblings_never() {
    let fs = tree();
    let loaded = nested(&Inputs::local("/r"), &touched(&["/r/a/b/x.rs"]), &fs);
    assert_eq!(contents(&loaded), ["A", "B"]);
    let outcome = loaded.trace().outcome("local", "/r/a/b/AGENTS.md");
    assert_eq!(outcome, Some(&Outcome::Shadowed { by: "/r/a/b/AGENTS.override.md".into() }));
    assert!(fs.accesses().iter().all(|access| !access.path.starts_with("/r/c")), "{:?}", fs.accesses());
}

#[test]
fn what_the_start_has_searched_or_lies_outside_the_root_is_no_target() {
    let files = ["/r/x.rs", "/r/a/x.rs", "/elsewhere/x.rs", "/r/a/../../elsewhere/y.rs", "relative.rs"];
    let loaded = nested(&Inputs::local("/r/a"), &touched(&files), &tree());
    assert!(contents(&loaded).is_empty() && loaded.trace().rows().is_empty());
    let beside = nested(&Inputs::local("/r/a"), &touched(&["/r/c/x.rs"]), &tree());
    assert_eq!(contents(&beside), ["C"], "a folder beside the working folder is below the root");
    let mut other = NestedTargets::new();
    other.touch("other", "/r/c/x.rs");
    assert!(contents(&nested(&Inputs::local("/r/a"), &other, &tree())).is_empty());
}

#[test]
fn each_file_is_shown_once_in_a_window() {
    let (fs, inputs) = (tree(), Inputs::local("/r"));
    let mut targets = NestedTargets::new();
    assert!(targets.touch("local", "/r/a/x.rs"));
    assert!(!targets.touch("local", "/r/a/y.rs"), "the same folder");
    let revision = targets.revision();
    let shown = |targets: &mut NestedTargets| {
        let loaded = nested(&inputs, targets, &fs);
        let new = targets.take_new(&loaded);
        NestedLoaded::fragments(&new).map(|fragment| fragment.render().unwrap().text().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(shown(&mut targets), ["# Nested AGENTS.md instructions for /r/a\n\n<INSTRUCTIONS>\nA\n</INSTRUCTIONS>"]);
    assert!(shown(&mut targets).is_empty());
    assert!(targets.touch("local", "/r/a/b/x.rs") && targets.revision() > revision);
    assert_eq!(shown(&mut targets).len(), 1, "only the deeper one is new");
    targets.begin_window();
    assert_eq!(shown(&mut targets).len(), 2);
}

#[test]
fn on_resume_targets_come_back_and_contents_are_read_again() {
    let mut targets = touched(&["/r/a/x.rs"]);
    let inputs = Inputs::local("/r");
    drop(targets.take_new(&nested(&inputs, &targets, &tree())));
    let written = serde_json::to_string(&targets).unwrap();
    assert_eq!(written, r#"{"targets":[["local","/r/a"]],"shown":[["local","/r/a/AGENTS.md"]]}"#);
    let mut resumed: NestedTargets = serde_json::from_str(&written).unwrap();
    assert_eq!(resumed.targets().collect::<Vec<_>>(), targets.targets().collect::<Vec<_>>());
    let edited = MemoryFs::new().with_folder("/r/.git").with_file("/r/a/AGENTS.md", "EDITED");
    let loaded = nested(&inputs, &resumed, &edited);
    assert_eq!(contents(&loaded), ["EDITED"]);
    assert!(resumed.take_new(&loaded).is_empty(), "the window still holds it; the next one gets the new text");
    resumed.begin_window();
    assert_eq!(resumed.take_new(&loaded).len(), 1);
}

#[test]
fn the_budget_is_what_the_start_has_left() {
    let (fs, inputs) = (tree(), Inputs::local("/r"));
    let mut discovery = Discovery::default();
    let with = |max_bytes, mut discovery: Discovery| {
        discovery.max_bytes = max_bytes;
        let startup = startup(&discovery, &inputs, &fs);
        load_nested_blocking(&discovery, &inputs, &startup, &touched(&["/r/a/b/x"]), &fs).unwrap()
    };
    // Four bytes are the root's.
    assert_eq!(contents(&with(5, discovery.clone())), ["B"], "the nearest first");
    assert_eq!(contents(&with(6, discovery.clone())), ["A", "B"]);
    let spent = with(4, discovery.clone());
    assert!(contents(&spent).is_empty() && spent.trace().rows().is_empty());
    assert_eq!(spent.trace().environments()[0].notes, [Note::BudgetSpent]);
    discovery = Discovery::codex();
    assert_eq!(contents(&with(5, discovery.clone())), ["A"], "the broadest first");
    assert_eq!(with(4, discovery).trace().environments()[0].notes, [Note::BudgetSpent]);
}

#[test]
fn an_untrusted_project_keeps_its_targets_and_shows_nothing() {
    let fs = tree();
    let targets = touched(&["/r/a/x.rs"]);
    let untrusted = Inputs::local("/r").with_trust(TrustLevel::Untrusted);
    assert!(contents(&nested(&untrusted, &targets, &fs)).is_empty());
    assert!(fs.accesses().is_empty());
    assert_eq!(contents(&nested(&Inputs::local("/r"), &targets, &fs)), ["A"], "trusted again, it is there");
}

#[test]
fn a_nested_file_that_is_loaded_already_is_a_duplicate() {
    let fs = tree().with_link("/r/c/d/AGENTS.md", "/r/AGENTS.md").with_file("/r/c/d/x", "");
    let loaded = nested(&Inputs::local("/r"), &touched(&["/r/c/d/x"]), &fs);
    assert_eq!(contents(&loaded), ["C"]);
    let of = Locus { environment: Some("local".into()), path: "/r/AGENTS.md".into() };
    assert_eq!(loaded.trace().outcome("local", "/r/c/d/AGENTS.md"), Some(&Outcome::Duplicate { of }));
}

#[test]
fn a_restricted_environment_says_so_in_the_words_of_its_preset() {
    let fs = tree().failing_read("/r/a/AGENTS.md", std::io::ErrorKind::PermissionDenied);
    let inputs = Inputs::new(vec![TurnEnvironmentSelection::new("local", "/r").restricted()]);
    let of = |discovery: Discovery| {
        let startup = startup(&discovery, &inputs, &fs);
        load_nested_blocking(&discovery, &inputs, &startup, &touched(&["/r/a/x"]), &fs).unwrap_err().to_string()
    };
    assert_eq!(of(Discovery::default()), "could not read /r/a/AGENTS.md (environment `local`)");
    assert_eq!(
        of(Discovery::codex()),
        "failed to load AGENTS.md instructions for environment `local`: permission denied"
    );
    let full = Inputs::local("/r");
    assert!(contents(&nested(&full, &touched(&["/r/a/x"]), &fs)).is_empty(), "elsewhere it is skipped");
}

#[cfg(feature = "tokio")]
#[tokio::test]
async fn a_manager_reads_nested_files_with_the_rules_and_the_disk_it_has() {
    let selections: std::sync::Arc<[_]> = std::sync::Arc::new([TurnEnvironmentSelection::new("local", "/r")]);
    let manager = agents_md::AgentsMdManager::on_blocking(Discovery::default(), std::sync::Arc::new(tree()));
    let startup = manager.refresh(&selections, TrustLevel::Trusted).await.unwrap().loaded;
    let targets = touched(&["/r/c/x"]);
    let loaded = manager.load_nested(&startup, &selections, TrustLevel::Trusted, &targets).await.unwrap();
    assert_eq!(contents(&loaded), ["C"]);
    let (discovery, inputs, fs) = (Discovery::default(), Inputs::local("/r"), tree());
    let remote = agents_md::load_nested(&discovery, &inputs, &startup, &targets, &fs).await.unwrap();
    assert_eq!(contents(&remote), contents(&loaded));
}
