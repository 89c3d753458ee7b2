//! The lines that changed between two texts.

use std::fmt::Write as _;
use std::ops::ControlFlow;

/// A text that is shorter is said whole: a delta of it saves little, and costs the reader more.
const MIN_BYTES: usize = 1_024;
/// How many pairs of lines are compared between the common start and the common end. A text that changed all over is
/// better said whole, and this keeps that answer cheap.
const MAX_PAIRS: usize = 1 << 18;
/// So many bytes are compared at once where texts are the same.
const BLOCK: usize = 64;

/// Writes the changed lines, or gives none where they would be more than half as long as the new text.
///
/// # Shape
/// Parts of the form `@@ -FROM,COUNT +FROM,COUNT @@`, each with the lines that go, marked `-`, and those that come, marked
/// `+`. Lines are counted from 1; where a count is 0, its number is that of the line before. A text is its lines with
/// `\n` between them, so one that ends in a line feed has an empty line at its end.
pub(super) fn line_delta(before: &str, now: &str) -> Option<String> {
    if now.len() < MIN_BYTES {
        return None;
    }
    let max_bytes = now.len() / 2;
    let (start, end) = (common_start(before, now), common_end(before, now));
    let end = end.min(before.len().min(now.len()) - start);
    let (before, n_start) = (Middle::of(before, start, end), before[..start].matches('\n').count());
    let now = Middle::of(now, start, end);
    // What is longer in the middle has to be said in any case.
    if now.text.len().saturating_sub(before.text.len()) > max_bytes || n_bytes_new(before, now, max_bytes) > max_bytes {
        return None;
    }
    let (before, now): (Vec<&str>, Vec<&str>) = (before.lines().collect(), now.lines().collect());
    if before.len().saturating_mul(now.len()) > MAX_PAIRS {
        return None;
    }
    let mut out = String::new();
    for hunk in hunks(&before, &now) {
        if !out.is_empty() {
            out.push('\n');
        }
        let place = |position: usize, count: usize| n_start + position + usize::from(count > 0);
        let (gone, come) = (hunk.before.len(), hunk.now.len());
        let (from, to) = (place(hunk.before.start, gone), place(hunk.now.start, come));
        // Writing to a string cannot fail.
        let _ = write!(out, "@@ -{from},{gone} +{to},{come} @@");
        before[hunk.before].iter().for_each(|line| out.extend(["\n-", line]));
        now[hunk.now].iter().for_each(|line| out.extend(["\n+", line]));
        if out.len() > max_bytes {
            return None;
        }
    }
    (!out.is_empty()).then_some(out)
}

/// How many bytes of whole lines, line feeds included, both texts start with.
fn common_start(before: &str, now: &str) -> usize {
    let (before, now) = (before.as_bytes(), now.as_bytes());
    let n_blocks = before.chunks(BLOCK).zip(now.chunks(BLOCK)).take_while(|(left, right)| left == right).count();
    let n_common = (n_blocks * BLOCK).min(before.len()).min(now.len());
    let rest = before[n_common..].iter().zip(&now[n_common..]);
    let n_common = n_common + rest.take_while(|(left, right)| left == right).count();
    before[..n_common].iter().rposition(|byte| *byte == b'\n').map_or(0, |feed| feed + 1)
}

/// How many bytes of whole lines, behind a line feed, both texts end with.
fn common_end(before: &str, now: &str) -> usize {
    let (before, now) = (before.as_bytes(), now.as_bytes());
    let n_blocks = before.rchunks(BLOCK).zip(now.rchunks(BLOCK)).take_while(|(left, right)| left == right).count();
    let n_common = (n_blocks * BLOCK).min(before.len()).min(now.len());
    let rest = before[..before.len() - n_common].iter().rev().zip(now[..now.len() - n_common].iter().rev());
    let n_common = n_common + rest.take_while(|(left, right)| left == right).count();
    let tail = &now[now.len() - n_common..];
    tail.iter().position(|byte| *byte == b'\n').map_or(0, |feed| tail.len() - feed - 1)
}

/// What stands between the common start and the common end.
#[derive(Clone, Copy)]
struct Middle<'a> {
    text: &'a str,
    /// The lines behind it are common, so its own last line ends in a line feed.
    is_ended: bool,
}

impl<'a> Middle<'a> {
    fn of(text: &'a str, start: usize, end: usize) -> Self {
        Self { text: &text[start..text.len() - end], is_ended: end > 0 }
    }

    fn lines(self) -> impl Iterator<Item = &'a str> {
        let text = match (self.is_ended, self.text.strip_suffix('\n')) {
            (true, text) => text,
            (false, _) => Some(self.text),
        };
        text.into_iter().flat_map(|text| text.split('\n'))
    }
}

/// How many bytes of a delta are lines of `now` that stand nowhere in `before`; at least, and counted until `max_bytes`
/// are passed. It is far cheaper than aligning.
fn n_bytes_new(before: Middle<'_>, now: Middle<'_>, max_bytes: usize) -> usize {
    let mut known = Marks::for_bytes(before.text.len());
    for_each_line(before, |line| {
        known.set(line);
        ControlFlow::Continue(())
    });
    let mut n_bytes = 0;
    for_each_line(now, |line| {
        if !known.has(line) {
            n_bytes += line.len() + 2;
        }
        if n_bytes > max_bytes { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    n_bytes
}

/// Hands out the lines as bytes until it is told to stop.
///
/// Line feeds are looked for in eight bytes at once: lines are so short that a search begun anew for each one took three
/// times as long, and a text that changed all over is read for nothing else.
fn for_each_line(middle: Middle<'_>, mut take: impl FnMut(&[u8]) -> ControlFlow<()>) {
    const FEEDS: u64 = u64::from_ne_bytes([b'\n'; 8]);
    const LOW: u64 = u64::from_ne_bytes([0x7f; 8]);
    let bytes = middle.text.as_bytes();
    let mut start = 0;
    let (blocks, rest) = bytes.as_chunks::<8>();
    for (position, block) in blocks.iter().enumerate() {
        let differences = u64::from_le_bytes(*block) ^ FEEDS;
        // The top bit of every byte without a difference, and no other bit.
        let mut found = !(((differences & LOW) + LOW) | differences | LOW);
        while found != 0 {
            let feed = position * 8 + found.trailing_zeros() as usize / 8;
            if take(&bytes[start..feed]).is_break() {
                return;
            }
            start = feed + 1;
            found &= found - 1;
        }
    }
    for (offset, _) in rest.iter().enumerate().filter(|(_, byte)| **byte == b'\n') {
        let feed = blocks.len() * 8 + offset;
        if take(&bytes[start..feed]).is_break() {
            return;
        }
        start = feed + 1;
    }
    if !middle.is_ended {
        let _last = take(&bytes[start..]);
    }
}

/// A set that may take a line for one that it has, and never the other way round.
struct Marks {
    bits: Vec<u64>,
}

impl Marks {
    /// One bit for each two bytes of text, so that few lines share one.
    fn for_bytes(n_bytes: usize) -> Self {
        Self { bits: vec![0; (n_bytes / 128 + 1).next_power_of_two()] }
    }

    fn place(&self, bytes: &[u8]) -> (usize, u64) {
        let edge = |edge: Option<&[u8; 8]>| edge.map_or(0, |edge| u64::from_le_bytes(*edge));
        let (first, last) = match (bytes.first_chunk(), bytes.last_chunk()) {
            (None, _) => (bytes.iter().fold(0, |sum, byte| sum << 8 | u64::from(*byte)), 0),
            (first, last) => (edge(first), edge(last)),
        };
        let mixed = (first ^ last.rotate_left(29) ^ bytes.len() as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        let place = (mixed >> 32) as usize;
        ((place >> 6) & (self.bits.len() - 1), 1 << (place & 63))
    }

    fn set(&mut self, line: &[u8]) {
        let (word, bit) = self.place(line);
        self.bits[word] |= bit;
    }

    fn has(&self, line: &[u8]) -> bool {
        let (word, bit) = self.place(line);
        self.bits[word] & bit != 0
    }
}

/// Lines that go, and lines that come in their place.
struct Hunk {
    before: std::ops::Range<usize>,
    now: std::ops::Range<usize>,
}

/// Finds the runs of lines that are not in the longest common subsequence.
fn hunks(before: &[&str], now: &[&str]) -> Vec<Hunk> {
    let width = now.len() + 1;
    // The length of the longest common subsequence of what follows each pair of positions.
    let mut lengths = vec![0_u32; (before.len() + 1) * width];
    for row in (0..before.len()).rev() {
        for column in (0..now.len()).rev() {
            lengths[row * width + column] = if before[row] == now[column] {
                lengths[(row + 1) * width + column + 1] + 1
            } else {
                lengths[(row + 1) * width + column].max(lengths[row * width + column + 1])
            };
        }
    }
    let mut hunks = Vec::new();
    let (mut row, mut column) = (0, 0);
    while row < before.len() || column < now.len() {
        let (first_row, first_column) = (row, column);
        while row < before.len() || column < now.len() {
            let has_both = row < before.len() && column < now.len();
            if has_both && before[row] == now[column] {
                break;
            }
            let is_gone = column == now.len()
                || (row < before.len() && lengths[(row + 1) * width + column] >= lengths[row * width + column + 1]);
            if is_gone { row += 1 } else { column += 1 }
        }
        if row > first_row || column > first_column {
            hunks.push(Hunk { before: first_row..row, now: first_column..column });
        }
        while row < before.len() && column < now.len() && before[row] == now[column] {
            row += 1;
            column += 1;
        }
    }
    hunks
}
