//! Each library crate, used alone by a project outside this workspace that is built without a network.

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
    process::Command,
};

/// A crate, where it lies, what a stranger does with it, and what that prints.
///
/// A history is made of items, so a stranger to it names the crate of the items as well.
struct Outside {
    name: &'static str,
    folder: &'static str,
    /// Crates below it that are named in the project too.
    beside: &'static [&'static str],
    main: &'static str,
    want: &'static str,
}

const PROJECTS: [Outside; 5] = [
    Outside {
        name: "context-fragments",
        folder: "context-fragments",
        beside: &[],
        main: r##"use context_fragments::{ContextualUserFragment, UserInstructions, bundle};

fn main() -> Result<(), context_fragments::Error> {
    let rendered = UserInstructions::new(Some("/r".into()), "Use tabs.").render()?;
    println!("{}", bundle(&[rendered])[0].kinds()[0]);
    Ok(())
}
"##,
        want: "agents_md.instructions",
    },
    Outside {
        name: "agents-md",
        folder: "agents-md",
        beside: &[],
        main: r##"use agents_md::{Discovery, Inputs, MemoryFs, discover_blocking};

fn main() -> Result<(), agents_md::Error> {
    let fs = MemoryFs::new().with_folder("/r/.git").with_file("/r/AGENTS.md", "Use tabs.");
    println!("{}", discover_blocking(&Discovery::default(), &Inputs::local("/r"), &fs)?.text());
    Ok(())
}
"##,
        want: "Use tabs.",
    },
    Outside {
        name: "world-state",
        folder: "world-state",
        beside: &[],
        main: r##"use world_state::{Environment, EnvironmentsState, WorldState};

fn main() -> Result<(), world_state::Error> {
    let mut world = WorldState::new();
    world.set(EnvironmentsState::new().with_environment("local", Environment::new("/r")))?;
    println!("{}", world.render_full()?.updates.len());
    Ok(())
}
"##,
        want: "1",
    },
    Outside {
        name: "context-manager",
        folder: "context-manager",
        beside: &["context-fragments"],
        // The example of the crate, as it is.
        main: include_str!("../../../../context-manager/examples/history.rs"),
        want: "1 item before, 3 now: Extends { shared: 1, new: 2 }",
    },
    Outside {
        name: "session",
        folder: "session",
        beside: &[],
        main: r##"use session::rollout::{Durability, Owner, SessionFolder, SessionMeta};

fn main() -> Result<(), session::Error> {
    let now_ms = 1_792_483_200_123;
    drop(std::fs::remove_dir_all("s1"));
    let folder = SessionFolder::new("s1");
    drop(folder.create(&SessionMeta::new("s1"), &Owner::this_process("here", now_ms), Durability::Flush)?);
    println!("{}", folder.events()?.filter_map(Result::ok).count());
    Ok(())
}
"##,
        want: "2",
    },
];

fn workspace() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

/// A project that is no member of the workspace, with its lock file, since nothing may be looked up.
fn project(outside: &Outside) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("outside").join(outside.name);
    fs::create_dir_all(folder.join("src")).unwrap();
    let depend = |name: &str, folder: &str| format!("{name} = {{ path = {:?} }}\n", workspace().join(folder));
    let beside: String = outside.beside.iter().map(|name| depend(name, name)).collect();
    let manifest = format!(
        "[package]\nname = \"outside\"\nversion = \"0.0.0\"\nedition = \"2024\"\n\n[workspace]\n\n[profile.dev]\ndebug = false\nincremental = false\n\n[dependencies]\n{}{beside}",
        depend(outside.name, outside.folder)
    );
    fs::write(folder.join("Cargo.toml"), manifest).unwrap();
    fs::write(folder.join("src/main.rs"), outside.main).unwrap();
    fs::copy(workspace().join("Cargo.lock"), folder.join("Cargo.lock")).unwrap();
    folder
}

fn cargo(folder: &Path, args: &[&str]) -> String {
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).join("outside-target");
    let mut command = Command::new(env!("CARGO"));
    // What the workspace's own build was told is not what a stranger is told.
    command.env_remove("RUSTFLAGS").env_remove("CARGO_BUILD_TARGET").env("CARGO_TARGET_DIR", target);
    let output = command.args(args).arg("--offline").current_dir(folder).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "cargo {args:?} in {}:\n{said}", folder.display());
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn each_crate_builds_and_runs_alone_without_a_network() {
    for outside in &PROJECTS {
        let printed = cargo(&project(outside), &["run", "--quiet"]);
        assert_eq!(printed.trim_end(), outside.want, "{}", outside.name);
    }
}

#[test]
#[expect(clippy::disallowed_methods, reason = "a test reads the pages that it checks")]
fn each_readme_says_how_many_packages_come_with_its_crate() {
    for outside in &PROJECTS {
        let args = ["tree", "--edges", "normal", "--prefix", "none", "--target", "x86_64-unknown-linux-gnu"];
        let tree = cargo(&project(outside), &args);
        let packages: BTreeSet<&str> = tree.lines().map(|line| line.trim_end_matches(" (*)")).collect();
        let is_other =
            |line: &&&str| !line.starts_with("outside ") && !line.starts_with(&format!("{} v", outside.name));
        let n_packages = packages.iter().filter(is_other).count();
        let readme = fs::read_to_string(workspace().join(outside.folder).join("README.md")).unwrap();
        let want = format!("{n_packages} packages in all");
        assert!(readme.contains(&want), "the README of {} does not say \"{want}\"", outside.name);
    }
}
