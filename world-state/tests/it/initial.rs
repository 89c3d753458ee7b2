//! The messages that open a window, whole.

use context_fragments::{ApprovalPolicy, ContextItem, Permissions, SandboxMode, UserInstructions};
use world_state::*;

/// The wire bytes, one message a line.
fn shown(items: &[ContextItem]) -> String {
    items.iter().map(|item| format!("{}\n  {:?}\n", item.item().as_str(), item.kinds())).collect()
}

fn world() -> WorldState {
    let permissions = Permissions::new(SandboxMode::WorkspaceWrite, ApprovalPolicy::OnRequest).with_writable_root("/r");
    let mut world = WorldState::new();
    world.set(AgentsMdState::new(Some(UserInstructions::new(Some("/r".into()), "Use tabs.")))).unwrap();
    world.set(PermissionsState::from(&permissions).with_approved_prefix(["git", "pull"])).unwrap();
    world.set(CollaborationModeState::new("plan", "m2").with_instructions("Ask first.")).unwrap();
    world
        .set(
            EnvironmentsState::new()
                .with_environment("local", Environment::new("/r").with_shell("bash"))
                .with_current_date("2026-10-20".parse().unwrap())
                .with_timezone("Europe/Berlin")
                .with_filesystem(&FileSystemAccess::new(&permissions).with_workspace_root("/r")),
        )
        .unwrap();
    // Last on purpose: the switch stands first in the developer message wherever its section stands.
    world.set(ModelInstructionsState::new("m2", "Think first.").with_previous_model("m1")).unwrap();
    world
}

#[test]
fn the_context_of_a_first_turn() {
    let items = initial_context(world().render_full().unwrap().updates);
    assert_eq!(items.len(), 2, "one developer message, one user message");
    insta::assert_snapshot!(shown(&items));
}

#[test]
fn a_switch_that_comes_up_later_is_a_message_of_its_own() {
    let mut world = world();
    let told = world.render_full().unwrap().snapshot;
    let kinds: Vec<_> = ["agents_md.instructions", "permissions.instructions", "collaboration_mode.instructions"]
        .into_iter()
        .chain(["environments.environment_context"])
        .map(context_fragments::Kind::from_static)
        .collect();
    world.set(CollaborationModeState::new("default", "m3")).unwrap();
    world.set(PermissionsState::new("P")).unwrap();
    world.set(ModelInstructionsState::new("m3", "Be brief.")).unwrap();
    let diff = world.render_diff(Some(&told), &crate::history(&kinds)).unwrap();
    let items = merge_updates(diff.updates);
    assert_eq!(items.iter().map(|item| item.kinds().len()).collect::<Vec<_>>(), [2, 1]);
    assert_eq!(items[1].kinds(), [context_fragments::Kind::MODEL_SWITCH]);
}

#[test]
fn every_section_has_its_place_in_the_first_context() {
    let permissions = Permissions::new(SandboxMode::ReadOnly, ApprovalPolicy::Never);
    let mut world = WorldState::new();
    world.set(ManagedDeveloperInstructionsState::new(Some("Managed.".into()))).unwrap();
    world.set(EnvironmentsState::new().with_environment("local", Environment::new("/r"))).unwrap();
    world.set(NestedAgentsMdState::new().with_folder("/r/app", "App.")).unwrap();
    world.set(AgentsMdState::new(Some(UserInstructions::new(None, "Root.")))).unwrap();
    world.set(MultiAgentModeState::new("Asked.").with_mode("proactive", "Unasked.")).unwrap();
    world.set(ToolsState::new(ToolSet::parse([r#"{"name":"grep"}"#]).unwrap())).unwrap();
    world.set(AppsState::available("Apps.")).unwrap();
    world.set(PermissionsState::from(&permissions)).unwrap();
    world.set(ModelInstructionsState::new("m2", "Think.").with_previous_model("m1")).unwrap();
    let items = initial_context(world.render_full().unwrap().updates);
    let kinds: Vec<String> = items
        .iter()
        .map(|item| item.kinds().iter().map(context_fragments::Kind::as_str).collect::<Vec<_>>().join(", "))
        .collect();
    assert_eq!(
        kinds,
        [
            "tools.declared",
            "model_switch.instructions, apps.instructions, permissions.instructions",
            "multi_agent_mode.instructions",
            "environments.environment_context, nested_agents_md.instructions, agents_md.instructions",
            "managed_config.developer_instructions",
        ]
    );
}
