//! What a line of the own format is: a whole record, an edited one, several, or damage.

use std::{ops::Range, str, sync::LazyLock};

use context_fragments::json::Json;
use memchr::memmem::Finder;

use super::{
    line::{Checksum, LINE_START, Layout, checksum, find, whole_line_end},
    report::Problem,
};

/// How many starts of a record are tried on one damaged line: a bound on the work, far above what a torn write leaves.
const MAX_STARTS: usize = 32;

/// Says whether a record is what its writer wrote.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Trust {
    /// The checksum is right.
    Whole,
    /// The checksum is that of other bytes.
    Edited {
        /// The checksum on the line.
        written: u32,
        /// The checksum of the line.
        computed: u32,
    },
    /// There is no checksum where it belongs.
    Unsealed,
    /// The format of the log has no checksums.
    Unchecked,
}

impl Trust {
    /// Says that someone changed the record.
    #[must_use]
    pub const fn is_edited(self) -> bool {
        matches!(self, Self::Edited { .. } | Self::Unsealed)
    }
}

/// What a line is.
#[derive(Debug)]
pub(super) enum Judgement {
    /// One record.
    Record(String, Layout, Trust),
    /// Several records, or one and foreign bytes, by their places on the line.
    Fused(Vec<u8>, Vec<Range<usize>>),
    /// No record.
    Damage(Problem),
}

/// Judges a line that stands at `offset` of the file.
#[inline]
pub(super) fn judge(line: Vec<u8>, offset: u64) -> Judgement {
    let sum = checksum(&line);
    if sum == Checksum::Right
        && let Some(layout) = Layout::in_order(&line)
    {
        return match String::from_utf8(line) {
            Ok(text) => Judgement::Record(text, layout, Trust::Whole),
            Err(error) => Judgement::Damage(not_utf8(&error.utf8_error(), offset)),
        };
    }
    judge_other(line, sum, offset)
}

/// Judges a line that is not as its writer wrote it.
#[cold]
fn judge_other(line: Vec<u8>, sum: Checksum, offset: u64) -> Judgement {
    let records = whole_records(&line);
    if !records.is_empty() {
        return Judgement::Fused(line, records);
    }
    let text = match String::from_utf8(line) {
        Ok(text) => text,
        Err(error) => return Judgement::Damage(not_utf8(&error.utf8_error(), offset)),
    };
    let layout = match Json::parse(&text) {
        Ok(json) => Layout::in_any_order(&text, json),
        Err(_) => return Judgement::Damage(Problem::NotJson),
    };
    let trust = match sum {
        Checksum::Wrong { written, computed } => Trust::Edited { written, computed },
        Checksum::Absent | Checksum::Right => Trust::Unsealed,
    };
    match layout {
        Ok(layout) => Judgement::Record(text, layout, trust),
        Err(missing) => Judgement::Damage(Problem::NotRecord { missing }),
    }
}

fn not_utf8(error: &str::Utf8Error, offset: u64) -> Problem {
    Problem::NotUtf8 { at: offset + error.valid_up_to() as u64 }
}

/// Where whole records stand on a line that is none itself. Their checksums prove them.
fn whole_records(line: &[u8]) -> Vec<Range<usize>> {
    let mut records = Vec::new();
    let mut from = 0;
    let mut starts = 0;
    while let Some(found) = line.get(from..).and_then(|rest| find(rest, LINE_START)) {
        let start = from + found;
        match whole_line_end(&line[start..]) {
            Some(len) => {
                records.push(start..start + len);
                from = start + len;
            }
            None => {
                starts += 1;
                if starts == MAX_STARTS {
                    break;
                }
                from = start + 1;
            }
        }
    }
    records
}

/// Says that a JSON string in `text` holds half a surrogate pair.
pub(super) fn has_lone_surrogate(text: &str) -> bool {
    static CODE_UNIT: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new("\\u"));
    // Nearly no line has such an escape, and this search is many times as fast as the walk.
    if CODE_UNIT.find(text.as_bytes()).is_none() {
        return false;
    }
    let bytes = text.as_bytes();
    let mut at = 0;
    let mut high = None;
    while let Some(next) = bytes.get(at..).and_then(|rest| rest.iter().position(|&byte| byte == b'\\')) {
        let escape = at + next;
        let unit = (bytes.get(escape + 1) == Some(&b'u'))
            .then(|| text.get(escape + 2..escape + 6).and_then(|digits| u16::from_str_radix(digits, 16).ok()))
            .flatten();
        at = escape + if unit.is_some() { 6 } else { 2 };
        let follows = high.take().is_some_and(|end| end == escape);
        match unit {
            Some(0xDC00..=0xDFFF) if follows => {}
            _ if follows => return true,
            Some(0xD800..=0xDBFF) => {
                // A high half is alone unless the next escape follows at once and is a low half.
                if bytes.get(at) != Some(&b'\\') {
                    return true;
                }
                high = Some(at);
            }
            Some(0xDC00..=0xDFFF) => return true,
            _ => {}
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_that_is_no_text_is_damage_in_spite_of_its_checksum() {
        let head =
            "{\"timestamp\":\"2026-10-20T08:00:00.123Z\",\"ordinal\":7,\"type\":\"item\",\"v\":1,\"payload\":{\"a\":\"";
        for (inside, bad) in
            [(&b"\xc3\xa9"[..], None), (b"\xff", Some(0)), (b"a\xc3", Some(1)), (b"\xed\xa0\x80", Some(0))]
        {
            let mut line = [head.as_bytes(), inside, b"\"}"].concat();
            let crc = crc32c::crc32c(&line);
            line.extend_from_slice(format!(",\"crc\":\"{crc:08x}\"}}").as_bytes());
            match (judge(line, 1_000), bad) {
                (Judgement::Record(_, _, Trust::Whole), None) => {}
                (Judgement::Damage(Problem::NotUtf8 { at }), Some(bad)) => {
                    assert_eq!(at, 1_000 + head.len() as u64 + bad, "{inside:?}");
                }
                (other, _) => panic!("{inside:?} is {other:?}"),
            }
        }
    }
}
