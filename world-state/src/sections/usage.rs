//! What the sections have in common that say how something is used while it is there.

use std::sync::Arc;

use context_fragments::{ContextualUserFragment, Error as FragmentError, RenderedFragment};
use serde::{Deserialize, Serialize};

use super::is_same_option;
use super::lazy_hash::LazyHash;
use crate::hash::WorldStateHash;
use crate::preset::Preset;
use crate::previous::PreviousSectionState;
use crate::section::SectionDiff;

/// Holds what the model was told about something that is there or is not.
///
/// # Shape
/// `false` where it is not there; the hash of the words where it is. The reference stores `true`, of which the words are
/// not known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(untagged)]
#[non_exhaustive]
pub enum UsageSnapshot {
    /// Whether it is there.
    Flag(bool),
    /// It is there, and these words say how it is used.
    Words(WorldStateHash),
}

impl UsageSnapshot {
    const fn is_available(self) -> bool {
        !matches!(self, Self::Flag(false))
    }
}

/// The words that say how something is used, while it is there.
#[derive(Debug, Clone)]
pub(super) struct Usage {
    words: Option<Arc<str>>,
    preset: Preset,
    hash: LazyHash,
}

impl Usage {
    pub(super) const fn new(words: Option<Arc<str>>) -> Self {
        Self { words, preset: Preset::Default, hash: LazyHash::new() }
    }

    pub(super) const fn set_preset(&mut self, preset: Preset) {
        self.preset = preset;
    }

    /// Answers for a section that says its words, or `gone` once they no longer apply, in a fragment.
    pub(super) fn diff<F: ContextualUserFragment>(
        &self,
        previous: PreviousSectionState<'_, UsageSnapshot>,
        fragment: impl Fn(&str) -> F,
        gone: &str,
    ) -> SectionDiff<UsageSnapshot> {
        match self.snapshot(&fragment) {
            Ok((now, rendered)) => self.diff_to(now, rendered, previous, &fragment, gone),
            Err(failure) => SectionDiff::refuse(failure),
        }
    }

    /// What is stored, and the words where they had to be rendered for it.
    fn snapshot<F: ContextualUserFragment>(
        &self,
        fragment: impl Fn(&str) -> F,
    ) -> Result<(UsageSnapshot, Option<RenderedFragment>), FragmentError> {
        match (&self.words, self.preset) {
            (None, _) => Ok((UsageSnapshot::Flag(false), None)),
            (Some(_), Preset::Codex) => Ok((UsageSnapshot::Flag(true), None)),
            (Some(words), Preset::Default) => {
                let (hash, rendered) = self.hash.of(|| fragment(words))?;
                Ok((UsageSnapshot::Words(hash), rendered))
            }
        }
    }

    fn diff_to<F: ContextualUserFragment>(
        &self,
        now: UsageSnapshot,
        rendered: Option<RenderedFragment>,
        previous: PreviousSectionState<'_, UsageSnapshot>,
        fragment: impl Fn(&str) -> F,
        gone: &str,
    ) -> SectionDiff<UsageSnapshot> {
        if previous.known() == Some(&now) {
            return SectionDiff::keep();
        }
        let set = SectionDiff::set(now);
        let is_told = self.preset == Preset::Codex && previous.known().is_some_and(|told| told.is_available());
        match &self.words {
            Some(_) if is_told => set,
            Some(words) => set.tell_once(rendered, || fragment(words)),
            // The reference is silent, and its model goes on using what is gone.
            None if self.preset == Preset::Default && previous.may_hold(|told| told.is_available()) => {
                set.tell(&fragment(gone))
            }
            None => set,
        }
    }
}

impl PartialEq for Usage {
    fn eq(&self, other: &Self) -> bool {
        self.preset == other.preset && is_same_option(&self.words, &other.words)
    }
}

impl Eq for Usage {}
