//! Working on without the user.

use std::sync::Arc;

use context_fragments::{Kind, PersistentModeInstructions};

use super::is_same_option;
use super::lazy_hash::LazyHash;
use super::managed_developer_instructions::InstructionsSnapshot;
use crate::previous::PreviousSectionState;
use crate::section::{SectionDiff, Volatility, WorldStateSection};

/// What stands in the instructions where the way to ask for approval belongs.
const CHANNEL: &str = "{{ approval_request_channel }}";

static KINDS: [Kind; 1] = [Kind::PERSISTENT_MODE];

/// Says whether the agent works on by itself, and how.
///
/// An empty block cancels the instructions that stood before.
///
/// # Shape
/// The stored state has the hash of the block; `{}` where the mode is off.
///
/// # Example
/// ```
/// use world_state::{ApprovalRequestChannel, PersistentModeState, WorldState};
///
/// let words = "Ask for approval{{ approval_request_channel }}.";
/// let mut world = WorldState::new();
/// world.set(PersistentModeState::on(words, ApprovalRequestChannel::AsyncMessage))?;
/// assert_eq!(
///     world.render_full()?.updates[0].text(),
///     Some("<persistent_mode>Ask for approval via functions.send_user_message_async.</persistent_mode>"),
/// );
/// # Ok::<(), world_state::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct PersistentModeState {
    instructions: Option<Arc<str>>,
    hash: LazyHash,
}

/// Says how the agent can ask for approval while the user is away.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ApprovalRequestChannel {
    /// In no way of its own.
    None,
    /// With the tool `functions.send_user_message_async`.
    AsyncMessage,
}

impl PersistentModeState {
    /// The mode is on. `{{ approval_request_channel }}` in its instructions is replaced by how to ask for approval.
    #[must_use]
    pub fn on(instructions: impl Into<Arc<str>>, channel: ApprovalRequestChannel) -> Self {
        let instructions = instructions.into();
        if !instructions.contains(CHANNEL) {
            return Self::new(Some(instructions));
        }
        let words = match channel {
            ApprovalRequestChannel::None => "",
            ApprovalRequestChannel::AsyncMessage => " via functions.send_user_message_async",
        };
        Self::new(Some(instructions.replace(CHANNEL, words).into()))
    }

    /// The mode is off.
    #[must_use]
    pub const fn off() -> Self {
        Self::new(None)
    }

    const fn new(instructions: Option<Arc<str>>) -> Self {
        Self { instructions, hash: LazyHash::new() }
    }
}

impl PartialEq for PersistentModeState {
    fn eq(&self, other: &Self) -> bool {
        is_same_option(&self.instructions, &other.instructions)
    }
}

impl Eq for PersistentModeState {}

impl WorldStateSection for PersistentModeState {
    const ID: &'static str = "persistent_mode";
    const VOLATILITY: Volatility = Volatility::PerSession;
    type Snapshot = InstructionsSnapshot;

    fn render_diff(
        &self,
        previous: PreviousSectionState<'_, InstructionsSnapshot>,
    ) -> SectionDiff<InstructionsSnapshot> {
        let text = self.instructions.as_deref().unwrap_or_default();
        let fragment = || PersistentModeInstructions::new(text);
        let (hash, rendered) = match self.instructions.as_ref().map(|_| self.hash.of(fragment)).transpose() {
            Ok(hashed) => hashed.unzip(),
            Err(failure) => return SectionDiff::refuse(failure),
        };
        let now = InstructionsSnapshot { instructions: hash };
        if previous.known() == Some(&now) {
            return SectionDiff::keep();
        }
        let set = SectionDiff::set(now);
        if !text.is_empty() || previous.may_hold(|told| told.instructions.is_some()) {
            set.tell_once(rendered.flatten(), fragment)
        } else {
            set
        }
    }

    fn kinds(&self) -> &[Kind] {
        &KINDS
    }

    fn retained_kinds(&self) -> &[Kind] {
        &KINDS
    }
}
