//! The places where the agent works, and whether they can be used yet.

use std::{
    fmt,
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use agents_md::{ReadAccess, TurnEnvironmentSelection};
use world_state::Environment;

/// Says whether an environment can be used.
///
/// It is asked once for each step, on the caller's thread, so it must answer from memory.
pub trait Readiness: Send + Sync {
    /// Says that the environment can be used.
    fn is_ready(&self) -> bool;
}

/// A flag that the host raises when an environment has started.
///
/// # Example
/// ```
/// use session::{Readiness, ReadinessFlag};
///
/// let flag = ReadinessFlag::starting();
/// assert!(!flag.is_ready());
/// flag.set_ready();
/// assert!(flag.is_ready());
/// ```
#[derive(Clone, Debug, Default)]
pub struct ReadinessFlag(Arc<AtomicBool>);

impl ReadinessFlag {
    /// An environment that starts.
    #[must_use]
    pub fn starting() -> Self {
        Self::default()
    }

    /// Says that it can be used from now on.
    pub fn set_ready(&self) {
        self.0.store(true, Ordering::Release);
    }
}

impl Readiness for ReadinessFlag {
    fn is_ready(&self) -> bool {
        self.0.load(Ordering::Acquire)
    }
}

/// One place where the agent works, as the host sets it up.
///
/// # Example
/// ```
/// use session::SessionEnvironment;
///
/// let here = SessionEnvironment::new("local", "/r").with_shell("bash");
/// assert_eq!(here.id(), "local");
/// ```
#[derive(Clone)]
pub struct SessionEnvironment {
    selection: TurnEnvironmentSelection,
    shell: Option<Arc<str>>,
    readiness: Option<Arc<dyn Readiness>>,
}

impl SessionEnvironment {
    /// Names a folder in which the agent works; it can be used, and its agent may read the whole disk.
    #[must_use]
    pub fn new(id: impl Into<Arc<str>>, cwd: impl Into<PathBuf>) -> Self {
        Self { selection: TurnEnvironmentSelection::new(id, cwd), shell: None, readiness: None }
    }

    /// Says that a sandbox decides what can be read: an instruction file that cannot be read is an error.
    #[must_use]
    pub fn restricted(mut self) -> Self {
        self.selection.access = ReadAccess::Restricted;
        self
    }

    /// Names the shell that commands are for.
    #[must_use]
    pub fn with_shell(mut self, shell: impl Into<Arc<str>>) -> Self {
        self.shell = Some(shell.into());
        self
    }

    /// Says who knows whether it can be used. Until then the model is told that it starts, and its files are not read.
    #[must_use]
    pub fn with_readiness(mut self, readiness: impl Readiness + 'static) -> Self {
        self.readiness = Some(Arc::new(readiness));
        self
    }

    /// The id.
    #[must_use]
    pub fn id(&self) -> &str {
        &self.selection.id
    }

    /// The folder.
    #[must_use]
    pub fn cwd(&self) -> &Path {
        &self.selection.cwd
    }

    /// Asks whether it can be used, and freezes the answer.
    pub(crate) fn refresh_readiness(&self) -> StepEnvironment {
        let is_ready = self.readiness.as_ref().is_none_or(|readiness| readiness.is_ready());
        StepEnvironment {
            selection: self.selection.clone(),
            shell: self.shell.clone(),
            status: if is_ready { StepReadiness::Ready } else { StepReadiness::Starting },
        }
    }
}

impl fmt::Debug for SessionEnvironment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SessionEnvironment")
            .field("selection", &self.selection)
            .field("shell", &self.shell)
            .finish_non_exhaustive()
    }
}

/// Whether an environment could be used when a step began.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum StepReadiness {
    /// It could.
    Ready,
    /// It was starting.
    Starting,
}

/// An environment as it was when a step began.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct StepEnvironment {
    /// Its id, folder and read access.
    pub selection: TurnEnvironmentSelection,
    /// The shell that commands are for.
    pub shell: Option<Arc<str>>,
    /// Whether it could be used.
    pub status: StepReadiness,
}

impl StepEnvironment {
    /// What the model is told of it.
    pub(crate) fn described(&self) -> Environment {
        let mut described = Environment::new(self.selection.cwd.to_string_lossy().as_ref());
        if let Some(shell) = &self.shell {
            described = described.with_shell(Arc::clone(shell));
        }
        match self.status {
            StepReadiness::Ready => described,
            StepReadiness::Starting => described.starting(),
        }
    }
}
