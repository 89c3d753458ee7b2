//! Why the history did not do what it was asked.

use crate::Position;

/// Why the history did not do what it was asked. Nothing was changed when one of these comes back.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// An item is over the cap; user and model items are refused, never cut.
    #[error("item {index} has {bytes} bytes, more than the {max_bytes} bytes that an item may have")]
    #[non_exhaustive]
    ItemTooLarge {
        /// Which of the given items, from 0.
        index: usize,
        /// Its size.
        bytes: usize,
        /// The cap.
        max_bytes: usize,
    },
    /// A prompt was marked as sent after its history had changed.
    #[error(
        "the prompt was made from {prompt_items} items at version {prompt_version}, the history has {items} items at version {version}"
    )]
    #[non_exhaustive]
    Stale {
        /// The items of the prompt's history.
        prompt_items: usize,
        /// The version of the prompt's history.
        prompt_version: u64,
        /// The items now.
        items: usize,
        /// The version now.
        version: u64,
    },
    /// A rewrite names an item that is not in the history.
    #[error("no item at position {position}")]
    #[non_exhaustive]
    NoSuchItem {
        /// The position that was named.
        position: Position,
    },
    /// Something is said of a call that is not in the history.
    #[error("no call at position {position}")]
    #[non_exhaustive]
    NoSuchCall {
        /// The position that was named.
        position: Position,
    },
    /// Something is said of a call whose synthetic output was sent.
    #[error("the synthetic output of the call at position {position} was sent and cannot say anything else")]
    #[non_exhaustive]
    AlreadySent {
        /// The position of the call.
        position: Position,
    },
    /// A rewrite keeps items in another order than the one they stand in.
    #[error("position {position} is kept after position {after}, which stands later")]
    #[non_exhaustive]
    KeptOutOfOrder {
        /// The position that was named too late.
        position: Position,
        /// The one named before it.
        after: Position,
    },
    /// A rewrite keeps a part of an exchange: a call without its output, an output without its call, or one of them
    /// without the reasoning that led to it.
    #[error("the item at position {kept} is kept without the one at position {left_out}, which belongs to it")]
    #[non_exhaustive]
    DividedExchange {
        /// The first item of the exchange that is kept.
        kept: Position,
        /// The first one that is not.
        left_out: Position,
    },
    /// A compaction costs more than what it replaces.
    #[error("the compaction has {tokens} tokens, more than the {tokens_before} tokens that it replaces")]
    #[non_exhaustive]
    NotSmaller {
        /// The estimate of what was given.
        tokens: u64,
        /// The estimate of what stands.
        tokens_before: u64,
    },
    /// A cursor is from before the newest compaction, replacement or import, or stands before its summary.
    #[error("position {position} is beyond the epoch that begins at position {begins}")]
    #[non_exhaustive]
    BeyondEpoch {
        /// The position of the cursor.
        position: Position,
        /// Where the epoch begins, or its first turn to which a cursor leads.
        begins: Position,
    },
    /// A cursor names a place at which no turn begins.
    #[error("no turn begins at position {position}")]
    #[non_exhaustive]
    NoTurnAt {
        /// The position of the cursor.
        position: Position,
    },
    /// A restored entry does not stand after the one before it.
    #[error("position {position} does not follow position {last}")]
    #[non_exhaustive]
    PositionNotIncreasing {
        /// The position that was given.
        position: Position,
        /// The newest one in the history.
        last: Position,
    },
    /// A restored entry has a number that leaves no room for the entries after it.
    #[error("position {position} is larger than {max}, the largest that an entry may have")]
    #[non_exhaustive]
    PositionTooLarge {
        /// The position that was given.
        position: Position,
        /// The largest one.
        max: Position,
    },
    /// A part of the prompt is not the JSON that it has to be.
    #[error("{part}: {found}")]
    #[non_exhaustive]
    BadPart {
        /// The name of the part.
        part: &'static str,
        /// What is wrong with it.
        found: String,
    },
}

impl Error {
    /// Says that a cursor leads to what a compaction, a replacement or an import took away.
    #[must_use]
    pub const fn is_beyond_epoch(&self) -> bool {
        matches!(self, Self::BeyondEpoch { .. })
    }

    /// Says that a newer prompt has to be made.
    #[must_use]
    pub const fn is_stale(&self) -> bool {
        matches!(self, Self::Stale { .. })
    }
}
