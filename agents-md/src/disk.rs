//! Who answers a manager's asks: a file system that blocks, in a blocking task, or one at the other end of a wire.

use std::{fmt, sync::Arc};

use crate::{
    ask::{ProbeAnswer, ProbeAsk, ReadAnswer, ReadAsk},
    discover::{drive, drive_blocking},
    document::LoadedAgentsMd,
    error::Error,
    fs::{FileSystem, RemoteFileSystem},
    plan::Step,
};

/// A file system that answers at once or blocks, without its handle type.
pub(crate) trait Blocking: Send + Sync {
    fn drive(&self, step: Step) -> Result<LoadedAgentsMd, Error>;
    fn probe_all(&self, asks: &[ProbeAsk]) -> Vec<ProbeAnswer>;
    fn read_all(&self, asks: &[ReadAsk]) -> Vec<ReadAnswer>;
}

impl<F: FileSystem + Send + Sync> Blocking for F {
    fn drive(&self, step: Step) -> Result<LoadedAgentsMd, Error> {
        drive_blocking(step, self)
    }

    fn probe_all(&self, asks: &[ProbeAsk]) -> Vec<ProbeAnswer> {
        asks.iter().map(|ask| self.probe(ask).0).collect()
    }

    fn read_all(&self, asks: &[ReadAsk]) -> Vec<ReadAnswer> {
        asks.iter().map(|ask| self.read(ask, None)).collect()
    }
}

/// Who reads the files.
#[derive(Clone)]
pub(crate) enum Disk {
    Blocking(Arc<dyn Blocking>),
    Remote(Arc<dyn RemoteFileSystem>),
}

impl fmt::Debug for Disk {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Blocking(_) => "Blocking",
            Self::Remote(_) => "Remote",
        })
    }
}

impl Disk {
    /// Carries a whole discovery out, in one blocking task where it blocks.
    pub(crate) async fn drive(&self, step: Step) -> Result<LoadedAgentsMd, Error> {
        match self {
            Self::Remote(fs) => drive(step, fs.as_ref()).await,
            Self::Blocking(fs) => {
                let fs = Arc::clone(fs);
                blocking(move || fs.drive(step)).await?
            }
        }
    }

    /// Looks at these paths, in one batch.
    pub(crate) async fn probe(&self, asks: Vec<ProbeAsk>) -> Result<Vec<ProbeAnswer>, Error> {
        let asked = asks.len();
        let answers = match self {
            _ if asks.is_empty() => Vec::new(),
            Self::Remote(fs) => fs.probe(&asks).await,
            Self::Blocking(fs) => {
                let fs = Arc::clone(fs);
                blocking(move || fs.probe_all(&asks)).await?
            }
        };
        checked(asked, answers)
    }

    /// Reads these files, in one batch.
    pub(crate) async fn read(&self, asks: Vec<ReadAsk>) -> Result<Vec<ReadAnswer>, Error> {
        let asked = asks.len();
        let answers = match self {
            _ if asks.is_empty() => Vec::new(),
            Self::Remote(fs) => fs.read(&asks).await,
            Self::Blocking(fs) => {
                let fs = Arc::clone(fs);
                blocking(move || fs.read_all(&asks)).await?
            }
        };
        checked(asked, answers)
    }
}

fn checked<T>(asked: usize, answers: Vec<T>) -> Result<Vec<T>, Error> {
    if answers.len() == asked { Ok(answers) } else { Err(Error::AnswerCount { asked, answered: answers.len() }) }
}

async fn blocking<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Result<T, Error> {
    let stopped = |error: tokio::task::JoinError| Error::Stopped { reason: error.to_string() };
    tokio::task::spawn_blocking(work).await.map_err(stopped)
}
