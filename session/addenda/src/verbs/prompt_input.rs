//! `prompt-input`: what would the model be sent, here and now.

use std::path::Path;

use agents_md::LoadedAgentsMd;
use context_fragments::{ContextItem, Limit, Permissions, SandboxMode};
use context_manager::{ContextManager, Model, Parts, Profile, Prompt, Recording, TruncationPolicy};
use world_state::{
    AgentsMdState, CollaborationModeState, Date, Environment, EnvironmentsState, ModelInstructionsState, NetworkAccess,
    PermissionsState, WorldState, initial_context, merge_updates,
};

use crate::{
    args::{Preset, PromptInput},
    discovered,
    exit::{Answer, Failure},
    output,
    saved::{self, Saved},
    surroundings,
};

/// The id of the environment that the command runs in.
const LOCAL: &str = "local";

pub(crate) fn run(args: &PromptInput) -> Result<Answer, Failure> {
    let folder = surroundings::folder(args.cwd.as_deref())?;
    let loaded = discovered::discover(&folder, &args.rules)?;
    let since = args.since.as_deref().map(Saved::read).transpose()?;
    let (prompt, saved) = prompt(args, &folder, &loaded, since.as_ref())?;
    if let Some(file) = &args.save_state {
        saved.write(file)?;
    }
    for warning in loaded.warnings() {
        output::warn(warning);
    }
    let wire = prompt.input_json();
    if args.wire { output::print_exactly(&wire) } else { output::print(&output::pretty(&wire)) }
}

/// Takes the road of one prompt: the world as sections, their first telling as items, the items into a history, the
/// history into a prompt.
///
/// Since a state that was told, only what changed is said.
fn prompt(
    args: &PromptInput,
    folder: &Path,
    loaded: &LoadedAgentsMd,
    since: Option<&Saved>,
) -> Result<(Prompt, Saved), Failure> {
    let mut world = world(args, folder, loaded)?;
    let held = since.map(Saved::retained).unwrap_or_default();
    let told = world.render_diff(since.map(|saved| &saved.snapshot), &held).map_err(|error| Failure::of(&error))?;
    for warning in &told.warnings {
        output::warn(warning);
    }
    let items = if since.is_some() { merge_updates(told.updates) } else { initial_context(told.updates) };
    let tool_output = Limit::Tokens(10_000);
    let (preset, profile, policy) = match args.rules.preset {
        Preset::Default => (context_manager::Preset::Default, Profile::responses(), TruncationPolicy::new(tool_output)),
        Preset::Codex => (context_manager::Preset::Codex, Profile::codex(), TruncationPolicy::codex(tool_output)),
    };
    let mut manager = ContextManager::with_preset(preset);
    let recording = Recording::new(policy);
    manager.record_update(items, told.snapshot.clone(), &recording).map_err(|error| Failure::of(&error))?;
    if let Some(prompt) = &args.prompt {
        let input = ContextItem::user_text(&prompt.replace("\r\n", "\n").replace('\r', "\n"));
        manager.record_items([input], &recording).map_err(|error| Failure::of(&error))?;
    }
    let model = Model::new(args.model.as_deref().unwrap_or_default());
    let prompt = manager.for_prompt(&Parts::new(model), &profile);
    let held = held.iter().chain(manager.retained_kinds().iter()).collect();
    Ok((prompt, Saved::new(told.snapshot, &held)))
}

/// All that the model should know that is not conversation.
fn world(args: &PromptInput, folder: &Path, loaded: &LoadedAgentsMd) -> Result<WorldState, Failure> {
    let preset = match args.rules.preset {
        Preset::Default => world_state::Preset::Default,
        Preset::Codex => world_state::Preset::Codex,
    };
    let mut world = WorldState::new();
    let set = |outcome: Result<_, world_state::Error>| outcome.map(drop).map_err(|error| Failure::of(&error));
    if let Some(model) = &args.model {
        set(world.set(ModelInstructionsState::new(model.as_str(), "")))?;
    }
    set(world.set(AgentsMdState::new(loaded.fragment()).with_preset(preset)))?;
    let mut permissions = PermissionsState::new(permissions(args, folder).instructions().text);
    for prefix in &args.approved_prefix {
        permissions = permissions.with_approved_prefix(&prefix.0);
    }
    set(world.set(permissions))?;
    if let Some(mode) = &args.mode {
        let mut state = CollaborationModeState::new(mode.name.as_str(), args.model.as_deref().unwrap_or_default());
        if let Some(file) = &mode.file {
            state = state.with_instructions(saved::instructions(file)?);
        }
        set(world.set(state))?;
    }
    set(world.set(environments(args, folder)?.with_preset(preset)))?;
    Ok(world)
}

fn permissions(args: &PromptInput, folder: &Path) -> Permissions {
    let mut permissions = Permissions::new(args.sandbox, args.approval);
    if args.network {
        permissions = permissions.with_network();
    }
    match args.sandbox {
        SandboxMode::WorkspaceWrite => permissions.with_writable_root(folder.to_string_lossy()),
        _ => permissions,
    }
}

fn environments(args: &PromptInput, folder: &Path) -> Result<EnvironmentsState, Failure> {
    let mut environment = Environment::new(folder.to_string_lossy());
    if let Some(shell) = args.shell.clone().or_else(surroundings::shell) {
        environment = environment.with_shell(shell);
    }
    let timezone = surroundings::timezone(args.timezone.as_deref())?;
    let today = args.date.unwrap_or_else(|| surroundings::today(&timezone));
    let date: Date = today.to_string().parse().map_err(|error: world_state::Error| Failure::of(&error))?;
    let mut state = EnvironmentsState::new().with_environment(LOCAL, environment).with_current_date(date);
    let mut ids = vec![LOCAL];
    for other in &args.environments {
        if ids.contains(&other.id.as_str()) {
            return Err(Failure::new(format_args!("two environments are called `{}`", other.id)));
        }
        ids.push(&other.id);
        state = state.with_environment(other.id.as_str(), Environment::new(other.folder.as_str()));
    }
    if !args.environments.is_empty() {
        state = state.with_primary(LOCAL);
    }
    if args.network {
        state = state.with_network(&NetworkAccess::enabled());
    }
    // A system that does not name its time zone gets none told.
    Ok(match args.timezone.as_deref().or(timezone.iana_name()) {
        Some(name) => state.with_timezone(name),
        None => state,
    })
}
