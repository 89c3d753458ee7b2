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
        AgentsMdSnapshot, AgentsMdState, ApprovalRequestChannel, AppsState, CollaborationModeSnapshot,
        CollaborationModeState, ContextWindowGuidanceState, Date, Environment, EnvironmentStatus,
        EnvironmentsInstructionsState, EnvironmentsSnapshot, EnvironmentsState, FileSystemAccess, InstructionsSnapshot,
        ManagedDeveloperInstructionsState, ModelInstructionsState, MultiAgentModeSnapshot, MultiAgentModeState,
        NestedAgentsMdSnapshot, NestedAgentsMdState, NetworkAccess, PermissionsSnapshot, PermissionsState,
        PersistentModeState, PersonalitySnapshot, PersonalityState, PluginsState, RealtimeSnapshot, RealtimeState,
        SubAgent, ToolSet, ToolSetDiff, ToolSetSnapshot, ToolsState, UsageSnapshot,
    },
    snapshot::WorldStateSnapshot,
    state::{SetOutcome, WorldState, WorldStateDiff},
    update::{Placement, Update, UpdateContent, merge_updates, split_prefix_updates},
    warning::Warning,
};
