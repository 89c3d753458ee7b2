//! Instruction files.

use std::sync::Arc;

use context_fragments::{Bound, InstructionChanges, Kind, UserInstructions};
use serde::{Deserialize, Serialize};

use super::is_same_text;
use super::line_delta::line_delta;
use crate::preset::Preset;
use crate::previous::PreviousSectionState;
use crate::section::{SectionDiff, Volatility, WorldStateSection};

const REPLACES: &str = "These AGENTS.md instructions replace all previously provided AGENTS.md instructions.";
const NO_LONGER_APPLIES: &str = "The previously provided AGENTS.md instructions no longer apply.";

/// What stands before the changed lines, so that they can be read without knowing the notation.
const CHANGES: &str = "These lines of the AGENTS.md instructions that apply changed since they were last provided; all other lines \
                       still apply. `@@ -FROM,COUNT +FROM,COUNT @@` says which lines go and where the new ones stand; `-` marks a line that goes, \
                       `+` one that comes.";

/// What fits with markers and notice into the bound of a fragment. A text that was cut is not one whose lines the model
/// can count.
const MAX_TOLD_BYTES: usize = Bound::FRAGMENT.max_bytes() - 512;

static KINDS: [Kind; 2] = [Kind::AGENTS_MD, Kind::AGENTS_MD_CHANGES];
/// Changed lines say nothing where the whole text that they build upon is gone.
static RETAINED_KINDS: [Kind; 1] = [Kind::AGENTS_MD];
/// The whole text says something else where the changed lines are gone.
static CHANGES_KINDS: [Kind; 1] = [Kind::AGENTS_MD_CHANGES];

/// Holds the instructions that apply now, from `AGENTS.md` files and from whoever else gives some.
///
/// They are said whole, with a note that they replace what was said before; a long text of the same folder of which few
/// lines changed is said as those lines, where that is at most half as long and the text before was said whole: the model
/// never has to apply changes to changes. The whole text is said again as soon as it, or the changes to it, are no longer
/// in the history.
///
/// # Shape
/// The stored state has the folder and the text, and says where that was told by changed lines; `{}` where the model was
/// told nothing, or that nothing applies any more.
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
    /// The last that was said of it are changed lines.
    #[serde(default, skip_serializing_if = "is_whole")]
    by_changes: bool,
}

impl AgentsMdState {
    /// Takes the instructions that apply, if any do.
    #[must_use]
    pub fn new(instructions: Option<UserInstructions>) -> Self {
        Self { instructions, preset: Preset::Default }
    }

    /// Follows another preset. In [`Preset::Codex`], instructions that are lost from the history are not said again,
    /// and a change always says the whole text.
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
            None => told.directory.is_none() && told.text.is_none(),
        }
    }

    /// The changed lines, where they are short and the model can apply them to what it was told.
    fn changes(&self, now: &UserInstructions, previous: PreviousSectionState<'_, AgentsMdSnapshot>) -> Option<String> {
        let is_base = |told: &&AgentsMdSnapshot| !told.by_changes && told.directory == now.directory;
        let told = previous.known().filter(is_base).filter(|_| self.preset == Preset::Default)?;
        let before = told.text.as_ref()?;
        let n_frame = now.directory.as_ref().map_or(0, |directory| directory.len());
        if before.len().max(now.text.len()) + n_frame > MAX_TOLD_BYTES {
            return None;
        }
        Some(format!("{CHANGES}\n\n{}", line_delta(before, &now.text)?))
    }

    fn snapshot(&self) -> AgentsMdSnapshot {
        self.instructions.as_ref().map_or_else(AgentsMdSnapshot::default, |now| AgentsMdSnapshot {
            directory: now.directory.clone(),
            text: Some(Arc::clone(&now.text)),
            by_changes: false,
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
        let snapshot = self.snapshot();
        let may_hold_some = previous.may_hold(|told| told.text.is_some());
        if let Some(changes) = self.instructions.as_ref().and_then(|now| self.changes(now, previous)) {
            let snapshot = AgentsMdSnapshot { by_changes: true, ..snapshot };
            return SectionDiff::set(snapshot).tell(&InstructionChanges::new(changes));
        }
        let diff = SectionDiff::set(snapshot);
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
            Preset::Default => &RETAINED_KINDS,
            Preset::Codex => &[],
        }
    }

    fn needed_kinds(told: &AgentsMdSnapshot) -> &'static [Kind] {
        if told.by_changes { &CHANGES_KINDS } else { &[] }
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands out a reference")]
fn is_whole(by_changes: &bool) -> bool {
    !by_changes
}
