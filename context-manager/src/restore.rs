//! Putting back what a log holds.

use std::sync::Arc;

use context_fragments::{ContextItem, Limit};

use crate::{ContextManager, Error, Fact, Origin, Position, TurnId, measured::Measured};

/// An item as a log holds it: its bytes, and what only the host saw of it.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Restored {
    /// The item.
    pub item: ContextItem,
    /// The position that it had.
    pub position: Position,
    /// The turn in which it was recorded.
    pub turn: Option<TurnId>,
    /// Who made it; [`Origin::of`] where the log does not say.
    pub origin: Option<Origin>,
    /// The order in which the host accepted it.
    pub acceptance_order: Option<u64>,
    /// The limit to which it was held.
    pub truncation_limit: Option<Limit>,
    /// The position that a rewrite took away.
    pub moved_from: Option<Position>,
    /// The model that made it.
    pub model: Option<Arc<str>>,
}

impl Restored {
    /// An item of which the log holds no more than the position.
    #[must_use]
    pub const fn new(item: ContextItem, position: Position) -> Self {
        Self {
            item,
            position,
            turn: None,
            origin: None,
            acceptance_order: None,
            truncation_limit: None,
            moved_from: None,
            model: None,
        }
    }
}

impl ContextManager {
    /// Puts back an item as it was recorded: it is neither filtered nor cut nor held to a bound.
    ///
    /// # Errors
    /// [`Error::PositionNotIncreasing`] if it does not stand behind the newest entry, [`Error::PositionTooLarge`] above
    /// [`Position::MAX`].
    pub fn restore(&mut self, restored: Restored) -> Result<(), Error> {
        self.move_to(restored.position)?;
        let mut measured = Measured::new(restored.item, self.counter());
        measured.findings.origin = restored.origin.unwrap_or(measured.origin());
        measured.turn = restored.turn;
        measured.set_acceptance_order(restored.acceptance_order);
        measured.limit = restored.truncation_limit;
        measured.model = restored.model;
        self.push_kept(restored.moved_from, measured.into());
        Ok(())
    }

    /// Puts back a fact as it was recorded.
    ///
    /// # Errors
    /// [`Error::PositionNotIncreasing`] if it does not stand behind the newest entry, [`Error::PositionTooLarge`] above
    /// [`Position::MAX`].
    pub fn restore_fact(&mut self, fact: Fact, position: Position, turn: Option<TurnId>) -> Result<(), Error> {
        self.move_to(position)?;
        let mut state = self.state_or_default(|state| state.with_fact(&fact, position, turn.as_ref()));
        if let Fact::Rewritten { rewrite, version } = fact {
            state = state.with_held(|held| held.version = version);
            Arc::make_mut(&mut self.rewrites).push((version, rewrite));
        }
        self.push_fact(fact, turn, state);
        Ok(())
    }

    fn move_to(&mut self, position: Position) -> Result<(), Error> {
        if position.number() < self.next_position {
            let last = Position::new(self.next_position.saturating_sub(1));
            return Err(Error::PositionNotIncreasing { position, last });
        }
        if position > Position::MAX {
            return Err(Error::PositionTooLarge { position, max: Position::MAX });
        }
        self.next_position = position.number();
        Ok(())
    }
}
