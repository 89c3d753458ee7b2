//! Which model answers, and what it needs to know when it takes over.

use std::sync::Arc;

use context_fragments::{Kind, ModelSwitchInstructions};

use super::is_same_text;
use crate::previous::PreviousSectionState;
use crate::section::{SectionDiff, Volatility, WorldStateSection};

static KINDS: [Kind; 1] = [Kind::MODEL_SWITCH];

/// Says which model answers, and the instructions of it that a switch has to bring along.
///
/// The instructions of a conversation are fixed when it starts, so another model is given its own in a message. As long
/// as the model stays, nothing is said.
///
/// # Shape
/// The stored state is the model's name.
///
/// # Example
/// ```
/// use context_fragments::RetainedKinds;
/// use world_state::{ModelInstructionsState, WorldState};
///
/// let mut world = WorldState::new();
/// world.set(ModelInstructionsState::new("small", "Be brief."))?;
/// let told = world.render_full()?;
/// assert!(told.updates.is_empty());
///
/// world.set(ModelInstructionsState::new("large", "Think first."))?;
/// let diff = world.render_diff(Some(&told.snapshot), &RetainedKinds::new())?;
/// assert!(diff.updates[0].text().unwrap().starts_with("<model_switch>"));
/// # Ok::<(), world_state::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct ModelInstructionsState {
    slug: Arc<str>,
    instructions: Arc<str>,
    previous: Option<Arc<str>>,
}

impl ModelInstructionsState {
    /// Takes the name of the model and its instructions; empty ones are never said.
    #[must_use]
    pub fn new(slug: impl Into<Arc<str>>, instructions: impl Into<Arc<str>>) -> Self {
        Self { slug: slug.into(), instructions: instructions.into(), previous: None }
    }

    /// Names the model that answered last, from the settings of the last turn.
    ///
    /// It counts only where no stored state says which model was told, as after a compaction: so a switch that happens
    /// around one is still said.
    #[must_use]
    pub fn with_previous_model(mut self, slug: impl Into<Arc<str>>) -> Self {
        self.previous = Some(slug.into());
        self
    }
}

impl PartialEq for ModelInstructionsState {
    fn eq(&self, other: &Self) -> bool {
        self.slug == other.slug
            && self.previous == other.previous
            && is_same_text(&self.instructions, &other.instructions)
    }
}

impl Eq for ModelInstructionsState {}

impl WorldStateSection for ModelInstructionsState {
    const ID: &'static str = "model";
    const VOLATILITY: Volatility = Volatility::PerSession;
    type Snapshot = Arc<str>;

    fn render_diff(&self, previous: PreviousSectionState<'_, Arc<str>>) -> SectionDiff<Arc<str>> {
        if previous.known() == Some(&self.slug) {
            return SectionDiff::keep();
        }
        let diff = SectionDiff::set(Arc::clone(&self.slug));
        match previous.known().or(self.previous.as_ref()) {
            Some(before) if *before != self.slug && !self.instructions.is_empty() => {
                diff.tell(&ModelSwitchInstructions::new(self.instructions.as_ref()))
            }
            _ => diff,
        }
    }

    fn kinds(&self) -> &[Kind] {
        &KINDS
    }
}
