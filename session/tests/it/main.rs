//! The tests of `session`, one module per subject.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on may panic")]

mod agent;
mod ahead;
mod auto_traits;
mod blobs;
mod changes;
mod child;
mod compaction;
mod construction;
mod codex;
mod cut_short;
mod damage;
mod degraded;
mod failures;
mod faults;
mod foreign;
mod format;
mod forward;
mod handle;
mod hostile;
mod kills;
mod laws;
mod life;
mod live_laws;
mod live_process;
mod misuse;
mod nested;
mod process;
mod reconstruction;
mod records;
mod redaction;
mod replay;
mod resume;
mod sample;
mod stage;
#[cfg(feature = "conformance")]
mod store;
mod tail;
mod tail_resume;
mod tools;
mod turns;
mod writer;

/// A file that is not listed above would never run.
#[test]
fn every_file_here_is_listed() {
    let listed = include_str!("main.rs");
    for (name, _) in sources() {
        let module = name.strip_suffix(".rs").unwrap();
        assert!(module == "main" || listed.contains(&format!("mod {module};")), "{name} is not listed in main.rs");
    }
}

/// The cases that this crate owns. Each has a test whose name starts with its id.
const CASES: &[&str] = &[
    "b12", "b15", "b17", "s01", "s03", "s05", "s06", "s08", "s10", "s11", "s13", "s14", "s15", "s16", "s18", "s20",
    "s22", "t09", "t10", "t11", "t12", "t14",
];

#[test]
fn every_case_row_has_a_test() {
    let sources: String = sources().into_iter().map(|(_, text)| text).collect();
    for case in CASES {
        assert!(sources.contains(&format!("fn {case}_")), "{case} has no test");
    }
}

fn sources() -> Vec<(String, String)> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it");
    let files = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let read = |path: std::path::PathBuf| {
        let text = std::io::read_to_string(std::fs::File::open(&path).unwrap()).unwrap();
        (path.file_name().unwrap().to_str().unwrap().to_owned(), text)
    };
    files.filter(|path| path.extension().is_some_and(|extension| extension == "rs")).map(read).collect()
}
