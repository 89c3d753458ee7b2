//! The tests of `world-state`, one module per subject.
#![expect(clippy::unwrap_used, reason = "in a test, a panic with the error is the report")]

mod agents_md;
mod allocation;
mod auto_traits;
mod collaboration_mode;
mod dependencies;
mod environments;
mod errors;
mod extension;
mod hash;
mod initial;
mod laws;
mod line_deltas;
mod logs;
mod model;
mod patch;
mod permissions;
mod snapshot;
mod tools;
mod transitions;
mod updates;
mod world;

use context_fragments::{Kind, RetainedKinds};
use serde_json::Value;
use world_state::{WorldState, WorldStateDiff, WorldStateSection, WorldStateSnapshot};

/// The ids of the case rows that this crate owns.
const CASE_ROWS: [&str; 6] = ["w01", "w02", "w03", "w04", "w06", "w07"];

/// A row of the case table without a test would never be looked at again.
#[test]
#[expect(clippy::disallowed_methods, reason = "the test sources are small and ours")]
fn every_case_row_has_a_test() {
    let sources: Vec<String> = files().map(|path| std::fs::read_to_string(path).unwrap()).collect();
    for row in CASE_ROWS {
        let start = format!("fn {row}_");
        let is_tested = sources.iter().any(|source| {
            let lines: Vec<&str> = source.lines().map(str::trim).collect();
            lines.windows(2).any(|pair| pair[0] == "#[test]" && pair[1].starts_with(&start))
        });
        assert!(is_tested, "no test is named after the row {row}");
    }
}

/// A file that is not listed above would never run.
#[test]
fn every_file_here_is_listed() {
    let listed = include_str!("main.rs");
    for path in files() {
        let module = path.file_stem().unwrap().to_str().unwrap().to_owned();
        assert!(module == "main" || listed.contains(&format!("mod {module};")), "{module} is not listed in main.rs");
    }
}

fn files() -> impl Iterator<Item = std::path::PathBuf> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it");
    std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "rs"))
}

/// A state as a log would hold it.
#[track_caller]
fn stored(state: Value) -> WorldStateSnapshot {
    serde_json::from_value(state).unwrap()
}

/// The same state, read anew: without the typed forms that a live one keeps.
#[track_caller]
fn resumed(snapshot: &WorldStateSnapshot) -> WorldStateSnapshot {
    serde_json::from_str(&serde_json::to_string(snapshot).unwrap()).unwrap()
}

#[track_caller]
fn world_of(section: impl WorldStateSection) -> WorldState {
    let mut world = WorldState::new();
    world.set(section).unwrap();
    world
}

/// What is said, with the section that says it.
fn said(diff: &WorldStateDiff) -> Vec<(&str, &str)> {
    diff.updates.iter().map(|update| (update.section(), update.text().unwrap_or("an item"))).collect()
}

fn history(kinds: &[Kind]) -> RetainedKinds {
    kinds.iter().collect()
}
