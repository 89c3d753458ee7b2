//! The command as its users run it: a real process on real folders.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on may panic")]

mod bad_input;
mod foreign;
mod inspect;
mod instructions;
mod outside;
mod prompt_input;
mod setup;
mod tools;

/// A file that is not listed above would never run.
#[test]
fn every_file_here_is_listed() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it");
    let listed = include_str!("main.rs");
    for entry in std::fs::read_dir(folder).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        let Some(module) = name.strip_suffix(".rs") else { continue };
        assert!(module == "main" || listed.contains(&format!("mod {module};")), "{name} is not listed in main.rs");
    }
}
