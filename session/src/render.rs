//! What a step has to say, and the history that says it.

use std::sync::Arc;

use context_fragments::ContextItem;
use context_manager::{ContextManager, Incoming, Position, TurnId};
use world_state::{Update, WorldState, WorldStateDiff, initial_context, merge_updates};

use crate::{
    Error, StepContext, UserInput,
    capture::{build_world_state_for_step, turn_context_of},
    effort,
    options::{EffortUpdates, Host},
    records::Beside,
};

/// A history that a step was added to.
pub(crate) struct Rendered {
    pub(crate) next: ContextManager,
    pub(crate) appended: Vec<Position>,
    pub(crate) beside: Beside,
    pub(crate) warnings: Vec<world_state::Warning>,
}

/// Adds to a copy of `manager` what the step has to say: the items, then the baseline that they make true, then the turn
/// context if it is not the one that stands, then what the user said.
///
/// The order is that of the log. With an error nothing has moved: the copy is dropped.
pub(crate) fn record_step_world_state_if_changed(
    manager: &ContextManager,
    world: &mut WorldState,
    host: &Host,
    context: &StepContext,
    turn: &TurnId,
    previous_model: Option<&Arc<str>>,
    input: &[UserInput],
) -> Result<Rendered, Error> {
    let failed = |source| Error::WorldState { source };
    let told = manager.world_state_baseline();
    let is_first = manager.reference_context_item().is_none();
    let previous_model = previous_model.filter(|_| is_first || told.is_none());
    build_world_state_for_step(world, host, context, previous_model).map_err(failed)?;
    let diff = match is_first {
        true => world.render_full(),
        false => world.render_diff(told, &manager.retained_kinds()),
    };
    let WorldStateDiff { snapshot, updates, warnings, .. } = diff.map_err(failed)?;
    let items = if is_first { build_initial_context(updates) } else { merge_updates(updates) };
    let recording = host.recording(Some(turn));
    let mut next = manager.clone();
    let mut items: Vec<Incoming> = items.into_iter().map(Incoming::new).collect();
    if host.effort_updates == EffortUpdates::Appended {
        items.extend(effort::update(manager.history(), context.settings.effort.as_deref()));
    }
    let said = next.record_update(items, snapshot, &recording).map_err(Error::history)?;
    next.set_reference_context_item(Some(turn_context_of(context, turn)));
    let input = input.iter().filter_map(UserInput::item).map(|item| host.redacted(item));
    let input = next.record_items(input, &recording).map_err(Error::history)?;
    let mut appended = said.positions;
    appended.extend(input.positions);
    let mut beside = Beside { turn: Some(turn.clone()), originals: said.originals, ..Beside::default() };
    beside.originals.extend(input.originals);
    Ok(Rendered { next, appended, beside, warnings })
}

/// The messages that open a window: everything that the model should know, grouped by role.
pub(crate) fn build_initial_context(updates: impl IntoIterator<Item = Update>) -> Vec<ContextItem> {
    initial_context(updates)
}
