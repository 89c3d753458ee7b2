//! Which of two behaviours a section follows where they differ.

/// Names the behaviour where this crate and the reference differ.
///
/// | where | default | codex |
/// |---|---|---|
/// | few lines of long instructions changed | those lines | the whole text |
/// | other words for apps, plugins, a conversation by voice | said | not said |
/// | apps, plugins, instructions for environments are gone | said | not said |
/// | environment diff | only the fields that changed | date and time zone in any diff |
/// | a shared value is gone | said, as `status="unavailable"` | said for the shell version only |
/// | instructions or environments lost from the history | told again | not told again |
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum Preset {
    /// What this project thinks right.
    #[default]
    Default,
    /// What the OpenAI Codex CLI does.
    Codex,
}
