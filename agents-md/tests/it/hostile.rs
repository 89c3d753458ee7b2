//! What a stranger may put where instructions are looked for: nothing hangs, nothing panics, memory stays bounded.

use std::{
    fs,
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use agents_md::{
    Discovery, Error, FileKind, FileSystem, HostFs, Inputs, LoadedAgentsMd, MemoryFs, OpenFile, Outcome, ProbeAnswer,
    ProbeAsk, ReadAnswer, ReadAsk, SymlinkPolicy, TurnEnvironmentSelection, UserSource, discover_blocking,
    explain_blocking,
};

fn project() -> tempfile::TempDir {
    let root = tempfile::tempdir().unwrap();
    fs::create_dir(root.path().join(".git")).unwrap();
    root
}

fn load(discovery: &Discovery, cwd: &Path) -> LoadedAgentsMd {
    discover_blocking(discovery, &Inputs::local(cwd), &HostFs::new()).unwrap()
}

#[cfg(unix)]
#[test]
fn d16_a_loop_of_links_is_no_file() {
    use std::os::unix::fs::symlink;
    let root = project();
    symlink("AGENTS.md", root.path().join("AGENTS.override.md")).unwrap();
    symlink("AGENTS.override.md", root.path().join("AGENTS.md")).unwrap();
    for symlinks in [SymlinkPolicy::Follow, SymlinkPolicy::WithinRoot, SymlinkPolicy::Reject] {
        let mut discovery = Discovery::default();
        discovery.symlinks = symlinks;
        let loaded = load(&discovery, root.path());
        assert!(loaded.is_empty());
        let outcome = loaded.trace().outcome("local", root.path().join("AGENTS.md")).unwrap();
        let is_told = matches!(outcome, Outcome::Failed { .. } | Outcome::SymlinkRejected);
        assert!(is_told, "{outcome:?}");
    }
    assert!(
        !explain_blocking(&Discovery::default(), &Inputs::local(root.path()), &HostFs::new())
            .unwrap()
            .problems()
            .is_empty()
    );
}

#[cfg(target_os = "linux")]
#[test]
fn d16_every_kind_of_file_that_is_none_is_passed_over() {
    let root = project();
    let name = |n: usize| root.path().join(format!("rules-{n}"));
    fs::create_dir(name(0)).unwrap();
    for (n, target) in ["/dev/zero", "/dev/null", "/dev/tty", "/proc/self/fd"].iter().enumerate() {
        std::os::unix::fs::symlink(target, name(n + 1)).unwrap();
    }
    let socket = std::os::unix::net::UnixListener::bind(name(5)).unwrap();
    assert!(std::process::Command::new("mkfifo").arg(name(6)).status().unwrap().success());
    let mut discovery = Discovery::default();
    discovery.fallback_names = (0..7).map(|n| format!("rules-{n}")).collect();
    let start = Instant::now();
    let loaded = load(&discovery, root.path());
    assert!(loaded.is_empty() && start.elapsed() < Duration::from_secs(5));
    for n in 0..7 {
        let outcome = loaded.trace().outcome("local", name(n)).unwrap();
        // Where there is no terminal, the system says so instead.
        let is_none = matches!(outcome, Outcome::NotAFile { .. } | Outcome::Failed { .. });
        assert!(is_none, "{n}: {outcome:?}");
    }
    assert_eq!(loaded.trace().outcome("local", name(0)), Some(&Outcome::NotAFile { found: FileKind::Folder }));
    drop(socket);
}

#[test]
fn a_very_deep_path_costs_what_it_is_long() {
    let root = project();
    let mut cwd = root.path().to_owned();
    // Up to what the system takes as one path.
    while cwd.as_os_str().len() < 3_800 {
        cwd.push("a-folder-of-some-length");
    }
    fs::create_dir_all(&cwd).unwrap();
    fs::write(cwd.join("AGENTS.md"), "DEEP").unwrap();
    let start = Instant::now();
    assert_eq!(load(&Discovery::default(), &cwd).text(), "DEEP");
    assert!(start.elapsed() < Duration::from_secs(10), "{:?}", start.elapsed());
    // Beyond that, the system refuses and nothing else happens.
    let beyond: PathBuf = cwd.join("b/".repeat(3_000));
    let loaded = load(&Discovery::default(), &beyond);
    assert_eq!(loaded.entries().len(), usize::from(!loaded.is_empty()));
}

#[test]
fn a_path_of_a_thousand_folders_in_memory_is_walked() {
    let cwd = format!("/r{}", "/a".repeat(1_000));
    let fs = MemoryFs::new().with_folder("/r/.git").with_file(format!("{cwd}/AGENTS.md"), "DEEP");
    let start = Instant::now();
    let loaded = discover_blocking(&Discovery::default(), &Inputs::local(&cwd), &fs).unwrap();
    assert_eq!(loaded.text(), "DEEP");
    let explanation = explain_blocking(&Discovery::default(), &Inputs::local(&cwd), &fs).unwrap();
    assert!(explanation.probed().count() > 5_000 && explanation.problems().is_empty());
    assert!(start.elapsed() < Duration::from_secs(20), "{:?}", start.elapsed());
}

/// Puts something else in the place of a file when its probe is answered.
struct Swapping {
    path: PathBuf,
    by: fn(&Path),
}

impl FileSystem for Swapping {
    type Handle = OpenFile;

    fn probe(&self, ask: &ProbeAsk) -> (ProbeAnswer, Option<OpenFile>) {
        let answer = HostFs::new().probe(ask);
        if ask.path() == self.path {
            fs::remove_file(&self.path).unwrap();
            (self.by)(&self.path);
        }
        answer
    }

    fn read(&self, ask: &ReadAsk, handle: Option<OpenFile>) -> ReadAnswer {
        HostFs::new().read(ask, handle)
    }
}

#[cfg(unix)]
#[test]
fn what_is_put_in_the_place_of_a_file_is_not_read() {
    use std::os::unix::fs::symlink;
    let secret = tempfile::tempdir().unwrap();
    fs::write(secret.path().join("secret"), "SECRET").unwrap();
    let link = |path: &Path| symlink(path.parent().unwrap().join("elsewhere"), path).unwrap();
    let pipe = |path: &Path| assert!(std::process::Command::new("mkfifo").arg(path).status().unwrap().success());
    let folder = |path: &Path| fs::create_dir(path).unwrap();
    let swaps: [fn(&Path); 3] = [link, pipe, folder];
    for by in swaps {
        for symlinks in [SymlinkPolicy::Follow, SymlinkPolicy::WithinRoot, SymlinkPolicy::Reject] {
            let root = project();
            symlink(secret.path().join("secret"), root.path().join("elsewhere")).unwrap();
            let path = root.path().join("AGENTS.md");
            fs::write(&path, "GOOD").unwrap();
            let mut discovery = Discovery::default();
            discovery.symlinks = symlinks;
            let swapping = Swapping { path, by };
            let loaded = discover_blocking(&discovery, &Inputs::local(root.path()), &swapping).unwrap();
            // What was opened when it was looked at is what is read; where links are checked it is opened again.
            assert!(["GOOD", ""].contains(&loaded.text()), "{}", loaded.text());
            assert_eq!(loaded.text() == "GOOD", symlinks == SymlinkPolicy::Follow);
        }
    }
}

#[test]
fn errors_name_the_path_and_what_was_tried_word_for_word() {
    let denied = std::io::ErrorKind::PermissionDenied;
    let of = |fs: MemoryFs, inputs: &Inputs| discover_blocking(&strict(), inputs, &fs).unwrap_err();
    let tree =
        || MemoryFs::new().with_folder("/r/.git").with_file("/r/AGENTS.md", "R").with_file("/home/AGENTS.md", "H");
    let text = |error: &Error| {
        let cause = std::error::Error::source(error).map(ToString::to_string).unwrap_or_default();
        format!("{error}: {cause}")
    };
    let local = Inputs::local("/r");
    let read = of(tree().failing_read("/r/AGENTS.md", denied), &local);
    assert_eq!(text(&read), "could not read /r/AGENTS.md (environment `local`): permission denied");
    assert_eq!(read.io_kind(), Some(denied));
    let probe = of(tree().failing_probe("/r/AGENTS.md", std::io::ErrorKind::TimedOut), &local);
    assert_eq!(text(&probe), "could not look at /r/AGENTS.md (environment `local`): timed out");
    let user = Inputs::local("/r").with_user(UserSource::Folder("/home".into()));
    let user = of(tree().failing_read("/home/AGENTS.md", denied), &user);
    assert_eq!(text(&user), "could not read /home/AGENTS.md: permission denied");
    let relative = Inputs::new(vec![TurnEnvironmentSelection::new("box", "r/a")]);
    let relative = of(tree(), &relative);
    assert_eq!(relative.to_string(), "the folder r/a must be absolute (environment `box`)");
    assert!(relative.is_misuse() && !read.is_misuse());
}

fn strict() -> Discovery {
    let mut discovery = Discovery::default();
    discovery.strictness = agents_md::Strictness::Strict;
    discovery
}
