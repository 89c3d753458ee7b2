//! The lock that makes a log belong to one writer.

use std::{
    fs::{File, OpenOptions, TryLockError},
    io::{self, Read as _, Seek as _, Write as _},
    path::Path,
    time::Duration,
};

use context_fragments::json::{Json, ObjectWriter};

use super::time::format_ms;
use crate::Error;

/// Who wants to write, as the next one who asks is told.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Owner {
    /// The process.
    pub pid: u32,
    /// The machine; the host knows its name.
    pub host: String,
    /// When it asks, in milliseconds since the epoch.
    pub since_ms: i64,
}

impl Owner {
    /// This process, on a machine that the caller names.
    #[must_use]
    pub fn this_process(host: impl Into<String>, since_ms: i64) -> Self {
        Self { pid: std::process::id(), host: host.into(), since_ms }
    }
}

/// Who holds a log, as far as is known.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Holder {
    /// The process.
    pub pid: Option<u32>,
    /// The machine that it runs on, as its host named it.
    pub host: Option<String>,
    /// Since when it holds the log: RFC 3339 in UTC.
    pub since: Option<String>,
}

impl Holder {
    /// Writes down who takes a log.
    ///
    /// # Errors
    /// [`Error::TimeOutOfRange`].
    pub fn of(owner: &Owner) -> Result<Self, Error> {
        let since = Some(format_ms(owner.since_ms)?);
        Ok(Self { pid: Some(owner.pid), host: Some(owner.host.clone()), since })
    }

    /// The error for the next one who asks for the log at `path`.
    #[must_use]
    pub fn busy(&self, path: impl Into<std::path::PathBuf>) -> Error {
        let Self { pid, host, since } = self.clone();
        Error::Busy { path: path.into(), pid, host, since }
    }
}

/// A lock of the operating system on the `lock` file. Dropping it gives it back, and so does the death of the process.
///
/// The file itself stays: whoever deleted it would let two writers hold locks on two files of one name.
#[derive(Debug)]
pub struct LogLock {
    file: File,
}

impl LogLock {
    /// Takes the lock at `path` and writes down who holds it.
    ///
    /// # Errors
    /// [`Error::Busy`] with what the holder wrote, [`Error::Io`], [`Error::TimeOutOfRange`].
    pub fn acquire(path: &Path, owner: &Owner) -> Result<Self, Error> {
        let since = format_ms(owner.since_ms)?;
        let failed = |action| move |source| Error::Io { action, path: path.to_owned(), source };
        // A copied folder may bring a link: what it leads to is not ours to write to.
        if path.symlink_metadata().is_ok_and(|metadata| !metadata.is_file()) {
            return Err(failed("open")(io::Error::new(
                io::ErrorKind::InvalidInput,
                "a lock is a regular file, and no link",
            )));
        }
        let mut options = OpenOptions::new();
        options.read(true).write(true).create(true).truncate(false);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let mut file = options.open(path).map_err(failed("open"))?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Err(busy(path, &mut file)),
            Err(TryLockError::Error(source)) => return Err(failed("lock")(source)),
        }
        let mut object = ObjectWriter::new();
        object.raw("pid", &owner.pid.to_string()).string("host", &owner.host).string("since", &since);
        let written = file.set_len(0).and_then(|()| file.write_all((object.finish() + "\n").as_bytes()));
        written.map_err(failed("write"))?;
        Ok(Self { file })
    }
}

impl Drop for LogLock {
    fn drop(&mut self) {
        // What the holder wrote must not outlive it. If this fails, the lock is given back all the same.
        let _cleared = self.file.set_len(0);
        let _unlocked = self.file.unlock();
    }
}

/// Reads what the holder wrote; where a locked file cannot be read, nothing is known of it.
fn busy(path: &Path, file: &mut File) -> Error {
    let mut holder = Holder::default();
    // Between the moment in which the holder took the lock and that in which it wrote who it is lies next to nothing, but
    // two processes that start together do meet in it.
    for _ in 0..50 {
        holder = read_holder(file).unwrap_or_default();
        if holder.pid.is_some() {
            break;
        }
        std::thread::sleep(Duration::from_millis(1));
    }
    holder.busy(path)
}

fn read_holder(file: &mut File) -> Option<Holder> {
    let mut text = String::new();
    file.rewind().and_then(|()| io::Read::by_ref(file).take(4096).read_to_string(&mut text)).ok()?;
    let holder = Json::parse(&text).ok()?;
    Some(Holder {
        pid: holder.member("pid").and_then(|pid| pid.as_raw().parse().ok()),
        host: holder.member("host").and_then(Json::to_str).map(Into::into),
        since: holder.member("since").and_then(Json::to_str).map(Into::into),
    })
}
