//! The tone that the user asked for.

use std::sync::Arc;

use context_fragments::{Kind, PersonalitySpec};
use serde::{Deserialize, Serialize};

use super::is_same_text;
use crate::previous::PreviousSectionState;
use crate::section::{SectionDiff, Volatility, WorldStateSection};

/// What is said where a personality was asked for and is not any more.
const NONE: &str = "None in particular: the requests for a personality before this one no longer apply.";

static KINDS: [Kind; 1] = [Kind::PERSONALITY];

/// Says with which personality the agent should speak, if the user asked for one.
///
/// # Shape
/// The stored state has the name of the personality; `{}` where none is asked for.
///
/// # Example
/// ```
/// use context_fragments::RetainedKinds;
/// use world_state::{PersonalityState, WorldState};
///
/// let mut world = WorldState::new();
/// world.set(PersonalityState::new("friendly", "Warm and brief.").of_base_instructions())?;
/// let told = world.render_full()?;
/// assert!(told.updates.is_empty(), "the base instructions say it");
///
/// world.set(PersonalityState::new("pragmatic", "Short and dry."))?;
/// let diff = world.render_diff(Some(&told.snapshot), &RetainedKinds::new())?;
/// assert!(diff.updates[0].text().unwrap().contains("Short and dry."));
/// # Ok::<(), world_state::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct PersonalityState {
    personality: Option<(Arc<str>, Arc<str>)>,
    is_in_base: bool,
}

/// Holds the name of the personality that the model was told.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct PersonalitySnapshot {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    personality: Option<Arc<str>>,
}

impl PersonalityState {
    /// Takes the name of the personality, and what it is like.
    #[must_use]
    pub fn new(name: impl Into<Arc<str>>, spec: impl Into<Arc<str>>) -> Self {
        Self { personality: Some((name.into(), spec.into())), is_in_base: false }
    }

    /// No personality is asked for.
    #[must_use]
    pub const fn none() -> Self {
        Self { personality: None, is_in_base: false }
    }

    /// The base instructions say it already, so nothing is said where nothing else was said before.
    #[must_use]
    pub const fn of_base_instructions(mut self) -> Self {
        self.is_in_base = true;
        self
    }
}

impl PartialEq for PersonalityState {
    fn eq(&self, other: &Self) -> bool {
        let has_same_personality = match (&self.personality, &other.personality) {
            (Some(left), Some(right)) => left.0 == right.0 && is_same_text(&left.1, &right.1),
            (None, None) => true,
            _ => false,
        };
        has_same_personality && self.is_in_base == other.is_in_base
    }
}

impl Eq for PersonalityState {}

impl WorldStateSection for PersonalityState {
    const ID: &'static str = "personality";
    const VOLATILITY: Volatility = Volatility::PerSession;
    type Snapshot = PersonalitySnapshot;

    fn render_diff(&self, previous: PreviousSectionState<'_, PersonalitySnapshot>) -> SectionDiff<PersonalitySnapshot> {
        let now = PersonalitySnapshot { personality: self.personality.as_ref().map(|(name, _)| Arc::clone(name)) };
        if previous.known() == Some(&now) {
            return SectionDiff::keep();
        }
        let set = SectionDiff::set(now);
        match &self.personality {
            Some(_) if self.is_in_base && previous == PreviousSectionState::Absent => set,
            Some((_, spec)) => set.tell(&PersonalitySpec::new(spec.as_ref())),
            None if previous.may_hold(|told| told.personality.is_some()) => set.tell(&PersonalitySpec::new(NONE)),
            None => set,
        }
    }

    fn kinds(&self) -> &[Kind] {
        &KINDS
    }

    // What the base instructions say, and that nothing is asked for, need not stand in the history.
    fn retained_kinds(&self) -> &[Kind] {
        if self.is_in_base || self.personality.is_none() { &[] } else { &KINDS }
    }
}
