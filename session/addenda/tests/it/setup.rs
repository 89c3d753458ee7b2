//! Folders to run in, and running.

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, Output},
};

use tempfile::TempDir;

/// A folder of its own for one test, with a home that holds nothing but what the test puts there.
pub(crate) struct Tree {
    root: TempDir,
}

/// What a run printed, with the folder of the test written as `/t`.
pub(crate) struct Ran {
    pub(crate) status: i32,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl Tree {
    pub(crate) fn new() -> Self {
        let tree = Self { root: TempDir::new().unwrap() };
        fs::create_dir(tree.path("home")).unwrap();
        tree
    }

    pub(crate) fn path(&self, inner: &str) -> PathBuf {
        self.root.path().canonicalize().unwrap().join(inner)
    }

    pub(crate) fn file(self, inner: &str, text: impl AsRef<[u8]>) -> Self {
        let path = self.path(inner);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
        self
    }

    pub(crate) fn folder(self, inner: &str) -> Self {
        fs::create_dir_all(self.path(inner)).unwrap();
        self
    }

    /// Runs the command in `cwd`, with a fixed date, time zone and shell where the verb takes them.
    pub(crate) fn prompt_input(&self, cwd: &str, args: &[&str]) -> Ran {
        let fixed = ["prompt-input", "--date", "2026-10-20", "--timezone", "Etc/UTC", "--shell", "bash"];
        self.run(cwd, &[&fixed, args].concat())
    }

    pub(crate) fn run(&self, cwd: &str, args: &[&str]) -> Ran {
        let output = self.command().current_dir(self.path(cwd)).args(args).output().unwrap();
        self.ran(&output)
    }

    /// The command with nothing of the machine's own settings.
    pub(crate) fn command(&self) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_addenda"));
        command.env_clear().env("CODEX_HOME", self.path("home")).env("SHELL", "/bin/zsh").env("TZ", "UTC");
        command
    }

    pub(crate) fn ran(&self, output: &Output) -> Ran {
        let root = self.path("");
        let root = root.to_str().unwrap().trim_end_matches('/').to_owned();
        let told = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap().replace(&root, "/t");
        Ran { status: output.status.code().unwrap(), out: told(&output.stdout), err: told(&output.stderr) }
    }
}

impl Ran {
    /// The output of a run that went well and had nothing to complain of.
    #[track_caller]
    pub(crate) fn good(self) -> String {
        assert_eq!((self.status, self.err.as_str()), (0, ""), "{}", self.out);
        self.out
    }

    /// The one line of a run that was refused.
    #[track_caller]
    pub(crate) fn refused(self) -> String {
        assert_eq!((self.status, self.out.as_str()), (2, ""), "{}", self.err);
        assert_eq!(self.err.matches('\n').count(), 1, "not one line: {}", self.err);
        self.err.trim_end().to_owned()
    }
}

/// A link from `link` to `target`.
pub(crate) fn link(target: &Path, link: &Path) {
    #[cfg(unix)]
    std::os::unix::fs::symlink(target, link).unwrap();
    #[cfg(windows)]
    std::os::windows::fs::symlink_file(target, link).unwrap();
}
