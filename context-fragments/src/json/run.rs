//! Where a run of plain characters in a string ends.

/// Where the next byte stands, from `start` on, that is no plain character of a string: a quote, a backslash or a control
/// character. The end if there is none.
///
/// Nearly all bytes of a log are plain, and in texts of people and of tools a run has some forty of them: too few to call
/// a search that is made for long ones.
pub(super) fn run_end(bytes: &[u8], start: usize) -> usize {
    let Some(rest) = bytes.get(start..) else { return bytes.len() };
    let (blocks, tail) = rest.as_chunks::<8>();
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
    let quote = block ^ ONES * b'"' as u64;
    let backslash = block ^ ONES * b'\\' as u64;
    let quote = quote.wrapping_sub(ONES) & !quote;
    let backslash = backslash.wrapping_sub(ONES) & !backslash;
    let control = block.wrapping_sub(ONES * 0x20) & !block;
    (quote | backslash | control) & TOPS
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The same, one byte at a time.
    fn plain_run_end(bytes: &[u8], start: usize) -> usize {
        (start..bytes.len()).find(|&at| matches!(bytes[at], b'"' | b'\\' | 0..=0x1f)).unwrap_or(bytes.len())
    }

    #[test]
    fn a_run_ends_at_the_same_place_however_many_bytes_are_looked_at() {
        // What differs from a special byte in one bit, and the extremes.
        let near = (0..8).flat_map(|bit| [b'"' ^ (1 << bit), b'\\' ^ (1 << bit), 0x20 ^ (1 << bit)]);
        let fillers = near.chain([0x1f, 0x20, 0x21, 0x7f, 0x80, u8::MAX]);
        for filler in fillers {
            for special in [b'"', b'\\', 0, 0x1f, b'\n'] {
                for place in 0..150 {
                    let mut text = [filler; 150];
                    text[place] = special;
                    for start in (0..=place).step_by(7).chain([place, 150]) {
                        for end in [place, place + 1, 150] {
                            let (text, want) = (&text[..end], plain_run_end(&text[..end], start));
                            assert_eq!(run_end(text, start), want, "{text:?} from {start}");
                        }
                    }
                }
            }
        }
    }
}
