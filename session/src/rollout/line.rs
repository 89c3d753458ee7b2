//! One line: its head, its body and its checksum.

use std::ops::Range;

use context_fragments::json::{Json, Shape};

use super::limits::READER_VERSION;

/// The length of `,"crc":"xxxxxxxx"}`.
pub(super) const TAIL_LEN: usize = 18;
const TAIL_KEY: &[u8] = b",\"crc\":\"";
/// What every line starts with.
pub(super) const LINE_START: &[u8] = b"{\"timestamp\":\"";

/// Appends one line, its newline included, to `out`.
pub(super) fn push_line(out: &mut String, timestamp: &str, ordinal: u64, push_body: impl FnOnce(&mut String)) {
    let start = out.len();
    out.push_str("{\"timestamp\":\"");
    out.push_str(timestamp);
    out.push_str("\",\"ordinal\":");
    out.push_str(&ordinal.to_string());
    out.push(',');
    push_body(out);
    let crc = crc32c::crc32c(&out.as_bytes()[start..]);
    out.push_str(&format!(",\"crc\":\"{crc:08x}\"}}\n"));
}

/// What the checksum at the end of a line says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Checksum {
    /// The line is as it was written.
    Right,
    /// A checksum stands there, and it is that of other bytes.
    Wrong { written: u32, computed: u32 },
    /// No checksum stands where it belongs.
    Absent,
}

/// Compares the checksum at the end of `line` with its bytes.
pub(super) fn checksum(line: &[u8]) -> Checksum {
    let Some((body, written)) = split_tail(line) else { return Checksum::Absent };
    let computed = crc32c::crc32c(body);
    if written == computed { Checksum::Right } else { Checksum::Wrong { written, computed } }
}

/// The bytes before the tail, and the checksum in it.
fn split_tail(line: &[u8]) -> Option<(&[u8], u32)> {
    let (body, tail) = line.split_at(line.len().checked_sub(TAIL_LEN)?);
    let digits = tail.strip_prefix(TAIL_KEY)?.strip_suffix(b"\"}")?;
    parse_crc(digits).map(|crc| (body, crc))
}

/// Eight lower-case hexadecimal digits.
fn parse_crc(digits: &[u8]) -> Option<u32> {
    let (mut crc, mut are_digits) = (0_u32, true);
    for &digit in digits {
        let (number, letter) = (digit.wrapping_sub(b'0'), digit.wrapping_sub(b'a'));
        are_digits &= (number < 10) | (letter < 6);
        crc = crc << 4 | u32::from(if number < 10 { number } else { letter.wrapping_add(10) & 0xf });
    }
    are_digits.then_some(crc)
}

/// The end of the first whole line without newline that starts at the start of `bytes`, found by its checksum alone.
pub(super) fn whole_line_end(bytes: &[u8]) -> Option<usize> {
    let mut crc = 0;
    let mut summed = 0;
    let mut from = LINE_START.len();
    while let Some(found) = find(bytes.get(from..)?, TAIL_KEY) {
        let tail = from + found;
        let end = tail + TAIL_LEN;
        let digits = bytes.get(tail + TAIL_KEY.len()..end - 2)?;
        crc = crc32c::crc32c_append(crc, &bytes[summed..tail]);
        summed = tail;
        if bytes[end - 2..].starts_with(b"\"}") && parse_crc(digits) == Some(crc) {
            return Some(end);
        }
        from = tail + 1;
    }
    None
}

/// The first place of `needle` in `bytes`.
pub(super) fn find(bytes: &[u8], needle: &[u8]) -> Option<usize> {
    let (&first, _) = needle.split_first()?;
    let mut from = 0;
    while let Some(next) = bytes.get(from..)?.iter().position(|&byte| byte == first) {
        from += next;
        if bytes[from..].starts_with(needle) {
            return Some(from);
        }
        from += 1;
    }
    None
}

/// Where the parts of a line stand in its text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Layout {
    pub(super) timestamp: Range<usize>,
    pub(super) ordinal: u64,
    pub(super) type_name: Range<usize>,
    pub(super) version: u32,
    pub(super) metadata: Option<Range<usize>>,
    pub(super) blobs: Option<Range<usize>>,
    pub(super) original: Option<Range<usize>>,
    pub(super) payload: Range<usize>,
    /// From `"type"` to the checksum, where the line stands in the order of the format.
    pub(super) body: Option<Range<usize>>,
}

/// What is known of a record without its body: the first keys of a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Head {
    pub(super) timestamp: Range<usize>,
    pub(super) ordinal: u64,
    pub(super) type_name: Range<usize>,
    pub(super) version: u32,
    /// Where `"type"` starts.
    body: usize,
    /// The position behind the version.
    end: usize,
}

impl Head {
    /// Reads the head of a line in the order of the format; the rest of the line need not be there.
    pub(super) fn scan(line: &[u8]) -> Option<Self> {
        let mut scan = Scan { bytes: line, at: 0 };
        let timestamp = scan.key(b"{\"timestamp\":").and_then(|()| scan.timestamp())?;
        let ordinal = scan.key(b",\"ordinal\":").and_then(|()| scan.number())?;
        let body = scan.at + 1;
        let type_name = scan.key(b",\"type\":").and_then(|()| scan.plain_string())?;
        let version = scan.key(b",\"v\":").and_then(|()| scan.number())?;
        Some(Self { timestamp, ordinal, type_name, version: u32::try_from(version).ok()?, body, end: scan.at })
    }
}

impl Layout {
    /// Finds the parts of a line that stands in the order of the format, without reading its payload.
    ///
    /// The caller has compared the checksum, so the line is what some writer meant.
    pub(super) fn in_order(line: &[u8]) -> Option<Self> {
        let head = Head::scan(line)?;
        let end = line.len().checked_sub(TAIL_LEN)?;
        let mut scan = Scan { bytes: line.get(..end)?, at: head.end };
        let (mut metadata, mut blobs, mut original) = (None, None, None);
        let payload = loop {
            let key = scan.key(b",").and_then(|()| scan.plain_string())?;
            scan.key(b":")?;
            match &line[key] {
                b"payload" => break scan.at..end,
                b"metadata" => metadata = Some(scan.value()?),
                b"blobs" => blobs = Some(scan.value()?),
                b"original" => original = Some(scan.value()?),
                // A key of a later version: it stays in the line and in copies of it.
                _ => {
                    scan.value()?;
                }
            }
        };
        if payload.is_empty() {
            return None;
        }
        Some(Self {
            timestamp: head.timestamp,
            ordinal: head.ordinal,
            type_name: head.type_name,
            version: head.version,
            metadata,
            blobs,
            original,
            payload,
            body: Some(head.body..end),
        })
    }

    /// Finds the parts of a line that someone wrote in another order or with white space. Says what is missing.
    pub(super) fn in_any_order(text: &str, line: Json<'_>) -> Result<Self, &'static str> {
        if line.shape() != Shape::Object {
            return Err("not an object");
        }
        let place = |value: Json<'_>| {
            let start = value.as_raw().as_ptr().addr() - text.as_ptr().addr();
            start..start + value.as_raw().len()
        };
        let text_of = |key: &str| {
            let value = line.member(key).filter(|value| value.shape() == Shape::String)?;
            let inner = place(value);
            Some(inner.start + 1..inner.end - 1)
        };
        Ok(Self {
            timestamp: text_of("timestamp").ok_or("no timestamp")?,
            ordinal: line.member("ordinal").and_then(|n| n.as_raw().parse().ok()).ok_or("no ordinal")?,
            type_name: text_of("type").ok_or("no type")?,
            version: line.member("v").map_or(Some(READER_VERSION), |v| v.as_raw().parse().ok()).ok_or("no version")?,
            metadata: line.member("metadata").map(place),
            blobs: line.member("blobs").map(place),
            original: line.member("original").map(place),
            payload: line.member("payload").map(place).ok_or("no payload")?,
            body: None,
        })
    }
}

/// A position in a line that stands in the order of the format.
struct Scan<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl Scan<'_> {
    fn key(&mut self, key: &[u8]) -> Option<()> {
        self.bytes.get(self.at..)?.starts_with(key).then(|| self.at += key.len())
    }

    /// The inside of the string that a time stamp is.
    fn timestamp(&mut self) -> Option<Range<usize>> {
        const LEN: usize = "2026-10-20T08:00:00.123Z".len();
        let start = self.at + 1;
        // As it is written here, its end is where it always is.
        if let Some([b'"', inside @ .., b'"']) =
            self.bytes.get(self.at..).and_then(|from| from.first_chunk::<{ LEN + 2 }>())
            && !inside.iter().fold(false, |found, byte| found | matches!(byte, b'"' | b'\\'))
        {
            self.at = start + LEN + 1;
            return Some(start..start + LEN);
        }
        self.plain_string()
    }

    /// The inside of a string without escapes.
    fn plain_string(&mut self) -> Option<Range<usize>> {
        self.key(b"\"")?;
        let start = self.at;
        let len = self.bytes.get(start..)?.iter().position(|&byte| matches!(byte, b'"' | b'\\'))?;
        self.at = start + len;
        self.key(b"\"")?;
        Some(start..start + len)
    }

    fn number(&mut self) -> Option<u64> {
        let start = self.at;
        let mut number = 0_u64;
        // The number has to end within the line, or a head that was cut in it would pass.
        while let digit @ b'0'..=b'9' = self.bytes.get(self.at)? {
            number = number.checked_mul(10)?.checked_add(u64::from(digit - b'0'))?;
            self.at += 1;
        }
        (self.at > start).then_some(number)
    }

    /// Steps over an object, an array or a string by its brackets and quotes.
    fn value(&mut self) -> Option<Range<usize>> {
        let start = self.at;
        if let Some(len) = self.bytes.get(start..).and_then(flat_object_len) {
            self.at += len;
            return Some(start..self.at);
        }
        self.nested()
    }

    fn nested(&mut self) -> Option<Range<usize>> {
        let start = self.at;
        let mut depth = 0_usize;
        loop {
            match self.bytes.get(self.at)? {
                b'"' => {
                    self.string()?;
                    if depth == 0 {
                        return Some(start..self.at);
                    }
                    continue;
                }
                b'{' | b'[' => depth += 1,
                b'}' | b']' => {
                    depth = depth.checked_sub(1)?;
                    if depth == 0 {
                        self.at += 1;
                        return Some(start..self.at);
                    }
                }
                b',' if depth == 0 => return (self.at > start).then_some(start..self.at),
                _ => {}
            }
            self.at += 1;
        }
    }

    fn string(&mut self) -> Option<()> {
        self.at += 1;
        loop {
            match self.bytes.get(self.at)? {
                b'"' => break,
                b'\\' => self.at += 2,
                _ => self.at += 1,
            }
        }
        self.at += 1;
        Some(())
    }
}

/// Bytes of ones and zeroes are what a compiler makes vector instructions of.
const fn ones(is_so: bool) -> u8 {
    if is_so { u8::MAX } else { 0 }
}

/// The length of a short object that stands at the start of `bytes` and has no object and no array in it, and no escape.
fn flat_object_len(bytes: &[u8]) -> Option<usize> {
    // Longer than the metadata of most items; a known length is looked at by a few vector instructions.
    const WINDOW: usize = 96;
    /// As many bytes of ones as zeroes: a part of it has ones in front of any place.
    const INSIDE: [u8; 2 * WINDOW] = {
        let mut ones = [0; 2 * WINDOW];
        let mut at = 0;
        while at < WINDOW {
            ones[at] = u8::MAX;
            at += 1;
        }
        ones
    };
    let (first, rest) = bytes.split_first()?;
    let window = rest.first_chunk::<WINDOW>()?;
    let last = memchr::memchr(b'}', window)?;
    let inside = INSIDE[WINDOW - last..].first_chunk::<WINDOW>()?;
    let (mut is_nested, mut quotes) = ([0_u8; WINDOW], [0_u8; WINDOW]);
    for at in 0..WINDOW {
        let byte = window[at];
        quotes[at] = ones(byte == b'"') & inside[at];
        let brackets = ones(byte == b'{') | ones(byte == b'[') | ones(byte == b']');
        is_nested[at] = (brackets | ones(byte == b'\\')) & inside[at];
    }
    let is_flat = *first == b'{' && is_nested.iter().fold(0, |all, one| all | one) == 0;
    // Where a string is open, the brace is one of its characters.
    let is_open = quotes.iter().fold(0_u8, |sum, one| sum.wrapping_add(*one)) & 1 == 1;
    (is_flat && !is_open).then_some(last + 2)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Where the value ends that is passed by its brackets and quotes.
    fn stepped_over(text: &str) -> Option<usize> {
        let mut scan = Scan { bytes: text.as_bytes(), at: 0 };
        scan.nested().map(|range| range.end)
    }

    proptest! {
        #[test]
        fn a_flat_object_ends_where_any_object_does(
            text in "\\{(\"[a-c{}\\[\\],:]{0,3}\"|[0-9:,]|\\[\"a\"\\]|\\{\\}|\\\\|\\\\\"){0,6}\\},[}\"a]{0,3}",
            any_text in "[{}\\[\\]\",a\\\\]{0,10}",
        ) {
            for text in [text, any_text].map(|text| text + ",\"payload\":{\"type\":\"message\",\"role\":\"user\",\"content\":[{\"type\":\"input_text\",\"text\":\"\"}]}") {
                if let Some(len) = flat_object_len(text.as_bytes()) {
                    prop_assert_eq!(Some(len), stepped_over(&text), "{}", text);
                }
            }
        }
    }

    #[test]
    fn metadata_without_kinds_are_flat() {
        let flat = |text: &str| flat_object_len(format!("{text}{}", " ".repeat(96)).as_bytes());
        assert_eq!(flat("{\"position\":0,\"turn_id\":\"t}1\"}"), None);
        assert_eq!(flat("{\"position\":0,\"turn_id\":\"t1\"},\"payload\":{}"), Some(29));
        assert_eq!(flat("{}"), Some(2));
        assert_eq!(flat("[}"), None);
        assert_eq!(flat("}"), None);
        assert_eq!(flat("{\"a\":1"), None);
    }

    #[test]
    fn a_time_stamp_ends_at_its_quote_wherever_another_one_stands() {
        let line = b"{\"timestamp\":\"2026\",\"ordinal\":1234567,\"type\":\"item\",\"v\":1,";
        // Where the quote of a usual time stamp would stand, that of a key stands.
        assert_eq!(line[14 + 24], b'"');
        let head = Head::scan(line).unwrap();
        assert_eq!(
            (&line[head.timestamp], head.ordinal, &line[head.type_name]),
            (&b"2026"[..], 1_234_567, &b"item"[..])
        );
    }

    #[test]
    fn a_checksum_has_eight_lower_case_digits() {
        assert_eq!(parse_crc(b"0123abcf"), Some(0x0123_abcf));
        for digits in [b"0123abcF", b"0123abcg", b"0123abc/", b"0123abc:", b"0123abc`", b"0123ab\xffc"] {
            assert_eq!(parse_crc(digits), None, "{digits:?}");
        }
    }
}
