//! What a host may change while a session runs.

use std::sync::Arc;

use agents_md::TrustLevel;
use context_fragments::Permissions;
use context_manager::{Model, Parts};
use world_state::{ExtensionSection, FileSystemAccess, NetworkAccess, PermissionsState, WorldStateSection};

use crate::{Error, SessionEnvironment, sections::HostSection};

/// The model that answers, and the instructions that a switch to it brings along.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ModelSettings {
    /// The model.
    pub model: Model,
    /// What it is told when it takes over from another one; nothing if empty. The base instructions of a session never
    /// change.
    pub instructions: Arc<str>,
}

impl ModelSettings {
    /// Takes a model without instructions of its own.
    #[must_use]
    pub fn new(model: Model) -> Self {
        Self { model, instructions: "".into() }
    }

    /// The same with instructions for a switch.
    #[must_use]
    pub fn with_instructions(mut self, instructions: impl Into<Arc<str>>) -> Self {
        self.instructions = instructions.into();
        self
    }
}

impl From<&str> for ModelSettings {
    fn from(name: &str) -> Self {
        Self::new(Model::new(name))
    }
}

impl From<Model> for ModelSettings {
    fn from(model: Model) -> Self {
        Self::new(model)
    }
}

/// What tools may do, and the words that say it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PermissionSettings {
    permissions: Permissions,
    /// Shared with the world state, so that an unchanged one costs a comparison of pointers.
    section: Arc<PermissionsState>,
}

impl PermissionSettings {
    /// Takes what is in force; [`Permissions::instructions`] finds the words.
    #[must_use]
    pub fn new(permissions: Permissions) -> Self {
        let section = Arc::new(PermissionsState::from(&permissions));
        Self { permissions, section }
    }

    /// Says it in the host's own words.
    #[must_use]
    pub fn with_words(mut self, words: impl Into<Arc<str>>) -> Self {
        self.section = Arc::new(PermissionsState::new(words));
        self
    }

    /// Adds the words that an approved command starts with. Call it after [`with_words`](Self::with_words).
    #[must_use]
    pub fn with_approved_prefix(mut self, words: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.section = Arc::new(PermissionsState::clone(&self.section).with_approved_prefix(words));
        self
    }

    /// What is in force.
    #[must_use]
    pub const fn permissions(&self) -> &Permissions {
        &self.permissions
    }

    pub(crate) const fn section(&self) -> &Arc<PermissionsState> {
        &self.section
    }
}

impl From<Permissions> for PermissionSettings {
    fn from(permissions: Permissions) -> Self {
        Self::new(permissions)
    }
}

/// How the user and the agent work together.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct CollaborationMode {
    /// The name of the mode.
    pub mode: Arc<str>,
    /// What the model is told about it; none says nothing.
    pub instructions: Option<Arc<str>>,
}

impl CollaborationMode {
    /// Takes a mode of which nothing is said.
    #[must_use]
    pub fn new(mode: impl Into<Arc<str>>) -> Self {
        Self { mode: mode.into(), instructions: None }
    }

    /// The same with instructions, which are said word for word.
    #[must_use]
    pub fn with_instructions(mut self, instructions: impl Into<Arc<str>>) -> Self {
        self.instructions = Some(instructions.into());
        self
    }
}

impl Default for CollaborationMode {
    fn default() -> Self {
        Self::new("default")
    }
}

/// What a host may change while a session runs. A clone is a few reference counts.
///
/// Nothing of it edits what was sent: a change is said in a message that the next step appends. Only the parts of a
/// request that are no items (parameters, tools, schema) are replaced, which the prompt's proof names as a declared break.
///
/// # Example
/// ```
/// use context_fragments::{ApprovalPolicy, Permissions, SandboxMode};
/// use session::{SessionEnvironment, Settings};
///
/// let permissions = Permissions::new(SandboxMode::ReadOnly, ApprovalPolicy::Never);
/// let settings = Settings::new("m1", permissions)
///     .with_environments([SessionEnvironment::new("local", "/r").with_shell("bash")])
///     .with_tools(r#"[{"type":"function","name":"sh"}]"#)?;
/// assert_eq!(settings.model().model.name(), "m1");
/// # Ok::<(), session::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Settings {
    pub(crate) model: ModelSettings,
    pub(crate) permissions: PermissionSettings,
    pub(crate) collaboration_mode: CollaborationMode,
    pub(crate) environments: Arc<[SessionEnvironment]>,
    pub(crate) trust: TrustLevel,
    pub(crate) effort: Option<Arc<str>>,
    pub(crate) network: Option<NetworkAccess>,
    pub(crate) filesystem: Option<FileSystemAccess>,
    /// What a request has beside items; its base instructions are those of the session.
    pub(crate) parts: Parts,
    pub(crate) extensions: Vec<ExtensionSection>,
    pub(crate) sections: Vec<HostSection>,
}

impl Settings {
    /// Starts from a model and from what tools may do: no environment, no tools, nobody asked about trust.
    #[must_use]
    pub fn new(model: impl Into<ModelSettings>, permissions: impl Into<PermissionSettings>) -> Self {
        let model = model.into();
        Self {
            parts: Parts::new(model.model.clone()),
            model,
            permissions: permissions.into(),
            collaboration_mode: CollaborationMode::default(),
            environments: Arc::new([]),
            trust: TrustLevel::default(),
            effort: None,
            network: None,
            filesystem: None,
            extensions: Vec::new(),
            sections: Vec::new(),
        }
    }

    /// Names the places where the agent works, the primary one first.
    #[must_use]
    pub fn with_environments(mut self, environments: impl IntoIterator<Item = SessionEnvironment>) -> Self {
        self.environments = environments.into_iter().collect();
        self
    }

    /// Says how the user and the agent work together.
    #[must_use]
    pub fn with_collaboration_mode(mut self, mode: CollaborationMode) -> Self {
        self.collaboration_mode = mode;
        self
    }

    /// Says how far the project is trusted.
    #[must_use]
    pub const fn with_trust(mut self, trust: TrustLevel) -> Self {
        self.trust = trust;
        self
    }

    /// Names the reasoning effort, for the turn context of the log.
    #[must_use]
    pub fn with_effort(mut self, effort: impl Into<Arc<str>>) -> Self {
        self.effort = Some(effort.into());
        self
    }

    /// Says what of the network tools may reach.
    #[must_use]
    pub fn with_network(mut self, network: NetworkAccess) -> Self {
        self.network = Some(network);
        self
    }

    /// Says what of the file system tools may reach.
    #[must_use]
    pub fn with_filesystem(mut self, filesystem: FileSystemAccess) -> Self {
        self.filesystem = Some(filesystem);
        self
    }

    /// Sets the parameters of each request, a JSON object.
    ///
    /// # Errors
    /// [`Error::History`] if it is none.
    pub fn with_parameters(mut self, json: &str) -> Result<Self, Error> {
        self.parts = self.parts.with_parameters(json).map_err(Error::history)?;
        Ok(self)
    }

    /// Sets the tools, a JSON array in the order in which they are sent.
    ///
    /// # Errors
    /// [`Error::History`] if it is none.
    pub fn with_tools(mut self, json: &str) -> Result<Self, Error> {
        self.parts = self.parts.with_tools(json).map_err(Error::history)?;
        Ok(self)
    }

    /// Sets the output schema, a JSON object or null.
    ///
    /// # Errors
    /// [`Error::History`] if it is neither.
    pub fn with_schema(mut self, json: &str) -> Result<Self, Error> {
        self.parts = self.parts.with_schema(json).map_err(Error::history)?;
        Ok(self)
    }

    /// Adds a section of the host's own to what the model is told, in the place of the one with its id.
    #[must_use]
    pub fn with_extension(mut self, section: ExtensionSection) -> Self {
        match self.extensions.iter_mut().find(|standing| standing.id() == section.id()) {
            Some(standing) => *standing = section,
            None => self.extensions.push(section),
        }
        self
    }

    /// Adds one of the ready-made sections of `world-state` to what the model is told, in the place of the one of its type:
    /// personality, realtime, tools, apps, plugins, nested instruction files and so on. To take one back, give it its
    /// empty form.
    ///
    /// Model, instructions, permissions, mode and environments are sections of the session itself, and stay so.
    #[must_use]
    pub fn with_section<S: WorldStateSection>(mut self, section: S) -> Self {
        let section = HostSection::new(section);
        match self.sections.iter_mut().find(|standing| standing.id() == section.id()) {
            Some(standing) => *standing = section,
            None => self.sections.push(section),
        }
        self
    }

    /// Sets the model that answers.
    #[must_use]
    pub fn with_model(mut self, model: impl Into<ModelSettings>) -> Self {
        self.model = model.into();
        self.parts = self.parts.with_model(self.model.model.clone());
        self
    }

    /// Sets what tools may do.
    #[must_use]
    pub fn with_permissions(mut self, permissions: impl Into<PermissionSettings>) -> Self {
        self.permissions = permissions.into();
        self
    }

    /// The model.
    #[must_use]
    pub const fn model(&self) -> &ModelSettings {
        &self.model
    }

    /// What tools may do.
    #[must_use]
    pub const fn permissions(&self) -> &PermissionSettings {
        &self.permissions
    }

    /// How the user and the agent work together.
    #[must_use]
    pub const fn collaboration_mode(&self) -> &CollaborationMode {
        &self.collaboration_mode
    }

    /// The places where the agent works.
    #[must_use]
    pub fn environments(&self) -> &[SessionEnvironment] {
        &self.environments
    }

    /// What a request has beside items.
    #[must_use]
    pub const fn parts(&self) -> &Parts {
        &self.parts
    }
}
