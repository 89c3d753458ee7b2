//! All instructions together fit the bound of one message, and each cut is told.

use std::path::Path;

use agents_md::{
    Budget, BudgetOrder, Discovery, FileBytes, FileKind, FileSystem, Found, Inputs, LoadedAgentsMd, MemoryFs, Outcome,
    ProbeAnswer, ProbeAsk, ReadAnswer, ReadAsk, ThreadInstructions, TurnEnvironmentSelection, UserSource,
    discover_blocking,
};
use context_fragments::{Bound, ContextualUserFragment as _, UserInstructions};

const NOTICE: &str = "These AGENTS.md instructions replace all previously provided AGENTS.md instructions.\n\n";

/// Rendering cuts nothing, also with the sentence before the text that a replacement has.
#[track_caller]
fn check_fits(loaded: &LoadedAgentsMd) -> usize {
    let fragment = loaded.fragment().unwrap();
    let rendered = fragment.render().unwrap();
    assert_eq!(rendered.report().cut, None);
    let replacement = UserInstructions::new(fragment.directory.clone(), format!("{NOTICE}{}", fragment.text));
    let replacement = replacement.render().unwrap();
    assert_eq!(replacement.report().cut, None);
    assert!(replacement.text().len() <= Bound::FRAGMENT.max_bytes());
    rendered.text().len()
}

fn lines(name: &str, bytes: usize) -> String {
    let line = format!("{name:-<31}\n");
    line.repeat(bytes / 32)
}

fn given(text: String) -> UserSource {
    UserSource::Given { text: text.into(), source: None }
}

fn load(inputs: &Inputs, fs: &MemoryFs) -> LoadedAgentsMd {
    discover_blocking(&Discovery::default(), inputs, fs).unwrap()
}

fn user_row(loaded: &LoadedAgentsMd) -> &Outcome {
    &loaded.trace().rows().iter().find(|row| row.scope == agents_md::Scope::User).unwrap().outcome
}

#[test]
fn the_user_is_cut_before_the_project() {
    let fs = MemoryFs::new().with_file("/r/AGENTS.md", lines("project", 32_000));
    let loaded = load(&Inputs::local("/r").with_user(given(lines("user", 32_000))), &fs);
    let size = check_fits(&loaded);
    assert!(size > 39_000, "{size}");
    assert_eq!(loaded.trace().outcome("local", "/r/AGENTS.md"), Some(&Outcome::Loaded { bytes: 32_000 }));
    let Outcome::Cut { kept, of: 32_000, budget: Budget::Fragment } = user_row(&loaded) else {
        panic!("{:?}", user_row(&loaded));
    };
    assert_eq!(kept % 32, 0);
    assert_eq!(loaded.warnings().len(), 1);
}

#[test]
fn a_thread_at_its_limit_leaves_no_room() {
    let fs = MemoryFs::new()
        .with_folder("/r/.git")
        .with_file("/r/AGENTS.md", lines("root", 1_000))
        .with_file("/r/a/AGENTS.md", lines("nested", 1_000));
    let thread = ThreadInstructions::new(lines("thread", 40_000)).unwrap();
    let loaded = load(&Inputs::local("/r/a").with_user(given("user".into())).with_thread(thread), &fs);
    check_fits(&loaded);
    assert_eq!(user_row(&loaded), &Outcome::DroppedByBudget { of: 4, budget: Budget::Fragment });
    for path in ["/r/AGENTS.md", "/r/a/AGENTS.md"] {
        let want = Outcome::DroppedByBudget { of: 992, budget: Budget::Fragment };
        assert_eq!(loaded.trace().outcome("local", path), Some(&want));
    }
    let Some(Outcome::Cut { kept, of: 40_000, .. }) = loaded.trace().thread_outcome() else {
        panic!("{:?}", loaded.trace().thread_outcome());
    };
    assert!(*kept > 39_000);
    assert!(loaded.text().starts_with("[AGENTS.md: the user instructions (4 bytes) is left out, it did not fit]\n\n"));
    assert!(
        loaded.text().ends_with("[AGENTS.md: /r/AGENTS.md and 1 more (1984 bytes) are left out, they did not fit]")
    );
    assert_eq!((loaded.entries().len(), loaded.directory()), (0, None));
}

#[test]
fn closing_texts_that_rendering_makes_longer_are_counted() {
    let fs = MemoryFs::new().with_file("/r/AGENTS.md", "</INSTRUCTIONS>\n".repeat(2_000));
    let loaded = load(&Inputs::local("/r").with_user(given("</instructions>\n".repeat(2_000))), &fs);
    // Each byte that is cut takes some of the growth with it, so a little more is cut than must be.
    let size = check_fits(&loaded);
    assert!(size > 38_000, "{size}");
}

#[test]
fn several_environments_share_the_message() {
    let fs = MemoryFs::new()
        .with_folder("/a/.git")
        .with_file("/a/AGENTS.md", lines("a root", 16_000))
        .with_file("/a/x/AGENTS.md", lines("a nested", 16_000))
        .with_folder("/b/.git")
        .with_file("/b/AGENTS.md", lines("b root", 16_000))
        .with_file("/b/x/AGENTS.md", lines("b nested", 16_000));
    let selections = vec![TurnEnvironmentSelection::new("a", "/a/x"), TurnEnvironmentSelection::new("b", "/b/x")];
    let loaded = load(&Inputs::new(selections.clone()), &fs);
    check_fits(&loaded);
    let name = |environment, path| loaded.trace().outcome(environment, path).unwrap().name();
    // The later environment's root goes first, then the first one's; what is near stays.
    assert_eq!(name("b", "/b/AGENTS.md"), "dropped_by_budget");
    assert_eq!(name("a", "/a/AGENTS.md"), "cut");
    assert_eq!((name("a", "/a/x/AGENTS.md"), name("b", "/b/x/AGENTS.md")), ("loaded", "loaded"));

    let mut discovery = Discovery::default();
    discovery.order = BudgetOrder::RootFirst;
    let loaded = discover_blocking(&discovery, &Inputs::new(selections), &fs).unwrap();
    check_fits(&loaded);
    let name = |environment, path| loaded.trace().outcome(environment, path).unwrap().name();
    assert_eq!(name("b", "/b/x/AGENTS.md"), "dropped_by_budget");
    assert_eq!(name("a", "/a/x/AGENTS.md"), "cut");
    assert_eq!((name("a", "/a/AGENTS.md"), name("b", "/b/AGENTS.md")), ("loaded", "loaded"));
}

#[test]
fn labels_cannot_take_the_room_of_the_text() {
    let mut fs = MemoryFs::new();
    let mut selections = Vec::new();
    for index in 0..40 {
        let cwd = format!("/{index}{}", "long\nname".repeat(300));
        fs = fs.with_file(format!("{cwd}/AGENTS.md"), format!("text {index}"));
        selections.push(TurnEnvironmentSelection::new("id".repeat(2_000), cwd));
    }
    let loaded = load(&Inputs::new(selections), &fs);
    check_fits(&loaded);
    let contents: usize = loaded.entries().iter().map(|entry| entry.contents().len()).sum();
    assert!(loaded.text().len() - contents <= 4_096, "{}", loaded.text().len());
    assert!(loaded.entries().iter().any(|entry| entry.contents() == "text 0"));
    assert!(!loaded.text().contains("long\nname"));
}

/// A disk on which every folder holds a small `AGENTS.md` and nothing else.
struct EveryFolder;

impl FileSystem for EveryFolder {
    type Handle = ();

    fn probe(&self, ask: &ProbeAsk) -> (ProbeAnswer, Option<()>) {
        let is_there = ask.path().ends_with("AGENTS.md") || ask.path() == Path::new("/.git");
        let found = Found::new(FileKind::File, 8);
        (if is_there { ProbeAnswer::Found(found) } else { ProbeAnswer::Absent }, None)
    }

    fn read(&self, ask: &ReadAsk, _: Option<()>) -> ReadAnswer {
        let depth = ask.path().as_os_str().len() / 2;
        ReadAnswer::Bytes(FileBytes::whole(format!("{depth:08}").into_bytes()))
    }
}

#[test]
fn many_small_files_cannot_fill_the_message_with_separators() {
    const DEPTH: usize = 2_500;
    let inputs = Inputs::local("/d".repeat(DEPTH));
    let loaded = discover_blocking(&Discovery::default(), &inputs, &EveryFolder).unwrap();
    check_fits(&loaded);
    assert!(loaded.text().ends_with("\n\n00002504\n\n00002505"));
    let n_loaded = loaded.entries().len();
    assert!((1_500..2_048).contains(&n_loaded), "{n_loaded}");
    let rows = loaded.trace().rows().iter();
    let told = rows.filter(|row| row.outcome.is_loaded() || row.outcome.name() == "dropped_by_budget").count();
    assert_eq!(told, DEPTH + 1);
}

#[test]
fn the_hosts_own_text_is_fitted_too() {
    let inputs = Inputs::local("/r").with_internal("guide\n".repeat(10_000));
    let loaded = load(&inputs, &MemoryFs::new().with_file("/r/AGENTS.md", "P"));
    check_fits(&loaded);
    assert!(loaded.text().contains("bytes of the host's instructions are shown"));
}
