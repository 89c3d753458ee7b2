//! One request to the model, and what was true when it was made.

use std::sync::Arc;

use agents_md::{LoadedAgentsMd, NestedLoaded, Refresh};
use context_manager::{Parts, Position, Prompt, TurnId};
use world_state::EnvironmentsState;

use crate::{Moment, PermissionSettings, Settings, StepEnvironment, nested::Nested};

/// What was true when a step began. It never changes, whatever happens to files and settings meanwhile.
///
/// Tools that run for a step read it, so that they work under the settings that the model was told.
#[derive(Clone, Debug)]
pub struct StepContext {
    pub(crate) settings: Settings,
    pub(crate) moment: Moment,
    pub(crate) environments: Vec<StepEnvironment>,
    /// What the model is told of them.
    pub(crate) places: Arc<EnvironmentsState>,
    pub(crate) instructions: Option<Arc<LoadedAgentsMd>>,
    pub(crate) refresh: Option<Refresh>,
    pub(crate) nested: Option<Nested>,
}

impl StepContext {
    /// The instructions that hold, with the trace that says where they come from; none without instruction files.
    #[must_use]
    pub const fn instructions(&self) -> Option<&Arc<LoadedAgentsMd>> {
        self.instructions.as_ref()
    }

    /// Whether the instructions had to be loaded, and why.
    #[must_use]
    pub const fn refresh(&self) -> Option<Refresh> {
        self.refresh
    }

    /// What applies in the folders that tools have [reached](crate::Session::touch), with the trace that says why; none where
    /// none was.
    #[must_use]
    pub fn nested_instructions(&self) -> Option<&NestedLoaded> {
        self.nested.as_ref().map(Nested::loaded)
    }

    /// The places where the agent works, the primary one first.
    #[must_use]
    pub fn environments(&self) -> &[StepEnvironment] {
        &self.environments
    }

    /// Model, parameters, base instructions, tools and schema of the request.
    #[must_use]
    pub const fn parts(&self) -> &Parts {
        &self.settings.parts
    }

    /// What tools may do.
    #[must_use]
    pub const fn permissions(&self) -> &PermissionSettings {
        &self.settings.permissions
    }

    /// All settings.
    #[must_use]
    pub const fn settings(&self) -> &Settings {
        &self.settings
    }

    /// When it was.
    #[must_use]
    pub const fn moment(&self) -> &Moment {
        &self.moment
    }
}

/// One request to the model: the prompt, and what was true when it was made. It is owned and changes nothing by itself.
///
/// Say [`mark_sent`](crate::Turn::mark_sent) before you send it. A step that is not sent is a preview: the next one says
/// nothing twice.
#[derive(Clone, Debug)]
pub struct Step {
    pub(crate) turn: TurnId,
    pub(crate) context: Arc<StepContext>,
    pub(crate) prompt: Prompt,
    pub(crate) appended: Vec<Position>,
    pub(crate) warnings: Vec<world_state::Warning>,
    pub(crate) effort: Option<Arc<str>>,
}

impl Step {
    /// The prompt: the exact bytes to send, where each item came from, and whether it extends the one sent before.
    #[must_use]
    pub const fn prompt(&self) -> &Prompt {
        &self.prompt
    }

    /// What was true when it began.
    #[must_use]
    pub const fn context(&self) -> &Arc<StepContext> {
        &self.context
    }

    /// The turn that it belongs to.
    #[must_use]
    pub const fn turn(&self) -> &TurnId {
        &self.turn
    }

    /// The items that it appended to the history: what changed, then what the user said.
    #[must_use]
    pub fn appended(&self) -> &[Position] {
        &self.appended
    }

    /// The reasoning effort that the request should name: with
    /// [effort updates](crate::SessionOptions::with_effort_updates) that with which the window began, else that of the
    /// settings.
    #[must_use]
    pub fn effort(&self) -> Option<&str> {
        self.effort.as_deref()
    }

    /// What the world state reported while it was rendered.
    #[must_use]
    pub fn warnings(&self) -> &[world_state::Warning] {
        &self.warnings
    }
}
