//! A world of sixteen sections with about a hundred texts, as a session holds it from step to step.
#![expect(clippy::expect_used, reason = "the sections are this crate's own, and a bench on broken ones has to fail")]

use std::collections::BTreeSet;
use std::sync::Arc;

use context_fragments::{Kind, RetainedKinds, UserInstructions};
use world_state::{
    AgentsMdState, ApprovalRequestChannel, AppsState, CollaborationModeState, ContextWindowGuidanceState, Date,
    Environment, EnvironmentsInstructionsState, EnvironmentsState, ManagedDeveloperInstructionsState,
    ModelInstructionsState, MultiAgentModeState, NestedAgentsMdState, NetworkAccess, PermissionsState,
    PersistentModeState, PersonalityState, PluginsState, RealtimeState, SubAgent, ToolSet, ToolsState, WorldState,
    WorldStateSnapshot,
};

use crate::naive_world::NaiveHost;

/// How many tools there are.
const N_TOOLS: usize = 24;

/// What a host holds between steps: the texts of one state of affairs, and the sections that it made of them.
///
/// Model, instruction files, mode and environments are made into sections at every step, as a session does; the others
/// are kept and handed in again.
#[derive(Debug)]
pub struct Host {
    texts: Texts,
    kept: Kept,
}

/// The texts, shared.
#[derive(Clone, Debug)]
struct Texts {
    model: Arc<str>,
    words: Arc<str>,
    rules: UserInstructions,
    approved: Arc<BTreeSet<Vec<String>>>,
    folders: Vec<(Arc<str>, Arc<str>)>,
    environments: EnvironmentsState,
    tools: ToolSet,
}

/// The sections that a host keeps.
#[derive(Debug)]
struct Kept {
    permissions: Arc<PermissionsState>,
    nested: Arc<NestedAgentsMdState>,
    environments_instructions: Arc<EnvironmentsInstructionsState>,
    apps: Arc<AppsState>,
    plugins: Arc<PluginsState>,
    realtime: Arc<RealtimeState>,
    multi_agent: Arc<MultiAgentModeState>,
    managed: Arc<ManagedDeveloperInstructionsState>,
    persistent: Arc<PersistentModeState>,
    guidance: Arc<ContextWindowGuidanceState>,
    personality: Arc<PersonalityState>,
    tools: Arc<ToolsState>,
}

impl Kept {
    fn of(texts: &Texts) -> Self {
        let words = || Arc::clone(&texts.words);
        let permissions = PermissionsState::new(words()).with_approved_prefixes(Arc::clone(&texts.approved));
        let nested = texts.folders.iter().fold(NestedAgentsMdState::new(), |nested, (folder, text)| {
            nested.with_folder(Arc::clone(folder), Arc::clone(text))
        });
        Self {
            permissions: Arc::new(permissions),
            nested: Arc::new(nested),
            environments_instructions: Arc::new(EnvironmentsInstructionsState::available(words())),
            apps: Arc::new(AppsState::available(words())),
            plugins: Arc::new(PluginsState::available(words())),
            realtime: Arc::new(RealtimeState::new(words(), words()).active()),
            multi_agent: Arc::new(MultiAgentModeState::new(words()).with_mode(Arc::clone(&texts.model), words())),
            managed: Arc::new(ManagedDeveloperInstructionsState::new(Some(words()))),
            persistent: Arc::new(PersistentModeState::on(words(), ApprovalRequestChannel::None)),
            guidance: Arc::new(ContextWindowGuidanceState::new(Some(words()))),
            personality: Arc::new(PersonalityState::new(Arc::clone(&texts.model), words())),
            tools: Arc::new(ToolsState::new(texts.tools.clone())),
        }
    }
}

impl Host {
    /// The state of affairs number `number`, with `n_bytes` of instructions; another number is other in every section.
    ///
    /// # Panics
    /// If a section refuses its text.
    #[must_use]
    pub fn new(number: u8, n_bytes: usize) -> Self {
        let line = format!("Rule {number}: keep it simple and say why.\n");
        let mut rules = line.repeat(n_bytes.div_ceil(line.len()));
        rules.truncate(n_bytes);
        let environments = EnvironmentsState::new()
            .with_environment("local", Environment::new(format!("/r{number}")).with_shell("bash"))
            .with_environment("remote", Environment::new(format!("/srv/{number}")).with_shell("zsh"))
            .with_environment("laptop", Environment::new("C:\\work").starting())
            .with_primary("local")
            .with_timezone("UTC")
            .with_network(
                &(0..8)
                    .fold(NetworkAccess::enabled(), |network, host| network.allowing(format!("host-{host}.example"))),
            )
            .with_subagents((0..4).map(|agent| SubAgent::at(&format!("/root/{agent}"))))
            .with_current_date(day(1));
        let prefix = |command: usize| vec![format!("command-{command}"), format!("--option-{number}")];
        let declaration = |tool: usize| {
            format!(
                "{{\"type\":\"function\",\"name\":\"tool_{tool}\",\"description\":\"Does {tool} for {number}.\",\
                 \"parameters\":{{\"type\":\"object\",\"properties\":{{\"path\":{{\"type\":\"string\"}}}}}}}}"
            )
        };
        let texts = Texts {
            model: format!("model-{number}").into(),
            words: format!("Words of the host, number {number}, of the usual length. ").repeat(12).trim_end().into(),
            rules: UserInstructions::new(Some("/r".into()), rules),
            approved: Arc::new((0..16).map(prefix).collect()),
            folders: (0..4).map(|folder| (format!("/r/{folder}").into(), line.repeat(8).into())).collect(),
            environments,
            tools: ToolSet::parse((0..N_TOOLS).map(declaration)).expect("they are declarations"),
        };
        Self { kept: Kept::of(&texts), texts }
    }

    /// The same on another day.
    #[must_use]
    pub fn on_day(&self, number: u8) -> Self {
        let environments = self.texts.environments.clone().with_current_date(day(number));
        let kept = Kept::of(&self.texts);
        Self { texts: Texts { environments, ..self.texts.clone() }, kept }
    }

    /// Steps into another day: what a host does that changes its environments and nothing else.
    pub fn set_day(&mut self, number: u8) {
        let environments = std::mem::take(&mut self.texts.environments);
        self.texts.environments = environments.with_current_date(day(number));
    }

    /// Makes the kept sections anew from the texts, as for a state of affairs that is new.
    pub fn remake(&mut self) {
        self.kept = Kept::of(&self.texts);
    }

    /// Sets all sections.
    ///
    /// # Panics
    /// If two sections have one id.
    pub fn set_in(&self, world: &mut WorldState) {
        let Self { texts, kept } = self;
        let words = || Arc::clone(&texts.words);
        let model = || Arc::clone(&texts.model);
        let set = |outcome: Result<_, world_state::Error>| {
            outcome.expect("the ids are other");
        };
        set(world.set(ModelInstructionsState::new(model(), words())));
        set(world.set(AgentsMdState::new(Some(texts.rules.clone()))));
        set(world.set_shared(&kept.permissions));
        set(world.set(CollaborationModeState::new(model(), model()).with_instructions(words())));
        set(world.set(texts.environments.clone()));
        set(world.set_shared(&kept.nested));
        set(world.set_shared(&kept.environments_instructions));
        set(world.set_shared(&kept.apps));
        set(world.set_shared(&kept.plugins));
        set(world.set_shared(&kept.realtime));
        set(world.set_shared(&kept.multi_agent));
        set(world.set_shared(&kept.managed));
        set(world.set_shared(&kept.persistent));
        set(world.set_shared(&kept.guidance));
        set(world.set_shared(&kept.personality));
        set(world.set_shared(&kept.tools));
    }

    /// The same state of affairs in the hands of a host that owns all its texts.
    ///
    /// # Panics
    /// If a section cannot say what it should.
    #[must_use]
    pub fn naive(&self) -> NaiveHost {
        let texts = &self.texts;
        let mut world = WorldState::new();
        self.set_in(&mut world);
        let snapshot = world.render_full().expect("the texts are small").snapshot;
        NaiveHost::new(
            (&texts.model, &texts.words),
            texts.rules.clone(),
            texts.approved.iter().cloned().collect(),
            texts.folders.iter().map(|(folder, text)| (folder.to_string(), text.to_string())).collect(),
            snapshot.section("environments").expect("it is a section").clone(),
            (snapshot.section("tools").expect("it is a section").clone(), texts.tools.to_json()),
        )
    }
}

/// A day of October 2026.
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

/// One step: sets all sections, says what changed, makes the patch, and stores the state; gives how many sections spoke.
///
/// # Panics
/// If a section cannot say what it should.
pub fn step(host: &Host, world: &mut WorldState, told: &mut WorldStateSnapshot, retained: &RetainedKinds) -> usize {
    host.set_in(world);
    let diff = world.render_diff(Some(told), retained).expect("the texts are small");
    let patch = diff.snapshot.merge_patch_from(told);
    assert_eq!(patch.is_some(), !diff.updates.is_empty());
    let n_spoke = diff.updates.chunk_by(|left, right| left.section() == right.section()).count();
    *told = diff.snapshot;
    n_spoke
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    #[test]
    fn both_sides_store_the_same_and_say_the_same_number_of_things() {
        let first = Host::new(1, 2_048);
        let hosts = [first.on_day(1), first.on_day(2), Host::new(2, 2_048)];
        let mut world = WorldState::new();
        let mut told = WorldStateSnapshot::default();
        let mut naive_told = BTreeMap::new();
        let retained = retained();
        hosts[0].set_in(&mut world);
        told.clone_from(&world.render_full().expect("the texts are small").snapshot);
        assert_eq!(hosts[0].naive().step(&mut naive_told), 16);
        for (host, expected) in hosts.iter().zip([0, 1, 16]) {
            assert_eq!(step(host, &mut world, &mut told, &retained), expected);
            assert_eq!(host.naive().step(&mut naive_told), expected);
            let naive: serde_json::Value = naive_told.clone().into_iter().collect();
            let ours = serde_json::to_value(&told).expect("it is JSON");
            assert!(ours == naive, "both sides store the same");
        }
    }

    #[test]
    fn both_sides_say_the_same_texts() {
        let host = Host::new(1, 2_048);
        let mut world = WorldState::new();
        host.set_in(&mut world);
        let diff = world.render_full().expect("the texts are small");
        let said = host.naive().said();
        for update in diff.updates.iter().filter(|update| update.section() != "environments") {
            if let Some(text) = update.text() {
                assert!(said.iter().any(|said| said == text), "{}: {text}", update.section());
            }
        }
    }

    #[test]
    fn the_world_has_about_a_hundred_texts() {
        let mut world = WorldState::new();
        Host::new(1, 2_048).set_in(&mut world);
        let snapshot = world.render_full().expect("the texts are small").snapshot;
        let n_texts = snapshot.ids().filter_map(|id| snapshot.section(id)).map(texts_in).sum::<usize>();
        assert!((80..130).contains(&n_texts), "{n_texts}");
    }

    fn texts_in(json: &serde_json::Value) -> usize {
        match json {
            serde_json::Value::String(_) => 1,
            serde_json::Value::Array(elements) => elements.iter().map(texts_in).sum(),
            serde_json::Value::Object(members) => members.values().map(texts_in).sum(),
            _ => 0,
        }
    }
}
