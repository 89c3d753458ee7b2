//! Which kinds of context a history still holds.

use std::sync::Arc;

use crate::Kind;

/// The small set of kinds that a history currently holds.
///
/// The history keeps it and the world state reads it: a section whose kinds are gone has to be told again. A clone is a
/// reference count.
///
/// # Example
/// ```
/// use context_fragments::{Kind, RetainedKinds};
///
/// let mut kinds = RetainedKinds::new();
/// assert!(kinds.insert(&Kind::AGENTS_MD));
/// assert!(!kinds.insert(&Kind::AGENTS_MD));
/// assert!(kinds.contains_any(&[Kind::PERMISSIONS, Kind::AGENTS_MD]));
/// ```
#[derive(Clone, Debug, Default)]
pub struct RetainedKinds(Arc<[Kind]>);

impl RetainedKinds {
    /// Makes the empty set.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds `kind`; says whether it was new. A copy is made only then.
    pub fn insert(&mut self, kind: &Kind) -> bool {
        let Err(position) = self.0.binary_search(kind) else { return false };
        let (before, after) = self.0.split_at(position);
        self.0 = before.iter().chain([kind]).chain(after).cloned().collect();
        true
    }

    /// Says whether `kind` is in the set.
    #[must_use]
    pub fn contains(&self, kind: &Kind) -> bool {
        self.0.binary_search(kind).is_ok()
    }

    /// Says whether at least one of `kinds` is in the set.
    #[must_use]
    pub fn contains_any(&self, kinds: &[Kind]) -> bool {
        kinds.iter().any(|kind| self.contains(kind))
    }

    /// The kinds, sorted by label.
    pub fn iter(&self) -> impl Iterator<Item = &Kind> {
        self.0.iter()
    }
}

/// By pointer first: the same set is compared at every step.
impl PartialEq for RetainedKinds {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0) || self.0 == other.0
    }
}

impl Eq for RetainedKinds {}

impl<'a> FromIterator<&'a Kind> for RetainedKinds {
    fn from_iter<I: IntoIterator<Item = &'a Kind>>(kinds: I) -> Self {
        let mut set = Self::new();
        for kind in kinds {
            set.insert(kind);
        }
        set
    }
}
