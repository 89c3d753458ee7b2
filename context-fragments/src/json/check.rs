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
