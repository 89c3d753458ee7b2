//! Looking further than a discovery does: for files that people think are used, and why they are not.

use std::{
    collections::{HashMap, HashSet},
    fmt,
    path::{Component, Path, PathBuf},
    sync::Arc,
};

use serde::Serialize;

use crate::{
    ask::{FileKind, Found, Links, ProbeAnswer, ProbeAsk, Purpose, ReadAnswer, ReadAsk},
    discover::discover_blocking,
    discovery::{Discovery, PLAIN_NAME},
    document::LoadedAgentsMd,
    error::Error,
    fs::FileSystem,
    inputs::Inputs,
    outcome::Outcome,
    sentence::subject,
    trace::{Note, lossy},
};
#[cfg(feature = "tokio")]
use crate::{discover::discover, fs::RemoteFileSystem};

/// How much is read of a `.git` file; the path in it is one line.
const MAX_GIT_FILE_BYTES: usize = 4_096;

/// How long a text may be that is taken for the target of a link.
const MAX_TARGET_BYTES: usize = 255;

/// How a folder above the root belongs to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Relation {
    /// It holds the root as a submodule.
    Superproject,
    /// It is the main working tree, of which the root is a further one.
    MainWorktree,
    /// It is a folder above, and nothing more is known.
    Parent,
}

/// What a file is that a person may think is used.
///
/// # Shape
/// Serialised, a variant is an object whose member `finding` is its name in snake case; the fields follow.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "finding", rename_all = "snake_case")]
#[non_exhaustive]
pub enum Suspect {
    /// Its name is nearly one that is looked for.
    #[non_exhaustive]
    NearMiss {
        /// The name that is looked for.
        wanted: String,
    },
    /// It lies above the root, where the search ends.
    #[non_exhaustive]
    AboveRoot {
        /// The root.
        #[serde(serialize_with = "lossy")]
        root: PathBuf,
        /// How its folder belongs to the root.
        relation: Relation,
    },
    /// Its whole text is the path of another file, as of a symbolic link that was checked out as a file.
    #[non_exhaustive]
    LinkStub {
        /// The other file, which is there.
        #[serde(serialize_with = "lossy")]
        target: PathBuf,
    },
    /// It is a symbolic link, and nothing is where it leads, so that it counts as absent.
    DanglingLink,
}

impl Suspect {
    /// The name of the variant, as it is serialised.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Self::NearMiss { .. } => "near_miss",
            Self::AboveRoot { .. } => "above_root",
            Self::LinkStub { .. } => "link_stub",
            Self::DanglingLink => "dangling_link",
        }
    }
}

/// A file that a discovery passes over and a person may think is used.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Finding {
    /// The environment through which it was found.
    pub environment: Arc<str>,
    /// The file.
    #[serde(serialize_with = "lossy")]
    pub path: PathBuf,
    /// What it is.
    #[serde(flatten)]
    pub suspect: Suspect,
    #[serde(skip)]
    top: PathBuf,
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let subject = subject(&self.path, Some(&self.top));
        match &self.suspect {
            Suspect::NearMiss { wanted } => {
                write!(f, "{subject} was not used because its name is not {wanted}, and every letter counts.")
            }
            Suspect::AboveRoot { root, relation } => {
                let path = self.path.display();
                let folder = self.path.parent().unwrap_or(Path::new("/")).display();
                let root = root.display();
                write!(f, "{path} was not used because it lies above the root {root}")?;
                match relation {
                    Relation::Superproject => write!(f, ", which is a submodule of {folder}."),
                    Relation::MainWorktree => write!(f, ", which is a worktree of {folder}."),
                    Relation::Parent => f.write_str("."),
                }
            }
            Suspect::DanglingLink => {
                write!(f, "{subject} was not used because it is a symbolic link that leads to nothing.")
            }
            Suspect::LinkStub { target } => write!(
                f,
                "{subject} was used as it stands, but its whole text is the path of {}: it looks like a symbolic link \
                 that was checked out as a file.",
                target.display()
            ),
        }
    }
}

/// Why a check of a project's instruction files fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ProblemKind {
    /// Not all of a file reaches the model.
    Cut,
    /// A file is there and never looked at, or another one comes first.
    Hidden,
    /// A file cannot be read, or not all of its bytes are text.
    Unreadable,
    /// A file says what another one has said already.
    Duplicated,
}

impl fmt::Display for ProblemKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Cut => "cut",
            Self::Hidden => "hidden",
            Self::Unreadable => "unreadable",
            Self::Duplicated => "duplicated",
        })
    }
}

/// Something that the authors of a project's instruction files should mend.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Problem {
    /// What is wrong.
    pub problem: ProblemKind,
    /// The same as a sentence that names the file.
    pub sentence: String,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.problem, self.sentence)
    }
}

/// What was loaded, and what else lies near it that a person may think is used.
///
/// Its `Display` form is a text for people; as data it is the trace and the findings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Explanation {
    loaded: LoadedAgentsMd,
    findings: Vec<Finding>,
    probed: Vec<PathBuf>,
}

impl Explanation {
    /// What was loaded, as a discovery gives it.
    #[must_use]
    pub fn loaded(&self) -> &LoadedAgentsMd {
        &self.loaded
    }

    /// The files that are passed over, each environment's from its working folder up.
    #[must_use]
    pub fn findings(&self) -> &[Finding] {
        &self.findings
    }

    /// Every path that was looked at for this explanation only; those of the discovery are in its trace.
    pub fn probed(&self) -> impl Iterator<Item = &Path> {
        self.probed.iter().map(PathBuf::as_path)
    }

    /// What the authors of the files should mend: whatever is cut, hidden, unreadable or duplicated.
    #[must_use]
    pub fn problems(&self) -> Vec<Problem> {
        let trace = self.loaded.trace();
        let rows = trace.rows().iter().filter_map(|row| {
            let problem = match &row.outcome {
                Outcome::Cut { .. } | Outcome::DroppedByBudget { .. } => ProblemKind::Cut,
                Outcome::Shadowed { .. } | Outcome::Ignored { .. } => ProblemKind::Hidden,
                Outcome::Duplicate { .. } => ProblemKind::Duplicated,
                Outcome::NotAFile { .. }
                | Outcome::Denied { .. }
                | Outcome::Failed { .. }
                | Outcome::Vanished
                | Outcome::Replaced
                | Outcome::Discarded
                | Outcome::SymlinkRejected
                | Outcome::OutsideRoot { .. } => ProblemKind::Unreadable,
                _ => return None,
            };
            Some(Problem { problem, sentence: trace.sentence(row)? })
        });
        let replaced = self.loaded.decode_reports().filter(|(_, report)| report.replacements > 0);
        let replaced = replaced.map(|(path, report)| Problem {
            problem: ProblemKind::Unreadable,
            sentence: format!(
                "{} {} of {} {} no text, the first at {}.",
                report.replacements,
                if report.replacements == 1 { "byte" } else { "bytes" },
                path.display(),
                if report.replacements == 1 { "is" } else { "are" },
                report.first_replacement.unwrap_or_default()
            ),
        });
        let found = self.findings.iter().filter_map(|finding| {
            let problem = match finding.suspect {
                Suspect::NearMiss { .. } | Suspect::LinkStub { .. } => ProblemKind::Hidden,
                Suspect::DanglingLink => ProblemKind::Unreadable,
                Suspect::AboveRoot { .. } => return None,
            };
            Some(Problem { problem, sentence: finding.to_string() })
        });
        rows.chain(replaced).chain(found).collect()
    }
}

impl fmt::Display for Explanation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sources: Vec<_> = self.loaded.sources().collect();
        match sources.as_slice() {
            [] => writeln!(f, "No instruction file was used.")?,
            sources => {
                writeln!(f, "Used, in this order:")?;
                for path in sources {
                    writeln!(f, "- {}", path.display())?;
                }
            }
        }
        for environment in self.loaded.trace().environments() {
            for note in &environment.notes {
                writeln!(f, "{}: {note}.", environment.environment)?;
            }
        }
        for sentence in self.loaded.trace().sentences() {
            writeln!(f, "{sentence}")?;
        }
        for finding in &self.findings {
            writeln!(f, "{finding}")?;
        }
        Ok(())
    }
}

/// Discovers, and looks further: for names that are nearly right, for files above the root, for links that lead to nothing.
///
/// Nothing more of an untrusted project is looked at, and the diagnostic probes change nothing of what is loaded.
///
/// # Errors
/// As [`discover_blocking`].
///
/// # Example
/// ```
/// use agents_md::{Discovery, Inputs, MemoryFs, explain_blocking};
///
/// let fs = MemoryFs::new().with_folder("/r/.git").with_file("/r/web/agents.md", "Use tabs.");
/// let explanation = explain_blocking(&Discovery::default(), &Inputs::local("/r/web"), &fs)?;
/// assert_eq!(
///     explanation.findings()[0].to_string(),
///     "agents.md in web was not used because its name is not AGENTS.md, and every letter counts.",
/// );
/// # Ok::<(), agents_md::Error>(())
/// ```
pub fn explain_blocking(discovery: &Discovery, inputs: &Inputs, fs: &impl FileSystem) -> Result<Explanation, Error> {
    let diagnosis = Diagnosis::new(discovery, inputs, discover_blocking(discovery, inputs, fs)?);
    let probes = diagnosis.probes.iter().map(|probe| fs.probe(&probe.ask).0).collect();
    let reads = diagnosis.reads.iter().map(|ask| fs.read(ask, None)).collect();
    diagnosis.conclude(probes, reads)
}

/// The same at the other end of a wire, in two round trips more than a discovery.
///
/// # Errors
/// As [`discover`](crate::discover()).
#[cfg(feature = "tokio")]
pub async fn explain(
    discovery: &Discovery,
    inputs: &Inputs,
    fs: &(impl RemoteFileSystem + ?Sized),
) -> Result<Explanation, Error> {
    let diagnosis = Diagnosis::new(discovery, inputs, discover(discovery, inputs, fs).await?);
    let asks: Vec<ProbeAsk> = diagnosis.probes.iter().map(|probe| probe.ask.clone()).collect();
    let probes = if asks.is_empty() { Vec::new() } else { fs.probe(&asks).await };
    let reads = if diagnosis.reads.is_empty() { Vec::new() } else { fs.read(&diagnosis.reads).await };
    diagnosis.conclude(probes, reads)
}

/// What is asked beyond a discovery; it does no I/O.
struct Diagnosis {
    loaded: LoadedAgentsMd,
    probes: Vec<Probe>,
    reads: Vec<ReadAsk>,
}

struct Probe {
    ask: ProbeAsk,
    index: usize,
    suspicion: Suspicion,
}

enum Suspicion {
    /// A name that is nearly `wanted`; `rival` is the probe of the wanted name itself, where something is there.
    Near {
        wanted: String,
        rival: Option<usize>,
    },
    /// The wanted name, so that one file under two spellings is not taken for two.
    Rival,
    Above,
    /// A wanted name that counts as absent and may be a link.
    Absent,
    /// The `.git` of the root, which may be a file that names another folder.
    Git,
    Target {
        of: PathBuf,
    },
}

impl Diagnosis {
    fn new(discovery: &Discovery, inputs: &Inputs, loaded: LoadedAgentsMd) -> Self {
        let mut diagnosis = Self { loaded: LoadedAgentsMd::default(), probes: Vec::new(), reads: Vec::new() };
        let names: Vec<String> = discovery.names().into_iter().map(str::to_owned).collect();
        for (index, selection) in inputs.environments.iter().enumerate() {
            let Some(trace) = loaded.trace().environments().get(index) else { continue };
            let Some(top) = trace.top.clone() else { continue };
            let id = &selection.id;
            let known = loaded.trace().outcomes(index);
            for folder in selection.cwd.ancestors() {
                if !folder.starts_with(&top) {
                    break;
                }
                diagnosis.suspect_names(index, id, folder, &names, &known);
                for path in names.iter().map(|name| folder.join(name)) {
                    if known.get(path.as_path()) == Some(&&Outcome::Absent) {
                        diagnosis.probe(index, id, path, Suspicion::Absent);
                    }
                }
            }
            for folder in top.ancestors().skip(1) {
                for name in &names {
                    let path = folder.join(name);
                    if !known.contains_key(path.as_path()) {
                        diagnosis.probe(index, id, path, Suspicion::Above);
                    }
                }
            }
            let is_git = |note: &Note| matches!(note, Note::RootFound { marker, .. } if marker == ".git");
            if trace.notes.iter().any(is_git) {
                let path = top.join(".git");
                let slot = diagnosis.probe(index, id, path.clone(), Suspicion::Git);
                let environment = Some(Arc::clone(id));
                diagnosis.reads.push(ReadAsk { slot, environment, path, max_bytes: MAX_GIT_FILE_BYTES });
            }
            diagnosis.suspect_stubs(index, id, &loaded);
        }
        diagnosis.loaded = loaded;
        diagnosis
    }

    fn probe(&mut self, index: usize, id: &Arc<str>, path: PathBuf, suspicion: Suspicion) -> usize {
        let slot = self.probes.len();
        let purpose = Purpose::Diagnosis;
        let links = if matches!(suspicion, Suspicion::Absent) { Links::Inspect } else { Links::Follow };
        let ask = ProbeAsk { slot, environment: Some(Arc::clone(id)), path, purpose, links };
        self.probes.push(Probe { ask, index, suspicion });
        slot
    }

    fn suspect_names(
        &mut self,
        index: usize,
        id: &Arc<str>,
        folder: &Path,
        names: &[String],
        known: &HashMap<&Path, &Outcome>,
    ) {
        let mut seen: HashSet<String> = names.iter().cloned().collect();
        for wanted in names.iter().filter(|name| !name.contains(['/', '\\'])) {
            let near: Vec<String> = spellings(wanted).into_iter().filter(|name| seen.insert(name.clone())).collect();
            let path = folder.join(wanted);
            let is_there = known.get(path.as_path()).is_some_and(|outcome| **outcome != Outcome::Absent);
            let rival = (is_there && !near.is_empty()).then(|| self.probe(index, id, path, Suspicion::Rival));
            for name in near {
                let path = folder.join(name);
                if !known.contains_key(path.as_path()) {
                    self.probe(index, id, path, Suspicion::Near { wanted: wanted.clone(), rival });
                }
            }
        }
    }

    fn suspect_stubs(&mut self, index: usize, id: &Arc<str>, loaded: &LoadedAgentsMd) {
        for entry in loaded.entries() {
            let crate::InstructionProvenance::Project { source_path, environment_id, .. } = entry.provenance() else {
                continue;
            };
            let text = entry.contents();
            let is_path = text.len() <= MAX_TARGET_BYTES
                && text.contains('.')
                && !text.contains(|letter: char| letter.is_whitespace() || letter.is_control());
            if environment_id == id
                && is_path
                && let Some(folder) = source_path.parent()
            {
                let target = flat(&folder.join(text));
                if target != *source_path {
                    self.probe(index, id, target, Suspicion::Target { of: source_path.clone() });
                }
            }
        }
    }

    fn conclude(self, probes: Vec<ProbeAnswer>, reads: Vec<ReadAnswer>) -> Result<Explanation, Error> {
        for (asked, answered) in [(self.probes.len(), probes.len()), (self.reads.len(), reads.len())] {
            if asked != answered {
                return Err(Error::AnswerCount { asked, answered });
            }
        }
        let environments = self.loaded.trace().environments();
        let top = |index: usize| environments[index].top.clone().unwrap_or_default();
        let mut related: Vec<(usize, PathBuf, Relation)> = Vec::new();
        for (ask, answer) in self.reads.iter().zip(&reads) {
            let index = self.probes[ask.slot].index;
            if let ReadAnswer::Bytes(file) = answer
                && let Some((folder, relation)) = git_folder(&top(index), &file.bytes)
            {
                related.push((index, folder, relation));
            }
        }
        let mut findings = Vec::new();
        for (probe, answer) in self.probes.iter().zip(&probes) {
            let matters = |found: &&Found| match probe.suspicion {
                Suspicion::Absent => found.is_link,
                _ => found.kind == FileKind::File,
            };
            let Some(found) = answer.found().filter(matters) else { continue };
            let (index, path) = (probe.index, probe.ask.path.clone());
            let (path, suspect) = match &probe.suspicion {
                Suspicion::Near { wanted, rival } => {
                    let identity = rival.and_then(|rival| probes[rival].found()).map(|rival| rival.identity);
                    // Without identities, two spellings that are both there may be one file of a disk without case.
                    if identity.is_some_and(|identity| identity.is_none() || identity == found.identity) {
                        continue;
                    }
                    (path, Suspect::NearMiss { wanted: wanted.clone() })
                }
                Suspicion::Above => {
                    let folder = path.parent().unwrap_or(Path::new("/"));
                    let relation = related.iter().find(|(of, related, _)| *of == index && related == folder);
                    let relation = relation.map_or(Relation::Parent, |(_, _, relation)| *relation);
                    (path, Suspect::AboveRoot { root: top(index), relation })
                }
                Suspicion::Absent => (path, Suspect::DanglingLink),
                Suspicion::Target { of } => (of.clone(), Suspect::LinkStub { target: path }),
                Suspicion::Rival | Suspicion::Git => continue,
            };
            let environment = Arc::clone(&environments[index].environment);
            findings.push(Finding { environment, path, suspect, top: top(index) });
        }
        let probed = self.probes.iter().map(|probe| probe.ask.path.clone()).collect();
        Ok(Explanation { loaded: self.loaded, findings, probed })
    }
}

/// Names that people write when they mean `name`.
fn spellings(name: &str) -> Vec<String> {
    let (stem, extension) = name.rsplit_once('.').unwrap_or((name, ""));
    let title = |word: &str| {
        let mut letters = word.chars();
        let first = letters.next().map(|letter| letter.to_uppercase().to_string()).unwrap_or_default();
        format!("{first}{}", letters.as_str().to_lowercase())
    };
    let mut names = vec![
        name.to_lowercase(),
        format!("{}.{}", title(stem), extension.to_lowercase()),
        format!("{}.{}", stem.to_uppercase(), extension.to_lowercase()),
        name.to_uppercase(),
        format!("{stem}.{extension}.txt"),
    ];
    if name == PLAIN_NAME {
        names.extend(["AGENT.md", "agent.md", "Agent.md", "AGENTS", "AGENTS.markdown"].map(str::to_owned));
    }
    names
}

/// The folder that a `.git` file leads back to, and how it belongs to the folder that the file lies in.
fn git_folder(root: &Path, bytes: &[u8]) -> Option<(PathBuf, Relation)> {
    let text = std::str::from_utf8(bytes).ok()?;
    let target = flat(&root.join(text.lines().next()?.strip_prefix("gitdir:")?.trim()));
    let parts: Vec<Component<'_>> = target.components().collect();
    let git = parts.iter().position(|part| part.as_os_str() == ".git")?;
    let relation = match parts.get(git + 1)?.as_os_str().to_str()? {
        "modules" => Relation::Superproject,
        "worktrees" => Relation::MainWorktree,
        _ => return None,
    };
    Some((parts[..git].iter().collect(), relation))
}

/// `path` with `.` and `..` taken out by name alone.
pub(crate) fn flat(path: &Path) -> PathBuf {
    let mut flat = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => {
                flat.pop();
            }
            part => flat.push(part),
        }
    }
    flat
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_git_file_says_to_whom_a_folder_belongs() {
        let of = |text: &str| git_folder(Path::new("/r/sub"), text.as_bytes());
        assert_eq!(of("gitdir: ../.git/modules/sub\n"), Some(("/r".into(), Relation::Superproject)));
        assert_eq!(of("gitdir: /main/.git/worktrees/x"), Some(("/main".into(), Relation::MainWorktree)));
        assert_eq!(of("gitdir: /elsewhere/sub.git"), None);
        assert_eq!(of(""), None);
        assert_eq!(of("gitdir: .git"), None);
    }
}
