//! How to work in several environments.

use std::sync::Arc;

use context_fragments::{EnvironmentsInstructions, Kind};

use super::usage::{Usage, UsageSnapshot};
use crate::preset::Preset;
use crate::previous::PreviousSectionState;
use crate::section::{SectionDiff, Volatility, WorldStateSection};

const GONE: &str = "The previously provided instructions for environments no longer apply.";

static KINDS: [Kind; 1] = [Kind::ENVIRONMENTS_INSTRUCTIONS];

/// Says how to work where there are several environments, and when that no longer applies.
///
/// Which environments there are is said by [`EnvironmentsState`](crate::EnvironmentsState).
///
/// # Shape
/// The stored state is a [`UsageSnapshot`].
///
/// # Example
/// ```
/// use context_fragments::{Kind, RetainedKinds};
/// use world_state::{EnvironmentsInstructionsState, WorldState};
///
/// let mut world = WorldState::new();
/// world.set(EnvironmentsInstructionsState::available("Name the environment of each command."))?;
/// let told = world.render_full()?.snapshot;
///
/// world.set(EnvironmentsInstructionsState::unavailable())?;
/// let diff = world.render_diff(Some(&told), &RetainedKinds::from_iter([&Kind::ENVIRONMENTS_INSTRUCTIONS]))?;
/// assert_eq!(
///     diff.updates[0].text(),
///     Some("<environments_instructions>\nThe previously provided instructions for environments no longer apply.\n</environments_instructions>"),
/// );
/// # Ok::<(), world_state::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EnvironmentsInstructionsState(Usage);

impl EnvironmentsInstructionsState {
    /// `words` say how to work in several environments.
    #[must_use]
    pub fn available(words: impl Into<Arc<str>>) -> Self {
        Self(Usage::new(Some(words.into())))
    }

    /// Nothing has to be said about environments.
    #[must_use]
    pub const fn unavailable() -> Self {
        Self(Usage::new(None))
    }

    /// Follows another preset. In [`Preset::Codex`], only the change to available is said.
    #[must_use]
    pub const fn with_preset(mut self, preset: Preset) -> Self {
        self.0.set_preset(preset);
        self
    }
}

impl WorldStateSection for EnvironmentsInstructionsState {
    const ID: &'static str = "environments_instructions";
    const VOLATILITY: Volatility = Volatility::PerSession;
    type Snapshot = UsageSnapshot;

    fn render_diff(&self, previous: PreviousSectionState<'_, UsageSnapshot>) -> SectionDiff<UsageSnapshot> {
        self.0.diff(previous, |words: &str| EnvironmentsInstructions::new(words), GONE)
    }

    fn kinds(&self) -> &[Kind] {
        &KINDS
    }

    fn retained_kinds(&self) -> &[Kind] {
        &KINDS
    }
}
