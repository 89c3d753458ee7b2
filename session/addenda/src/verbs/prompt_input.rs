//! `prompt-input`: what would the model be sent, here and now.

use std::path::Path;

use agents_md::LoadedAgentsMd;
use context_fragments::{ContextItem, Limit, Permissions, SandboxMode};
use context_manager::{ContextManager, Model, Parts, Profile, Prompt, Recording, TruncationPolicy};
use world_state::{
    AgentsMdState, Date, Environment, EnvironmentsState, ModelInstructionsState, PermissionsState, WorldState,
    initial_context,
};

use crate::{
    args::{Preset, PromptInput},
    discovered,
    exit::{Answer, Failure},
    output, surroundings,
};

pub(crate) fn run(args: &PromptInput) -> Result<Answer, Failure> {
    let folder = surroundings::folder(args.cwd.as_deref())?;
    let loaded = discovered::discover(&folder, &args.rules)?;
    let prompt = prompt(args, &folder, &loaded)?;
    for warning in loaded.warnings() {
        output::warn(warning);
    }
    let wire = prompt.input_json();
    if args.wire { output::print_exactly(&wire) } else { output::print(&output::pretty(&wire)) }
}

/// Takes the road of one prompt: the world as sections, their first telling as items, the items into a history, the
/// history into a prompt.
fn prompt(args: &PromptInput, folder: &Path, loaded: &LoadedAgentsMd) -> Result<Prompt, Failure> {
    let mut world = world(args, folder, loaded)?;
    let told = world.render_full().map_err(|error| Failure::of(&error))?;
    let tool_output = Limit::Tokens(10_000);
    let (preset, profile, policy) = match args.rules.preset {
        Preset::Default => (context_manager::Preset::Default, Profile::responses(), TruncationPolicy::new(tool_output)),
        Preset::Codex => (context_manager::Preset::Codex, Profile::codex(), TruncationPolicy::codex(tool_output)),
    };
    let mut manager = ContextManager::with_preset(preset);
    let recording = Recording::new(policy);
    manager
        .record_update(initial_context(told.updates), told.snapshot, &recording)
        .map_err(|error| Failure::of(&error))?;
    if let Some(prompt) = &args.prompt {
        let input = ContextItem::user_text(&prompt.replace("\r\n", "\n").replace('\r', "\n"));
        manager.record_items([input], &recording).map_err(|error| Failure::of(&error))?;
    }
    let model = Model::new(args.model.as_deref().unwrap_or_default());
    Ok(manager.for_prompt(&Parts::new(model), &profile))
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
    set(world.set(PermissionsState::new(permissions(args, folder).instructions().text)))?;
    set(world.set(environments(args, folder)?.with_preset(preset)))?;
    Ok(world)
}

fn permissions(args: &PromptInput, folder: &Path) -> Permissions {
    let permissions = Permissions::new(args.sandbox, args.approval);
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
    let state = EnvironmentsState::new().with_environment("local", environment).with_current_date(date);
    // A system that does not name its time zone gets none told.
    Ok(match args.timezone.as_deref().or(timezone.iana_name()) {
        Some(name) => state.with_timezone(name),
        None => state,
    })
}
