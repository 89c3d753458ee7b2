//! Do two prompts say the same where their bytes differ.

use std::{borrow::Cow, collections::BTreeMap, fmt};

use context_fragments::{
    ItemType,
    json::{Json, Shape},
};

use crate::{Log, PartName, Place, PromptItem, prompt::Body};

/// Below this depth of nesting values are compared by their bytes, so that no item can make the comparison long.
const MAX_DEPTH: usize = 64;

/// What a provider holds reasoning to when it comes back: the values of what stood before it.
///
/// A cache is bound to bytes. Reasoning may be bound to values: another order of keys, another spelling of a number or of a
/// character change nothing, and another value makes the provider refuse or drop it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Binding {
    /// The parts whose values bind.
    pub parts: Cow<'static, [PartName]>,
    /// Whether reasoning may go.
    pub reasoning: ReasoningBound,
}

/// Which reasoning may be missing from a later prompt.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ReasoningBound {
    /// None.
    All,
    /// The oldest, the newest, or all of it; none from between.
    Middle,
}

impl Binding {
    /// Binds every part and every item: the values that a byte for byte comparison would compare.
    pub const ALL: Self = Self { parts: Cow::Borrowed(&PartName::ALL), reasoning: ReasoningBound::All };

    /// Binds base instructions, tools and items, and lets reasoning go from both ends; parameters and schema are free.
    ///
    /// # Source
    /// The prefix check on thinking of the Anthropic Messages API, as documented in November 2026.
    pub const THINKING: Self =
        Self { parts: Cow::Borrowed(&[PartName::Base, PartName::Tools]), reasoning: ReasoningBound::Middle };
}

impl Default for Binding {
    fn default() -> Self {
        Self::ALL
    }
}

/// How the values of a prompt relate to those of one that was made before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "values hold or they do not")]
pub enum ValueProof {
    /// The values that bind are those of the earlier prompt, and others may follow.
    Extends,
    /// They are not.
    Broken {
        /// The first difference, counted in the earlier prompt.
        place: Place,
    },
}

impl ValueProof {
    /// Says that reasoning of the earlier prompt may come back.
    #[must_use]
    pub const fn extends(self) -> bool {
        matches!(self, Self::Extends)
    }
}

impl fmt::Display for ValueProof {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Extends => f.write_str("the values that bind are the same"),
            Self::Broken { place } => write!(f, "the values that bind differ in {place}"),
        }
    }
}

/// Compares the values of `after` with those of `before`, from the item at `from` on: up to there the bytes are equal.
pub(crate) fn compare(before: &Body, after: &Body, from: usize, binding: &Binding) -> ValueProof {
    let changed = binding.parts.iter().copied().find(|&name| {
        let (one, two) = (before.parts.text(name), after.parts.text(name));
        before.parts.digest(name) != after.parts.digest(name) && (name == PartName::Base || !are_same_texts(one, two))
    });
    if let Some(name) = changed {
        return ValueProof::Broken { place: Place::Part(name) };
    }
    match first_difference(&before.items, &after.items, from, binding) {
        Some(index) => ValueProof::Broken { place: Place::Item(index) },
        None => ValueProof::Extends,
    }
}

/// The first item of `before` that `after` does not have at its place, or whose reasoning may not be missing.
fn first_difference(
    before: &Log<PromptItem>,
    after: &Log<PromptItem>,
    from: usize,
    binding: &Binding,
) -> Option<usize> {
    let is_reasoning = |item: &PromptItem| item.item().item_type() == ItemType::Reasoning;
    let mut others = after.iter_from(from).peekable();
    // Which reasoning is missing: the runs of it and of what stayed, in their order.
    let mut runs: Vec<(bool, usize)> = Vec::new();
    let mut note = |is_missing: bool, index: usize| {
        if runs.last().is_none_or(|(last, _)| *last != is_missing) {
            runs.push((is_missing, index));
        }
    };
    if before.iter().take(from).any(is_reasoning) {
        note(false, 0);
    }
    for (index, item) in (from..).zip(before.iter_from(from)) {
        if others.next_if(|other| is_same(item, other)).is_some() {
            if is_reasoning(item) {
                note(false, index);
            }
        } else if is_reasoning(item) && binding.reasoning == ReasoningBound::Middle {
            note(true, index);
        } else {
            return Some(index);
        }
    }
    // Missing, kept, missing is reasoning that went from both ends; anything with kept on both sides of missing is not.
    runs.windows(3).find_map(|run| match run {
        [(false, _), (true, index), (false, _)] => Some(*index),
        _ => None,
    })
}

fn is_same(one: &PromptItem, two: &PromptItem) -> bool {
    one.digest() == two.digest() || are_same(one.item().json(), two.item().json())
}

fn are_same_texts(one: &str, two: &str) -> bool {
    match (Json::parse(one), Json::parse(two)) {
        (Ok(one), Ok(two)) => are_same(one, two),
        _ => one == two,
    }
}

/// Says that two JSON values are the same, whatever the order of keys and the spelling of numbers and characters.
fn are_same(one: Json<'_>, two: Json<'_>) -> bool {
    let mut open = vec![(one, two, 0_usize)];
    while let Some((one, two, depth)) = open.pop() {
        if one.as_raw() == two.as_raw() {
            continue;
        }
        if one.shape() != two.shape() || depth == MAX_DEPTH {
            return false;
        }
        match one.shape() {
            Shape::Object => {
                let (ones, twos) = (members(one), members(two));
                if !ones.keys().eq(twos.keys()) {
                    return false;
                }
                open.extend(ones.into_values().zip(twos.into_values()).map(|(one, two)| (one, two, depth + 1)));
            }
            Shape::Array => {
                let (ones, twos) = (one.elements(), two.elements());
                if ones.clone().count() != twos.clone().count() {
                    return false;
                }
                open.extend(ones.zip(twos).map(|(one, two)| (one, two, depth + 1)));
            }
            Shape::String => {
                // A lone surrogate reads as U+FFFD, so a text with that is compared as it is spelled.
                let (one, two) = (one.to_str(), two.to_str());
                if one != two || one.is_some_and(|text| text.contains('\u{fffd}')) {
                    return false;
                }
            }
            Shape::Number => {
                if number(one.as_raw()) != number(two.as_raw()) {
                    return false;
                }
            }
            // Booleans and null have one spelling.
            _ => return false,
        }
    }
    true
}

/// The members by name; of a name that stands twice the last one counts.
fn members(object: Json<'_>) -> BTreeMap<Cow<'_, str>, Json<'_>> {
    object.members().map(|(key, value)| (key.to_str().unwrap_or(Cow::Borrowed(key.as_raw())), value)).collect()
}

/// A number as its sign, its digits without zeros at both ends, and the power of ten of the last one.
fn number(raw: &str) -> Option<(bool, String, i64)> {
    let (is_negative, raw) = raw.strip_prefix('-').map_or((false, raw), |raw| (true, raw));
    let (mantissa, exponent) = raw.split_once(['e', 'E']).unwrap_or((raw, "0"));
    let exponent: i64 = exponent.strip_prefix('+').unwrap_or(exponent).parse().ok()?;
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let all = format!("{whole}{fraction}");
    let digits = all.trim_end_matches('0');
    let n_zeros = all.len() - digits.len();
    let digits = digits.trim_start_matches('0');
    if digits.is_empty() {
        return Some((is_negative, String::new(), 0));
    }
    let shift = i64::try_from(n_zeros).ok()?.checked_sub(i64::try_from(fraction.len()).ok()?)?;
    Some((is_negative, digits.to_owned(), exponent.checked_add(shift)?))
}
