//! An unchanged world costs no allocation.

use std::collections::BTreeSet;
use std::hint::black_box;
use std::sync::Arc;

use allocation_counter::measure;
use context_fragments::{Kind, RetainedKinds, UserInstructions};
use world_state::*;

use crate::{history, resumed};

/// What a host holds between steps: it makes the sections of a step from shared texts.
struct Host {
    rules: UserInstructions,
    permissions: Arc<str>,
    approved: Arc<BTreeSet<Vec<String>>>,
    mode: [Arc<str>; 3],
    model: [Arc<str>; 2],
    environments: EnvironmentsState,
    words: Arc<str>,
    nested: NestedAgentsMdState,
    tools: ToolSet,
}

impl Host {
    fn new() -> Self {
        let environments = EnvironmentsState::new()
            .with_environment("local", Environment::new("/r").with_shell("bash"))
            .with_environment("remote", Environment::new("/srv").starting())
            .with_primary("local")
            .with_current_date("2026-10-20".parse().unwrap())
            .with_timezone("UTC")
            .with_subagents([SubAgent::at("/root/review")]);
        Self {
            rules: UserInstructions::new(Some("/r".into()), "Use tabs.\n".repeat(3_000)),
            permissions: "Read only.".into(),
            approved: Arc::new(BTreeSet::from([vec!["git".to_owned(), "pull".to_owned()], vec!["rg".to_owned()]])),
            mode: ["plan".into(), "m1".into(), "Ask first.".into()],
            model: ["m1".into(), "Think first.".into()],
            environments,
            words: "Words of the host.".into(),
            nested: NestedAgentsMdState::new().with_folder("/r/app", "Use spaces."),
            tools: ToolSet::parse([r#"{"type":"function","name":"grep"}"#]).unwrap(),
        }
    }

    fn set_in(&self, world: &mut WorldState, environments: EnvironmentsState) {
        let [slug, instructions] = self.model.clone();
        world.set(ModelInstructionsState::new(slug, instructions)).unwrap();
        world.set(AgentsMdState::new(Some(self.rules.clone()))).unwrap();
        let permissions = PermissionsState::new(Arc::clone(&self.permissions));
        world.set(permissions.with_approved_prefixes(Arc::clone(&self.approved))).unwrap();
        let [mode, model, instructions] = self.mode.clone();
        world.set(CollaborationModeState::new(mode, model).with_instructions(instructions)).unwrap();
        world.set(environments).unwrap();
        let words = || Arc::clone(&self.words);
        world.set(self.nested.clone()).unwrap();
        world.set(EnvironmentsInstructionsState::available(words())).unwrap();
        world.set(AppsState::available(words())).unwrap();
        world.set(PluginsState::unavailable()).unwrap();
        world.set(RealtimeState::new(words(), words()).active()).unwrap();
        world.set(MultiAgentModeState::new(words()).with_mode(words(), words()).with_usage_hint(words())).unwrap();
        world.set(ManagedDeveloperInstructionsState::new(Some(words()))).unwrap();
        world.set(PersistentModeState::on(words(), ApprovalRequestChannel::None)).unwrap();
        world.set(ContextWindowGuidanceState::new(Some(words()))).unwrap();
        world.set(PersonalityState::new(words(), words())).unwrap();
        world.set(ToolsState::new(self.tools.clone())).unwrap();
    }
}

fn held() -> RetainedKinds {
    history(&[
        Kind::AGENTS_MD,
        Kind::PERMISSIONS,
        Kind::COLLABORATION_MODE,
        Kind::ENVIRONMENT_CONTEXT,
        Kind::NESTED_AGENTS_MD,
        Kind::ENVIRONMENTS_INSTRUCTIONS,
        Kind::APPS,
        Kind::PLUGINS,
        Kind::REALTIME_START,
        Kind::MULTI_AGENT_MODE,
        Kind::MANAGED_DEVELOPER_INSTRUCTIONS,
        Kind::PERSISTENT_MODE,
        Kind::CONTEXT_WINDOW_GUIDANCE,
        Kind::PERSONALITY,
        Kind::TOOLS_DECLARED,
        Kind::USER_TEXT,
    ])
}

/// Counts one step: all sections set anew, and one rendering that says nothing.
#[track_caller]
fn count_step(host: &Host, world: &mut WorldState, told: &WorldStateSnapshot, held: &RetainedKinds) -> u64 {
    let environments = host.environments.clone();
    let mut diff = None;
    let counted = measure(|| {
        host.set_in(world, environments);
        diff = Some(world.render_diff(Some(told), held));
    });
    let diff = diff.unwrap().unwrap();
    assert!(diff.updates.is_empty() && diff.snapshot.is_same(told));
    assert_eq!(diff.snapshot.merge_patch_from(told), None);
    counted.count_total
}

#[test]
fn an_unchanged_world_allocates_nothing() {
    let (host, held) = (Host::new(), held());
    let mut world = WorldState::new();
    host.set_in(&mut world, host.environments.clone());
    let told = world.render_full().unwrap().snapshot;
    // From the first step on, and where the history holds one kind more.
    assert_eq!(count_step(&host, &mut world, &told, &held), 0);
    assert_eq!(count_step(&host, &mut world, &told, &held), 0);
    let mut more = held.clone();
    more.insert(&Kind::USER_IMAGE);
    assert_eq!(count_step(&host, &mut world, &told, &more), 0);
    // The counter counts.
    assert_ne!(measure(|| drop(black_box(Box::new(1)))).count_total, 0);
}

#[test]
fn a_rendering_that_was_only_looked_at_costs_nothing_later() {
    let (host, held) = (Host::new(), held());
    let mut world = WorldState::new();
    host.set_in(&mut world, host.environments.clone());
    let told = world.render_full().unwrap().snapshot;
    drop(world.render_full().unwrap());
    assert_eq!(count_step(&host, &mut world, &told, &held), 0);
}

#[test]
fn a_resumed_state_is_read_once() {
    let (host, held) = (Host::new(), held());
    let mut world = WorldState::new();
    host.set_in(&mut world, host.environments.clone());
    let told = resumed(&world.render_full().unwrap().snapshot);
    let mut world = WorldState::new();
    host.set_in(&mut world, host.environments.clone());
    assert_ne!(count_step(&host, &mut world, &told, &held), 0, "the first step reads it");
    assert_eq!(count_step(&host, &mut world, &told, &held), 0);
    // Nor does another world over the same state read it again, but for hashes of its own.
    let mut world = WorldState::new();
    host.set_in(&mut world, host.environments.clone());
    count_step(&host, &mut world, &told, &held);
    assert_eq!(count_step(&host, &mut world, &told, &held), 0);
}

#[test]
fn json_is_made_for_the_section_that_changed_only() {
    let (host, held) = (Host::new(), held());
    let mut world = WorldState::new();
    host.set_in(&mut world, host.environments.clone());
    let told = world.render_full().unwrap().snapshot;
    let next_day = host.environments.clone().with_current_date("2026-10-21".parse().unwrap());
    let mut diff = None;
    let counted = measure(|| {
        host.set_in(&mut world, next_day);
        diff = Some(world.render_diff(Some(&told), &held));
    });
    let diff = diff.unwrap().unwrap();
    assert_eq!(diff.updates.len(), 1);
    // The instructions alone have 30,000 bytes; nothing of that size was copied.
    assert!(counted.bytes_total < 16_000, "{} bytes", counted.bytes_total);
}
