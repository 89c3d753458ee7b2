//! The drivers: they carry a plan's asks to a file system and the answers back.

use std::collections::HashMap;

#[cfg(feature = "tokio")]
use crate::{
    ask::{ProbeAnswer, ReadAnswer},
    evidence::Evidence,
    fs::{HostFs, RemoteFileSystem},
};
use crate::{
    discovery::Discovery,
    document::LoadedAgentsMd,
    error::Error,
    fs::FileSystem,
    inputs::Inputs,
    plan::{Plan, Step},
};

/// How many files stay open between their probe and their read.
const MAX_OPEN: usize = 64;

/// Finds and reads the instruction files, one ask after the other, on this thread.
///
/// # Errors
/// [`Error::RelativeFolder`] for a folder that is not absolute; [`Error::Access`] or
/// [`Error::Environment`] for a file that could not be looked at or read where that is an error.
///
/// # Example
/// ```no_run
/// use agents_md::{Discovery, HostFs, Inputs, discover_blocking};
///
/// let loaded = discover_blocking(&Discovery::default(), &Inputs::local("/home/me/app"), &HostFs::new())?;
/// print!("{}", loaded.trace());
/// # Ok::<(), agents_md::Error>(())
/// ```
pub fn discover_blocking(
    discovery: &Discovery,
    inputs: &Inputs,
    fs: &impl FileSystem,
) -> Result<LoadedAgentsMd, Error> {
    drive_blocking(Plan::start(discovery, inputs)?, fs)
}

/// Answers every step from a file system that answers at once.
pub(crate) fn drive_blocking(mut step: Step, fs: &impl FileSystem) -> Result<LoadedAgentsMd, Error> {
    let mut open = HashMap::new();
    loop {
        step = match step {
            Step::Probe(round) => round.answer_each(|ask| {
                let (answer, handle) = fs.probe(ask);
                if let Some(handle) = handle
                    && open.len() < MAX_OPEN
                {
                    open.insert(ask.slot(), handle);
                }
                answer
            })?,
            Step::Read(round) => round.answer_each(|ask| fs.read(ask, open.remove(&ask.slot())))?,
            Step::Done(loaded) => return Ok(*loaded),
        };
    }
}

/// Finds and reads the instruction files at the other end of a wire, in at most three round trips.
///
/// # Errors
/// As [`discover_blocking`]; and [`Error::AnswerCount`] if a batch comes back with another number of answers.
#[cfg(feature = "tokio")]
pub async fn discover(
    discovery: &Discovery,
    inputs: &Inputs,
    fs: &(impl RemoteFileSystem + ?Sized),
) -> Result<LoadedAgentsMd, Error> {
    drive(Plan::start(discovery, inputs)?, fs).await
}

/// Answers every step from what was seen before; none if something is asked that was not seen.
#[cfg(feature = "tokio")]
pub(crate) fn drive_again(mut step: Step, evidence: &Evidence) -> Result<Option<LoadedAgentsMd>, Error> {
    let mut is_seen = true;
    while is_seen {
        let mut unseen = || is_seen = false;
        step = match step {
            Step::Probe(round) => round.answer_each(|ask| {
                evidence.found(ask).unwrap_or_else(|| {
                    unseen();
                    ProbeAnswer::Absent
                })
            })?,
            Step::Read(round) => round.answer_each(|ask| {
                evidence.held(ask).unwrap_or_else(|| {
                    unseen();
                    ReadAnswer::Vanished
                })
            })?,
            Step::Done(loaded) => return Ok(Some(*loaded)),
        };
    }
    Ok(None)
}

/// Answers every step from the other end of a wire.
#[cfg(feature = "tokio")]
pub(crate) async fn drive(mut step: Step, fs: &(impl RemoteFileSystem + ?Sized)) -> Result<LoadedAgentsMd, Error> {
    loop {
        step = match step {
            Step::Probe(round) => {
                let answers = fs.probe(round.asks()).await;
                round.answer(answers)?
            }
            Step::Read(round) => {
                let answers = fs.read(round.asks()).await;
                round.answer(answers)?
            }
            Step::Done(loaded) => return Ok(*loaded),
        };
    }
}

/// Finds and reads the instruction files of this machine, in one blocking task of the tokio runtime.
///
/// # Errors
/// As [`discover_blocking`]; and [`Error::Stopped`] if the runtime is shut down meanwhile.
/// # Panics
/// If it is not polled inside a tokio runtime.
#[cfg(feature = "tokio")]
pub async fn discover_on_host(discovery: Discovery, inputs: Inputs) -> Result<LoadedAgentsMd, Error> {
    let task = tokio::task::spawn_blocking(move || discover_blocking(&discovery, &inputs, &HostFs::new()));
    task.await.unwrap_or_else(|error| Err(Error::Stopped { reason: error.to_string() }))
}
