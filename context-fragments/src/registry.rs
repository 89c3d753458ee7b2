//! Every ready-made fragment, in one table.

use crate::*;

/// What a ready-made fragment is, whatever it says.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct FragmentEntry {
    /// The name of its type.
    pub name: &'static str,
    /// In whose place it speaks.
    pub role: FragmentRole,
    /// What it is.
    pub kind: Kind,
    /// The frame of its type; both empty where it has none.
    pub markers: Markers<'static>,
    /// What it may render to; the smallest one where that depends on what it says.
    pub bound: Bound,
    /// Says whether a text looks like it.
    pub matches_text: fn(&str) -> bool,
}

fn entry<F: ContextualUserFragment>(name: &'static str, role: FragmentRole, kind: Kind, bound: Bound) -> FragmentEntry {
    FragmentEntry { name, role, kind, markers: F::type_markers(), bound, matches_text: F::matches_text }
}

/// Lists every fragment that this crate makes, those in the user's place first.
///
/// The roster of sub-agents is no fragment of its own but a part of the environment context, and is bounded where that is
/// written. Summaries of a compaction and placeholders for media are made by the history.
///
/// # Example
/// ```
/// let separate = context_fragments::fragment_table();
/// assert!(separate.iter().any(|entry| entry.name == "UserInstructions"));
/// ```
#[must_use]
pub fn fragment_table() -> Vec<FragmentEntry> {
    use FragmentRole::{Developer, User};
    const CUT: Bound = Bound::FRAGMENT;
    const REFUSE: Bound = Bound::refuse(10_000);
    vec![
        entry::<UserInstructions>("UserInstructions", User, Kind::AGENTS_MD, CUT),
        entry::<NestedInstructions>("NestedInstructions", User, Kind::NESTED_AGENTS_MD, CUT),
        entry::<InstructionChanges>("InstructionChanges", User, Kind::AGENTS_MD_CHANGES, CUT),
        entry::<EnvironmentContext>("EnvironmentContext", User, Kind::ENVIRONMENT_CONTEXT, CUT),
        entry::<AdditionalContextUser>(
            "AdditionalContextUser",
            User,
            Kind::ADDITIONAL_CONTEXT_USER,
            Bound::cut_middle(1_000),
        ),
        entry::<AgentMessageBoardNotification>("AgentMessageBoardNotification", User, Kind::AGENT_MESSAGE_BOARD, CUT),
        entry::<SkillInstructions>("SkillInstructions", User, Kind::SKILL, CUT),
        entry::<UserShellCommand>("UserShellCommand", User, Kind::USER_SHELL_COMMAND, CUT),
        entry::<TurnAborted>("TurnAborted", User, Kind::TURN_ABORTED, CUT),
        entry::<SubagentNotification>("SubagentNotification", User, Kind::SUBAGENT_NOTIFICATION, CUT),
        entry::<InternalModelContext>("InternalModelContext", User, Kind::INTERNAL_CONTEXT, CUT),
        entry::<HookPrompt>("HookPrompt", User, Kind::HOOK_PROMPT, CUT),
        entry::<PermissionsInstructions>("PermissionsInstructions", Developer, Kind::PERMISSIONS, CUT),
        entry::<ApprovedCommandPrefixes>("ApprovedCommandPrefixes", Developer, Kind::APPROVED_COMMAND_PREFIXES, CUT),
        entry::<NetworkRuleSaved>("NetworkRuleSaved", Developer, Kind::NETWORK_RULE, CUT),
        entry::<ModelSwitchInstructions>("ModelSwitchInstructions", Developer, Kind::MODEL_SWITCH, CUT),
        entry::<CollaborationModeInstructions>(
            "CollaborationModeInstructions",
            Developer,
            Kind::COLLABORATION_MODE,
            CUT,
        ),
        entry::<RealtimeStart>("RealtimeStart", Developer, Kind::REALTIME_START, CUT),
        entry::<RealtimeEnd>("RealtimeEnd", Developer, Kind::REALTIME_END, CUT),
        entry::<PersonalitySpec>("PersonalitySpec", Developer, Kind::PERSONALITY, CUT),
        entry::<AppsInstructions>("AppsInstructions", Developer, Kind::APPS, CUT),
        entry::<PluginsInstructions>("PluginsInstructions", Developer, Kind::PLUGINS, CUT),
        entry::<PluginInstructions>("PluginInstructions", Developer, Kind::PLUGIN, CUT),
        entry::<RecommendedPlugins>("RecommendedPlugins", Developer, Kind::RECOMMENDED_PLUGINS, CUT),
        entry::<AvailableSkills>("AvailableSkills", Developer, Kind::SKILLS_CATALOGUE, CUT),
        entry::<EnvironmentsInstructions>("EnvironmentsInstructions", Developer, Kind::ENVIRONMENTS_INSTRUCTIONS, CUT),
        entry::<MultiAgentModeInstructions>("MultiAgentModeInstructions", Developer, Kind::MULTI_AGENT_MODE, CUT),
        entry::<MultiAgentRole>("MultiAgentRole", Developer, Kind::MULTI_AGENT_ROLE, CUT),
        entry::<ManagedDeveloperInstructions>(
            "ManagedDeveloperInstructions",
            Developer,
            Kind::MANAGED_DEVELOPER_INSTRUCTIONS,
            REFUSE,
        ),
        entry::<PersistentModeInstructions>("PersistentModeInstructions", Developer, Kind::PERSISTENT_MODE, CUT),
        entry::<ContextWindowGuidance>("ContextWindowGuidance", Developer, Kind::CONTEXT_WINDOW_GUIDANCE, CUT),
        entry::<TokenBudgetNotice>("TokenBudgetNotice", Developer, Kind::TOKEN_BUDGET, CUT),
        entry::<RolloutBudgetNotice>("RolloutBudgetNotice", Developer, Kind::ROLLOUT_BUDGET, CUT),
        entry::<CurrentTimeReminder>("CurrentTimeReminder", Developer, Kind::CURRENT_TIME, CUT),
        entry::<IncrementalToolsUpdate>("IncrementalToolsUpdate", Developer, Kind::TOOLS_UPDATE, CUT),
        entry::<NamespaceInstructions>("NamespaceInstructions", Developer, Kind::TOOLS_NAMESPACE, CUT),
        entry::<RemovedTools>("RemovedTools", Developer, Kind::TOOLS_REMOVED, CUT),
        entry::<AdditionalContextDeveloper>(
            "AdditionalContextDeveloper",
            Developer,
            Kind::ADDITIONAL_CONTEXT_DEVELOPER,
            Bound::cut_middle(1_000),
        ),
        entry::<HookAdditionalContext>("HookAdditionalContext", Developer, Kind::HOOK_CONTEXT, CUT),
        entry::<DeveloperInstructions>("DeveloperInstructions", Developer, Kind::DEVELOPER_INSTRUCTIONS, CUT),
        entry::<BaseInstructions>("BaseInstructions", Developer, Kind::BASE_INSTRUCTIONS, REFUSE),
        entry::<ImageGenerationInstructions>(
            "ImageGenerationInstructions",
            Developer,
            Kind::IMAGE_GENERATION,
            Bound::refuse(256),
        ),
    ]
}
