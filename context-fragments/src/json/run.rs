//! Where a string ends, and whether it is one.
//!
//! Nearly all bytes of a log stand in strings, so this is what a walk over it does most. Texts of people and of tools have
//! an escape in about every fortieth byte, and a search that stops at each of them is a branch that no processor can
//! foresee. So a string is passed in blocks, each of which is asked one question that needs no branch and no state: does
//! anything stand here but plain characters and frequent escapes? Only where it does, it is passed from escape to escape.

/// As many bytes as the question is asked for at once: a compiler makes a few vector instructions of it.
pub(super) const BLOCK: usize = 32;

/// Where the last quote of the string stands whose first one stands before `start`; nothing if it has none, or holds a
/// control character or an escape that JSON does not know. Says whether an escape of a code unit was met.
#[inline]
pub(super) fn string_end(bytes: &[u8], start: usize, has_code_units: &mut bool) -> Option<usize> {
    // Most strings are keys and words.
    for from in [start, start + 8] {
        let Some(block) = bytes.get(from..).and_then(|rest| rest.first_chunk()) else { break };
        let found = special(u64::from_le_bytes(*block));
        if found != 0 {
            let place = found.trailing_zeros() as usize / 8;
            if block.get(place) == Some(&b'"') {
                return Some(from + place);
            }
            break;
        }
    }
    long_string_end(bytes, start, has_code_units)
}

#[inline(never)]
fn long_string_end(bytes: &[u8], start: usize, has_code_units: &mut bool) -> Option<usize> {
    let mut at = start;
    loop {
        at = run_end(bytes, plain_blocks_end(bytes, at, |_| ()));
        match bytes.get(at)? {
            b'"' => return Some(at),
            b'\\' => match bytes.get(at + 1)? {
                b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't' => at += 2,
                b'u' if bytes.get(at + 2..at + 6)?.iter().all(u8::is_ascii_hexdigit) => {
                    *has_code_units = true;
                    at += 6;
                }
                _ => return None,
            },
            // A control character has to be escaped.
            _ => return None,
        }
    }
}

/// Passes blocks in which nothing stands but plain characters and [frequent escapes](is_plain), from `start` on, where no
/// escape is open. None is open where it stops.
///
/// Each block is shown as it stands one byte earlier: a backslash in what is shown escapes one byte of the block.
#[inline]
pub(super) fn plain_blocks_end(bytes: &[u8], start: usize, mut show: impl FnMut(&[u8; BLOCK])) -> usize {
    let mut at = start;
    // Each byte is looked at beside the one before. Of a backslash there nobody could say whether it is escaped itself.
    if at == 0 || bytes.get(at - 1) == Some(&b'\\') {
        return at;
    }
    while let Some(window) = bytes.get(at - 1..).and_then(|from| from.first_chunk::<{ BLOCK + 1 }>())
        && let (Some(before), Some(block)) = (window.first_chunk(), window.last_chunk())
        && is_plain(before, block)
    {
        show(before);
        at += BLOCK;
    }
    // What a backslash at the end of the last block escapes was not looked at.
    if at > start && bytes.get(at - 1) == Some(&b'\\') { at - 1 } else { at }
}

/// Says that no byte of `block` ends a string or is a control character, and that no byte before one of them starts an
/// escape but those of a line feed, a tab and a quote. A row of backslashes is not plain, so one that stands alone escapes
/// what follows.
///
/// Bytes of ones and zeroes are what a compiler makes vector instructions of.
#[inline]
fn is_plain(before: &[u8; BLOCK], block: &[u8; BLOCK]) -> bool {
    const fn ones(is_so: bool) -> u8 {
        if is_so { u8::MAX } else { 0 }
    }
    let mut found = [0; BLOCK];
    for at in 0..BLOCK {
        let byte = block[at];
        let (escape, quote) = (ones(before[at] == b'\\'), ones(byte == b'"'));
        let letter = ones(byte == b'n') | ones(byte == b't');
        found[at] = ones(byte < 0x20) | (quote ^ escape) & !(escape & letter);
    }
    found.iter().fold(0, |all, one| all | one) == 0
}

/// Where the next quote, backslash or control character stands, from `start` on; the end if there is none.
pub(super) fn run_end(bytes: &[u8], start: usize) -> usize {
    let Some(rest) = bytes.get(start..) else { return bytes.len() };
    let (blocks, tail) = rest.as_chunks();
    for (index, block) in blocks.iter().enumerate() {
        let found = special(u64::from_le_bytes(*block));
        if found != 0 {
            return start + 8 * index + found.trailing_zeros() as usize / 8;
        }
    }
    let in_tail = tail.iter().position(|byte| matches!(byte, b'"' | b'\\' | 0..=0x1f));
    in_tail.map_or(bytes.len(), |place| bytes.len() - tail.len() + place)
}

/// The top bit of each byte that is special. Bytes behind the first such one may be marked too, for a subtraction borrows
/// from them; the first one is right.
const fn special(block: u64) -> u64 {
    const ONES: u64 = u64::from_ne_bytes([1; 8]);
    const TOPS: u64 = ONES << 7;
    let quote = block ^ (ONES * b'"' as u64);
    let backslash = block ^ (ONES * b'\\' as u64);
    let quote = quote.wrapping_sub(ONES) & !quote;
    let backslash = backslash.wrapping_sub(ONES) & !backslash;
    let control = block.wrapping_sub(ONES * 0x20) & !block;
    (quote | backslash | control) & TOPS
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Where a string ends, and whether it has code units; found one byte at a time.
    fn plain_string_end(bytes: &[u8], start: usize) -> Option<(usize, bool)> {
        let mut has_code_units = false;
        let mut at = start;
        loop {
            match bytes.get(at)? {
                b'"' => return Some((at, has_code_units)),
                b'\\' if bytes.get(at + 1) == Some(&b'u') => {
                    has_code_units = true;
                    let digits = bytes.get(at + 2..at + 6)?;
                    if !digits.iter().all(u8::is_ascii_hexdigit) {
                        return None;
                    }
                    at += 6;
                }
                b'\\' if b"\"\\/bfnrt".contains(bytes.get(at + 1)?) => at += 2,
                b'\\' | 0..=0x1f => return None,
                _ => at += 1,
            }
        }
    }

    fn found_string_end(bytes: &[u8], start: usize) -> Option<(usize, bool)> {
        let mut has_code_units = false;
        string_end(bytes, start, &mut has_code_units).map(|end| (end, has_code_units))
    }

    #[track_caller]
    fn check(bytes: &[u8], start: usize) {
        let text = String::from_utf8_lossy(bytes);
        assert_eq!(found_string_end(bytes, start), plain_string_end(bytes, start), "{text} from {start}");
    }

    #[test]
    fn a_string_ends_at_the_same_place_however_many_bytes_are_looked_at() {
        // What differs from a special byte in one bit, and the extremes.
        let near = (0..8).flat_map(|bit| [b'"' ^ (1 << bit), b'\\' ^ (1 << bit), 0x20 ^ (1 << bit)]);
        let fillers = near.chain([0x1f, 0x20, 0x21, 0x7f, 0x80, u8::MAX]);
        for filler in fillers {
            for special in [b'"', b'\\', 0, 0x1f, b'\n'] {
                for place in 0..150 {
                    let mut text = [filler; 150];
                    text[place] = special;
                    for start in (0..=place).step_by(7).chain([place, 150, 151]) {
                        for end in [place, place + 1, 150] {
                            check(&text[..end], start);
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn an_escape_is_one_wherever_a_block_ends() {
        let escapes = [
            "\\\"", "\\\\", "\\n", "\\/", "\\u00e9", "\\uD800", "\\u12", "\\u12g4", "\\x", "\\", "\\\n", "\\N",
            "\\u\"", "\u{1}",
        ];
        for before in (0..20).chain(40..140) {
            for escape in escapes {
                for row in 0..4 {
                    for end in ["\"", "", "\\\"", "\\n\"\\q\u{2}"] {
                        let text = format!("{}{}{escape}{end}", "x".repeat(before), "\\\\".repeat(row));
                        check(text.as_bytes(), 0);
                        check(format!("{text}{}\"", "y".repeat(70)).as_bytes(), 0);
                    }
                }
            }
        }
    }

    proptest! {
        #[test]
        fn any_bytes_end_at_the_same_place(
            pieces in prop::collection::vec(
                prop_oneof![
                    8 => "[a-z ]{0,40}".prop_map(String::into_bytes),
                    4 => "\\\\{1,5}[nu\"]".prop_map(String::into_bytes),
                    2 => "\\\\u[0-9a-fA-F]{4}".prop_map(String::into_bytes),
                    1 => "[\\x00-\\x1f\"\\\\é]{1,2}".prop_map(String::into_bytes),
                    1 => prop::collection::vec(any::<u8>(), 0..3),
                ],
                0..20,
            ),
            start in 0..20_usize,
        ) {
            let bytes = pieces.concat();
            prop_assert_eq!(found_string_end(&bytes, start), plain_string_end(&bytes, start));
        }
    }
}
