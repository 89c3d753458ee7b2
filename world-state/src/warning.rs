//! What went wrong and did not stop the rendering.

use std::fmt;
use std::sync::Arc;

/// Reports something that the host should know and that did not stop the rendering.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Warning {
    /// A stored state could not be read, so the section was rendered as one of which nothing is known.
    #[non_exhaustive]
    Unreadable {
        /// The section's id.
        section: Arc<str>,
        /// What the reader said.
        reason: String,
    },
    /// A section that the model was told is no longer part of the world. It left the state, and the model was told
    /// nothing; to tell it, keep the section and set its empty form.
    #[non_exhaustive]
    Dropped {
        /// The section's id.
        section: Arc<str>,
    },
}

impl Warning {
    /// Returns the id of the section that it is about.
    #[must_use]
    pub fn section(&self) -> &str {
        match self {
            Self::Unreadable { section, .. } | Self::Dropped { section } => section,
        }
    }
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unreadable { section, reason } => {
                write!(f, "the stored state of section `{section}` could not be read: {reason}")
            }
            Self::Dropped { section } => {
                write!(f, "section `{section}` left the world, and the model was not told")
            }
        }
    }
}
