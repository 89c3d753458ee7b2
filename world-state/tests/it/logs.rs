//! States as logs of several ages hold them.

use context_fragments::{Kind, UserInstructions};
use serde_json::json;
use world_state::*;

use crate::{history, said, stored};

fn world() -> WorldState {
    let mut world = WorldState::new();
    world.set(ModelInstructionsState::new("m1", "I")).unwrap();
    world.set(AgentsMdState::new(Some(UserInstructions::new(Some("/w".into()), "Use tabs.")))).unwrap();
    world.set(PermissionsState::new("Read only.")).unwrap();
    world.set(CollaborationModeState::new("default", "m1").with_instructions("Work.")).unwrap();
    world
        .set(
            EnvironmentsState::new()
                .with_environment("local", Environment::new("/w"))
                .with_current_date("2026-07-14".parse().unwrap())
                .with_timezone("Etc/UTC"),
        )
        .unwrap();
    world
}

fn held() -> context_fragments::RetainedKinds {
    history(&[Kind::AGENTS_MD, Kind::PERMISSIONS, Kind::COLLABORATION_MODE, Kind::ENVIRONMENT_CONTEXT])
}

/// Bare strings for permissions and mode, environments without a status, and a section that is not known here.
#[test]
fn a_state_of_the_summer_of_2026() {
    let previous = stored(json!({
        "agents_md": {"directory": "/w", "text": "Use tabs."},
        "collaboration_mode": "default",
        "environments": {"environments": {"local": {"cwd": "/w"}}, "current_date": "2026-07-14", "timezone": "Etc/UTC"},
        "model": "m1",
        "permissions": "1f3b2c4d5e6f708192a3b4c5d6e7f8091a2b3c4d",
        "realtime": {"active": false},
    }));
    let mut world = world();
    let diff = world.render_diff(Some(&previous), &held()).unwrap();
    let speaking: Vec<_> = said(&diff).into_iter().map(|(section, _)| section).collect();
    assert_eq!(speaking, ["permissions", "collaboration_mode"]);
    let warnings: Vec<_> = diff.warnings.iter().map(ToString::to_string).collect();
    assert_eq!(warnings, ["section `realtime` left the world, and the model was not told"]);
    assert_eq!(
        diff.snapshot.ids().collect::<Vec<_>>(),
        ["agents_md", "collaboration_mode", "environments", "model", "permissions"]
    );
    let again = world.render_diff(Some(&diff.snapshot), &held()).unwrap();
    assert!(again.updates.is_empty() && again.warnings.is_empty() && again.snapshot.is_same(&diff.snapshot));
}

/// Hashes for texts, and sections that are a bare bool or string.
#[test]
fn a_state_of_the_autumn_of_2026() {
    let mut world = world();
    let own = world.render_full().unwrap().snapshot;
    let mut state = own.clone().into_object();
    state.insert("apps_instructions".into(), json!(false));
    state.insert("context_window_guidance".into(), json!(""));
    state.insert("managed_developer_instructions".into(), json!({}));
    state.insert("multi_agent_usage_hint".into(), json!("196577151ae691aee6e4add4dd0a75a5693c07da"));
    let previous = WorldStateSnapshot::from_object(state).unwrap();
    let diff = world.render_diff(Some(&previous), &held()).unwrap();
    assert_eq!(said(&diff), []);
    assert_eq!(diff.warnings.len(), 4);
    assert_eq!(diff.snapshot, own);
    assert_eq!(
        diff.snapshot.merge_patch_from(&previous).unwrap().to_string(),
        r#"{"apps_instructions":null,"context_window_guidance":null,"managed_developer_instructions":null,"multi_agent_usage_hint":null}"#
    );
}

/// The states that records of a log add up to: a full one, and the patches after it.
#[test]
fn the_removal_of_instructions_reads_as_told_nothing() {
    let mut state = stored(json!({"agents_md": {"directory": "/w", "text": "Use tabs."}, "model": "m1"}));
    state.apply_merge_patch(&serde_json::from_value(json!({"agents_md": {"directory": null, "text": null}})).unwrap());
    assert_eq!(state, stored(json!({"agents_md": {}, "model": "m1"})));
    let mut world = WorldState::new();
    world.set(AgentsMdState::new(Some(UserInstructions::new(None, "New.")))).unwrap();
    world.set(ModelInstructionsState::new("m1", "I")).unwrap();
    let diff = world.render_diff(Some(&state), &held()).unwrap();
    assert_eq!(said(&diff), [("agents_md", "# AGENTS.md instructions\n\n<INSTRUCTIONS>\nNew.\n</INSTRUCTIONS>")]);
}
