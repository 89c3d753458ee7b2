//! What was loaded.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use context_fragments::UserInstructions;

use crate::{
    ask::FileIdentity,
    decode::DecodeReport,
    evidence::Evidence,
    layout::{Home, Labels, LaidOut, Piece, lay_out},
    outcome::Locus,
    provenance::InstructionProvenance,
    trace::Trace,
    warning::Warning,
};

/// One text of the project, or of the host itself.
#[derive(Clone, Debug, Eq)]
pub struct InstructionEntry {
    contents: Arc<str>,
    provenance: InstructionProvenance,
    decoding: Option<DecodeReport>,
    /// Which file it is, so that a nested one that is the same is known.
    pub(crate) identity: Option<FileIdentity>,
}

/// An editor that replaces a file by one of the same text has changed nothing.
impl PartialEq for InstructionEntry {
    fn eq(&self, other: &Self) -> bool {
        self.contents == other.contents && self.provenance == other.provenance && self.decoding == other.decoding
    }
}

impl InstructionEntry {
    pub(crate) fn new(contents: Arc<str>, provenance: InstructionProvenance, decoding: Option<DecodeReport>) -> Self {
        Self { contents, provenance, decoding, identity: None }
    }

    /// The text as the model reads it, with the line that says what was cut.
    #[must_use]
    pub fn contents(&self) -> &str {
        &self.contents
    }

    /// Where it came from.
    #[must_use]
    pub fn provenance(&self) -> &InstructionProvenance {
        &self.provenance
    }

    /// How its bytes were decoded; none for a text of the host.
    #[must_use]
    pub fn decoding(&self) -> Option<&DecodeReport> {
        self.decoding.as_ref()
    }
}

/// The user's own instructions.
#[derive(Clone, Debug, Eq)]
pub(crate) struct UserText {
    pub(crate) text: Arc<str>,
    pub(crate) source: Option<PathBuf>,
    pub(crate) decoding: Option<DecodeReport>,
    pub(crate) identity: Option<FileIdentity>,
}

/// As for an entry, the file may be another one.
impl PartialEq for UserText {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text && self.source == other.source && self.decoding == other.decoding
    }
}

/// The instructions that hold for a turn, and why each file did or did not become part of them.
///
/// # Shape
/// The user's text, the thread's, then the entries: each environment's from the root down, the host's last.
///
/// # Example
/// ```
/// use agents_md::{Discovery, Inputs, MemoryFs, UserSource, discover_blocking};
///
/// let fs = MemoryFs::new()
///     .with_file("/home/me/.codex/AGENTS.md", "Be brief.")
///     .with_folder("/r/.git")
///     .with_file("/r/AGENTS.md", "Use tabs.");
/// let inputs = Inputs::local("/r").with_user(UserSource::Folder("/home/me/.codex".into()));
/// let loaded = discover_blocking(&Discovery::default(), &inputs, &fs)?;
/// assert_eq!(loaded.text(), "Be brief.\n\n--- project-doc ---\n\nUse tabs.");
/// assert_eq!(loaded.sources().count(), 2);
/// # Ok::<(), agents_md::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LoadedAgentsMd {
    user: Option<UserText>,
    thread: Option<Arc<str>>,
    entries: Vec<InstructionEntry>,
    directory: Option<Arc<str>>,
    text: Arc<str>,
    has_omission: bool,
    trace: Trace,
    warnings: Vec<Warning>,
    evidence: Evidence,
}

impl LoadedAgentsMd {
    /// Makes instructions of a user's text alone; a blank one gives the empty value.
    #[must_use]
    pub fn from_user_text(text: impl Into<Arc<str>>) -> Self {
        let text = text.into();
        if text.trim().is_empty() {
            return Self::default();
        }
        let user = UserText { text: Arc::clone(&text), source: None, decoding: None, identity: None };
        Self { user: Some(user), text, ..Self::default() }
    }

    /// Adds a text that no discovery found; nothing is cut.
    #[must_use]
    pub fn with_entry(mut self, contents: impl Into<Arc<str>>, provenance: InstructionProvenance) -> Self {
        self.entries.push(InstructionEntry::new(contents.into(), provenance, None));
        let heads: Vec<&str> = [self.user_text(), self.thread_text()].into_iter().flatten().collect();
        let pieces: Vec<Piece<'_>> = self
            .entries
            .iter()
            .map(|entry| Piece {
                text: &entry.contents,
                home: match &entry.provenance {
                    InstructionProvenance::Project { environment_id, cwd, .. } => {
                        Some(Home { id: environment_id, cwd })
                    }
                    InstructionProvenance::Internal => None,
                },
            })
            .collect();
        let LaidOut { directory, text } = lay_out(&heads, &pieces, Labels::Exact);
        self.directory = directory;
        self.text = text.into();
        self
    }

    pub(crate) fn assemble(
        user: Option<UserText>,
        thread: Option<Arc<str>>,
        entries: Vec<InstructionEntry>,
        laid_out: LaidOut,
        has_omission: bool,
        trace: Trace,
        warnings: Vec<Warning>,
    ) -> Self {
        let LaidOut { directory, text } = laid_out;
        let evidence = Evidence::default();
        Self { user, thread, entries, directory, text: text.into(), has_omission, trace, warnings, evidence }
    }

    pub(crate) fn with_evidence(mut self, evidence: Evidence) -> Self {
        self.evidence = evidence;
        self
    }

    /// What the files looked like when they were read.
    #[cfg(feature = "tokio")]
    pub(crate) fn evidence(&self) -> &Evidence {
        &self.evidence
    }

    /// The files whose texts are loaded, as far as the file system can tell one from another.
    pub(crate) fn identities(&self) -> impl Iterator<Item = (FileIdentity, Locus)> {
        let user = self
            .user
            .iter()
            .filter_map(|user| Some((user.identity?, Locus { environment: None, path: user.source.clone()? })));
        user.chain(self.entries.iter().filter_map(|entry| match &entry.provenance {
            InstructionProvenance::Project { source_path, environment_id, .. } => {
                let environment = Some(Arc::clone(environment_id));
                Some((entry.identity?, Locus { environment, path: source_path.clone() }))
            }
            InstructionProvenance::Internal => None,
        }))
    }

    /// The user's own text.
    #[must_use]
    pub fn user_text(&self) -> Option<&str> {
        self.user.as_ref().map(|user| user.text.as_ref())
    }

    /// The file that the user's text came from, if it came from one.
    #[must_use]
    pub fn user_source(&self) -> Option<&Path> {
        self.user.as_ref()?.source.as_deref()
    }

    /// The text of this conversation.
    #[must_use]
    pub fn thread_text(&self) -> Option<&str> {
        self.thread.as_deref()
    }

    /// The texts of the projects, each environment's from the root down, and the host's.
    #[must_use]
    pub fn entries(&self) -> &[InstructionEntry] {
        &self.entries
    }

    /// Whether there is nothing to tell the model.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.user.is_none()
            && self.thread.is_none()
            && !self.has_omission
            && self.entries.iter().all(|entry| entry.contents.trim().is_empty())
    }

    /// The files that were loaded: the user's, then each project's.
    pub fn sources(&self) -> impl Iterator<Item = &Path> {
        self.user_source().into_iter().chain(self.entries.iter().filter_map(|entry| entry.provenance.source_path()))
    }

    /// All texts together, as the model reads them.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The working folder that the texts are about; none if there are several, or none.
    #[must_use]
    pub fn directory(&self) -> Option<&str> {
        self.directory.as_deref()
    }

    /// The fragment that tells the model; none if there is nothing to tell.
    ///
    /// From the default preset it fits the bound of a fragment, with room for the sentence that says that it replaces an
    /// earlier one, so rendering cuts nothing.
    #[must_use]
    pub fn fragment(&self) -> Option<UserInstructions> {
        (!self.is_empty()).then(|| UserInstructions::new(self.directory.clone(), Arc::clone(&self.text)))
    }

    /// How each loaded file was decoded: the user's, then each project's.
    pub fn decode_reports(&self) -> impl Iterator<Item = (&Path, &DecodeReport)> {
        let user = self.user.iter().filter_map(|user| Some((user.source.as_deref()?, user.decoding.as_ref()?)));
        user.chain(
            self.entries.iter().filter_map(|entry| Some((entry.provenance.source_path()?, entry.decoding.as_ref()?))),
        )
    }

    /// What the user should be told.
    #[must_use]
    pub fn warnings(&self) -> &[Warning] {
        &self.warnings
    }

    /// What became of every path that was probed.
    #[must_use]
    pub fn trace(&self) -> &Trace {
        &self.trace
    }
}
