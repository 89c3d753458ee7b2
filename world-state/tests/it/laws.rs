//! Laws that hold for every world and every course of events.

use std::collections::{BTreeMap, BTreeSet};

use context_fragments::{ContextItem, Kind, RetainedKinds, UserInstructions};
use proptest::prelude::*;
use serde_json::{Map, Value};
use world_state::*;

use crate::patch::any_json;
use crate::resumed;

/// A state of affairs, small enough that two of them are often alike in part.
#[derive(Debug, Clone)]
struct Affairs {
    model: u8,
    agents_md: Option<u8>,
    permissions: u8,
    approved: BTreeSet<u8>,
    mode: u8,
    mode_instructions: Option<u8>,
    places: BTreeMap<u8, Place>,
    primary: u8,
    day: u8,
    network: Option<u8>,
    subagents: u8,
}

#[derive(Debug, Clone, PartialEq)]
struct Place {
    cwd: u8,
    is_starting: bool,
    shell: Option<u8>,
}

fn any_affairs() -> impl Strategy<Value = Affairs> {
    let place = (0..2_u8, prop::bool::weighted(0.3), prop::option::of(0..2_u8))
        .prop_map(|(cwd, is_starting, shell)| Place { cwd, is_starting, shell });
    let words = (0..2_u8, prop::option::of(0..2_u8), 0..2_u8, prop::collection::btree_set(0..3_u8, 0..3));
    let mode = (0..2_u8, prop::option::of(0..3_u8));
    let places = (prop::collection::btree_map(0..3_u8, place, 0..3), 0..3_u8);
    let shared = (1..3_u8, prop::option::of(0..2_u8), 0..3_u8);
    (words, mode, places, shared).prop_map(|(words, mode, places, shared)| Affairs {
        model: words.0,
        agents_md: words.1,
        permissions: words.2,
        approved: words.3,
        mode: mode.0,
        mode_instructions: mode.1,
        places: places.0,
        primary: places.1,
        day: shared.0,
        network: shared.1,
        subagents: shared.2,
    })
}

impl Affairs {
    fn agents_md(&self) -> Option<String> {
        self.agents_md.map(|text| format!("Rule {text}."))
    }

    fn approvals(&self) -> BTreeSet<String> {
        self.approved.iter().map(|word| format!("tool{word}")).collect()
    }

    /// The third kind of instructions is an empty text.
    fn mode_instructions(&self) -> Option<String> {
        self.mode_instructions.map(|text| if text == 2 { String::new() } else { format!("Mode {text}.") })
    }

    fn set_in(&self, world: &mut WorldState, preset: Preset) {
        world.set(ModelInstructionsState::new(format!("m{}", self.model), "Think.")).unwrap();
        let instructions = self.agents_md().map(|text| UserInstructions::new(Some("/r".into()), text));
        world.set(AgentsMdState::new(instructions).with_preset(preset)).unwrap();
        let permissions = PermissionsState::new(format!("Permissions {}.", self.permissions));
        let approved = self.approvals().into_iter().map(|word| vec![word]).collect::<BTreeSet<_>>();
        world.set(permissions.with_approved_prefixes(approved.into())).unwrap();
        let mut mode = CollaborationModeState::new(format!("mode{}", self.mode), "m");
        if let Some(instructions) = self.mode_instructions() {
            mode = mode.with_instructions(instructions);
        }
        world.set(mode).unwrap();
        let mut environments = EnvironmentsState::new()
            .with_preset(preset)
            .with_primary(format!("e{}", self.primary))
            .with_current_date(Date::new(2026, 10, self.day).unwrap())
            .with_subagents((0..self.subagents).map(|agent| SubAgent::at(&format!("/{agent}"))));
        for (id, place) in &self.places {
            let mut environment = Environment::new(format!("/{}", place.cwd));
            if place.is_starting {
                environment = environment.starting();
            }
            if let Some(shell) = place.shell {
                environment = environment.with_shell(format!("sh{shell}"));
            }
            environments = environments.with_environment(format!("e{id}"), environment);
        }
        if let Some(domain) = self.network {
            environments = environments.with_network(&NetworkAccess::enabled().allowing(format!("d{domain}")));
        }
        world.set(environments).unwrap();
    }
}

/// What somebody knows who reads only what is said.
#[derive(Debug, Clone, PartialEq, Default)]
struct Reader {
    agents_md: Option<String>,
    permissions: String,
    approvals: BTreeSet<String>,
    mode: String,
    /// By id; an environment that was described by itself has none.
    places: BTreeMap<String, BTreeMap<String, String>>,
    shared: BTreeMap<String, String>,
}

impl Reader {
    fn read(&mut self, kind: &Kind, text: &str) {
        if *kind == Kind::AGENTS_MD {
            let (_, text) = text.split_once("<INSTRUCTIONS>\n").unwrap();
            let text = text.strip_suffix("\n</INSTRUCTIONS>").unwrap();
            let replacement =
                "These AGENTS.md instructions replace all previously provided AGENTS.md instructions.\n\n";
            assert_eq!(self.agents_md.is_some(), text.starts_with(replacement) || text.ends_with("no longer apply."));
            self.agents_md = (!text.ends_with("no longer apply."))
                .then(|| text.strip_prefix(replacement).unwrap_or(text).to_owned());
        } else if *kind == Kind::PERMISSIONS {
            let mut lines = text.lines().skip(1);
            self.permissions = lines.next().unwrap().to_owned();
            self.approvals = BTreeSet::new();
            self.read_approvals(text);
        } else if *kind == Kind::APPROVED_COMMAND_PREFIXES {
            self.read_approvals(text);
        } else if *kind == Kind::COLLABORATION_MODE {
            let text = text.strip_prefix("<collaboration_mode>").unwrap();
            self.mode = text.strip_suffix("</collaboration_mode>").unwrap().to_owned();
        } else if *kind == Kind::ENVIRONMENT_CONTEXT {
            self.read_environments(text);
        } else {
            assert_eq!(*kind, Kind::MODEL_SWITCH);
        }
    }

    fn read_approvals(&mut self, text: &str) {
        let words = text.lines().filter_map(|line| line.strip_prefix("- [\"")?.strip_suffix("\"]"));
        for word in words {
            assert!(self.approvals.insert(word.to_owned()), "{word} was said before");
        }
    }

    fn read_environments(&mut self, text: &str) {
        let mut place: Option<String> = None;
        let mut agents: Option<String> = None;
        for line in text.lines().filter(|line| line.starts_with(' ')) {
            let line = line.trim();
            let quoted = |attribute: &str| {
                let (_, value) = line.split_once(&format!("{attribute}=\""))?;
                Some(value.split_once('"').unwrap().0.to_owned())
            };
            let tag: String =
                line[1..].chars().take_while(|character| character.is_ascii_lowercase() || *character == '_').collect();
            if let Some(lines) = &mut agents {
                if line == "</subagents>" {
                    self.shared.insert("subagents".into(), agents.take().unwrap());
                } else {
                    lines.push_str(line);
                }
            } else if line == "<subagents>" {
                agents = Some(String::new());
            } else if line == "<environments>" {
                // From here on everything has an id.
                self.places.remove("");
            } else if tag == "environment" {
                let id = quoted("id").unwrap();
                if quoted("status").is_some() {
                    self.places.remove(&id);
                    continue;
                }
                if let Some(primary) = quoted("primary") {
                    self.places.entry(id.clone()).or_default().insert("primary".into(), primary);
                }
                place = Some(id);
            } else if line.starts_with("</environment") {
                place = None;
            } else {
                let is_of_place = ["cwd", "status", "shell"].contains(&tag.as_str());
                let values = if is_of_place {
                    // What is described by itself is the only one there is, under whatever id.
                    let sole = self.places.keys().next().cloned().unwrap_or_default();
                    assert!(place.is_some() || self.places.len() <= 1, "{text}");
                    self.places.entry(place.clone().unwrap_or(sole)).or_default()
                } else {
                    &mut self.shared
                };
                if line.ends_with("status=\"unavailable\" />") {
                    values.remove(&tag);
                } else {
                    values.insert(tag, line.to_owned());
                }
            }
        }
    }

    /// What was described by itself and what was described in a list are the same; a place that was never said to be
    /// anything is available, and not primary.
    fn places(&self) -> Vec<BTreeMap<String, String>> {
        let plain = |place: &BTreeMap<String, String>| {
            let defaults = [("status", "<status>available</status>"), ("primary", "false")];
            let said = |(key, value): &(&String, &String)| !defaults.contains(&(key.as_str(), value.as_str()));
            place.iter().filter(said).map(|(key, value)| (key.clone(), value.clone())).collect()
        };
        self.places.values().map(plain).collect()
    }

    /// Forgets what is said in parts of these kinds.
    fn forget(&mut self, kind: &Kind) {
        let fresh = Self::default();
        if *kind == Kind::AGENTS_MD {
            self.agents_md = fresh.agents_md;
        } else if *kind == Kind::PERMISSIONS {
            (self.permissions, self.approvals) = (fresh.permissions, fresh.approvals);
        } else if *kind == Kind::COLLABORATION_MODE {
            self.mode = fresh.mode;
        } else if *kind == Kind::ENVIRONMENT_CONTEXT {
            (self.places, self.shared) = (fresh.places, fresh.shared);
        }
    }

    fn check(&self, affairs: &Affairs) {
        assert_eq!(self.agents_md, affairs.agents_md());
        assert_eq!(self.permissions, format!("Permissions {}.", affairs.permissions));
        assert_eq!(self.approvals, affairs.approvals());
        assert_eq!(self.mode, affairs.mode_instructions().unwrap_or_default());
        let place = |(id, place): (&u8, &Place)| {
            let mut fields = BTreeMap::from([("cwd".to_owned(), format!("<cwd>/{}</cwd>", place.cwd))]);
            if place.is_starting {
                fields.insert("status".into(), "<status>starting</status>".into());
            }
            if let Some(shell) = place.shell {
                fields.insert("shell".into(), format!("<shell>sh{shell}</shell>"));
            }
            if *id == affairs.primary && affairs.places.len() > 1 {
                fields.insert("primary".into(), "true".into());
            }
            fields
        };
        let mut told = self.places();
        if let [sole] = told.as_mut_slice() {
            // It was primary among others that are gone since.
            sole.remove("primary");
        }
        assert_eq!(told, affairs.places.iter().map(place).collect::<Vec<_>>());
        let mut shared = BTreeMap::from([(
            "current_date".to_owned(),
            format!("<current_date>2026-10-{:02}</current_date>", affairs.day),
        )]);
        if let Some(domain) = affairs.network {
            let network = format!("<network enabled=\"true\"><allowed>d{domain}</allowed></network>");
            shared.insert("network".into(), network);
        }
        if affairs.subagents > 0 {
            let agents = (0..affairs.subagents).map(|agent| format!("<agent name=\"/{agent}\" />")).collect();
            shared.insert("subagents".into(), agents);
        }
        assert_eq!(self.shared, shared);
    }
}

/// What happens before and after a rendering.
#[derive(Debug, Clone)]
enum Event {
    /// The messages come into the history and the state is stored.
    Recorded,
    /// Nothing comes into the history and nothing is stored.
    Refused,
    /// The process ends and another one reads the log; then as recorded.
    Resumed,
    /// The history is replaced by nothing, and the state is cleared; then as recorded.
    Compacted,
    /// Parts of this kind are lost from the history; then as recorded.
    Lost(usize),
}

const KINDS: [Kind; 4] = [Kind::AGENTS_MD, Kind::PERMISSIONS, Kind::COLLABORATION_MODE, Kind::ENVIRONMENT_CONTEXT];

const RARE_KINDS: [Kind; 11] = [
    Kind::APPS,
    Kind::PLUGINS,
    Kind::ENVIRONMENTS_INSTRUCTIONS,
    Kind::MANAGED_DEVELOPER_INSTRUCTIONS,
    Kind::CONTEXT_WINDOW_GUIDANCE,
    Kind::REALTIME_START,
    Kind::MULTI_AGENT_MODE,
    Kind::PERSISTENT_MODE,
    Kind::PERSONALITY,
    Kind::NESTED_AGENTS_MD,
    Kind::TOOLS_DECLARED,
];

fn any_event() -> impl Strategy<Value = Event> {
    prop_oneof![
        4 => Just(Event::Recorded),
        2 => Just(Event::Refused),
        1 => Just(Event::Resumed),
        1 => Just(Event::Compacted),
        1 => (0..KINDS.len()).prop_map(Event::Lost),
    ]
}

/// A host in small: a history of which only kinds and texts count, and the state that it stored.
#[derive(Default)]
struct Host {
    baseline: Option<WorldStateSnapshot>,
    retained: RetainedKinds,
    reader: Reader,
}

impl Host {
    fn record(&mut self, items: &[ContextItem], snapshot: WorldStateSnapshot) {
        for item in items {
            let parts = item.item().json().member("content").unwrap().elements();
            for (kind, part) in item.kinds().iter().zip(parts) {
                self.reader.read(kind, &part.member("text").unwrap().to_str().unwrap());
                self.retained.insert(kind);
            }
        }
        self.baseline = Some(snapshot);
    }
}

proptest! {
    /// The part that is this crate's: against a state that was stored nothing is said again, against one that was not
    /// everything is; and who reads only what is said knows the world, whatever happened on the way.
    #[test]
    fn law_7_baseline_is_what_the_model_was_told(
        steps in prop::collection::vec((any_affairs(), any_event()), 1..8),
    ) {
        let mut world = WorldState::new();
        let mut host = Host::default();
        for (affairs, event) in &steps {
            match event {
                Event::Resumed => {
                    world = WorldState::new();
                    host.baseline = host.baseline.as_ref().map(resumed);
                }
                Event::Compacted => host = Host::default(),
                Event::Lost(kind) => {
                    let lost = &KINDS[*kind];
                    host.retained = host.retained.iter().filter(|kind| *kind != lost).collect();
                    host.reader.forget(lost);
                }
                Event::Recorded | Event::Refused => {}
            }
            affairs.set_in(&mut world, Preset::Default);
            let diff = world.render_diff(host.baseline.as_ref(), &host.retained).unwrap();
            prop_assert_eq!(&diff.warnings, &[]);
            if matches!(event, Event::Refused) {
                let again = world.render_diff(host.baseline.as_ref(), &host.retained).unwrap();
                prop_assert_eq!(again.updates, diff.updates);
                prop_assert_eq!(again.snapshot, diff.snapshot);
                continue;
            }
            let patched = host.baseline.clone().map(|mut baseline| {
                if let Some(patch) = diff.snapshot.merge_patch_from(&baseline) {
                    baseline.apply_merge_patch(&patch);
                }
                baseline
            });
            prop_assert!(patched.is_none_or(|patched| patched == diff.snapshot));
            let is_first = host.baseline.is_none();
            let items = if is_first { initial_context(diff.updates) } else { merge_updates(diff.updates) };
            host.record(&items, diff.snapshot);
            host.reader.check(affairs);
            let again = world.render_diff(host.baseline.as_ref(), &host.retained).unwrap();
            prop_assert_eq!(again.updates, vec![]);
            prop_assert!(again.snapshot.is_same(host.baseline.as_ref().unwrap()));
        }
    }

    /// Equal worlds say nothing, in both presets, live and resumed, and a diff that is taken twice says nothing twice.
    #[test]
    fn equal_worlds_say_nothing(before in any_affairs(), now in any_affairs(), is_codex in any::<bool>()) {
        let preset = if is_codex { Preset::Codex } else { Preset::Default };
        let retained: RetainedKinds = KINDS.iter().chain(&RARE_KINDS).collect();
        let mut world = WorldState::new();
        before.set_in(&mut world, preset);
        set_rare_sections(&mut world, preset, before.day);
        let told = world.render_full().unwrap().snapshot;
        now.set_in(&mut world, preset);
        set_rare_sections(&mut world, preset, now.day);
        let told = world.render_diff(Some(&told), &retained).unwrap().snapshot;
        let mut other = WorldState::new();
        now.set_in(&mut other, preset);
        set_rare_sections(&mut other, preset, now.day);
        for world in [&mut world, &mut other] {
            for baseline in [&told, &resumed(&told)] {
                let diff = world.render_diff(Some(baseline), &retained).unwrap();
                prop_assert_eq!(diff.updates, vec![]);
                prop_assert_eq!(diff.snapshot.merge_patch_from(baseline), None);
                prop_assert!(diff.snapshot.is_same(baseline));
            }
        }
    }

    /// A stored state of any shape is read, or is unknown and reported; it never panics, and is right after one step.
    #[test]
    fn stored_states_of_any_shape_are_survived(
        now in any_affairs(),
        shapes in prop::collection::btree_map(any_section(), any_shape(), 0..6),
        held in prop::collection::vec(any::<bool>(), KINDS.len()),
        is_codex in any::<bool>(),
    ) {
        let preset = if is_codex { Preset::Codex } else { Preset::Default };
        let previous = WorldStateSnapshot::from_object(shapes.into_iter().collect()).unwrap();
        let mut retained: RetainedKinds = KINDS.iter().zip(&held).filter(|(_, held)| **held).map(|(kind, _)| kind).collect();
        let mut world = WorldState::new();
        now.set_in(&mut world, preset);
        set_rare_sections(&mut world, preset, now.day);
        let diff = world.render_diff(Some(&previous), &retained).unwrap();
        prop_assert_eq!(diff.snapshot.ids().collect::<Vec<_>>(), IDS);
        for item in merge_updates(diff.updates) {
            item.kinds().iter().for_each(|kind| { retained.insert(kind); });
        }
        // What stands in the history or is wanted there is held now.
        let again = world.render_diff(Some(&diff.snapshot), &retained).unwrap();
        prop_assert_eq!(again.updates, vec![]);
        prop_assert_eq!(again.warnings, vec![]);
        prop_assert!(again.snapshot.is_same(&diff.snapshot));
    }
}

/// The ids of all sections, sorted.
const IDS: [&str; 16] = [
    "agents_md",
    "apps_instructions",
    "collaboration_mode",
    "context_window_guidance",
    "environments",
    "environments_instructions",
    "managed_developer_instructions",
    "model",
    "multi_agent_mode",
    "nested_agents_md",
    "permissions",
    "persistent_mode",
    "personality",
    "plugins_instructions",
    "realtime",
    "tools",
];

/// Sets the sections that [`Affairs`] has nothing of: all of them in their empty form on the first day, in their full
/// form later.
fn set_rare_sections(world: &mut WorldState, preset: Preset, day: u8) {
    let is_full = day > 1;
    let text = |text: &str| is_full.then(|| text.into());
    let (apps, plugins, places) = if is_full {
        (AppsState::available("A"), PluginsState::available("P"), EnvironmentsInstructionsState::available("E"))
    } else {
        (AppsState::unavailable(), PluginsState::unavailable(), EnvironmentsInstructionsState::unavailable())
    };
    world.set(apps.with_preset(preset)).unwrap();
    world.set(plugins.with_preset(preset)).unwrap();
    world.set(places.with_preset(preset)).unwrap();
    world.set(ManagedDeveloperInstructionsState::new(text("M"))).unwrap();
    world.set(ContextWindowGuidanceState::new(text("C"))).unwrap();
    let voice = RealtimeState::new("S", "T").with_preset(preset);
    world.set(if is_full { voice.active() } else { voice }).unwrap();
    let agents = MultiAgentModeState::new("R");
    world.set(if is_full { agents.with_mode("proactive", "W") } else { agents }).unwrap();
    let persistent = PersistentModeState::on("G", ApprovalRequestChannel::None);
    world.set(if is_full { persistent } else { PersistentModeState::off() }).unwrap();
    world.set(if is_full { PersonalityState::new("f", "F") } else { PersonalityState::none() }).unwrap();
    let nested = NestedAgentsMdState::new();
    world.set(if is_full { nested.with_folder("/r/a", "N") } else { nested }).unwrap();
    let tools: &[&str] = if is_full { &[r#"{"name":"cwd"}"#] } else { &[] };
    world.set(ToolsState::new(ToolSet::parse(tools).unwrap())).unwrap();
}

fn any_section() -> impl Strategy<Value = String> {
    (0..=IDS.len()).prop_map(|position| IDS.get(position).copied().unwrap_or("elsewhere").to_owned())
}

/// Any JSON but null, and shapes that look like those of a section.
fn any_shape() -> impl Strategy<Value = Value> {
    let keys = [
        "directory",
        "text",
        "instructions",
        "approved_command_prefixes",
        "mode",
        "model",
        "environments",
        "current_date",
        "timezone",
        "network",
        "subagents",
        "local",
        "cwd",
        "status",
        "shell",
        "is_primary",
        "cause",
        "active",
        "personality",
        "usage_hint_hash",
    ];
    let leaf = prop_oneof![
        any_json(),
        Just(Value::from("available")),
        Just(Value::from("2026-10-20")),
        Just(Value::from("1f3b2c4d5e6f708192a3b4c5d6e7f8091a2b3c4d")),
    ];
    leaf.prop_recursive(3, 16, 5, move |inner| {
        prop::collection::vec((0..keys.len(), inner), 0..5).prop_map(move |members| {
            Value::Object(members.into_iter().map(|(key, value)| (keys[key].to_owned(), value)).collect::<Map<_, _>>())
        })
    })
}
