//! What tools may do, and when a person is asked.

use std::borrow::Cow;

use crate::{ApprovalPolicy, ContextualUserFragment, FragmentRole, Kind, Markers, SandboxMode, json};

/// What is really in force, to be put into words.
///
/// # Example
/// ```
/// use context_fragments::{ApprovalPolicy, ContextualUserFragment, Permissions, SandboxMode};
///
/// let rendered = Permissions::new(SandboxMode::ReadOnly, ApprovalPolicy::Never).instructions().render()?;
/// assert!(rendered.text().contains("Nothing can be written"));
/// # Ok::<(), context_fragments::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Permissions {
    /// How far tools may reach.
    pub sandbox: SandboxMode,
    /// When a person is asked.
    pub approval: ApprovalPolicy,
    /// The folders below which tools may write under [`SandboxMode::WorkspaceWrite`]: those in force, not those wished for.
    pub writable_roots: Vec<String>,
    /// Says that tools may use the network; off unless the host says so.
    pub network_enabled: bool,
    /// Why it is so, if the host knows and the model should: an untrusted folder, a rule of an administrator.
    pub cause: Option<String>,
}

impl Permissions {
    /// Takes the two policies; no writable root and no network.
    #[must_use]
    pub const fn new(sandbox: SandboxMode, approval: ApprovalPolicy) -> Self {
        Self { sandbox, approval, writable_roots: Vec::new(), network_enabled: false, cause: None }
    }

    /// Adds a folder below which tools may write. Control characters in its name are said as U+FFFD.
    #[must_use]
    pub fn with_writable_root(mut self, root: impl Into<String>) -> Self {
        self.writable_roots.push(root.into());
        self
    }

    /// Says that tools may use the network.
    #[must_use]
    pub const fn with_network(mut self) -> Self {
        self.network_enabled = true;
        self
    }

    /// Says why it is so, in a sentence for the model.
    #[must_use]
    pub fn because(mut self, cause: impl Into<String>) -> Self {
        self.cause = Some(cause.into());
        self
    }

    /// Says that tools may write somewhere: without a root, no mode but full access grants that.
    #[must_use]
    pub fn grants_writing(&self) -> bool {
        match self.sandbox {
            SandboxMode::DangerFullAccess => true,
            SandboxMode::WorkspaceWrite => !self.writable_roots.is_empty(),
            SandboxMode::ReadOnly => false,
        }
    }

    /// Says that tools may use the network: without a sandbox, nothing keeps them from it.
    #[must_use]
    pub fn grants_network(&self) -> bool {
        self.network_enabled || self.sandbox == SandboxMode::DangerFullAccess
    }

    /// Puts the permissions into words for the model.
    #[must_use]
    pub fn instructions(&self) -> PermissionsInstructions {
        let (files, network, approval) = (self.files(), self.network(), self.approval());
        let mut text = format!(
            "Sandbox mode: {}. {files} {network}\nApproval policy: {}. {approval}",
            self.sandbox, self.approval
        );
        if let Some(cause) = &self.cause {
            text.push_str("\nCause: ");
            text.push_str(cause);
        }
        PermissionsInstructions::new(text)
    }

    fn files(&self) -> Cow<'static, str> {
        match self.sandbox {
            SandboxMode::DangerFullAccess => {
                Cow::Borrowed("Commands run without a sandbox: all files can be read and written.")
            }
            SandboxMode::WorkspaceWrite if !self.writable_roots.is_empty() => {
                let roots: Vec<_> = self.writable_roots.iter().map(|root| quoted(root)).collect();
                Cow::Owned(format!("Files can be read; writing works only below {}.", roots.join(", ")))
            }
            SandboxMode::WorkspaceWrite | SandboxMode::ReadOnly => {
                Cow::Borrowed("Files can be read. Nothing can be written.")
            }
        }
    }

    fn network(&self) -> &'static str {
        if self.grants_network() { "The network can be used." } else { "The network cannot be used." }
    }

    fn approval(&self) -> &'static str {
        match self.approval {
            ApprovalPolicy::Untrusted => {
                "The user is asked before each command, except those that are known to only read."
            }
            ApprovalPolicy::OnFailure => {
                "Commands run in the sandbox; one that fails there can be run outside it if the user agrees."
            }
            ApprovalPolicy::OnRequest => {
                "Commands run in the sandbox; where one needs more, ask for it and say why, and the user decides."
            }
            ApprovalPolicy::Never => "The user is never asked: work with what the sandbox allows.",
        }
    }
}

/// A folder between backticks, more of them than it holds in a row, and on one line.
///
/// Whoever names a folder must not speak with the host's voice: neither a line feed nor a backtick in the name ends it.
fn quoted(folder: &str) -> String {
    let folder = folder.replace(char::is_control, "\u{FFFD}");
    let mut run = 0;
    let mut longest = 0;
    for letter in folder.chars() {
        run = if letter == '`' { run + 1 } else { 0 };
        longest = longest.max(run);
    }
    let fence = "`".repeat(longest + 1);
    // A backtick next to the fence would count as part of it.
    let pad = if folder.starts_with('`') || folder.ends_with('`') { " " } else { "" };
    format!("{fence}{pad}{folder}{pad}{fence}")
}

/// What tools may do and when a person is asked, in words for the model.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct PermissionsInstructions {
    /// The words.
    pub text: String,
}

impl PermissionsInstructions {
    /// Takes the words of a host; [`Permissions::instructions`] finds some of its own.
    #[must_use]
    pub fn new(text: impl Into<String>) -> Self {
        Self { text: text.into() }
    }
}

impl ContextualUserFragment for PermissionsInstructions {
    fn role(&self) -> FragmentRole {
        FragmentRole::Developer
    }

    fn content_kind(&self) -> Kind {
        Kind::PERMISSIONS
    }

    fn markers(&self) -> Markers<'_> {
        Self::type_markers()
    }

    fn body(&self) -> Cow<'_, str> {
        Cow::Owned(format!("\n{}\n", self.text))
    }

    fn type_markers() -> Markers<'static> {
        Markers::new("<permissions instructions>", "</permissions instructions>")
    }
}

/// The note that command prefixes were approved for good; far shorter than all permissions again.
///
/// # Example
/// ```
/// use context_fragments::{ApprovedCommandPrefixes, ContextualUserFragment};
///
/// let note = ApprovedCommandPrefixes::new([["touch", "allow-prefix.txt"]]);
/// assert_eq!(note.render()?.text(), "Approved command prefix saved:\n- [\"touch\", \"allow-prefix.txt\"]");
/// # Ok::<(), context_fragments::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct ApprovedCommandPrefixes {
    /// The words that each approved command starts with.
    pub prefixes: Vec<Vec<String>>,
}

impl ApprovedCommandPrefixes {
    /// Takes the words that each approved command starts with.
    #[must_use]
    pub fn new(prefixes: impl IntoIterator<Item = impl IntoIterator<Item = impl Into<String>>>) -> Self {
        Self { prefixes: prefixes.into_iter().map(|words| words.into_iter().map(Into::into).collect()).collect() }
    }
}

impl ContextualUserFragment for ApprovedCommandPrefixes {
    fn role(&self) -> FragmentRole {
        FragmentRole::Developer
    }

    fn content_kind(&self) -> Kind {
        Kind::APPROVED_COMMAND_PREFIXES
    }

    fn markers(&self) -> Markers<'_> {
        Markers::NONE
    }

    fn body(&self) -> Cow<'_, str> {
        let mut body = String::from("Approved command prefix saved:");
        for words in &self.prefixes {
            body.push_str("\n- [");
            for (position, word) in words.iter().enumerate() {
                if position > 0 {
                    body.push_str(", ");
                }
                json::push_string(&mut body, word);
            }
            body.push(']');
        }
        Cow::Owned(body)
    }

    fn type_markers() -> Markers<'static> {
        Markers::NONE
    }

    fn matches_text(text: &str) -> bool {
        text.trim_start().starts_with("Approved command prefix saved:")
    }
}
