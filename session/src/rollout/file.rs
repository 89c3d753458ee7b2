//! The file that a log is written to. This module, the folder and the lock are the only ones that touch a file system.

use std::{
    fs::{File, OpenOptions},
    io::{self, Read as _, Seek as _, SeekFrom, Write as _},
    path::{Path, PathBuf},
};

/// What a writer needs of a file. [`FsLogFile`] is one on a disk; tests bring files that fail, cut and lie.
pub trait LogFile: Send {
    /// The length, in bytes.
    ///
    /// # Errors
    /// What the system says.
    fn len(&mut self) -> io::Result<u64>;

    /// Writes at the end, in one call; gives how many bytes were taken.
    ///
    /// # Errors
    /// What the system says.
    fn append(&mut self, bytes: &[u8]) -> io::Result<usize>;

    /// Cuts the file to `len` bytes.
    ///
    /// # Errors
    /// What the system says.
    fn cut(&mut self, len: u64) -> io::Result<()>;

    /// Waits until everything that was written survives a loss of power.
    ///
    /// # Errors
    /// What the system says.
    fn sync_data(&mut self) -> io::Result<()>;

    /// Reads into `bytes` from `offset` on; gives how many were read, 0 at the end.
    ///
    /// # Errors
    /// What the system says.
    fn read_at(&mut self, offset: u64, bytes: &mut [u8]) -> io::Result<usize>;

    /// Writes `bytes` over the bytes that stand at `offset`.
    ///
    /// # Errors
    /// What the system says.
    fn write_over(&mut self, offset: u64, bytes: &[u8]) -> io::Result<()>;

    /// Says that the file has no byte.
    ///
    /// # Errors
    /// What the system says.
    fn is_empty(&mut self) -> io::Result<bool> {
        self.len().map(|len| len == 0)
    }
}

/// A log file on a disk.
///
/// It is opened twice: to append, so that a stray second writer could fuse lines but never overwrite any, and to read and
/// to write over what a failed sync has left in doubt.
#[derive(Debug)]
pub struct FsLogFile {
    end: File,
    inside: File,
    path: PathBuf,
    /// The name of a new file is durable only once its folder is synced.
    name_synced: bool,
}

impl FsLogFile {
    /// Opens a file that is there.
    ///
    /// # Errors
    /// What the system says.
    pub fn open(path: &Path) -> io::Result<Self> {
        if !path.metadata()?.is_file() {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "not a regular file"));
        }
        Self::open_with(path, OpenOptions::new().append(true), true)
    }

    /// Makes a file, readable for its owner only where the system has such rights. An empty one may be there.
    ///
    /// # Errors
    /// What the system says.
    pub fn create(path: &Path) -> io::Result<Self> {
        // A pipe would wait for a reader for ever.
        if path.metadata().is_ok_and(|metadata| !metadata.is_file()) {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "not a regular file"));
        }
        let mut options = OpenOptions::new();
        options.append(true).create(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        Self::open_with(path, &options, false)
    }

    fn open_with(path: &Path, options: &OpenOptions, name_synced: bool) -> io::Result<Self> {
        let end = options.open(path)?;
        let inside = OpenOptions::new().read(true).write(true).open(path)?;
        Ok(Self { end, inside, path: path.to_owned(), name_synced })
    }

    /// The file for reading.
    pub(super) fn reader(&mut self) -> &mut File {
        &mut self.inside
    }

    #[cfg(unix)]
    fn sync_name(&self) -> io::Result<()> {
        let folder =
            self.path.parent().map(|folder| if folder.as_os_str().is_empty() { Path::new(".") } else { folder });
        let folders = [folder, folder.and_then(Path::parent).filter(|parent| !parent.as_os_str().is_empty())];
        folders.into_iter().flatten().try_for_each(|folder| File::open(folder)?.sync_all())
    }

    /// Folders cannot be opened to be synced on other systems.
    #[cfg(not(unix))]
    fn sync_name(&self) -> io::Result<()> {
        let _ = &self.path;
        Ok(())
    }
}

impl LogFile for FsLogFile {
    fn len(&mut self) -> io::Result<u64> {
        self.end.metadata().map(|metadata| metadata.len())
    }

    fn append(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.end.write(bytes)
    }

    fn cut(&mut self, len: u64) -> io::Result<()> {
        self.inside.set_len(len)
    }

    fn sync_data(&mut self) -> io::Result<()> {
        self.end.sync_data()?;
        if !self.name_synced {
            self.sync_name()?;
            self.name_synced = true;
        }
        Ok(())
    }

    fn read_at(&mut self, offset: u64, bytes: &mut [u8]) -> io::Result<usize> {
        self.inside.seek(SeekFrom::Start(offset))?;
        self.inside.read(bytes)
    }

    fn write_over(&mut self, offset: u64, bytes: &[u8]) -> io::Result<()> {
        self.inside.seek(SeekFrom::Start(offset))?;
        self.inside.write_all(bytes)
    }
}
