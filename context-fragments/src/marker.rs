//! The texts around a fragment: recognising them, and keeping a body from closing its own frame.

use std::borrow::Cow;

/// The texts that a fragment starts and ends with; both empty for a fragment without a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(clippy::exhaustive_structs, reason = "a frame has two ends")]
pub struct Markers<'a> {
    /// What the rendering starts with.
    pub start: &'a str,
    /// What it ends with.
    pub end: &'a str,
}

impl<'a> Markers<'a> {
    /// No frame.
    pub const NONE: Self = Self { start: "", end: "" };

    /// A frame of two texts.
    #[must_use]
    pub const fn new(start: &'a str, end: &'a str) -> Self {
        Self { start, end }
    }

    /// Says whether `text` starts and ends with the markers.
    ///
    /// White space around the text does not count, letters compare without regard to ASCII case, what stands between is
    /// not looked at, and the two may overlap. With an empty marker nothing matches.
    ///
    /// A match says what a text *looks like*. It is for logs that carry no kinds; what an item is comes from its
    /// [`Kind`](crate::Kind).
    ///
    /// # Example
    /// ```
    /// use context_fragments::Markers;
    ///
    /// let markers = Markers::new("<a>", "</a>");
    /// assert!(markers.matches("  \n<A>x</A>\t\n"));
    /// assert!(!markers.matches("x<a>y</a>"));
    /// ```
    #[must_use]
    pub fn matches(&self, text: &str) -> bool {
        if self.start.is_empty() || self.end.is_empty() {
            return false;
        }
        let text = text.trim();
        let head = text.get(..self.start.len());
        let tail = text.get(text.len().saturating_sub(self.end.len())..);
        head.is_some_and(|head| head.eq_ignore_ascii_case(self.start))
            && tail.is_some_and(|tail| tail.eq_ignore_ascii_case(self.end))
    }
}

/// Puts a backslash behind the first character of every one of `closers` in `body`, and counts them.
///
/// `</INSTRUCTIONS>` becomes `<\/INSTRUCTIONS>`: still readable, no longer the end of a frame. ASCII case does not
/// matter. What comes out holds none of the closers, so doing it twice changes nothing more.
///
/// A backslash cannot break a closer of one character, and could complete one that holds a backslash. Where `closers`
/// have such a one, U+FFFD takes the place of the first character instead.
///
/// # Example
/// ```
/// use context_fragments::neutralise;
///
/// let (body, count) = neutralise("a </Instructions> b", &["</INSTRUCTIONS>"]);
/// assert_eq!((body.as_ref(), count), (r"a <\/Instructions> b", 1));
/// ```
#[must_use]
pub fn neutralise<'a>(body: &'a str, closers: &[impl AsRef<str>]) -> (Cow<'a, str>, usize) {
    let mut out = String::new();
    let mut kept_to = 0;
    let mut count = 0;
    let is_odd = |closer: &str| closer.chars().nth(1).is_none() || closer.contains('\\');
    let is_replaced = closers.iter().map(AsRef::as_ref).any(|closer| !closer.is_empty() && is_odd(closer));
    let closes = |rest: &str, closer: &str| {
        rest.get(..closer.len()).is_some_and(|head| head.eq_ignore_ascii_case(closer)) && !closer.is_empty()
    };
    // Nearly no byte starts a closer, so that is asked first, of a table: a text has tens of thousands of them.
    let mut is_first = [false; 256];
    for first in closers.iter().filter_map(|closer| closer.as_ref().as_bytes().first()) {
        is_first[usize::from(first.to_ascii_lowercase())] = true;
        is_first[usize::from(first.to_ascii_uppercase())] = true;
    }
    for (position, byte) in body.bytes().enumerate() {
        if !is_first[usize::from(byte)] || !body.is_char_boundary(position) {
            continue;
        }
        let rest = &body[position..];
        if let Some(first) = rest.chars().next()
            && closers.iter().any(|closer| closes(rest, closer.as_ref()))
        {
            let split = position + first.len_utf8();
            if is_replaced {
                out.push_str(&body[kept_to..position]);
                out.push(char::REPLACEMENT_CHARACTER);
            } else {
                out.push_str(&body[kept_to..split]);
                out.push('\\');
            }
            kept_to = split;
            count += 1;
        }
    }
    if count == 0 {
        return (Cow::Borrowed(body), 0);
    }
    out.push_str(&body[kept_to..]);
    (Cow::Owned(out), count)
}
