//! The same history in a context manager.
#![expect(clippy::expect_used, reason = "the corpus is this crate's own, and a bench on another one has to fail")]

use context_fragments::{Limit, TurnContextItem, WireItem};
use context_manager::{ContextManager, Model, Parts, ReadyItem, Recording, TruncationPolicy};
use world_state::WorldStateSnapshot;

use crate::{
    corpus::{self, Spec},
    naive,
};

fn recording() -> Recording {
    Recording::new(TruncationPolicy::new(Limit::Tokens(10_000)))
}

fn wire(spec: &Spec) -> WireItem {
    WireItem::parse(spec.json().as_bytes()).expect("the corpus is JSON")
}

/// The first `len` items of the corpus, with its world state and settings.
///
/// # Panics
/// If the corpus is not what it says.
#[must_use]
pub fn manager_of_corpus(len: usize) -> ContextManager {
    let mut manager = ContextManager::new();
    manager.set_world_state_baseline(Some(world_state()));
    let settings = TurnContextItem::parse(corpus::turn_context().as_bytes()).expect("the corpus is JSON");
    manager.set_reference_context_item(Some(settings));
    manager.record_items(corpus::conversation(len).iter().map(wire), &recording()).expect("the items are small");
    assert_eq!(manager.history().item_count(), len);
    manager
}

/// `count` items that follow on `len`, ready to be appended.
///
/// # Panics
/// If the corpus is not what it says.
#[must_use]
pub fn ready_items(len: usize, count: usize) -> Vec<ReadyItem> {
    let items = corpus::conversation(len + count);
    let admitted = ContextManager::new().admit(items[len..].iter().map(wire), &recording());
    admitted.expect("the items are small").into_items()
}

/// What the prompts of the corpus have beside their items.
#[must_use]
pub fn parts() -> Parts {
    Parts::new(Model::new("model-1")).with_base("You are careful.")
}

/// The bound to which the corpus is recorded.
#[must_use]
pub fn bound() -> Recording {
    recording()
}

/// The world state of the corpus.
///
/// # Panics
/// If the corpus is not what it says.
#[must_use]
pub fn world_state() -> WorldStateSnapshot {
    serde_json::from_value(naive::world_state().into_iter().collect()).expect("the corpus has no nulls")
}
