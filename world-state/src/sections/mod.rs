//! The sections that every agent has.

mod model;
mod agents_md;
mod permissions;
mod collaboration_mode;
mod environments;

use std::sync::Arc;

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

/// Compares two texts, pointers first.
///
/// `Arc<str>` does not do that by itself, and comparing 32 KiB of instructions costs more than all else in a step in
/// which nothing changes: 1.1 us of 1.3 us were measured.
fn is_same_text(left: &Arc<str>, right: &Arc<str>) -> bool {
    Arc::ptr_eq(left, right) || left == right
}
