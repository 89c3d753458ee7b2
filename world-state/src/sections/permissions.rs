//! What tools may do, and which commands are approved.

use std::collections::BTreeSet;
use std::sync::{Arc, LazyLock, OnceLock};

use context_fragments::{
    ApprovedCommandPrefixes, Error as FragmentError, Kind, Permissions, PermissionsInstructions, json,
};
use serde::{Deserialize, Serialize};

use super::{hash_of, is_same_text};
use crate::hash::WorldStateHash;
use crate::previous::PreviousSectionState;
use crate::section::{SectionDiff, Volatility, WorldStateSection};

static KINDS: [Kind; 2] = [Kind::PERMISSIONS, Kind::APPROVED_COMMAND_PREFIXES];
static RETAINED_KINDS: [Kind; 1] = [Kind::PERMISSIONS];

type Prefixes = BTreeSet<Vec<String>>;

/// Shared, so that a section without approvals is made without an allocation.
static NO_PREFIXES: LazyLock<Arc<Prefixes>> = LazyLock::new(Arc::default);

/// Says what tools may do, and which command prefixes were approved for good.
///
/// A prefix that is approved later is said in one line. A prefix that is taken back, or other permissions, are said whole.
///
/// # Shape
/// The stored state has a hash of the text without approvals, and the approved prefixes, sorted. Older logs hold one hash
/// of everything, which is read and replaced.
///
/// # Example
/// ```
/// use context_fragments::{Kind, RetainedKinds};
/// use world_state::{PermissionsState, WorldState};
///
/// let mut world = WorldState::new();
/// world.set(PermissionsState::new("Reading is allowed."))?;
/// let told = world.render_full()?.snapshot;
///
/// world.set(PermissionsState::new("Reading is allowed.").with_approved_prefix(["git", "pull"]))?;
/// let history = RetainedKinds::from_iter([&Kind::PERMISSIONS]);
/// let diff = world.render_diff(Some(&told), &history)?;
/// assert_eq!(diff.updates[0].text(), Some("Approved command prefix saved:\n- [\"git\", \"pull\"]"));
/// # Ok::<(), world_state::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct PermissionsState {
    text: Arc<str>,
    approved: Arc<Prefixes>,
    /// Of the text without approvals. Made when it is first asked for: hashing costs more than the comparison that
    /// mostly spares it.
    hash: OnceLock<WorldStateHash>,
}

/// Holds what the model was told about permissions.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
#[non_exhaustive]
pub enum PermissionsSnapshot {
    /// The form that is written.
    #[non_exhaustive]
    Current {
        /// The hash of the permissions as they are said without approvals.
        instructions: WorldStateHash,
        /// The words that each approved command starts with.
        #[serde(default)]
        approved_command_prefixes: Arc<BTreeSet<Vec<String>>>,
    },
    /// The hash of the permissions as they are said with all approvals: the form of older logs.
    Legacy(WorldStateHash),
}

impl PermissionsState {
    /// Takes the words that say what tools may do, without approvals.
    ///
    /// The words should come from what is in force, not from what was asked for; [`Permissions`] finds such words.
    #[must_use]
    pub fn new(text: impl Into<Arc<str>>) -> Self {
        Self { text: text.into(), approved: Arc::clone(&NO_PREFIXES), hash: OnceLock::new() }
    }

    /// Adds the words that an approved command starts with.
    #[must_use]
    pub fn with_approved_prefix(mut self, words: impl IntoIterator<Item = impl Into<String>>) -> Self {
        Arc::make_mut(&mut self.approved).insert(words.into_iter().map(Into::into).collect());
        self
    }

    /// Takes all approved prefixes at once, shared with whoever keeps them.
    #[must_use]
    pub fn with_approved_prefixes(mut self, prefixes: Arc<BTreeSet<Vec<String>>>) -> Self {
        self.approved = prefixes;
        self
    }

    fn hash(&self) -> Result<WorldStateHash, FragmentError> {
        if let Some(hash) = self.hash.get() {
            return Ok(*hash);
        }
        let hash = hash_of(&PermissionsInstructions::new(self.text.as_ref()))?;
        Ok(*self.hash.get_or_init(|| hash))
    }

    /// The permissions and all approvals.
    fn block(&self) -> PermissionsInstructions {
        let mut text = self.text.to_string();
        if !self.approved.is_empty() {
            text.push_str("\n\nCommands that start with these words are approved:");
        }
        for words in self.approved.iter() {
            text.push_str("\n- [");
            for (position, word) in words.iter().enumerate() {
                if position > 0 {
                    text.push_str(", ");
                }
                json::push_string(&mut text, word);
            }
            text.push(']');
        }
        PermissionsInstructions::new(text)
    }

    fn diff(
        &self,
        previous: PreviousSectionState<'_, PermissionsSnapshot>,
    ) -> Result<SectionDiff<PermissionsSnapshot>, FragmentError> {
        let hash = self.hash()?;
        let set = SectionDiff::set(PermissionsSnapshot::Current {
            instructions: hash,
            approved_command_prefixes: Arc::clone(&self.approved),
        });
        match previous.known() {
            Some(PermissionsSnapshot::Current { instructions, approved_command_prefixes: told })
                if *instructions == hash && told.is_subset(&self.approved) =>
            {
                if told.len() == self.approved.len() {
                    return Ok(SectionDiff::keep());
                }
                let added = self.approved.difference(told).cloned();
                Ok(set.tell(&ApprovedCommandPrefixes::new(added)))
            }
            Some(PermissionsSnapshot::Legacy(told)) if *told == hash_of(&self.block())? => Ok(set),
            _ => Ok(set.tell(&self.block())),
        }
    }
}

/// Takes the words that [`Permissions::instructions`] finds for what is in force.
impl From<&Permissions> for PermissionsState {
    fn from(permissions: &Permissions) -> Self {
        Self::new(permissions.instructions().text)
    }
}

impl PartialEq for PermissionsState {
    fn eq(&self, other: &Self) -> bool {
        is_same_text(&self.text, &other.text) && self.approved == other.approved
    }
}

impl Eq for PermissionsState {}

impl WorldStateSection for PermissionsState {
    const ID: &'static str = "permissions";
    const VOLATILITY: Volatility = Volatility::PerSession;
    type Snapshot = PermissionsSnapshot;

    fn render_diff(&self, previous: PreviousSectionState<'_, PermissionsSnapshot>) -> SectionDiff<PermissionsSnapshot> {
        self.diff(previous).unwrap_or_else(SectionDiff::refuse)
    }

    fn kinds(&self) -> &[Kind] {
        &KINDS
    }

    fn retained_kinds(&self) -> &[Kind] {
        &RETAINED_KINDS
    }
}
