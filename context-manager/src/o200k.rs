//! Exact counts of text.

use context_fragments::WireItem;

use crate::{
    TokenCounter,
    tokens::{Cost, each_cost},
};

/// Counts text with the tokenizer `o200k_base`; what is no text counts as in the [`Estimate`](crate::Estimate).
///
/// The first count of a process loads the dictionary, which takes some ten milliseconds.
///
/// # Example
/// ```
/// use context_fragments::WireItem;
/// use context_manager::{O200k, TokenCounter};
///
/// assert_eq!(O200k.count(&WireItem::user_text("hello world")), 2);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "it has nothing to hold")]
pub struct O200k;

impl TokenCounter for O200k {
    fn count(&self, item: &WireItem) -> u64 {
        let (mut tokens, mut bytes) = (0_u64, 0_u64);
        each_cost(item, &mut |cost| match cost {
            Cost::Text(text) => tokens = tokens.saturating_add(self.count_text(text)),
            Cost::Quoted(text) => {
                tokens = tokens.saturating_add(text.to_str().map_or(0, |text| self.count_text(&text)));
            }
            Cost::Bytes(more) => bytes = bytes.saturating_add(u64::try_from(more).unwrap_or(u64::MAX)),
        });
        tokens.saturating_add(bytes.div_ceil(4))
    }

    fn count_text(&self, text: &str) -> u64 {
        u64::try_from(bpe_openai::o200k_base().count(text)).unwrap_or(u64::MAX)
    }
}
