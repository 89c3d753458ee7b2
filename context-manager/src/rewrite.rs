//! Named rewrites: a new log from kept and new items.

use std::sync::Arc;

use context_fragments::TurnContextItem;

use crate::{
    ContextManager, Error, Fact, HistorySnapshot, Incoming, Position, Recorded, Recording, Rewrite, State, TurnId,
    record::{Original, ReadyItem, admit},
    state::Held,
};

/// One item of a history that takes the place of another one.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Replacement {
    /// The item that stands at this position: same bytes, digest, estimate and turn, a new position.
    Keep(Position),
    /// A new item; it is filtered and bounded like every other one.
    New(Incoming),
}

impl<T: Into<Incoming>> From<T> for Replacement {
    fn from(item: T) -> Self {
        Self::New(item.into())
    }
}

impl From<Position> for Replacement {
    fn from(position: Position) -> Self {
        Self::Keep(position)
    }
}

/// One entry of a log that is rebuilt.
pub(crate) enum Kept {
    /// An item, and the position that it had.
    Item(Option<Position>, ReadyItem),
    /// A fact, at its place among the items.
    Fact(Fact, Option<TurnId>),
}

impl ContextManager {
    /// Replaces the history. The baseline is cleared, the reference context item stays until the caller sets it.
    ///
    /// # Errors
    /// [`Error::NoSuchItem`] and [`Error::KeptOutOfOrder`] for what is kept, [`Error::ItemTooLarge`] for what is new.
    /// Nothing was changed.
    pub fn replace<I>(&mut self, items: I, recording: &Recording) -> Result<Recorded, Error>
    where
        I: IntoIterator<Item = Replacement>,
    {
        self.rewrite(Rewrite::Replace, items, recording)
    }

    /// Replaces the history by its compaction. Baseline and reference context item as with [`replace`](Self::replace).
    ///
    /// # Errors
    /// As [`replace`](Self::replace).
    pub fn replace_compacted<I>(&mut self, items: I, recording: &Recording) -> Result<Recorded, Error>
    where
        I: IntoIterator<Item = Replacement>,
    {
        self.rewrite(Rewrite::Compaction, items, recording)
    }

    /// Replaces the history under the name that the host gives.
    ///
    /// Kept items come into a log of their own, so that the old one is freed when its snapshots go. Each gets a new
    /// position and remembers the old one.
    ///
    /// # Errors
    /// As [`replace`](Self::replace).
    pub fn rewrite<I>(&mut self, rewrite: Rewrite, items: I, recording: &Recording) -> Result<Recorded, Error>
    where
        I: IntoIterator<Item = Replacement>,
    {
        let mut last_kept: Option<Position> = None;
        let mut recorded = Recorded::default();
        let mut ready: Vec<(Option<Position>, ReadyItem)> = Vec::new();
        let mut originals: Vec<(usize, Original)> = Vec::new();
        for (index, item) in items.into_iter().enumerate() {
            match item {
                Replacement::Keep(position) => {
                    if let Some(after) = last_kept.filter(|after| *after >= position) {
                        return Err(Error::KeptOutOfOrder { position, after });
                    }
                    last_kept = Some(position);
                    let kept = self.history.entry_at(position).and_then(|entry| entry.as_item());
                    let kept = kept.ok_or(Error::NoSuchItem { position })?;
                    ready.push((Some(position), kept.ready.clone()));
                }
                Replacement::New(incoming) => {
                    let mut admitted =
                        admit([incoming], recording, self.counter()).map_err(|error| at(error, index))?;
                    recorded.dropped.extend(admitted.dropped.drain(..).map(|mut dropped| {
                        dropped.index = index;
                        dropped
                    }));
                    for mut original in admitted.originals.drain(..) {
                        original.index = index;
                        originals.push((ready.len(), original));
                    }
                    ready.extend(admitted.into_items().into_iter().map(|item| (None, item)));
                }
            }
        }
        let reference = self.reference_context_item().cloned();
        let entries = ready.into_iter().map(|(moved_from, item)| Kept::Item(moved_from, item)).collect();
        recorded.positions = self.rebuild(rewrite, reference, entries);
        recorded.originals.extend(originals.into_iter().map(|(place, mut original)| {
            original.position = recorded.positions.get(place).copied();
            original
        }));
        Ok(recorded)
    }

    /// Starts a new log with the name of the rewrite, settings that hold from its start, and `entries`; gives the
    /// positions of the items.
    pub(crate) fn rebuild(
        &mut self,
        rewrite: Rewrite,
        reference: Option<TurnContextItem>,
        entries: Vec<Kept>,
    ) -> Vec<Position> {
        let epoch = self.history.state().and_then(|state| state.held.epoch);
        let held = Held { reference, epoch, ..Held::default() };
        self.history = HistorySnapshot::default();
        self.push_rewritten(rewrite, State { held: Arc::new(held), ..State::default() });
        self.push_all(entries)
    }

    /// Appends entries that stood in the log before; gives the positions of the items.
    pub(crate) fn push_all(&mut self, entries: Vec<Kept>) -> Vec<Position> {
        let was_closed = Arc::clone(&self.closed);
        // Positions only grow, so what moved stands behind what stayed.
        let mut closed: Vec<Position> =
            was_closed.iter().copied().filter(|&position| self.history.index_of(position).is_some()).collect();
        let mut positions = Vec::with_capacity(entries.len());
        for entry in entries {
            let (moved_from, item) = match entry {
                Kept::Item(moved_from, item) => (moved_from, item),
                Kept::Fact(fact, turn) => {
                    let place = Position::new(self.next_position);
                    let state = self.state_or_default(|state| state.with_fact(&fact, place, turn.as_ref()));
                    self.push_fact(fact, turn, state);
                    continue;
                }
            };
            let position = self.push_kept(moved_from, item);
            if moved_from.is_some_and(|old| was_closed.binary_search(&old).is_ok()) {
                closed.push(position);
            }
            positions.push(position);
        }
        self.closed = closed.into();
        positions
    }

    /// Appends the fact of a rewrite; `state` is what is true after it, but for the version.
    pub(crate) fn push_rewritten(&mut self, rewrite: Rewrite, mut state: State) {
        let version = self.last_version().saturating_add(1);
        state = state.after_rewrite(rewrite, Position::new(self.next_position));
        state.version = version;
        Arc::make_mut(&mut self.rewrites).push((version, rewrite));
        self.push_fact(Fact::Rewritten { rewrite, version }, None, state);
    }

    /// Appends an item that stood at `moved_from` before.
    pub(crate) fn push_kept(&mut self, moved_from: Option<Position>, item: ReadyItem) -> Position {
        let preset = self.preset;
        let turns_before = self.history.turn_count();
        let state = self.state_or_default(|state| state.with_item(&item, moved_from, preset));
        let begins_turn = state.turns() > turns_before;
        let position = self.push_item(item, moved_from, state);
        // A log that was written by others may say anything; a cursor is only led forward.
        if let Some(old) = moved_from.filter(|old| begins_turn && *old < position) {
            Arc::make_mut(&mut self.moves).insert(old, position);
        }
        position
    }

    fn last_version(&self) -> u64 {
        self.rewrites.last().map_or(0, |(version, _)| *version)
    }
}

/// The same error, for the item with this index in the whole list.
fn at(error: Error, index: usize) -> Error {
    match error {
        Error::ItemTooLarge { bytes, max_bytes, .. } => Error::ItemTooLarge { index, bytes, max_bytes },
        other => other,
    }
}
