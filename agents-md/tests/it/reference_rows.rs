//! Further rows of the reference's own tests, in the codex preset.

use agents_md::{
    Discovery, Inputs, InstructionProvenance, LoadedAgentsMd, MemoryFs, Outcome, TurnEnvironmentSelection, UserSource,
    discover_blocking,
};

const GUIDANCE: &str = "Files named AGENTS.md hold for their folder.";

fn load(discovery: &Discovery, inputs: &Inputs, fs: &MemoryFs) -> LoadedAgentsMd {
    discover_blocking(discovery, inputs, fs).unwrap()
}

fn two_environments() -> Inputs {
    Inputs::new(vec![TurnEnvironmentSelection::new("primary", "/p"), TurnEnvironmentSelection::new("secondary", "/s")])
}

fn two_projects() -> MemoryFs {
    MemoryFs::new().with_folder("/p/.git").with_folder("/s/.git")
}

fn user() -> UserSource {
    UserSource::Given { text: "global doc".into(), source: Some("/home/AGENTS.md".into()) }
}

#[test]
fn only_blank_entries_are_empty() {
    let project =
        |text: &str| LoadedAgentsMd::default().with_entry(text, InstructionProvenance::project("/x", "e", "/"));
    assert!(project("").is_empty() && project(" \n\t").is_empty() && !project("x").is_empty());
    for blank in ["", " \n\t"] {
        assert_eq!(LoadedAgentsMd::from_user_text(blank), LoadedAgentsMd::default());
    }
}

#[test]
fn only_the_primary_of_two_environments_has_a_file() {
    let fs = two_projects().with_file("/p/AGENTS.md", "P");
    let loaded = load(&Discovery::codex(), &two_environments(), &fs);
    assert_eq!((loaded.text(), loaded.directory()), ("P", Some("/p")));
}

#[test]
fn invalid_utf8_in_the_secondary_environment_keeps_both_texts() {
    let fs = two_projects().with_file("/p/AGENTS.md", "P").with_file("/s/AGENTS.md", b"S\xFF");
    let text = "for `primary` with root /p\n\nP\n\nfor `secondary` with root /s\n\nS\u{FFFD}";
    assert_eq!(load(&Discovery::codex(), &two_environments(), &fs).text(), text);
    let mended = load(&Discovery::default(), &two_environments(), &fs);
    assert_eq!(mended.text(), text);
    assert!(
        mended.warnings()[0]
            .to_string()
            .starts_with("Project AGENTS.md instructions from `/s/AGENTS.md` contain invalid UTF-8")
    );
}

#[test]
fn guidance_of_the_host_comes_once_and_last_and_is_no_source() {
    let fs = two_projects().with_file("/p/AGENTS.md", "P").with_file("/s/AGENTS.md", "S");
    let inputs = two_environments().with_internal(GUIDANCE);
    let loaded = load(&Discovery::codex(), &inputs, &fs);
    assert!(loaded.text().ends_with(&format!("S\n\n{GUIDANCE}")));
    assert_eq!((loaded.text().matches(GUIDANCE).count(), loaded.sources().count()), (1, 2));
    let alone = Inputs::local("/p").with_user(user()).with_internal(GUIDANCE);
    assert_eq!(load(&Discovery::codex(), &alone, &two_projects()).text(), format!("global doc\n\n{GUIDANCE}"));
}

#[test]
fn a_file_of_exactly_the_budget_is_whole() {
    let fs = two_projects().with_file("/p/AGENTS.md", "x".repeat(1_024));
    for mut discovery in [Discovery::codex(), Discovery::default()] {
        discovery.max_bytes = 1_024;
        let loaded = load(&discovery, &Inputs::local("/p"), &fs);
        assert_eq!(loaded.trace().outcome("local", "/p/AGENTS.md"), Some(&Outcome::Loaded { bytes: 1_024 }));
    }
}

#[test]
fn a_fallback_name_that_is_given_twice_or_is_empty_is_tried_once() {
    let fs = two_projects().with_file("/p/RULES.md", "R");
    let mut discovery = Discovery::codex();
    discovery.fallback_names = ["", "RULES.md", "AGENTS.md", "RULES.md"].map(str::to_owned).to_vec();
    let loaded = load(&discovery, &Inputs::local("/p"), &fs);
    assert_eq!(loaded.text(), "R");
    let n_probed = fs.accesses().iter().filter(|access| access.path.ends_with("RULES.md")).count();
    assert_eq!(n_probed, 2, "one probe and one read");
}

#[test]
fn the_options_that_the_reference_does_not_know_change_nothing_in_its_preset() {
    let fs = two_projects().with_file("/p/AGENTS.md", "---\nglobs: x\n---\n@x.md").with_file("/p/x.md", "X");
    let mut discovery = Discovery::codex();
    discovery.imports = Some(agents_md::Imports::default());
    #[cfg(feature = "globs")]
    {
        discovery.scoping = agents_md::Scoping::FrontMatter;
    }
    assert_eq!(load(&discovery, &Inputs::local("/p"), &fs).text(), "---\nglobs: x\n---\n@x.md");
}
