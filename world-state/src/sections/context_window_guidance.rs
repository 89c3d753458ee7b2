//! How to work within the context window.

use std::sync::Arc;

use context_fragments::{ContextWindowGuidance, Kind};

use super::notice::Notice;
use super::{is_same_option, visible};
use crate::previous::PreviousSectionState;
use crate::section::{SectionDiff, Volatility, WorldStateSection};

const REPLACES: &str = "This context-window guidance replaces all previously provided context-window guidance.";
const NO_LONGER_APPLIES: &str = "The previously provided context-window guidance no longer applies.";

static KINDS: [Kind; 1] = [Kind::CONTEXT_WINDOW_GUIDANCE];

/// Holds the guidance for working within the context window, if there is some.
///
/// # Shape
/// The stored state is the guidance; an empty text where the model was told none, or that it no longer applies.
///
/// # Example
/// ```
/// use world_state::{ContextWindowGuidanceState, WorldState};
///
/// let mut world = WorldState::new();
/// world.set(ContextWindowGuidanceState::new(Some("Write notes before the window ends.".into())))?;
/// assert_eq!(
///     world.render_full()?.updates[0].text(),
///     Some("<context_window_guidance>\nWrite notes before the window ends.\n</context_window_guidance>"),
/// );
/// # Ok::<(), world_state::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct ContextWindowGuidanceState {
    text: Option<Arc<str>>,
}

impl ContextWindowGuidanceState {
    /// Takes the guidance, if there is some; a blank text is none.
    #[must_use]
    pub fn new(text: Option<Arc<str>>) -> Self {
        Self { text: visible(text) }
    }
}

impl PartialEq for ContextWindowGuidanceState {
    fn eq(&self, other: &Self) -> bool {
        is_same_option(&self.text, &other.text)
    }
}

impl Eq for ContextWindowGuidanceState {}

impl WorldStateSection for ContextWindowGuidanceState {
    const ID: &'static str = "context_window_guidance";
    const VOLATILITY: Volatility = Volatility::PerSession;
    type Snapshot = Arc<str>;

    fn render_diff(&self, previous: PreviousSectionState<'_, Arc<str>>) -> SectionDiff<Arc<str>> {
        let text = self.text.as_deref().unwrap_or_default();
        if previous.known().is_some_and(|told| told.as_ref() == text) {
            return SectionDiff::keep();
        }
        let set = SectionDiff::set(self.text.clone().unwrap_or_default());
        match Notice::of(previous, |told| !told.is_empty(), (&self.text).into()) {
            Notice::Silent => set,
            Notice::Plain => set.tell(&ContextWindowGuidance::new(text)),
            Notice::Replacement => set.tell(&ContextWindowGuidance::new(format!("{REPLACES}\n\n{text}"))),
            Notice::Removal => set.tell(&ContextWindowGuidance::new(NO_LONGER_APPLIES)),
        }
    }

    fn kinds(&self) -> &[Kind] {
        &KINDS
    }

    fn retained_kinds(&self) -> &[Kind] {
        &KINDS
    }
}
