//! Instructions that the host gives, and may change while a session runs.

use std::{fmt, path::PathBuf, sync::Arc};

use crate::inputs::UserSource;

/// Instructions of the user, as a provider holds them now.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct ProvidedInstructions {
    /// The text; a blank one counts as none. The same `Arc` again says that nothing changed, without a comparison.
    pub text: Arc<str>,
    /// The file that it came from, if it came from one.
    pub source: Option<Arc<PathBuf>>,
}

impl ProvidedInstructions {
    /// Takes a text that came from no file.
    #[must_use]
    pub fn new(text: impl Into<Arc<str>>) -> Self {
        Self { text: text.into(), source: None }
    }

    /// Names the file that the text came from.
    #[must_use]
    pub fn from_file(mut self, source: impl Into<PathBuf>) -> Self {
        self.source = Some(Arc::new(source.into()));
        self
    }

    pub(crate) fn is_same(&self, other: &Self) -> bool {
        (Arc::ptr_eq(&self.text, &other.text) || self.text == other.text) && self.source == other.source
    }
}

/// Gives the user's instructions at each refresh.
///
/// It is asked on the caller's thread, also on a hit, so it must answer from memory.
pub trait InstructionProvider: Send + Sync {
    /// The instructions that hold now.
    fn instructions(&self) -> Option<ProvidedInstructions>;
}

/// Where a manager has the user's instructions from.
#[derive(Clone)]
#[non_exhaustive]
pub enum HostInstructions {
    /// They are fixed; a folder is read whenever the project's files are.
    Fixed(UserSource),
    /// They are asked for at each refresh.
    Provider(Arc<dyn InstructionProvider>),
}

impl Default for HostInstructions {
    fn default() -> Self {
        Self::Fixed(UserSource::Absent)
    }
}

impl fmt::Debug for HostInstructions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Fixed(source) => f.debug_tuple("Fixed").field(source).finish(),
            Self::Provider(_) => f.write_str("Provider"),
        }
    }
}
