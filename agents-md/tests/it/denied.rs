//! Files that the system refuses to read, asked for by a user for whom permissions count.
#![cfg(unix)]

use std::{
    fs,
    os::unix::{
        fs::{MetadataExt as _, PermissionsExt as _},
        process::CommandExt as _,
    },
    path::{Path, PathBuf},
    process::Command,
};

use agents_md::{
    Discovery, Error, HostFs, Inputs, Operation, Outcome, Strictness, TurnEnvironmentSelection, discover_blocking,
};

const ROOT_VARIABLE: &str = "AGENTS_MD_TEST_DENIED_ROOT";
const NOBODY: u32 = 65_534;

fn chmod(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

/// Runs the checks below in a child that is not root, because root may read everything.
#[test]
fn d19_denied_on_a_disk() {
    let root = tempfile::tempdir().unwrap();
    chmod(root.path(), 0o755);
    for folder in ["r/.git", "r/a", "r/closed"] {
        fs::create_dir_all(root.path().join(folder)).unwrap();
    }
    fs::write(root.path().join("r/AGENTS.md"), "ROOT").unwrap();
    for name in ["r/a/AGENTS.override.md", "r/a/AGENTS.md", "r/closed/AGENTS.md"] {
        fs::write(root.path().join(name), "CLOSED").unwrap();
    }
    chmod(&root.path().join("r/a/AGENTS.override.md"), 0o000);
    chmod(&root.path().join("r/a/AGENTS.md"), 0o644);
    chmod(&root.path().join("r/closed"), 0o000);

    // A copy, because the folders above the test binary may be closed to others.
    let exe = root.path().join("it");
    fs::copy(std::env::current_exe().unwrap(), &exe).unwrap();
    chmod(&exe, 0o755);
    let mut child = Command::new(&exe);
    child.args(["--exact", "denied::as_a_user_for_whom_permissions_count", "--ignored", "--nocapture"]);
    child.env(ROOT_VARIABLE, root.path()).current_dir("/");
    if root.path().symlink_metadata().unwrap().uid() == 0 {
        child.uid(NOBODY).gid(NOBODY);
    }
    let output = child.output().unwrap();
    chmod(&root.path().join("r/closed"), 0o755);
    let text = format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success() && text.contains("1 passed"), "{text}");
}

#[test]
#[ignore = "run by `d19_denied_on_a_disk`, in a child that is not root"]
#[expect(clippy::disallowed_methods, reason = "the parent says where the files are")]
fn as_a_user_for_whom_permissions_count() {
    let root = PathBuf::from(std::env::var_os(ROOT_VARIABLE).expect("set by the parent test"));
    let project = root.join("r");
    let denied = project.join("a/AGENTS.override.md");
    // A check that cannot fail would be no check: the file must really be closed to this user, and its neighbour open.
    assert_eq!(fs::read(&denied).unwrap_err().kind(), std::io::ErrorKind::PermissionDenied);
    assert_eq!(fs::read(project.join("a/AGENTS.md")).unwrap(), b"CLOSED");

    let inputs = Inputs::local(project.join("a"));
    let mut discovery = Discovery::default();
    let loaded = discover_blocking(&discovery, &inputs, &HostFs::new()).unwrap();
    assert_eq!(loaded.text(), "ROOT\n\nCLOSED");
    let outcome = loaded.trace().outcome("local", &denied).unwrap();
    let error = "Permission denied (os error 13)".to_owned();
    assert_eq!(outcome, &Outcome::Denied { op: Operation::Read, error });
    assert_eq!(loaded.warnings().len(), 1);

    discovery.strictness = Strictness::Strict;
    let error = discover_blocking(&discovery, &inputs, &HostFs::new()).unwrap_err();
    assert!(matches!(&error, Error::Access { path, op: Operation::Read, .. } if path == &denied), "{error:?}");

    let restricted = Inputs::new(vec![TurnEnvironmentSelection::new("box", project.join("a")).restricted()]);
    let error = discover_blocking(&Discovery::codex(), &restricted, &HostFs::new()).unwrap_err();
    let want = "failed to load AGENTS.md instructions for environment `box`: Permission denied (os error 13)";
    assert_eq!(error.to_string(), want);

    let closed = project.join("closed");
    let loaded = discover_blocking(&Discovery::default(), &Inputs::local(&closed), &HostFs::new()).unwrap();
    assert_eq!(loaded.text(), "ROOT");
    let outcome = loaded.trace().outcome("local", closed.join("AGENTS.md")).unwrap();
    assert!(matches!(outcome, Outcome::Denied { op: Operation::Probe, .. }), "{outcome:?}");
}
