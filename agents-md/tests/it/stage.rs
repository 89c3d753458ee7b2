//! A file system that the test can edit, hold, fail and reorder.

use std::{
    collections::BTreeMap,
    io::ErrorKind,
    path::PathBuf,
    sync::{Arc, Mutex},
    time::{Duration, SystemTime},
};

use agents_md::{
    FileBytes, FileIdentity, FileKind, Found, ProbeAnswer, ProbeAsk, Purpose, ReadAnswer, ReadAsk, RemoteFileSystem,
};
use async_trait::async_trait;
use tokio::sync::oneshot;

#[derive(Clone)]
struct File {
    text: String,
    modified: u64,
    number: u64,
}

/// One call that is held until the test lets it through.
pub(crate) struct Held {
    /// `probe`, `check` or `read`, and the first path of the batch.
    pub(crate) call: String,
    open: oneshot::Sender<()>,
}

impl Held {
    pub(crate) fn let_through(self) {
        drop(self.open);
    }
}

#[derive(Default)]
struct Scene {
    files: BTreeMap<PathBuf, File>,
    n_files: u64,
    is_holding: bool,
    held: Vec<Held>,
    calls: Vec<String>,
    failing: Option<ErrorKind>,
    too_few_answers: bool,
}

#[derive(Default)]
pub(crate) struct Stage(Mutex<Scene>);

impl Stage {
    pub(crate) fn new(files: &[(&str, &str)]) -> Arc<Self> {
        let stage = Arc::new(Self::default());
        for (path, text) in files {
            stage.put(path, text, 1);
        }
        stage
    }

    /// Writes a file as an editor does that replaces it; `modified` is in seconds.
    pub(crate) fn put(&self, path: &str, text: &str, modified: u64) {
        let mut scene = self.0.lock().unwrap();
        scene.n_files += 1;
        let number = scene.n_files;
        scene.files.insert(path.into(), File { text: text.to_owned(), modified, number });
    }

    /// Writes into a file, so that nothing but its text tells.
    pub(crate) fn put_in_place(&self, path: &str, text: &str) {
        let mut scene = self.0.lock().unwrap();
        text.clone_into(&mut scene.files.get_mut(std::path::Path::new(path)).unwrap().text);
    }

    pub(crate) fn remove(&self, path: &str) {
        self.0.lock().unwrap().files.remove(std::path::Path::new(path));
    }

    /// Holds every call from now on, or none.
    pub(crate) fn hold(&self, is_holding: bool) {
        self.0.lock().unwrap().is_holding = is_holding;
    }

    /// The calls that are held, in the order in which they came.
    pub(crate) fn held(&self) -> Vec<Held> {
        std::mem::take(&mut self.0.lock().unwrap().held)
    }

    /// Makes every read fail, or none.
    pub(crate) fn fail(&self, kind: Option<ErrorKind>) {
        self.0.lock().unwrap().failing = kind;
    }

    /// Makes every probe come back without its last answer.
    pub(crate) fn lose_an_answer(&self, is_losing: bool) {
        self.0.lock().unwrap().too_few_answers = is_losing;
    }

    /// What was called since the last time, each call by its kind.
    pub(crate) fn calls(&self) -> Vec<String> {
        std::mem::take(&mut self.0.lock().unwrap().calls)
    }

    async fn pass(&self, kind: &str, path: Option<&std::path::Path>) {
        let wait = {
            let mut scene = self.0.lock().unwrap();
            scene.calls.push(kind.to_owned());
            scene.is_holding.then(|| {
                let (open, wait) = oneshot::channel();
                let path = path.map(|path| path.display().to_string()).unwrap_or_default();
                scene.held.push(Held { call: format!("{kind} {path}"), open });
                wait
            })
        };
        if let Some(wait) = wait {
            drop(wait.await);
        }
    }
}

#[async_trait]
impl RemoteFileSystem for Stage {
    async fn probe(&self, asks: &[ProbeAsk]) -> Vec<ProbeAnswer> {
        let is_check = asks.iter().all(|ask| ask.purpose() == Purpose::Check);
        self.pass(if is_check { "check" } else { "probe" }, asks.first().map(ProbeAsk::path)).await;
        let scene = self.0.lock().unwrap();
        let answer = |ask: &ProbeAsk| match scene.files.get(ask.path()) {
            Some(file) => {
                let mut found = Found::new(FileKind::File, file.text.len() as u64);
                found.modified = Some(SystemTime::UNIX_EPOCH + Duration::from_secs(file.modified));
                found.identity = Some(FileIdentity { volume: 1, file: file.number });
                ProbeAnswer::Found(found)
            }
            None => ProbeAnswer::Absent,
        };
        asks.iter().skip(usize::from(scene.too_few_answers)).map(answer).collect()
    }

    async fn read(&self, asks: &[ReadAsk]) -> Vec<ReadAnswer> {
        self.pass("read", asks.first().map(ReadAsk::path)).await;
        let scene = self.0.lock().unwrap();
        let answer = |ask: &ReadAsk| match (scene.failing, scene.files.get(ask.path())) {
            (Some(kind), _) => ReadAnswer::from_error(&kind.into()),
            (None, Some(file)) => ReadAnswer::Bytes(FileBytes::whole(file.text.clone().into_bytes())),
            (None, None) => ReadAnswer::Vanished,
        };
        asks.iter().map(answer).collect()
    }
}
