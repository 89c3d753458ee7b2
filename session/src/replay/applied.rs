//! What one event of a log did.

use context_manager::{DropReason, Position, RolledBack};
use world_state::MergePatch;

/// What one event did to the history that is rebuilt.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Applied {
    /// Nothing: the record is for people, or of a type that this version does not know.
    Nothing,
    /// Nothing: a record with this ordinal stood before.
    Repeated,
    /// The header was read.
    Start,
    /// A turn began.
    TurnStarted,
    /// The turn ended by itself.
    TurnEnded,
    /// The turn was ended from outside.
    TurnAborted,
    /// An item was added; it stands there.
    Item(Position),
    /// An item of a foreign log is no part of a history.
    Dropped(DropReason),
    /// The model was told a whole world state.
    Told,
    /// The model was told what changed of the world state.
    Patched(MergePatch),
    /// A change of a world state stands where no state is known: it says nothing.
    PatchIgnored,
    /// The settings of a turn were made visible.
    TurnContext,
    /// Tools, parameters, schema or modalities changed.
    Parts,
    /// A prompt was sent.
    Sent,
    /// The newest turns were taken back.
    RolledBack(RolledBack),
    /// Old items were replaced.
    Compacted {
        /// The items of the new window.
        items: usize,
    },
}
