//! A log in a folder of a file system.

use std::{
    fs::{self, File},
    io::{self, Read as _, Seek as _, SeekFrom},
    path::{Path, PathBuf},
};

use super::{
    Claim, Claimed, Store,
    blob_files::{BlobFiles, blob_names},
};
use crate::{
    Error,
    rollout::{Appended, BlobRef, Blobs as _, Draft, Durability, LogLock, LogWriter, Owner, SessionFolder, Sha256},
};

/// The log of a session in its folder. It writes only while it holds the lock of the operating system.
///
/// Files are readable for their owner only (0600, folders 0700), where the system has such rights.
///
/// # Example
/// ```
/// use session::{rollout::{Durability, Owner, SessionFolder, SessionMeta}, store::{FsStore, Store as _, create}};
///
/// # let temporary = tempfile::tempdir().unwrap();
/// # let path = temporary.path().join("s1");
/// let folder = SessionFolder::new(path);
/// let owner = Owner::this_process("build-7", 1_792_483_200_123);
/// let mut store = FsStore::new(folder.clone());
/// create(&mut store, &SessionMeta::new("s1"), &owner, Durability::Flush)?;
/// assert!(FsStore::new(folder).claim(session::store::Claim::Existing, &owner).unwrap_err().is_busy());
/// # Ok::<(), session::Error>(())
/// ```
#[derive(Debug)]
pub struct FsStore {
    folder: SessionFolder,
    reading: Option<File>,
    writer: Option<LogWriter>,
    blobs: BlobFiles,
}

impl FsStore {
    /// Names the folder; nothing is made or read.
    #[must_use]
    pub fn new(folder: SessionFolder) -> Self {
        Self { blobs: BlobFiles::new(folder.clone()), folder, reading: None, writer: None }
    }

    /// Names a session from which blobs are linked instead of written again: the parent of a fork.
    ///
    /// A link is proved to have the bytes that are due. Deleting the parent takes nothing from this session.
    #[must_use]
    pub fn linking_blobs_of(mut self, relative: SessionFolder) -> Self {
        self.blobs.add_relative(relative);
        self
    }

    /// The folder.
    #[must_use]
    pub const fn folder(&self) -> &SessionFolder {
        &self.folder
    }

    /// Lists the sessions in the folders right below `root`, in the order of their names: each folder with a log in it.
    /// There is no index, so folders that were copied from elsewhere are found like all others.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn sessions(root: &Path) -> Result<Vec<SessionFolder>, Error> {
        let failed = |source| Error::Io { action: "list", path: root.to_owned(), source };
        let mut found = Vec::new();
        for entry in fs::read_dir(root).map_err(failed)? {
            let folder = SessionFolder::new(entry.map_err(failed)?.path());
            if folder.log_path().is_file() || folder.compressed_log_path().is_file() {
                found.push(folder);
            }
        }
        found.sort_unstable_by(|one, other| one.path().cmp(other.path()));
        Ok(found)
    }

    /// Takes the log for one who holds its lock already, and has read it under that.
    pub(crate) fn claim_locked(&mut self, lock: LogLock) -> Result<Claimed, Error> {
        let (writer, report) = self.folder.claim_locked(lock)?;
        Ok(self.claimed(writer, report))
    }

    /// Appends lines that stand in the order of the format, numbered as they follow.
    pub(crate) fn append_lines(&mut self, lines: String, n_lines: u64) -> Result<(), Error> {
        self.writer()?.append_lines(lines, n_lines)
    }

    fn claimed(&mut self, writer: LogWriter, report: crate::rollout::RecoveryReport) -> Claimed {
        let next_ordinal = writer.next_ordinal();
        self.writer = Some(writer);
        Claimed { next_ordinal, report }
    }

    fn reading(&mut self) -> io::Result<&mut File> {
        match &mut self.reading {
            Some(file) => Ok(file),
            none => Ok(none.insert(File::open(self.folder.log_path())?)),
        }
    }

    fn failed(&self, action: &'static str) -> impl Fn(io::Error) -> Error + use<> {
        let path = self.folder.log_path();
        move |source| Error::Io { action, path: path.clone(), source }
    }

    fn writer(&mut self) -> Result<&mut LogWriter, Error> {
        let path = self.folder.log_path();
        self.writer.as_mut().ok_or(Error::Fenced { path, expected: None, found: None, holder: None })
    }
}

impl Store for FsStore {
    fn path(&self) -> PathBuf {
        self.folder.log_path()
    }

    fn claim(&mut self, claim: Claim, owner: &Owner) -> Result<Claimed, Error> {
        let (writer, report) = match claim {
            Claim::New => self.folder.claim_new(owner)?,
            Claim::Existing => self.folder.claim(owner)?,
        };
        Ok(self.claimed(writer, report))
    }

    fn append(
        &mut self,
        expected: u64,
        at_ms: i64,
        drafts: &[Draft],
        durability: Durability,
    ) -> Result<Appended, Error> {
        let writer = self.writer()?;
        let found = writer.next_ordinal();
        if found != expected {
            let path = writer.path().to_owned();
            return Err(Error::Fenced { path, expected: Some(expected), found: Some(found), holder: None });
        }
        writer.append(at_ms, drafts, durability)
    }

    fn sync(&mut self) -> Result<Appended, Error> {
        self.writer()?.sync()
    }

    fn len(&mut self) -> Result<u64, Error> {
        let failed = self.failed("measure");
        match self.reading().and_then(|file| file.metadata()) {
            Ok(metadata) => Ok(metadata.len()),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(0),
            Err(error) => Err(failed(error)),
        }
    }

    fn read(&mut self, offset: u64, bytes: &mut [u8]) -> Result<usize, Error> {
        let failed = self.failed("read");
        let file = self.reading().map_err(&failed)?;
        file.seek(SeekFrom::Start(offset)).and_then(|_| file.read(bytes)).map_err(failed)
    }

    fn put_blob(&mut self, sha256: Sha256, bytes: &[u8], durability: Durability) -> Result<(), Error> {
        self.writer()?;
        let path = self.folder.blob_path(sha256);
        self.blobs.put(sha256, bytes, durability).map_err(|source| Error::Io { action: "write blob", path, source })
    }

    fn blob(&mut self, sha256: Sha256) -> Result<Vec<u8>, Error> {
        let path = self.folder.blob_path(sha256);
        let len = path.metadata().map_err(|source| Error::Io { action: "read blob", path, source })?.len();
        let bytes = self.folder.read_blob(&BlobRef::new(0, len, sha256))?;
        if Sha256::of(&bytes) != sha256 {
            return Err(Error::BlobMismatch { sha256: sha256.to_string(), bytes: len });
        }
        Ok(bytes)
    }

    fn blobs(&mut self) -> Result<Vec<Sha256>, Error> {
        let failed = |source| Error::Io { action: "list", path: self.folder.blobs_path(), source };
        Ok(blob_names(&self.folder).map_err(failed)?.into_iter().map(|(sha256, _)| sha256).collect())
    }

    fn delete(self: Box<Self>, owner: &Owner) -> Result<(), Error> {
        let lock = self.writer.is_none().then_some(owner);
        crate::rollout::delete_folder(&self.folder, lock)
    }
}
