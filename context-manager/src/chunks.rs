//! The input array of a request, in pieces that are owned and copied by nobody.

use std::{
    fmt,
    io::{self, Read},
    iter::FusedIterator,
    ops::Deref,
    sync::Arc,
};

use context_fragments::WireItem;

use crate::{Log, PromptItem};

/// From this size on, items that stand are joined into one chunk.
const SEGMENT_BYTES: usize = 16 << 10;

/// So many of these are joined again, so that a long history has few chunks and a short end is soon joined.
const MERGED: usize = 16;

/// The bytes of some items, commas included, made once.
pub(crate) struct Segment {
    /// How many items of the prompt stand in this segment and those before it.
    end: usize,
    text: String,
    /// How many bytes this segment and those before it have.
    bytes_to_here: usize,
    /// It was made of segments.
    is_merged: bool,
}

/// Joined items, kept beside the items of a projection that grows.
#[derive(Default)]
pub(crate) struct Segments {
    pub(crate) sealed: Log<Arc<Segment>>,
    /// The bytes of the items behind the last segment, commas included.
    open_bytes: usize,
    /// The items that were counted.
    seen: usize,
}

impl Segments {
    /// Forgets what stands behind `items`, which were cut.
    pub(crate) fn truncate(&mut self, items: &Log<PromptItem>) {
        if items.len() >= self.seen {
            return;
        }
        while self.sealed.last().is_some_and(|segment| segment.end > items.len()) {
            self.sealed.truncate(self.sealed.len() - 1);
        }
        let start = sealed_items(&self.sealed);
        self.open_bytes = items.iter_from(start).map(|item| item.item().as_bytes().len() + 1).sum();
        self.seen = items.len();
    }

    /// Takes up the items that are new, and joins them where there are enough.
    pub(crate) fn extend(&mut self, items: &Log<PromptItem>) {
        while let Some(item) = items.get(self.seen) {
            self.seen += 1;
            self.open_bytes += item.item().as_bytes().len() + 1;
            if self.open_bytes >= SEGMENT_BYTES {
                self.seal(items);
            }
        }
    }

    fn seal(&mut self, items: &Log<PromptItem>) {
        let start = sealed_items(&self.sealed);
        let mut text = String::with_capacity(self.open_bytes);
        for (offset, item) in items.iter_from(start).take(self.seen - start).enumerate() {
            if start + offset > 0 {
                text.push(',');
            }
            text.push_str(item.item().as_str());
        }
        let bytes_to_here = sealed_bytes(&self.sealed) + text.len();
        self.sealed.push(Arc::new(Segment { end: self.seen, text, bytes_to_here, is_merged: false }));
        self.open_bytes = 0;
        self.merge();
    }

    /// Joins the newest segments into one, if there are enough that were not joined yet.
    fn merge(&mut self) {
        let newest = || self.sealed.iter().rev().take_while(|segment| !segment.is_merged);
        let n_newest = newest().take(MERGED).count();
        if n_newest < MERGED {
            return;
        }
        let mut text = String::with_capacity(newest().map(|segment| segment.text.len()).sum());
        let first = self.sealed.len() - n_newest;
        for segment in self.sealed.iter_from(first) {
            text.push_str(&segment.text);
        }
        let bytes_to_here = sealed_bytes(&self.sealed);
        self.sealed.truncate(first);
        self.sealed.push(Arc::new(Segment { end: self.seen, text, bytes_to_here, is_merged: true }));
    }
}

/// How many items stand in the segments.
fn sealed_items(sealed: &Log<Arc<Segment>>) -> usize {
    sealed.last().map_or(0, |segment| segment.end)
}

/// How many bytes the segments have.
fn sealed_bytes(sealed: &Log<Arc<Segment>>) -> usize {
    sealed.last().map_or(0, |segment| segment.bytes_to_here)
}

/// Some bytes of a request, owned; a clone is a reference count.
#[derive(Clone)]
pub struct Chunk(Bytes);

#[derive(Clone)]
enum Bytes {
    Mark(&'static str),
    Item(WireItem),
    Joined(Arc<Segment>),
}

impl Chunk {
    /// The bytes as text. A chunk ends between two items, so it is never cut inside a character.
    #[must_use]
    pub fn as_str(&self) -> &str {
        match &self.0 {
            Bytes::Mark(mark) => mark,
            Bytes::Item(item) => item.as_str(),
            Bytes::Joined(segment) => &segment.text,
        }
    }
}

impl Deref for Chunk {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        self.as_str().as_bytes()
    }
}

impl AsRef<[u8]> for Chunk {
    fn as_ref(&self) -> &[u8] {
        self
    }
}

impl fmt::Debug for Chunk {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Chunk({:?})", self.as_str())
    }
}

/// What comes next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Next {
    Open,
    Segment(usize),
    Comma(usize),
    Item(usize),
    Done,
}

/// The exact bytes of an input array, as a lazy iterator of chunks that owns what it needs; no chunk is empty.
///
/// It shares the bytes of the prompt. A prompt of a [`Projector`](crate::Projector) has its older items joined, so that a
/// long history has few chunks.
#[derive(Clone)]
pub struct Chunks {
    items: Log<PromptItem>,
    sealed: Log<Arc<Segment>>,
    next: Next,
}

impl Chunks {
    pub(crate) fn new(items: &Log<PromptItem>, sealed: &Log<Arc<Segment>>) -> Self {
        Self { items: items.clone(), sealed: sealed.clone(), next: Next::Open }
    }

    /// How many bytes the whole array has, brackets included; what was handed out already counts too. It is the length
    /// that a request announces.
    ///
    /// For a prompt of a [`Projector`](crate::Projector) it is known but for the newest items; in the plain form every item is
    /// asked.
    #[must_use]
    pub fn byte_len(&self) -> usize {
        let start = sealed_items(&self.sealed);
        let open: usize = self.items.iter_from(start).map(|item| item.item().as_bytes().len() + 1).sum();
        // Every item has a comma before it but the first one.
        let n_first = usize::from(start == 0 && !self.items.is_empty());
        2 + sealed_bytes(&self.sealed) + open - n_first
    }

    /// The bytes as one source that can be read.
    #[must_use]
    pub fn into_reader(self) -> ChunkReader {
        ChunkReader { chunks: self, current: None, at: 0 }
    }

    /// What stands behind the first `end` items.
    fn behind(&self, end: usize) -> Next {
        if end == 0 { Next::Item(0) } else { Next::Comma(end) }
    }
}

impl Iterator for Chunks {
    type Item = Chunk;

    fn next(&mut self) -> Option<Chunk> {
        loop {
            let (bytes, next) = match self.next {
                Next::Done => return None,
                Next::Open => (Bytes::Mark("["), Next::Segment(0)),
                Next::Segment(index) => match self.sealed.get(index) {
                    Some(segment) => (Bytes::Joined(Arc::clone(segment)), Next::Segment(index + 1)),
                    None => {
                        self.next = self.behind(sealed_items(&self.sealed));
                        continue;
                    }
                },
                Next::Comma(index) if index < self.items.len() => (Bytes::Mark(","), Next::Item(index)),
                Next::Comma(_) => (Bytes::Mark("]"), Next::Done),
                Next::Item(index) => match self.items.get(index) {
                    Some(item) => (Bytes::Item(item.item().clone()), Next::Comma(index + 1)),
                    None => (Bytes::Mark("]"), Next::Done),
                },
            };
            self.next = next;
            return Some(Chunk(bytes));
        }
    }
}

impl FusedIterator for Chunks {}

impl fmt::Debug for Chunks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Chunks").field("items", &self.items.len()).field("next", &self.next).finish_non_exhaustive()
    }
}

/// Reads [`Chunks`] as one run of bytes.
#[derive(Debug)]
pub struct ChunkReader {
    chunks: Chunks,
    current: Option<Chunk>,
    at: usize,
}

impl Read for ChunkReader {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        loop {
            let left = self.current.as_ref().and_then(|chunk| chunk.get(self.at..)).unwrap_or_default();
            if !left.is_empty() {
                let taken = left.len().min(out.len());
                let (target, source) = (out.get_mut(..taken), left.get(..taken));
                if let Some((target, source)) = target.zip(source) {
                    target.copy_from_slice(source);
                }
                self.at += taken;
                return Ok(taken);
            }
            self.current = self.chunks.next();
            self.at = 0;
            if self.current.is_none() {
                return Ok(0);
            }
        }
    }
}
