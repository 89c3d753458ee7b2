//! Walking over JSON that is known to be valid.

use std::ops::Range;

use super::{Json, run};

/// The members of an object; made by [`Json::members`].
#[derive(Clone, Debug)]
pub struct Members<'a> {
    cursor: Cursor<'a>,
    /// A value of which it is known where it stands: it is not walked over.
    known: Range<usize>,
}

/// The elements of an array; made by [`Json::elements`].
#[derive(Clone, Debug)]
pub struct Elements<'a> {
    cursor: Cursor<'a>,
}

impl<'a> Members<'a> {
    pub(super) fn new(json: Json<'a>) -> Self {
        Self { cursor: Cursor::inside(json, b'{'), known: 0..0 }
    }

    /// The same, where it is known that one of the values stands at `known`, counted in bytes of the object.
    pub(crate) fn beside(json: Json<'a>, known: Range<usize>) -> Self {
        Self { cursor: Cursor::inside(json, b'{'), known }
    }
}

impl<'a> Elements<'a> {
    pub(super) fn new(json: Json<'a>) -> Self {
        Self { cursor: Cursor::inside(json, b'[') }
    }
}

impl<'a> Iterator for Members<'a> {
    type Item = (Json<'a>, Json<'a>);

    fn next(&mut self) -> Option<Self::Item> {
        let key = self.cursor.value()?;
        let value = self.cursor.value_beside(&self.known)?;
        Some((key, value))
    }
}

impl<'a> Iterator for Elements<'a> {
    type Item = Json<'a>;

    fn next(&mut self) -> Option<Self::Item> {
        self.cursor.value()
    }
}

/// A position between two values of one object or array.
#[derive(Clone, Debug)]
struct Cursor<'a> {
    text: &'a str,
    position: usize,
}

impl<'a> Cursor<'a> {
    fn inside(json: Json<'a>, open: u8) -> Self {
        let text = json.as_raw();
        let position = if text.as_bytes().first() == Some(&open) { 1 } else { text.len() };
        Self { text, position }
    }

    /// The next value at this level; commas, colons and white space before it are passed over.
    fn value(&mut self) -> Option<Json<'a>> {
        self.value_beside(&(0..0))
    }

    /// The same; the value that begins where `known` begins ends where it ends.
    fn value_beside(&mut self, known: &Range<usize>) -> Option<Json<'a>> {
        let bytes = self.text.as_bytes();
        while matches!(bytes.get(self.position), Some(b' ' | b'\t' | b'\n' | b'\r' | b',' | b':')) {
            self.position += 1;
        }
        let start = self.position;
        if start == known.start && start < known.end {
            self.position = known.end;
            return self.text.get(known.clone()).map(Json::trusted);
        }
        let end = match bytes.get(start)? {
            b'}' | b']' => return None,
            b'"' => string_end(bytes, start),
            b'{' | b'[' => nested_end(bytes, start),
            _ => word_end(bytes, start),
        };
        self.position = end;
        self.text.get(start..end).map(Json::trusted)
    }
}

/// The position behind the string that starts at `start`.
pub(super) fn string_end(bytes: &[u8], start: usize) -> usize {
    run::string_end(bytes, start + 1, &mut false).map_or(bytes.len(), |quote| quote + 1)
}

/// Where the next quote or backslash stands, from `start` on; the end if there is none.
///
/// Nearly all of a string is neither, and every item is passed over several times when it is recorded. A key ends in the
/// first eight bytes, which are looked at without a call.
pub(super) fn plain_end(bytes: &[u8], start: usize) -> usize {
    let Some(rest) = bytes.get(start..) else { return bytes.len() };
    let mut position = start;
    if let Some(block) = rest.first_chunk::<8>() {
        let block = u64::from_le_bytes(*block);
        let found = places_of(block, b'"') | places_of(block, b'\\');
        if found != 0 {
            return start + found.trailing_zeros() as usize / 8;
        }
        position += 8;
    }
    memchr::memchr2(b'"', b'\\', &bytes[position..]).map_or(bytes.len(), |offset| position + offset)
}

/// The top bit of every byte of `block` that is `wanted`, and no other bit.
const fn places_of(block: u64, wanted: u8) -> u64 {
    const LOW: u64 = u64::from_ne_bytes([0x7f; 8]);
    let differences = block ^ u64::from_ne_bytes([wanted; 8]);
    !(((differences & LOW) + LOW) | differences | LOW)
}

/// The position behind the object or array that starts at `start`; counts instead of recursing, so depth costs no stack.
fn nested_end(bytes: &[u8], start: usize) -> usize {
    let mut depth = 0_usize;
    let mut position = start;
    while let Some(&byte) = bytes.get(position) {
        match byte {
            b'"' => {
                position = string_end(bytes, position);
                continue;
            }
            b'{' | b'[' => depth += 1,
            b'}' | b']' => {
                depth -= 1;
                if depth == 0 {
                    return position + 1;
                }
            }
            _ => {}
        }
        position += 1;
    }
    bytes.len()
}

/// The position behind the number, `true`, `false` or `null` that starts at `start`.
fn word_end(bytes: &[u8], start: usize) -> usize {
    let is_end = |byte: &u8| matches!(byte, b',' | b'}' | b']' | b' ' | b'\t' | b'\n' | b'\r');
    bytes[start..].iter().position(is_end).map_or(bytes.len(), |offset| start + offset)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The same, one byte at a time.
    fn next_quote_or_backslash(bytes: &[u8], start: usize) -> usize {
        (start..bytes.len()).find(|&at| matches!(bytes[at], b'"' | b'\\')).unwrap_or(bytes.len())
    }

    #[test]
    fn a_plain_run_ends_at_the_same_place_however_many_bytes_are_looked_at() {
        // What differs from a quote or a backslash in one bit, and the extremes.
        let near = (0..8).flat_map(|bit| [b'"' ^ (1 << bit), b'\\' ^ (1 << bit)]);
        let fillers = near.chain([0, u8::MAX]);
        for filler in fillers {
            for special in [b'"', b'\\'] {
                for place in 0..60 {
                    let mut text = [filler; 61];
                    text[place] = special;
                    for start in 0..=61 {
                        for end in place..=61 {
                            let text = &text[..end];
                            assert_eq!(
                                plain_end(text, start),
                                next_quote_or_backslash(text, start),
                                "{text:?} {start}"
                            );
                        }
                    }
                }
            }
        }
    }
}
