//! What a provider accepts, as data.

mod presets;
mod sources;

use std::borrow::Cow;

use crate::{Binding, Modalities, Rule};

pub use self::sources::{RuleSource, Strength};

/// What happens to an output that stands before its call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum EarlyOutput {
    /// It is moved behind its call.
    Move,
    /// It stays where it is.
    Keep,
}

/// What happens to an output whose call was already sent with a synthetic one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum LateOutput {
    /// The synthetic output stays, and the late one is projected as a message of its own.
    Append,
    /// The late output takes the place of the synthetic one: a declared break of the prefix.
    Replace,
}

/// What happens to a call, or to an output that needs one, without a usable call id.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum MisshapenId {
    /// The item is left out.
    Remove,
    /// The item stays as it is.
    Keep,
}

/// What happens to a call whose id an earlier call of its family has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum DuplicateId {
    /// It is renamed, and its output with it: `ID_dup1`, `ID_dup2` and so on. An output answers the oldest call of its id
    /// that has none; one more than there are calls becomes a message of its own.
    Rename,
    /// All calls and outputs of an id belong together, and one output answers all of them.
    Share,
}

/// Whether a flaw in the content of an item is mended in the projection; the store keeps what was recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Mend {
    /// It is mended, and the repair is listed.
    Apply,
    /// The provider refuses it, and the item stays as it is: [`validate`](crate::validate) names it.
    Keep,
    /// The provider takes it: it is no flaw.
    Allow,
}

/// Where an output stands that answers a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum OutputPlace {
    /// Where it was recorded, anywhere behind its call.
    AsRecorded,
    /// Directly behind its call, so that each call is a step of its own.
    Paired,
    /// Behind the last of the calls that were made together, in the order of the calls.
    ///
    /// Calls were made together if nothing but what the model made stands between them. A call with a synthetic output
    /// ends its group, so that a group that was sent never grows.
    Grouped,
}

/// What a synthetic output says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum SyntheticText {
    /// `aborted`, and nothing else.
    Literal,
    /// What the host knows of the call, if it [said so](crate::ContextManager::note_call); else `aborted`.
    Told,
}

/// What a call id may look like.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct CallIdShape {
    /// The fewest characters.
    pub min_chars: usize,
    /// The most characters.
    pub max_chars: usize,
    /// Which characters it is made of.
    pub chars: CallIdChars,
}

impl CallIdShape {
    /// Any text.
    pub const ANY: Self = Self { min_chars: 0, max_chars: usize::MAX, chars: CallIdChars::Any };

    /// Takes ids of `min_chars` to `max_chars` characters.
    #[must_use]
    pub const fn new(min_chars: usize, max_chars: usize, chars: CallIdChars) -> Self {
        Self { min_chars, max_chars, chars }
    }

    /// Says that `id` has this shape.
    #[must_use]
    pub fn admits(&self, id: &str) -> bool {
        let count = id.chars().count();
        let are_right = id.chars().all(|char| match self.chars {
            CallIdChars::Any => true,
            CallIdChars::Alphanumeric => char.is_ascii_alphanumeric(),
            CallIdChars::Word => char.is_ascii_alphanumeric() || matches!(char, '_' | '-'),
        });
        are_right && (self.min_chars..=self.max_chars).contains(&count)
    }
}

/// The characters of a call id.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum CallIdChars {
    /// Any.
    Any,
    /// ASCII letters and digits.
    Alphanumeric,
    /// ASCII letters, digits, `_` and `-`.
    Word,
}

/// Who may speak first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum FirstItem {
    /// Anybody.
    Any,
    /// The user, behind whatever the developer says.
    User,
}

/// What a provider accepts and how a history is made to fit: rows of data that a host may change.
///
/// A row of sort [`Mend`] says whether the provider refuses something, and whether the projection mends it. The rows about
/// numbers are limits. [`sources`](Profile::sources) says for each rule where it is from and from when.
///
/// # Source
/// The pairing, media and reasoning rules of the providers as of [`dated`](Profile::dated). They change, and some
/// conflict: every row is a field that a host may set.
///
/// # Example
/// ```
/// use context_manager::{LateOutput, Profile};
///
/// let mut profile = Profile::responses();
/// profile.name = "mine".into();
/// profile.late_output = LateOutput::Replace;
/// assert_ne!(profile, Profile::responses());
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Profile {
    /// The name, for reports.
    pub name: Cow<'static, str>,
    /// When the rows were last checked against the provider, as `YYYY-MM-DD`.
    pub dated: Cow<'static, str>,
    /// Outputs before their call.
    pub early_output: EarlyOutput,
    /// Outputs that come after a synthetic one was sent.
    pub late_output: LateOutput,
    /// Calls and outputs without a usable call id.
    pub misshapen_id: MisshapenId,
    /// Calls with an id that an earlier call has.
    pub duplicate_id: DuplicateId,
    /// Arguments of a function call that are no JSON object: `{}` stands for them.
    pub bad_arguments: Mend,
    /// Blank text in a message: the part is left out, and the message if nothing is left of it.
    pub blank_text: Mend,
    /// Blank text in an output: the part is left out, and `(no output)` stands there if nothing is left of it.
    pub blank_output: Mend,
    /// Reasoning with an empty `encrypted_content`: the item is left out.
    pub unsigned_reasoning: Mend,
    /// Reasoning whose `encrypted_content` is base64 that is not whole: the item is left out.
    pub cut_signature: Mend,
    /// Reasoning that is not followed by what it led to: the item is left out until that comes.
    pub lone_reasoning: Mend,
    /// Reasoning of another model than the one that is asked: the item is left out. It is there again for its own model.
    pub foreign_reasoning: Mend,
    /// Item ids of what followed reasoning that was left out: the id is left out too, for it names a pair.
    pub ids_without_reasoning: Mend,
    /// Item ids that an earlier item has: the id is left out.
    pub repeated_item_id: Mend,
    /// Inline images whose data cannot be decoded: a placeholder stands for each.
    pub undecodable_image: Mend,
    /// Inline images with a side above `max_image_px`: a placeholder stands for each.
    pub large_image: Mend,
    /// The longest side of an image, in pixels.
    pub max_image_px: Option<u32>,
    /// The longest side of each image, in pixels, in a request with more than so many images: `(images, pixels)`.
    pub many_images_px: Option<(usize, u32)>,
    /// The most images in one request.
    pub max_images: Option<usize>,
    /// The largest input, in bytes.
    pub max_input_bytes: Option<usize>,
    /// What the provider takes beside text; the model may take less.
    pub media: Modalities,
    /// Outputs that answer a call. Only where ids are renamed: calls that share their outputs are not put in order.
    pub output_place: OutputPlace,
    /// Calls without an output.
    pub synthetic_text: SyntheticText,
    /// The shape of call ids.
    pub call_id: CallIdShape,
    /// The first item.
    pub first_item: FirstItem,
    /// Which values bind reasoning that comes back; none if the provider binds it to nothing.
    pub binding: Option<Binding>,
    /// Where each rule is from.
    pub sources: Cow<'static, [RuleSource]>,
}

impl Profile {
    /// Where `rule` is from; none if nothing is known of that.
    #[must_use]
    pub fn source_of(&self, rule: Rule) -> Option<&RuleSource> {
        self.sources.iter().find(|source| source.rule == rule)
    }

    /// The same with another source for the rule that `source` names.
    #[must_use]
    pub fn with_source(mut self, source: RuleSource) -> Self {
        let sources = self.sources.to_mut();
        sources.retain(|old| old.rule != source.rule);
        sources.push(source);
        self
    }

    /// What a model with these modalities gets of media.
    #[must_use]
    pub const fn allowed(&self, model: Modalities) -> Modalities {
        Modalities::new(self.media.images && model.images, self.media.audio && model.audio)
    }

    /// Says that outputs are put behind their calls.
    pub(crate) fn places_outputs(&self) -> bool {
        self.output_place != OutputPlace::AsRecorded && self.duplicate_id == DuplicateId::Rename
    }
}

impl Default for Profile {
    fn default() -> Self {
        Self::responses()
    }
}
