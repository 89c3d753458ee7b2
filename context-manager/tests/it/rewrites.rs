//! Rewrites by name, and what they keep.

use context_fragments::{Kind, Limit};
use context_manager::{Error, Position, Proof, Recording, Replacement, Rewrite, TruncationPolicy};

use crate::setup::{assistant, call, developer, manager_of, output, projected, prompt, recording, stored, user};

fn keep(position: u64) -> Replacement {
    Replacement::Keep(Position::new(position))
}

#[test]
fn kept_items_keep_their_bytes_and_get_new_positions() {
    let mut manager = manager_of([user("a"), assistant("b"), user("c")]);
    let before = manager.snapshot();
    let recorded = manager.replace_compacted([user("summary").into(), keep(2)], &recording()).expect("small items");
    assert_eq!(stored(&manager), ["U\"summary\"", "U\"c\""]);
    let old = before.items().last().expect("three items");
    let history = manager.snapshot();
    let kept = history.items().last().expect("two items");
    assert!(kept.item().ptr_eq(old.item()));
    assert_eq!((kept.digest(), kept.tokens(), kept.moved_from()), (old.digest(), old.tokens(), Some(old.position())));
    assert!(kept.position() > old.position());
    assert_eq!(recorded.positions, history.items().map(|envelope| envelope.position()).collect::<Vec<_>>());
    assert_eq!(before.item_count(), 3, "a snapshot never changes");
}

#[test]
fn a_rewrite_that_cannot_be_done_changes_nothing() {
    let mut manager = manager_of([user("a"), user("b")]);
    let words =
        |result: Result<_, Error>| result.map(|_: context_manager::Recorded| ()).expect_err("refused").to_string();
    assert_eq!(words(manager.replace([keep(7)], &recording())), "no item at position 7");
    assert_eq!(
        words(manager.replace([keep(1), keep(0)], &recording())),
        "position 0 is kept after position 1, which stands later"
    );
    let tight = recording().with_max_item_bytes(10);
    assert_eq!(
        words(manager.rewrite(Rewrite::Import, [keep(0), user("c").into()], &tight)),
        "item 1 has 77 bytes, more than the 10 bytes that an item may have"
    );
    assert_eq!((manager.history_version(), stored(&manager).len()), (0, 2));
}

#[test]
fn new_items_of_a_rewrite_are_bounded_too() {
    let mut manager = manager_of([user("a"), call("1")]);
    let tight = Recording::new(TruncationPolicy::new(Limit::Bytes(50)));
    let items = [keep(0), keep(1), output("1", &"x".repeat(500)).into()];
    let recorded = manager.replace(items, &tight).expect("small items");
    let [original] = &recorded.originals[..] else { panic!("one output was cut") };
    assert_eq!((original.index, original.position), (2, recorded.positions.last().copied()));
}

#[test]
fn an_output_that_was_late_stays_late_when_its_call_is_rewritten_away() {
    let mut manager = manager_of([call("1")]);
    manager.mark_sent(&prompt(&manager)).expect("nothing was added");
    manager.record_items([output("1", "late"), call("1")], &recording()).expect("small items");
    manager.mark_sent(&prompt(&manager)).expect("nothing was added");
    manager.rewrite(Rewrite::Replace, [keep(1), keep(2)], &recording()).expect("they are there");
    let sent = prompt(&manager);
    assert_eq!(projected(&sent)[1..], ["C(1)", "O(1,\"aborted\")"]);
    manager.mark_sent(&sent).expect("nothing was added");
    manager.record_items([call("1")], &recording()).expect("a small item");
    assert_eq!(prompt(&manager).proof(), &Proof::Extends { shared: 3, new: 2 });
}

#[test]
fn kinds_after_a_rewrite_are_those_of_its_items() {
    let mut manager = manager_of([developer(Kind::PERMISSIONS, "p"), user("a")]);
    manager.replace([keep(1)], &recording()).expect("a small item");
    assert!(manager.retained_kinds().contains(&Kind::USER_TEXT));
    assert!(!manager.retained_kinds().contains(&Kind::PERMISSIONS));
}

#[test]
fn a_call_that_was_sent_as_closed_stays_closed_when_it_moves() {
    let mut manager = manager_of([user("a"), call("1")]);
    manager.mark_sent(&prompt(&manager)).expect("nothing was added");
    manager.replace([keep(1)], &recording()).expect("a small item");
    manager.record_items([output("1", "late")], &recording()).expect("a small item");
    assert_eq!(projected(&prompt(&manager))[..2], ["C(1)", "O(1,\"aborted\")"]);
}
