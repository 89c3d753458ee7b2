//! Every public type can be shared between threads.

use context_manager::{
    Admitted, ContextManager, Digest, Error, HistorySnapshot, Log, Normalized, Parts, PrefixGuard, Profile, Prompt,
    Proof, ReadyItem, Recorded, Recording, ResponseItemEnvelope, Sent, State,
};

fn is_shared<T: Send + Sync>() {}

#[test]
fn public_types_are_send_and_sync() {
    is_shared::<Admitted>();
    is_shared::<ContextManager>();
    is_shared::<Digest>();
    is_shared::<Error>();
    is_shared::<HistorySnapshot>();
    is_shared::<Log<String>>();
    is_shared::<Normalized>();
    is_shared::<Parts>();
    is_shared::<PrefixGuard>();
    is_shared::<Profile>();
    is_shared::<Prompt>();
    is_shared::<Proof>();
    is_shared::<ReadyItem>();
    is_shared::<Recorded>();
    is_shared::<Recording>();
    is_shared::<ResponseItemEnvelope>();
    is_shared::<Sent>();
    is_shared::<State>();
}
