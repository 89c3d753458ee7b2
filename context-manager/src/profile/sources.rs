//! Where the rules are from: a table with dates.

use std::borrow::Cow;

use crate::Rule;

/// When the tables were last checked.
pub(super) const DATED: &str = "2026-11-30";

/// How well a rule is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Strength {
    /// A page of the provider says so.
    Documented,
    /// The provider's error says so, as public reports quote it.
    Error,
    /// Adapters that work with the provider do so.
    Code,
    /// A third party says so; nobody else confirms it.
    ThirdParty,
    /// The provider says nothing of it. A request without it is the safer one.
    Caution,
}

/// Where one rule of one provider is from.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct RuleSource {
    /// A stable id, such as `responses.missing_output`.
    pub id: Cow<'static, str>,
    /// The rule.
    pub rule: Rule,
    /// Whose rule it is.
    pub provider: Cow<'static, str>,
    /// What says so.
    pub source: Cow<'static, str>,
    /// How well it is known.
    pub strength: Strength,
    /// When it was last checked, as `YYYY-MM-DD`.
    pub dated: Cow<'static, str>,
}

impl RuleSource {
    /// Names where a rule is from.
    #[must_use]
    pub fn new(
        id: impl Into<Cow<'static, str>>,
        rule: Rule,
        provider: impl Into<Cow<'static, str>>,
        source: impl Into<Cow<'static, str>>,
        strength: Strength,
        dated: impl Into<Cow<'static, str>>,
    ) -> Self {
        Self { id: id.into(), rule, provider: provider.into(), source: source.into(), strength, dated: dated.into() }
    }
}

macro_rules! table {
    ($provider:literal: $([$id:literal, $rule:ident, $strength:ident, $source:literal])*) => {
        &[$(RuleSource {
            id: Cow::Borrowed(concat!($provider, ".", $id)),
            rule: Rule::$rule,
            provider: Cow::Borrowed($provider),
            source: Cow::Borrowed($source),
            strength: Strength::$strength,
            dated: Cow::Borrowed(DATED),
        }),*]
    };
}

pub(super) const RESPONSES: &[RuleSource] = table!("responses":
    ["missing_output", MissingOutput, Error, "\"No tool output found for function call\""]
    ["orphan_output", OrphanOutput, Error, "\"No tool call found for function call output with call_id\""]
    ["early_output", EarlyOutput, Caution, "an output before its call is found by no adapter"]
    ["duplicate_output", DuplicateOutput, Caution, "one output for each call"]
    ["late_output", LateOutput, Documented, "keep-prefix-unchanged guide: a changed earlier item drops later reasoning"]
    ["duplicate_call_id", DuplicateCallId, Caution, "outputs are paired by call id"]
    ["misshapen_call_id", MisshapenCallId, Documented, "API reference: call_id is a text and required"]
    ["call_id_shape", CallIdShape, Documented, "API reference: call_id has 1 to 64 characters"]
    ["unknown_type", UnknownType, Documented, "API reference: input items have one of the named types"]
    ["bad_arguments", BadArguments, Caution, "arguments are read as a JSON object by templates and adapters"]
    ["blank_text", BlankText, Caution, "other providers refuse empty text"]
    ["blank_output", BlankOutput, Caution, "other providers refuse empty text"]
    ["unsigned_reasoning", UnsignedReasoning, Documented, "stateless use needs reasoning.encrypted_content"]
    ["cut_signature", CutSignature, Documented, "stateless use needs reasoning.encrypted_content as it was given"]
    ["lone_reasoning", LoneReasoning, Error, "\"of type 'reasoning' was provided without its required following item\""]
    ["id_without_reasoning", IdWithoutReasoning, Error, "a call or message was provided without its required reasoning item"]
    ["foreign_reasoning", ForeignReasoning, Caution, "encrypted content is for those who wrote it"]
    ["repeated_item_id", RepeatedItemId, Caution, "item ids name one item"]
    ["undecodable_image", ImageUndecodable, Caution, "an image that nobody can decode is refused"]
    ["too_many_images", TooManyImages, ThirdParty, "a mirror of the images guide: up to 500 images in a request"]
    ["input_too_large", InputTooLarge, ThirdParty, "a mirror of the images guide: up to 50 MB in a request"]
    ["lone_surrogate", LoneSurrogate, Caution, "half a surrogate pair is no Unicode text"]
);

pub(super) const CHAT_COMPLETIONS: &[RuleSource] = table!("chat_completions":
    ["missing_output", MissingOutput, Error, "an assistant message with tool_calls must be followed by tool messages"]
    ["orphan_output", OrphanOutput, Error, "a tool message must follow a message with tool_calls"]
    ["output_order", OutputOrder, Error, "tool messages follow the message with tool_calls at once"]
    ["early_output", EarlyOutput, Error, "a tool message must follow a message with tool_calls"]
    ["duplicate_call_id", DuplicateCallId, Caution, "outputs are paired by call id"]
    ["misshapen_call_id", MisshapenCallId, Documented, "API reference: tool_call_id is a text and required"]
    ["call_id_shape", CallIdShape, Documented, "API reference: ids have 1 to 64 characters; Mistral asks for 9 alphanumerics"]
    ["bad_arguments", BadArguments, Caution, "templates of compatible servers read arguments as a JSON object"]
    ["foreign_reasoning", ForeignReasoning, Caution, "reasoning is for the model that wrote it"]
);

pub(super) const ANTHROPIC_MESSAGES: &[RuleSource] = table!("anthropic_messages":
    ["missing_output", MissingOutput, Error, "\"Did not find N tool_result block(s) at the beginning of this message\""]
    ["orphan_output", OrphanOutput, Error, "a tool_result block needs its tool_use block in the message before"]
    ["output_order", OutputOrder, Error, "all tool_result blocks stand in the next user message, before any text"]
    ["early_output", EarlyOutput, Error, "a tool_result block needs its tool_use block in the message before"]
    ["late_output", LateOutput, Documented, "preserved-thinking page: an edited earlier message invalidates blocks"]
    ["duplicate_call_id", DuplicateCallId, Caution, "outputs are paired by tool_use_id"]
    ["misshapen_call_id", MisshapenCallId, Documented, "API reference: a tool_use block has an id"]
    ["call_id_shape", CallIdShape, Code, "ids are made of letters, digits, _ and -"]
    ["bad_arguments", BadArguments, Documented, "API reference: the input of a tool_use block is an object"]
    ["blank_text", BlankText, Code, "no empty text blocks"]
    ["blank_output", BlankOutput, Code, "no empty text blocks"]
    ["unsigned_reasoning", UnsignedReasoning, Error, "thinking blocks are returned with their signature"]
    ["cut_signature", CutSignature, Error, "thinking blocks are returned unmodified"]
    ["lone_reasoning", LoneReasoning, Caution, "a thinking block is followed by what it led to"]
    ["foreign_reasoning", ForeignReasoning, Documented, "preserved-thinking page: a model reads its own and earlier models' blocks"]
    ["audio_unsupported", AudioUnsupported, Documented, "API reference: there is no audio block"]
    ["image_too_large", ImageTooLarge, Documented, "vision page: 8000x8000 px, 2000x2000 px above 20 images"]
    ["undecodable_image", ImageUndecodable, Caution, "an image that nobody can decode is refused"]
    ["too_many_images", TooManyImages, Documented, "vision page: 100 images on models with a window of 200k, 600 on others"]
    ["input_too_large", InputTooLarge, Documented, "vision page: 32 MB in a request"]
    ["first_item", FirstItem, Error, "the first message has the role user"]
);

pub(super) const GEMINI: &[RuleSource] = table!("gemini":
    ["missing_output", MissingOutput, Error, "as many functionResponse parts as functionCall parts in the turn before"]
    ["orphan_output", OrphanOutput, Error, "as many functionResponse parts as functionCall parts in the turn before"]
    ["output_order", OutputOrder, Code, "functionResponse parts come before any text"]
    ["early_output", EarlyOutput, Error, "functionResponse parts follow the turn of their functionCall parts"]
    ["duplicate_call_id", DuplicateCallId, Code, "outputs are paired by name and id"]
    ["bad_arguments", BadArguments, Documented, "API reference: args is an object"]
    ["foreign_reasoning", ForeignReasoning, ThirdParty, "\"Invalid/Corrupted thought signature\" from another route or model"]
    ["unsigned_reasoning", UnsignedReasoning, ThirdParty, "\"Function call is missing a thought_signature\""]
    ["cut_signature", CutSignature, ThirdParty, "\"Invalid/Corrupted thought signature\""]
    ["too_many_images", TooManyImages, Documented, "Vertex page: 900 images in a prompt of Gemini 3 Pro"]
    ["first_item", FirstItem, Code, "contents start with the role user"]
);
