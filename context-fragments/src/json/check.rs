//! Checking that a text is JSON, in one walk over its bytes.
//!
//! Reading a log is mostly this walk, so it also tells what else has to be known of each byte: where the members of the
//! value stand, and whether there is white space between tokens. Nothing recurses, so depth costs no stack.

use super::run::string_end;

/// Who is told what the walk passes.
pub(crate) trait Watch<'a> {
    /// A member of the value itself, if that is an object: its key with the quotes, and its value.
    fn member(&mut self, _key: &'a str, _value: &'a str) {}

    /// What stands between the quotes of any string, keys too.
    fn string(&mut self, _inner: &'a [u8]) {}
}

/// Nobody is told.
impl Watch<'_> for () {}

/// What a walk has found.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Checked<'a> {
    /// The value without the white space around it.
    pub(crate) value: &'a str,
    /// No white space stands between its tokens.
    pub(crate) is_compact: bool,
    /// An escape of a code unit stands in one of its strings.
    pub(crate) has_code_units: bool,
}

/// Walks over `text`; nothing if it is not one JSON value.
///
/// What is taken is what `serde_json` takes as a raw value: any depth, any number, any escape.
pub(crate) fn check<'a>(text: &'a str, watch: &mut impl Watch<'a>) -> Option<Checked<'a>> {
    let mut walk = Walk { bytes: text.as_bytes(), at: 0, spaces: 0, has_code_units: false };
    walk.skip_space();
    let start = walk.at;
    walk.spaces = 0;
    walk.value(text, watch)?;
    let (end, spaces) = (walk.at, walk.spaces);
    walk.skip_space();
    let value = text.get(start..end)?;
    let checked = Checked { value, is_compact: spaces == 0, has_code_units: walk.has_code_units };
    (walk.at == text.len()).then_some(checked)
}

/// A position in a text.
struct Walk<'a> {
    bytes: &'a [u8],
    at: usize,
    /// How many bytes of white space were passed.
    spaces: usize,
    has_code_units: bool,
}

impl<'a> Walk<'a> {
    fn value(&mut self, text: &'a str, watch: &mut impl Watch<'a>) -> Option<()> {
        let mut nesting = Nesting::default();
        // Of the member of the outermost object that is passed: where its key starts and ends, and where its value starts.
        let (mut key, mut start) = (0..0, 0);
        loop {
            let opened = match self.next()? {
                b'"' => {
                    self.string(watch)?;
                    None
                }
                b'{' => Some(Container::Object),
                b'[' => Some(Container::Array),
                b't' => self.word(b"rue")?,
                b'f' => self.word(b"alse")?,
                b'n' => self.word(b"ull")?,
                b'-' => {
                    let digit = self.next()?;
                    self.number(digit)?
                }
                digit => self.number(digit)?,
            };
            if let Some(container) = opened {
                self.skip_space();
                if self.peek() == Some(container.close()) {
                    self.at += 1;
                } else {
                    nesting.open(container);
                    if container == Container::Object {
                        let found = self.key(watch)?;
                        if nesting.depth == 1 {
                            (key, start) = (found, self.at);
                        }
                    }
                    continue;
                }
            }
            // A value ends here, and perhaps what it stands in.
            loop {
                let Some(container) = nesting.innermost() else { return Some(()) };
                if nesting.depth == 1 && container == Container::Object {
                    watch.member(text.get(key.clone())?, text.get(start..self.at)?);
                }
                self.skip_space();
                let byte = self.next()?;
                if byte == container.close() {
                    nesting.close();
                    continue;
                }
                if byte != b',' {
                    return None;
                }
                self.skip_space();
                if container == Container::Object {
                    let found = self.key(watch)?;
                    if nesting.depth == 1 {
                        (key, start) = (found, self.at);
                    }
                }
                break;
            }
        }
    }

    /// Passes a key and its colon, up to the value; gives where the key stands.
    fn key(&mut self, watch: &mut impl Watch<'a>) -> Option<std::ops::Range<usize>> {
        let start = self.at;
        if self.next()? != b'"' {
            return None;
        }
        self.string(watch)?;
        let key = start..self.at;
        self.skip_space();
        if self.next()? != b':' {
            return None;
        }
        self.skip_space();
        Some(key)
    }

    /// Passes a string from behind its first quote to behind its last one.
    fn string(&mut self, watch: &mut impl Watch<'a>) -> Option<()> {
        let start = self.at;
        let end = string_end(self.bytes, start, &mut self.has_code_units)?;
        self.at = end + 1;
        watch.string(&self.bytes[start..end]);
        Some(())
    }

    /// Passes the rest of a word; it opens nothing.
    fn word(&mut self, rest: &[u8]) -> Option<Option<Container>> {
        let found = self.bytes.get(self.at..)?.starts_with(rest);
        self.at += rest.len();
        found.then_some(None)
    }

    /// Passes the rest of a number behind its first digit; it opens nothing.
    fn number(&mut self, first: u8) -> Option<Option<Container>> {
        match first {
            // No other digit may follow a zero; what follows is looked at by who expects a comma.
            b'0' => {}
            b'1'..=b'9' => self.skip_digits(),
            _ => return None,
        }
        if self.peek() == Some(b'.') {
            self.at += 1;
            self.digits()?;
        }
        if matches!(self.peek(), Some(b'e' | b'E')) {
            self.at += 1;
            if matches!(self.peek(), Some(b'+' | b'-')) {
                self.at += 1;
            }
            self.digits()?;
        }
        Some(None)
    }

    /// Passes at least one digit.
    fn digits(&mut self) -> Option<()> {
        let start = self.at;
        self.skip_digits();
        (self.at > start).then_some(())
    }

    fn skip_digits(&mut self) {
        while self.peek().is_some_and(|byte| byte.is_ascii_digit()) {
            self.at += 1;
        }
    }

    fn skip_space(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            self.at += 1;
            self.spaces += 1;
        }
    }

    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    fn next(&mut self) -> Option<u8> {
        let byte = self.peek()?;
        self.at += 1;
        Some(byte)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Container {
    Object,
    Array,
}

impl Container {
    const fn close(self) -> u8 {
        match self {
            Self::Object => b'}',
            Self::Array => b']',
        }
    }
}

/// The objects and arrays that are open, one bit each: a million of them take 128 KiB, and 64 take no allocation.
#[derive(Default)]
struct Nesting {
    /// How many are open.
    depth: usize,
    /// The innermost ones, the last one in the lowest bit: a set bit is an object.
    inner: u64,
    /// Those around them, 64 each.
    outer: Vec<u64>,
}

impl Nesting {
    fn open(&mut self, container: Container) {
        if self.depth > 0 && self.depth.is_multiple_of(64) {
            self.outer.push(self.inner);
        }
        self.inner = self.inner << 1 | u64::from(container == Container::Object);
        self.depth += 1;
    }

    fn close(&mut self) {
        self.depth -= 1;
        self.inner >>= 1;
        if self.depth > 0 && self.depth.is_multiple_of(64) {
            self.inner = self.outer.pop().unwrap_or_default();
        }
    }

    fn innermost(&self) -> Option<Container> {
        let container = if self.inner & 1 == 1 { Container::Object } else { Container::Array };
        (self.depth > 0).then_some(container)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::value::RawValue;

    use super::*;
    use crate::json::{Json, compacted};

    #[derive(Debug, Default)]
    struct Told<'a> {
        members: Vec<(&'a str, &'a str)>,
        strings: Vec<&'a [u8]>,
    }

    impl<'a> Watch<'a> for Told<'a> {
        fn member(&mut self, key: &'a str, value: &'a str) {
            self.members.push((key, value));
        }

        fn string(&mut self, inner: &'a [u8]) {
            self.strings.push(inner);
        }
    }

    /// Every string in a value, found by walking over it.
    fn strings_in<'a>(json: Json<'a>, found: &mut Vec<&'a [u8]>) {
        if json.as_raw().starts_with('"') {
            found.push(&json.as_raw().as_bytes()[1..json.as_raw().len() - 1]);
        }
        for (key, value) in json.members() {
            strings_in(key, found);
            strings_in(value, found);
        }
        json.elements().for_each(|element| strings_in(element, found));
    }

    /// The walk takes what `serde_json` takes, and tells what walking over the value finds.
    #[track_caller]
    fn agrees(text: &str) {
        let mut told = Told::default();
        let found = check(text, &mut told);
        let known = serde_json::from_str::<&RawValue>(text).ok().map(RawValue::get);
        assert_eq!(found.map(|found| found.value), known, "{text}");
        let Some(found) = found else { return };
        let value = Json::trusted(found.value);
        let mut strings = Vec::new();
        strings_in(value, &mut strings);
        assert_eq!(
            told.members,
            value.members().map(|(key, value)| (key.as_raw(), value.as_raw())).collect::<Vec<_>>()
        );
        assert_eq!(told.strings, strings, "{text}");
        assert_eq!(found.is_compact, compacted(value) == found.value, "{text}");
        assert_eq!(found.has_code_units, strings.iter().any(|inner| has_code_unit(inner)), "{text}");
    }

    fn has_code_unit(inner: &[u8]) -> bool {
        let mut bytes = inner.iter();
        while let Some(byte) = bytes.next() {
            if *byte == b'\\' && bytes.next() == Some(&b'u') {
                return true;
            }
        }
        false
    }

    #[test]
    fn the_grammar_is_that_of_the_standard() {
        for text in [
            "0",
            "-0",
            "-",
            "01",
            "-01",
            "1.",
            "1.0",
            ".5",
            "1e",
            "1e5",
            "1E+5",
            "1e-",
            "1e+05",
            "00",
            "1.e1",
            "+1",
            "0x1",
            "1_0",
            "12345678901234567890123e99999",
            "NaN",
            "Infinity",
            "tru",
            "true",
            "truee",
            "nul",
            "null ",
            "falsey",
            "",
            " ",
            "{}",
            "{ }",
            "[ ]",
            "[1,]",
            "[,1]",
            "[1 2]",
            "[1",
            "]",
            "}",
            "[}",
            "{]",
            "{\"a\"}",
            "{\"a\":}",
            "{\"a\":1,}",
            "{,}",
            "{a:1}",
            "{'a':1}",
            "{1:1}",
            "{\"a\" : 1 , \"a\":2}",
            "[[],{},[{}]]",
            "{\"a\":{\"b\":[{}]}}",
            "\"",
            "\"a",
            "\"\\",
            "\"\\\"",
            "\"\u{1}\"",
            "\"\u{7f}\"",
            "\"\t\"",
            "\"\\u12\"",
            "\"\\u12G4\"",
            "\"\\ud800\"",
            "\"\\x\"",
            "\"\\/\"",
            "1 1",
            "{} {}",
            "[1]]",
            "\u{feff}1",
            "\u{a0}1",
            "\u{b}1",
            "\u{c}1",
            "1\0",
            "\n\t\r {\r\n\"a\"\t:\n1 } ",
            "// 1",
            "[1]//",
        ] {
            agrees(text);
            agrees(&format!("[{text}]"));
            agrees(&format!("{{\"k\":{text},\"l\":0}}"));
            agrees(&format!("\n {text} \t"));
        }
    }

    #[test]
    fn depth_is_counted_across_words_of_bits() {
        for depth in [1, 2, 63, 64, 65, 127, 128, 129, 1_000] {
            for innermost in ["", "1", "{}", "[]", "\"a\""] {
                let open: String = (0..depth).map(|level| if level % 3 == 0 { "{\"k\":" } else { "[" }).collect();
                let close: String = (0..depth).rev().map(|level| if level % 3 == 0 { '}' } else { ']' }).collect();
                for text in [
                    format!("{open}{innermost}{close}"),
                    format!("{open}{innermost}{}", &close[1..]),
                    format!("{open}{innermost}{close}]"),
                    format!("{open}{innermost}]{}", &close[1..]),
                    format!("{open}{innermost}}}{}", &close[1..]),
                ] {
                    let known = serde_json::from_str::<&RawValue>(&text).ok().map(RawValue::get);
                    assert_eq!(check(&text, &mut ()).map(|found| found.value), known, "{text}");
                }
            }
        }
    }

    /// A value, well-formed but for what a change makes of it.
    fn values() -> impl Strategy<Value = String> {
        let string = prop::collection::vec(
            prop_oneof![
                6 => "[a-z ]{0,40}",
                3 => r#"\\[bfnrt/"\\]"#,
                1 => r"\\u[0-9a-fA-F]{4}",
                1 => "[é😀\u{7f}]",
            ],
            0..6,
        );
        let string = string.prop_map(|pieces| format!("\"{}\"", pieces.concat()));
        let leaf = prop_oneof![
            string.clone(),
            "-?(0|[1-9][0-9]{0,20})(\\.[0-9]{1,3})?([eE][+-]?[0-9]{1,3})?",
            prop::sample::select(vec!["null", "true", "false"]).prop_map(str::to_owned),
        ];
        leaf.prop_recursive(5, 40, 5, move |inner| {
            let space = "[ \t\r\n]{0,1}";
            let members = prop::collection::vec((string.clone(), space, inner.clone()), 0..4);
            let members = members.prop_map(|members| {
                let members: Vec<_> =
                    members.iter().map(|(key, space, value)| format!("{space}{key}{space}:{value}")).collect();
                format!("{{{}}}", members.join(","))
            });
            let elements = prop::collection::vec(inner, 0..4).prop_map(|elements| format!("[{}]", elements.join(",")));
            prop_oneof![members, elements]
        })
    }

    proptest! {
        #[test]
        fn a_walk_agrees_with_the_parser(text in values()) {
            agrees(&text);
        }

        #[test]
        fn a_walk_agrees_with_the_parser_after_any_change(
            text in values(),
            changes in prop::collection::vec((any::<prop::sample::Index>(), "[\\[\\]{}:,\"\\\\ue0-9 \n\u{1}+.-]{0,2}", 0..3_usize), 1..4),
        ) {
            let mut text = text;
            for (place, piece, gone) in changes {
                let start = place.index(text.len() + 1);
                let end = (start + gone).min(text.len());
                if text.is_char_boundary(start) && text.is_char_boundary(end) {
                    text.replace_range(start..end, &piece);
                }
            }
            agrees(&text);
        }
    }
}
