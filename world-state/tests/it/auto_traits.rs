//! Everything can be sent to and shared with another thread.

use world_state::*;

#[test]
fn public_types_are_send_and_sync() {
    fn check<T: Send + Sync>() {}
    check::<WorldState>();
    check::<WorldStateDiff>();
    check::<WorldStateSnapshot>();
    check::<WorldStateHash>();
    check::<MergePatch>();
    check::<Update>();
    check::<UpdateContent>();
    check::<SectionDiff<serde_json::Value>>();
    check::<PreviousSectionState<'static, serde_json::Value>>();
    check::<ExtensionSection>();
    check::<SectionFragment>();
    check::<AgentsMdState>();
    check::<CollaborationModeState>();
    check::<EnvironmentsState>();
    check::<ModelInstructionsState>();
    check::<PermissionsState>();
    check::<AppsState>();
    check::<ContextWindowGuidanceState>();
    check::<EnvironmentsInstructionsState>();
    check::<ManagedDeveloperInstructionsState>();
    check::<MultiAgentModeState>();
    check::<NestedAgentsMdState>();
    check::<PersistentModeState>();
    check::<PersonalityState>();
    check::<PluginsState>();
    check::<RealtimeState>();
    check::<ToolsState>();
    check::<ToolSet>();
    check::<ToolSetDiff>();
    check::<ToolSetSnapshot>();
    check::<ApprovalRequestChannel>();
    check::<InstructionsSnapshot>();
    check::<MultiAgentModeSnapshot>();
    check::<NestedAgentsMdSnapshot>();
    check::<PersonalitySnapshot>();
    check::<RealtimeSnapshot>();
    check::<UsageSnapshot>();
    check::<FileSystemAccess>();
    check::<NetworkAccess>();
    check::<SubAgent>();
    check::<AgentsMdSnapshot>();
    check::<CollaborationModeSnapshot>();
    check::<Date>();
    check::<Environment>();
    check::<EnvironmentStatus>();
    check::<EnvironmentsSnapshot>();
    check::<PermissionsSnapshot>();
    check::<Placement>();
    check::<Preset>();
    check::<SetOutcome>();
    check::<Volatility>();
    check::<SnapshotChange<serde_json::Value>>();
    check::<Warning>();
    check::<Error>();
}
