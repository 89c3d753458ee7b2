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

/// The habits in which the two presets differ and which cannot be chosen one by one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Rules {
    Mended,
    Reference,
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
