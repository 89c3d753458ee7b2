//! Ready-made fragments.

mod apps_instructions;
mod collaboration_mode;
mod context_window_guidance;
mod environment_context;
mod environments_instructions;
mod instruction_changes;
mod managed_developer_instructions;
mod model_switch;
mod multi_agent_mode;
mod nested_instructions;
mod permissions;
mod persistent_mode;
mod personality;
mod plugins_instructions;
mod realtime;
mod tools;
mod turn_aborted;
mod user_instructions;
mod user_shell_command;

pub use self::{
    apps_instructions::AppsInstructions,
    collaboration_mode::CollaborationModeInstructions,
    context_window_guidance::ContextWindowGuidance,
    environment_context::EnvironmentContext,
    environments_instructions::EnvironmentsInstructions,
    instruction_changes::InstructionChanges,
    managed_developer_instructions::ManagedDeveloperInstructions,
    model_switch::ModelSwitchInstructions,
    multi_agent_mode::MultiAgentModeInstructions,
    nested_instructions::NestedInstructions,
    permissions::{ApprovedCommandPrefixes, Permissions, PermissionsInstructions},
    persistent_mode::PersistentModeInstructions,
    personality::PersonalitySpec,
    plugins_instructions::PluginsInstructions,
    realtime::{RealtimeEnd, RealtimeStart},
    tools::{IncrementalToolsUpdate, NamespaceInstructions, RemovedTools},
    turn_aborted::TurnAborted,
    user_instructions::UserInstructions,
    user_shell_command::UserShellCommand,
};
