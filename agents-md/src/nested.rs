//! Instruction files of folders that tools reach while the agent works.

use std::{
    collections::BTreeSet,
    path::{Path, PathBuf},
    sync::Arc,
};

use context_fragments::NestedInstructions;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

#[cfg(feature = "tokio")]
use crate::fs::RemoteFileSystem;
use crate::{
    discover::drive_blocking,
    discovery::Discovery,
    document::{InstructionEntry, LoadedAgentsMd},
    error::Error,
    explain::flat,
    fs::FileSystem,
    inputs::Inputs,
    plan::Plan,
    provenance::InstructionProvenance,
    trace::Trace,
    warning::Warning,
};

/// The folders that tools have reached, and which of their files the model has been shown in this window.
///
/// It is a value: a host keeps it beside its conversation and writes it into its log. What is restored are folders and
/// paths, never contents; those are read again.
///
/// # Shape
/// Serialised: `targets` and `shown`, each a sorted list of `[environment, path]`. A path that is not UTF-8 is left out, so
/// after a restart its folder counts as not reached.
///
/// # Example
/// ```
/// use agents_md::{Discovery, Inputs, MemoryFs, NestedTargets, discover_blocking, load_nested_blocking};
///
/// let fs = MemoryFs::new()
///     .with_folder("/r/.git")
///     .with_file("/r/web/AGENTS.md", "Use spaces.")
///     .with_file("/r/api/AGENTS.md", "Use tabs.");
/// let (discovery, inputs) = (Discovery::default(), Inputs::local("/r"));
/// let startup = discover_blocking(&discovery, &inputs, &fs)?;
///
/// let mut targets = NestedTargets::new();
/// assert!(targets.touch("local", "/r/web/src/index.ts"));
/// let nested = load_nested_blocking(&discovery, &inputs, &startup, &targets, &fs)?;
/// assert_eq!(targets.take_new(&nested).len(), 1); // that of /r/web; /r/api was not reached
/// assert!(targets.take_new(&nested).is_empty()); // once in a window
/// # Ok::<(), agents_md::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NestedTargets {
    targets: BTreeSet<(Arc<str>, PathBuf)>,
    shown: BTreeSet<(Arc<str>, PathBuf)>,
    revision: u64,
}

impl NestedTargets {
    /// Starts with nothing reached.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Notes that a tool has reached a file, by its absolute path; says whether its folder is a new one.
    ///
    /// `.` and `..` are taken out by name. A path that is not absolute is passed over.
    pub fn touch(&mut self, environment: &str, file: impl AsRef<Path>) -> bool {
        file.as_ref().parent().is_some_and(|folder| self.touch_folder(environment, folder))
    }

    /// Notes that a tool has reached a folder, by its absolute path; says whether it is a new one.
    pub fn touch_folder(&mut self, environment: &str, folder: impl AsRef<Path>) -> bool {
        let folder = flat(folder.as_ref());
        let is_new = folder.has_root() && self.targets.insert((environment.into(), folder));
        self.revision += u64::from(is_new);
        is_new
    }

    /// How often something new was reached; a host that remembers it need not load again while it stands.
    #[must_use]
    pub fn revision(&self) -> u64 {
        self.revision
    }

    /// The folders that were reached, each with its environment.
    pub fn targets(&self) -> impl Iterator<Item = (&str, &Path)> {
        self.targets.iter().map(|(environment, folder)| (environment.as_ref(), folder.as_path()))
    }

    /// The entries that the model was not shown in this window; from now on they count as shown.
    pub fn take_new(&mut self, nested: &NestedLoaded) -> Vec<InstructionEntry> {
        let entries = nested.entries().iter();
        let is_new = |entry: &&InstructionEntry| match entry.provenance() {
            InstructionProvenance::Project { environment_id, source_path, .. } => {
                self.shown.insert((Arc::clone(environment_id), source_path.clone()))
            }
            InstructionProvenance::Internal => true,
        };
        entries.filter(is_new).cloned().collect()
    }

    /// Begins a new window, as after a compaction: everything that was reached has to be shown again.
    pub fn begin_window(&mut self) {
        self.shown.clear();
    }

    /// The folders to search for one environment, the highest first: those between the root and each target that the
    /// start did not search.
    pub(crate) fn folders(&self, environment: &str, top: &Path, cwd: &Path) -> BTreeSet<PathBuf> {
        let is_of = |(id, folder): &&(Arc<str>, PathBuf)| id.as_ref() == environment && folder.starts_with(top);
        let mut folders = BTreeSet::new();
        for (_, target) in self.targets.iter().filter(is_of) {
            let above = target.ancestors().take_while(|folder| *folder != top);
            folders.extend(above.filter(|folder| !cwd.starts_with(folder)).map(Path::to_owned));
        }
        folders
    }
}

/// How [`NestedTargets`] are written.
#[derive(Serialize, Deserialize)]
struct Written {
    targets: Vec<(Arc<str>, String)>,
    #[serde(default)]
    shown: Vec<(Arc<str>, String)>,
}

impl Serialize for NestedTargets {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let write = |set: &BTreeSet<(Arc<str>, PathBuf)>| {
            set.iter().filter_map(|(id, path)| Some((Arc::clone(id), path.to_str()?.to_owned()))).collect()
        };
        Written { targets: write(&self.targets), shown: write(&self.shown) }.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for NestedTargets {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let Written { targets, shown } = Written::deserialize(deserializer)?;
        let read = |list: Vec<(Arc<str>, String)>| {
            list.into_iter().map(|(id, path)| (id, flat(Path::new(&path)))).filter(|(_, path)| path.has_root())
        };
        let targets: BTreeSet<_> = read(targets).collect();
        Ok(Self { revision: u64::from(!targets.is_empty()), targets, shown: read(shown).collect() })
    }
}

/// The instruction files of the folders that were reached.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NestedLoaded(LoadedAgentsMd);

impl NestedLoaded {
    #[cfg(feature = "tokio")]
    pub(crate) fn new(loaded: LoadedAgentsMd) -> Self {
        Self(loaded)
    }

    /// The texts, each environment's from the root down.
    #[must_use]
    pub fn entries(&self) -> &[InstructionEntry] {
        self.0.entries()
    }

    /// What became of every path that was probed.
    #[must_use]
    pub fn trace(&self) -> &Trace {
        self.0.trace()
    }

    /// What the user should be told.
    #[must_use]
    pub fn warnings(&self) -> &[Warning] {
        self.0.warnings()
    }

    /// One fragment for each entry, named by the folder that its file lies in.
    pub fn fragments(entries: &[InstructionEntry]) -> impl Iterator<Item = NestedInstructions> {
        entries.iter().filter_map(|entry| {
            let folder = entry.provenance().source_path()?.parent()?;
            Some(NestedInstructions::new(folder.to_string_lossy(), entry.contents()))
        })
    }
}

/// Reads the instruction files between the root and the folders that were reached, on this thread.
///
/// What the start has searched is not searched again, a file that is loaded already is a duplicate, and all together get
/// what the files of the start have left of the budget. Only the folders on the way to a target are looked at, never those
/// beside it. In an untrusted project nothing is looked at; the targets stay, for the day it is trusted.
///
/// # Errors
/// As [`discover_blocking`](crate::discover_blocking).
pub fn load_nested_blocking(
    discovery: &Discovery,
    inputs: &Inputs,
    startup: &LoadedAgentsMd,
    targets: &NestedTargets,
    fs: &impl FileSystem,
) -> Result<NestedLoaded, Error> {
    drive_blocking(Plan::start_nested(discovery, inputs, startup, targets)?, fs).map(NestedLoaded)
}

/// The same at the other end of a wire.
///
/// # Errors
/// As [`discover`](crate::discover()).
#[cfg(feature = "tokio")]
pub async fn load_nested(
    discovery: &Discovery,
    inputs: &Inputs,
    startup: &LoadedAgentsMd,
    targets: &NestedTargets,
    fs: &(impl RemoteFileSystem + ?Sized),
) -> Result<NestedLoaded, Error> {
    crate::discover::drive(Plan::start_nested(discovery, inputs, startup, targets)?, fs).await.map(NestedLoaded)
}
