//! What providers refuse in the content of an item, found once when it is recorded; a projection mends it.

use context_fragments::{
    ContextItem, ItemType, Kind, WireItem,
    json::{Json, Shape},
};

use crate::{Profile, Rule, edit, profile::Mend};

/// What stands for the output of a tool that had nothing to say.
const NO_OUTPUT: &str = "(no output)";

/// What is wrong with the content of an item; by its type an item can have one flaw at most.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Flaw {
    /// The arguments of a function call are no JSON object.
    Arguments,
    /// A message has a part of text with nothing but white space in it, beside others.
    BlankText,
    /// A message has nothing but white space.
    BlankMessage,
    /// An output has nothing but white space, or a part with nothing else.
    BlankOutput,
    /// The encrypted content of a reasoning item is empty.
    Unsigned,
    /// The encrypted content of a reasoning item is base64 that is not whole.
    CutSignature,
}

impl Flaw {
    pub(crate) fn of(item: &WireItem) -> Option<Self> {
        match item.item_type() {
            ItemType::FunctionCall => {
                let text = item.body().and_then(Json::to_str);
                let is_object =
                    text.is_some_and(|text| Json::parse(&text).is_ok_and(|json| json.shape() == Shape::Object));
                (!is_object).then_some(Self::Arguments)
            }
            ItemType::Message => {
                let blanks = Blanks::of(item.body()?);
                blanks.has_blank.then_some(if blanks.has_more { Self::BlankText } else { Self::BlankMessage })
            }
            ItemType::FunctionCallOutput | ItemType::CustomToolCallOutput => {
                item.body().is_some_and(|output| Blanks::of(output).has_blank).then_some(Self::BlankOutput)
            }
            ItemType::Reasoning => {
                let text = item.body().and_then(Json::to_str)?;
                if text.is_empty() {
                    Some(Self::Unsigned)
                } else {
                    (!is_whole_base64(&text)).then_some(Self::CutSignature)
                }
            }
            _ => None,
        }
    }

    pub(crate) const fn is_mended_by(self, profile: &Profile) -> bool {
        let row = match self {
            Self::Arguments => profile.bad_arguments,
            Self::BlankText | Self::BlankMessage => profile.blank_text,
            Self::BlankOutput => profile.blank_output,
            Self::Unsigned => profile.unsigned_reasoning,
            Self::CutSignature => profile.cut_signature,
        };
        matches!(row, Mend::Apply)
    }

    /// Says that nothing is left of the item when this is mended.
    pub(crate) const fn removes(self) -> bool {
        matches!(self, Self::BlankMessage | Self::Unsigned | Self::CutSignature)
    }

    pub(crate) const fn rule(self) -> Rule {
        match self {
            Self::Arguments => Rule::BadArguments,
            Self::BlankText | Self::BlankMessage => Rule::BlankText,
            Self::BlankOutput => Rule::BlankOutput,
            Self::Unsigned => Rule::UnsignedReasoning,
            Self::CutSignature => Rule::CutSignature,
        }
    }

    pub(crate) const fn why(self) -> &'static str {
        match self {
            Self::Arguments => "the arguments are no JSON object",
            Self::BlankText | Self::BlankMessage => "there is no text in it",
            Self::BlankOutput => "there is no output in it",
            Self::Unsigned => "the encrypted content is empty",
            Self::CutSignature => "the encrypted content is base64 that is not whole",
        }
    }

    /// The item without this flaw; as it is, where nothing would be left.
    pub(crate) fn mend(self, item: &ContextItem) -> ContextItem {
        match self {
            Self::Arguments => with_member(item, "arguments", &edit::quoted("{}"), item.kinds().to_vec()),
            Self::BlankText => without_blanks(item, "content").unwrap_or_else(|| item.clone()),
            Self::BlankOutput => without_blanks(item, "output")
                .unwrap_or_else(|| with_member(item, "output", &edit::quoted(NO_OUTPUT), Vec::new())),
            Self::BlankMessage | Self::Unsigned | Self::CutSignature => item.clone(),
        }
    }
}

/// Says that `text` is base64 of either alphabet with all of its padding, as signatures are given.
fn is_whole_base64(text: &str) -> bool {
    let body = text.trim_end_matches('=');
    let is_padded = text.len().is_multiple_of(4) && text.len() - body.len() <= 2;
    // Without a branch for each byte, many of them are looked at at once.
    let is_in_alphabet = |block: &[u8]| block.iter().fold(true, |are, byte| are & is_base64_byte(*byte));
    is_padded && body.as_bytes().chunks(64).all(is_in_alphabet)
}

/// Says that a byte is of one of the alphabets of base64; as sums and comparisons, which have no branches.
const fn is_base64_byte(byte: u8) -> bool {
    let is_letter = (byte | 0x20).wrapping_sub(b'a') < 26;
    let is_digit = byte.wrapping_sub(b'0') < 10;
    is_letter | is_digit | (byte == b'+') | (byte == b'/') | (byte == b'-') | (byte == b'_')
}

/// What is blank in a content.
#[derive(Clone, Copy)]
struct Blanks {
    /// All of it is, or a part.
    has_blank: bool,
    /// It has a part that is not.
    has_more: bool,
}

impl Blanks {
    fn of(content: Json<'_>) -> Self {
        match content.shape() {
            Shape::String => Self { has_blank: is_blank_text(content), has_more: false },
            Shape::Array => {
                let (mut n_parts, mut n_blank) = (0_usize, 0_usize);
                for part in content.elements() {
                    n_parts += 1;
                    n_blank += usize::from(is_blank(part));
                }
                Self { has_blank: n_parts == 0 || n_blank > 0, has_more: n_blank < n_parts }
            }
            _ => Self { has_blank: false, has_more: false },
        }
    }
}

/// Says that a part is text with nothing but white space.
fn is_blank(part: Json<'_>) -> bool {
    let (mut is_text, mut text) = (false, None);
    for (key, value) in part.members() {
        // Null counts as absent, but hides what stood under the key before.
        if key.is_text("type") {
            is_text = value.is_text("input_text") || value.is_text("output_text");
        } else if key.is_text("text") {
            text = Some(value);
        }
    }
    is_text && text.is_some_and(is_blank_text)
}

/// Says that a string has nothing but white space; false for another value.
fn is_blank_text(text: Json<'_>) -> bool {
    // A first character that can be seen decides it, without decoding what may be a long text.
    let first = text.as_raw().as_bytes().get(1).filter(|_| text.shape() == Shape::String);
    match first {
        Some(first) if first.is_ascii_alphanumeric() => false,
        Some(_) => text.to_str().is_some_and(|text| text.trim().is_empty()),
        None => false,
    }
}

/// The item without its blank parts, and their kinds; none if nothing is left.
fn without_blanks(item: &ContextItem, key: &str) -> Option<ContextItem> {
    let list = item.item().json().member(key).filter(|list| list.shape() == Shape::Array)?;
    let n_parts = list.elements().count();
    let (mut parts, mut kinds) = (Vec::new(), Vec::new());
    for (index, part) in list.elements().enumerate().filter(|(_, part)| !is_blank(*part)) {
        parts.push(part.as_raw());
        // Kinds that do not match the parts say nothing about any of them.
        let kind = item.kinds().get(index).filter(|_| item.kinds().len() == n_parts);
        kinds.push(kind.cloned().unwrap_or(Kind::UNKNOWN));
    }
    if parts.is_empty() {
        return None;
    }
    if item.kinds().is_empty() {
        kinds.clear();
    }
    Some(with_member(item, key, &edit::array(&parts), kinds))
}

/// The item with `key` set to JSON that was written here.
fn with_member(item: &ContextItem, key: &str, value: &str, kinds: Vec<Kind>) -> ContextItem {
    match item.item().with_member(key, value) {
        Ok(wire) => ContextItem::new(wire, kinds),
        Err(_) => item.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_byte_of_base64_is_found_without_branches() {
        for byte in 0..=u8::MAX {
            let expected = byte.is_ascii_alphanumeric() || b"+/-_".contains(&byte);
            assert_eq!(is_base64_byte(byte), expected, "{byte}");
        }
    }
}
