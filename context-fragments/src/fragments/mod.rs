//! Ready-made fragments.

mod collaboration_mode;
mod environment_context;
mod model_switch;
mod permissions;
mod turn_aborted;
mod user_instructions;
mod user_shell_command;

pub use self::{
    collaboration_mode::CollaborationModeInstructions,
    environment_context::EnvironmentContext,
    model_switch::ModelSwitchInstructions,
    permissions::{ApprovedCommandPrefixes, Permissions, PermissionsInstructions},
    turn_aborted::TurnAborted,
    user_instructions::UserInstructions,
    user_shell_command::UserShellCommand,
};
