//! From bytes to text, with a report of what was changed on the way.

use std::str::Utf8Error;

use serde::Serialize;

use crate::discovery::Newlines;

/// How the bytes of a file were read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Encoding {
    /// UTF-8, which is what a file without a mark is taken for.
    #[default]
    #[serde(rename = "utf-8")]
    Utf8,
    /// UTF-16, low byte first, known by its mark.
    #[serde(rename = "utf-16le")]
    Utf16Le,
    /// UTF-16, high byte first, known by its mark.
    #[serde(rename = "utf-16be")]
    Utf16Be,
}

/// What decoding found and changed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct DecodeReport {
    /// How the bytes were read.
    pub encoding: Encoding,
    /// Whether a byte order mark was removed.
    pub bom: bool,
    /// How many U+FFFD stand for bytes that could not be read.
    pub replacements: usize,
    /// Where the first of those bytes is, counted from the start of the file.
    pub first_replacement: Option<usize>,
    /// How many CR LF became LF.
    pub newlines_changed: usize,
    #[serde(skip)]
    pub(crate) utf8_error: Option<Utf8Error>,
}

impl DecodeReport {
    /// Whether the text is the file's bytes as they stand.
    #[must_use]
    pub fn is_plain(&self) -> bool {
        *self == Self::default()
    }
}

/// A text and how it was made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Decoded {
    pub(crate) text: String,
    pub(crate) report: DecodeReport,
}

/// Whether the bytes end where the file ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Extent {
    Whole,
    /// A character that the end of the bytes cuts in two is left out, not replaced.
    Head,
}

const UTF8_BOM: &[u8] = b"\xEF\xBB\xBF";

/// Decodes by the byte order mark, UTF-8 without one.
pub(crate) fn decode(bytes: &[u8], extent: Extent, newlines: Newlines) -> Decoded {
    let mut decoded = match bytes {
        [0xFF, 0xFE, units @ ..] => decode_utf16(units, extent, Encoding::Utf16Le),
        [0xFE, 0xFF, units @ ..] => decode_utf16(units, extent, Encoding::Utf16Be),
        _ => match bytes.strip_prefix(UTF8_BOM) {
            Some(rest) => {
                let mut decoded = decode_utf8(rest, extent);
                decoded.report.bom = true;
                if let Some(first) = &mut decoded.report.first_replacement {
                    *first += UTF8_BOM.len();
                }
                decoded
            }
            None => decode_utf8(bytes, extent),
        },
    };
    normalize(&mut decoded, newlines);
    decoded
}

/// Decodes as the reference does: UTF-8 always, a byte order mark is a character.
pub(crate) fn decode_lossy(bytes: &[u8], newlines: Newlines) -> Decoded {
    let mut decoded = decode_utf8(bytes, Extent::Whole);
    normalize(&mut decoded, newlines);
    decoded
}

fn normalize(decoded: &mut Decoded, newlines: Newlines) {
    if newlines == Newlines::Normalize {
        decoded.report.newlines_changed = decoded.text.matches("\r\n").count();
        if decoded.report.newlines_changed > 0 {
            decoded.text = decoded.text.replace("\r\n", "\n");
        }
    }
}

fn decode_utf8(bytes: &[u8], extent: Extent) -> Decoded {
    let mut report = DecodeReport::default();
    let bytes = match extent {
        Extent::Whole => bytes,
        Extent::Head => &bytes[..bytes.len() - unfinished(bytes)],
    };
    let text = match std::str::from_utf8(bytes) {
        Ok(text) => text.to_owned(),
        Err(error) => {
            report.utf8_error = Some(error);
            report.first_replacement = Some(error.valid_up_to());
            report.replacements = bytes.utf8_chunks().filter(|chunk| !chunk.invalid().is_empty()).count();
            String::from_utf8_lossy(bytes).into_owned()
        }
    };
    Decoded { text, report }
}

/// How many bytes at the end begin a character without ending it.
fn unfinished(bytes: &[u8]) -> usize {
    // An error without a length is one that more bytes could mend; a character has at most three bytes before its last.
    let is_begun = |n_tail: &usize| {
        let tail = &bytes[bytes.len() - n_tail..];
        matches!(std::str::from_utf8(tail), Err(error) if error.valid_up_to() == 0 && error.error_len().is_none())
    };
    (1..=bytes.len().min(3)).find(is_begun).unwrap_or(0)
}

fn decode_utf16(bytes: &[u8], extent: Extent, encoding: Encoding) -> Decoded {
    const BOM_LEN: usize = 2;
    let mut report = DecodeReport { encoding, bom: true, ..DecodeReport::default() };
    let mut text = String::with_capacity(bytes.len());
    let mut offset = BOM_LEN;
    let mut replace = |text: &mut String, offset: usize| {
        text.push(char::REPLACEMENT_CHARACTER);
        report.replacements += 1;
        report.first_replacement.get_or_insert(offset);
    };
    let (pairs, odd) = bytes.as_chunks::<2>();
    let unit = |pair: &[u8; 2]| match encoding {
        Encoding::Utf16Be => u16::from_be_bytes(*pair),
        Encoding::Utf16Le | Encoding::Utf8 => u16::from_le_bytes(*pair),
    };
    let n_units = pairs.len();
    for (unit_idx, decoded) in char::decode_utf16(pairs.iter().map(unit)).scan(0, |at, item| {
        let here = *at;
        *at += item.as_ref().map_or(1, |c| c.len_utf16());
        Some((here, item))
    }) {
        match decoded {
            Ok(c) => text.push(c),
            Err(lone)
                if extent == Extent::Head
                    && unit_idx + 1 == n_units
                    && (0xD800..0xDC00).contains(&lone.unpaired_surrogate()) => {}
            Err(_) => replace(&mut text, BOM_LEN + 2 * unit_idx),
        }
        offset = BOM_LEN + 2 * (unit_idx + 1);
    }
    if !odd.is_empty() && extent == Extent::Whole {
        replace(&mut text, offset);
    }
    Decoded { text, report }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(bytes: &[u8], extent: Extent, text: &str, report: DecodeReport) {
        let mut decoded = decode(bytes, extent, Newlines::Keep);
        decoded.report.utf8_error = None;
        assert_eq!((decoded.text.as_str(), decoded.report), (text, report));
    }

    fn replaced(replacements: usize, first: usize) -> DecodeReport {
        DecodeReport { replacements, first_replacement: Some(first), ..DecodeReport::default() }
    }

    #[test]
    fn plain_utf8_is_kept() {
        check("aé\r\n".as_bytes(), Extent::Whole, "aé\r\n", DecodeReport::default());
        check(b"", Extent::Whole, "", DecodeReport::default());
    }

    #[test]
    fn a_character_cut_by_a_bounded_read_is_left_out() {
        for cut in 1..4 {
            check(&"a😀".as_bytes()[..1 + cut], Extent::Head, "a", DecodeReport::default());
        }
        check("é€😀".as_bytes(), Extent::Head, "é€😀", DecodeReport::default());
    }

    #[test]
    fn the_same_character_at_the_end_of_a_file_is_replaced() {
        check(b"a\xC3", Extent::Whole, "a\u{FFFD}", replaced(1, 1));
    }

    #[test]
    fn bytes_that_no_more_bytes_could_mend_are_replaced_in_a_head_too() {
        check(b"a\xFF", Extent::Head, "a\u{FFFD}", replaced(1, 1));
        check(b"a\x80\x80\x80", Extent::Head, "a\u{FFFD}\u{FFFD}\u{FFFD}", replaced(3, 1));
    }

    #[test]
    fn offsets_count_the_byte_order_mark() {
        let report = DecodeReport { bom: true, ..replaced(1, 4) };
        check(b"\xEF\xBB\xBFa\xE9b", Extent::Whole, "a\u{FFFD}b", report);
    }

    #[test]
    fn utf16_surrogates_are_paired_or_replaced() {
        let report = |replacements, first| DecodeReport {
            encoding: Encoding::Utf16Be,
            bom: true,
            replacements,
            first_replacement: first,
            ..DecodeReport::default()
        };
        let pair = b"\xFE\xFF\xD8\x3D\xDE\x00\x00a";
        check(pair, Extent::Whole, "😀a", report(0, None));
        check(b"\xFE\xFF\x00a\xD8\x3D", Extent::Whole, "a\u{FFFD}", report(1, Some(4)));
        check(b"\xFE\xFF\x00a\xD8\x3D", Extent::Head, "a", report(0, None));
        check(b"\xFE\xFF\x00a\x00", Extent::Whole, "a\u{FFFD}", report(1, Some(4)));
        check(b"\xFE\xFF\xDE\x00\x00a", Extent::Whole, "\u{FFFD}a", report(1, Some(2)));
    }
}
