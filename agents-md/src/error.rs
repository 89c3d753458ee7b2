//! Why instructions could not be loaded.

use std::{io, path::PathBuf, sync::Arc};

use crate::{ask::Failure, outcome::Operation};

/// Why instructions could not be loaded.
///
/// A missing, blank or oversized file is no error: the [`Trace`](crate::Trace) says what became of it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A file that must not be skipped could not be looked at or read.
    #[error("could not {op} {path}{of}", path = path.display(), of = in_environment(environment.as_deref()))]
    #[non_exhaustive]
    Access {
        /// The environment that the file belongs to; none for the user's own folder.
        environment: Option<Arc<str>>,
        /// The file, as it was asked for.
        path: PathBuf,
        /// What was tried.
        op: Operation,
        /// What the file system said.
        source: Failure,
    },
    /// A restricted environment failed as a whole, in the words of the reference.
    #[error("failed to load AGENTS.md instructions for environment `{environment}`: {source}")]
    #[non_exhaustive]
    Environment {
        /// The id of the environment.
        environment: Arc<str>,
        /// The file that failed.
        path: PathBuf,
        /// What was tried.
        op: Operation,
        /// What the file system said.
        source: Failure,
    },
    /// The instructions of the conversation are over their limit; they are refused, never cut.
    #[error(
        "thread instructions exceed the limit of 10000 estimated tokens \
         ({estimated_tokens} estimated tokens provided)"
    )]
    #[non_exhaustive]
    ThreadTooLong {
        /// The size that was given, at four bytes a token.
        estimated_tokens: usize,
    },
    /// A folder was given that has no root, so its parents cannot be known.
    #[error("the folder {path} must be absolute{of}", path = path.display(), of = in_environment(environment.as_deref()))]
    #[non_exhaustive]
    RelativeFolder {
        /// The environment that the folder belongs to; none for the user's own folder.
        environment: Option<Arc<str>>,
        /// The folder, as it was given.
        path: PathBuf,
    },
    /// A file system answered a batch with another number of answers than it had asks.
    #[error("{asked} paths were asked about and {answered} answers came back")]
    #[non_exhaustive]
    AnswerCount {
        /// How many asks the batch had.
        asked: usize,
        /// How many answers came.
        answered: usize,
    },
    /// The blocking task that held the discovery was cancelled or panicked.
    #[error("the discovery was stopped: {reason}")]
    #[non_exhaustive]
    Stopped {
        /// What the runtime said.
        reason: String,
    },
}

impl Error {
    /// The kind of the system's error, where the file system is at fault.
    #[must_use]
    pub fn io_kind(&self) -> Option<io::ErrorKind> {
        match self {
            Self::Access { source, .. } | Self::Environment { source, .. } => Some(source.kind()),
            _ => None,
        }
    }

    /// Whether the host's own call was wrong, so that trying again cannot help.
    #[must_use]
    pub fn is_misuse(&self) -> bool {
        matches!(self, Self::ThreadTooLong { .. } | Self::RelativeFolder { .. } | Self::AnswerCount { .. })
    }
}

fn in_environment(environment: Option<&str>) -> String {
    environment.map_or_else(String::new, |id| format!(" (environment `{id}`)"))
}
