//! The rules of a discovery: what is looked for, how much of it is kept, what is an error.

use std::path::PathBuf;

/// The project budget of the published design, in bytes.
pub const DEFAULT_MAX_BYTES: usize = 32_768;

/// The name that is tried first in each folder.
pub const OVERRIDE_NAME: &str = "AGENTS.override.md";

/// The name that is tried second in each folder.
pub const PLAIN_NAME: &str = "AGENTS.md";

/// Where the search starts when no root marker is found above the working folder.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum NoRoot {
    /// Only the working folder is searched.
    #[default]
    CwdOnly,
    /// Every folder from this one down to the working folder is searched.
    ///
    /// A boundary that is not above the working folder counts as [`NoRoot::CwdOnly`], and the trace says so.
    WalkTo(PathBuf),
}

/// Which file keeps its text when the project's files do not fit the budget together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum BudgetOrder {
    /// The file nearest to the working folder is filled first, so the broadest is cut first.
    #[default]
    NearestFirst,
    /// The file in the root is filled first, so the most specific is cut first.
    RootFirst,
}

/// Whether a file that cannot be looked at or read is an error.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Strictness {
    /// It is skipped and reported, except in a restricted environment, which is always strict.
    #[default]
    BestEffort,
    /// It is an error that names the path.
    Strict,
}

/// What happens to a candidate that is reached through a symbolic link.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum SymlinkPolicy {
    /// It is read, wherever it leads.
    #[default]
    Follow,
    /// It is read if the path leads to a file below the project's root, links in the root's own
    /// path resolved as well.
    WithinRoot,
    /// It is not read if the file's own name is a link. Links in the folders above it are followed,
    /// because the host chose the working folder.
    Reject,
}

/// What happens to line ends.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Newlines {
    /// They stay as they are in the file.
    #[default]
    Keep,
    /// CR LF becomes LF, so that a checkout that flips line ends changes no text.
    Normalize,
}

/// Which folder is the root when several folders above the working folder hold a marker.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum RootChoice {
    /// The nearest one, so a submodule or a worktree is a project of its own.
    #[default]
    Nearest,
    /// The outermost one, so a submodule also follows the instructions of its superproject.
    Outermost,
}

/// Whether files that people keep beside the shared ones, and out of the repository, are added to them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Overlays {
    /// They are not looked for.
    #[default]
    Off,
    /// `AGENTS.local.md` is added behind the file of its folder, and `CLAUDE.local.md` likewise where [`NameSet::Claude`]
    /// is looked for.
    Local,
}

/// Names of instruction files that other tools look for.
///
/// A set is looked for in each folder beside the usual names, and one file of it is added to theirs.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum NameSet {
    /// `CLAUDE.md`.
    Claude,
    /// `GEMINI.md`.
    Gemini,
    /// `.goosehints`.
    Goose,
    /// `.cursorrules`.
    Cursor,
    /// `.github/copilot-instructions.md`.
    Copilot,
    /// The host's own: the first of them that has a text.
    Custom(Vec<String>),
}

impl NameSet {
    /// The names, in the order in which they are tried.
    #[must_use]
    pub fn names(&self) -> Vec<&str> {
        match self {
            Self::Claude => vec!["CLAUDE.md"],
            Self::Gemini => vec!["GEMINI.md"],
            Self::Goose => vec![".goosehints"],
            Self::Cursor => vec![".cursorrules"],
            Self::Copilot => vec![".github/copilot-instructions.md"],
            Self::Custom(names) => names.iter().map(String::as_str).collect(),
        }
    }

    fn overlay(&self) -> Option<&'static str> {
        match self {
            Self::Claude => Some("CLAUDE.local.md"),
            Self::Gemini => Some("GEMINI.local.md"),
            _ => None,
        }
    }
}

/// Whether a file may say for which files of the project it holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Scoping {
    /// Front matter is text as any other.
    #[default]
    Off,
    /// A file whose front matter has `globs`, `paths` or `applyTo` holds only while one of
    /// [`Inputs::touched`](crate::Inputs::touched) matches, and the front matter is not shown. `alwaysApply: true` always holds.
    #[cfg(feature = "globs")]
    FrontMatter,
}

/// Whether instruction files that the repository excludes are left out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Ignores {
    /// They are loaded as all others.
    #[default]
    Off,
    /// What a `.gitignore` between the root and the file excludes is not loaded; overlays are, since people exclude those on
    /// purpose. Of each `.gitignore` at most 64 KiB are read.
    #[cfg(feature = "gitignore")]
    GitIgnore,
}

/// How far `@path` references in instruction files are followed.
///
/// # Source
/// The convention of several agents: `@docs/style.md` in a line stands for the text of that file, relative to the real folder
/// of the file that it stands in. Code and e-mail addresses are no references.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Imports {
    /// How many files deep; 5, as the most common agents do.
    pub max_depth: usize,
    /// How many files in all; 32, more than any project was seen to have.
    pub max_files: usize,
    /// How many bytes all imported texts together may have; 32,768, so that they have the room of the project's own.
    pub max_bytes: usize,
}

impl Default for Imports {
    fn default() -> Self {
        Self { max_depth: 5, max_files: 32, max_bytes: DEFAULT_MAX_BYTES }
    }
}

/// The habits in which the two presets differ and which cannot be chosen one by one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Rules {
    Mended,
    Reference,
}

/// Whether a file is everybody's or one person's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Share {
    Common,
    Personal,
}

/// The rules of a discovery.
///
/// [`Discovery::default`] loses nothing in silence; [`Discovery::codex`] does exactly what OpenAI Codex CLI does.
///
/// # Example
/// ```
/// use agents_md::{BudgetOrder, Discovery};
///
/// let mut discovery = Discovery::default();
/// discovery.max_bytes = 8_192;
/// discovery.fallback_names.push("CLAUDE.md".into());
/// assert_eq!(discovery.order, BudgetOrder::NearestFirst);
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Discovery {
    /// How many bytes of text the project's files may give; 32,768 as in the published design.
    ///
    /// In the default preset this holds for each environment, in the codex preset for all
    /// together. `0` turns project files off, and no path of a project is probed.
    pub max_bytes: usize,
    /// How many bytes the user's own file may give; 32,768, because one global file of 5 MB would
    /// push everything else out. `None`, as in the codex preset, reads up to 16 MiB.
    pub max_user_bytes: Option<usize>,
    /// Names that are tried in each folder after `AGENTS.override.md` and `AGENTS.md`; none.
    pub fallback_names: Vec<String>,
    /// Names whose existence, as anything, makes a folder the root; `.git`, which is a file in a
    /// worktree. With none, nothing above the working folder is searched.
    pub root_markers: Vec<String>,
    /// Where the search starts when there is no root; in the working folder, as in the reference.
    pub no_root: NoRoot,
    /// Which file is filled first; the nearest, because it is the most specific.
    pub order: BudgetOrder,
    /// Whether an unreadable file is an error; only in a restricted environment.
    pub strictness: Strictness,
    /// What happens to links; they are followed, because shared rules are often linked in. A host
    /// that opens projects of strangers should choose [`SymlinkPolicy::WithinRoot`].
    pub symlinks: SymlinkPolicy,
    /// What happens to line ends; nothing, because the text is the user's.
    pub newlines: Newlines,
    /// Which of several marked folders is the root; the nearest, as in the reference.
    pub root: RootChoice,
    /// Names of other tools whose files are added; none.
    pub also: Vec<NameSet>,
    /// Whether `.local` files are added; they are not.
    pub overlays: Overlays,
    /// Whether `@path` references are followed, and how far; they are not. The codex preset never does.
    pub imports: Option<Imports>,
    /// Whether front matter can narrow a file; it cannot. In the codex preset it never does.
    pub scoping: Scoping,
    /// Whether excluded files are left out; they are not. In the codex preset they never are.
    pub ignores: Ignores,
    pub(crate) rules: Rules,
}

impl Default for Discovery {
    fn default() -> Self {
        Self {
            max_bytes: DEFAULT_MAX_BYTES,
            max_user_bytes: Some(DEFAULT_MAX_BYTES),
            fallback_names: Vec::new(),
            root_markers: vec![".git".to_owned()],
            no_root: NoRoot::CwdOnly,
            order: BudgetOrder::NearestFirst,
            strictness: Strictness::BestEffort,
            symlinks: SymlinkPolicy::Follow,
            newlines: Newlines::Keep,
            root: RootChoice::Nearest,
            also: Vec::new(),
            overlays: Overlays::Off,
            imports: None,
            scoping: Scoping::Off,
            ignores: Ignores::Off,
            rules: Rules::Mended,
        }
    }
}

impl Discovery {
    /// Does what OpenAI Codex CLI does, warts included.
    ///
    /// An empty override hides the plain file; the budget is one for all environments and cuts at a
    /// byte, the most specific file first; one unreadable file drops its environment; the user's
    /// own file has no limit; nothing is recognised as a duplicate and no byte order mark is removed.
    #[must_use]
    pub fn codex() -> Self {
        Self { max_user_bytes: None, order: BudgetOrder::RootFirst, rules: Rules::Reference, ..Self::default() }
    }

    pub(crate) fn is_reference(&self) -> bool {
        self.rules == Rules::Reference
    }

    /// How far references are followed, if they are.
    pub(crate) fn followed(&self) -> Option<Imports> {
        self.imports.filter(|_| !self.is_reference())
    }

    /// Whether files that are excluded from the repository are left out.
    pub(crate) fn is_ignoring(&self) -> bool {
        self.ignores != Ignores::Off && !self.is_reference()
    }

    /// The further groups of names to try in one folder; of each, one file is taken.
    pub(crate) fn more_names(&self) -> Vec<(Vec<&str>, Share)> {
        let overlay = |name: &'static str| (vec![name], Share::Personal);
        let mut groups = Vec::new();
        let is_local = self.overlays == Overlays::Local;
        groups.extend(is_local.then(|| overlay("AGENTS.local.md")));
        for set in &self.also {
            groups.push((set.names(), Share::Common));
            groups.extend(set.overlay().filter(|_| is_local).map(overlay));
        }
        groups
    }

    /// Every name that may be asked for as a candidate.
    pub(crate) fn all_names(&self) -> Vec<&str> {
        let mut names = self.names();
        names.extend(self.more_names().into_iter().flat_map(|(names, _)| names));
        names.push(".gitignore");
        names
    }

    /// The names to try in one folder, in order, each once.
    pub(crate) fn names(&self) -> Vec<&str> {
        let mut names = vec![OVERRIDE_NAME, PLAIN_NAME];
        for name in &self.fallback_names {
            if !name.is_empty() && !names.contains(&name.as_str()) {
                names.push(name);
            }
        }
        names
    }
}
