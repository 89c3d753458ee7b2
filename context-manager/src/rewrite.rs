//! Named rewrites: a new log from kept and new items.

use std::{
    collections::{BTreeMap, HashSet},
    sync::Arc,
};

use context_fragments::TurnContextItem;

use crate::{
    ContextManager, Entry, Error, Fact, HistorySnapshot, Incoming, Position, Recorded, Recording, ResponseItemEnvelope,
    Rewrite, State, TurnId,
    exchange::exchanges,
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

/// What a rewrite asks for, read and admitted.
struct Rewritten {
    entries: Vec<(Option<Position>, ReadyItem)>,
    recorded: Recorded,
    /// What was cut, with the place among the entries.
    originals: Vec<(usize, Original)>,
}

impl ContextManager {
    /// Replaces the history. The baseline is cleared, the reference context item stays until the caller sets it.
    ///
    /// # Errors
    /// [`Error::NoSuchItem`], [`Error::KeptOutOfOrder`] and [`Error::DividedExchange`] for what is kept,
    /// [`Error::ItemTooLarge`] for what is new. Nothing was changed.
    pub fn replace<I>(&mut self, items: I, recording: &Recording) -> Result<Recorded, Error>
    where
        I: IntoIterator<Item = Replacement>,
    {
        let rewritten = self.rewritten(items, recording)?;
        self.check_exchanges(&rewritten)?;
        Ok(self.install(Rewrite::Replace, rewritten))
    }

    /// Replaces the history by its compaction. Baseline and reference context item as with [`replace`](Self::replace), so
    /// that the next step says every section again.
    ///
    /// Whoever replays a log that others wrote takes [`rewrite`](Self::rewrite), which checks neither.
    ///
    /// # Errors
    /// As [`replace`](Self::replace), and [`Error::NotSmaller`] if the compaction costs more than what it replaces.
    pub fn replace_compacted<I>(&mut self, items: I, recording: &Recording) -> Result<Recorded, Error>
    where
        I: IntoIterator<Item = Replacement>,
    {
        let rewritten = self.rewritten(items, recording)?;
        self.check_exchanges(&rewritten)?;
        let tokens = rewritten.entries.iter().map(|(_, item)| item.tokens()).fold(0, u64::saturating_add);
        let tokens_before = self.history.tokens();
        if tokens > tokens_before {
            return Err(Error::NotSmaller { tokens, tokens_before });
        }
        Ok(self.install(Rewrite::Compaction, rewritten))
    }

    /// Replaces the history under the name that the host gives: the plain form, also for a log that is replayed.
    ///
    /// It may divide an exchange, and a projection then repairs what is missing; the named forms refuse that.
    ///
    /// Kept items come into a log of their own, so that the old one is freed when its snapshots go. Each gets a new
    /// position and remembers the old one.
    ///
    /// # Errors
    /// [`Error::NoSuchItem`] and [`Error::KeptOutOfOrder`] for what is kept, [`Error::ItemTooLarge`] for what is new.
    /// Nothing was changed.
    pub fn rewrite<I>(&mut self, rewrite: Rewrite, items: I, recording: &Recording) -> Result<Recorded, Error>
    where
        I: IntoIterator<Item = Replacement>,
    {
        let rewritten = self.rewritten(items, recording)?;
        Ok(self.install(rewrite, rewritten))
    }

    /// Reads what a rewrite asks for.
    fn rewritten<I>(&self, items: I, recording: &Recording) -> Result<Rewritten, Error>
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
                    ready.push((Some(position), kept.ready()));
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
        Ok(Rewritten { entries: ready, recorded, originals })
    }

    /// Refuses to keep a part of an exchange; what was never there is not missed.
    fn check_exchanges(&self, rewritten: &Rewritten) -> Result<(), Error> {
        let kept: HashSet<Position> = rewritten.entries.iter().filter_map(|(kept, _)| *kept).collect();
        if kept.is_empty() || kept.len() == self.history.item_count() {
            return Ok(());
        }
        for exchange in exchanges(&self.history) {
            let find = |is_kept: bool| exchange.items.iter().copied().find(|item| kept.contains(item) == is_kept);
            if let Some((kept, left_out)) = find(true).zip(find(false)) {
                return Err(Error::DividedExchange { kept, left_out });
            }
        }
        Ok(())
    }

    fn install(&mut self, rewrite: Rewrite, rewritten: Rewritten) -> Recorded {
        let Rewritten { entries, mut recorded, originals } = rewritten;
        let reference = self.reference_context_item().cloned();
        let entries = entries.into_iter().map(|(moved_from, item)| Kept::Item(moved_from, item)).collect();
        recorded.positions = self.rebuild(rewrite, reference, entries);
        recorded.originals.extend(originals.into_iter().map(|(place, mut original)| {
            original.position = recorded.positions.get(place).copied();
            original
        }));
        recorded
    }

    /// Starts a new log with the name of the rewrite, settings that hold from its start, and `entries`; gives the
    /// positions of the items.
    pub(crate) fn rebuild(
        &mut self,
        rewrite: Rewrite,
        reference: Option<TurnContextItem>,
        entries: Vec<Kept>,
    ) -> Vec<Position> {
        let held = Held { reference, ..self.epoch_after(rewrite) };
        self.history = HistorySnapshot::default();
        self.push_rewritten(rewrite, State::holding(held));
        self.push_all(entries)
    }

    /// Rewrites the entries from the one at `first` on: `change` gives each item as it will stand, or none for one that
    /// goes. What stands before is shared. Gives the old and the new position of every item that stays.
    pub(crate) fn rewrite_from(
        &mut self,
        first: usize,
        rewrite: Rewrite,
        mut change: impl FnMut(usize, &ResponseItemEnvelope) -> Option<ReadyItem>,
    ) -> Vec<(Position, Position)> {
        let log = self.history.log.clone();
        let mut old = Vec::new();
        let mut stays = Vec::new();
        for (index, entry) in (first..).zip(log.iter_from(first)) {
            match entry {
                Entry::Item(envelope) => {
                    if let Some(ready) = change(index, envelope) {
                        old.push(envelope.position());
                        stays.push(Kept::Item(Some(envelope.position()), ready));
                    }
                }
                // What earlier rewrites were called is told by the list of rewrites.
                Entry::Fact(fact) if matches!(fact.fact(), Fact::Rewritten { .. }) => {}
                Entry::Fact(fact) => stays.push(Kept::Fact(fact.fact().clone(), fact.turn().cloned())),
            }
        }
        let held = self.epoch_after(rewrite);
        self.history.log.truncate(first);
        let state = self.state_or_default(|state| {
            state.with_held(|now| {
                now.epoch = held.epoch;
                now.told_turns = held.told_turns;
            })
        });
        self.push_rewritten(rewrite, state);
        old.into_iter().zip(self.push_all(stays)).collect()
    }

    /// What is known of the epoch after `rewrite`: all, if it goes on.
    fn epoch_after(&self, rewrite: Rewrite) -> Held {
        match self.history.state().filter(|_| !rewrite.begins_epoch()) {
            None => Held::default(),
            Some(state) => Held { epoch: state.held().epoch, told_turns: state.held().told_turns, ..Held::default() },
        }
    }

    /// Appends entries that stood in the log before; gives the positions of the items.
    pub(crate) fn push_all(&mut self, entries: Vec<Kept>) -> Vec<Position> {
        let was_closed = Arc::clone(&self.closed);
        let were_noted = Arc::clone(&self.call_states);
        let is_there = |position: Position| self.history.index_of(position).is_some();
        let mut noted: BTreeMap<Position, _> = were_noted
            .iter()
            .filter(|(position, _)| is_there(**position))
            .map(|(position, state)| (*position, state.clone()))
            .collect();
        // Positions only grow, so what moved stands behind what stayed.
        let mut closed: Vec<Position> = was_closed.iter().copied().filter(|&position| is_there(position)).collect();
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
            if let Some(state) = moved_from.and_then(|old| were_noted.get(&old)) {
                noted.insert(position, state.clone());
            }
            positions.push(position);
        }
        self.closed = closed.into();
        self.call_states = Arc::new(noted);
        positions
    }

    /// Appends the fact of a rewrite; `state` is what is true after it, but for the version.
    pub(crate) fn push_rewritten(&mut self, rewrite: Rewrite, state: State) {
        let version = self.last_version().saturating_add(1);
        let state = state.after_rewrite(rewrite, Position::new(self.next_position));
        let state = state.with_held(|held| held.version = version);
        Arc::make_mut(&mut self.rewrites).push((version, rewrite));
        self.push_fact(Fact::Rewritten { rewrite, version }, None, state);
    }

    /// Appends an item that stood at `moved_from` before.
    pub(crate) fn push_kept(&mut self, moved_from: Option<Position>, item: ReadyItem) -> Position {
        let turns_before = self.history.turn_count();
        let position = self.push_item(item, moved_from);
        let begins_turn = self.history.turn_count() > turns_before;
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
