//! The shared, append-only, chunked log.

use std::{
    fmt,
    sync::{Arc, OnceLock},
};

/// Slots in a chunk: what a fork copies at most, one by one.
pub const CHUNK_SLOTS: usize = 64;

/// Chunks in a group: what a fork shares one by one beside the whole groups, so that a long log forks as fast as a short
/// one.
const GROUP_CHUNKS: usize = 32;

/// Slots in a group.
pub const GROUP_SLOTS: usize = GROUP_CHUNKS * CHUNK_SLOTS;

/// How many doubling buckets a table has: bucket `b` holds `2^b` groups, so 32 buckets are 2^43 slots.
const BUCKETS: usize = 32;

type Chunk<T> = Arc<[OnceLock<T>; CHUNK_SLOTS]>;

type Group<T> = Arc<[OnceLock<Chunk<T>>; GROUP_CHUNKS]>;

/// The cells of one bucket, each for one group.
type Bucket<T> = Box<[OnceLock<Group<T>>]>;

/// The chunks of a log in groups, reached through buckets that double, so that the table grows without moving.
struct Table<T> {
    buckets: [OnceLock<Bucket<T>>; BUCKETS],
}

impl<T> Table<T> {
    fn new() -> Self {
        Self { buckets: [const { OnceLock::new() }; BUCKETS] }
    }

    /// The bucket of a group, and the place in it.
    fn place(group: usize) -> (usize, usize) {
        let number = group + 1;
        let bucket = number.ilog2();
        (usize::try_from(bucket).unwrap_or(usize::MAX), number - (1 << bucket))
    }

    fn group(&self, group: usize) -> Option<&Group<T>> {
        let (bucket, place) = Self::place(group);
        self.buckets.get(bucket)?.get()?.get(place)?.get()
    }

    /// The cell in which a group stands or will stand; none beyond the last bucket.
    fn group_cell(&self, group: usize) -> Option<&OnceLock<Group<T>>> {
        let (bucket, place) = Self::place(group);
        let bucket_cells = self.buckets.get(bucket)?;
        bucket_cells.get_or_init(|| (0..1_usize << bucket).map(|_| OnceLock::new()).collect()).get(place)
    }

    fn chunk(&self, chunk: usize) -> Option<&Chunk<T>> {
        self.group(chunk / GROUP_CHUNKS)?[chunk % GROUP_CHUNKS].get()
    }

    /// The cell in which a chunk stands or will stand; none beyond the last bucket.
    fn chunk_cell(&self, chunk: usize) -> Option<&OnceLock<Chunk<T>>> {
        let cell = self.group_cell(chunk / GROUP_CHUNKS)?;
        Some(&cell.get_or_init(|| Arc::new([const { OnceLock::new() }; GROUP_CHUNKS]))[chunk % GROUP_CHUNKS])
    }

    /// Puts `value` into the slot, or gives it back if the slot was taken.
    fn claim(&self, slot: usize, value: T) -> Result<(), T> {
        let Some(cell) = self.chunk_cell(slot / CHUNK_SLOTS) else { return Err(value) };
        let chunk = cell.get_or_init(|| Arc::new([const { OnceLock::new() }; CHUNK_SLOTS]));
        chunk[slot % CHUNK_SLOTS].set(value)
    }

    fn get(&self, slot: usize) -> Option<&T> {
        self.chunk(slot / CHUNK_SLOTS)?[slot % CHUNK_SLOTS].get()
    }
}

impl<T: Clone> Table<T> {
    /// A table of its own with the first `len` slots: whole groups are shared, then whole chunks, and what stands in the
    /// last chunk is copied.
    fn fork(&self, len: usize) -> Self {
        // The cells are new and nobody else can see them, so each of them is free.
        let forked = Self::new();
        let (n_groups, n_chunks) = (len / GROUP_SLOTS, len / CHUNK_SLOTS);
        for whole in 0..n_groups {
            if let (Some(group), Some(cell)) = (self.group(whole), forked.group_cell(whole)) {
                let _fresh = cell.set(Arc::clone(group));
            }
        }
        for whole in n_groups * GROUP_CHUNKS..n_chunks {
            if let (Some(chunk), Some(cell)) = (self.chunk(whole), forked.chunk_cell(whole)) {
                let _fresh = cell.set(Arc::clone(chunk));
            }
        }
        for slot in n_chunks * CHUNK_SLOTS..len {
            if let Some(value) = self.get(slot) {
                let _fresh = forked.claim(slot, value.clone());
            }
        }
        forked
    }
}

/// An append-only log whose clone is a snapshot: a reference count and a length.
///
/// * `clone` is O(1) and allocates nothing.
/// * [`push`](Self::push) is O(1) with any number of live snapshots; no item is copied.
/// * [`truncate`](Self::truncate) is a shorter length. The next push finds its slot taken and *forks*: it shares the
///   chunks that are full, in groups of 2,048 slots, and copies at most 63 handles.
///
/// Two holders may both push: the first one keeps the shared table, the other one forks. A snapshot never sees what
/// was pushed after it.
///
/// A snapshot keeps the whole table alive, not only its own length: as long as a short one lives, it pins what is
/// appended to the same table later.
pub struct Log<T> {
    table: Arc<Table<T>>,
    len: usize,
}

impl<T> Log<T> {
    /// Makes an empty log.
    #[must_use]
    pub fn new() -> Self {
        Self { table: Arc::new(Table::new()), len: 0 }
    }

    /// How many values there are.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.len
    }

    /// Says that there is no value.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The value at `index`, from 0.
    #[must_use]
    pub fn get(&self, index: usize) -> Option<&T> {
        if index < self.len { self.table.get(index) } else { None }
    }

    /// The newest value.
    #[must_use]
    pub fn last(&self) -> Option<&T> {
        self.get(self.len.checked_sub(1)?)
    }

    /// The values from the one at `start` on, oldest first.
    pub fn iter_from(&self, start: usize) -> Iter<'_, T> {
        Iter { log: self, chunk: &[], next: start.min(self.len), end: self.len }
    }

    /// The values, oldest first.
    pub fn iter(&self) -> Iter<'_, T> {
        Iter { log: self, chunk: &[], next: 0, end: self.len }
    }

    /// Forgets all but the first `len` values; a larger `len` changes nothing.
    ///
    /// Other holders keep what they see, and the values are freed when the last holder of the table goes.
    pub fn truncate(&mut self, len: usize) {
        self.len = self.len.min(len);
    }

    /// Says that both handles share one table, so that none of them has forked from the other.
    #[must_use]
    pub fn shares_table(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.table, &other.table)
    }
}

impl<T: Clone> Log<T> {
    /// Appends one value.
    pub fn push(&mut self, value: T) {
        if let Err(value) = self.table.claim(self.len, value) {
            self.table = Arc::new(self.table.fork(self.len));
            // The forked table is seen by nobody else and ends at `len`, so its slot is free.
            let _free = self.table.claim(self.len, value);
        }
        self.len += 1;
    }
}

impl<T> Clone for Log<T> {
    #[inline]
    fn clone(&self) -> Self {
        Self { table: Arc::clone(&self.table), len: self.len }
    }
}

impl<T> Default for Log<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T: PartialEq> PartialEq for Log<T> {
    fn eq(&self, other: &Self) -> bool {
        self.len == other.len && (self.shares_table(other) || self.iter().eq(other))
    }
}

impl<T: Eq> Eq for Log<T> {}

/// The value at an index; as with a slice, one beyond the end is the caller's mistake.
impl<T> std::ops::Index<usize> for Log<T> {
    type Output = T;

    #[track_caller]
    #[expect(clippy::panic, reason = "an index beyond the end panics, as that of a slice does")]
    fn index(&self, index: usize) -> &T {
        match self.get(index) {
            Some(value) => value,
            None => panic!("the index is {index}, and the log has {} values", self.len),
        }
    }
}

impl<T: Clone> Extend<T> for Log<T> {
    fn extend<I: IntoIterator<Item = T>>(&mut self, values: I) {
        values.into_iter().for_each(|value| self.push(value));
    }
}

impl<T: Clone> FromIterator<T> for Log<T> {
    fn from_iter<I: IntoIterator<Item = T>>(values: I) -> Self {
        let mut log = Self::new();
        log.extend(values);
        log
    }
}

impl<T: fmt::Debug> fmt::Debug for Log<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self).finish()
    }
}

impl<'a, T> IntoIterator for &'a Log<T> {
    type Item = &'a T;
    type IntoIter = Iter<'a, T>;

    fn into_iter(self) -> Iter<'a, T> {
        self.iter()
    }
}

/// The values of a [`Log`], oldest first.
#[derive(Clone)]
pub struct Iter<'a, T> {
    log: &'a Log<T>,
    /// What is left of the chunk that is being read.
    chunk: &'a [OnceLock<T>],
    next: usize,
    end: usize,
}

impl<T> fmt::Debug for Iter<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Iter").field("next", &self.next).field("end", &self.end).finish_non_exhaustive()
    }
}

impl<'a, T> Iterator for Iter<'a, T> {
    type Item = &'a T;

    fn next(&mut self) -> Option<&'a T> {
        if self.next >= self.end {
            return None;
        }
        if self.chunk.is_empty() {
            let chunk = self.log.table.chunk(self.next / CHUNK_SLOTS)?;
            self.chunk = chunk.get(self.next % CHUNK_SLOTS..)?;
        }
        let (slot, rest) = self.chunk.split_first()?;
        self.chunk = rest;
        self.next += 1;
        slot.get()
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.end - self.next, Some(self.end - self.next))
    }
}

impl<T> DoubleEndedIterator for Iter<'_, T> {
    fn next_back(&mut self) -> Option<Self::Item> {
        if self.next >= self.end {
            return None;
        }
        self.end -= 1;
        self.log.table.get(self.end)
    }
}

impl<T> ExactSizeIterator for Iter<'_, T> {}
