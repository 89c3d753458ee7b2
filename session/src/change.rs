//! Changing settings while a session runs.

use agents_md::TrustLevel;
use world_state::{ExtensionSection, FileSystemAccess, NetworkAccess, WorldStateSection};

use crate::{CollaborationMode, Error, ModelSettings, PermissionSettings, Session, SessionEnvironment, Settings};

/// Changes of settings. Each holds from the next step on, which appends what the model has to be told; nothing that was
/// sent is edited, and a step that was taken keeps what it was taken with.
impl Session {
    /// Lets another model answer. It is told its instructions in a message; the base instructions stay.
    pub fn set_model(&self, model: impl Into<ModelSettings>) {
        let model = model.into();
        self.change(|settings| settings.with_model(model));
    }

    /// Changes what tools may do.
    pub fn set_permissions(&self, permissions: impl Into<PermissionSettings>) {
        let permissions = permissions.into();
        self.change(|settings| settings.with_permissions(permissions));
    }

    /// Changes how the user and the agent work together.
    pub fn set_collaboration_mode(&self, mode: CollaborationMode) {
        self.change(|settings| settings.with_collaboration_mode(mode));
    }

    /// Changes where the agent works. Instructions are loaded for the new places.
    pub fn set_environments(&self, environments: impl IntoIterator<Item = SessionEnvironment>) {
        let environments: Vec<SessionEnvironment> = environments.into_iter().collect();
        self.change(|settings| settings.with_environments(environments));
    }

    /// Changes how far the project is trusted. Instructions are loaded anew.
    pub fn set_trust(&self, trust: TrustLevel) {
        self.change(|settings| settings.with_trust(trust));
    }

    /// Changes the reasoning effort that the turn context names.
    pub fn set_effort(&self, effort: impl Into<std::sync::Arc<str>>) {
        let effort = effort.into();
        self.change(|settings| settings.with_effort(effort));
    }

    /// Changes what of the network tools may reach.
    pub fn set_network(&self, network: NetworkAccess) {
        self.change(|settings| settings.with_network(network));
    }

    /// Changes what of the file system tools may reach.
    pub fn set_filesystem(&self, filesystem: FileSystemAccess) {
        self.change(|settings| settings.with_filesystem(filesystem));
    }

    /// Adds or replaces a section of the host's own. To take one back, give it its empty form.
    pub fn set_extension(&self, section: ExtensionSection) {
        self.change(|settings| settings.with_extension(section));
    }

    /// Adds or replaces one of the ready-made sections; see [`Settings::with_section`].
    pub fn set_section<S: WorldStateSection>(&self, section: S) {
        self.change(|settings| settings.with_section(section));
    }

    /// Changes the tools of the next request: a declared break of the prefix, since tools stand before all items.
    ///
    /// # Errors
    /// [`Error::History`] if it is no JSON array. Nothing was changed.
    pub fn set_tools(&self, json: &str) -> Result<(), Error> {
        self.try_change(|settings| settings.with_tools(json))
    }

    /// Changes the parameters of the next request: a declared break of the prefix.
    ///
    /// # Errors
    /// [`Error::History`] if it is no JSON object. Nothing was changed.
    pub fn set_parameters(&self, json: &str) -> Result<(), Error> {
        self.try_change(|settings| settings.with_parameters(json))
    }

    /// Changes the output schema of the next request: a declared break of the prefix.
    ///
    /// # Errors
    /// [`Error::History`] if it is neither a JSON object nor null. Nothing was changed.
    pub fn set_schema(&self, json: &str) -> Result<(), Error> {
        self.try_change(|settings| settings.with_schema(json))
    }

    /// Has the instruction files read again at the next step, for a host that knows that one was edited. What changed is
    /// appended as a replacement; if nothing did, nothing is said.
    pub fn invalidate_instructions(&self) {
        if let Some(manager) = self.instructions() {
            manager.invalidate();
        }
    }

    fn change(&self, change: impl FnOnce(Settings) -> Settings) {
        let mut state = self.inner.state();
        state.settings = change(state.settings.clone());
    }

    fn try_change(&self, change: impl FnOnce(Settings) -> Result<Settings, Error>) -> Result<(), Error> {
        let mut state = self.inner.state();
        state.settings = change(state.settings.clone())?;
        Ok(())
    }
}
