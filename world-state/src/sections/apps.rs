//! Connected apps.

use std::sync::Arc;

use context_fragments::{AppsInstructions, Kind};

use super::usage::{Usage, UsageSnapshot};
use crate::preset::Preset;
use crate::previous::PreviousSectionState;
use crate::section::{SectionDiff, Volatility, WorldStateSection};

const GONE: &str = "Apps are no longer available.";

static KINDS: [Kind; 1] = [Kind::APPS];

/// Says how connected apps are used, and when there are none any more.
///
/// Words that change while apps are there are said again.
///
/// # Shape
/// The stored state is a [`UsageSnapshot`].
///
/// # Example
/// ```
/// use context_fragments::{Kind, RetainedKinds};
/// use world_state::{AppsState, WorldState};
///
/// let mut world = WorldState::new();
/// world.set(AppsState::available("Ask before you use an app."))?;
/// let told = world.render_full()?.snapshot;
///
/// world.set(AppsState::unavailable())?;
/// let diff = world.render_diff(Some(&told), &RetainedKinds::from_iter([&Kind::APPS]))?;
/// assert_eq!(
///     diff.updates[0].text(),
///     Some("<apps_instructions>\nApps are no longer available.\n</apps_instructions>"),
/// );
/// # Ok::<(), world_state::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AppsState(Usage);

impl AppsState {
    /// There are apps, and `words` say how they are used.
    #[must_use]
    pub fn available(words: impl Into<Arc<str>>) -> Self {
        Self(Usage::new(Some(words.into())))
    }

    /// There are no apps.
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

impl WorldStateSection for AppsState {
    const ID: &'static str = "apps_instructions";
    const VOLATILITY: Volatility = Volatility::PerSession;
    type Snapshot = UsageSnapshot;

    fn render_diff(&self, previous: PreviousSectionState<'_, UsageSnapshot>) -> SectionDiff<UsageSnapshot> {
        self.0.diff(previous, |words: &str| AppsInstructions::new(words), GONE)
    }

    fn kinds(&self) -> &[Kind] {
        &KINDS
    }

    fn retained_kinds(&self) -> &[Kind] {
        &KINDS
    }
}
