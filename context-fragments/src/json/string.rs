//! Decoding a JSON string, lone surrogates included.

use std::borrow::Cow;

/// Decodes `quoted`, a valid JSON string with its quotes.
pub(super) fn decode(quoted: &str) -> Cow<'_, str> {
    let inner = &quoted[1..quoted.len() - 1];
    let Some(first_escape) = inner.find('\\') else { return Cow::Borrowed(inner) };
    let mut out = String::with_capacity(inner.len());
    out.push_str(&inner[..first_escape]);
    let mut rest = &inner[first_escape..];
    while let Some(escape) = rest.strip_prefix('\\') {
        let after = push_escape(&mut out, escape);
        let plain = after.find('\\').unwrap_or(after.len());
        out.push_str(&after[..plain]);
        rest = &after[plain..];
    }
    Cow::Owned(out)
}

/// Decodes the escape whose text after the backslash starts `escape`; gives what follows it.
fn push_escape<'a>(out: &mut String, escape: &'a str) -> &'a str {
    let plain = match escape.as_bytes().first() {
        Some(b'u') => return push_unicode(out, escape),
        Some(b'b') => '\u{8}',
        Some(b'f') => '\u{c}',
        Some(b'n') => '\n',
        Some(b'r') => '\r',
        Some(b't') => '\t',
        Some(&other) => char::from(other),
        None => return "",
    };
    out.push(plain);
    &escape[1..]
}

/// Decodes `uXXXX`, and the low half behind it where the two make a pair.
fn push_unicode<'a>(out: &mut String, escape: &'a str) -> &'a str {
    let after = escape.get(5..).unwrap_or("");
    let Some(unit) = code_unit(escape) else {
        out.push(char::REPLACEMENT_CHARACTER);
        return after;
    };
    if let (0xD800..=0xDBFF, Some(low)) = (unit, after.strip_prefix('\\').and_then(code_unit))
        && (0xDC00..=0xDFFF).contains(&low)
    {
        let scalar = 0x1_0000 + ((u32::from(unit) - 0xD800) << 10) + (u32::from(low) - 0xDC00);
        out.push(char::from_u32(scalar).unwrap_or(char::REPLACEMENT_CHARACTER));
        return after.get(6..).unwrap_or("");
    }
    out.push(char::from_u32(u32::from(unit)).unwrap_or(char::REPLACEMENT_CHARACTER));
    after
}

/// The number in `uXXXX`.
fn code_unit(escape: &str) -> Option<u16> {
    let digits = escape.strip_prefix('u')?.get(..4)?;
    u16::from_str_radix(digits, 16).ok()
}
