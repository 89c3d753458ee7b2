//! What became of each path: the closed list of outcomes.

use std::{fmt, path::PathBuf, sync::Arc};

use serde::Serialize;

use crate::{
    ask::{FileKind, Found},
    trace::lossy,
};

/// What was tried on a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Operation {
    /// Its type was asked for.
    Probe,
    /// Its bytes were asked for.
    Read,
}

impl fmt::Display for Operation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Probe => "look at",
            Self::Read => "read",
        })
    }
}

/// The limit that a text did not fit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Budget {
    /// [`Discovery::max_bytes`](crate::Discovery::max_bytes).
    Project,
    /// [`Discovery::max_user_bytes`](crate::Discovery::max_user_bytes).
    User,
    /// [`Imports::max_bytes`](crate::Imports::max_bytes).
    Imports,
    /// The 10,000 tokens that all instructions together may take in a message.
    Fragment,
}

impl fmt::Display for Budget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Project => "the project budget",
            Self::User => "the budget of user instructions",
            Self::Imports => "the budget of imported files",
            Self::Fragment => "the bound of one message",
        })
    }
}

/// A path in an environment, or in the user's own folder.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize)]
#[expect(clippy::exhaustive_structs, reason = "a key has two parts")]
pub struct Locus {
    /// The environment; none for the user's own folder.
    pub environment: Option<Arc<str>>,
    /// The path as it was probed.
    #[serde(serialize_with = "lossy")]
    pub path: PathBuf,
}

impl fmt::Display for Locus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.environment {
            Some(id) => write!(f, "{} (environment `{id}`)", self.path.display()),
            None => write!(f, "{} (user)", self.path.display()),
        }
    }
}

/// What became of a probed path or of a text that the host gave.
///
/// # Shape
/// Serialised, a variant is an object whose member `outcome` is its name in snake case; the fields
/// follow, sizes in bytes. The names and fields are part of the public interface of this crate.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "outcome", rename_all = "snake_case")]
#[expect(clippy::exhaustive_enums, reason = "a closed list: whoever explains absence must know every reason")]
pub enum Outcome {
    /// The whole text was loaded.
    Loaded {
        /// The size of the text.
        bytes: u64,
    },
    /// The head of the text was loaded.
    Cut {
        /// The bytes of text that were kept.
        kept: u64,
        /// The bytes of text that there were; the size on disk where the file was not read whole.
        of: u64,
        /// The limit that it did not fit.
        budget: Budget,
    },
    /// Nothing of the text was loaded, because other texts took the room.
    DroppedByBudget {
        /// The bytes of text that there were; the size on disk where the file was not read whole.
        of: u64,
        /// The limit that it did not fit.
        budget: Budget,
    },
    /// It holds white space at most.
    Blank,
    /// Another name in the same folder comes first.
    Shadowed {
        /// The file that was taken.
        #[serde(serialize_with = "lossy")]
        by: PathBuf,
    },
    /// The same file, or the same text in one environment, was loaded under another path.
    Duplicate {
        /// The path that was loaded.
        of: Locus,
    },
    /// Nothing is there.
    Absent,
    /// It is no regular file.
    NotAFile {
        /// What it is.
        found: FileKind,
    },
    /// The system refused.
    Denied {
        /// What was tried.
        op: Operation,
        /// What the system said.
        error: String,
    },
    /// It could not be looked at or read for another reason.
    Failed {
        /// What was tried.
        op: Operation,
        /// What the system said.
        error: String,
    },
    /// It was there when it was probed and gone when it was read.
    Vanished,
    /// Another file was there when it was read, so what the probe had allowed no longer held.
    Replaced,
    /// It leads out of the root, which the policy forbids; it was not read.
    OutsideRoot {
        /// Where it leads.
        #[serde(serialize_with = "lossy")]
        target: PathBuf,
    },
    /// It is a symbolic link, which the policy forbids; it was not read.
    SymlinkRejected,
    /// Another file of its environment failed, so the environment was dropped as a whole (codex preset only).
    Discarded,
    /// Its front matter says that it holds for other files than those that were touched.
    OutOfScope {
        /// The patterns of its front matter.
        patterns: Vec<String>,
    },
    /// The repository excludes it.
    Ignored {
        /// The file whose rule excludes it.
        #[serde(serialize_with = "lossy")]
        by: PathBuf,
    },
    /// Its text stands in another file, which refers to it.
    Imported {
        /// The size of the text, without what it imports itself.
        bytes: u64,
        /// The file that refers to it.
        #[serde(serialize_with = "lossy")]
        into: PathBuf,
    },
    /// A file refers to it that was not used itself, or that refers to it a second time.
    Unneeded,
    /// It says what the repository excludes.
    IgnoreRules,
    /// It marks the root.
    RootMarker,
    /// It would mark a root, and a nearer marker was found.
    OuterMarker,
    /// It is the root, whose resolved path was asked for.
    Root {
        /// Where it leads.
        #[serde(serialize_with = "lossy")]
        resolved: PathBuf,
    },
}

impl Outcome {
    /// The name of the outcome, as it is serialised.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Self::Loaded { .. } => "loaded",
            Self::Cut { .. } => "cut",
            Self::DroppedByBudget { .. } => "dropped_by_budget",
            Self::Blank => "blank",
            Self::Shadowed { .. } => "shadowed",
            Self::Duplicate { .. } => "duplicate",
            Self::Absent => "absent",
            Self::NotAFile { .. } => "not_a_file",
            Self::Denied { .. } => "denied",
            Self::Failed { .. } => "failed",
            Self::Vanished => "vanished",
            Self::Replaced => "replaced",
            Self::OutsideRoot { .. } => "outside_root",
            Self::SymlinkRejected => "symlink_rejected",
            Self::Discarded => "discarded",
            Self::OutOfScope { .. } => "out_of_scope",
            Self::Ignored { .. } => "ignored",
            Self::Imported { .. } => "imported",
            Self::Unneeded => "unneeded",
            Self::IgnoreRules => "ignore_rules",
            Self::RootMarker => "root_marker",
            Self::OuterMarker => "outer_marker",
            Self::Root { .. } => "root",
        }
    }

    /// Whether any of the text reached the model.
    #[must_use]
    pub fn is_loaded(&self) -> bool {
        matches!(self, Self::Loaded { .. } | Self::Cut { .. })
    }

    pub(crate) fn not_a_file(found: &Found) -> Self {
        Self::NotAFile { found: found.kind }
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Loaded { bytes: 1 } => f.write_str("loaded, 1 byte"),
            Self::Loaded { bytes } => write!(f, "loaded, {bytes} bytes"),
            Self::Cut { kept, of, budget } => {
                write!(f, "cut to fit {budget}: {kept} of {of} bytes kept")
            }
            Self::DroppedByBudget { of, budget } => {
                write!(f, "left out: {of} bytes did not fit {budget}")
            }
            Self::Blank => f.write_str("blank"),
            Self::Shadowed { by } => write!(f, "shadowed by {}", by.display()),
            Self::Duplicate { of } => write!(f, "the same as {of}"),
            Self::Absent => f.write_str("absent"),
            Self::NotAFile { found } => write!(f, "not a regular file but {found}"),
            Self::Denied { op, error } => write!(f, "denied to {op}: {error}"),
            Self::Failed { op, error } => write!(f, "could not {op} it: {error}"),
            Self::Vanished => f.write_str("vanished between probe and read"),
            Self::Replaced => f.write_str("replaced between probe and read, not read"),
            Self::OutsideRoot { target } => {
                write!(f, "leads out of the root to {}, not read", target.display())
            }
            Self::SymlinkRejected => f.write_str("a symbolic link, not read"),
            Self::Discarded => f.write_str("dropped, because another file of the environment failed"),
            Self::OutOfScope { patterns } => write!(f, "holds for {} only", patterns.join(", ")),
            Self::Ignored { by } => write!(f, "excluded by {}", by.display()),
            Self::Imported { bytes, into } => write!(f, "imported into {}, {bytes} bytes", into.display()),
            Self::Unneeded => f.write_str("referred to, and not needed"),
            Self::IgnoreRules => f.write_str("read for what it excludes"),
            Self::RootMarker => f.write_str("marks the root"),
            Self::OuterMarker => f.write_str("a marker above the root"),
            Self::Root { resolved } => write!(f, "the root, which is {}", resolved.display()),
        }
    }
}
