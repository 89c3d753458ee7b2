//! When loaded instructions are looked at again, and what is visible meanwhile.

use std::fmt;

/// When the files behind loaded instructions are looked at again.
///
/// A change of the key (the ready environments, the trust, the user's instructions) is always seen. This is about edits of
/// the files while the key stays. The page `docs/freshness.md` of the repository follows one edit through each of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Freshness {
    /// Never: an edit is seen when the key changes or the host invalidates, as in the reference. A hit costs no system call.
    #[default]
    OnSelection,
    /// At each refresh every probed path is looked at again, the absent ones too, in one batch; where type, size, time or
    /// identity differ, everything is loaded again. A file that was changed less than two seconds before it was read is read
    /// once more, since its time may not show the next edit; without [`with_clock`](crate::AgentsMdManager::with_clock) that
    /// is every file.
    Stat,
    /// At each refresh every probed path is looked at again and every file is read again; where a digest differs,
    /// everything is loaded again.
    Hash,
    /// At each refresh everything is loaded again. Where nothing has changed, the same `Arc` comes back.
    EveryRefresh,
    /// When the system says that something has changed at a probed path. Where it cannot say, on another disk than the
    /// host's or when its watches are used up, as [`Freshness::Stat`].
    #[cfg(feature = "watch")]
    Watch,
}

/// What [`get_loaded`](crate::AgentsMdManager::get_loaded) gives while a load runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum DuringLoad {
    /// Nothing, as in the reference.
    #[default]
    Empty,
    /// What stood before, as long as the trust is the same and every environment that it came from is still selected with
    /// the same read access. After an error, a cancelled load or an invalidation there is nothing.
    KeepPrevious,
}

/// Whether a refresh found its instructions, or why it had to load them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Refresh {
    /// The key is the one that stands, and nothing says that a file has changed.
    Hit,
    /// The key is the one that stands, and the files were looked at: nothing of what is loaded has changed.
    Checked,
    /// Nothing was loaded before.
    First,
    /// The ready environments are others, or in another order, folder or read access.
    Selections,
    /// The trust in the project changed.
    Trust,
    /// The provider gives other instructions.
    UserInstructions,
    /// A file was changed, added or removed.
    Files,
    /// The host invalidated what stood.
    Invalidated,
    /// The load before this one failed or was cancelled.
    Retry,
}

impl Refresh {
    /// Says that what stood still stands; the `Arc` is the same one.
    #[must_use]
    pub const fn is_hit(self) -> bool {
        matches!(self, Self::Hit | Self::Checked)
    }
}

impl fmt::Display for Refresh {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Hit => "nothing that decides has changed",
            Self::Checked => "the files were looked at, and nothing has changed",
            Self::First => "nothing was loaded before",
            Self::Selections => "the ready environments changed",
            Self::Trust => "the trust in the project changed",
            Self::UserInstructions => "the user's own instructions changed",
            Self::Files => "a file was changed, added or removed",
            Self::Invalidated => "they were invalidated",
            Self::Retry => "the load before failed or was cancelled",
        })
    }
}
