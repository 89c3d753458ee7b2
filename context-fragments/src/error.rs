//! Why a piece of context could not be made or read.

use crate::Kind;

/// Why a piece of context could not be made or read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The bytes are not UTF-8, which JSON has to be.
    #[error("not UTF-8 at byte {position}")]
    #[non_exhaustive]
    NotUtf8 {
        /// The first byte that is not part of a character, from 0.
        position: usize,
    },
    /// The text is not one JSON value.
    #[error("not JSON at line {line}, column {column}")]
    #[non_exhaustive]
    NotJson {
        /// The line, from 1.
        line: usize,
        /// The byte column in that line, from 1.
        column: usize,
        /// What the parser said.
        source: serde_json::Error,
    },
    /// The value has another shape than the place needs.
    #[error("{place}: expected {expected}, found {found}")]
    #[non_exhaustive]
    Shape {
        /// The place, such as `function_call_output.output`.
        place: String,
        /// What stands there in a well-formed value.
        expected: &'static str,
        /// What was found instead.
        found: &'static str,
    },
    /// One item has more bytes than positions in it can count.
    #[error("an item of {bytes} bytes is over the limit of {limit} bytes")]
    #[non_exhaustive]
    ItemTooLarge {
        /// The size of the item.
        bytes: usize,
        /// The largest size.
        limit: usize,
    },
    /// A fragment that must not be cut renders to more than its bound.
    #[error("{kind}: {tokens} tokens are over the limit of {max_tokens} tokens")]
    #[non_exhaustive]
    FragmentTooLarge {
        /// The kind of the fragment.
        kind: Kind,
        /// Its estimated size.
        tokens: usize,
        /// Its bound.
        max_tokens: usize,
    },
    /// A word is none of the words that a setting knows.
    #[error("unknown {setting} `{word}`, expected one of {expected}")]
    #[non_exhaustive]
    UnknownWord {
        /// The setting, such as `sandbox mode`.
        setting: &'static str,
        /// The word that was given.
        word: String,
        /// The words that it knows.
        expected: &'static str,
    },
}

impl Error {
    /// Says that the input, not the caller and not the system, is at fault.
    #[must_use]
    pub const fn is_bad_json(&self) -> bool {
        matches!(self, Self::NotUtf8 { .. } | Self::NotJson { .. } | Self::Shape { .. })
    }
}
