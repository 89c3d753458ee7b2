//! Who answers a plan's asks: the host's disk, a remote one, or a table in memory.

mod host;
mod memory;
#[cfg(feature = "tokio")]
mod remote;

pub use host::{HostFs, OpenFile};
pub use memory::{Access, MemoryFs};
#[cfg(feature = "tokio")]
pub use remote::RemoteFileSystem;

use crate::ask::{ProbeAnswer, ProbeAsk, ReadAnswer, ReadAsk};

/// Answers asks one at a time, without waiting for anything but the disk.
///
/// # Shape
/// A probe may leave a `Handle` open, which the driver gives back with the read of the same file, so
/// that what was checked is what is read. Handles beyond the first 64 are dropped at once, and
/// then the read gets none. A file system without handles uses `()` and answers `None`.
pub trait FileSystem {
    /// What stays open between the probe and the read of a file.
    type Handle;

    /// Says what is at a path; must not wait for another process, whatever is there.
    fn probe(&self, ask: &ProbeAsk) -> (ProbeAnswer, Option<Self::Handle>);

    /// Reads the head of a regular file, at most [`ReadAsk::max_bytes`] of it.
    fn read(&self, ask: &ReadAsk, handle: Option<Self::Handle>) -> ReadAnswer;
}
