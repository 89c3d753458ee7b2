//! The sections that every agent has.

mod model;
mod agents_md;
mod permissions;
mod collaboration_mode;
mod environments;

pub use self::{
    agents_md::{AgentsMdSnapshot, AgentsMdState},
    collaboration_mode::{CollaborationModeSnapshot, CollaborationModeState},
    environments::{
        Date, Environment, EnvironmentStatus, EnvironmentsSnapshot, EnvironmentsState, FileSystemAccess, NetworkAccess,
        SubAgent,
    },
    model::ModelInstructionsState,
    permissions::{PermissionsSnapshot, PermissionsState},
};
