//! The disk of this machine; the only module of the crate that touches it.
#![expect(clippy::disallowed_methods, reason = "this is the module through which probes and reads go")]

use std::{
    fs::{self, File, Metadata},
    io::{self, Read as _},
    path::Path,
};

use super::FileSystem;
use crate::ask::{
    FileBytes, FileIdentity, FileKind, Found, Links, ProbeAnswer, ProbeAsk, Purpose, ReadAnswer, ReadAsk,
};

/// Reads the disk of this machine.
///
/// A candidate is opened once: its type, its size and its bytes come from that one handle, so nothing can be put
/// in its place between the check and the read. It is opened without waiting, so a pipe or a
/// device is seen for what it is and never read.
#[derive(Clone, Copy, Debug, Default)]
#[non_exhaustive]
pub struct HostFs;

impl HostFs {
    /// Makes the one there is.
    #[must_use]
    pub fn new() -> Self {
        Self
    }
}

/// A regular file that stays open between its probe and its read.
#[derive(Debug)]
pub struct OpenFile {
    file: File,
    size: u64,
    identity: Option<FileIdentity>,
}

impl FileSystem for HostFs {
    type Handle = OpenFile;

    fn probe(&self, ask: &ProbeAsk) -> (ProbeAnswer, Option<OpenFile>) {
        let path = ask.path();
        match ask.links() {
            Links::Follow if ask.purpose() == Purpose::Candidate => probe_open(path),
            Links::Follow => (answer(fs::metadata(path)), None),
            Links::Inspect => (answer(fs::symlink_metadata(path)), None),
            Links::Resolve => (probe_resolved(path), None),
        }
    }

    fn read(&self, ask: &ReadAsk, handle: Option<OpenFile>) -> ReadAnswer {
        let opened = match handle {
            Some(opened) => Ok(Ok(opened)),
            None => open_regular(ask.path()),
        };
        match opened {
            Ok(Ok(mut opened)) => match read_head(&mut opened, ask.max_bytes()) {
                Ok(head) => ReadAnswer::Bytes(head),
                Err(error) => ReadAnswer::from_error(&error),
            },
            Ok(Err(metadata)) => ReadAnswer::NotAFile(kind(&metadata)),
            Err(error) => ReadAnswer::from_error(&error),
        }
    }
}

/// Opens a path without waiting, and says what it is instead if it is no regular file.
fn open_regular(path: &Path) -> io::Result<Result<OpenFile, Metadata>> {
    if !flags::OPEN_NEVER_WAITS {
        let metadata = fs::metadata(path)?;
        if !metadata.is_file() {
            return Ok(Err(metadata));
        }
    }
    let file = open(path)?;
    let metadata = file.metadata()?;
    if !metadata.is_file() {
        return Ok(Err(metadata));
    }
    Ok(Ok(OpenFile { file, size: metadata.len(), identity: identity(&metadata) }))
}

/// Looks at a candidate by opening it, so that a file that is there costs no second lookup.
fn probe_open(path: &Path) -> (ProbeAnswer, Option<OpenFile>) {
    if !flags::OPEN_NEVER_WAITS {
        return (answer(fs::metadata(path)), None);
    }
    match open(path).and_then(|file| Ok((file.metadata()?, file))) {
        Ok((metadata, file)) => {
            let found = found(&metadata);
            let opened = OpenFile { file, size: found.size, identity: found.identity };
            let handle = metadata.is_file().then_some(opened);
            (ProbeAnswer::Found(found), handle)
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => (ProbeAnswer::Absent, None),
        // What may not be opened may still be looked at: a folder without permissions is a folder.
        Err(_) => (answer(fs::metadata(path)), None),
    }
}

fn probe_resolved(path: &Path) -> ProbeAnswer {
    let resolved = fs::metadata(path).and_then(|metadata| {
        let mut found = found(&metadata);
        found.resolved = Some(fs::canonicalize(path)?);
        found.is_link = fs::symlink_metadata(path)?.is_symlink();
        Ok(found)
    });
    match resolved {
        Ok(found) => ProbeAnswer::Found(found),
        Err(error) => ProbeAnswer::from_error(&error),
    }
}

fn answer(metadata: io::Result<Metadata>) -> ProbeAnswer {
    match metadata {
        Ok(metadata) => ProbeAnswer::Found(found(&metadata)),
        Err(error) => ProbeAnswer::from_error(&error),
    }
}

fn found(metadata: &Metadata) -> Found {
    Found {
        modified: metadata.modified().ok(),
        identity: identity(metadata),
        is_link: metadata.is_symlink(),
        ..Found::new(kind(metadata), metadata.len())
    }
}

fn kind(metadata: &Metadata) -> FileKind {
    if metadata.is_file() {
        FileKind::File
    } else if metadata.is_dir() {
        FileKind::Folder
    } else {
        FileKind::Other
    }
}

#[cfg(unix)]
fn identity(metadata: &Metadata) -> Option<FileIdentity> {
    use std::os::unix::fs::MetadataExt as _;
    Some(FileIdentity { volume: metadata.dev(), file: metadata.ino() })
}

#[cfg(not(unix))]
fn identity(_: &Metadata) -> Option<FileIdentity> {
    None
}

#[cfg(unix)]
fn open(path: &Path) -> io::Result<File> {
    use std::os::unix::fs::OpenOptionsExt as _;
    File::options().read(true).custom_flags(flags::NEVER_WAIT).open(path)
}

#[cfg(not(unix))]
fn open(path: &Path) -> io::Result<File> {
    File::open(path)
}

/// `O_NONBLOCK | O_NOCTTY`, written out because the standard library does not name them and a
/// dependency for two numbers is too much. Tested by opening a pipe that has no writer.
mod flags {
    #[cfg(all(
        any(target_os = "linux", target_os = "android"),
        any(
            target_arch = "x86",
            target_arch = "x86_64",
            target_arch = "arm",
            target_arch = "aarch64",
            target_arch = "riscv64",
            target_arch = "loongarch64",
            target_arch = "powerpc64",
            target_arch = "s390x",
        )
    ))]
    pub(super) const NEVER_WAIT: i32 = 0o4000 | 0o400;

    #[cfg(target_vendor = "apple")]
    pub(super) const NEVER_WAIT: i32 = 0x4 | 0x20000;

    #[cfg(not(any(
        target_vendor = "apple",
        all(
            any(target_os = "linux", target_os = "android"),
            any(
                target_arch = "x86",
                target_arch = "x86_64",
                target_arch = "arm",
                target_arch = "aarch64",
                target_arch = "riscv64",
                target_arch = "loongarch64",
                target_arch = "powerpc64",
                target_arch = "s390x",
            )
        )
    )))]
    pub(super) const NEVER_WAIT: i32 = 0;

    /// Where it is false, a path is looked at before it is opened, and only a regular file is opened.
    pub(super) const OPEN_NEVER_WAITS: bool = NEVER_WAIT != 0;
}

/// Reads at most `max_bytes`, whatever the size is, and asks the system no more often than it must.
fn read_head(opened: &mut OpenFile, max_bytes: usize) -> io::Result<FileBytes> {
    const MAX_FIRST_BUFFER: usize = 1 << 20;
    let size = opened.size;
    // One byte more than the size shows that the file has not grown.
    let wanted = usize::try_from(size).map_or(usize::MAX, |size| size.saturating_add(1));
    let mut bytes = vec![0; wanted.min(max_bytes).clamp(1, MAX_FIRST_BUFFER)];
    let mut n_read = 0;
    let is_complete = loop {
        if n_read >= max_bytes {
            break n_read as u64 >= size;
        }
        if n_read == bytes.len() {
            bytes.resize(bytes.len().saturating_mul(2).min(max_bytes), 0);
        }
        match opened.file.read(&mut bytes[n_read..]) {
            Ok(0) => break true,
            Ok(n) => n_read += n,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
        // A short read that gave exactly the size is the end. A size of 0 says nothing, because
        // files that the kernel makes up report it.
        if n_read as u64 == size && n_read < bytes.len() {
            break true;
        }
    };
    bytes.truncate(n_read);
    Ok(FileBytes { bytes, size, is_complete, identity: opened.identity })
}
