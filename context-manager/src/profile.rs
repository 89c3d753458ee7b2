//! What a provider accepts, as data.

use std::borrow::Cow;

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
    /// The item stays as it is.
    Keep,
}

/// What a provider accepts and how a history is made to fit: rows of data that a host may change.
///
/// # Source
/// `responses`: the pairing rules of the OpenAI Responses API. `codex`: what OpenAI Codex CLI does. Both as of
/// [`dated`](Profile::dated).
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
}

impl Profile {
    /// The rows for the OpenAI Responses API, with every sent byte kept.
    #[must_use]
    pub const fn responses() -> Self {
        Self {
            name: Cow::Borrowed("responses"),
            dated: Cow::Borrowed("2026-11-30"),
            early_output: EarlyOutput::Move,
            late_output: LateOutput::Append,
            misshapen_id: MisshapenId::Remove,
            duplicate_id: DuplicateId::Rename,
            bad_arguments: Mend::Apply,
            blank_text: Mend::Apply,
            blank_output: Mend::Apply,
            unsigned_reasoning: Mend::Apply,
        }
    }

    /// The rows that give what OpenAI Codex CLI sends.
    #[must_use]
    pub const fn codex() -> Self {
        Self {
            name: Cow::Borrowed("codex"),
            dated: Cow::Borrowed("2026-11-30"),
            early_output: EarlyOutput::Keep,
            late_output: LateOutput::Replace,
            misshapen_id: MisshapenId::Keep,
            duplicate_id: DuplicateId::Share,
            bad_arguments: Mend::Keep,
            blank_text: Mend::Keep,
            blank_output: Mend::Keep,
            unsigned_reasoning: Mend::Keep,
        }
    }
}

impl Default for Profile {
    fn default() -> Self {
        Self::responses()
    }
}
