#![doc = include_str!("../README.md")]

mod state;
mod section;
mod previous;
mod extension;
mod snapshot;
mod patch;
mod hash;
mod update;
mod initial;
mod sections;
mod preset;
mod canonical;
mod entry;
mod erased;
mod warning;
mod error;

pub use self::{
    error::Error,
    extension::{ExtensionSection, SectionFragment},
    hash::WorldStateHash,
    initial::initial_context,
    patch::MergePatch,
    preset::Preset,
    previous::PreviousSectionState,
    section::{SectionDiff, SnapshotChange, Volatility, WorldStateSection},
    sections::{
        AgentsMdSnapshot, AgentsMdState, CollaborationModeSnapshot, CollaborationModeState, Date, Environment,
        EnvironmentStatus, EnvironmentsSnapshot, EnvironmentsState, FileSystemAccess, ModelInstructionsState,
        NetworkAccess, PermissionsSnapshot, PermissionsState, SubAgent,
    },
    snapshot::WorldStateSnapshot,
    state::{SetOutcome, WorldState, WorldStateDiff},
    update::{Placement, Update, UpdateContent, merge_updates, split_prefix_updates},
    warning::Warning,
};
