//! What a plan asks of a file system, and what a file system answers.

use std::{
    error, fmt, io,
    path::{Path, PathBuf},
    sync::Arc,
    time::SystemTime,
};

use serde::Serialize;

/// Why a path is probed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Purpose {
    /// Its existence, as anything, makes its folder the root of the project.
    Marker,
    /// The root itself; only its resolved path matters.
    Root,
    /// It may hold instructions and is likely to be read next.
    Candidate,
    /// It was looked at before, and only whether it has changed matters.
    Check,
    /// Nothing will be loaded from it; a person wants to know why not.
    Diagnosis,
}

/// What a probe must find out about symbolic links.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Links {
    /// Nothing: links are followed.
    #[default]
    Follow,
    /// Whether the last component is a link; it is not followed.
    Inspect,
    /// Where the path leads when every link in it is followed, and whether the last component is one.
    Resolve,
}

/// One path to look at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProbeAsk {
    pub(crate) slot: usize,
    pub(crate) environment: Option<Arc<str>>,
    pub(crate) path: PathBuf,
    pub(crate) purpose: Purpose,
    pub(crate) links: Links,
}

impl ProbeAsk {
    /// The number by which a [`ReadAsk`] refers to this probe, unique in one discovery.
    #[must_use]
    pub fn slot(&self) -> usize {
        self.slot
    }

    /// The environment whose file system must answer; none for the user's own folder.
    #[must_use]
    pub fn environment(&self) -> Option<&str> {
        self.environment.as_deref()
    }

    /// The path to look at.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Why it is looked at.
    #[must_use]
    pub fn purpose(&self) -> Purpose {
        self.purpose
    }

    /// What must be found out about links.
    #[must_use]
    pub fn links(&self) -> Links {
        self.links
    }
}

/// One file to read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReadAsk {
    pub(crate) slot: usize,
    pub(crate) environment: Option<Arc<str>>,
    pub(crate) path: PathBuf,
    pub(crate) max_bytes: usize,
}

impl ReadAsk {
    /// The [`ProbeAsk::slot`] of the probe that found this file.
    #[must_use]
    pub fn slot(&self) -> usize {
        self.slot
    }

    /// The environment whose file system must answer; none for the user's own folder.
    #[must_use]
    pub fn environment(&self) -> Option<&str> {
        self.environment.as_deref()
    }

    /// The path to open: the probed one, or what it resolved to where links are checked.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// How many bytes may be read, whatever the size of the file.
    #[must_use]
    pub fn max_bytes(&self) -> usize {
        self.max_bytes
    }
}

/// What a path is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum FileKind {
    /// A regular file.
    File,
    /// A folder.
    Folder,
    /// A pipe, a device, a socket, or a link that was not followed.
    Other,
}

impl fmt::Display for FileKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::File => "a file",
            Self::Folder => "a folder",
            Self::Other => "a pipe, device, socket or link",
        })
    }
}

/// The file behind a path: equal for two paths that lead to the same file.
///
/// A file system that answers for several machines gives each machine volumes of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[expect(clippy::exhaustive_structs, reason = "a device and an inode: there is no third part")]
pub struct FileIdentity {
    /// The device or volume.
    pub volume: u64,
    /// The inode or file number on it.
    pub file: u64,
}

/// What a probe found at a path.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Found {
    /// What it is.
    pub kind: FileKind,
    /// Its size in bytes.
    pub size: u64,
    /// When it was last changed, where the file system knows.
    pub modified: Option<SystemTime>,
    /// Which file it is, where the file system knows.
    pub identity: Option<FileIdentity>,
    /// Whether the last component is a symbolic link ([`Links::Inspect`] and [`Links::Resolve`] only).
    pub is_link: bool,
    /// Where the path leads ([`Links::Resolve`] only).
    pub resolved: Option<PathBuf>,
}

impl Found {
    /// Describes something of this kind and size about which nothing else is known.
    #[must_use]
    pub fn new(kind: FileKind, size: u64) -> Self {
        Self { kind, size, modified: None, identity: None, is_link: false, resolved: None }
    }

    pub(crate) fn is_file(&self) -> bool {
        self.kind == FileKind::File
    }
}

/// What the system said when a path could not be looked at or read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    kind: io::ErrorKind,
    message: String,
}

impl Failure {
    /// Records a failure that did not come from an [`io::Error`].
    #[must_use]
    pub fn new(kind: io::ErrorKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into() }
    }

    /// The kind of the system's error.
    #[must_use]
    pub fn kind(&self) -> io::ErrorKind {
        self.kind
    }
}

impl From<&io::Error> for Failure {
    fn from(error: &io::Error) -> Self {
        Self::new(error.kind(), error.to_string())
    }
}

impl From<io::ErrorKind> for Failure {
    fn from(kind: io::ErrorKind) -> Self {
        Self::new(kind, kind.to_string())
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl error::Error for Failure {}

/// The answer to a [`ProbeAsk`].
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "hosts make answers, and a plan must know each one")]
pub enum ProbeAnswer {
    /// Something is there.
    Found(Found),
    /// Nothing is there.
    Absent,
    /// The system refused to say.
    Denied(Failure),
    /// It could not be found out.
    Failed(Failure),
}

impl ProbeAnswer {
    /// Sorts an error of the system into absent, denied and failed.
    #[must_use]
    pub fn from_error(error: &io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::NotFound => Self::Absent,
            io::ErrorKind::PermissionDenied => Self::Denied(error.into()),
            _ => Self::Failed(error.into()),
        }
    }

    /// What was found, if something was.
    #[must_use]
    pub fn found(&self) -> Option<&Found> {
        match self {
            Self::Found(found) => Some(found),
            _ => None,
        }
    }
}

/// The first bytes of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct FileBytes {
    /// At most [`ReadAsk::max_bytes`] bytes from the start of the file.
    pub bytes: Vec<u8>,
    /// The size of the whole file in bytes, as the system gave it when the file was opened.
    pub size: u64,
    /// Whether `bytes` is the whole file.
    pub is_complete: bool,
    /// Which file was opened, where the file system knows.
    pub identity: Option<FileIdentity>,
}

impl FileBytes {
    /// Describes a whole file.
    #[must_use]
    pub fn whole(bytes: Vec<u8>) -> Self {
        Self { size: bytes.len() as u64, bytes, is_complete: true, identity: None }
    }

    /// Describes the head of a file of `size` bytes.
    #[must_use]
    pub fn head(bytes: Vec<u8>, size: u64) -> Self {
        Self { is_complete: bytes.len() as u64 >= size, size, bytes, identity: None }
    }
}

/// The answer to a [`ReadAsk`].
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "hosts make answers, and a plan must know each one")]
pub enum ReadAnswer {
    /// The file was read.
    Bytes(FileBytes),
    /// It was deleted since the probe.
    Vanished,
    /// It is no regular file any more.
    NotAFile(FileKind),
    /// The system refused.
    Denied(Failure),
    /// It could not be read.
    Failed(Failure),
}

impl ReadAnswer {
    /// Sorts an error of the system into vanished, denied and failed.
    #[must_use]
    pub fn from_error(error: &io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::NotFound => Self::Vanished,
            io::ErrorKind::PermissionDenied => Self::Denied(error.into()),
            _ => Self::Failed(error.into()),
        }
    }
}
