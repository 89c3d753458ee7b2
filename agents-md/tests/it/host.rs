//! The disk of this machine.

use std::{
    fs,
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use agents_md::{
    Budget, Discovery, FileKind, HostFs, Inputs, LoadedAgentsMd, Outcome, SymlinkPolicy, UserSource, discover_blocking,
};
use tempfile::TempDir;

fn load(discovery: &Discovery, cwd: &Path) -> LoadedAgentsMd {
    discover_blocking(discovery, &Inputs::local(cwd), &HostFs::new()).unwrap()
}

/// A project with a `.git` folder and these files.
fn project(files: &[(&str, &[u8])]) -> TempDir {
    let root = tempfile::tempdir().unwrap();
    fs::create_dir(root.path().join(".git")).unwrap();
    for (name, bytes) in files {
        let path = root.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    }
    root
}

#[track_caller]
fn check(loaded: &LoadedAgentsMd, path: impl AsRef<Path>, want: &Outcome) {
    assert_eq!(loaded.trace().outcome("local", path), Some(want));
}

#[test]
fn files_are_found_from_the_root_down() {
    let root = project(&[("AGENTS.md", b"ROOT"), ("a/b/AGENTS.override.md", b"B"), ("a/b/AGENTS.md", b"PLAIN")]);
    for discovery in [Discovery::default(), Discovery::codex()] {
        let loaded = load(&discovery, &root.path().join("a/b"));
        assert_eq!(loaded.text(), "ROOT\n\nB");
        check(&loaded, root.path().join("a/AGENTS.md"), &Outcome::Absent);
    }
}

#[test]
fn b05_a_sparse_file_of_5_gib_is_read_to_its_limit_only() {
    let root = project(&[]);
    let path = root.path().join("AGENTS.md");
    fs::File::create(&path).unwrap().set_len(5 << 30).unwrap();
    let start = Instant::now();
    let loaded = load(&Discovery::default(), root.path());
    assert!(start.elapsed() < Duration::from_secs(5), "{:?}", start.elapsed());
    check(&loaded, &path, &Outcome::Cut { kept: 32_768, of: 5 << 30, budget: Budget::Project });
    let mut small = Discovery::default();
    small.max_bytes = 100;
    let allocations = allocation_counter::measure(|| {
        load(&small, root.path());
    });
    assert!(allocations.bytes_max < 64 << 10, "{allocations:?}");
}

#[cfg(unix)]
#[test]
fn d16_a_pipe_without_a_writer_or_an_endless_device_does_not_hang() {
    use std::os::unix::fs::symlink;
    let root = project(&[("RULES.md", b"FALLBACK")]);
    let pipe = root.path().join("AGENTS.override.md");
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    symlink("/dev/zero", root.path().join("AGENTS.md")).unwrap();
    let (done, wait) = std::sync::mpsc::channel();
    let cwd = root.path().to_owned();
    let thread = std::thread::spawn(move || {
        let results = [Discovery::default(), Discovery::codex()].map(|mut discovery| {
            discovery.fallback_names.push("RULES.md".into());
            load(&discovery, &cwd)
        });
        done.send(results).unwrap();
    });
    let results = wait.recv_timeout(Duration::from_secs(20)).expect("a pipe or a device is not waited for");
    thread.join().unwrap();
    for loaded in results {
        assert_eq!(loaded.text(), "FALLBACK");
        check(&loaded, &pipe, &Outcome::NotAFile { found: FileKind::Other });
        check(&loaded, root.path().join("AGENTS.md"), &Outcome::NotAFile { found: FileKind::Other });
    }
}

#[cfg(unix)]
#[test]
fn d17_links_by_policy_on_a_disk() {
    use std::os::unix::fs::symlink;
    let outside = tempfile::tempdir().unwrap();
    fs::write(outside.path().join("secret"), "SECRET").unwrap();
    let root = project(&[("docs/rules.md", b"INSIDE"), ("a/x", b"")]);
    symlink(outside.path().join("secret"), root.path().join("AGENTS.md")).unwrap();
    symlink("../docs/rules.md", root.path().join("a/AGENTS.md")).unwrap();
    let load_with = |symlinks| {
        let mut discovery = Discovery::default();
        discovery.symlinks = symlinks;
        load(&discovery, &root.path().join("a"))
    };
    assert_eq!(load_with(SymlinkPolicy::Follow).text(), "SECRET\n\nINSIDE");
    let loaded = load_with(SymlinkPolicy::WithinRoot);
    assert_eq!(loaded.text(), "INSIDE");
    let target = outside.path().join("secret").canonicalize().unwrap();
    check(&loaded, root.path().join("AGENTS.md"), &Outcome::OutsideRoot { target });
    let loaded = load_with(SymlinkPolicy::Reject);
    assert!(loaded.is_empty());
    check(&loaded, root.path().join("a/AGENTS.md"), &Outcome::SymlinkRejected);
}

#[cfg(unix)]
#[test]
fn d10_hard_and_soft_links_to_one_file_are_one_file() {
    use std::os::unix::fs::symlink;
    let root = project(&[("AGENTS.md", b"RULES"), ("a/b/x", b"")]);
    symlink("../AGENTS.md", root.path().join("a/AGENTS.md")).unwrap();
    fs::hard_link(root.path().join("AGENTS.md"), root.path().join("a/b/AGENTS.md")).unwrap();
    let loaded = load(&Discovery::default(), &root.path().join("a/b"));
    assert_eq!(loaded.text(), "RULES");
    check(&loaded, root.path().join("a/b/AGENTS.md"), &Outcome::Loaded { bytes: 5 });

    let inputs = Inputs::local(root.path()).with_user(UserSource::Folder(root.path().to_owned()));
    let loaded = discover_blocking(&Discovery::default(), &inputs, &HostFs::new()).unwrap();
    assert_eq!((loaded.user_text(), loaded.entries().len()), (Some("RULES"), 0));
}

#[cfg(unix)]
#[test]
fn paths_that_are_not_utf8_work() {
    use std::{ffi::OsStr, os::unix::ffi::OsStrExt as _};
    let root = project(&[("AGENTS.md", b"ROOT")]);
    let cwd = root.path().join(OsStr::from_bytes(b"caf\xE9"));
    fs::create_dir(&cwd).unwrap();
    fs::write(cwd.join("AGENTS.md"), "NESTED").unwrap();
    let loaded = load(&Discovery::default(), &cwd);
    assert_eq!(loaded.text(), "ROOT\n\nNESTED");
    assert!(loaded.sources().any(|path| path == cwd.join("AGENTS.md")));
    let want = format!("{}/caf\u{FFFD}", root.path().display());
    assert_eq!(loaded.directory(), Some(want.as_str()));
    let json = serde_json::to_string(loaded.trace()).unwrap();
    assert!(json.contains("caf\u{FFFD}/AGENTS.md"));
}

#[cfg(target_os = "linux")]
#[test]
fn a_file_whose_size_the_kernel_does_not_say_is_read() {
    use std::os::unix::fs::symlink;
    let root = project(&[]);
    symlink("/proc/self/status", root.path().join("AGENTS.md")).unwrap();
    let loaded = load(&Discovery::default(), root.path());
    assert!(loaded.text().starts_with("Name:"), "{}", loaded.text());
    assert!(loaded.text().contains("nonvoluntary_ctxt_switches"));
}

#[test]
fn sizes_around_the_limit_are_read_exactly() {
    let mut discovery = Discovery::default();
    discovery.max_bytes = 1_000;
    for size in [1, 999, 1_000, 1_001, 1_003, 1_004, 1_005, 5_000] {
        let root = project(&[("AGENTS.md", &vec![b'x'; size])]);
        let loaded = load(&discovery, root.path());
        let of = size as u64;
        let want = match size {
            0..=1_000 => Outcome::Loaded { bytes: of },
            _ => Outcome::Cut { kept: 1_000, of, budget: Budget::Project },
        };
        check(&loaded, root.path().join("AGENTS.md"), &want);
    }
}

#[test]
fn more_files_than_stay_open_are_all_read() {
    let root = project(&[]);
    let mut cwd = root.path().to_owned();
    for depth in 0..100 {
        cwd.push("d");
        fs::create_dir(&cwd).unwrap();
        fs::write(cwd.join("AGENTS.md"), format!("folder {depth:02}")).unwrap();
    }
    let want: Vec<String> = (0..100).map(|depth| format!("folder {depth:02}")).collect();
    assert_eq!(load(&Discovery::default(), &cwd).text(), want.join("\n\n"));
}

/// Twenty files in folders that lie in one another, two of them links, one of 35 KB.
#[cfg(unix)]
fn big_tree() -> (TempDir, PathBuf) {
    use std::os::unix::fs::symlink;
    let root = project(&[("AGENTS.md", b"folder 0")]);
    let mut cwd = root.path().to_owned();
    for depth in 1..20 {
        cwd.push(format!("d{depth:02}"));
        fs::create_dir(&cwd).unwrap();
        let path = cwd.join("AGENTS.md");
        match depth {
            5 => symlink(root.path().join("AGENTS.md"), path).unwrap(),
            7 => symlink("AGENTS.real.md", path).unwrap(),
            10 => fs::write(path, "A line of thirty-four characters.\n".repeat(1_030)).unwrap(),
            _ => fs::write(path, format!("folder {depth}")).unwrap(),
        }
        if depth == 7 {
            fs::write(cwd.join("AGENTS.real.md"), "folder 7").unwrap();
        }
    }
    (root, cwd)
}

#[cfg(unix)]
#[test]
fn a_big_tree_keeps_what_is_near() {
    let (root, cwd) = big_tree();
    let loaded = load(&Discovery::default(), &cwd);
    // The link in folder 5 is the root's file, and nearer. The nine files below the 35 KB one are whole; that
    // one fills what they leave, and the nine above it are left out.
    let near: usize = (11..20).map(|depth| format!("folder {depth}").len()).sum();
    let kept = (32_768 - near) / 34 * 34;
    let mut folder = root.path().to_owned();
    for depth in 0..20 {
        if depth > 0 {
            folder.push(format!("d{depth:02}"));
        }
        let outcome = loaded.trace().outcome("local", folder.join("AGENTS.md")).unwrap();
        match depth {
            0 => assert_eq!(outcome.name(), "duplicate"),
            1..10 => assert_eq!(outcome.name(), "dropped_by_budget", "depth {depth}"),
            10 => {
                assert_eq!(outcome, &Outcome::Cut { kept: kept as u64, of: 35_020, budget: Budget::Project });
            }
            _ => assert_eq!(outcome, &Outcome::Loaded { bytes: 9 }),
        }
    }
    assert!(loaded.text().starts_with("[AGENTS.md: "));
    assert!(loaded.text().contains("d01/AGENTS.md and 8 more (72 bytes) are left out, they did not fit]"));
    assert!(loaded.text().ends_with("folder 18\n\nfolder 19"));

    let reference = load(&Discovery::codex(), &cwd);
    assert!(reference.text().starts_with("folder 0\n\nfolder 1\n\n"));
    let (texts, bytes): (Vec<&str>, usize) = (
        reference.entries().iter().map(|entry| entry.contents()).collect(),
        reference.entries().iter().map(|entry| entry.contents().len()).sum(),
    );
    assert_eq!((texts.len(), bytes), (11, 32_768));
}
