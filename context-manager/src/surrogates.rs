//! Lone surrogates in JSON escapes: kept in the store, repaired in a projection.

use context_fragments::WireItem;

/// Says that `item` has an escape of one half of a surrogate pair without the other half.
pub(crate) fn has_lone(item: &WireItem) -> bool {
    item.has_code_units() && Escapes { json: item.as_str(), at: 0 }.next().is_some()
}

/// `json` with every lone surrogate escape replaced by `\ufffd`.
pub(crate) fn repaired(json: &str) -> String {
    let mut out = String::with_capacity(json.len());
    let mut kept_to = 0;
    for at in (Escapes { json, at: 0 }) {
        out.push_str(&json[kept_to..at]);
        out.push_str("\\ufffd");
        kept_to = at + 6;
    }
    out.push_str(&json[kept_to..]);
    out
}

/// Where lone surrogate escapes start, in a JSON text that is known to be valid.
struct Escapes<'a> {
    json: &'a str,
    at: usize,
}

impl Escapes<'_> {
    /// The UTF-16 unit of the `\uXXXX` at `at`.
    fn unit(&self, at: usize) -> Option<u16> {
        let digits = self.json.get(at..at + 6)?.strip_prefix("\\u")?;
        u16::from_str_radix(digits, 16).ok()
    }
}

impl Iterator for Escapes<'_> {
    type Item = usize;

    fn next(&mut self) -> Option<usize> {
        loop {
            let at = self.at + self.json.get(self.at..)?.find('\\')?;
            let Some(unit) = self.unit(at) else {
                self.at = at + 2;
                continue;
            };
            self.at = at + 6;
            match unit {
                0xD800..=0xDBFF if self.unit(self.at).is_some_and(|low| (0xDC00..=0xDFFF).contains(&low)) => {
                    self.at += 6;
                }
                0xD800..=0xDFFF => return Some(at),
                _ => {}
            }
        }
    }
}
