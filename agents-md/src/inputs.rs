//! What the host knows before discovery starts: where the agent works, whom it trusts, what it was told.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use crate::error::Error;

/// How large thread instructions may be, in bytes (10,000 tokens at four bytes a token).
pub const MAX_THREAD_BYTES: usize = 40_000;

const BYTES_PER_TOKEN: usize = 4;

/// What an environment lets its agent read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ReadAccess {
    /// The whole disk; a file that cannot be read is skipped and reported.
    #[default]
    Full,
    /// A sandbox decides; a file that cannot be read is an error, because a rule that was not
    /// seen may be the one that forbids what comes next.
    Restricted,
}

/// One place where the agent works: its id, its folder, what it may read.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct TurnEnvironmentSelection {
    /// The id by which the host and the model name this environment.
    pub id: Arc<str>,
    /// The folder the agent works in, exactly as the host gave it; never resolved or cleaned.
    pub cwd: PathBuf,
    /// Whether a file that cannot be read is skipped or an error.
    pub access: ReadAccess,
}

impl TurnEnvironmentSelection {
    /// Names a folder that the agent may read in full.
    #[must_use]
    pub fn new(id: impl Into<Arc<str>>, cwd: impl Into<PathBuf>) -> Self {
        Self { id: id.into(), cwd: cwd.into(), access: ReadAccess::Full }
    }

    /// Marks the environment as sandboxed.
    #[must_use]
    pub fn restricted(mut self) -> Self {
        self.access = ReadAccess::Restricted;
        self
    }
}

/// Whether the project may tell the agent what to do.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum TrustLevel {
    /// The user trusts the project.
    Trusted,
    /// Nobody was asked; the project's files are loaded.
    #[default]
    Unknown,
    /// The user does not trust the project: no path of it is probed.
    Untrusted,
}

/// Where the user's own instructions, which hold for every project, come from.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum UserSource {
    /// There are none.
    #[default]
    Absent,
    /// A folder that holds `AGENTS.override.md` or `AGENTS.md`.
    Folder(PathBuf),
    /// The host has read them already.
    Given {
        /// The text; a blank one counts as absent.
        text: Arc<str>,
        /// The file it came from, if it came from one.
        source: Option<PathBuf>,
    },
}

/// Instructions for one conversation, checked against their limit.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ThreadInstructions(Arc<str>);

impl ThreadInstructions {
    /// Takes `text` if it is at most [`MAX_THREAD_BYTES`] long; it is never cut here.
    ///
    /// # Errors
    /// [`Error::ThreadTooLong`] with the estimated size, in tokens.
    ///
    /// # Example
    /// ```
    /// use agents_md::ThreadInstructions;
    ///
    /// assert!(ThreadInstructions::new("x".repeat(40_000)).is_ok());
    /// assert_eq!(
    ///     ThreadInstructions::new("x".repeat(40_001)).unwrap_err().to_string(),
    ///     "thread instructions exceed the limit of 10000 estimated tokens \
    ///      (10001 estimated tokens provided)",
    /// );
    /// ```
    pub fn new(text: impl Into<Arc<str>>) -> Result<Self, Error> {
        let text = text.into();
        if text.len() > MAX_THREAD_BYTES {
            return Err(Error::ThreadTooLong { estimated_tokens: text.len().div_ceil(BYTES_PER_TOKEN) });
        }
        Ok(Self(text))
    }

    /// The text as it was given.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    pub(crate) fn shared(&self) -> Arc<str> {
        Arc::clone(&self.0)
    }
}

/// Everything that discovery is told; nothing is read from the process.
///
/// # Example
/// ```
/// use agents_md::{Inputs, TrustLevel, TurnEnvironmentSelection, UserSource};
///
/// let inputs = Inputs::new(vec![TurnEnvironmentSelection::new("local", "/r/app")])
///     .with_trust(TrustLevel::Trusted)
///     .with_user(UserSource::Folder("/home/me/.codex".into()));
/// assert_eq!(inputs.environments.len(), 1);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Inputs {
    /// The environments that are ready, the primary one first.
    pub environments: Arc<[TurnEnvironmentSelection]>,
    /// Whether the project's files are looked at.
    pub trust: TrustLevel,
    /// The user's own instructions.
    pub user: UserSource,
    /// The instructions of this conversation.
    pub thread: Option<ThreadInstructions>,
    /// The files that the agent works with, for instructions that hold for some files only; none unless
    /// [`Scoping`](crate::Scoping) is on.
    pub touched: Vec<PathBuf>,
    /// Texts of the host itself that belong after the files, such as how to treat nested ones.
    pub internal: Vec<Arc<str>>,
}

impl Inputs {
    /// Starts from the environments, with unknown trust and no other instructions.
    #[must_use]
    pub fn new(environments: impl Into<Arc<[TurnEnvironmentSelection]>>) -> Self {
        Self { environments: environments.into(), ..Self::default() }
    }

    /// Starts from one environment called `local`, whose folder is `cwd`.
    #[must_use]
    pub fn local(cwd: impl AsRef<Path>) -> Self {
        Self::new(vec![TurnEnvironmentSelection::new("local", cwd.as_ref())])
    }

    /// Says how far the project is trusted.
    #[must_use]
    pub fn with_trust(mut self, trust: TrustLevel) -> Self {
        self.trust = trust;
        self
    }

    /// Says where the user's own instructions come from.
    #[must_use]
    pub fn with_user(mut self, user: UserSource) -> Self {
        self.user = user;
        self
    }

    /// Adds the instructions of this conversation.
    #[must_use]
    pub fn with_thread(mut self, thread: ThreadInstructions) -> Self {
        self.thread = Some(thread);
        self
    }

    /// Names a file that the agent works with.
    #[must_use]
    pub fn with_touched(mut self, path: impl Into<PathBuf>) -> Self {
        self.touched.push(path.into());
        self
    }

    /// Adds a text of the host after the files.
    #[must_use]
    pub fn with_internal(mut self, text: impl Into<Arc<str>>) -> Self {
        self.internal.push(text.into());
        self
    }
}
