//! One typed part of the world, and what it answers when it is asked what to say.

use context_fragments::{ContextItem, ContextualUserFragment, Kind, RenderedFragment};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::previous::PreviousSectionState;
use crate::update::{Placement, UpdateContent};

/// Describes one typed part of the world: what it is now, and what to say given what was said.
///
/// The world holds a section until another one of the same type replaces it, and asks it what to say against the stored
/// state. The answer must depend on the section and on `previous` alone, and against the state that it just returned a
/// section must have nothing to say: the world does not ask again until one of the two has changed.
///
/// The stored state must survive its own JSON: what a resumed process reads is what the section compares with.
///
/// # Example
/// ```
/// use context_fragments::{FragmentRole, Kind};
/// use world_state::{PreviousSectionState, SectionDiff, SectionFragment, WorldState, WorldStateSection};
///
/// #[derive(PartialEq)]
/// struct Branch(String);
///
/// impl WorldStateSection for Branch {
///     const ID: &'static str = "branch";
///     type Snapshot = String;
///
///     fn render_diff(&self, previous: PreviousSectionState<'_, String>) -> SectionDiff<String> {
///         if previous.known() == Some(&self.0) {
///             return SectionDiff::keep();
///         }
///         let text = format!("The branch is {}.", self.0);
///         SectionDiff::set(self.0.clone()).tell(&SectionFragment::new("branch", FragmentRole::Developer, text))
///     }
/// }
///
/// let mut world = WorldState::new();
/// world.set(Branch("main".into()))?;
/// let diff = world.render_full()?;
/// assert_eq!(diff.updates[0].text(), Some("The branch is main."));
/// # Ok::<(), world_state::Error>(())
/// ```
pub trait WorldStateSection: PartialEq + Send + Sync + 'static {
    /// Names the section in stored states. It never changes, for as long as logs are read.
    const ID: &'static str;

    /// Says how often the state is expected to change. What changes per turn cannot stand in the prefix.
    const VOLATILITY: Volatility = Volatility::PerTurn;

    /// What is stored: enough to compare with, not the text. It must not be null as JSON.
    type Snapshot: Serialize + DeserializeOwned + PartialEq + Send + Sync + 'static;

    /// Returns what to say and what to store, given what was told before.
    fn render_diff(&self, previous: PreviousSectionState<'_, Self::Snapshot>) -> SectionDiff<Self::Snapshot>;

    /// Lists the kinds of the content parts that the section says. Where one is in the history and no state is stored,
    /// `previous` is [`Unknown`](PreviousSectionState::Unknown).
    fn kinds(&self) -> &[Kind] {
        &[]
    }

    /// Lists kinds of which one has to be in the history; where none is, `previous` is
    /// [`Absent`](PreviousSectionState::Absent) whatever is stored, and the section says everything again.
    ///
    /// An empty list opts out.
    fn retained_kinds(&self) -> &[Kind] {
        &[]
    }

    /// Lists kinds of which every one has to be in the history for `told` to be known there, such as that of a change
    /// that says only what is other than before; where one is not, `previous` is
    /// [`Absent`](PreviousSectionState::Absent). It is asked of a section that opted in with
    /// [`retained_kinds`](Self::retained_kinds).
    fn needed_kinds(_told: &Self::Snapshot) -> &'static [Kind] {
        &[]
    }
}

/// Says how often a section's state is expected to change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Volatility {
    /// The same in every session.
    Static,
    /// Settled for a session, and changed by somebody's decision.
    PerSession,
    /// May change with every turn. It cannot stand in the prefix, where each change would cost the whole history.
    PerTurn,
}

/// Says what becomes of the stored state of a section.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "an entry stays, goes or is replaced; there is no fourth")]
pub enum SnapshotChange<S> {
    /// What is stored stays.
    Keep,
    /// What is stored goes, and the next time nothing is known to have been told.
    Delete,
    /// This is stored.
    Set(S),
}

/// Holds a section's answer: what to store and what to say.
#[derive(Debug)]
#[must_use]
pub struct SectionDiff<S> {
    pub(crate) snapshot: SnapshotChange<S>,
    pub(crate) said: Vec<(Placement, UpdateContent)>,
    pub(crate) failure: Option<context_fragments::Error>,
}

impl<S> SectionDiff<S> {
    /// Leaves what is stored as it is.
    pub fn keep() -> Self {
        Self::new(SnapshotChange::Keep)
    }

    /// Removes what is stored.
    pub fn delete() -> Self {
        Self::new(SnapshotChange::Delete)
    }

    /// Stores `snapshot`.
    pub fn set(snapshot: S) -> Self {
        Self::new(SnapshotChange::Set(snapshot))
    }

    /// Refuses: the section cannot say what it should, so the world refuses the whole rendering.
    pub fn refuse(failure: context_fragments::Error) -> Self {
        Self { snapshot: SnapshotChange::Keep, said: Vec::new(), failure: Some(failure) }
    }

    /// Stores, keeps or removes, as `snapshot` says.
    pub fn new(snapshot: SnapshotChange<S>) -> Self {
        Self { snapshot, said: Vec::new(), failure: None }
    }

    /// Says `fragment`, in a message of its own if it requires that.
    ///
    /// A fragment that refuses to be rendered makes the world refuse the whole rendering, so that no state is stored for
    /// what was not said.
    pub fn tell(self, fragment: &dyn ContextualUserFragment) -> Self {
        let placement = if fragment.requires_separate_message() { Placement::Standalone } else { Placement::Mergeable };
        self.tell_at(placement, fragment)
    }

    /// Says `fragment` as [`tell`](Self::tell) does; where it was rendered already, not again.
    pub(crate) fn tell_once<F: ContextualUserFragment>(
        mut self,
        rendered: Option<RenderedFragment>,
        fragment: impl FnOnce() -> F,
    ) -> Self {
        let Some(rendered) = rendered else { return self.tell(&fragment()) };
        let placement = if rendered.is_separate() { Placement::Standalone } else { Placement::Mergeable };
        self.said.push((placement, UpdateContent::Fragment(rendered)));
        self
    }

    /// Says `fragment` in a place of one's own choice.
    pub fn tell_at(mut self, placement: Placement, fragment: &dyn ContextualUserFragment) -> Self {
        match fragment.render() {
            Ok(rendered) => self.said.push((placement, UpdateContent::Fragment(rendered))),
            Err(failure) => self.failure = self.failure.or(Some(failure)),
        }
        self
    }

    /// Says a whole item.
    pub fn item(mut self, placement: Placement, item: ContextItem) -> Self {
        self.said.push((placement, UpdateContent::Item(item)));
        self
    }
}
