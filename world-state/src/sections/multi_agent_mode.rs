//! When other agents may be called in.

use std::sync::Arc;

use context_fragments::{Kind, MultiAgentModeInstructions};
use serde::{Deserialize, Serialize};

use super::lazy_hash::LazyHash;
use super::{is_same_option, is_same_text};
use crate::hash::WorldStateHash;
use crate::previous::PreviousSectionState;
use crate::section::{SectionDiff, Volatility, WorldStateSection};

/// The mode in which the agent calls others in without being asked.
const PROACTIVE: &str = "proactive";

static KINDS: [Kind; 1] = [Kind::MULTI_AGENT_MODE];

/// Says, in one paragraph, when the agent may have others work for it.
///
/// Where a mode that lets it do so unasked is gone, it is told that it now needs a request.
///
/// # Shape
/// The stored state has the mode and the hash of the usage hint, each where there is one.
///
/// # Example
/// ```
/// use world_state::{MultiAgentModeState, WorldState};
///
/// let mut world = WorldState::new();
/// let only_on_request = MultiAgentModeState::new("Call in others only when asked.");
/// world.set(only_on_request.with_mode("proactive", "Call in others when it helps."))?;
/// assert_eq!(
///     world.render_full()?.updates[0].text(),
///     Some("<multi_agent_mode>Call in others when it helps.</multi_agent_mode>"),
/// );
/// # Ok::<(), world_state::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct MultiAgentModeState {
    on_request_only: Arc<str>,
    mode: Option<(Arc<str>, Arc<str>)>,
    usage_hint: Option<Arc<str>>,
    hint_hash: LazyHash,
}

/// Holds what the model was told about other agents.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct MultiAgentModeSnapshot {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    mode: Option<Arc<str>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    usage_hint_hash: Option<WorldStateHash>,
}

impl MultiAgentModeState {
    /// Takes the words that say that others are called in on request only; they are said where a mode is gone.
    #[must_use]
    pub fn new(on_request_only: impl Into<Arc<str>>) -> Self {
        Self { on_request_only: on_request_only.into(), mode: None, usage_hint: None, hint_hash: LazyHash::new() }
    }

    /// Names the mode, and the words that say it.
    #[must_use]
    pub fn with_mode(mut self, mode: impl Into<Arc<str>>, words: impl Into<Arc<str>>) -> Self {
        self.mode = Some((mode.into(), words.into()));
        self
    }

    /// Adds how others are best called in, which is said behind the words of the mode.
    #[must_use]
    pub fn with_usage_hint(mut self, hint: impl Into<Arc<str>>) -> Self {
        self.usage_hint = Some(hint.into());
        self.hint_hash = LazyHash::new();
        self
    }
}

impl PartialEq for MultiAgentModeState {
    fn eq(&self, other: &Self) -> bool {
        let has_same_mode = match (&self.mode, &other.mode) {
            (Some(left), Some(right)) => left.0 == right.0 && is_same_text(&left.1, &right.1),
            (None, None) => true,
            _ => false,
        };
        has_same_mode
            && is_same_text(&self.on_request_only, &other.on_request_only)
            && is_same_option(&self.usage_hint, &other.usage_hint)
    }
}

impl Eq for MultiAgentModeState {}

impl WorldStateSection for MultiAgentModeState {
    const ID: &'static str = "multi_agent_mode";
    const VOLATILITY: Volatility = Volatility::PerSession;
    type Snapshot = MultiAgentModeSnapshot;

    fn render_diff(
        &self,
        previous: PreviousSectionState<'_, MultiAgentModeSnapshot>,
    ) -> SectionDiff<MultiAgentModeSnapshot> {
        let fragment = |words: &str| MultiAgentModeInstructions::new(words);
        let hash = match self.usage_hint.as_deref().map(|hint| self.hint_hash.of(|| fragment(hint))).transpose() {
            Ok(hashed) => hashed.map(|(hash, _)| hash),
            Err(failure) => return SectionDiff::refuse(failure),
        };
        let mode = self.mode.as_ref().map(|(mode, _)| Arc::clone(mode));
        let now = MultiAgentModeSnapshot { mode, usage_hint_hash: hash };
        if previous.known() == Some(&now) {
            return SectionDiff::keep();
        }
        let set = SectionDiff::set(now);
        match (&self.mode, &self.usage_hint) {
            (Some((_, words)), Some(hint)) => set.tell(&fragment(&format!("{words}\n\n{hint}"))),
            (Some((_, words)), None) => set.tell(&fragment(words)),
            (None, _) if previous.may_hold(|told| told.mode.as_deref() == Some(PROACTIVE)) => {
                set.tell(&fragment(&self.on_request_only))
            }
            (None, _) => set,
        }
    }

    fn kinds(&self) -> &[Kind] {
        &KINDS
    }

    fn retained_kinds(&self) -> &[Kind] {
        &KINDS
    }
}
