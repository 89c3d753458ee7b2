//! Blobs as files of a folder.

use std::{
    collections::HashMap,
    fs::{self, File, OpenOptions},
    io::{self, Read as _, Write as _},
    path::{Path, PathBuf},
};

use crate::rollout::{Durability, SessionFolder, Sha256};

/// The blobs of one session, as the one process that may write them knows them.
#[derive(Debug)]
pub(super) struct BlobFiles {
    folder: SessionFolder,
    /// What this process has made sure of.
    known: HashMap<Sha256, Durability>,
    /// Folders of sessions whose blobs may be linked instead of written.
    relatives: Vec<SessionFolder>,
}

impl BlobFiles {
    pub(super) fn new(folder: SessionFolder) -> Self {
        Self { folder, known: HashMap::new(), relatives: Vec::new() }
    }

    pub(super) fn add_relative(&mut self, relative: SessionFolder) {
        self.relatives.push(relative);
    }

    /// Makes sure that the blob is there at `durability`.
    ///
    /// The file gets its name only once it is whole. One that an earlier process has left is compared with `bytes`, because
    /// a loss of power may have left its name without its bytes.
    pub(super) fn put(&mut self, sha256: Sha256, bytes: &[u8], durability: Durability) -> io::Result<()> {
        let known = self.known.get(&sha256).copied();
        if known.is_some_and(|known| known >= durability) {
            return Ok(());
        }
        let path = self.folder.blob_path(sha256);
        if known.is_none() && !holds(&path, bytes)? {
            self.make_folder()?;
            let temporary = path.with_extension("tmp");
            if !self.link(sha256, bytes, &temporary)? {
                write_new(&temporary, bytes)?;
            }
            if durability == Durability::DataSync {
                File::open(&temporary)?.sync_data()?;
            }
            fs::rename(&temporary, &path)?;
        } else if durability == Durability::DataSync {
            // Linux keeps a failed write-back for the next sync of any handle, and the bytes were compared above.
            OpenOptions::new().write(true).open(&path)?.sync_data()?;
        }
        if durability == Durability::DataSync {
            self.sync_names()?;
        }
        self.known.insert(sha256, durability);
        Ok(())
    }

    /// Takes the file of a relative under `temporary`, if one has the same bytes and may be linked.
    fn link(&self, sha256: Sha256, bytes: &[u8], temporary: &Path) -> io::Result<bool> {
        for relative in &self.relatives {
            match fs::remove_file(temporary) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                _ => {}
            }
            // Where links are not possible, a copy is written from the bytes at hand.
            if fs::hard_link(relative.blob_path(sha256), temporary).is_ok() && holds(temporary, bytes)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn make_folder(&self) -> io::Result<()> {
        let mut folders = fs::DirBuilder::new();
        folders.recursive(true);
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut folders, 0o700);
        folders.create(self.folder.blobs_path())
    }

    #[cfg(unix)]
    fn sync_names(&self) -> io::Result<()> {
        File::open(self.folder.blobs_path())?.sync_all()?;
        File::open(self.folder.path())?.sync_all()
    }

    /// Folders cannot be opened to be synced on other systems.
    #[cfg(not(unix))]
    fn sync_names(&self) -> io::Result<()> {
        Ok(())
    }
}

/// Writes a file anew, readable for its owner only where the system has such rights.
fn write_new(path: &Path, bytes: &[u8]) -> io::Result<()> {
    // What a write that did not end has left may be a link to the blob of another session, so it is not written over.
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)?.write_all(bytes)
}

/// Says whether a file has these bytes; one that is not there has others.
fn holds(path: &Path, bytes: &[u8]) -> io::Result<bool> {
    let mut file = match File::open(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
        opened => opened?,
    };
    if file.metadata()?.len() != bytes.len() as u64 {
        return Ok(false);
    }
    let mut chunk = vec![0; 64 * 1024];
    let mut rest = bytes;
    loop {
        let read = file.read(&mut chunk)?;
        let Some(same) = rest.strip_prefix(&chunk[..read]) else { return Ok(false) };
        if read == 0 {
            return Ok(same.is_empty());
        }
        rest = same;
    }
}

/// The names of the blobs in a folder, in order. What is no blob is left out.
pub(crate) fn blob_names(folder: &SessionFolder) -> io::Result<Vec<(Sha256, PathBuf)>> {
    let entries = match fs::read_dir(folder.blobs_path()) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries?,
    };
    let mut names = Vec::new();
    for entry in entries {
        let entry = entry?;
        let sha256 = entry.file_name().to_str().and_then(Sha256::from_hex);
        names.extend(sha256.map(|sha256| (sha256, entry.path())));
    }
    names.sort_unstable();
    Ok(names)
}
