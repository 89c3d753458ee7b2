//! Instruction files of folders that tools have reached.

use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

use context_fragments::{Error as FragmentError, Kind, NestedInstructions};
use serde::{Deserialize, Serialize};

use super::{hash_of, is_same_text};
use crate::hash::WorldStateHash;
use crate::previous::PreviousSectionState;
use crate::section::{SectionDiff, Volatility, WorldStateSection};

const REPLACES: &str =
    "These AGENTS.md instructions replace all previously provided AGENTS.md instructions for this folder.";
const NO_LONGER_APPLIES: &str = "The previously provided AGENTS.md instructions for this folder no longer apply.";
/// What is said where it is not known which folders were told.
const ALL_NO_LONGER_APPLY: &str = "All previously provided nested AGENTS.md instructions no longer apply.";

static KINDS: [Kind; 1] = [Kind::NESTED_AGENTS_MD];

/// Holds the instructions of the folders below the one that the agent works in, as far as tools have reached them.
///
/// Each folder is told by itself: when it is reached, when its text changes, and when its text is gone.
///
/// # Shape
/// The stored state has a hash of what was told for each folder; `{}` where nothing was told, or nothing applies any more.
///
/// # Example
/// ```
/// use context_fragments::{Kind, RetainedKinds};
/// use world_state::{NestedAgentsMdState, WorldState};
///
/// let mut world = WorldState::new();
/// let reached = NestedAgentsMdState::new().with_folder("/r/app", "Use spaces.");
/// world.set(reached.clone())?;
/// let told = world.render_full()?.snapshot;
///
/// world.set(reached.with_folder("/r/lib", "Use tabs."))?;
/// let diff = world.render_diff(Some(&told), &RetainedKinds::from_iter([&Kind::NESTED_AGENTS_MD]))?;
/// assert_eq!(diff.updates.len(), 1);
/// assert!(diff.updates[0].text().unwrap().starts_with("# Nested AGENTS.md instructions for /r/lib\n"));
/// # Ok::<(), world_state::Error>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct NestedAgentsMdState {
    folders: Arc<BTreeMap<Arc<str>, Arc<str>>>,
    /// Made when it is first asked for, and shared with the stored state.
    snapshot: OnceLock<Arc<NestedAgentsMdSnapshot>>,
}

/// Holds what the model was told about the folders, by folder.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct NestedAgentsMdSnapshot {
    folders: BTreeMap<Arc<str>, WorldStateHash>,
}

impl NestedAgentsMdState {
    /// No folder was reached yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds the instructions of a folder, in the place of those that it had.
    #[must_use]
    pub fn with_folder(mut self, folder: impl Into<Arc<str>>, text: impl Into<Arc<str>>) -> Self {
        Arc::make_mut(&mut self.folders).insert(folder.into(), text.into());
        self.snapshot = OnceLock::new();
        self
    }

    fn snapshot(&self) -> Result<Arc<NestedAgentsMdSnapshot>, FragmentError> {
        if let Some(snapshot) = self.snapshot.get() {
            return Ok(Arc::clone(snapshot));
        }
        let folders = self.folders.iter().map(|(folder, text)| {
            let hash = hash_of(&NestedInstructions::new(Arc::clone(folder), Arc::clone(text)))?;
            Ok((Arc::clone(folder), hash))
        });
        let snapshot = NestedAgentsMdSnapshot { folders: folders.collect::<Result<_, _>>()? };
        Ok(Arc::clone(self.snapshot.get_or_init(|| Arc::new(snapshot))))
    }

    fn diff(
        &self,
        previous: PreviousSectionState<'_, Arc<NestedAgentsMdSnapshot>>,
    ) -> Result<SectionDiff<Arc<NestedAgentsMdSnapshot>>, FragmentError> {
        let now = self.snapshot()?;
        if previous.known() == Some(&now) {
            return Ok(SectionDiff::keep());
        }
        let none = Arc::default();
        let told = previous.known().unwrap_or(&none);
        let mut diff = SectionDiff::set(Arc::clone(&now));
        if previous == PreviousSectionState::Unknown {
            diff = diff.tell(&NestedInstructions::new("all folders", ALL_NO_LONGER_APPLY));
        }
        for (folder, text) in self.folders.iter() {
            diff = match told.folders.get(folder) {
                None => diff.tell(&NestedInstructions::new(Arc::clone(folder), Arc::clone(text))),
                told if told == now.folders.get(folder) => diff,
                Some(_) => diff.tell(&NestedInstructions::new(Arc::clone(folder), format!("{REPLACES}\n\n{text}"))),
            };
        }
        for folder in told.folders.keys().filter(|folder| !now.folders.contains_key(*folder)) {
            diff = diff.tell(&NestedInstructions::new(Arc::clone(folder), NO_LONGER_APPLIES));
        }
        Ok(diff)
    }
}

impl PartialEq for NestedAgentsMdState {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.folders, &other.folders)
            || (self.folders.len() == other.folders.len()
                && self
                    .folders
                    .iter()
                    .zip(other.folders.iter())
                    .all(|(left, right)| left.0 == right.0 && is_same_text(left.1, right.1)))
    }
}

impl Eq for NestedAgentsMdState {}

impl NestedAgentsMdSnapshot {
    /// Lists the folders that were told, sorted: a host that resumes knows from it which ones were reached.
    pub fn folders(&self) -> impl ExactSizeIterator<Item = &str> {
        self.folders.keys().map(AsRef::as_ref)
    }
}

impl WorldStateSection for NestedAgentsMdState {
    const ID: &'static str = "nested_agents_md";
    const VOLATILITY: Volatility = Volatility::PerTurn;
    type Snapshot = Arc<NestedAgentsMdSnapshot>;

    fn render_diff(
        &self,
        previous: PreviousSectionState<'_, Arc<NestedAgentsMdSnapshot>>,
    ) -> SectionDiff<Arc<NestedAgentsMdSnapshot>> {
        self.diff(previous).unwrap_or_else(SectionDiff::refuse)
    }

    fn kinds(&self) -> &[Kind] {
        &KINDS
    }

    fn retained_kinds(&self) -> &[Kind] {
        &KINDS
    }
}
