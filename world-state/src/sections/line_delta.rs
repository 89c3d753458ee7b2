//! The lines that changed between two texts.

use std::collections::HashSet;
use std::fmt::Write as _;

/// A text that is shorter is said whole: a delta of it saves little, and costs the reader more.
const MIN_BYTES: usize = 1_024;
/// How many pairs of lines are compared between the common start and the common end. A text that changed all over is
/// better said whole, and this keeps that answer cheap.
const MAX_PAIRS: usize = 1 << 18;

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
    let (before, lines): (Vec<&str>, Vec<&str>) = (before.split('\n').collect(), now.split('\n').collect());
    let n_start = before.iter().zip(&lines).take_while(|(left, right)| left == right).count();
    let (before_rest, rest) = (&before[n_start..], &lines[n_start..]);
    let n_end = before_rest.iter().rev().zip(rest.iter().rev()).take_while(|(left, right)| left == right).count();
    let (before_mid, mid) = (&before_rest[..before_rest.len() - n_end], &rest[..rest.len() - n_end]);
    let max_bytes = now.len() / 2;
    // What stands nowhere in the old text has to be said in any case, and counting it is far cheaper than aligning.
    let known: HashSet<&str> = before_mid.iter().copied().collect();
    let n_new: usize = mid.iter().filter(|line| !known.contains(*line)).map(|line| line.len()).sum();
    if n_new > max_bytes {
        return None;
    }
    if before_mid.len().saturating_mul(mid.len()) > MAX_PAIRS {
        return None;
    }
    let mut out = String::new();
    for hunk in hunks(before_mid, mid) {
        if !out.is_empty() {
            out.push('\n');
        }
        let place = |position: usize, count: usize| n_start + position + usize::from(count > 0);
        let (gone, come) = (hunk.before.len(), hunk.now.len());
        let (from, to) = (place(hunk.before.start, gone), place(hunk.now.start, come));
        // Writing to a string cannot fail.
        let _ = write!(out, "@@ -{from},{gone} +{to},{come} @@");
        before_mid[hunk.before].iter().for_each(|line| out.extend(["\n-", line]));
        mid[hunk.now].iter().for_each(|line| out.extend(["\n+", line]));
        if out.len() > max_bytes {
            return None;
        }
    }
    (!out.is_empty()).then_some(out)
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
