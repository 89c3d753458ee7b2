//! What every public type can be used for.

use agents_md::*;

fn is_shared<T: Send + Sync + std::fmt::Debug>() {}

#[test]
fn public_types_are_send_and_sync_and_debug() {
    is_shared::<Access>();
    is_shared::<Budget>();
    is_shared::<BudgetOrder>();
    is_shared::<DecodeReport>();
    is_shared::<Discovery>();
    is_shared::<Encoding>();
    is_shared::<EnvironmentTrace>();
    is_shared::<Error>();
    is_shared::<Explanation>();
    is_shared::<Finding>();
    is_shared::<Imports>();
    is_shared::<NameSet>();
    is_shared::<NestedLoaded>();
    is_shared::<NestedTargets>();
    is_shared::<Problem>();
    is_shared::<Failure>();
    is_shared::<FileBytes>();
    is_shared::<Found>();
    is_shared::<HostFs>();
    is_shared::<Inputs>();
    is_shared::<InstructionEntry>();
    is_shared::<InstructionProvenance>();
    is_shared::<LoadedAgentsMd>();
    is_shared::<MemoryFs>();
    is_shared::<Note>();
    is_shared::<Outcome>();
    is_shared::<Plan>();
    is_shared::<ProbeAnswer>();
    is_shared::<ProbeAsk>();
    is_shared::<ProbeRound>();
    is_shared::<ReadAnswer>();
    is_shared::<ReadAsk>();
    is_shared::<ReadRound>();
    is_shared::<Row>();
    is_shared::<Step>();
    is_shared::<ThreadInstructions>();
    is_shared::<Trace>();
    is_shared::<TurnEnvironmentSelection>();
    is_shared::<UserSource>();
    is_shared::<Warning>();
}

#[cfg(feature = "tokio")]
#[test]
fn a_manager_and_what_it_gives_are_send_and_sync_and_debug() {
    is_shared::<AgentsMdManager>();
    is_shared::<Held>();
    is_shared::<Refreshed>();
    is_shared::<(Freshness, DuringLoad, Refresh)>();
}

#[cfg(feature = "tokio")]
#[test]
fn a_remote_file_system_is_object_safe() {
    fn takes(_: &dyn RemoteFileSystem) {}
    takes(&MemoryFs::new());
}
