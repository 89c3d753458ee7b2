//! Recognising context by its text, for logs that carry no kinds.
//!
//! A text that looks like context may have been typed by a person, so nothing that has kinds is ever judged by this.

use crate::{
    AdditionalContextUser, AgentMessageBoardNotification, ApprovedCommandPrefixes, ContextualUserFragment,
    EnvironmentContext, HookPrompt, IncrementalToolsUpdate, InstructionChanges, InternalModelContext, Kind,
    NamespaceInstructions, NestedInstructions, NetworkRuleSaved, RealtimeEnd, RealtimeStart, RecommendedPlugins,
    RemovedTools, SkillInstructions, SubagentNotification, TurnAborted, UserInstructions, UserShellCommand,
};

/// How one kind of context is recognised.
struct Recogniser {
    kind: Kind,
    matches: fn(&str) -> bool,
}

/// What a user message may hold that no user wrote, in the order of the published registry.
const USER: &[Recogniser] = &[
    Recogniser { kind: Kind::AGENTS_MD, matches: UserInstructions::matches_text },
    Recogniser { kind: Kind::NESTED_AGENTS_MD, matches: NestedInstructions::matches_text },
    Recogniser { kind: Kind::AGENTS_MD_CHANGES, matches: InstructionChanges::matches_text },
    Recogniser { kind: Kind::ENVIRONMENT_CONTEXT, matches: EnvironmentContext::matches_text },
    Recogniser { kind: Kind::ADDITIONAL_CONTEXT_USER, matches: AdditionalContextUser::matches_text },
    Recogniser { kind: Kind::AGENT_MESSAGE_BOARD, matches: AgentMessageBoardNotification::matches_text },
    Recogniser { kind: Kind::SKILL, matches: SkillInstructions::matches_text },
    Recogniser { kind: Kind::USER_SHELL_COMMAND, matches: UserShellCommand::matches_text },
    Recogniser { kind: Kind::TURN_ABORTED, matches: TurnAborted::matches_text },
    Recogniser { kind: Kind::SUBAGENT_NOTIFICATION, matches: SubagentNotification::matches_text },
    Recogniser { kind: Kind::INTERNAL_CONTEXT, matches: InternalModelContext::matches_text },
    // A user message in old logs only; nowadays it is the developer's.
    Recogniser { kind: Kind::RECOMMENDED_PLUGINS, matches: RecommendedPlugins::matches_text },
    Recogniser { kind: Kind::HOOK_PROMPT, matches: HookPrompt::matches_text },
    Recogniser { kind: Kind::LEGACY_WARNING, matches: is_legacy_warning },
];

/// What a developer message of a section is recognised by where its start is not enough.
const DEVELOPER_TEXTS: &[Recogniser] = &[
    Recogniser { kind: Kind::APPROVED_COMMAND_PREFIXES, matches: ApprovedCommandPrefixes::matches_text },
    Recogniser { kind: Kind::NETWORK_RULE, matches: NetworkRuleSaved::matches_text },
    Recogniser { kind: Kind::REALTIME_START, matches: RealtimeStart::matches_text },
    Recogniser { kind: Kind::REALTIME_END, matches: RealtimeEnd::matches_text },
    Recogniser { kind: Kind::TOOLS_UPDATE, matches: IncrementalToolsUpdate::matches_text },
    Recogniser { kind: Kind::TOOLS_NAMESPACE, matches: NamespaceInstructions::matches_text },
    Recogniser { kind: Kind::TOOLS_REMOVED, matches: RemovedTools::matches_text },
];

/// What a developer message of a section starts with.
const DEVELOPER: &[(&str, Kind)] = &[
    ("<permissions instructions>", Kind::PERMISSIONS),
    ("<model_switch>", Kind::MODEL_SWITCH),
    ("<collaboration_mode>", Kind::COLLABORATION_MODE),
    ("<personality_spec>", Kind::PERSONALITY),
    ("<multi_agent_mode>", Kind::MULTI_AGENT_MODE),
    ("<multi_agent_role>", Kind::MULTI_AGENT_ROLE),
    ("<environments_instructions>", Kind::ENVIRONMENTS_INSTRUCTIONS),
    ("<plugins_instructions>", Kind::PLUGINS),
    ("<apps_instructions>", Kind::APPS),
    ("<skills_instructions>", Kind::SKILLS_CATALOGUE),
    ("<token_budget>", Kind::TOKEN_BUDGET),
    ("<context_window", Kind::CONTEXT_WINDOW_GUIDANCE),
    ("<rollout_budget>", Kind::ROLLOUT_BUDGET),
    ("<managed_developer_instructions>", Kind::MANAGED_DEVELOPER_INSTRUCTIONS),
    ("<persistent_mode>", Kind::PERSISTENT_MODE),
    ("<recommended_plugins>", Kind::RECOMMENDED_PLUGINS),
    ("<current_time_reminder>", Kind::CURRENT_TIME),
];

/// The kind of context that the text of a user message looks like; none for what looks like a person's words.
///
/// # Example
/// ```
/// use context_fragments::{Kind, recognise_user_text};
///
/// assert_eq!(recognise_user_text("<environment_context>\n</environment_context>"), Some(Kind::ENVIRONMENT_CONTEXT));
/// assert_eq!(recognise_user_text("please read <environment_context>"), None);
/// ```
#[must_use]
pub fn recognise_user_text(text: &str) -> Option<Kind> {
    USER.iter().find(|row| (row.matches)(text)).map(|row| row.kind.clone())
}

/// The kind of context that the text of a developer message starts like; none for a host's free words.
#[must_use]
pub fn recognise_developer_text(text: &str) -> Option<Kind> {
    if let Some(row) = DEVELOPER_TEXTS.iter().find(|row| (row.matches)(text)) {
        return Some(row.kind.clone());
    }
    let text = text.trim_start();
    let starts_with = |prefix: &str| text.get(..prefix.len()).is_some_and(|head| head.eq_ignore_ascii_case(prefix));
    DEVELOPER.iter().find(|(prefix, _)| starts_with(prefix)).map(|(_, kind)| kind.clone())
}

/// One of the three warnings that old versions put into user messages.
fn is_legacy_warning(text: &str) -> bool {
    let text = text.trim();
    text.starts_with("Warning: The maximum number of unified exec processes you can keep open is")
        || text.starts_with("Warning: Your account was flagged for potentially high-risk cyber activity")
        || (text.starts_with("Warning: apply_patch was requested via ")
            && text.ends_with("Use the apply_patch tool instead of exec_command."))
}
