//! The filter, the cap, and what recording gives back.

use context_fragments::{ContextItem, Limit, WireItem};
use context_manager::{
    ContextManager, Digest, DropReason, Error, HistorySnapshot, Incoming, Origin, Position, Recording, TruncationPolicy,
};

use crate::setup::{assistant, call, in_turn, manager_of, output, raw, recording, stored, user};

fn system() -> ContextItem {
    raw(r#"{"type":"message","role":"system","content":[]}"#)
}

fn configuration() -> ContextItem {
    raw(r#"{"type":"configuration_update","reasoning":{"effort":"high"}}"#)
}

/// No holder of what was admitted changes what another one holds.
#[test]
fn an_item_that_is_appended_twice_is_two_entries() {
    let (mut manager, mut other) = (ContextManager::new(), ContextManager::new());
    other.record_items([user("before"), call("1")], &recording()).expect("small items");
    let ready = manager.admit([user("a")], &recording()).expect("a small item").into_items().remove(0);
    manager.append(ready.clone());
    let snapshot = manager.snapshot();
    manager.append(ready.clone());
    other.append(ready.clone());
    let places = |history: &HistorySnapshot| -> Vec<_> {
        history.items().map(|entry| (entry.position().number(), entry.state().items())).collect()
    };
    assert_eq!(places(&snapshot), [(0, 1)]);
    assert_eq!(places(&manager.snapshot()), [(0, 1), (1, 2)]);
    assert_eq!(places(&other.snapshot()), [(0, 1), (1, 2), (2, 3)]);
    assert_eq!(ready.context_item(), &user("a"));
}

#[test]
fn the_filter_keeps_what_a_model_may_read() {
    let mut manager = ContextManager::new();
    let items = [
        system(),
        raw(r#"{"type":"reasoning","summary":[],"encrypted_content":"x"}"#),
        raw(r#"{"type":"anything_new","x":1}"#),
        user("u"),
        assistant("a"),
        raw(r#"{"type":"compaction_trigger"}"#),
        raw(r#"{"type":"message","role":"critic","content":[]}"#),
        raw(r#"{"role":"user","content":[]}"#),
    ];
    let recorded = manager.record_items(items.clone(), &recording()).expect("small items");
    let kept: Vec<_> = manager.history().items().map(|envelope| envelope.item().clone()).collect();
    assert_eq!(kept, [1, 3, 4, 6, 7].map(|index: usize| items[index].item().clone()));
    let dropped: Vec<_> = recorded.dropped.iter().map(|dropped| (dropped.index, dropped.reason)).collect();
    assert_eq!(
        dropped,
        [(0, DropReason::SystemMessage), (2, DropReason::UnknownType), (5, DropReason::RequestControl)]
    );
    assert_eq!(&recorded.dropped[1].item, items[2].item(), "what is kept out is handed back");
}

#[test]
fn every_model_visible_type_is_kept() {
    let types = [
        "agent_message",
        "function_call",
        "function_call_output",
        "tool_search_call",
        "tool_search_output",
        "custom_tool_call",
        "custom_tool_call_output",
        "local_shell_call",
        "web_search_call",
        "image_generation_call",
        "additional_tools",
        "compaction",
        "compaction_summary",
        "context_compaction",
    ];
    let mut manager = ContextManager::new();
    let items = types.map(|name| raw(&format!(r#"{{"type":"{name}"}}"#)));
    assert!(manager.record_items(items, &recording()).expect("small items").dropped.is_empty());
    assert_eq!(manager.history().item_count(), types.len());
}

#[test]
fn a_configuration_update_needs_the_hosts_word() {
    let mut manager = ContextManager::new();
    let items = [
        Incoming::new(configuration()),
        Incoming::new(configuration()).by(Origin::User),
        Incoming::new(system()).by(Origin::Host),
        Incoming::new(configuration()).by(Origin::Host),
    ];
    let recorded = manager.record_items(items, &recording()).expect("small items");
    assert_eq!(recorded.dropped.iter().map(|dropped| dropped.index).collect::<Vec<_>>(), [0, 1, 2]);
    assert_eq!(stored(&manager), ["configuration_update()"]);
}

#[test]
fn an_item_over_the_cap_is_refused_and_nothing_is_recorded() {
    let mut manager = ContextManager::new();
    let cap = recording().with_max_item_bytes(200);
    let error = manager.record_items([user("small"), user(&"x".repeat(200))], &cap).expect_err("it is too large");
    assert_eq!(error.to_string(), "item 1 has 276 bytes, more than the 200 bytes that an item may have");
    assert!(matches!(error, Error::ItemTooLarge { index: 1, bytes: 276, max_bytes: 200, .. }));
    assert_eq!((manager.history().entry_count(), manager.snapshot().tokens()), (0, 0));
    // An output is cut first, and the cap is for what is left.
    let tight = Recording::new(TruncationPolicy::new(Limit::Bytes(100))).with_max_item_bytes(200);
    assert!(manager.record_items([output("c1", &"x".repeat(10_000))], &tight).is_ok());
}

#[test]
fn the_whole_of_a_cut_output_comes_back_with_its_position() {
    let mut manager = ContextManager::new();
    let long = output("c1", &"x".repeat(1_000));
    let recording = Recording::new(TruncationPolicy::new(Limit::Bytes(100)));
    let recorded = manager.record_items([system(), call("c1"), long.clone()], &recording).expect("small items");
    assert_eq!(recorded.positions, [Position::new(0), Position::new(1)]);
    let [original] = &recorded.originals[..] else { panic!("one output was cut") };
    assert_eq!((original.index, original.position, &original.item), (2, Some(Position::new(1)), long.item()));
}

#[test]
fn an_envelope_holds_what_was_made_once() {
    let mut manager = ContextManager::new();
    let item = user("hello");
    let incoming = Incoming::new(item.clone()).accepted_as(7);
    manager.record_items([incoming], &in_turn("t1")).expect("a small item");
    let history = manager.snapshot();
    let envelope = history.items().next().expect("one item");
    assert!(envelope.item().ptr_eq(item.item()), "the bytes are those that were given");
    assert_eq!(envelope.digest(), Digest::of(item.item().as_bytes()));
    assert_eq!((envelope.tokens(), envelope.origin(), envelope.acceptance_order()), (2, Origin::User, Some(7)));
    assert_eq!(envelope.turn().map(ToString::to_string).as_deref(), Some("t1"));
    assert_eq!((envelope.truncation_limit(), envelope.moved_from()), (None, None));
}

#[test]
fn admitting_records_nothing_and_appending_cannot_fail() {
    let mut manager = ContextManager::new();
    let admitted = manager.admit([user("a"), system(), output("c", "b")], &recording()).expect("small items");
    assert_eq!(manager.history().entry_count(), 0);
    assert_eq!((admitted.items().count(), admitted.dropped().len(), admitted.originals().len()), (2, 1, 0));
    let recorded = manager.append_all(admitted);
    assert_eq!(recorded.positions.len(), 2);
    assert_eq!(stored(&manager), ["U\"a\"", "O(c,\"b\")"]);
}

#[test]
fn kinds_and_turns_are_shared_from_entry_to_entry() {
    let mut manager = ContextManager::new();
    let items = [user("a"), user("b"), WireItem::assistant_text("c").into()];
    manager.record_items(items, &in_turn("t1")).expect("small items");
    manager.record_items([user("d")], &in_turn("t2")).expect("a small item");
    let history = manager.snapshot();
    let states: Vec<_> = history.items().map(|envelope| envelope.state()).collect();
    assert!(states[0].shares_with(states[1]) && states[1].shares_with(states[2]));
    assert!(!states[2].shares_with(states[3]), "the turn is another one");
    assert_eq!(states.iter().map(|state| state.items()).collect::<Vec<_>>(), [1, 2, 3, 4]);
    // What says nothing of kinds and turns is shared too.
    let silent = manager_of([assistant("a"), assistant("b"), user("c")]).snapshot();
    let states: Vec<_> = silent.items().map(|envelope| envelope.state()).collect();
    assert!(states[0].shares_with(states[1]) && !states[1].shares_with(states[2]));
}
