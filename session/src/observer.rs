//! Who is told what was recorded.

use context_manager::HistorySnapshot;

/// Is told of each change, once it is in the log and in the history.
///
/// It is the place for hooks: what it hears of has happened, and nothing that it does can undo it. It is called on the
/// thread that wrote, while later calls of the session wait, so it should hand on what takes time. It may look at the
/// session, and must not wait for a call of it.
///
/// # Example
/// ```
/// use session::{Observer, Observed};
///
/// #[derive(Debug)]
/// struct Prints;
///
/// impl Observer for Prints {
///     fn recorded(&self, recorded: &Observed<'_>) {
///         println!("{:?}", recorded.records);
///     }
/// }
/// ```
pub trait Observer: Send + Sync {
    /// Hears of one write.
    fn recorded(&self, recorded: &Observed<'_>);
}

/// One write, and the history behind it.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Observed<'a> {
    /// The session.
    pub session: &'a str,
    /// The types of its records, in their order: `item`, `world_state`, `checkpoint` … Empty for a session without a log.
    pub records: &'a [String],
    /// The history as it stands now.
    pub history: &'a HistorySnapshot,
}
