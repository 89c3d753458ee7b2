//! Why a world could not be set, rendered or read.

use std::sync::Arc;

/// Why a world could not be set, rendered or read.
///
/// Whatever the error, neither the world nor the baseline has moved.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// Two sections of different types have one id. The caller's mistake.
    #[error("duplicate world-state section ID: {id}")]
    #[non_exhaustive]
    DuplicateId {
        /// The id that both have.
        id: Arc<str>,
    },
    /// A section's state is null, which a stored state cannot hold: a merge patch reads it as "remove".
    #[error("the state of section `{section}` is null, which a merge patch cannot say")]
    #[non_exhaustive]
    NullSnapshot {
        /// The section's id.
        section: Arc<str>,
    },
    /// A section's state could not be written as JSON. The section's mistake.
    #[error("could not write the state of section `{section}` as JSON")]
    #[non_exhaustive]
    Snapshot {
        /// The section's id.
        section: Arc<str>,
        /// What the serialiser said.
        source: serde_json::Error,
    },
    /// A fragment refused to be rendered. The section's mistake.
    #[error("could not render section `{section}`")]
    #[non_exhaustive]
    Render {
        /// The section's id.
        section: Arc<str>,
        /// What the fragment said.
        source: context_fragments::Error,
    },
    /// A section that changes from turn to turn asked for a place in the prefix. The section's mistake.
    #[error("section `{section}` changes per turn and cannot stand in the prefix")]
    #[non_exhaustive]
    VolatilePrefix {
        /// The section's id.
        section: Arc<str>,
    },
    /// The declaration of a tool cannot be used. Bad input.
    #[error("tool declaration {position} {problem}")]
    #[non_exhaustive]
    Tool {
        /// Where it stands among those that were given, from 0.
        position: usize,
        /// What is wrong with it.
        problem: &'static str,
    },
    /// The declaration of a tool is not JSON. Bad input.
    #[error("tool declaration {position} is not JSON")]
    #[non_exhaustive]
    ToolJson {
        /// Where it stands among those that were given, from 0.
        position: usize,
        /// What the parser said.
        source: serde_json::Error,
    },
    /// Two tools have one name. Bad input: the model could call only one of them.
    #[error("two tools are called `{name}`")]
    #[non_exhaustive]
    ToolCollision {
        /// The name; that of a member of a namespace is `namespace.member`.
        name: Arc<str>,
    },
    /// A hash is not 40 hex digits in lower case. Bad input.
    #[error("not a SHA-1 in lower-case hex: {input:?}")]
    #[non_exhaustive]
    Hash {
        /// What was given.
        input: String,
    },
    /// A date is not a day of the calendar, written `YYYY-MM-DD`. Bad input.
    #[error("not a date of the form YYYY-MM-DD: {input:?}")]
    #[non_exhaustive]
    Date {
        /// What was given.
        input: String,
    },
}
