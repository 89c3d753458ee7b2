//! Changes of a history that can be made once more.

use std::fmt;

use context_manager::{ContextManager, Position};

use crate::Error;

type Change = dyn Fn(&mut ContextManager) -> Result<(), context_manager::Error> + Send + Sync;

/// What happened to a history, in order.
#[derive(Default)]
pub(super) struct Changes(Vec<Box<Change>>);

impl Changes {
    pub(super) fn push(
        &mut self,
        change: impl Fn(&mut ContextManager) -> Result<(), context_manager::Error> + Send + Sync + 'static,
    ) {
        self.0.push(Box::new(change));
    }

    /// Makes them once more, on a history that is what the first one was.
    pub(super) fn repeat(&self, manager: &mut ContextManager) -> Result<(), Error> {
        self.0.iter().try_for_each(|change| change(manager)).map_err(Error::history)
    }
}

impl fmt::Debug for Changes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Changes({})", self.0.len())
    }
}

/// The position behind everything that stands.
pub(super) fn next_position(manager: &ContextManager) -> Position {
    let last = manager.history().entries().next_back().map(|entry| entry.position().number());
    Position::new(last.map_or(0, |last| last + 1))
}
