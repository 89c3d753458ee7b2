//! One item of the history, and what only the host sees of it.

use std::{fmt, sync::Arc};

use context_fragments::{ContextItem, ItemType, Kind, Limit, Role, WireItem};
use serde::{Deserialize, Serialize};

use crate::{Digest, measured::Measured, record::ReadyItem, state::State};

/// The stored number of an entry: strictly increasing, never used twice, the same after a resume.
///
/// It is not an index. A rollback leaves a gap, and a rewrite gives the items that it keeps new numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Position(u64);

impl Position {
    /// The largest number that a restored entry may have: half of all, so that no history runs out of numbers.
    pub const MAX: Self = Self(u64::MAX >> 1);

    /// Makes a position, for a log that is being read again.
    #[must_use]
    pub const fn new(number: u64) -> Self {
        Self(number)
    }

    /// The number.
    #[must_use]
    pub const fn number(self) -> u64 {
        self.0
    }
}

impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// The id of a turn; a clone is a reference count.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct TurnId(Arc<str>);

impl TurnId {
    /// Makes an id from its text.
    #[must_use]
    pub fn new(id: impl Into<Arc<str>>) -> Self {
        Self(id.into())
    }

    /// The text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for TurnId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

/// Who made an item.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Origin {
    /// The person.
    User,
    /// The model.
    Model,
    /// A tool, as the result of a call.
    Tool,
    /// The program around the model: context, settings, base instructions.
    Host,
    /// A projection, to make the history acceptable; never stored.
    Repair,
}

impl Origin {
    /// Guesses who made `item` from its type and its kinds.
    ///
    /// A configuration update is nobody's until a host says that it is the host's.
    #[must_use]
    pub fn of(item: &ContextItem) -> Self {
        match item.item().item_type() {
            ItemType::Message if item.item().role() == Some(Role::Assistant) => Self::Model,
            ItemType::Message if item.item().role() == Some(Role::User) => {
                let kinds = item.kinds();
                if kinds.is_empty() || kinds.iter().any(Kind::is_user_authored) { Self::User } else { Self::Host }
            }
            ItemType::Message | ItemType::AdditionalTools => Self::Host,
            ItemType::FunctionCallOutput | ItemType::CustomToolCallOutput | ItemType::ToolSearchOutput => Self::Tool,
            _ => Self::Model,
        }
    }
}

/// A context item in the history, with its position, turn, origin, bound, digest, estimate and cumulative state.
///
/// The bytes were made when it was recorded and never change. Nothing of the envelope goes on the wire.
#[derive(Clone, Debug)]
pub struct ResponseItemEnvelope {
    pub(crate) measured: Measured,
    pub(crate) position: Position,
    pub(crate) state: State,
}

impl ResponseItemEnvelope {
    /// The same item as one that can be appended.
    pub(crate) fn ready(&self) -> ReadyItem {
        self.measured.clone().into()
    }

    /// The item and the kinds of its parts.
    #[must_use]
    pub const fn context_item(&self) -> &ContextItem {
        &self.measured.item
    }

    /// The item.
    #[must_use]
    pub fn item(&self) -> &WireItem {
        self.measured.item.item()
    }

    /// The kinds of the content parts; empty if none are known.
    #[must_use]
    pub fn kinds(&self) -> &[Kind] {
        self.measured.item.kinds()
    }

    /// The stored number.
    #[must_use]
    pub const fn position(&self) -> Position {
        self.position
    }

    /// The number that a rewrite which kept the item took away.
    #[must_use]
    pub fn moved_from(&self) -> Option<Position> {
        self.measured.moved_from()
    }

    /// The turn in which it was recorded.
    #[must_use]
    pub const fn turn(&self) -> Option<&TurnId> {
        self.measured.turn.as_ref()
    }

    /// Who made it.
    #[must_use]
    pub const fn origin(&self) -> Origin {
        self.measured.findings.origin
    }

    /// The model that made it; none if no model did, or it is not known which.
    #[must_use]
    pub fn model(&self) -> Option<&str> {
        self.measured.model.as_deref()
    }

    /// The order in which the host accepted it, where that is not the order of recording.
    #[must_use]
    pub fn acceptance_order(&self) -> Option<u64> {
        self.measured.acceptance_order()
    }

    /// The limit to which a tool output was held when it was recorded.
    #[must_use]
    pub const fn truncation_limit(&self) -> Option<Limit> {
        self.measured.limit
    }

    /// The SHA-256 of the item's bytes.
    #[must_use]
    pub const fn digest(&self) -> Digest {
        self.measured.digest
    }

    /// The estimate of this item, in tokens.
    #[must_use]
    pub const fn tokens(&self) -> u64 {
        self.measured.tokens
    }

    /// What is true once this item is recorded: totals, baseline, settings.
    #[must_use]
    pub const fn state(&self) -> &State {
        &self.state
    }
}
