//! The writer for asynchronous hosts.

use std::sync::Arc;

use tokio::sync::Mutex;

use super::{
    file::{FsLogFile, LogFile},
    record::Draft,
    writer::{Appended, Durability, LogWriter},
};
use crate::Error;

/// A handle to a writer that never blocks the thread that asks. Clones write to the same log.
///
/// # Cancellation
/// Calls are served in the order in which they were first polled. A call that is dropped before it got its turn has
/// written nothing; one that is dropped later runs to its end on its own thread, and the next call waits for it. So a
/// batch is in the log as a whole or not at all, and the next call starts from a known state in both cases.
#[derive(Debug)]
pub struct AsyncLog<F = FsLogFile> {
    writer: Arc<Mutex<LogWriter<F>>>,
}

impl<F> Clone for AsyncLog<F> {
    fn clone(&self) -> Self {
        Self { writer: Arc::clone(&self.writer) }
    }
}

impl<F: LogFile + 'static> AsyncLog<F> {
    /// Takes the writer.
    #[must_use]
    pub fn new(writer: LogWriter<F>) -> Self {
        Self { writer: Arc::new(Mutex::new(writer)) }
    }

    /// Appends as [`LogWriter::append`] does.
    ///
    /// # Errors
    /// Those of [`LogWriter::append`], and [`Error::WriterStopped`] if the runtime shut down meanwhile.
    pub async fn append(&self, at_ms: i64, drafts: Vec<Draft>, durability: Durability) -> Result<Appended, Error> {
        self.run(move |writer| writer.append(at_ms, &drafts, durability)).await
    }

    /// Syncs as [`LogWriter::sync`] does.
    ///
    /// # Errors
    /// Those of [`LogWriter::sync`], and [`Error::WriterStopped`].
    pub async fn sync(&self) -> Result<Appended, Error> {
        self.run(LogWriter::sync).await
    }

    /// The ordinal that the next record gets, once the calls before this one are done.
    pub async fn next_ordinal(&self) -> u64 {
        self.writer.lock().await.next_ordinal()
    }

    /// Takes the writer before its thread starts, so that the order of the calls is the order in the log.
    async fn run<T: Send + 'static>(
        &self,
        job: impl FnOnce(&mut LogWriter<F>) -> Result<T, Error> + Send + 'static,
    ) -> Result<T, Error> {
        // Unconstrained, because a task whose budget is used up would not be queued by its first poll.
        let mut writer = tokio::task::unconstrained(Arc::clone(&self.writer).lock_owned()).await;
        let done = tokio::task::spawn_blocking(move || job(&mut writer)).await;
        done.unwrap_or(Err(Error::WriterStopped))
    }
}
