//! Entries of the log that are no items.

use std::fmt;

use context_fragments::TurnContextItem;
use serde::{Deserialize, Serialize};
use world_state::WorldStateSnapshot;

use crate::{Position, TurnId, state::State};

/// A named change of what was recorded. Nothing else changes, moves or drops an envelope.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Rewrite {
    /// Old items were replaced by a summary.
    Compaction,
    /// The newest turns were taken back.
    Rollback,
    /// The host gave another history.
    Replace,
    /// Old media were replaced by placeholders.
    Elide,
    /// The history came from a foreign log.
    Import,
}

impl Rewrite {
    /// Says that no cursor from before it leads anywhere: what it left is another history than the one before.
    #[must_use]
    pub const fn begins_epoch(self) -> bool {
        matches!(self, Self::Compaction | Self::Replace | Self::Import)
    }
}

impl fmt::Display for Rewrite {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Compaction => "compaction",
            Self::Rollback => "rollback",
            Self::Replace => "replace",
            Self::Elide => "elide",
            Self::Import => "import",
        })
    }
}

/// What an entry that is no item says.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Fact {
    /// The model has been told this world state, or what it was told no longer counts.
    Baseline(Option<WorldStateSnapshot>),
    /// These settings have been made visible, or none count any more.
    TurnContext(Option<TurnContextItem>),
    /// What stands before was rewritten.
    Rewritten {
        /// The name of the rewrite.
        rewrite: Rewrite,
        /// The history version from here on.
        version: u64,
    },
}

/// A fact in the history, with its position, turn and cumulative state.
#[derive(Clone, Debug)]
pub struct FactEntry {
    pub(crate) fact: Fact,
    pub(crate) position: Position,
    pub(crate) turn: Option<TurnId>,
    pub(crate) state: State,
}

impl FactEntry {
    /// What it says.
    #[must_use]
    pub const fn fact(&self) -> &Fact {
        &self.fact
    }

    /// The stored number.
    #[must_use]
    pub const fn position(&self) -> Position {
        self.position
    }

    /// The turn in which it was recorded.
    #[must_use]
    pub const fn turn(&self) -> Option<&TurnId> {
        self.turn.as_ref()
    }

    /// What is true once this fact is recorded.
    #[must_use]
    pub const fn state(&self) -> &State {
        &self.state
    }
}
