//! A file system at the other end of a wire.

use async_trait::async_trait;

use crate::ask::{ProbeAnswer, ProbeAsk, ReadAnswer, ReadAsk};

/// Answers whole batches, so that a discovery costs at most three round trips.
///
/// # Shape
/// As many answers as asks, in the same order. One batch may hold asks of several environments;
/// [`ProbeAsk::environment`] says whose they are. Where a trip fails, answer each ask with
/// [`ProbeAnswer::Failed`] or [`ReadAnswer::Failed`].
///
/// # Example
/// ```
/// use agents_md::{ProbeAnswer, ProbeAsk, ReadAnswer, ReadAsk, RemoteFileSystem};
/// use std::io::ErrorKind;
///
/// struct Offline;
///
/// #[async_trait::async_trait]
/// impl RemoteFileSystem for Offline {
///     async fn probe(&self, asks: &[ProbeAsk]) -> Vec<ProbeAnswer> {
///         asks.iter().map(|_| ProbeAnswer::Failed(ErrorKind::HostUnreachable.into())).collect()
///     }
///     async fn read(&self, asks: &[ReadAsk]) -> Vec<ReadAnswer> {
///         asks.iter().map(|_| ReadAnswer::Failed(ErrorKind::HostUnreachable.into())).collect()
///     }
/// }
/// ```
#[async_trait]
pub trait RemoteFileSystem: Send + Sync {
    /// Says what is at each path.
    async fn probe(&self, asks: &[ProbeAsk]) -> Vec<ProbeAnswer>;

    /// Reads the head of each file, at most [`ReadAsk::max_bytes`] of it.
    async fn read(&self, asks: &[ReadAsk]) -> Vec<ReadAnswer>;
}
