//! No test file is forgotten, and no case row is without a test.

use std::{fs, path::PathBuf};

/// The case rows that this crate owns.
const CASE_ROWS: &[&str] = &[
    "d01", "d02", "d03", "d05", "d06", "d08", "d09", "d10", "d11", "d14", "d15", "d16", "d17", "d19", "d20", "d21",
    "d23", "b01", "b03", "b04", "b05", "b06", "b07", "b09", "b10", "b11", "b12", "b14", "b15", "b18", "b20",
];

fn test_files() -> Vec<(String, String)> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/it");
    fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "rs"))
        .map(|path| (path.file_stem().unwrap().to_string_lossy().into_owned(), read(&path)))
        .collect()
}

#[expect(clippy::disallowed_methods, reason = "a test reads its own sources")]
fn read(path: &std::path::Path) -> String {
    fs::read_to_string(path).unwrap()
}

#[test]
fn every_test_file_is_listed() {
    let files = test_files();
    let (_, main) = files.iter().find(|(name, _)| name == "main").unwrap();
    for (name, _) in files.iter().filter(|(name, _)| name != "main") {
        assert!(main.contains(&format!("mod {name};")), "tests/it/{name}.rs is not listed in main.rs");
    }
}

#[test]
fn every_case_row_has_a_test() {
    let files = test_files();
    for row in CASE_ROWS {
        let start = format!("fn {row}_");
        let is_tested = files.iter().any(|(_, source)| {
            let lines: Vec<&str> = source.lines().map(str::trim).collect();
            lines.windows(2).any(|pair| pair[0].ends_with("test]") && pair[1].contains(&start))
        });
        assert!(is_tested, "no test starts with {row}_");
    }
}

#[test]
fn the_page_on_freshness_names_tests_that_there_are() {
    let page = include_str!("../../../docs/freshness.md");
    let files = test_files();
    let named: Vec<&str> =
        page.split('`').filter(|word| word.contains('_') && word.len() > 20 && !word.contains(' ')).collect();
    assert!(named.len() > 10);
    for name in named {
        assert!(files.iter().any(|(_, source)| source.contains(&format!("fn {name}("))), "there is no test {name}");
    }
}
