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

/// How often someone looks, a millisecond apart, for who holds a lock. Between taking it and writing that lies next to
/// nothing, but processes that start together do meet there, and a busy system lets the holder wait.
const BLANK_TRIES: u32 = 3_000;

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
        let mut n_tries = 0;
        loop {
            match file.try_lock() {
                // Where a file system tells one file by two numbers, the lock counts all the same.
                Ok(()) if n_tries >= BLANK_TRIES || is_at(&file, path) => break,
                // Its session was deleted while it was waited for; what stands there now is another file.
                Ok(()) => {
                    file = options.open(path).map_err(failed("open"))?;
                    n_tries += 1;
                    continue;
                }
                Err(TryLockError::WouldBlock) => {}
                Err(TryLockError::Error(source)) => return Err(failed("lock")(source)),
            }
            match read_holder(&mut file) {
                // The holder has not written yet who it is, or has just given the lock back.
                Ok(None) if n_tries < BLANK_TRIES => std::thread::sleep(Duration::from_millis(1)),
                // Where a locked file cannot be read, nothing is known of the holder.
                read => return Err(read.ok().flatten().unwrap_or_default().busy(path)),
            }
            n_tries += 1;
        }
        let mut object = ObjectWriter::new();
        object.raw("pid", &owner.pid.to_string()).string("host", &owner.host).string("since", &since);
        let emptied = file.set_len(0).and_then(|()| file.rewind());
        let written = emptied.and_then(|()| file.write_all((object.finish() + "\n").as_bytes()));
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

/// Says that this is the file that stands at `path`.
#[cfg(unix)]
fn is_at(file: &File, path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    let place = |metadata: std::fs::Metadata| (metadata.dev(), metadata.ino());
    file.metadata().is_ok_and(|file| path.symlink_metadata().is_ok_and(|other| place(file) == place(other)))
}

/// An open file cannot be deleted here.
#[cfg(not(unix))]
const fn is_at(_: &File, _: &Path) -> bool {
    true
}

/// Reads what the holder wrote; none where it is not all there.
fn read_holder(file: &mut File) -> io::Result<Option<Holder>> {
    let mut text = Vec::new();
    file.rewind()?;
    io::Read::by_ref(file).take(4096).read_to_end(&mut text)?;
    let Ok(holder) = Json::parse_bytes(&text) else { return Ok(None) };
    Ok(Some(Holder {
        pid: holder.member("pid").and_then(|pid| pid.as_raw().parse().ok()),
        host: holder.member("host").and_then(Json::to_str).map(Into::into),
        since: holder.member("since").and_then(Json::to_str).map(Into::into),
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Someone has taken the lock and not written yet who it is: who asks meanwhile is told who it was, or gets the lock if
    /// it is given back.
    #[test]
    fn a_holder_that_is_slow_to_say_who_it_is_is_waited_for() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("lock");
        let asks = || {
            let path = path.clone();
            std::thread::spawn(move || LogLock::acquire(&path, &Owner::this_process("here", 0)))
        };
        let mut holder = File::create(&path).unwrap();
        holder.lock().unwrap();
        let asking = asks();
        // Longer than anybody needs to write a line, and far from what is waited for.
        std::thread::sleep(Duration::from_millis(200));
        holder.write_all(b"{\"pid\":7,\"host\":\"ther").unwrap();
        std::thread::sleep(Duration::from_millis(20));
        holder.write_all(b"e\"}\n").unwrap();
        let error = asking.join().unwrap().unwrap_err();
        assert!(matches!(&error, Error::Busy { pid: Some(7), host: Some(host), .. } if host == "there"), "{error}");

        holder.set_len(0).unwrap();
        let asking = asks();
        std::thread::sleep(Duration::from_millis(20));
        holder.unlock().unwrap();
        let lock = asking.join().unwrap().unwrap();
        let written = || io::read_to_string(File::open(&path).unwrap()).unwrap();
        assert!(written().starts_with("{\"pid\":") && written().ends_with("}\n"), "{}", written());

        // A session that is deleted meanwhile takes its lock along: nobody is left with one on a file that is gone.
        lock.file.set_len(0).unwrap();
        let asking = asks();
        std::thread::sleep(Duration::from_millis(20));
        std::fs::remove_file(&path).unwrap();
        drop(lock);
        let lock = asking.join().unwrap().unwrap();
        assert!(written().starts_with("{\"pid\":"), "{}", written());
        drop(lock);
        assert!(written().is_empty());
    }
}
