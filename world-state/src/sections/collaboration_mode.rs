//! How the user and the agent work together.

use std::sync::Arc;

use context_fragments::{CollaborationModeInstructions, Error as FragmentError, Kind};
use serde::{Deserialize, Serialize};

use super::is_same_text;
use super::lazy_hash::LazyHash;
use crate::hash::WorldStateHash;
use crate::previous::PreviousSectionState;
use crate::section::{SectionDiff, Volatility, WorldStateSection};

static KINDS: [Kind; 1] = [Kind::COLLABORATION_MODE];

/// Says in which mode the user and the agent work together, and by which instructions.
///
/// A mode without instructions says nothing by itself; where it follows one that had some, an empty block cancels them.
///
/// # Shape
/// The stored state has the mode, the model, and a hash of the instructions if there are any. Older logs hold the mode
/// alone, of which the instructions are not known.
///
/// # Example
/// ```
/// use world_state::{CollaborationModeState, WorldState};
///
/// let mut world = WorldState::new();
/// world.set(CollaborationModeState::new("plan", "m1").with_instructions("Ask before you write."))?;
/// let diff = world.render_full()?;
/// assert_eq!(
///     diff.updates[0].text(),
///     Some("<collaboration_mode>Ask before you write.</collaboration_mode>"),
/// );
/// # Ok::<(), world_state::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct CollaborationModeState {
    mode: Arc<str>,
    model: Arc<str>,
    instructions: Option<Arc<str>>,
    /// Of the instructions, made when it is first asked for.
    hash: LazyHash,
}

/// Holds what the model was told about the mode.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
#[non_exhaustive]
pub enum CollaborationModeSnapshot {
    /// The form that is written.
    #[non_exhaustive]
    Current {
        /// The mode.
        mode: Arc<str>,
        /// The model that it was said to.
        model: Arc<str>,
        /// The hash of the block that was said; none without instructions.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        instructions: Option<WorldStateHash>,
    },
    /// The mode alone: the form of older logs.
    Legacy(Arc<str>),
}

impl CollaborationModeState {
    /// Takes the mode and the model that works in it; no instructions.
    #[must_use]
    pub fn new(mode: impl Into<Arc<str>>, model: impl Into<Arc<str>>) -> Self {
        Self { mode: mode.into(), model: model.into(), instructions: None, hash: LazyHash::new() }
    }

    /// Takes the instructions of the mode, which are said word for word.
    #[must_use]
    pub fn with_instructions(mut self, instructions: impl Into<Arc<str>>) -> Self {
        self.instructions = Some(instructions.into());
        self.hash = LazyHash::new();
        self
    }

    fn has_visible_instructions(&self) -> bool {
        self.instructions.as_ref().is_some_and(|instructions| !instructions.is_empty())
    }

    fn diff(
        &self,
        previous: PreviousSectionState<'_, CollaborationModeSnapshot>,
    ) -> Result<SectionDiff<CollaborationModeSnapshot>, FragmentError> {
        let instructions = self.instructions.as_deref().unwrap_or_default();
        let fragment = || CollaborationModeInstructions::new(instructions);
        let hashed = self.instructions.as_ref().map(|_| self.hash.of(fragment)).transpose()?;
        let (hash, rendered) = hashed.unzip();
        let is_said = match previous {
            PreviousSectionState::Absent => self.has_visible_instructions(),
            PreviousSectionState::Known(CollaborationModeSnapshot::Current { mode, model, instructions }) => {
                if *mode == self.mode && *model == self.model && *instructions == hash {
                    return Ok(SectionDiff::keep());
                }
                self.has_visible_instructions() || *instructions != hash
            }
            PreviousSectionState::Known(CollaborationModeSnapshot::Legacy(_)) | PreviousSectionState::Unknown => true,
        };
        let set = SectionDiff::set(CollaborationModeSnapshot::Current {
            mode: Arc::clone(&self.mode),
            model: Arc::clone(&self.model),
            instructions: hash,
        });
        if !is_said {
            return Ok(set);
        }
        Ok(set.tell_once(rendered.flatten(), fragment))
    }
}

impl PartialEq for CollaborationModeState {
    fn eq(&self, other: &Self) -> bool {
        let has_same_instructions = match (&self.instructions, &other.instructions) {
            (Some(left), Some(right)) => is_same_text(left, right),
            (None, None) => true,
            _ => false,
        };
        has_same_instructions && self.mode == other.mode && self.model == other.model
    }
}

impl Eq for CollaborationModeState {}

impl WorldStateSection for CollaborationModeState {
    const ID: &'static str = "collaboration_mode";
    const VOLATILITY: Volatility = Volatility::PerSession;
    type Snapshot = CollaborationModeSnapshot;

    fn render_diff(
        &self,
        previous: PreviousSectionState<'_, CollaborationModeSnapshot>,
    ) -> SectionDiff<CollaborationModeSnapshot> {
        self.diff(previous).unwrap_or_else(SectionDiff::refuse)
    }

    fn kinds(&self) -> &[Kind] {
        &KINDS
    }

    fn retained_kinds(&self) -> &[Kind] {
        &KINDS
    }
}
