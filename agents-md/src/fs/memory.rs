//! A file system in memory, for tests of this crate and of its users.

use std::{
    collections::BTreeMap,
    io,
    path::{Component, Path, PathBuf},
    sync::{Mutex, PoisonError},
    time::{Duration, SystemTime},
};

use super::FileSystem;
use crate::{
    ask::{FileBytes, FileIdentity, FileKind, Found, Links, ProbeAnswer, ProbeAsk, ReadAnswer, ReadAsk},
    outcome::Operation,
};

const MAX_LINKS: usize = 40;

#[derive(Clone, Debug)]
enum Node {
    File { bytes: Vec<u8>, size: u64 },
    Folder,
    Link(PathBuf),
    Other,
}

/// A node and its number, which no other node has.
#[derive(Clone, Debug)]
struct Entry {
    file: u64,
    node: Node,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fault {
    /// The path and everything below it may not be looked at.
    DenyBelow,
    ProbeFails(io::ErrorKind),
    ReadFails(io::ErrorKind),
}

/// One thing that was asked of a [`MemoryFs`].
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "an operation, whose, and its object")]
pub struct Access {
    /// What was tried.
    pub op: Operation,
    /// For which environment; none for the user's own folder.
    pub environment: Option<String>,
    /// On which path.
    pub path: PathBuf,
}

/// A file system in memory that can hold what a real one holds, and fail as one fails.
///
/// Paths are absolute; folders above an entry are made with it. Every entry is a file of its own
/// (see [`FileIdentity`]) unless it is a link.
///
/// # Example
/// ```
/// use agents_md::{Discovery, Inputs, MemoryFs, discover_blocking};
///
/// let fs = MemoryFs::new()
///     .with_folder("/r/.git")
///     .with_file("/r/AGENTS.md", "Use tabs.")
///     .with_vanishing("/r/app/AGENTS.md");
/// let loaded = discover_blocking(&Discovery::default(), &Inputs::local("/r/app"), &fs)?;
/// assert_eq!(loaded.text(), "Use tabs.");
/// # Ok::<(), agents_md::Error>(())
/// ```
#[derive(Debug, Default)]
pub struct MemoryFs {
    nodes: BTreeMap<PathBuf, Entry>,
    n_entries: u64,
    has_links: bool,
    faults: Vec<(PathBuf, Fault)>,
    log: Mutex<Vec<Access>>,
}

impl MemoryFs {
    /// Makes an empty one.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a regular file.
    #[must_use]
    pub fn with_file(self, path: impl Into<PathBuf>, bytes: impl Into<Vec<u8>>) -> Self {
        let bytes = bytes.into();
        let size = bytes.len() as u64;
        self.with(path.into(), Node::File { bytes, size })
    }

    /// Adds a file of `size` zero bytes that takes no memory.
    #[must_use]
    pub fn with_sparse_file(self, path: impl Into<PathBuf>, size: u64) -> Self {
        let bytes = Vec::new();
        self.with(path.into(), Node::File { bytes, size })
    }

    /// Adds a folder.
    #[must_use]
    pub fn with_folder(self, path: impl Into<PathBuf>) -> Self {
        self.with(path.into(), Node::Folder)
    }

    /// Adds a symbolic link; a relative target starts at the link's folder.
    #[must_use]
    pub fn with_link(self, path: impl Into<PathBuf>, target: impl Into<PathBuf>) -> Self {
        self.with(path.into(), Node::Link(target.into()))
    }

    /// Adds something that is neither file nor folder: a pipe, a device, a socket.
    #[must_use]
    pub fn with_other(self, path: impl Into<PathBuf>) -> Self {
        self.with(path.into(), Node::Other)
    }

    /// Adds a file that is there when it is probed and gone when it is read.
    #[must_use]
    pub fn with_vanishing(self, path: impl Into<PathBuf>) -> Self {
        let path = path.into();
        self.with_file(path.clone(), "gone").failing_read(path, io::ErrorKind::NotFound)
    }

    /// Makes a path, and everything below it, impossible to look at.
    #[must_use]
    pub fn denying(mut self, path: impl Into<PathBuf>) -> Self {
        self.faults.push((path.into(), Fault::DenyBelow));
        self
    }

    /// Makes every probe of a path fail.
    #[must_use]
    pub fn failing_probe(mut self, path: impl Into<PathBuf>, kind: io::ErrorKind) -> Self {
        self.faults.push((path.into(), Fault::ProbeFails(kind)));
        self
    }

    /// Makes every read of a path fail.
    #[must_use]
    pub fn failing_read(mut self, path: impl Into<PathBuf>, kind: io::ErrorKind) -> Self {
        self.faults.push((path.into(), Fault::ReadFails(kind)));
        self
    }

    /// Everything that was asked so far, in order.
    #[must_use]
    pub fn accesses(&self) -> Vec<Access> {
        self.log.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn with(mut self, path: PathBuf, node: Node) -> Self {
        let mut above = path.parent();
        while let Some(folder) = above
            && !self.nodes.contains_key(folder)
        {
            self.insert(folder.to_owned(), Node::Folder);
            above = folder.parent();
        }
        self.insert(path, node);
        self
    }

    fn insert(&mut self, path: PathBuf, node: Node) {
        self.n_entries += 1;
        self.has_links |= matches!(node, Node::Link(_));
        self.nodes.insert(path, Entry { file: self.n_entries, node });
    }

    fn note(&self, op: Operation, environment: Option<&str>, path: &Path) {
        let access = Access { op, environment: environment.map(str::to_owned), path: path.to_owned() };
        self.log.lock().unwrap_or_else(PoisonError::into_inner).push(access);
    }

    fn check_faults(&self, path: &Path, op: Operation) -> io::Result<()> {
        for (at, fault) in &self.faults {
            match fault {
                Fault::DenyBelow if path.starts_with(at) => {
                    return Err(io::ErrorKind::PermissionDenied.into());
                }
                Fault::ProbeFails(kind) if op == Operation::Probe && path == at => {
                    return Err((*kind).into());
                }
                Fault::ReadFails(kind) if op == Operation::Read && path == at => {
                    return Err((*kind).into());
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// Follows every link on the way, and the last component too if `last` says so.
    fn resolve(&self, path: &Path, last: Last) -> io::Result<(PathBuf, &Entry)> {
        // Without a link anywhere, no path leads elsewhere than its name says, and one look is enough.
        if !self.has_links && path.components().all(|part| matches!(part, Component::Normal(_) | Component::RootDir)) {
            if let Some(entry) = self.nodes.get(path) {
                return Ok((path.to_owned(), entry));
            }
            let is_below_file = |folder: &Path| match self.nodes.get(folder).map(|entry| &entry.node) {
                Some(Node::Folder) => Some(false),
                Some(_) => Some(true),
                None => None,
            };
            let nearest = path.ancestors().skip(1).find_map(is_below_file);
            let kind = if nearest == Some(true) { io::ErrorKind::NotADirectory } else { io::ErrorKind::NotFound };
            return Err(kind.into());
        }
        let mut todo: Vec<PathBuf> = components(path);
        let mut here = PathBuf::new();
        let mut n_links = 0;
        while let Some(component) = todo.pop() {
            if component == Path::new("..") {
                here.pop();
                continue;
            }
            here.push(&component);
            match self.nodes.get(&here).map(|entry| &entry.node) {
                Some(Node::Link(target)) if !todo.is_empty() || last == Last::Follow => {
                    n_links += 1;
                    if n_links > MAX_LINKS {
                        return Err(io::Error::other("too many levels of symbolic links"));
                    }
                    here.pop();
                    todo.extend(components(target));
                }
                Some(Node::Folder | Node::Link(_)) => {}
                Some(_) if todo.is_empty() => {}
                Some(_) => return Err(io::ErrorKind::NotADirectory.into()),
                None => return Err(io::ErrorKind::NotFound.into()),
            }
        }
        let entry = self.nodes.get(&here).ok_or(io::ErrorKind::NotFound)?;
        Ok((here, entry))
    }

    fn look(&self, path: &Path, links: Links) -> io::Result<Found> {
        self.check_faults(path, Operation::Probe)?;
        let last = match links {
            Links::Inspect => Last::Keep,
            Links::Follow | Links::Resolve => Last::Follow,
        };
        let (resolved, entry) = self.resolve(path, last)?;
        let (kind, size) = match &entry.node {
            Node::File { size, .. } => (FileKind::File, *size),
            Node::Folder => (FileKind::Folder, 0),
            Node::Link(_) | Node::Other => (FileKind::Other, 0),
        };
        Ok(Found {
            modified: Some(SystemTime::UNIX_EPOCH + Duration::from_secs(1)),
            identity: Some(FileIdentity { volume: 1, file: entry.file }),
            is_link: self.is_link(path, links),
            resolved: (links == Links::Resolve).then_some(resolved),
            ..Found::new(kind, size)
        })
    }

    /// Whether the last component is a link, where that was asked for.
    fn is_link(&self, path: &Path, links: Links) -> bool {
        links != Links::Follow
            && self.resolve(path, Last::Keep).is_ok_and(|(_, entry)| matches!(entry.node, Node::Link(_)))
    }

    fn take(&self, path: &Path, max_bytes: usize) -> io::Result<ReadAnswer> {
        self.check_faults(path, Operation::Read)?;
        let (_, entry) = self.resolve(path, Last::Follow)?;
        let mut head = match &entry.node {
            Node::File { bytes, size } => {
                let n_bytes = usize::try_from(*size).map_or(max_bytes, |size| size.min(max_bytes));
                let mut head = bytes[..bytes.len().min(n_bytes)].to_vec();
                head.resize(n_bytes, 0);
                FileBytes::head(head, *size)
            }
            Node::Folder => return Ok(ReadAnswer::NotAFile(FileKind::Folder)),
            Node::Link(_) | Node::Other => return Ok(ReadAnswer::NotAFile(FileKind::Other)),
        };
        head.identity = Some(FileIdentity { volume: 1, file: entry.file });
        Ok(ReadAnswer::Bytes(head))
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Last {
    Follow,
    Keep,
}

/// The components of a path, the first one last, so that they can be taken off the end.
fn components(path: &Path) -> Vec<PathBuf> {
    path.components()
        .rev()
        .filter(|component| *component != Component::CurDir)
        .map(|component| PathBuf::from(component.as_os_str()))
        .collect()
}

impl FileSystem for MemoryFs {
    type Handle = ();

    fn probe(&self, ask: &ProbeAsk) -> (ProbeAnswer, Option<()>) {
        self.note(Operation::Probe, ask.environment(), ask.path());
        let answer = match self.look(ask.path(), ask.links()) {
            Ok(found) => ProbeAnswer::Found(found),
            Err(error) => ProbeAnswer::from_error(&error),
        };
        (answer, None)
    }

    fn read(&self, ask: &ReadAsk, _: Option<()>) -> ReadAnswer {
        self.note(Operation::Read, ask.environment(), ask.path());
        self.take(ask.path(), ask.max_bytes()).unwrap_or_else(|error| ReadAnswer::from_error(&error))
    }
}

#[cfg(feature = "tokio")]
#[async_trait::async_trait]
impl super::RemoteFileSystem for MemoryFs {
    async fn probe(&self, asks: &[ProbeAsk]) -> Vec<ProbeAnswer> {
        asks.iter().map(|ask| FileSystem::probe(self, ask).0).collect()
    }

    async fn read(&self, asks: &[ReadAsk]) -> Vec<ReadAnswer> {
        asks.iter().map(|ask| FileSystem::read(self, ask, None)).collect()
    }
}
