//! Decoding a JSON string, lone surrogates included.

use std::borrow::Cow;

use super::{
    cursor::plain_end,
    run::{BLOCK, plain_blocks_end, run_end},
};

/// Decodes `quoted`, a valid JSON string with its quotes.
pub(super) fn decode(quoted: &str) -> Cow<'_, str> {
    let inner = inner(quoted);
    let Some(first_escape) = next_escape(inner) else { return Cow::Borrowed(inner) };
    let mut out = String::with_capacity(inner.len());
    let mut plain = first_escape;
    let mut rest = inner;
    loop {
        out.push_str(&rest[..plain]);
        let Some(escape) = rest[plain..].strip_prefix('\\') else { return Cow::Owned(out) };
        let (decoded, after) = unescaped(escape);
        out.extend(decoded);
        rest = after;
        plain = next_escape(rest).unwrap_or(rest.len());
    }
}

/// How many bytes [`decode`] gives, without decoding.
pub(super) fn decoded_len(quoted: &str) -> usize {
    let bytes = quoted.as_bytes();
    let (mut at, mut len) = (1, 0);
    loop {
        let mut n_escapes = 0;
        let passed = plain_blocks_end(bytes, at, |before| n_escapes += n_backslashes(before));
        let special = run_end(bytes, passed);
        // A frequent escape has two bytes and stands for one.
        len += special - at - n_escapes;
        let Some(escape) = quoted.get(special..).and_then(|rest| rest.strip_prefix('\\')) else { return len };
        let (decoded, after) = unescaped(escape);
        len += decoded.map_or(0, char::len_utf8);
        at = quoted.len() - after.len();
    }
}

#[inline]
fn n_backslashes(block: &[u8; BLOCK]) -> usize {
    usize::from(block.iter().fold(0_u8, |sum, byte| sum + u8::from(*byte == b'\\')))
}

/// What stands between the quotes.
pub(super) fn inner(quoted: &str) -> &str {
    &quoted[1..quoted.len() - 1]
}

/// Where the next backslash stands: between the quotes of a string, no bare quote comes before it.
fn next_escape(text: &str) -> Option<usize> {
    let place = plain_end(text.as_bytes(), 0);
    (place < text.len()).then_some(place)
}

/// Decodes the escape whose text after the backslash starts `escape`; gives what follows it.
fn unescaped(escape: &str) -> (Option<char>, &str) {
    let plain = match escape.as_bytes().first() {
        Some(b'u') => return unicode(escape),
        Some(b'b') => '\u{8}',
        Some(b'f') => '\u{c}',
        Some(b'n') => '\n',
        Some(b'r') => '\r',
        Some(b't') => '\t',
        Some(&other) => char::from(other),
        None => return (None, ""),
    };
    (Some(plain), &escape[1..])
}

/// Decodes `uXXXX`, and the low half behind it where the two make a pair.
fn unicode(escape: &str) -> (Option<char>, &str) {
    let after = escape.get(5..).unwrap_or("");
    let replaced = |decoded: Option<char>| Some(decoded.unwrap_or(char::REPLACEMENT_CHARACTER));
    let Some(unit) = code_unit(escape) else { return (replaced(None), after) };
    if let (0xD800..=0xDBFF, Some(low)) = (unit, after.strip_prefix('\\').and_then(code_unit))
        && (0xDC00..=0xDFFF).contains(&low)
    {
        let scalar = 0x1_0000 + ((u32::from(unit) - 0xD800) << 10) + (u32::from(low) - 0xDC00);
        return (replaced(char::from_u32(scalar)), after.get(6..).unwrap_or(""));
    }
    (replaced(char::from_u32(u32::from(unit))), after)
}

/// The number in `uXXXX`.
fn code_unit(escape: &str) -> Option<u16> {
    let digits = escape.strip_prefix('u')?.get(..4)?;
    u16::from_str_radix(digits, 16).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_text_has_the_length_of_what_is_decoded() {
        for escape in ["\\n", "\\\\", "\\u0041"] {
            for n_escapes in 120..140 {
                let quoted = format!("\"{}{}\"", escape.repeat(n_escapes), "plain ".repeat(n_escapes));
                assert_eq!(decoded_len(&quoted), decode(&quoted).len(), "{quoted}");
            }
        }
    }

    #[test]
    fn a_length_is_that_of_what_is_decoded() {
        let pieces = [
            "",
            "a",
            "\\n",
            "\\\\",
            "\\\"",
            "é",
            "\\u00e9",
            "\\ud83d\\ude00",
            "\\ud83d",
            "\\ude00",
            "a long run of plain text",
            r#"a run that is longer\nthan a block is, \"with\" escapes that are\tfrequent"#,
        ];
        for one in pieces {
            for two in pieces {
                for three in pieces {
                    let quoted = format!("\"{one}{two}{three}\"");
                    assert_eq!(decoded_len(&quoted), decode(&quoted).len(), "{quoted}");
                    let known: Option<String> = serde_json::from_str(&quoted).ok();
                    assert!(known.is_none_or(|known| decode(&quoted) == known), "{quoted}");
                }
            }
        }
    }
}
