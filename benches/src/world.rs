//! A world of sixteen sections, and the same kept as it usually is: a tree that is built, compared and copied each step.
#![expect(clippy::expect_used, reason = "the sections are this crate's own, and a bench on broken ones has to fail")]

use std::collections::BTreeMap;
use std::sync::Arc;

use context_fragments::{Kind, RetainedKinds, UserInstructions};
use serde_json::{Map, Value};
use world_state::{
    AgentsMdState, ApprovalRequestChannel, AppsState, CollaborationModeState, ContextWindowGuidanceState, Date,
    Environment, EnvironmentsInstructionsState, EnvironmentsState, ManagedDeveloperInstructionsState,
    ModelInstructionsState, MultiAgentModeState, NestedAgentsMdState, PermissionsState, PersistentModeState,
    PersonalityState, PluginsState, RealtimeState, ToolSet, ToolsState, WorldState, WorldStateSnapshot,
};

/// What a host holds between steps: the texts of one state of affairs, shared.
#[derive(Debug)]
pub struct Host {
    rules: UserInstructions,
    words: Arc<str>,
    environments: EnvironmentsState,
    nested: NestedAgentsMdState,
    tools: ToolSet,
}

impl Host {
    /// The state of affairs number `number`, with `n_bytes` of instructions; another number is other in every section.
    ///
    /// # Panics
    /// If a section refuses its text.
    #[must_use]
    pub fn new(number: u8, n_bytes: usize) -> Self {
        let line = format!("Rule {number}: keep it simple and say why.\n");
        let environments = EnvironmentsState::new()
            .with_environment("local", Environment::new(format!("/r{number}")).with_shell("bash"))
            .with_environment("remote", Environment::new("/srv").starting())
            .with_primary("local")
            .with_timezone("UTC");
        let tool = format!(r#"{{"type":"function","name":"grep","description":"{number}"}}"#);
        let mut rules = line.repeat(n_bytes.div_ceil(line.len()));
        rules.truncate(n_bytes);
        Self {
            rules: UserInstructions::new(Some("/r".into()), rules),
            words: format!("Words of the host, number {number}, of the usual length of a sentence or two.").into(),
            environments: environments.with_current_date(day(1)),
            nested: NestedAgentsMdState::new().with_folder("/r/app", line),
            tools: ToolSet::parse([tool]).expect("it is a declaration"),
        }
    }

    /// The same on another day.
    #[must_use]
    pub fn on_day(mut self, number: u8) -> Self {
        self.environments = self.environments.with_current_date(day(number));
        self
    }

    /// Sets all sections, made anew from the shared texts.
    ///
    /// # Panics
    /// If two sections have one id.
    pub fn set_in(&self, world: &mut WorldState) {
        let words = || Arc::clone(&self.words);
        let set = |outcome: Result<_, world_state::Error>| {
            outcome.expect("the ids are other");
        };
        set(world.set(ModelInstructionsState::new(words(), words())));
        set(world.set(AgentsMdState::new(Some(self.rules.clone()))));
        set(world.set(PermissionsState::new(words())));
        set(world.set(CollaborationModeState::new(words(), words()).with_instructions(words())));
        set(world.set(self.environments.clone()));
        set(world.set(self.nested.clone()));
        set(world.set(EnvironmentsInstructionsState::available(words())));
        set(world.set(AppsState::available(words())));
        set(world.set(PluginsState::available(words())));
        set(world.set(RealtimeState::new(words(), words()).active()));
        set(world.set(MultiAgentModeState::new(words()).with_mode(words(), words())));
        set(world.set(ManagedDeveloperInstructionsState::new(Some(words()))));
        set(world.set(PersistentModeState::on(words(), ApprovalRequestChannel::None)));
        set(world.set(ContextWindowGuidanceState::new(Some(words()))));
        set(world.set(PersonalityState::new(words(), words())));
        set(world.set(ToolsState::new(self.tools.clone())));
    }

    /// The sections as trees, as a host without types holds them.
    ///
    /// # Panics
    /// If a section cannot say what it should.
    #[must_use]
    pub fn naive(&self) -> Naive {
        let mut world = WorldState::new();
        self.set_in(&mut world);
        let diff = world.render_full().expect("the texts are small");
        let mut texts = BTreeMap::new();
        for update in &diff.updates {
            texts.insert(update.section().to_owned(), update.text().unwrap_or_default().to_owned());
        }
        Naive { sections: diff.snapshot.into_object().into_iter().collect(), texts }
    }
}

fn day(number: u8) -> Date {
    Date::new(2026, 10, number).expect("October has it")
}

/// The kinds that a history holds once all sections are told.
#[must_use]
pub fn retained() -> RetainedKinds {
    let kinds = [
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
    ];
    kinds.iter().collect()
}

/// One step: sets all sections, says what changed, and stores it; gives how much was said.
///
/// # Panics
/// If a section cannot say what it should.
pub fn step(host: &Host, world: &mut WorldState, told: &mut WorldStateSnapshot, retained: &RetainedKinds) -> usize {
    host.set_in(world);
    let diff = world.render_diff(Some(told), retained).expect("the texts are small");
    let patch = diff.snapshot.merge_patch_from(told);
    assert_eq!(patch.is_some(), !diff.updates.is_empty());
    *told = diff.snapshot;
    diff.updates.len()
}

/// The sections as trees, and what they say.
#[derive(Debug)]
pub struct Naive {
    sections: BTreeMap<String, Value>,
    texts: BTreeMap<String, String>,
}

impl Naive {
    /// One step: builds the tree anew, compares it with what was told, says what changed, and stores a copy; gives how
    /// much was said.
    ///
    /// # Panics
    /// Never: each change of the patch has its text.
    pub fn step(&self, told: &mut BTreeMap<String, Value>) -> usize {
        let now: BTreeMap<String, Value> =
            self.sections.iter().map(|(id, json)| (id.clone(), without_nulls(json))).collect();
        let mut patch = Map::new();
        let mut said = Vec::new();
        for (id, json) in &now {
            if told.get(id) != Some(json) {
                patch.insert(id.clone(), json.clone());
                said.push(self.texts.get(id).cloned().unwrap_or_default());
            }
        }
        // What a step holds on to, beside what the history does.
        *told = now.clone();
        drop(now);
        assert_eq!(patch.len(), said.len());
        said.len()
    }
}

fn without_nulls(json: &Value) -> Value {
    match json {
        Value::Object(members) => {
            let kept = members.iter().filter(|(_, value)| !value.is_null());
            Value::Object(kept.map(|(key, value)| (key.clone(), without_nulls(value))).collect())
        }
        other => other.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_sides_say_the_same_number_of_things() {
        let hosts = [Host::new(1, 2_048), Host::new(1, 2_048).on_day(2), Host::new(2, 2_048)];
        let mut world = WorldState::new();
        let mut told = WorldStateSnapshot::default();
        let mut naive_told = BTreeMap::new();
        let retained = retained();
        hosts[0].set_in(&mut world);
        told.clone_from(&world.render_full().expect("the texts are small").snapshot);
        assert_eq!(told.ids().len(), 16);
        assert_eq!(hosts[0].naive().step(&mut naive_told), 16);
        for (host, expected) in hosts.iter().zip([0, 1, 16]) {
            assert_eq!(step(host, &mut world, &mut told, &retained), expected);
            assert_eq!(host.naive().step(&mut naive_told), expected);
        }
    }
}
