//! What is true when a step begins: readiness, instructions, and the world state of both.

use std::sync::Arc;

use agents_md::{NestedTargets, TurnEnvironmentSelection};
use context_fragments::TurnContextItem;
use context_manager::TurnId;
use world_state::{
    AgentsMdState, CollaborationModeState, Date, EnvironmentsState, FileSystemAccess, ModelInstructionsState,
    NetworkAccess, WorldState,
};

use crate::{
    Error, Moment, Settings, StepContext, StepEnvironment, commit::Gate, environment::StepReadiness, nested::Nested,
    options::Host,
};

/// Freezes what a step works with: asks which environments are ready, then for the instructions that hold there and in
/// the folders that tools have reached.
///
/// Dropping it leaves nothing: what was loaded is in the manager's cache or is not.
pub(crate) async fn capture_step_context(
    gate: &mut Gate,
    host: &Host,
    settings: Settings,
    targets: &NestedTargets,
) -> Result<StepContext, Error> {
    let moment = host.clock.now().map_err(|source| Error::Clock { source })?;
    let environments: Vec<_> = settings.environments.iter().map(|place| place.refresh_readiness()).collect();
    let ready = environments.iter().filter(|place| place.status == StepReadiness::Ready).map(|place| &place.selection);
    if !ready.clone().eq(gate.selections.iter()) {
        gate.selections = ready.cloned().collect::<Arc<[TurnEnvironmentSelection]>>();
    }
    let refreshed = match &host.instructions {
        Some(manager) => Some(
            manager.refresh(&gate.selections, settings.trust).await.map_err(|source| Error::Instructions { source })?,
        ),
        None => None,
    };
    let (instructions, refresh) = refreshed.map(|refreshed| (refreshed.loaded, refreshed.refresh)).unzip();
    let nested = match (&host.instructions, &instructions) {
        (Some(manager), Some(startup)) => {
            let standing = gate.nested.clone();
            Nested::load(standing, manager, startup, &gate.selections, settings.trust, targets).await?
        }
        _ => None,
    };
    gate.nested.clone_from(&nested);
    let places = match gate.places.take() {
        Some(places) if places.are_those_of(&settings, &moment, &environments) => places,
        _ => Places::new(host, &settings, &moment, &environments),
    };
    let places_section = Arc::clone(&places.section);
    gate.places = Some(places);
    Ok(StepContext { settings, moment, environments, places: places_section, instructions, refresh, nested })
}

/// What the model is told of the places of a step, with what it was made of: a step that changes none of it makes no
/// section, and the world tells the kept one by its pointer.
pub(crate) struct Places {
    environments: Vec<StepEnvironment>,
    date: Option<Date>,
    timezone: Option<Arc<str>>,
    network: Option<NetworkAccess>,
    filesystem: Option<FileSystemAccess>,
    section: Arc<EnvironmentsState>,
}

impl Places {
    fn new(host: &Host, settings: &Settings, moment: &Moment, environments: &[StepEnvironment]) -> Self {
        Self {
            environments: environments.to_vec(),
            date: moment.date(),
            timezone: moment.shared_timezone().cloned(),
            network: settings.network.clone(),
            filesystem: settings.filesystem.clone(),
            section: Arc::new(section_of(host, settings, moment, environments)),
        }
    }

    fn are_those_of(&self, settings: &Settings, moment: &Moment, environments: &[StepEnvironment]) -> bool {
        self.environments == environments
            && self.date == moment.date()
            && self.timezone.as_ref() == moment.shared_timezone()
            && self.network == settings.network
            && self.filesystem == settings.filesystem
    }
}

/// Puts the frozen step into the world, section by section; a section that is equal to the one that stands moves nothing.
///
/// `previous_model` is named where no baseline says which model the history was told.
pub(crate) fn build_world_state_for_step(
    world: &mut WorldState,
    host: &Host,
    context: &StepContext,
    previous_model: Option<&Arc<str>>,
) -> Result<(), world_state::Error> {
    let before = world.ids().len();
    put_sections(world, host, context, previous_model)?;
    if before > 0 && world.ids().len() > before {
        // A section that comes later stands last. A world that is made anew, as after a resume, has it in its place, and
        // both have to say the same in the same order.
        *world = WorldState::new();
        put_sections(world, host, context, previous_model)?;
    }
    Ok(())
}

fn put_sections(
    world: &mut WorldState,
    host: &Host,
    context: &StepContext,
    previous_model: Option<&Arc<str>>,
) -> Result<(), world_state::Error> {
    let settings = &context.settings;
    for section in &settings.sections {
        section.put(world)?;
    }
    let name: Arc<str> = settings.model.model.name().into();
    let mut model = ModelInstructionsState::new(Arc::clone(&name), Arc::clone(&settings.model.instructions));
    if let Some(previous) = previous_model {
        model = model.with_previous_model(Arc::clone(previous));
    }
    world.set(model)?;
    let instructions = context.instructions.as_ref().and_then(|loaded| loaded.fragment());
    world.set(AgentsMdState::new(instructions).with_preset(host.world_preset()))?;
    if let Some(nested) = &context.nested {
        nested.put(world)?;
    }
    world.set_shared(settings.permissions.section())?;
    let mode = CollaborationModeState::new(Arc::clone(&settings.collaboration_mode.mode), name);
    world.set(match &settings.collaboration_mode.instructions {
        Some(instructions) => mode.with_instructions(Arc::clone(instructions)),
        None => mode,
    })?;
    world.set_shared(&context.places)?;
    for section in &settings.extensions {
        world.set_extension(section.clone())?;
    }
    Ok(())
}

fn section_of(
    host: &Host,
    settings: &Settings,
    moment: &Moment,
    environments: &[StepEnvironment],
) -> EnvironmentsState {
    let mut state = EnvironmentsState::new().with_preset(host.world_preset());
    for place in environments {
        state = state.with_environment(Arc::clone(&place.selection.id), place.described());
    }
    if let Some(primary) = environments.first() {
        state = state.with_primary(Arc::clone(&primary.selection.id));
    }
    if let Some(date) = moment.date() {
        state = state.with_current_date(date);
    }
    if let Some(timezone) = moment.shared_timezone() {
        state = state.with_timezone(Arc::clone(timezone));
    }
    if let Some(network) = &settings.network {
        state = state.with_network(network);
    }
    if let Some(filesystem) = &settings.filesystem {
        state = state.with_filesystem(filesystem);
    }
    state
}

/// The settings of a turn, as the log holds them. Without an environment the folder is empty.
pub(crate) fn turn_context_of(context: &StepContext, turn: &TurnId) -> TurnContextItem {
    let settings = &context.settings;
    let cwd = context.environments.first().map(|place| place.selection.cwd.to_string_lossy());
    let permissions = settings.permissions.permissions();
    let mut item =
        TurnContextItem::builder(cwd.as_deref().unwrap_or_default(), settings.model.model.name(), permissions)
            .turn_id(turn.as_str());
    if let Some(date) = context.moment.date() {
        item = item.current_date(date.to_string());
    }
    if let Some(timezone) = context.moment.timezone() {
        item = item.timezone(timezone);
    }
    if let Some(effort) = &settings.effort {
        item = item.effort(effort.as_ref());
    }
    item.build()
}
