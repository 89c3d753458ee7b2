//! A wire item and what its parts are.

use std::sync::Arc;

use crate::{Kind, WireItem};

/// A wire item and the kinds of its content parts: what the world state makes and the history records.
///
/// # Shape
/// One kind for each content part, in their order. An empty list says that nothing is known, as for an item from a log
/// that carries no kinds, and for items that have no content parts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ContextItem {
    item: WireItem,
    kinds: Arc<[Kind]>,
}

impl ContextItem {
    /// Joins an item with the kinds of its parts.
    #[must_use]
    pub fn new(item: WireItem, kinds: impl Into<Arc<[Kind]>>) -> Self {
        Self { item, kinds: kinds.into() }
    }

    /// Makes a user message of one text that the user wrote.
    ///
    /// # Example
    /// ```
    /// use context_fragments::{ContextItem, Kind};
    ///
    /// assert_eq!(ContextItem::user_text("hi").kinds(), [Kind::USER_TEXT]);
    /// ```
    #[must_use]
    pub fn user_text(text: &str) -> Self {
        Self::new(WireItem::user_text(text), [Kind::USER_TEXT])
    }

    /// The item.
    #[must_use]
    pub const fn item(&self) -> &WireItem {
        &self.item
    }

    /// The kinds of its parts.
    #[must_use]
    pub fn kinds(&self) -> &[Kind] {
        &self.kinds
    }

    /// Takes the two apart.
    #[must_use]
    pub fn into_parts(self) -> (WireItem, Arc<[Kind]>) {
        (self.item, self.kinds)
    }
}

impl From<WireItem> for ContextItem {
    fn from(item: WireItem) -> Self {
        Self::new(item, [])
    }
}
