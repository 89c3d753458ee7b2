//! Where a text of the instructions came from.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

/// Where one entry of the instructions came from.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum InstructionProvenance {
    /// A file of the project.
    #[non_exhaustive]
    Project {
        /// The file, as it was probed.
        source_path: PathBuf,
        /// The environment through which it was found.
        environment_id: Arc<str>,
        /// The working folder of that environment.
        cwd: PathBuf,
    },
    /// The host itself.
    Internal,
}

impl InstructionProvenance {
    /// Names a file of the project.
    #[must_use]
    pub fn project(
        source_path: impl Into<PathBuf>,
        environment_id: impl Into<Arc<str>>,
        cwd: impl Into<PathBuf>,
    ) -> Self {
        Self::Project { source_path: source_path.into(), environment_id: environment_id.into(), cwd: cwd.into() }
    }

    /// The file, if there is one.
    #[must_use]
    pub fn source_path(&self) -> Option<&Path> {
        match self {
            Self::Project { source_path, .. } => Some(source_path),
            Self::Internal => None,
        }
    }
}
