//! How large a piece of context may be, and how it is cut.

use std::borrow::Cow;

/// The bytes that count as one token where nothing better is known.
pub const BYTES_PER_TOKEN: usize = 4;

/// Estimates the tokens of a text of `bytes` bytes, rounded up.
///
/// # Units
/// Four bytes a token: near the truth for English prose, half of it for dense code, and up to twice it for Chinese,
/// Japanese and Korean text.
#[must_use]
pub const fn estimate_tokens(bytes: usize) -> usize {
    bytes.div_ceil(BYTES_PER_TOKEN)
}

/// A size in bytes or in estimated tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(clippy::exhaustive_enums, reason = "the truncation policy of the wire has exactly these two modes")]
pub enum Limit {
    /// So many bytes.
    Bytes(usize),
    /// So many tokens, at four bytes a token.
    Tokens(usize),
}

impl Limit {
    /// The limit in bytes.
    #[must_use]
    pub const fn byte_budget(self) -> usize {
        match self {
            Self::Bytes(bytes) => bytes,
            Self::Tokens(tokens) => tokens.saturating_mul(BYTES_PER_TOKEN),
        }
    }

    /// The limit in tokens, rounded up.
    #[must_use]
    pub const fn token_budget(self) -> usize {
        match self {
            Self::Bytes(bytes) => estimate_tokens(bytes),
            Self::Tokens(tokens) => tokens,
        }
    }

    /// The limit times `factor`, rounded up, in the same unit.
    ///
    /// # Example
    /// ```
    /// use context_fragments::Limit;
    ///
    /// assert_eq!(Limit::Tokens(4).scaled(1.2), Limit::Tokens(5));
    /// assert_eq!(Limit::Bytes(10_000).scaled(1.2), Limit::Bytes(12_000));
    /// ```
    #[must_use]
    #[expect(
        clippy::cast_precision_loss,
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "the published rule multiplies as a float and rounds up; a float cast saturates"
    )]
    pub fn scaled(self, factor: f64) -> Self {
        let scale = |size: usize| (size as f64 * factor).ceil() as usize;
        match self {
            Self::Bytes(bytes) => Self::Bytes(scale(bytes)),
            Self::Tokens(tokens) => Self::Tokens(scale(tokens)),
        }
    }
}

/// Where the marker of a cut is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(clippy::exhaustive_enums, reason = "a marker either counts or it does not")]
pub enum MarkerRoom {
    /// Inside the limit: the result is never longer than the limit.
    Inside,
    /// On top of it: what is kept fills the limit, as in the reference.
    OnTop,
}

/// What a fragment may render to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Bound {
    /// The largest size of the whole rendering, markers included, in estimated tokens.
    pub max_tokens: usize,
    /// What happens above it.
    pub overflow: Overflow,
}

/// What happens to a rendering above its bound.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Overflow {
    /// The middle is cut out, and a counted marker stands there.
    CutMiddle,
    /// Rendering is an error, and nothing is said to the model.
    Refuse,
}

impl Bound {
    /// The bound of every fragment that names no smaller one: 10,000 tokens, cut in the middle.
    pub const FRAGMENT: Self = Self::cut_middle(10_000);

    /// The size above which a rendering is flagged for its author to look at, in tokens.
    pub const LARGE_TOKENS: usize = 1_000;

    /// Bounds a rendering by cutting its middle.
    #[must_use]
    pub const fn cut_middle(max_tokens: usize) -> Self {
        Self { max_tokens, overflow: Overflow::CutMiddle }
    }

    /// Bounds a rendering by refusing it.
    #[must_use]
    pub const fn refuse(max_tokens: usize) -> Self {
        Self { max_tokens, overflow: Overflow::Refuse }
    }

    /// The bound in bytes.
    #[must_use]
    pub const fn max_bytes(self) -> usize {
        self.max_tokens.saturating_mul(BYTES_PER_TOKEN)
    }
}

/// Cuts the middle out of `text` if it is longer than `limit`, and says there how much is gone.
///
/// # Shape
/// Head, marker, tail; the head gets the smaller half. The marker is `…N tokens truncated…` for a limit in tokens and
/// `…N chars truncated…` for one in bytes. Characters are never split. A marker that has no room [inside] its limit is
/// shortened to `…`, or to nothing below three bytes.
///
/// [inside]: MarkerRoom::Inside
///
/// # Units
/// With [`MarkerRoom::OnTop`] the tokens of the marker are those by which the text is over the limit; with
/// [`MarkerRoom::Inside`] they are those of the bytes that are really gone.
///
/// # Example
/// ```
/// use context_fragments::{Limit, MarkerRoom, cut_middle};
///
/// assert_eq!(cut_middle("abcdefghi", Limit::Tokens(2), MarkerRoom::OnTop), "abcd…1 tokens truncated…fghi");
/// let text = "x".repeat(100);
/// assert_eq!(cut_middle(&text, Limit::Bytes(40), MarkerRoom::Inside), "xxxxxxx…85 chars truncated…xxxxxxxx");
/// ```
#[must_use]
pub fn cut_middle(text: &str, limit: Limit, room: MarkerRoom) -> Cow<'_, str> {
    let max_bytes = limit.byte_budget();
    if text.len() <= max_bytes {
        return Cow::Borrowed(text);
    }
    let cut = match room {
        MarkerRoom::OnTop => Cut::keeping(text, max_bytes),
        MarkerRoom::Inside => {
            // The marker is longest when all is gone, so a cut that leaves room for that one always fits.
            let widest = Cut::keeping(text, 0).marker(limit, room).len();
            match max_bytes.checked_sub(widest) {
                Some(kept) => Cut::keeping(text, kept),
                None if max_bytes >= '…'.len_utf8() => return Cow::Borrowed("…"),
                None => return Cow::Borrowed(""),
            }
        }
    };
    Cow::Owned([cut.head, &cut.marker(limit, room), cut.tail].concat())
}

/// What a cut keeps of a text, and what lies between.
struct Cut<'a> {
    head: &'a str,
    gone: &'a str,
    tail: &'a str,
}

impl<'a> Cut<'a> {
    /// Keeps at most `max_bytes` bytes of `text` in whole characters.
    fn keeping(text: &'a str, max_bytes: usize) -> Self {
        let left = max_bytes / 2;
        let right = max_bytes - left;
        let head_end = floor_boundary(text, left);
        let tail_start = ceil_boundary(text, text.len() - right).max(head_end);
        Self { head: &text[..head_end], gone: &text[head_end..tail_start], tail: &text[tail_start..] }
    }

    fn marker(&self, limit: Limit, room: MarkerRoom) -> String {
        match (limit, room) {
            (Limit::Bytes(_), _) => format!("…{} chars truncated…", self.gone.chars().count()),
            (Limit::Tokens(_), MarkerRoom::Inside) => {
                format!("…{} tokens truncated…", estimate_tokens(self.gone.len()))
            }
            (Limit::Tokens(_), MarkerRoom::OnTop) => {
                let total = self.head.len() + self.gone.len() + self.tail.len();
                format!("…{} tokens truncated…", estimate_tokens(total.saturating_sub(limit.byte_budget())))
            }
        }
    }
}

/// The last character boundary that is not behind `position`.
fn floor_boundary(text: &str, position: usize) -> usize {
    (0..=position.min(text.len())).rev().find(|&at| text.is_char_boundary(at)).unwrap_or(0)
}

/// The first character boundary that is not before `position`.
fn ceil_boundary(text: &str, position: usize) -> usize {
    (position..=text.len()).find(|&at| text.is_char_boundary(at)).unwrap_or(text.len())
}
