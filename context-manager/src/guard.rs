//! Which prompt was sent last.

use crate::{Binding, CallState, Digest, Position, Prompt, Proof, ValueProof};

/// Compares prompts with the one that was sent last.
///
/// Only [`mark_sent`](Self::mark_sent) moves it, so that a prompt that was made and never sent disturbs nothing. It holds
/// the last prompt, and with it the history from which that was made.
///
/// A [`ContextManager`](crate::ContextManager) has one; another is of use to who compares prompts of several histories.
#[derive(Clone, Debug, Default)]
pub struct PrefixGuard {
    last: Option<Prompt>,
}

impl PrefixGuard {
    /// Makes a guard to which nothing was sent.
    #[must_use]
    pub const fn new() -> Self {
        Self { last: None }
    }

    /// How `prompt` relates to the one that was sent last.
    #[must_use]
    pub fn check(&self, prompt: &Prompt) -> Proof {
        self.last.as_ref().map_or(Proof::First, |last| prompt.compare(last))
    }

    /// Whether the values of the prompt that was sent last stand in `prompt`, by what binds; true if nothing was sent.
    ///
    /// [`check`](Self::check) asks for bytes, which is what a cache needs; this asks for what reasoning needs that comes
    /// back.
    #[must_use]
    pub fn check_values(&self, prompt: &Prompt, binding: &Binding) -> ValueProof {
        self.last.as_ref().map_or(ValueProof::Extends, |last| prompt.compare_values(last, binding))
    }

    /// Takes `prompt` as sent; gives how it relates to the one before.
    pub fn mark_sent(&mut self, prompt: &Prompt) -> Proof {
        let proof = self.check(prompt);
        self.last = Some(prompt.clone());
        proof
    }

    /// The prompt that was sent last.
    #[must_use]
    pub const fn last(&self) -> Option<&Prompt> {
        self.last.as_ref()
    }
}

/// What a log needs to remember of a prompt that was sent.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Sent {
    /// How it relates to the prompt that was sent before.
    pub proof: Proof,
    /// The digests of the parts, in the order of [`PartName::ALL`](crate::PartName::ALL).
    pub parts: [Digest; 4],
    /// The name of the model that was asked.
    pub model: String,
    /// The end of the prefix chain over the items.
    pub chain: Digest,
    /// How many items there were.
    pub items: usize,
    /// The calls whose synthetic output was sent, by position, increasing.
    pub synthetic_outputs: Vec<Position>,
    /// What was known of these calls, as their synthetic outputs said it; those of which nothing was known are not here.
    ///
    /// A log keeps it beside the positions, so that a later run [says the same](crate::ContextManager::restore_call_states).
    pub call_states: Vec<(Position, CallState)>,
}
