//! Putting back what a log holds.

use context_fragments::{Limit, TurnContextItem};
use context_manager::{ContextManager, Entry, Error, Fact, Origin, Position, Recording, Restored, TruncationPolicy};

use crate::setup::{assistant, in_turn, manager_of, output, prompt, recording, stored, user};

/// Writes a history into another manager, entry by entry.
fn copy_of(manager: &ContextManager) -> ContextManager {
    let mut copy = ContextManager::new();
    for entry in manager.history().entries() {
        match entry {
            Entry::Item(envelope) => {
                let mut restored = Restored::new(envelope.context_item().clone(), envelope.position());
                restored.turn = envelope.turn().cloned();
                restored.origin = Some(envelope.origin());
                restored.acceptance_order = envelope.acceptance_order();
                restored.truncation_limit = envelope.truncation_limit();
                restored.moved_from = envelope.moved_from();
                copy.restore(restored).expect("positions increase");
            }
            Entry::Fact(fact) => {
                copy.restore_fact(fact.fact().clone(), fact.position(), fact.turn().cloned())
                    .expect("positions increase");
            }
        }
    }
    copy
}

#[test]
fn a_restored_history_is_the_same() {
    let mut manager = ContextManager::new();
    manager.record_items([user("a"), assistant("b")], &in_turn("t1")).expect("small items");
    manager.set_world_state_baseline(Some(crate::baselines::snapshot_of("1")));
    manager.record_items([user("c")], &in_turn("t2")).expect("a small item");
    manager.drop_last_n_user_turns(1);
    let settings = TurnContextItem::parse(br#"{"cwd":"/r","model":"m1"}"#).expect("an object");
    manager.set_reference_context_item(Some(settings));
    manager.record_items([user("d")], &in_turn("t3")).expect("a small item");
    let copy = copy_of(&manager);
    assert_eq!(stored(&copy), stored(&manager));
    assert_eq!(prompt(&copy).input_json(), prompt(&manager).input_json());
    assert_eq!(prompt(&copy).chain(), prompt(&manager).chain());
    assert_eq!(copy.history().tokens(), manager.history().tokens());
    assert_eq!(copy.history_version(), 1);
    assert_eq!(copy.world_state_baseline(), manager.world_state_baseline());
    assert_eq!(copy.reference_context_item(), manager.reference_context_item());
    assert_eq!(copy.retained_kinds(), manager.retained_kinds());
    let positions = |manager: &ContextManager| manager.history().entries().map(Entry::position).collect::<Vec<_>>();
    assert_eq!(positions(&copy), positions(&manager));
}

#[test]
fn restoring_neither_cuts_nor_refuses() {
    let mut manager = ContextManager::new();
    let long = output("c1", &"x".repeat(100_000));
    let mut restored = Restored::new(long.clone(), Position::new(5));
    restored.truncation_limit = Some(Limit::Tokens(7));
    restored.origin = Some(Origin::Host);
    manager.restore(restored).expect("it is the first one");
    let envelope = manager.history().items().next().expect("one item").clone();
    assert!(envelope.item().ptr_eq(long.item()));
    assert_eq!((envelope.truncation_limit(), envelope.origin()), (Some(Limit::Tokens(7)), Origin::Host));
    // What comes next gets the next position.
    let recorded = manager.record_items([user("a")], &recording()).expect("a small item");
    assert_eq!(recorded.positions, [Position::new(6)]);
}

#[test]
fn a_restored_item_of_an_unknown_type_stays_and_is_not_sent() {
    let mut manager = ContextManager::new();
    let odd = crate::setup::raw(r#"{"type":"anything_new","x":1}"#);
    manager.restore(Restored::new(odd, Position::new(0))).expect("it is the first one");
    assert_eq!(stored(&manager), ["anything_new()"]);
    let prompt = prompt(&manager);
    assert_eq!((prompt.items().len(), crate::setup::rules(&prompt)), (0, vec!["unknown_type"]));
}

#[test]
fn positions_have_to_increase() {
    let mut manager = ContextManager::new();
    manager.restore(Restored::new(user("a"), Position::new(3))).expect("it is the first one");
    for position in [0, 3] {
        let error = manager.restore(Restored::new(user("b"), Position::new(position))).expect_err("it is taken");
        assert_eq!(error.to_string(), format!("position {position} does not follow position 3"));
    }
    assert!(manager.restore_fact(Fact::Baseline(None), Position::new(3), None).is_err());
    assert_eq!(manager.history().entry_count(), 1);
}

#[test]
fn a_limit_is_saved_so_that_a_replay_sees_the_same() {
    let mut manager = ContextManager::new();
    let policy = Recording::new(TruncationPolicy::new(Limit::Tokens(20)));
    manager.record_items([output("c1", &"word ".repeat(100))], &policy).expect("a small item");
    let copy = copy_of(&manager);
    let item = |manager: &ContextManager| manager.history().items().next().expect("one item").clone();
    assert_eq!(item(&copy).item(), item(&manager).item());
    assert_eq!(item(&copy).truncation_limit(), Some(Limit::Tokens(20)));
}

#[test]
fn a_position_that_leaves_no_room_is_refused() {
    for number in [u64::MAX, u64::MAX - 1, Position::MAX.number() + 1] {
        let mut manager = manager_of([user("a")]);
        let position = Position::new(number);
        let refused = manager.restore(Restored::new(user("b"), position)).expect_err("no entry fits behind it");
        assert!(refused.to_string().starts_with(&format!("position {number} is larger than")), "{refused}");
        let fact = manager.restore_fact(Fact::Baseline(None), position, None);
        assert!(matches!(fact, Err(Error::PositionTooLarge { .. })), "{fact:?}");
        assert_eq!(stored(&manager), ["U\"a\""], "nothing was changed");
    }
    let mut manager = manager_of([user("a")]);
    manager.restore(Restored::new(user("b"), Position::MAX)).expect("the largest one");
    let recorded = manager.record_items([user("c")], &recording()).expect("a small item");
    assert_eq!(recorded.positions, [Position::new(Position::MAX.number() + 1)]);
}
