//! What is to be said because a section changed, and the messages that say it.

use std::sync::Arc;

use context_fragments::{ContextItem, Kind, Part, RenderedFragment, WireItem, estimate_tokens};

/// Says where an update may stand among the messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[expect(clippy::exhaustive_enums, reason = "assembly matches on it, and a fourth place would be a new protocol")]
pub enum Placement {
    /// At the front of a window, before all other context; a message of its own.
    Prefix,
    /// A message of its own.
    Standalone,
    /// May share a message with neighbours of its role.
    Mergeable,
}

/// Holds what is to be said: one content part, or a whole item.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "a message is made of parts or is whole; there is no third")]
pub enum UpdateContent {
    /// A content part, which becomes part of a message or a message of its own.
    Fragment(RenderedFragment),
    /// A whole item, which is never merged.
    Item(ContextItem),
}

/// Holds one thing to be said, the section that says it, and where it may stand.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Update {
    section: Arc<str>,
    placement: Placement,
    content: UpdateContent,
}

impl Update {
    pub(crate) fn new(section: Arc<str>, placement: Placement, content: UpdateContent) -> Self {
        Self { section, placement, content }
    }

    /// Returns the id of the section that says it.
    #[must_use]
    pub fn section(&self) -> &str {
        &self.section
    }

    /// Returns where it may stand.
    #[must_use]
    pub fn placement(&self) -> Placement {
        self.placement
    }

    /// Returns what is said.
    #[must_use]
    pub fn content(&self) -> &UpdateContent {
        &self.content
    }

    /// Returns the text that is said, if it is a content part.
    #[must_use]
    pub fn text(&self) -> Option<&str> {
        match &self.content {
            UpdateContent::Fragment(fragment) => Some(fragment.text()),
            UpdateContent::Item(_) => None,
        }
    }

    /// Returns the estimated cost of its text or item.
    ///
    /// # Units
    /// Tokens, at four bytes a token.
    #[must_use]
    pub fn estimate(&self) -> usize {
        estimate_tokens(match &self.content {
            UpdateContent::Fragment(fragment) => fragment.text().len(),
            UpdateContent::Item(item) => item.item().as_bytes().len(),
        })
    }

    /// Makes the message that holds this update alone.
    pub(crate) fn into_item(self) -> Option<ContextItem> {
        match self.content {
            UpdateContent::Fragment(fragment) => message_of(&[fragment]),
            UpdateContent::Item(item) => Some(item),
        }
    }

    /// Gives the content part, or the update back if it is a whole item.
    pub(crate) fn into_fragment(self) -> Result<RenderedFragment, Self> {
        match self.content {
            UpdateContent::Fragment(fragment) => Ok(fragment),
            UpdateContent::Item(_) => Err(self),
        }
    }

    pub(crate) fn has_kind(&self, kind: &Kind) -> bool {
        match &self.content {
            UpdateContent::Fragment(fragment) => fragment.kind() == kind,
            UpdateContent::Item(item) => item.kinds().contains(kind),
        }
    }
}

/// Makes the messages that say what changed, in the order in which it is said.
///
/// # Shape
/// Neighbours of the same role that may be merged share a message, one content part each. Everything else is a message
/// of its own. Nothing is moved, so an update never passes another.
///
/// # Example
/// ```
/// use world_state::{WorldState, merge_updates};
///
/// let mut world = WorldState::new();
/// let diff = world.render_full()?;
/// assert!(merge_updates(diff.updates).is_empty());
/// # Ok::<(), world_state::Error>(())
/// ```
#[must_use]
pub fn merge_updates(updates: impl IntoIterator<Item = Update>) -> Vec<ContextItem> {
    let mut items = Vec::new();
    let mut pending: Vec<RenderedFragment> = Vec::new();
    for update in updates {
        match update {
            Update { placement: Placement::Mergeable, content: UpdateContent::Fragment(fragment), .. } => {
                if pending.last().is_some_and(|last| last.role() != fragment.role()) {
                    items.extend(message_of(&pending));
                    pending.clear();
                }
                pending.push(fragment);
            }
            alone => {
                items.extend(message_of(&pending));
                pending.clear();
                items.extend(alone.into_item());
            }
        }
    }
    items.extend(message_of(&pending));
    items
}

/// Makes one message of parts of one role, in their order; none of none.
///
/// The placement of the update has decided already who shares a message: a model switch is one of its own where it comes
/// up, and the first part of the message that opens a window.
pub(crate) fn message_of(fragments: &[RenderedFragment]) -> Option<ContextItem> {
    let role = fragments.first()?.role();
    let parts: Vec<Part<'_>> = fragments.iter().map(|fragment| Part::InputText(fragment.text())).collect();
    let kinds: Vec<Kind> = fragments.iter().map(|fragment| fragment.kind().clone()).collect();
    Some(ContextItem::new(WireItem::message(role.into(), &parts), kinds))
}

/// Takes the updates that stand at the front of a window out of the rest, both in their order.
///
/// # Shape
/// The items of the prefix, one an update; then what is left.
#[must_use]
pub fn split_prefix_updates(updates: impl IntoIterator<Item = Update>) -> (Vec<ContextItem>, Vec<Update>) {
    let (prefix, rest): (Vec<Update>, Vec<Update>) =
        updates.into_iter().partition(|update| update.placement == Placement::Prefix);
    (prefix.into_iter().filter_map(Update::into_item).collect(), rest)
}
