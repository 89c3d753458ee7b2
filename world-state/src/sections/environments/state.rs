//! Where the agent works now.

use std::sync::Arc;

use context_fragments::{EnvironmentContext, Kind, Permissions};

use super::date::Date;
use super::filesystem::FileSystemAccess;
use super::network::NetworkAccess;
use super::render;
use super::snapshot::{Environment, EnvironmentsSnapshot};
use super::subagents::{SubAgent, roster};
use crate::preset::Preset;
use crate::previous::PreviousSectionState;
use crate::section::{SectionDiff, WorldStateSection};

static KINDS: [Kind; 1] = [Kind::ENVIRONMENT_CONTEXT];

/// Says where the agent works, on which day, and what its tools may reach.
///
/// A clone is a reference count, so a host keeps one and changes copies of it.
///
/// One environment that is ready is described by itself; several, or one that is starting, in a list by id. Later only
/// what changed is said.
///
/// # Shape
/// The stored state has the environments by id, and what they share; what is absent is not there.
///
/// # Example
/// ```
/// use world_state::{Environment, EnvironmentsState, WorldState};
///
/// let mut world = WorldState::new();
/// world.set(
///     EnvironmentsState::new()
///         .with_environment("local", Environment::new("/r").with_shell("bash"))
///         .with_current_date("2026-10-20".parse()?),
/// )?;
/// assert_eq!(
///     world.render_full()?.updates[0].text(),
///     Some("<environment_context>\n  <cwd>/r</cwd>\n  <shell>bash</shell>\n  <current_date>2026-10-20</current_date>\n</environment_context>"),
/// );
/// # Ok::<(), world_state::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct EnvironmentsState {
    /// Shared with the stored state, and between the steps in which nothing changes.
    now: Arc<EnvironmentsSnapshot>,
    primary: Option<Arc<str>>,
    preset: Preset,
}

impl EnvironmentsState {
    /// Makes a world without a place, which says nothing.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Follows another preset. In [`Preset::Codex`], a diff always has the date and the time zone, what is gone is mostly
    /// not said, and what is lost from the history is not said again.
    #[must_use]
    pub fn with_preset(mut self, preset: Preset) -> Self {
        self.preset = preset;
        self
    }

    /// Adds an environment, in the place of the one with its id.
    #[must_use]
    pub fn with_environment(mut self, id: impl Into<Arc<str>>, environment: Environment) -> Self {
        self.change().environments.insert(id.into(), environment);
        self.mark_primary();
        self
    }

    /// Names the environment that is meant where none is named. It is said where there are several.
    #[must_use]
    pub fn with_primary(mut self, id: impl Into<Arc<str>>) -> Self {
        self.primary = Some(id.into());
        self.mark_primary();
        self
    }

    /// Names the version of the shell.
    #[must_use]
    pub fn with_shell_version(mut self, version: impl Into<Arc<str>>) -> Self {
        self.change().shell_version = Some(version.into());
        self
    }

    /// Names the day, where the user is.
    #[must_use]
    pub fn with_current_date(mut self, date: Date) -> Self {
        self.change().current_date = Some(date);
        self
    }

    /// Names the time zone, such as `Europe/Berlin`.
    #[must_use]
    pub fn with_timezone(mut self, timezone: impl Into<Arc<str>>) -> Self {
        self.change().timezone = Some(timezone.into());
        self
    }

    /// Says what of the network tools may reach.
    #[must_use]
    pub fn with_network(mut self, network: &NetworkAccess) -> Self {
        self.change().network = Some(network.to_xml().into());
        self
    }

    /// Says what of the file system tools may reach.
    #[must_use]
    pub fn with_filesystem(mut self, filesystem: &FileSystemAccess) -> Self {
        self.change().filesystem = Some(filesystem.to_xml().into());
        self
    }

    /// Says what of the file system and of the network tools may reach, from what is in force, with its cause.
    #[must_use]
    pub fn with_permissions(self, permissions: &Permissions) -> Self {
        self.with_network(&NetworkAccess::of(permissions)).with_filesystem(&FileSystemAccess::new(permissions))
    }

    /// Names the agents that work for this one: the first eight that fit into 1,024 bytes.
    #[must_use]
    pub fn with_subagents(mut self, agents: impl IntoIterator<Item = SubAgent>) -> Self {
        self.change().subagents = roster(agents).map(Into::into);
        self
    }

    fn change(&mut self) -> &mut EnvironmentsSnapshot {
        Arc::make_mut(&mut self.now)
    }

    fn mark_primary(&mut self) {
        let environments = &mut Arc::make_mut(&mut self.now).environments;
        let has_several = environments.len() > 1;
        for (id, environment) in environments {
            environment.is_primary = has_several && self.primary.as_ref() == Some(id);
        }
    }
}

impl WorldStateSection for EnvironmentsState {
    const ID: &'static str = "environments";
    type Snapshot = Arc<EnvironmentsSnapshot>;

    fn render_diff(
        &self,
        previous: PreviousSectionState<'_, Arc<EnvironmentsSnapshot>>,
    ) -> SectionDiff<Arc<EnvironmentsSnapshot>> {
        let body = match previous.known() {
            Some(before) if *before == self.now => return SectionDiff::keep(),
            Some(before) => render::changed(before, &self.now, self.preset),
            None => render::whole(&self.now),
        };
        let diff = SectionDiff::set(Arc::clone(&self.now));
        match body {
            Some(body) => diff.tell(&EnvironmentContext::new(body)),
            None => diff,
        }
    }

    fn kinds(&self) -> &[Kind] {
        &KINDS
    }

    fn retained_kinds(&self) -> &[Kind] {
        match self.preset {
            Preset::Default => &KINDS,
            Preset::Codex => &[],
        }
    }
}
