//! Packing the log of a session that is not used any more, and unpacking it.

use std::{
    fs::{self, File, OpenOptions},
    io::{self, Read},
    path::Path,
};

use super::{
    folder::SessionFolder,
    lock::{LogLock, Owner},
};
use crate::Error;

/// The level of the command `zstd`, at which a log takes about an eighth.
const LEVEL: i32 = 3;

/// Packs the log of a session with zstd. The log is removed only after the packed one was unpacked again, compared with it
/// byte for byte, and synced.
///
/// # Errors
/// [`Error::Busy`] while a writer holds the log, [`Error::PackMismatch`], [`Error::Io`]. The log stays as it was with any of
/// these.
pub fn pack(folder: &SessionFolder, owner: &Owner) -> Result<(), Error> {
    let (plain, packed) = (folder.log_path(), folder.compressed_log_path());
    let failed = |action, path: &Path| {
        let path = path.to_owned();
        move |source| Error::Io { action, path: path.clone(), source }
    };
    // Without a log no lock file is left where none was.
    let log = open_regular(&plain).map_err(failed("open", &plain))?;
    let _lock = LogLock::acquire(&folder.lock_path(), owner)?;
    let temporary = packed.with_extension("zst.tmp");
    let _left_over = Leftover(&temporary);
    let mut out = new_file(&temporary).map_err(failed("write", &temporary))?;
    zstd::stream::copy_encode(&log, &mut out, LEVEL).map_err(failed("pack", &plain))?;
    out.sync_all().map_err(failed("sync", &temporary))?;
    let unpacked = File::open(&temporary).and_then(zstd::Decoder::new).map_err(failed("unpack", &temporary))?;
    let again = File::open(&plain).map_err(failed("open", &plain))?;
    if !are_equal(unpacked, again).map_err(failed("compare", &temporary))? {
        return Err(Error::PackMismatch { path: temporary.clone() });
    }
    fs::rename(&temporary, &packed).map_err(failed("rename", &temporary))?;
    sync_folder(folder.path()).map_err(failed("sync", folder.path()))?;
    fs::remove_file(&plain).map_err(failed("delete", &plain))
}

/// Puts the log back, so that the session can be gone on with.
///
/// # Errors
/// [`Error::Busy`], [`Error::Exists`] if a plain log stands beside the packed one, [`Error::Io`]. The packed log stays as
/// it was with any of these.
pub fn unpack(folder: &SessionFolder, owner: &Owner) -> Result<(), Error> {
    let (plain, packed) = (folder.log_path(), folder.compressed_log_path());
    let failed = |action, path: &Path| {
        let path = path.to_owned();
        move |source| Error::Io { action, path: path.clone(), source }
    };
    let file = open_regular(&packed).map_err(failed("open", &packed))?;
    let _lock = LogLock::acquire(&folder.lock_path(), owner)?;
    if plain.exists() {
        return Err(Error::Exists { path: plain });
    }
    let temporary = plain.with_extension("jsonl.tmp");
    let _left_over = Leftover(&temporary);
    let mut out = new_file(&temporary).map_err(failed("write", &temporary))?;
    zstd::stream::copy_decode(file, &mut out).map_err(failed("unpack", &packed))?;
    out.sync_all().map_err(failed("sync", &temporary))?;
    fs::rename(&temporary, &plain).map_err(failed("rename", &temporary))?;
    sync_folder(folder.path()).map_err(failed("sync", folder.path()))?;
    fs::remove_file(&packed).map_err(failed("delete", &packed))
}

/// A file that goes away when this does, unless it has got its name by then.
struct Leftover<'a>(&'a Path);

impl Drop for Leftover<'_> {
    fn drop(&mut self) {
        let _removed = fs::remove_file(self.0);
    }
}

/// Opens what is there; a pipe would wait for a writer for ever.
fn open_regular(path: &Path) -> io::Result<File> {
    if !path.metadata()?.is_file() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "not a regular file"));
    }
    File::open(path)
}

/// What stands there is left over from a call that did not end, or a link that somebody put there: it is not written over.
fn new_file(path: &Path) -> io::Result<File> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}

fn are_equal(mut one: impl Read, mut other: impl Read) -> io::Result<bool> {
    let (mut left, mut right) = (vec![0; 64 * 1024], vec![0; 64 * 1024]);
    loop {
        let read = fill(&mut one, &mut left)?;
        if read != fill(&mut other, &mut right)? || left[..read] != right[..read] {
            return Ok(false);
        }
        if read == 0 {
            return Ok(true);
        }
    }
}

fn fill(from: &mut impl Read, bytes: &mut [u8]) -> io::Result<usize> {
    let mut filled = 0;
    while filled < bytes.len() {
        match from.read(&mut bytes[filled..]) {
            Ok(0) => break,
            Ok(read) => filled += read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(filled)
}

#[cfg(unix)]
fn sync_folder(folder: &Path) -> io::Result<()> {
    File::open(folder)?.sync_all()
}

/// Folders cannot be opened to be synced on other systems.
#[cfg(not(unix))]
fn sync_folder(_folder: &Path) -> io::Result<()> {
    Ok(())
}
