//! Deleting a session.

use std::{fs, io, path::Path};

use super::{
    folder::SessionFolder,
    lock::{LogLock, Owner},
};
use crate::Error;

/// What was left of a session's folder after it was deleted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(clippy::exhaustive_enums, reason = "a folder is there or it is not")]
pub enum FolderLeft {
    /// Nothing.
    Gone,
    /// The folder: it holds files that are none of the session's.
    WithOtherFiles,
}

/// Deletes a session: the log first, so that what is left after a crash is no session any more, then its blobs, its lock
/// and its folder. Files that are not the session's stay.
///
/// Blobs that other sessions have linked stay with them, and so does all that a symbolic link leads to.
///
/// # Errors
/// [`Error::Busy`] while a writer holds the log, and [`Error::Io`] for a folder that is a symbolic link: nothing was deleted.
/// [`Error::Io`].
pub fn delete(folder: &SessionFolder, owner: &Owner) -> Result<FolderLeft, Error> {
    if !folder.log_path().is_file() && !folder.compressed_log_path().is_file() {
        let source = io::ErrorKind::NotFound.into();
        return Err(Error::Io { action: "delete", path: folder.log_path(), source });
    }
    if folder.path().is_symlink() {
        let source = io::Error::new(io::ErrorKind::InvalidInput, "a link: name the folder that it leads to");
        return Err(Error::Io { action: "delete", path: folder.path().to_owned(), source });
    }
    let lock = LogLock::acquire(&folder.lock_path(), owner)?;
    let left = remove(folder)?;
    drop(lock);
    Ok(left)
}

/// The same for a store; without an owner, the caller holds the lock.
pub(crate) fn delete_folder(folder: &SessionFolder, owner: Option<&Owner>) -> Result<(), Error> {
    match owner {
        Some(owner) => delete(folder, owner),
        None => remove(folder),
    }
    .map(drop)
}

fn remove(folder: &SessionFolder) -> Result<FolderLeft, Error> {
    for path in [folder.log_path(), folder.compressed_log_path()] {
        remove_file(&path)?;
    }
    let blobs = folder.blobs_path();
    // What a link leads to may be the blobs of other sessions; they stay, and so does the link.
    if blobs.is_dir() && !blobs.is_symlink() {
        let failed = |source| Error::Io { action: "delete", path: blobs.clone(), source };
        for entry in fs::read_dir(&blobs).map_err(failed)? {
            let path = entry.map_err(failed)?.path();
            let is_blob = path.file_stem().and_then(|stem| stem.to_str()).is_some_and(|stem| {
                super::Sha256::from_hex(stem).is_some() && path.extension().is_none_or(|extension| extension == "tmp")
            });
            if is_blob {
                remove_file(&path)?;
            }
        }
        remove_folder(&blobs)?;
    }
    remove_file(&folder.lock_path())?;
    remove_folder(folder.path())
}

fn remove_file(path: &Path) -> Result<(), Error> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            Err(Error::Io { action: "delete", path: path.to_owned(), source: error })
        }
        _ => Ok(()),
    }
}

fn remove_folder(path: &Path) -> Result<FolderLeft, Error> {
    match fs::remove_dir(path) {
        Ok(()) => Ok(FolderLeft::Gone),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(FolderLeft::Gone),
        Err(error) if error.kind() == io::ErrorKind::DirectoryNotEmpty => Ok(FolderLeft::WithOtherFiles),
        Err(source) => Err(Error::Io { action: "delete", path: path.to_owned(), source }),
    }
}
