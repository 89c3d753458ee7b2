//! What a host should tell its user about the instructions that were loaded.

use std::{fmt, path::PathBuf};

use crate::{
    ask::Failure,
    decode::DecodeReport,
    outcome::{Operation, Outcome},
    trace::Scope,
};

/// Something about the loaded instructions that a user should know.
///
/// Its text is the `Display` form. The codex preset warns about the user's own file only, as the reference does.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Warning {
    /// Bytes of a file could not be decoded and were replaced.
    #[non_exhaustive]
    Replaced {
        /// To whom the file belongs.
        scope: Scope,
        /// The file.
        path: PathBuf,
        /// How many bytes, and where the first is.
        report: DecodeReport,
    },
    /// A text was cut to fit a budget.
    #[non_exhaustive]
    Cut {
        /// To whom the text belongs.
        scope: Scope,
        /// The file, if it came from one.
        path: Option<PathBuf>,
        /// The bytes that there were.
        size: u64,
        /// The bytes that were kept; 0 for a text that was left out.
        kept: u64,
    },
    /// A file could not be looked at or read.
    #[non_exhaustive]
    Unreadable {
        /// To whom the file belongs.
        scope: Scope,
        /// The file.
        path: PathBuf,
        /// What was tried.
        op: Operation,
        /// What the system said.
        failure: Failure,
    },
    /// A file was not read because the symlink policy forbids it.
    #[non_exhaustive]
    NotFollowed {
        /// To whom the file belongs.
        scope: Scope,
        /// The file.
        path: PathBuf,
        /// Why.
        outcome: Outcome,
    },
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Replaced { scope, path, report } => {
                let source = match scope {
                    Scope::Project { .. } => "Project",
                    Scope::User | Scope::Thread => "Global",
                };
                let path = path.display();
                write!(f, "{source} AGENTS.md instructions from `{path}` contain invalid ")?;
                match (&report.utf8_error, report.first_replacement) {
                    (Some(error), _) => write!(f, "UTF-8: {error}. ")?,
                    (None, first) => write!(f, "UTF-16 at byte {}. ", first.unwrap_or_default())?,
                }
                f.write_str("Invalid byte sequences were replaced.")
            }
            Self::Cut { scope, path, size, kept } => {
                match path {
                    Some(path) => write!(f, "{} ({scope})", path.display())?,
                    None => write!(f, "the {scope} instructions")?,
                }
                write!(f, ": {kept} of {size} bytes are shown to the model")
            }
            Self::Unreadable { scope: Scope::User, path, failure, .. } => {
                write!(f, "Failed to read global AGENTS.md instructions from `{}`: {failure}", path.display())
            }
            Self::Unreadable { scope, path, op, failure } => {
                write!(f, "could not {op} {} ({scope}): {failure}", path.display())
            }
            Self::NotFollowed { scope, path, outcome } => write!(f, "{} ({scope}) {outcome}", path.display()),
        }
    }
}
