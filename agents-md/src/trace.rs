//! Why each path did or did not apply.

use std::{
    collections::HashMap,
    fmt,
    path::{Path, PathBuf},
    sync::Arc,
};

use serde::{Serialize, Serializer};

use crate::outcome::Outcome;

/// Writes a path as text, each byte that is not UTF-8 replaced.
pub(crate) fn lossy<S: Serializer>(path: &Path, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(&path.display())
}

fn lossy_option<S: Serializer>(path: &Option<PathBuf>, serializer: S) -> Result<S::Ok, S::Error> {
    match path {
        Some(path) => serializer.collect_str(&path.display()),
        None => serializer.serialize_none(),
    }
}

/// To whom a row of a trace belongs.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(tag = "scope", rename_all = "snake_case")]
#[expect(clippy::exhaustive_enums, reason = "the three sources of instructions")]
pub enum Scope {
    /// The user's own instructions.
    User,
    /// The instructions of the conversation.
    Thread,
    /// The project, seen from one environment.
    Project {
        /// The position of the environment in [`Inputs::environments`](crate::Inputs::environments).
        index: usize,
        /// The id of the environment.
        environment: Arc<str>,
    },
}

impl fmt::Display for Scope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::User => f.write_str("user"),
            Self::Thread => f.write_str("thread"),
            Self::Project { environment, .. } => f.write_str(environment),
        }
    }
}

/// One probed path, or one text that the host gave, and what became of it.
///
/// # Shape
/// Serialised: `scope` (`user`, `thread` or `project`), for a project `index` and `environment`, then
/// `path` (null for a text without a file), `outcome` and its fields.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Row {
    /// To whom the path belongs.
    #[serde(flatten)]
    pub scope: Scope,
    /// The path as it was probed; none for a text that came without one.
    #[serde(serialize_with = "lossy_option")]
    pub path: Option<PathBuf>,
    /// What became of it.
    #[serde(flatten)]
    pub outcome: Outcome,
}

impl fmt::Display for Row {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.path {
            Some(path) => write!(f, "{}: {}: {}", self.scope, path.display(), self.outcome),
            None => write!(f, "{}: {}", self.scope, self.outcome),
        }
    }
}

/// Something about a whole environment that no single path explains.
///
/// # Shape
/// Serialised, a variant is an object whose member `note` is its name in snake case; the fields follow.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "note", rename_all = "snake_case")]
#[non_exhaustive]
pub enum Note {
    /// The root was found.
    RootFound {
        /// The root.
        #[serde(serialize_with = "lossy")]
        root: PathBuf,
        /// The name that marks it.
        marker: String,
    },
    /// No marker was found.
    NoRoot {
        /// The names that were looked for.
        markers: Vec<String>,
        /// The highest folder that was looked at.
        #[serde(serialize_with = "lossy")]
        up_to: PathBuf,
    },
    /// No marker was configured, so none was looked for.
    NoMarkers,
    /// Without a root, the search went up to a boundary.
    WalkedTo {
        /// The boundary.
        #[serde(serialize_with = "lossy")]
        boundary: PathBuf,
    },
    /// The boundary is not above the working folder, so only that folder was searched.
    BoundaryElsewhere {
        /// The boundary.
        #[serde(serialize_with = "lossy")]
        boundary: PathBuf,
    },
    /// The project is not trusted: nothing of it was probed.
    Untrusted,
    /// The project budget is zero: nothing was probed.
    Disabled,
    /// A configured name could lead out of the folder, so it was not tried.
    NameIgnored {
        /// The name.
        name: String,
    },
    /// The files that were loaded at the start have used the budget: nothing was probed.
    BudgetSpent,
    /// A reference to another file was not followed.
    #[non_exhaustive]
    ImportSkipped {
        /// The file that holds the reference.
        #[serde(serialize_with = "lossy")]
        file: PathBuf,
        /// The reference as it is written, without the `@`.
        reference: String,
        /// Why.
        reason: ImportSkip,
    },
    /// A pattern in the front matter of a file is none; it matches nothing.
    #[non_exhaustive]
    BadPattern {
        /// The file.
        #[serde(serialize_with = "lossy")]
        file: PathBuf,
        /// The pattern.
        pattern: String,
    },
    /// A file failed, and with it the environment (codex preset only).
    EnvironmentFailed {
        /// The file.
        #[serde(serialize_with = "lossy")]
        path: PathBuf,
        /// What the system said.
        error: String,
    },
}

impl fmt::Display for Note {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::RootFound { root, marker } => {
                write!(f, "root {} found by {marker}", root.display())
            }
            Self::NoRoot { markers, up_to } => {
                write!(f, "no root marker found, looked for [{}] up to {}", markers.join(", "), up_to.display())
            }
            Self::NoMarkers => f.write_str("no root markers are configured, none was looked for"),
            Self::WalkedTo { boundary } => write!(f, "searched from {}", boundary.display()),
            Self::BoundaryElsewhere { boundary } => {
                write!(f, "{} is not above the working folder, so only that was searched", boundary.display())
            }
            Self::Untrusted => f.write_str("the project is not trusted, nothing of it was probed"),
            Self::Disabled => f.write_str("the project budget is 0, nothing was probed"),
            Self::NameIgnored { name } => {
                write!(f, "the name {name:?} could lead out of the folder, it was not tried")
            }
            Self::BudgetSpent => f.write_str("the files of the start have used the project budget, nothing was probed"),
            Self::ImportSkipped { file, reference, reason } => {
                write!(f, "{} refers to @{reference}, which was not followed: {reason}", file.display())
            }
            Self::BadPattern { file, pattern } => {
                write!(f, "{} has the pattern {pattern:?}, which is none", file.display())
            }
            Self::EnvironmentFailed { path, error } => {
                write!(f, "{} failed and with it the environment: {error}", path.display())
            }
        }
    }
}

/// Why a reference to another file was not followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ImportSkip {
    /// The file is being imported already, further out.
    Cycle,
    /// Its text is in the instructions already.
    Repeated,
    /// It is deeper than [`Imports::max_depth`](crate::Imports::max_depth).
    TooDeep,
    /// There are more than [`Imports::max_files`](crate::Imports::max_files).
    TooMany,
    /// It leads out of the root.
    OutsideRoot,
    /// It starts in a home folder, which this crate does not know.
    Home,
}

impl fmt::Display for ImportSkip {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Cycle => "it refers back to itself",
            Self::Repeated => "its text is there already",
            Self::TooDeep => "too many files refer to each other",
            Self::TooMany => "there are too many files",
            Self::OutsideRoot => "it leads out of the root",
            Self::Home => "it starts in a home folder",
        })
    }
}

/// One environment as the discovery saw it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct EnvironmentTrace {
    /// Its id.
    pub environment: Arc<str>,
    /// Its working folder.
    #[serde(serialize_with = "lossy")]
    pub cwd: PathBuf,
    /// The root of the project, where one was found.
    #[serde(serialize_with = "lossy_option")]
    pub root: Option<PathBuf>,
    /// What no single path explains.
    pub notes: Vec<Note>,
    /// The highest folder that was searched; none if none was.
    #[serde(skip)]
    pub(crate) top: Option<PathBuf>,
}

/// Every path that was probed, once, with what became of it.
///
/// # Shape
/// Serialised: `environments` (each with `environment`, `cwd`, `root`, `notes`), then `rows` (see
/// [`Row`]); the file `TRACE.md` of this crate names every member and every outcome. Rows of the user come first, then the thread's, then each environment's: its markers from
/// the working folder up, its candidates from the root down.
///
/// # Example
/// ```
/// use agents_md::{Discovery, Inputs, MemoryFs, Outcome, discover_blocking};
///
/// let fs = MemoryFs::new()
///     .with_folder("/r/.git")
///     .with_file("/r/AGENTS.override.md", "")
///     .with_file("/r/AGENTS.md", "Use tabs.");
/// let loaded = discover_blocking(&Discovery::default(), &Inputs::local("/r"), &fs)?;
/// let trace = loaded.trace();
/// assert_eq!(trace.outcome("local", "/r/AGENTS.override.md"), Some(&Outcome::Blank));
/// assert_eq!(trace.rows()[0].to_string(), "local: /r/.git: marks the root");
/// # Ok::<(), agents_md::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Trace {
    environments: Vec<EnvironmentTrace>,
    rows: Vec<Row>,
}

impl Trace {
    pub(crate) fn new(environments: Vec<EnvironmentTrace>, rows: Vec<Row>) -> Self {
        Self { environments, rows }
    }

    /// Each environment, in the order of the inputs.
    #[must_use]
    pub fn environments(&self) -> &[EnvironmentTrace] {
        &self.environments
    }

    /// Each probed path and each given text.
    #[must_use]
    pub fn rows(&self) -> &[Row] {
        &self.rows
    }

    /// The paths of one environment, each with what became of it.
    pub(crate) fn outcomes(&self, index: usize) -> HashMap<&Path, &Outcome> {
        let is_of = |row: &&Row| matches!(&row.scope, Scope::Project { index: of, .. } if *of == index);
        self.rows.iter().filter(is_of).filter_map(|row| Some((row.path.as_deref()?, &row.outcome))).collect()
    }

    /// What became of `path` in the first environment with this id that probed it.
    #[must_use]
    pub fn outcome(&self, environment: &str, path: impl AsRef<Path>) -> Option<&Outcome> {
        let path = path.as_ref();
        self.rows.iter().find_map(|row| match &row.scope {
            Scope::Project { environment: id, .. } => {
                (id.as_ref() == environment && row.path.as_deref() == Some(path)).then_some(&row.outcome)
            }
            _ => None,
        })
    }

    /// What became of `path` in the user's own folder.
    #[must_use]
    pub fn user_outcome(&self, path: impl AsRef<Path>) -> Option<&Outcome> {
        let path = path.as_ref();
        self.rows
            .iter()
            .find(|row| row.scope == Scope::User && row.path.as_deref() == Some(path))
            .map(|row| &row.outcome)
    }

    /// What became of the thread's instructions, if there were any.
    #[must_use]
    pub fn thread_outcome(&self) -> Option<&Outcome> {
        self.rows.iter().find(|row| row.scope == Scope::Thread).map(|row| &row.outcome)
    }
}

impl fmt::Display for Trace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for environment in &self.environments {
            for note in &environment.notes {
                writeln!(f, "{}: {note}", environment.environment)?;
            }
        }
        for row in &self.rows {
            writeln!(f, "{row}")?;
        }
        Ok(())
    }
}
