//! Conversations by voice.

use std::sync::Arc;

use context_fragments::{Kind, RealtimeEnd, RealtimeStart};
use serde::{Deserialize, Serialize};

use super::is_same_text;
use super::lazy_hash::LazyHash;
use crate::hash::WorldStateHash;
use crate::preset::Preset;
use crate::previous::PreviousSectionState;
use crate::section::{SectionDiff, Volatility, WorldStateSection};

/// Why the conversation ended, where the state says no more than that it is not active.
const INACTIVE: &str = "inactive";

static KINDS: [Kind; 2] = [Kind::REALTIME_START, Kind::REALTIME_END];
/// The end that is still there says nothing where the start is gone.
static RETAINED_KINDS: [Kind; 1] = [Kind::REALTIME_START];

/// Says whether the user speaks and listens, and how the agent should work with that.
///
/// # Shape
/// The stored state says whether the conversation is active, and has the hash of what was said at its start. A state
/// without a hash, as the reference stores it, is one of which the words are not known.
///
/// # Example
/// ```
/// use context_fragments::{Kind, RetainedKinds};
/// use world_state::{RealtimeState, WorldState};
///
/// let voice = RealtimeState::new("Answer in short sentences.", "The user types again.");
/// let mut world = WorldState::new();
/// world.set(voice.clone().active())?;
/// let told = world.render_full()?.snapshot;
///
/// world.set(voice)?;
/// let diff = world.render_diff(Some(&told), &RetainedKinds::from_iter([&Kind::REALTIME_START]))?;
/// assert_eq!(
///     diff.updates[0].text(),
///     Some("<realtime_conversation>\nThe user types again.\n\nReason: inactive\n</realtime_conversation>"),
/// );
/// # Ok::<(), world_state::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct RealtimeState {
    is_active: bool,
    start: Arc<str>,
    end: Arc<str>,
    preset: Preset,
    hash: LazyHash,
}

/// Holds what the model was told about the conversation by voice.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct RealtimeSnapshot {
    active: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    instructions: Option<WorldStateHash>,
}

impl RealtimeState {
    /// Takes what is said at the start and at the end; there is no such conversation yet.
    #[must_use]
    pub fn new(start: impl Into<Arc<str>>, end: impl Into<Arc<str>>) -> Self {
        Self { is_active: false, start: start.into(), end: end.into(), preset: Preset::Default, hash: LazyHash::new() }
    }

    /// The conversation is active.
    #[must_use]
    pub const fn active(mut self) -> Self {
        self.is_active = true;
        self
    }

    /// Follows another preset. In [`Preset::Codex`], other words for a conversation that is active are not said.
    #[must_use]
    pub const fn with_preset(mut self, preset: Preset) -> Self {
        self.preset = preset;
        self
    }
}

impl PartialEq for RealtimeState {
    fn eq(&self, other: &Self) -> bool {
        self.is_active == other.is_active
            && self.preset == other.preset
            && is_same_text(&self.start, &other.start)
            && is_same_text(&self.end, &other.end)
    }
}

impl Eq for RealtimeState {}

impl WorldStateSection for RealtimeState {
    const ID: &'static str = "realtime";
    const VOLATILITY: Volatility = Volatility::PerSession;
    type Snapshot = RealtimeSnapshot;

    fn render_diff(&self, previous: PreviousSectionState<'_, RealtimeSnapshot>) -> SectionDiff<RealtimeSnapshot> {
        let start = || RealtimeStart::new(self.start.as_ref());
        let (hash, rendered) = match (self.is_active, self.preset) {
            (true, Preset::Default) => match self.hash.of(start) {
                Ok((hash, rendered)) => (Some(hash), rendered),
                Err(failure) => return SectionDiff::refuse(failure),
            },
            _ => (None, None),
        };
        let now = RealtimeSnapshot { active: self.is_active, instructions: hash };
        if previous.known() == Some(&now) {
            return SectionDiff::keep();
        }
        let set = SectionDiff::set(now);
        let was_active = previous.known().is_some_and(|told| told.active);
        match (was_active, self.is_active) {
            (true, true) if self.preset == Preset::Codex => set,
            (_, true) => set.tell_once(rendered, start),
            (true, false) => set.tell(&RealtimeEnd::new(self.end.as_ref(), INACTIVE)),
            (false, false) => set,
        }
    }

    fn kinds(&self) -> &[Kind] {
        &KINDS
    }

    fn retained_kinds(&self) -> &[Kind] {
        &RETAINED_KINDS
    }
}
