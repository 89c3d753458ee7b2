//! Instruction files.

use std::sync::Arc;

use context_fragments::{Kind, UserInstructions};
use serde::{Deserialize, Serialize};

use super::is_same_text;
use crate::preset::Preset;
use crate::previous::PreviousSectionState;
use crate::section::{SectionDiff, Volatility, WorldStateSection};

const REPLACES: &str = "These AGENTS.md instructions replace all previously provided AGENTS.md instructions.";
const NO_LONGER_APPLIES: &str = "The previously provided AGENTS.md instructions no longer apply.";

static KINDS: [Kind; 1] = [Kind::AGENTS_MD];

/// Holds the instructions that apply now, from `AGENTS.md` files and from whoever else gives some.
///
/// They are said whole whenever they change, with a note that they replace what was said before.
///
/// # Shape
/// The stored state has the folder and the text; `{}` where the model was told nothing, or that nothing applies any more.
///
/// # Example
/// ```
/// use context_fragments::{Kind, RetainedKinds, UserInstructions};
/// use world_state::{AgentsMdState, WorldState};
///
/// let mut world = WorldState::new();
/// world.set(AgentsMdState::new(Some(UserInstructions::new(None, "Use tabs."))))?;
/// let told = world.render_full()?.snapshot;
///
/// world.set(AgentsMdState::new(None))?;
/// let history = RetainedKinds::from_iter([&Kind::AGENTS_MD]);
/// let diff = world.render_diff(Some(&told), &history)?;
/// assert_eq!(
///     diff.updates[0].text(),
///     Some("# AGENTS.md instructions\n\n<INSTRUCTIONS>\nThe previously provided AGENTS.md instructions no longer apply.\n</INSTRUCTIONS>"),
/// );
/// # Ok::<(), world_state::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct AgentsMdState {
    instructions: Option<UserInstructions>,
    preset: Preset,
}

/// Holds what the model was told about instruction files.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct AgentsMdSnapshot {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    directory: Option<Arc<str>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    text: Option<Arc<str>>,
}

impl AgentsMdState {
    /// Takes the instructions that apply, if any do.
    #[must_use]
    pub fn new(instructions: Option<UserInstructions>) -> Self {
        Self { instructions, preset: Preset::Default }
    }

    /// Follows another preset. In [`Preset::Codex`], instructions that are lost from the history are not said again.
    #[must_use]
    pub fn with_preset(mut self, preset: Preset) -> Self {
        self.preset = preset;
        self
    }

    /// Returns the instructions that apply.
    #[must_use]
    pub fn instructions(&self) -> Option<&UserInstructions> {
        self.instructions.as_ref()
    }

    fn is_told_by(&self, told: &AgentsMdSnapshot) -> bool {
        match &self.instructions {
            Some(now) => {
                told.directory == now.directory && told.text.as_ref().is_some_and(|told| is_same_text(told, &now.text))
            }
            None => *told == AgentsMdSnapshot::default(),
        }
    }

    fn snapshot(&self) -> AgentsMdSnapshot {
        self.instructions.as_ref().map_or_else(AgentsMdSnapshot::default, |now| AgentsMdSnapshot {
            directory: now.directory.clone(),
            text: Some(Arc::clone(&now.text)),
        })
    }
}

impl PartialEq for AgentsMdState {
    fn eq(&self, other: &Self) -> bool {
        self.preset == other.preset
            && match (&self.instructions, &other.instructions) {
                (Some(left), Some(right)) => left.directory == right.directory && is_same_text(&left.text, &right.text),
                (None, None) => true,
                _ => false,
            }
    }
}

impl Eq for AgentsMdState {}

impl WorldStateSection for AgentsMdState {
    const ID: &'static str = "agents_md";
    const VOLATILITY: Volatility = Volatility::PerSession;
    type Snapshot = AgentsMdSnapshot;

    fn render_diff(&self, previous: PreviousSectionState<'_, AgentsMdSnapshot>) -> SectionDiff<AgentsMdSnapshot> {
        if previous.known().is_some_and(|told| self.is_told_by(told)) {
            return SectionDiff::keep();
        }
        let diff = SectionDiff::set(self.snapshot());
        let may_hold_some = previous.may_hold(|told| told.text.is_some());
        match (&self.instructions, may_hold_some) {
            (None, false) => diff,
            (None, true) => diff.tell(&UserInstructions::new(None, NO_LONGER_APPLIES)),
            (Some(now), false) => diff.tell(now),
            (Some(now), true) => {
                let text = format!("{REPLACES}\n\n{}", now.text);
                diff.tell(&UserInstructions::new(now.directory.clone(), text))
            }
        }
    }

    fn kinds(&self) -> &[Kind] {
        &KINDS
    }

    fn retained_kinds(&self) -> &[Kind] {
        match self.preset {
            Preset::Default => &KINDS,
            Preset::Codex => &[],
        }
    }
}
