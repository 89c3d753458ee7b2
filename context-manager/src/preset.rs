//! Which behaviour a history has where two are in use.

/// Which behaviour a history has where OpenAI Codex CLI does something else.
///
/// # Shape
/// | after a rollback | `Default` | `Codex` |
/// |---|---|---|
/// | baseline | the one that was true there | none |
/// | reference context item | the one that was true there | kept, or none if a mixed developer message went |
/// | a user message of context and user's words | is a turn | is no turn |
/// | an assistant message that is agent mail | is no turn | is a turn |
/// | a second input with the turn id of the first | belongs to its turn | is a turn of its own |
/// | model-switch and persistent-mode parts before the first turn | stay | go with the first turn |
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[expect(clippy::exhaustive_enums, reason = "there is this library's behaviour and there is the reference's")]
pub enum Preset {
    /// This library's.
    #[default]
    Default,
    /// That of OpenAI Codex CLI.
    Codex,
}
