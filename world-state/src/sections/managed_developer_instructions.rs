//! What an administrator demands.

use std::sync::Arc;

use context_fragments::{Kind, ManagedDeveloperInstructions};
use serde::{Deserialize, Serialize};

use super::lazy_hash::LazyHash;
use super::notice::Notice;
use super::{is_same_option, visible};
use crate::hash::WorldStateHash;
use crate::previous::PreviousSectionState;
use crate::section::{SectionDiff, Volatility, WorldStateSection};

const REPLACES: &str =
    "These managed developer instructions replace all previously provided managed developer instructions.";
const NO_LONGER_APPLIES: &str = "The previously provided managed developer instructions no longer apply.";

static KINDS: [Kind; 1] = [Kind::MANAGED_DEVELOPER_INSTRUCTIONS];

/// Holds the instructions of an administrator, which are a message of their own and are never cut.
///
/// What does not fit into 10,000 tokens with markers and notice is refused, and the whole rendering with it: a demand of
/// which half is told is worse than a start that fails.
///
/// # Shape
/// The stored state has the hash of the instructions; `{}` where the model was told nothing, or that nothing applies any
/// more.
///
/// # Example
/// ```
/// use world_state::{ManagedDeveloperInstructionsState, WorldState};
///
/// let mut world = WorldState::new();
/// world.set(ManagedDeveloperInstructionsState::new(Some("Nothing leaves this network.".into())))?;
/// assert_eq!(
///     world.render_full()?.updates[0].text(),
///     Some("<managed_developer_instructions>\nNothing leaves this network.\n</managed_developer_instructions>"),
/// );
/// # Ok::<(), world_state::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct ManagedDeveloperInstructionsState {
    text: Option<Arc<str>>,
    hash: LazyHash,
}

/// Holds the hash of the instructions that the model was told, where it was told some.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
pub struct InstructionsSnapshot {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) instructions: Option<WorldStateHash>,
}

impl ManagedDeveloperInstructionsState {
    /// Takes the instructions that apply, if any do; a blank text is none.
    #[must_use]
    pub fn new(text: Option<Arc<str>>) -> Self {
        Self { text: visible(text), hash: LazyHash::new() }
    }
}

impl PartialEq for ManagedDeveloperInstructionsState {
    fn eq(&self, other: &Self) -> bool {
        is_same_option(&self.text, &other.text)
    }
}

impl Eq for ManagedDeveloperInstructionsState {}

impl WorldStateSection for ManagedDeveloperInstructionsState {
    const ID: &'static str = "managed_developer_instructions";
    const VOLATILITY: Volatility = Volatility::PerSession;
    type Snapshot = InstructionsSnapshot;

    fn render_diff(
        &self,
        previous: PreviousSectionState<'_, InstructionsSnapshot>,
    ) -> SectionDiff<InstructionsSnapshot> {
        let fragment = |text: &str| ManagedDeveloperInstructions::new(text);
        let (hash, rendered) = match self.text.as_deref().map(|text| self.hash.of(|| fragment(text))).transpose() {
            Ok(hashed) => hashed.unzip(),
            Err(failure) => return SectionDiff::refuse(failure),
        };
        let now = InstructionsSnapshot { instructions: hash };
        if previous.known() == Some(&now) {
            return SectionDiff::keep();
        }
        let set = SectionDiff::set(now);
        let text = self.text.as_deref().unwrap_or_default();
        match Notice::of(previous, |told| told.instructions.is_some(), (&self.text).into()) {
            Notice::Silent => set,
            Notice::Plain => set.tell_once(rendered.flatten(), || fragment(text)),
            Notice::Replacement => set.tell(&fragment(&format!("{REPLACES}\n\n{text}"))),
            Notice::Removal => set.tell(&fragment(NO_LONGER_APPLIES)),
        }
    }

    fn kinds(&self) -> &[Kind] {
        &KINDS
    }

    fn retained_kinds(&self) -> &[Kind] {
        &KINDS
    }
}
