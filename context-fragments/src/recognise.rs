//! Recognising context by its text, for logs that carry no kinds.
//!
//! A text that looks like context may have been typed by a person, so nothing that has kinds is ever judged by this.

use crate::{
    ApprovedCommandPrefixes, ContextualUserFragment, EnvironmentContext, IncrementalToolsUpdate, InstructionChanges,
    Kind, Markers, NamespaceInstructions, NestedInstructions, RealtimeEnd, RealtimeStart, RemovedTools, TurnAborted,
    UserInstructions, UserShellCommand,
};

/// How one kind of context is recognised.
struct Recogniser {
    kind: Kind,
    matches: fn(&str) -> bool,
}

const fn recogniser(label: &'static str, matches: fn(&str) -> bool) -> Recogniser {
    Recogniser { kind: Kind::from_static(label), matches }
}

/// What a user message may hold that no user wrote, in the order of the published registry.
const USER: &[Recogniser] = &[
    Recogniser { kind: Kind::AGENTS_MD, matches: UserInstructions::matches_text },
    Recogniser { kind: Kind::NESTED_AGENTS_MD, matches: NestedInstructions::matches_text },
    Recogniser { kind: Kind::AGENTS_MD_CHANGES, matches: InstructionChanges::matches_text },
    Recogniser { kind: Kind::ENVIRONMENT_CONTEXT, matches: EnvironmentContext::matches_text },
    recogniser("additional_context.user", is_additional_context),
    recogniser("agent_message_board.notification", |text| {
        Markers::new("<agent_message_board_notification>", "</agent_message_board_notification>").matches(text)
    }),
    recogniser("skills.instructions", |text| Markers::new("<skill>", "</skill>").matches(text)),
    Recogniser { kind: Kind::USER_SHELL_COMMAND, matches: UserShellCommand::matches_text },
    Recogniser { kind: Kind::TURN_ABORTED, matches: TurnAborted::matches_text },
    recogniser("subagents.notification", |text| {
        Markers::new("<subagent_notification>", "</subagent_notification>").matches(text)
    }),
    recogniser("internal_context.notice", is_internal_context),
    recogniser("plugins.recommended", |text| {
        Markers::new("<recommended_plugins>", "</recommended_plugins>").matches(text)
    }),
    recogniser("hooks.prompt", |text| Markers::new("<hook_prompt ", "</hook_prompt>").matches(text)),
    recogniser("legacy.warning", is_legacy_warning),
];

/// What a developer message of a section is recognised by where its start is not enough.
const DEVELOPER_TEXTS: &[Recogniser] = &[
    Recogniser { kind: Kind::APPROVED_COMMAND_PREFIXES, matches: ApprovedCommandPrefixes::matches_text },
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
    ("<multi_agent_role>", Kind::from_static("multi_agent_role.instructions")),
    ("<environments_instructions>", Kind::ENVIRONMENTS_INSTRUCTIONS),
    ("<plugins_instructions>", Kind::PLUGINS),
    ("<apps_instructions>", Kind::APPS),
    ("<skills_instructions>", Kind::from_static("skills.catalogue")),
    ("<token_budget>", Kind::from_static("token_budget.notice")),
    ("<context_window", Kind::CONTEXT_WINDOW_GUIDANCE),
    ("<rollout_budget>", Kind::from_static("rollout_budget.notice")),
    ("<managed_developer_instructions>", Kind::MANAGED_DEVELOPER_INSTRUCTIONS),
    ("<persistent_mode>", Kind::PERSISTENT_MODE),
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

/// `<external_KEY>…</external_KEY>` with the same key at both ends, in exactly this case.
fn is_additional_context(text: &str) -> bool {
    let body = text.trim().strip_prefix("<external_").and_then(|rest| rest.split_once('>'));
    body.is_some_and(|(key, rest)| {
        let closer = rest.strip_suffix('>').and_then(|rest| rest.strip_suffix(key));
        closer.is_some_and(|rest| rest.ends_with("</external_"))
    })
}

/// `<codex_internal_context source="WORD">…</codex_internal_context>`, or the older `<goal_context>…</goal_context>`.
fn is_internal_context(text: &str) -> bool {
    let text = text.trim();
    if text.starts_with("<goal_context>") && text.ends_with("</goal_context>") {
        return true;
    }
    let opened = text.strip_prefix("<codex_internal_context source=\"").and_then(|rest| rest.split_once("\">"));
    opened.is_some_and(|(source, rest)| {
        let mut letters = source.bytes();
        letters.next().is_some_and(|first| first.is_ascii_lowercase())
            && letters.all(|letter| letter.is_ascii_lowercase() || letter.is_ascii_digit() || letter == b'_')
            && rest.ends_with("</codex_internal_context>")
    })
}

/// One of the three warnings that old versions put into user messages.
fn is_legacy_warning(text: &str) -> bool {
    let text = text.trim();
    text.starts_with("Warning: The maximum number of unified exec processes you can keep open is")
        || text.starts_with("Warning: Your account was flagged for potentially high-risk cyber activity")
        || (text.starts_with("Warning: apply_patch was requested via ")
            && text.ends_with("Use the apply_patch tool instead of exec_command."))
}
