//! Ready-made fragments.

mod collaboration_mode;
mod environment_context;
mod model_switch;
mod permissions;
mod user_instructions;

pub use self::{
    collaboration_mode::CollaborationModeInstructions,
    environment_context::EnvironmentContext,
    model_switch::ModelSwitchInstructions,
    permissions::{ApprovedCommandPrefixes, Permissions, PermissionsInstructions},
    user_instructions::UserInstructions,
};
