//! What a piece of context is, as metadata beside it.

use std::{borrow::Borrow, fmt, sync::Arc};

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A stable `feature.name` label of one content part.
///
/// A kind lives in the envelope and in the log, never on the wire: what an item *is* comes from here, not from what its
/// text looks like.
///
/// # Example
/// ```
/// use context_fragments::Kind;
///
/// assert!(Kind::USER_TEXT.is_user_authored());
/// assert!(!Kind::AGENTS_MD.is_user_authored());
/// assert_eq!(Kind::new("billing.notice").as_str(), "billing.notice");
/// ```
#[derive(Clone)]
pub struct Kind(Label);

#[derive(Clone)]
enum Label {
    Static(&'static str),
    Shared(Arc<str>),
}

impl Kind {
    /// Text that the user wrote.
    pub const USER_TEXT: Self = Self::from_static("user.text");
    /// An image that the user gave.
    pub const USER_IMAGE: Self = Self::from_static("user.image");
    /// Audio that the user gave.
    pub const USER_AUDIO: Self = Self::from_static("user.audio");
    /// A part of which nothing is known.
    pub const UNKNOWN: Self = Self::from_static("unknown");
    /// Instruction files.
    pub const AGENTS_MD: Self = Self::from_static("agents_md.instructions");
    /// Lines of the instruction files that changed.
    pub const AGENTS_MD_CHANGES: Self = Self::from_static("agents_md.changes");
    /// Instruction files of a folder that a tool has reached.
    pub const NESTED_AGENTS_MD: Self = Self::from_static("nested_agents_md.instructions");
    /// Where the agent works, the date, the reach of its tools.
    pub const ENVIRONMENT_CONTEXT: Self = Self::from_static("environments.environment_context");
    /// What the sandbox allows and when to ask.
    pub const PERMISSIONS: Self = Self::from_static("permissions.instructions");
    /// Command prefixes that were approved for good.
    pub const APPROVED_COMMAND_PREFIXES: Self = Self::from_static("permissions.approved_command_prefixes");
    /// Instructions of the model that was switched to.
    pub const MODEL_SWITCH: Self = Self::from_static("model_switch.instructions");
    /// Instructions of a collaboration mode.
    pub const COLLABORATION_MODE: Self = Self::from_static("collaboration_mode.instructions");
    /// How to work in several environments.
    pub const ENVIRONMENTS_INSTRUCTIONS: Self = Self::from_static("environments.instructions");
    /// How connected apps are used.
    pub const APPS: Self = Self::from_static("apps.instructions");
    /// How plugins are used.
    pub const PLUGINS: Self = Self::from_static("plugins.instructions");
    /// A conversation by voice begins.
    pub const REALTIME_START: Self = Self::from_static("realtime.start");
    /// A conversation by voice ends.
    pub const REALTIME_END: Self = Self::from_static("realtime.end");
    /// When other agents may be called in.
    pub const MULTI_AGENT_MODE: Self = Self::from_static("multi_agent_mode.instructions");
    /// What the administrator demands.
    pub const MANAGED_DEVELOPER_INSTRUCTIONS: Self = Self::from_static("managed_config.developer_instructions");
    /// How to work on without the user.
    pub const PERSISTENT_MODE: Self = Self::from_static("persistent_mode.instructions");
    /// How to work within the context window.
    pub const CONTEXT_WINDOW_GUIDANCE: Self = Self::from_static("context_window_guidance.instructions");
    /// The tone that the user asked for.
    pub const PERSONALITY: Self = Self::from_static("personality.instructions");
    /// Tools are declared on top of earlier ones.
    pub const TOOLS_UPDATE: Self = Self::from_static("tools.incremental_update");
    /// Declarations of tools, as an item.
    pub const TOOLS_DECLARED: Self = Self::from_static("tools.declared");
    /// What a namespace of tools says about itself.
    pub const TOOLS_NAMESPACE: Self = Self::from_static("tools.namespace_instructions");
    /// Tools are gone.
    pub const TOOLS_REMOVED: Self = Self::from_static("tools.removed_definition");
    /// A turn was stopped.
    pub const TURN_ABORTED: Self = Self::from_static("turn_aborted.notice");
    /// A command that the user ran beside the conversation.
    pub const USER_SHELL_COMMAND: Self = Self::from_static("user_shell_command.result");
    /// What the host adds under a key of its own, in the user's place.
    pub const ADDITIONAL_CONTEXT_USER: Self = Self::from_static("additional_context.user");
    /// The same in the host's place.
    pub const ADDITIONAL_CONTEXT_DEVELOPER: Self = Self::from_static("additional_context.developer");
    /// News from the board of agents.
    pub const AGENT_MESSAGE_BOARD: Self = Self::from_static("agent_message_board.notification");
    /// A skill that the user called.
    pub const SKILL: Self = Self::from_static("skills.instructions");
    /// The skills that there are.
    pub const SKILLS_CATALOGUE: Self = Self::from_static("skills.catalogue");
    /// News of an agent that works for this one.
    pub const SUBAGENT_NOTIFICATION: Self = Self::from_static("subagents.notification");
    /// What a part of the host tells the model.
    pub const INTERNAL_CONTEXT: Self = Self::from_static("internal_context.notice");
    /// Plugins that may help.
    pub const RECOMMENDED_PLUGINS: Self = Self::from_static("plugins.recommended");
    /// What one plugin says about itself.
    pub const PLUGIN: Self = Self::from_static("plugins.plugin");
    /// What a hook says in the user's place; people see it.
    pub const HOOK_PROMPT: Self = Self::from_static("hooks.prompt");
    /// What a hook adds in the host's place.
    pub const HOOK_CONTEXT: Self = Self::from_static("hooks.additional_context");
    /// A warning of an old version.
    pub const LEGACY_WARNING: Self = Self::from_static("legacy.warning");
    /// A rule of the network that was saved.
    pub const NETWORK_RULE: Self = Self::from_static("permissions.network_rule");
    /// What the agent is among several.
    pub const MULTI_AGENT_ROLE: Self = Self::from_static("multi_agent_role.instructions");
    /// How much of the context window is left.
    pub const TOKEN_BUDGET: Self = Self::from_static("token_budget.notice");
    /// How much of what is granted for the task is left.
    pub const ROLLOUT_BUDGET: Self = Self::from_static("rollout_budget.notice");
    /// What time it is.
    pub const CURRENT_TIME: Self = Self::from_static("current_time.reminder");
    /// Instructions of the host for which there is no other kind.
    pub const DEVELOPER_INSTRUCTIONS: Self = Self::from_static("generic.developer_instructions");
    /// The base instructions as an item.
    pub const BASE_INSTRUCTIONS: Self = Self::from_static("base.instructions");
    /// Where generated images lie.
    pub const IMAGE_GENERATION: Self = Self::from_static("images.generation");
    /// The placeholder for an image that the model cannot take.
    pub const IMAGES_UNSUPPORTED: Self = Self::from_static("images.unsupported");
    /// The placeholder for audio that the model cannot take.
    pub const AUDIO_UNSUPPORTED: Self = Self::from_static("audio.unsupported");

    /// Makes a kind from a label that the program holds; no allocation, also not when it is cloned.
    #[must_use]
    pub const fn from_static(label: &'static str) -> Self {
        Self(Label::Static(label))
    }

    /// Makes a kind from a label that is known only at run time.
    #[must_use]
    pub fn new(label: impl Into<Arc<str>>) -> Self {
        Self(Label::Shared(label.into()))
    }

    /// Finds the kind of this crate that has a label, or makes a new one: only then there is an allocation.
    ///
    /// # Example
    /// ```
    /// use context_fragments::Kind;
    ///
    /// assert_eq!(Kind::from_label("user.text"), Kind::USER_TEXT);
    /// assert_eq!(Kind::from_label("billing.notice"), Kind::new("billing.notice"));
    /// ```
    #[must_use]
    pub fn from_label(label: &str) -> Self {
        let known = KNOWN.iter().find(|known| known.as_str() == label);
        known.map_or_else(|| Self::new(label), Self::clone)
    }

    /// The label.
    #[must_use]
    pub fn as_str(&self) -> &str {
        match &self.0 {
            Label::Static(label) => label,
            Label::Shared(label) => label,
        }
    }

    /// Says that a person wrote the part, or gave the medium that a placeholder stands for.
    ///
    /// # Source
    /// The published classification: labels that start with `user.`, the empty label, `unknown`, and the media notices.
    #[must_use]
    pub fn is_user_authored(&self) -> bool {
        let label = self.as_str();
        label.starts_with("user.")
            || matches!(label, "" | "unknown" | "images.preparation_error" | "images.unsupported" | "audio.unsupported")
    }
}

/// Every kind of this crate; the one that most records have is first.
static KNOWN: [Kind; 50] = [
    Kind::USER_TEXT,
    Kind::USER_IMAGE,
    Kind::USER_AUDIO,
    Kind::UNKNOWN,
    Kind::AGENTS_MD,
    Kind::AGENTS_MD_CHANGES,
    Kind::NESTED_AGENTS_MD,
    Kind::ENVIRONMENT_CONTEXT,
    Kind::PERMISSIONS,
    Kind::APPROVED_COMMAND_PREFIXES,
    Kind::MODEL_SWITCH,
    Kind::COLLABORATION_MODE,
    Kind::ENVIRONMENTS_INSTRUCTIONS,
    Kind::APPS,
    Kind::PLUGINS,
    Kind::REALTIME_START,
    Kind::REALTIME_END,
    Kind::MULTI_AGENT_MODE,
    Kind::MANAGED_DEVELOPER_INSTRUCTIONS,
    Kind::PERSISTENT_MODE,
    Kind::CONTEXT_WINDOW_GUIDANCE,
    Kind::PERSONALITY,
    Kind::TOOLS_UPDATE,
    Kind::TOOLS_DECLARED,
    Kind::TOOLS_NAMESPACE,
    Kind::TOOLS_REMOVED,
    Kind::TURN_ABORTED,
    Kind::USER_SHELL_COMMAND,
    Kind::ADDITIONAL_CONTEXT_USER,
    Kind::ADDITIONAL_CONTEXT_DEVELOPER,
    Kind::AGENT_MESSAGE_BOARD,
    Kind::SKILL,
    Kind::SKILLS_CATALOGUE,
    Kind::SUBAGENT_NOTIFICATION,
    Kind::INTERNAL_CONTEXT,
    Kind::RECOMMENDED_PLUGINS,
    Kind::PLUGIN,
    Kind::HOOK_PROMPT,
    Kind::HOOK_CONTEXT,
    Kind::LEGACY_WARNING,
    Kind::NETWORK_RULE,
    Kind::MULTI_AGENT_ROLE,
    Kind::TOKEN_BUDGET,
    Kind::ROLLOUT_BUDGET,
    Kind::CURRENT_TIME,
    Kind::DEVELOPER_INSTRUCTIONS,
    Kind::BASE_INSTRUCTIONS,
    Kind::IMAGE_GENERATION,
    Kind::IMAGES_UNSUPPORTED,
    Kind::AUDIO_UNSUPPORTED,
];

impl PartialEq for Kind {
    fn eq(&self, other: &Self) -> bool {
        self.as_str() == other.as_str()
    }
}

impl Eq for Kind {}

impl PartialOrd for Kind {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Kind {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.as_str().cmp(other.as_str())
    }
}

impl std::hash::Hash for Kind {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        self.as_str().hash(state);
    }
}

impl Borrow<str> for Kind {
    fn borrow(&self) -> &str {
        self.as_str()
    }
}

impl fmt::Debug for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Kind({:?})", self.as_str())
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl Serialize for Kind {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

impl<'de> Deserialize<'de> for Kind {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer).map(Self::new)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_of_this_crate_is_found_by_its_label() {
        let labels = include_str!("kind.rs")
            .split("Self = Self::from_static(\"")
            .skip(1)
            .filter_map(|rest| rest.split('"').next());
        let mut n_labels = 0;
        for label in labels.take_while(|label| !label.is_empty()) {
            assert!(matches!(Kind::from_label(label).0, Label::Static(found) if found == label), "{label}");
            n_labels += 1;
        }
        assert_eq!(n_labels, KNOWN.len());
        assert!(matches!(Kind::from_label("billing.notice").0, Label::Shared(_)));
    }
}
