//! What a change of the history left behind.

use crate::{ContextManager, HistorySnapshot, Prompt};

/// What a change of the history left behind; to free it is what the change would have cost beside its own work.
///
/// A history of many items is freed item by item, by whoever drops the last handle to it. A host that must not wait for
/// that hands this value to another thread, or drops it when nobody waits.
///
/// # Example
/// ```
/// use context_fragments::{ContextItem, Limit};
/// use context_manager::{ContextManager, Recording, Replacement, TruncationPolicy};
///
/// let recording = Recording::new(TruncationPolicy::new(Limit::Tokens(10_000)));
/// let mut manager = ContextManager::new();
/// manager.record_items([ContextItem::user_text("a long story")], &recording)?;
/// let summary = [Replacement::from(ContextItem::user_text("short"))];
/// let (compacted, retired) = manager.retiring(|manager| manager.replace_compacted(summary, &recording));
/// compacted?;
/// assert_eq!(retired.entries(), 1);
/// std::thread::spawn(move || drop(retired));
/// # Ok::<(), context_manager::Error>(())
/// ```
#[derive(Debug)]
#[must_use = "it is meant to be dropped where its time does not matter"]
pub struct Retired {
    history: HistorySnapshot,
    sent: Option<Prompt>,
}

impl Retired {
    /// How many entries the history had, facts included.
    #[must_use]
    pub const fn entries(&self) -> usize {
        self.history.entry_count()
    }

    /// The history as it stood before.
    #[must_use]
    pub const fn history(&self) -> &HistorySnapshot {
        &self.history
    }

    /// The prompt that was sent last before.
    #[must_use]
    pub const fn sent(&self) -> Option<&Prompt> {
        self.sent.as_ref()
    }
}

impl ContextManager {
    /// Does `change`, and gives what it left behind: nothing that it takes away is freed before that is dropped.
    ///
    /// For rewrites and rollbacks, and for [`mark_sent`](Self::mark_sent), which lets go of the prompt that was sent before.
    pub fn retiring<T>(&mut self, change: impl FnOnce(&mut Self) -> T) -> (T, Retired) {
        let retired = Retired { history: self.history.clone(), sent: self.guard.last().cloned() };
        (change(self), retired)
    }

    /// Gives up the history; what it cost to keep is in the value.
    pub fn retire(self) -> Retired {
        Retired { sent: self.guard.last().cloned(), history: self.history }
    }
}
