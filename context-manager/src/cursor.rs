//! Places at which a turn begins.

use crate::{ContextManager, Error, HistorySnapshot, Position, State, TurnId, rollback::cut_at};

/// A place at which a turn begins: the unit of rollback and fork.
///
/// It is the position of the input that begins the turn, so a host that keeps the positions of inputs has its cursors.
/// It stays good over a rollback behind it, over an elision and over a resume. A compaction, a replacement and an import
/// end it: see [`Error::BeyondEpoch`].
///
/// Whoever keeps cursors of several sessions keeps the session's id beside each; a history knows only its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Cursor(Position);

impl Cursor {
    /// The cursor of the turn that the input at `position` begins.
    #[must_use]
    pub const fn at(position: Position) -> Self {
        Self(position)
    }

    /// Where the input stands, or stood when the cursor was made.
    #[must_use]
    pub const fn position(self) -> Position {
        self.0
    }
}

/// Where a cursor leads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Resolved {
    /// To this turn, counted from 1.
    Turn(usize),
    /// To the end of the history.
    End,
    /// To a turn that was taken back.
    Gone,
}

impl HistorySnapshot {
    /// The cursors of the turns of this epoch, oldest first: those to which a rollback or a fork may go.
    ///
    /// A turn that stands before a summary, or was kept by a compaction, is not among them. Each is found by a search, so
    /// that the newest ones cost the same in a history of any length.
    pub fn cursors(&self) -> impl DoubleEndedIterator<Item = Cursor> {
        let first = self.told_turns() + 1;
        (first..=self.turn_count())
            .filter_map(|number| self.log.get(self.index_of_turn(number)?).map(|entry| Cursor(entry.position())))
    }

    /// The cursor of the turn with this id, if its input stands in this epoch.
    #[must_use]
    pub fn cursor_of(&self, turn: &TurnId) -> Option<Cursor> {
        let is_of_turn = |cursor: &Cursor| {
            let input = self.entry_at(cursor.position()).and_then(|entry| entry.as_item());
            input.and_then(|input| input.turn()) == Some(turn)
        };
        self.cursors().rev().find(is_of_turn)
    }

    /// The place at which the next turn would begin.
    #[must_use]
    pub fn end_cursor(&self) -> Cursor {
        let next = self.log.last().map_or(0, |entry| entry.position().number().saturating_add(1));
        Cursor(Position::new(next))
    }

    /// Where in the log the turn with this number begins, counted from 1.
    pub(crate) fn index_of_turn(&self, number: usize) -> Option<usize> {
        if number == 0 || number > self.turn_count() {
            return None;
        }
        let (mut from, mut to) = (0, self.log.len());
        while from < to {
            let middle = from + (to - from) / 2;
            if self.log.get(middle)?.state().turns() < number {
                from = middle + 1;
            } else {
                to = middle;
            }
        }
        Some(from)
    }

    /// How many turns begin before the entry with this index.
    pub(crate) fn turns_before(&self, index: usize) -> usize {
        let before = index.checked_sub(1).and_then(|before| self.log.get(before));
        before.map_or(0, |entry| entry.state().turns())
    }

    /// The turns to which no cursor leads any more.
    pub(crate) fn told_turns(&self) -> usize {
        // A host's own rewrite may have taken some of them.
        self.state().map_or(0, |state| state.held().told_turns.min(state.turns) as usize)
    }

    /// Where the epoch begins: at the newest compaction, replacement or import.
    pub(crate) fn epoch(&self) -> Option<Position> {
        self.state().and_then(|state: &State| state.held().epoch)
    }
}

impl ContextManager {
    /// Finds out where a cursor leads.
    pub(crate) fn resolve(&self, cursor: Cursor) -> Result<Resolved, Error> {
        let history = &self.history;
        let asked = cursor.position();
        if let Some(begins) = history.epoch().filter(|begins| asked < *begins) {
            return Err(Error::BeyondEpoch { position: asked, begins });
        }
        let mut position = asked;
        while let Some(moved) = self.moves.get(&position) {
            position = *moved;
        }
        if position == history.end_cursor().position() {
            return Ok(Resolved::End);
        }
        let Some(index) = history.index_of(position) else {
            let was_recorded = position.number() < self.next_position;
            return if was_recorded { Ok(Resolved::Gone) } else { Err(Error::NoTurnAt { position: asked }) };
        };
        let before = history.turns_before(index);
        let number = match history.log.get(index).map_or(0, |entry| entry.state().turns()) {
            number if number > before => number,
            // A cursor of what was the end names the context that was recorded there for the turn that began then.
            _ if cut_at(history, before + 1, self.preset).is_some_and(|cut| cut.entries <= index) => before + 1,
            _ => return Err(Error::NoTurnAt { position: asked }),
        };
        if number <= history.told_turns() {
            let begins = history.cursors().next().unwrap_or_else(|| history.end_cursor()).position();
            return Err(Error::BeyondEpoch { position: asked, begins });
        }
        Ok(Resolved::Turn(number))
    }
}
