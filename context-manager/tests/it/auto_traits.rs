//! Every public type can be shared between threads.

use context_manager::{
    Admitted, CallState, Chunks, ContextManager, Digest, Error, HistorySnapshot, Log, Normalized, Parts, PrefixGuard,
    Profile, Projector, Prompt, Proof, ReadyItem, Recorded, Recording, Repair, ResponseItemEnvelope, RuleSource, Sent,
    State, UsageAnchor, Violation,
};

fn is_shared<T: Send + Sync>() {}

#[test]
fn public_types_are_send_and_sync() {
    is_shared::<Admitted>();
    is_shared::<CallState>();
    is_shared::<Chunks>();
    is_shared::<ContextManager>();
    is_shared::<Digest>();
    is_shared::<Error>();
    is_shared::<HistorySnapshot>();
    is_shared::<Log<String>>();
    is_shared::<Normalized>();
    is_shared::<Parts>();
    is_shared::<PrefixGuard>();
    is_shared::<Profile>();
    is_shared::<Projector>();
    is_shared::<Prompt>();
    is_shared::<Proof>();
    is_shared::<ReadyItem>();
    is_shared::<Recorded>();
    is_shared::<Recording>();
    is_shared::<Repair>();
    is_shared::<ResponseItemEnvelope>();
    is_shared::<RuleSource>();
    is_shared::<Sent>();
    is_shared::<State>();
    is_shared::<UsageAnchor>();
    is_shared::<Violation>();
    #[cfg(feature = "http")]
    is_shared::<(context_manager::BodyBuf, context_manager::HttpBody)>();
    #[cfg(feature = "o200k")]
    is_shared::<context_manager::O200k>();
}
