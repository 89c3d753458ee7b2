//! A project that has nothing of this house but this crate and the one below it.

use std::{
    path::{Path, PathBuf},
    process::Command,
};

/// The `main.rs` of the project: the example of this crate, as it is.
const MAIN: &str = include_str!("../../examples/history.rs");

/// The folder of the project, written anew.
fn project() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("outside");
    std::fs::create_dir_all(folder.join("src")).expect("the folder can be made");
    let depend = |name: &str, path: &Path| format!("{name} = {{ path = {:?} }}\n", path.display().to_string());
    let manifest = format!(
        "[package]\nname = \"outside\"\nversion = \"0.0.0\"\nedition = \"2024\"\n\n[dependencies]\n{}{}\n[profile.dev]\ndebug = false\n\n[workspace]\n",
        depend("context-manager", here),
        depend("context-fragments", &here.with_file_name("context-fragments")),
    );
    std::fs::write(folder.join("Cargo.toml"), manifest).expect("a file can be written");
    std::fs::write(folder.join("src/main.rs"), MAIN).expect("a file can be written");
    // The versions are those that this workspace was tested with, so that nothing has to be fetched.
    std::fs::copy(here.with_file_name("Cargo.lock"), folder.join("Cargo.lock")).expect("the lock file is there");
    folder
}

#[test]
fn a_project_outside_uses_this_crate_alone() {
    let folder = project();
    let mut cargo = Command::new(env!("CARGO"));
    cargo.args(["run", "--offline", "--quiet", "--target-dir"]).arg(folder.join("target")).current_dir(&folder);
    // What the build of these tests sets is not meant for another project.
    for name in ["RUSTFLAGS", "CARGO_ENCODED_RUSTFLAGS", "RUSTDOCFLAGS"] {
        cargo.env_remove(name);
    }
    let done = cargo.output().expect("cargo runs");
    let (said, failed) = (String::from_utf8_lossy(&done.stdout), String::from_utf8_lossy(&done.stderr));
    assert!(done.status.success(), "{failed}");
    assert_eq!(said.trim(), "1 item before, 3 now: Extends { shared: 1, new: 2 }");
}
