//! Ready-made fragments.

mod additional_context;
mod apps_instructions;
mod collaboration_mode;
mod context_window_guidance;
mod environment_context;
mod environments_instructions;
mod hook_prompt;
mod instruction_changes;
mod internal_context;
mod managed_developer_instructions;
mod model_switch;
mod multi_agent_mode;
mod nested_instructions;
mod network_rule;
mod permissions;
mod persistent_mode;
mod personality;
mod plain;
mod plugins_instructions;
mod realtime;
mod skill;
mod subagent_notification;
mod tools;
mod turn_aborted;
mod user_instructions;
mod user_shell_command;

pub use self::{
    additional_context::{AdditionalContextDeveloper, AdditionalContextUser},
    apps_instructions::AppsInstructions,
    collaboration_mode::CollaborationModeInstructions,
    context_window_guidance::ContextWindowGuidance,
    environment_context::EnvironmentContext,
    environments_instructions::EnvironmentsInstructions,
    hook_prompt::HookPrompt,
    instruction_changes::InstructionChanges,
    internal_context::InternalModelContext,
    managed_developer_instructions::ManagedDeveloperInstructions,
    model_switch::ModelSwitchInstructions,
    multi_agent_mode::MultiAgentModeInstructions,
    nested_instructions::NestedInstructions,
    network_rule::NetworkRuleSaved,
    permissions::{ApprovedCommandPrefixes, Permissions, PermissionsInstructions},
    persistent_mode::PersistentModeInstructions,
    personality::PersonalitySpec,
    plain::{
        AgentMessageBoardNotification, AvailableSkills, BaseInstructions, CurrentTimeReminder, DeveloperInstructions,
        HookAdditionalContext, ImageGenerationInstructions, MultiAgentRole, PluginInstructions, RecommendedPlugins,
        RolloutBudgetNotice, TokenBudgetNotice,
    },
    plugins_instructions::PluginsInstructions,
    realtime::{RealtimeEnd, RealtimeStart},
    skill::SkillInstructions,
    subagent_notification::SubagentNotification,
    tools::{IncrementalToolsUpdate, NamespaceInstructions, RemovedTools},
    turn_aborted::TurnAborted,
    user_instructions::UserInstructions,
    user_shell_command::UserShellCommand,
};
