//! The repairs that a projection can make.

use std::fmt;

use super::Source;
use crate::{ImageSize, Position};

/// The rule by which an item was changed, added, moved or left out, or by which a provider refuses it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Rule {
    /// A call got a synthetic output.
    MissingOutput,
    /// An output without a call was left out.
    OrphanOutput,
    /// An output before its call was moved behind it.
    EarlyOutput,
    /// An output whose call was sent as closed became a message of its own.
    LateOutput,
    /// An output of a call that has one became a message of its own.
    DuplicateOutput,
    /// A call whose id an earlier call has was renamed, or an output of it.
    DuplicateCallId,
    /// A call, or an output that needs one, was left out because its call id is missing or no string.
    MisshapenCallId,
    /// An item of a type that nobody knows was left out.
    UnknownType,
    /// A placeholder stands for an image.
    ImageUnsupported,
    /// The result of an image generation was cleared.
    ImageResultCleared,
    /// A placeholder stands for audio.
    AudioUnsupported,
    /// Half of a surrogate pair became U+FFFD.
    LoneSurrogate,
    /// `{}` stands for arguments that are no JSON object.
    BadArguments,
    /// Blank text was left out of a message, or the whole of a message that had nothing else.
    BlankText,
    /// Blank text was left out of an output, or `(no output)` stands for it.
    BlankOutput,
    /// A reasoning item was left out because its encrypted content is empty.
    UnsignedReasoning,
    /// A reasoning item was left out because its encrypted content is base64 that is not whole.
    CutSignature,
    /// A reasoning item was left out because what it led to does not follow.
    LoneReasoning,
    /// A reasoning item was left out because another model made it.
    ForeignReasoning,
    /// The item id of what followed reasoning that was left out was left out too.
    IdWithoutReasoning,
    /// The item id that an earlier item has was left out.
    RepeatedItemId,
    /// An output was moved to the other outputs of its group of calls.
    OutputOrder,
    /// A placeholder stands for an image with more pixels than are taken.
    ImageTooLarge,
    /// A placeholder stands for an image whose data cannot be decoded.
    ImageUndecodable,
    /// A call id has another shape than the provider takes; no projection mends it.
    CallIdShape,
    /// There are more images than the provider takes; no projection mends it.
    TooManyImages,
    /// The input is larger than the provider takes; no projection mends it.
    InputTooLarge,
    /// The first item is not the user's; no projection mends it.
    FirstItem,
}

impl Rule {
    /// The stable id of the rule.
    #[must_use]
    pub const fn id(self) -> &'static str {
        match self {
            Self::MissingOutput => "missing_output",
            Self::OrphanOutput => "orphan_output",
            Self::EarlyOutput => "early_output",
            Self::LateOutput => "late_output",
            Self::DuplicateOutput => "duplicate_output",
            Self::DuplicateCallId => "duplicate_call_id",
            Self::MisshapenCallId => "misshapen_call_id",
            Self::UnknownType => "unknown_type",
            Self::ImageUnsupported => "image_unsupported",
            Self::ImageResultCleared => "image_result_cleared",
            Self::AudioUnsupported => "audio_unsupported",
            Self::LoneSurrogate => "lone_surrogate",
            Self::BadArguments => "bad_arguments",
            Self::BlankText => "blank_text",
            Self::BlankOutput => "blank_output",
            Self::UnsignedReasoning => "unsigned_reasoning",
            Self::CutSignature => "cut_signature",
            Self::LoneReasoning => "lone_reasoning",
            Self::ForeignReasoning => "foreign_reasoning",
            Self::IdWithoutReasoning => "id_without_reasoning",
            Self::RepeatedItemId => "repeated_item_id",
            Self::OutputOrder => "output_order",
            Self::ImageTooLarge => "image_too_large",
            Self::ImageUndecodable => "image_undecodable",
            Self::CallIdShape => "call_id_shape",
            Self::TooManyImages => "too_many_images",
            Self::InputTooLarge => "input_too_large",
            Self::FirstItem => "first_item",
        }
    }

    /// Says that the rule depends on what the model can take.
    #[must_use]
    pub const fn is_about_media(self) -> bool {
        matches!(self, Self::ImageUnsupported | Self::ImageResultCleared | Self::AudioUnsupported)
    }
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.id())
    }
}

/// One change that a projection made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Repair {
    rule: Rule,
    position: Option<Position>,
    place: usize,
    call_id: Option<String>,
    item_id: Option<String>,
    why: &'static str,
    /// The member that holds the part that was changed, and which part it is.
    part: Option<(&'static str, usize)>,
    image: Option<ImageSize>,
}

impl Repair {
    pub(super) fn new(rule: Rule, source: &Source<'_>, place: usize, why: &'static str) -> Self {
        let item = source.item();
        let call_id = item.call_id().map(std::borrow::Cow::into_owned);
        let item_id = item.item_id().map(std::borrow::Cow::into_owned);
        Self { rule, position: source.position(), place, call_id, item_id, why, part: None, image: None }
    }

    /// The same, about one part of a list.
    pub(super) const fn about(mut self, part: Option<(&'static str, usize)>, image: Option<ImageSize>) -> Self {
        self.part = part;
        self.image = image;
        self
    }

    /// The rule.
    #[must_use]
    pub const fn rule(&self) -> Rule {
        self.rule
    }

    /// The stored entry that was changed, or for which something was made; none without a history.
    #[must_use]
    pub const fn position(&self) -> Option<Position> {
        self.position
    }

    /// Where in the prompt it shows, from 0: the changed item, or the place at which one is missing.
    #[must_use]
    pub const fn place(&self) -> usize {
        self.place
    }

    /// The call id of the stored item.
    #[must_use]
    pub fn call_id(&self) -> Option<&str> {
        self.call_id.as_deref()
    }

    /// The id of the stored item itself.
    #[must_use]
    pub fn item_id(&self) -> Option<&str> {
        self.item_id.as_deref()
    }

    /// The member of the stored item that the rule is about, such as `arguments` or `content[2]`; empty for all of it.
    #[must_use]
    pub fn path(&self) -> String {
        match self.part {
            Some((key, part)) => format!("{key}[{part}]"),
            None => self.rule.member().into(),
        }
    }

    /// The size of the image that the rule is about, as its header says.
    #[must_use]
    pub const fn image_size(&self) -> Option<ImageSize> {
        self.image
    }

    /// Why it had to be.
    #[must_use]
    pub const fn why(&self) -> &'static str {
        self.why
    }
}

impl Rule {
    /// The member of an item that the rule is about; empty for all of it.
    pub(crate) const fn member(self) -> &'static str {
        match self {
            Self::DuplicateCallId | Self::MisshapenCallId | Self::CallIdShape => "call_id",
            Self::UnknownType => "type",
            Self::ImageResultCleared => "result",
            Self::BadArguments => "arguments",
            Self::BlankText => "content",
            Self::BlankOutput => "output",
            Self::UnsignedReasoning | Self::CutSignature => "encrypted_content",
            Self::IdWithoutReasoning | Self::RepeatedItemId => "id",
            _ => "",
        }
    }
}
