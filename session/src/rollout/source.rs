//! A log file as it lies there: plain, or packed with zstd.

use std::{
    fs::File,
    io::{self, Read, Seek as _},
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

use super::{
    folder::SessionFolder,
    sniff::{LogFormat, sniff},
};
use crate::Error;

/// The bytes of a log, unpacked where it is packed. It is read from its start to its end.
pub struct LogSource {
    inner: Inner,
    done: Arc<AtomicU64>,
    total: u64,
    is_packed: bool,
    format: LogFormat,
}

enum Inner {
    Plain(Counted),
    #[cfg(feature = "zstd")]
    Zstd(Box<zstd::Decoder<'static, io::BufReader<Counted>>>),
}

/// How far a long reading is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Progress {
    /// The bytes of the file that were read.
    pub done: u64,
    /// Its length.
    pub total: u64,
}

impl Progress {
    pub(super) const fn new(done: u64, total: u64) -> Self {
        Self { done, total }
    }
}

#[derive(Debug)]
struct Counted {
    file: File,
    done: Arc<AtomicU64>,
}

impl Read for Counted {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        let read = self.file.read(bytes)?;
        self.done.fetch_add(read as u64, Ordering::Relaxed);
        Ok(read)
    }
}

impl LogSource {
    /// Opens a log, or the log of a session's folder; of a plain and a packed one, the plain one counts.
    ///
    /// # Errors
    /// [`Error::Io`], and [`Error::Compressed`] where this was built without the feature `zstd`.
    pub fn open(path: &Path) -> Result<Self, Error> {
        let path = log_in(path);
        let failed = |source| Error::Io { action: "open", path: path.clone(), source };
        // A pipe or a device could block for ever.
        let metadata = path.metadata().map_err(failed)?;
        if !metadata.is_file() {
            return Err(failed(io::Error::new(io::ErrorKind::InvalidInput, "not a regular file")));
        }
        let mut file = File::open(&path).map_err(failed)?;
        let format = sniff(&mut file).and_then(|format| file.rewind().map(|()| format)).map_err(failed)?;
        let done = Arc::new(AtomicU64::new(0));
        let counted = Counted { file, done: Arc::clone(&done) };
        let (inner, format, is_packed) = match format {
            LogFormat::Zstd => unpacked(counted, &path)?,
            format => (Inner::Plain(counted), format, false),
        };
        done.store(0, Ordering::Relaxed);
        Ok(Self { inner, done, total: metadata.len(), is_packed, format })
    }

    /// What the log was recognised as, unpacked.
    #[must_use]
    pub const fn format(&self) -> LogFormat {
        self.format
    }

    /// Says that it is packed.
    #[must_use]
    pub const fn is_packed(&self) -> bool {
        self.is_packed
    }

    /// How far it was read; it can be asked while a reader has the source.
    pub(super) fn meter(&self) -> Meter {
        Meter { done: Arc::clone(&self.done), total: self.total, told: 0 }
    }
}

/// Tells how far a source was read.
pub(super) struct Meter {
    done: Arc<AtomicU64>,
    total: u64,
    told: u64,
}

/// Often enough for a bar that moves, rarely enough to cost nothing.
const TOLD_EVERY: u64 = 1024 * 1024;

impl Meter {
    pub(super) fn tell(&mut self, tell: &mut dyn FnMut(Progress)) {
        let done = self.done.load(Ordering::Relaxed);
        if done >= self.told + TOLD_EVERY || done == self.total {
            self.told = done;
            tell(Progress::new(done, self.total));
        }
    }
}

#[cfg(feature = "zstd")]
fn unpacked(file: Counted, path: &Path) -> Result<(Inner, LogFormat, bool), Error> {
    let failed = |source| Error::Io { action: "unpack", path: path.to_owned(), source };
    // A packed log cannot be rewound, so its start is looked at by a reader of its own.
    let look = File::open(path).and_then(zstd::Decoder::new).and_then(sniff);
    // A packed file that is cut in its first block is still a log, of which nothing can be read.
    let format = look.unwrap_or(LogFormat::Unknown);
    let decoder = zstd::Decoder::new(file).map_err(failed)?;
    Ok((Inner::Zstd(Box::new(decoder)), format, true))
}

#[cfg(not(feature = "zstd"))]
fn unpacked(_file: Counted, path: &Path) -> Result<(Inner, LogFormat, bool), Error> {
    Err(Error::Compressed { path: path.to_owned() })
}

/// The log that is meant by a path: itself, or the one in a session's folder.
fn log_in(path: &Path) -> PathBuf {
    if !path.is_dir() {
        let packed = {
            let mut name = path.as_os_str().to_owned();
            name.push(".zst");
            PathBuf::from(name)
        };
        return if !path.exists() && packed.is_file() { packed } else { path.to_owned() };
    }
    let folder = SessionFolder::new(path);
    let packed = folder.compressed_log_path();
    if !folder.log_path().exists() && packed.exists() { packed } else { folder.log_path() }
}

impl Read for LogSource {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        match &mut self.inner {
            Inner::Plain(file) => file.read(bytes),
            #[cfg(feature = "zstd")]
            Inner::Zstd(decoder) => decoder.read(bytes),
        }
    }
}

impl std::fmt::Debug for LogSource {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("LogSource")
            .field("is_packed", &self.is_packed)
            .field("len", &self.total)
            .finish_non_exhaustive()
    }
}
