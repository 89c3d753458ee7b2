//! What the crate brings into the program of whoever takes it alone.
#![expect(clippy::disallowed_methods, reason = "the manifests and the lock file are ours")]

use std::collections::{BTreeMap, BTreeSet};
use std::fs::read_to_string;
use std::path::Path;

/// Crates that run tasks, or reach files, sockets and clocks.
const RUNTIMES_AND_FILES: [&str; 16] = [
    "async-std",
    "futures",
    "futures-util",
    "ignore",
    "jiff",
    "mio",
    "notify",
    "polling",
    "reqwest",
    "rustix",
    "smol",
    "socket2",
    "tempfile",
    "time",
    "tokio",
    "walkdir",
];

/// The names below `[dependencies]` of a manifest of this workspace.
fn dependencies_of(manifest: &Path) -> Vec<String> {
    let text = read_to_string(manifest).unwrap();
    let lines = text.lines().skip_while(|line| *line != "[dependencies]").skip(1);
    let lines = lines.take_while(|line| !line.starts_with('['));
    let name = |line: &str| line.split(['.', ' ', '=']).next().unwrap_or_default().to_owned();
    lines.filter(|line| line.starts_with(|first: char| first.is_ascii_alphabetic())).map(name).collect()
}

/// The dependencies of each crate of the lock file; of a crate of the registry it holds no others than normal ones.
fn locked(lock: &str) -> BTreeMap<String, Vec<String>> {
    let quoted =
        |line: &str| line.split('"').nth(1).and_then(|text| text.split(' ').next()).unwrap_or_default().to_owned();
    let package = |text: &str| {
        let name = text.lines().find(|line| line.starts_with("name = ")).map(quoted).unwrap_or_default();
        (name, text.lines().filter(|line| line.starts_with(" \"")).map(quoted).collect())
    };
    let mut all: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for (name, dependencies) in lock.split("[[package]]").skip(1).map(package) {
        let known: &mut Vec<String> = all.entry(name).or_default();
        known.extend::<Vec<String>>(dependencies);
    }
    all
}

#[test]
fn no_runtime_and_no_file_system_comes_with_it() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let locked = locked(&read_to_string(root.join("Cargo.lock")).unwrap());
    let mut open = dependencies_of(&root.join("world-state/Cargo.toml"));
    assert!(open.contains(&"context-fragments".to_owned()), "{open:?}");
    let mut found = BTreeSet::new();
    while let Some(name) = open.pop() {
        if found.insert(name.clone()) {
            let manifest = root.join(&name).join("Cargo.toml");
            open.extend(if manifest.exists() { dependencies_of(&manifest) } else { locked[&name].clone() });
        }
    }
    assert!(found.contains("serde_json") && found.contains("sha1"), "the walk finds what is there: {found:?}");
    let unwanted: Vec<&str> = RUNTIMES_AND_FILES.into_iter().filter(|name| found.contains(*name)).collect();
    assert_eq!(unwanted, [""; 0]);
}

#[test]
fn no_source_reaches_for_the_world_by_itself() {
    let mut folders = vec![Path::new(env!("CARGO_MANIFEST_DIR")).join("src")];
    let mut n_files = 0;
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            n_files += 1;
            let source = read_to_string(&path).unwrap();
            for module in ["fs", "net", "env", "process", "thread", "time", "io"] {
                let is_used =
                    source.contains(&format!("std::{module}::")) || source.contains(&format!("std::{module};"));
                assert!(!is_used, "{}: std::{module}", path.display());
            }
        }
    }
    assert!(n_files > 40, "{n_files} files were read");
}
