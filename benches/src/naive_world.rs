//! The same world kept as it usually is, of our own writing: sections that own their texts, built at every step, stored
//! as a tree of JSON that is made anew, compared with what was told, and copied.
#![expect(clippy::expect_used, reason = "the sections are this crate's own, and a bench on broken ones has to fail")]

use std::collections::BTreeMap;
use std::sync::Arc;

use context_fragments::{
    AppsInstructions, CollaborationModeInstructions, ContextWindowGuidance, ContextualUserFragment, EnvironmentContext,
    EnvironmentsInstructions, FragmentRole, ManagedDeveloperInstructions, ModelSwitchInstructions,
    MultiAgentModeInstructions, NestedInstructions, PermissionsInstructions, PersistentModeInstructions,
    PersonalitySpec, PluginsInstructions, RealtimeStart, UserInstructions,
};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use world_state::WorldStateHash;

/// What a host holds between steps: settings that own their texts.
#[derive(Debug)]
pub struct NaiveHost {
    sections: Vec<Section>,
}

/// One section, with its texts.
#[derive(Clone, Debug)]
enum Section {
    Model(String),
    AgentsMd { directory: Option<String>, text: String },
    Permissions { text: String, approved: Vec<Vec<String>> },
    CollaborationMode { mode: String, model: String, instructions: String },
    Environments(Environments),
    Nested(BTreeMap<String, String>),
    Usage(Usage, String),
    Realtime(String),
    MultiAgent { mode: String, words: String },
    Guidance(String),
    Personality { name: String, spec: String },
    Tools { hashes: BTreeMap<String, String>, json: String },
}

/// The sections that store a hash of their words and nothing else.
#[derive(Clone, Copy, Debug)]
enum Usage {
    Environments,
    Apps,
    Plugins,
    Managed,
    Persistent,
}

/// What is stored of a section.
#[derive(Serialize)]
#[serde(untagged)]
enum Stored {
    Text(String),
    AgentsMd { directory: Option<String>, text: Option<String> },
    Permissions { instructions: String, approved_command_prefixes: Vec<Vec<String>> },
    Mode { mode: String, model: String, instructions: Option<String> },
    Environments(Environments),
    Hashes(BTreeMap<String, String>),
    Instructions { instructions: Option<String> },
    Realtime { active: bool, instructions: Option<String> },
    MultiAgent { mode: Option<String>, usage_hint_hash: Option<String> },
    Personality { personality: Option<String> },
}

#[derive(Clone, Debug, Serialize, Deserialize)]
struct Environments {
    environments: BTreeMap<String, Place>,
    shell_version: Option<String>,
    current_date: Option<String>,
    timezone: Option<String>,
    network: Option<String>,
    filesystem: Option<String>,
    subagents: Option<String>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
struct Place {
    cwd: String,
    status: String,
    shell: Option<String>,
    is_primary: Option<bool>,
    cause: Option<String>,
}

impl NaiveHost {
    /// Takes the name of the model and the words of the host, the instructions, approvals and folders, and what the typed
    /// sections store of environments and tools.
    pub(crate) fn new(
        (model, words): (&str, &str),
        rules: UserInstructions,
        approved: Vec<Vec<String>>,
        folders: BTreeMap<String, String>,
        environments: Value,
        (hashes, declarations): (Value, String),
    ) -> Self {
        let (model, words) = (|| model.to_owned(), || words.to_owned());
        let directory = rules.directory.as_deref().map(str::to_owned);
        let sections = vec![
            Section::Model(model()),
            Section::AgentsMd { directory, text: rules.text.to_string() },
            Section::Permissions { text: words(), approved },
            Section::CollaborationMode { mode: model(), model: model(), instructions: words() },
            Section::Environments(serde_json::from_value(environments).expect("it is what is stored")),
            Section::Nested(folders),
            Section::Usage(Usage::Environments, words()),
            Section::Usage(Usage::Apps, words()),
            Section::Usage(Usage::Plugins, words()),
            Section::Realtime(words()),
            Section::MultiAgent { mode: model(), words: words() },
            Section::Usage(Usage::Managed, words()),
            Section::Usage(Usage::Persistent, words()),
            Section::Guidance(words()),
            Section::Personality { name: model(), spec: words() },
            Section::Tools {
                hashes: serde_json::from_value(hashes).expect("it is what is stored"),
                json: declarations,
            },
        ];
        Self { sections }
    }

    /// One step: builds the sections, makes their JSON, compares it with what was told, makes the patch, says what
    /// changed, and stores a copy; gives how many sections spoke.
    ///
    /// # Panics
    /// If a section cannot be stored.
    pub fn step(&self, told: &mut BTreeMap<String, Value>) -> usize {
        let sections = self.sections.clone();
        let stored = sections.iter().map(|section| {
            let json = serde_json::to_value(section.stored()).expect("it is JSON");
            (section.id().to_owned(), without_nulls(json))
        });
        let now: BTreeMap<String, Value> = stored.collect();
        let mut patch = Map::new();
        let mut said = Vec::new();
        for section in &sections {
            let id = section.id();
            let Some(change) = difference(told.get(id), &now[id]) else { continue };
            patch.insert(id.to_owned(), change);
            said.push(section.said());
        }
        told.clone_from(&now);
        assert_eq!(patch.len(), said.len());
        said.len()
    }

    /// What all sections say.
    #[must_use]
    pub fn said(&self) -> Vec<String> {
        self.sections.iter().flat_map(Section::said).collect()
    }
}

impl Section {
    fn id(&self) -> &'static str {
        match self {
            Self::Model(_) => "model",
            Self::AgentsMd { .. } => "agents_md",
            Self::Permissions { .. } => "permissions",
            Self::CollaborationMode { .. } => "collaboration_mode",
            Self::Environments(_) => "environments",
            Self::Nested(_) => "nested_agents_md",
            Self::Usage(Usage::Environments, _) => "environments_instructions",
            Self::Usage(Usage::Apps, _) => "apps_instructions",
            Self::Usage(Usage::Plugins, _) => "plugins_instructions",
            Self::Usage(Usage::Managed, _) => "managed_developer_instructions",
            Self::Usage(Usage::Persistent, _) => "persistent_mode",
            Self::Realtime(_) => "realtime",
            Self::MultiAgent { .. } => "multi_agent_mode",
            Self::Guidance(_) => "context_window_guidance",
            Self::Personality { .. } => "personality",
            Self::Tools { .. } => "tools",
        }
    }

    /// What is compared and stored.
    fn stored(&self) -> Stored {
        match self {
            Self::Model(slug) => Stored::Text(slug.clone()),
            Self::AgentsMd { directory, text } => {
                Stored::AgentsMd { directory: directory.clone(), text: Some(text.clone()) }
            }
            Self::Permissions { text, approved } => Stored::Permissions {
                instructions: hash("<permissions instructions>\n", text, "\n</permissions instructions>"),
                approved_command_prefixes: approved.clone(),
            },
            Self::CollaborationMode { mode, model, instructions } => Stored::Mode {
                mode: mode.clone(),
                model: model.clone(),
                instructions: Some(hash("<collaboration_mode>", instructions, "</collaboration_mode>")),
            },
            Self::Environments(environments) => Stored::Environments(environments.clone()),
            Self::Nested(folders) => {
                let hashes = folders.iter().map(|(folder, text)| (folder.clone(), hash_of_folder(folder, text)));
                Stored::Hashes(hashes.collect())
            }
            Self::Usage(usage, words) => {
                let (start, end) = usage.frame();
                let hash = hash(start, words, end);
                match usage {
                    Usage::Managed | Usage::Persistent => Stored::Instructions { instructions: Some(hash) },
                    _ => Stored::Text(hash),
                }
            }
            Self::Realtime(words) => Stored::Realtime {
                active: true,
                instructions: Some(hash("<realtime_conversation>\n", words, "\n</realtime_conversation>")),
            },
            Self::MultiAgent { mode, .. } => Stored::MultiAgent { mode: Some(mode.clone()), usage_hint_hash: None },
            Self::Guidance(words) => Stored::Text(words.clone()),
            Self::Personality { name, .. } => Stored::Personality { personality: Some(name.clone()) },
            Self::Tools { hashes, .. } => Stored::Hashes(hashes.clone()),
        }
    }

    /// What the section says where it changed.
    fn said(&self) -> Vec<String> {
        match self {
            Self::Model(_) => vec![text_of(&ModelSwitchInstructions::new("Think first."))],
            Self::AgentsMd { directory, text } => {
                let directory = directory.as_deref().map(Arc::from);
                vec![text_of(&UserInstructions::new(directory, text.as_str()))]
            }
            Self::Permissions { text, approved } => {
                let mut text = text.clone();
                text.push_str("\n\nCommands that start with these words are approved:");
                for words in approved {
                    let words: Vec<String> = words.iter().map(|word| Value::from(word.as_str()).to_string()).collect();
                    text.push_str(&format!("\n- [{}]", words.join(", ")));
                }
                vec![text_of(&PermissionsInstructions::new(text))]
            }
            Self::CollaborationMode { instructions, .. } => {
                vec![text_of(&CollaborationModeInstructions::new(instructions.as_str()))]
            }
            Self::Environments(Environments { current_date, .. }) => {
                let date = current_date.as_deref().unwrap_or_default();
                vec![text_of(&EnvironmentContext::new(format!("\n  <current_date>{date}</current_date>\n")))]
            }
            Self::Nested(folders) => {
                let parts = folders.iter();
                parts.map(|(folder, text)| text_of(&NestedInstructions::new(folder.as_str(), text.as_str()))).collect()
            }
            Self::Usage(usage, words) => vec![text_of(usage.fragment(words).as_ref())],
            Self::Realtime(words) => vec![text_of(&RealtimeStart::new(words.as_str()))],
            Self::MultiAgent { words, .. } => vec![text_of(&MultiAgentModeInstructions::new(words.as_str()))],
            Self::Guidance(words) => vec![text_of(&ContextWindowGuidance::new(words.as_str()))],
            Self::Personality { spec, .. } => vec![text_of(&PersonalitySpec::new(spec.as_str()))],
            Self::Tools { json, .. } => {
                vec![format!("{{\"type\":\"additional_tools\",\"role\":\"developer\",\"tools\":{json}}}")]
            }
        }
    }
}

impl Usage {
    fn frame(self) -> (&'static str, &'static str) {
        match self {
            Self::Environments => ("<environments_instructions>\n", "\n</environments_instructions>"),
            Self::Apps => ("<apps_instructions>\n", "\n</apps_instructions>"),
            Self::Plugins => ("<plugins_instructions>\n", "\n</plugins_instructions>"),
            Self::Managed => ("<managed_developer_instructions>\n", "\n</managed_developer_instructions>"),
            Self::Persistent => ("<persistent_mode>", "</persistent_mode>"),
        }
    }

    fn fragment(self, words: &str) -> Box<dyn ContextualUserFragment> {
        match self {
            Self::Environments => Box::new(EnvironmentsInstructions::new(words)),
            Self::Apps => Box::new(AppsInstructions::new(words)),
            Self::Plugins => Box::new(PluginsInstructions::new(words)),
            Self::Managed => Box::new(ManagedDeveloperInstructions::new(words)),
            Self::Persistent => Box::new(PersistentModeInstructions::new(words)),
        }
    }
}

fn text_of(fragment: &dyn ContextualUserFragment) -> String {
    fragment.render().expect("the texts are small").text().to_owned()
}

/// Hashes a text between its markers, without the care that a rendering takes.
fn hash(start: &str, text: &str, end: &str) -> String {
    WorldStateHash::of_fragment(FragmentRole::Developer, &[start, text, end].concat()).to_string()
}

fn hash_of_folder(folder: &str, text: &str) -> String {
    let text = format!("# Nested AGENTS.md instructions for {folder}\n\n<INSTRUCTIONS>\n{text}\n</INSTRUCTIONS>");
    WorldStateHash::of_fragment(FragmentRole::User, &text).to_string()
}

fn without_nulls(json: Value) -> Value {
    match json {
        Value::Object(members) => {
            let kept = members.into_iter().filter(|(_, value)| !value.is_null());
            Value::Object(kept.map(|(key, value)| (key, without_nulls(value))).collect())
        }
        other => other,
    }
}

/// The merge patch from `before` to `now`; none where they are equal.
fn difference(before: Option<&Value>, now: &Value) -> Option<Value> {
    match (before, now) {
        (Some(Value::Object(before)), Value::Object(now)) => {
            let gone = before.keys().filter(|key| !now.contains_key(*key)).map(|key| (key.clone(), Value::Null));
            let changed =
                now.iter().filter_map(|(key, value)| Some((key.clone(), difference(before.get(key), value)?)));
            let members: Map<String, Value> = gone.chain(changed).collect();
            (!members.is_empty()).then_some(Value::Object(members))
        }
        (Some(before), now) if before == now => None,
        (_, now) => Some(now.clone()),
    }
}
