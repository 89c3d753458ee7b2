//! What the model has been told.

use context_fragments::{Kind, TurnContextItem};
use context_manager::{ContextManager, Entry, Fact};
use world_state::WorldStateSnapshot;

use crate::setup::{developer, recording, stored, user};

/// A state snapshot that differs by one word.
pub(crate) fn snapshot_of(word: &str) -> WorldStateSnapshot {
    serde_json::from_value(serde_json::json!({ "model": word })).expect("an object without nulls")
}

#[test]
fn law_7_baseline_moves_only_with_its_items() {
    let mut manager = ContextManager::new();
    let told = developer(Kind::PERMISSIONS, "p");
    manager.record_update([told.clone()], snapshot_of("1"), &recording()).expect("a small item");
    let history = manager.snapshot();
    let states: Vec<_> = history.entries().map(|entry| entry.state().world_state_baseline().is_some()).collect();
    assert_eq!(states, [false, true], "first the item, then the baseline");

    // The next update is refused, and the baseline stands where it stood.
    let cap = recording().with_max_item_bytes(10);
    assert!(manager.record_update([told], snapshot_of("2"), &cap).is_err());
    assert_eq!(manager.world_state_baseline(), Some(&snapshot_of("1")));
    assert_eq!(manager.history().entry_count(), 2);
}

#[test]
fn an_equal_baseline_or_context_adds_nothing() {
    let mut manager = ContextManager::new();
    manager.set_world_state_baseline(None);
    manager.set_reference_context_item(None);
    assert_eq!(manager.history().entry_count(), 0);
    let settings = TurnContextItem::parse(br#"{"cwd":"/r","model":"m1"}"#).expect("an object");
    for _ in 0..2 {
        manager.set_world_state_baseline(Some(snapshot_of("1")));
        manager.set_reference_context_item(Some(settings.clone()));
    }
    assert_eq!(manager.history().entry_count(), 2);
    manager.set_world_state_baseline(None);
    assert_eq!((manager.world_state_baseline(), manager.history().entry_count()), (None, 3));
}

#[test]
fn appending_moves_neither() {
    let mut manager = ContextManager::new();
    manager.set_world_state_baseline(Some(snapshot_of("1")));
    manager.record_items([user("a")], &recording()).expect("a small item");
    assert_eq!(manager.world_state_baseline(), Some(&snapshot_of("1")));
    assert_eq!(stored(&manager), ["U\"a\""], "a fact is no item");
}

#[test]
fn replacing_clears_the_baseline_and_leaves_the_settings_to_the_caller() {
    let mut manager = ContextManager::new();
    let settings = TurnContextItem::parse(br#"{"cwd":"/r","model":"m1"}"#).expect("an object");
    manager.record_items([user("a")], &recording()).expect("a small item");
    manager.set_world_state_baseline(Some(snapshot_of("1")));
    manager.set_reference_context_item(Some(settings.clone()));
    manager.replace([user("b").into()], &recording()).expect("a small item");
    assert_eq!((manager.world_state_baseline(), manager.reference_context_item()), (None, Some(&settings)));
    let history = manager.snapshot();
    let first = history.entries().next().expect("the rewrite is an entry");
    assert!(matches!(first, Entry::Fact(fact) if matches!(fact.fact(), Fact::Rewritten { version: 1, .. })));
}
