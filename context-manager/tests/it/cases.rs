//! Every case row has a test, and every test file is run.

use std::path::{Path, PathBuf};

/// The rows of public bug reports that this crate answers for.
const ROWS: [&str; 29] = [
    "N1", "N2", "N3", "N6", "N7", "N8", "N10", "N12", "N14", "N15", "N17", "N18", "N19", "N21", "N22", "N23", "N26",
    "N27", "N28", "N29", "N30", "T1", "T2", "T4", "T5", "T7", "T12", "T14", "W9",
];

#[expect(clippy::disallowed_methods, reason = "the test reads the sources of this crate's tests")]
fn sources() -> Vec<(String, String)> {
    let folder: PathBuf = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it");
    let mut sources = Vec::new();
    for entry in std::fs::read_dir(folder).expect("the folder of the tests is there") {
        let path = entry.expect("the folder can be listed").path();
        if path.extension().is_none_or(|extension| extension != "rs") {
            continue;
        }
        let name = path.file_stem().expect("a file has a name").to_string_lossy().into_owned();
        sources.push((name, std::fs::read_to_string(&path).expect("a test file can be read")));
    }
    sources
}

#[test]
fn every_case_row_has_a_test() {
    let sources = sources();
    for row in ROWS {
        let (letter, number) = row.split_at(1);
        let start = format!("fn {}{number:0>2}_", letter.to_ascii_lowercase());
        assert!(sources.iter().any(|(_, source)| source.contains(&start)), "no test starts with `{start}`");
    }
}

#[test]
fn every_file_is_listed() {
    let sources = sources();
    let main = &sources.iter().find(|(name, _)| name == "main").expect("main.rs is there").1;
    for (name, _) in sources.iter().filter(|(name, _)| name != "main") {
        assert!(main.contains(&format!("mod {name};")), "{name}.rs is not listed in main.rs");
    }
}
