//! Hashes that are made when they are first asked for.

use std::sync::OnceLock;

use context_fragments::{ContextualUserFragment, Error as FragmentError, RenderedFragment};

use crate::hash::WorldStateHash;

/// Holds the hash of what a section says, once somebody asked for it.
///
/// A section that is equal to the one that stands is never asked, so hashing is mostly spared, and a section that is
/// asked again makes neither fragment nor hash anew.
#[derive(Debug, Clone)]
pub(super) struct LazyHash(OnceLock<WorldStateHash>);

impl LazyHash {
    pub(super) const fn new() -> Self {
        Self(OnceLock::new())
    }

    /// The hash of what `fragment` says, and that itself where it was rendered for the hash: it need not be again.
    pub(super) fn of<F: ContextualUserFragment>(
        &self,
        fragment: impl FnOnce() -> F,
    ) -> Result<(WorldStateHash, Option<RenderedFragment>), FragmentError> {
        if let Some(hash) = self.0.get() {
            return Ok((*hash, None));
        }
        let rendered = fragment().render()?;
        let hash = *self.0.get_or_init(|| WorldStateHash::of_fragment(rendered.role(), rendered.text()));
        Ok((hash, Some(rendered)))
    }
}
