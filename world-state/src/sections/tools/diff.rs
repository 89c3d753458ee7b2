//! What changed between two sets of tools.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::hash::WorldStateHash;

/// Holds the hashes of the declarations of a set of tools, by name.
///
/// # Shape
/// A tool has its name, or its type where it has none; a namespace has its name, with the hash of what it says about
/// itself, and its members are called `namespace.member`. `{}` where it is known that there is no tool.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ToolSetSnapshot {
    pub(super) hashes: BTreeMap<Arc<str>, WorldStateHash>,
}

/// Says what changed between two sets of tools, by name, each list sorted.
///
/// # Example
/// ```
/// use world_state::ToolSet;
///
/// let before = ToolSet::parse([r#"{"type":"function","name":"a"}"#, r#"{"type":"function","name":"b"}"#])?;
/// let now = ToolSet::parse([r#"{"type":"function","name":"a","strict":true}"#])?;
/// let diff = now.diff_from(before.snapshot());
/// assert_eq!((diff.changed, diff.removed), (vec!["a".into()], vec!["b".into()]));
/// # Ok::<(), world_state::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct ToolSetDiff {
    /// Those that are new.
    pub added: Vec<Arc<str>>,
    /// Those that are declared in another way.
    pub changed: Vec<Arc<str>>,
    /// Those that are gone; the members of a namespace too.
    pub removed: Vec<Arc<str>>,
}

impl ToolSetDiff {
    /// Says that nothing changed.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.added.is_empty() && self.changed.is_empty() && self.removed.is_empty()
    }
}

impl ToolSetSnapshot {
    /// Compares with an earlier set.
    #[must_use]
    pub fn diff_from(&self, previous: &Self) -> ToolSetDiff {
        let mut diff = ToolSetDiff::default();
        for (name, hash) in &self.hashes {
            match previous.hashes.get(name) {
                None => diff.added.push(Arc::clone(name)),
                Some(before) if before != hash => diff.changed.push(Arc::clone(name)),
                Some(_) => {}
            }
        }
        let gone = previous.hashes.keys().filter(|name| !self.hashes.contains_key(*name));
        diff.removed = gone.cloned().collect();
        diff
    }

    /// Splits the names of `diff.removed`, which are of this set, into whole namespaces and single tools.
    ///
    /// The members of a namespace that is gone are not listed one by one.
    pub(super) fn split_removed(&self, diff: &ToolSetDiff) -> (Vec<String>, Vec<String>) {
        let is_gone = |name: &str| diff.removed.binary_search_by(|gone| gone.as_ref().cmp(name)).is_ok();
        let is_namespace = |name: &str| self.hashes.keys().any(|key| namespace_of(key) == Some(name));
        let mut namespaces = Vec::new();
        let mut tools = Vec::new();
        for name in &diff.removed {
            match namespace_of(name) {
                _ if is_namespace(name) => namespaces.push(name.to_string()),
                Some(namespace) if is_gone(namespace) => {}
                _ => tools.push(name.to_string()),
            }
        }
        (namespaces, tools)
    }
}

/// The namespace of a member; a tool of its own has none.
fn namespace_of(name: &str) -> Option<&str> {
    name.split_once('.').map(|(namespace, _)| namespace)
}
