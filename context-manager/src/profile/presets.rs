//! The rows of the providers.

use std::borrow::Cow;

use super::{
    CallIdChars, CallIdShape, DuplicateId, EarlyOutput, FirstItem, LateOutput, Mend, MisshapenId, OutputPlace, Profile,
    SyntheticText, sources,
};
use crate::{Binding, Modalities};

impl Profile {
    /// The rows for the OpenAI Responses API, with every sent byte kept.
    #[must_use]
    pub const fn responses() -> Self {
        Self {
            name: Cow::Borrowed("responses"),
            dated: Cow::Borrowed(sources::DATED),
            early_output: EarlyOutput::Move,
            late_output: LateOutput::Append,
            misshapen_id: MisshapenId::Remove,
            duplicate_id: DuplicateId::Rename,
            bad_arguments: Mend::Apply,
            blank_text: Mend::Apply,
            blank_output: Mend::Apply,
            unsigned_reasoning: Mend::Apply,
            cut_signature: Mend::Apply,
            lone_reasoning: Mend::Apply,
            foreign_reasoning: Mend::Apply,
            ids_without_reasoning: Mend::Apply,
            repeated_item_id: Mend::Apply,
            undecodable_image: Mend::Apply,
            large_image: Mend::Apply,
            max_image_px: None,
            many_images_px: None,
            max_images: Some(500),
            max_input_bytes: Some(50 << 20),
            media: Modalities::ALL,
            output_place: OutputPlace::AsRecorded,
            synthetic_text: SyntheticText::Told,
            call_id: CallIdShape::new(1, 64, CallIdChars::Any),
            first_item: FirstItem::Any,
            binding: None,
            sources: Cow::Borrowed(sources::RESPONSES),
        }
    }

    /// The rows that give what OpenAI Codex CLI sends.
    #[must_use]
    pub fn codex() -> Self {
        Self {
            name: Cow::Borrowed("codex"),
            early_output: EarlyOutput::Keep,
            late_output: LateOutput::Replace,
            misshapen_id: MisshapenId::Keep,
            duplicate_id: DuplicateId::Share,
            bad_arguments: Mend::Keep,
            blank_text: Mend::Keep,
            blank_output: Mend::Keep,
            unsigned_reasoning: Mend::Keep,
            cut_signature: Mend::Keep,
            lone_reasoning: Mend::Keep,
            foreign_reasoning: Mend::Keep,
            ids_without_reasoning: Mend::Keep,
            repeated_item_id: Mend::Keep,
            undecodable_image: Mend::Keep,
            large_image: Mend::Keep,
            synthetic_text: SyntheticText::Literal,
            ..Self::responses()
        }
    }

    /// The rows for OpenAI Chat Completions and for servers that speak it.
    ///
    /// A host that turns items into messages finds the outputs of the calls of one message directly behind them.
    #[must_use]
    pub fn chat_completions() -> Self {
        Self {
            name: Cow::Borrowed("chat_completions"),
            ids_without_reasoning: Mend::Allow,
            repeated_item_id: Mend::Allow,
            max_images: None,
            max_input_bytes: None,
            output_place: OutputPlace::Grouped,
            sources: Cow::Borrowed(sources::CHAT_COMPLETIONS),
            ..Self::responses()
        }
    }

    /// The rows for Anthropic Messages.
    ///
    /// All outputs of the calls of one message stand directly behind them. `max_images` is that of a model with a small
    /// window: a host that knows more sets more.
    #[must_use]
    pub fn anthropic_messages() -> Self {
        Self {
            name: Cow::Borrowed("anthropic_messages"),
            ids_without_reasoning: Mend::Allow,
            repeated_item_id: Mend::Allow,
            max_image_px: Some(8_000),
            many_images_px: Some((20, 2_000)),
            max_images: Some(100),
            max_input_bytes: Some(32 << 20),
            media: Modalities::new(true, false),
            output_place: OutputPlace::Grouped,
            call_id: CallIdShape::new(1, usize::MAX, CallIdChars::Word),
            first_item: FirstItem::User,
            binding: Some(Binding::THINKING),
            sources: Cow::Borrowed(sources::ANTHROPIC_MESSAGES),
            ..Self::responses()
        }
    }

    /// The rows for Gemini.
    ///
    /// As many outputs as calls stand directly behind the calls that were made together, in their order.
    #[must_use]
    pub fn gemini() -> Self {
        Self {
            name: Cow::Borrowed("gemini"),
            ids_without_reasoning: Mend::Allow,
            repeated_item_id: Mend::Allow,
            max_image_px: None,
            max_images: Some(900),
            max_input_bytes: None,
            output_place: OutputPlace::Grouped,
            call_id: CallIdShape::ANY,
            first_item: FirstItem::User,
            sources: Cow::Borrowed(sources::GEMINI),
            ..Self::responses()
        }
    }
}
