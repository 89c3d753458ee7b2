//! Histories that go on from a place of another one.

use allocation_counter::measure;
use context_fragments::WireItem;
use context_manager::{ContextManager, Declared, ForkPolicy, OpenCalls, Position, Proof, Rewrite, Rule};

use crate::{
    baselines::snapshot_of,
    setup::{
        assistant, call, custom_call, environment, in_turn, manager_of, output, projected, prompt, raw, recording,
        rules, stored, user,
    },
};

fn reasoning(id: &str) -> context_fragments::ContextItem {
    raw(&format!(r#"{{"type":"reasoning","id":"{id}","summary":[],"encrypted_content":"xxxx"}}"#))
}

/// A turn whose three calls run; the first one makes the fork.
fn calling() -> ContextManager {
    let mut manager = manager_of([user("1"), call("old"), user("2"), reasoning("r"), call("own")]);
    manager.record_items([call("sibling"), custom_call("other"), call("done")], &recording()).expect("small items");
    manager.record_items([output("done", "ok")], &recording()).expect("a small item");
    manager
}

/// What the child of `calling` holds behind its second input.
#[track_caller]
fn check(policy: &ForkPolicy, want: &[&str], rest: (usize, usize)) {
    let manager = calling();
    let before = stored(&manager);
    let child = manager.fork(manager.history().end_cursor(), policy).expect("the end is there");
    assert_eq!(stored(&child.manager)[3..], *want, "{policy:?}");
    assert_eq!((child.closed.len(), child.dropped.len()), rest, "{policy:?}");
    assert_eq!(stored(&manager), before, "the parent is as it was");
    assert_eq!(child.turns_left_out, 0);
}

#[test]
fn open_calls_are_closed_and_calls_of_siblings_dropped() {
    check(
        &ForkPolicy::child_of("own", "you are the child"),
        &["reasoning()", "C(own)", "C(done)", "O(done,\"ok\")", "O(own,\"you are the child\")"],
        (1, 2),
    );
    let elsewhere = "This call goes on in the session from which this one was forked; its result is not known here.";
    let said = |id: &str| format!("({id},\"{elsewhere}\")");
    let (own, sibling, other) = (said("own"), said("sibling"), said("other"));
    check(
        &ForkPolicy::closing(),
        &[
            "reasoning()",
            "C(own)",
            "C(sibling)",
            "CC(other)",
            "C(done)",
            "O(done,\"ok\")",
            &format!("O{own}"),
            &format!("O{sibling}"),
            &format!("CO{other}"),
        ],
        (3, 0),
    );
    check(
        &ForkPolicy::closing().with_others(OpenCalls::Keep),
        &["reasoning()", "C(own)", "C(sibling)", "CC(other)", "C(done)", "O(done,\"ok\")"],
        (0, 0),
    );
    check(&ForkPolicy::closing().with_others(OpenCalls::Drop), &["reasoning()", "C(done)", "O(done,\"ok\")"], (0, 3));
}

#[test]
fn reasoning_goes_with_the_calls_that_it_led_to() {
    let manager = manager_of([user("1"), reasoning("r1"), assistant("a"), reasoning("r2"), call("c"), call("d")]);
    let policy = ForkPolicy::closing().with_others(OpenCalls::Drop);
    let child = manager.fork(manager.history().end_cursor(), &policy).expect("the end is there");
    assert_eq!(stored(&child.manager), ["U\"1\"", "reasoning()", "A\"a\""]);
    assert_eq!(child.dropped, [Position::new(3), Position::new(4), Position::new(5)]);
}

#[test]
fn a_call_whose_output_came_first_is_not_open() {
    let manager = manager_of([user("u"), output("1", "early"), call("1"), output("1", "twice"), call("2")]);
    let child = manager.fork(manager.history().end_cursor(), &ForkPolicy::closing()).expect("the end is there");
    assert_eq!(child.closed.len(), 1, "only the second call is open");
    assert_eq!(rules(&prompt(&child.manager)), rules(&prompt(&manager))[..2], "nothing has to be mended for the fork");
}

#[test]
fn calls_of_earlier_turns_stay_as_they_were_sent() {
    let manager = calling();
    let child = manager.fork(manager.history().end_cursor(), &ForkPolicy::closing()).expect("the end is there");
    let made = prompt(&child.manager);
    assert_eq!(projected(&made)[..4], ["U\"1\"", "C(old)", "O(old,\"aborted\")", "U\"2\""]);
    assert_eq!(rules(&made), [Rule::MissingOutput.id()]);
}

#[test]
fn a_fork_at_a_turn_ends_before_it() {
    let mut manager = ContextManager::new();
    for turn in ["t1", "t2", "t3"] {
        manager.record_update([environment(turn)], snapshot_of(turn), &in_turn(turn)).expect("a small item");
        manager.record_items([user(turn), assistant("a")], &in_turn(turn)).expect("small items");
    }
    manager.mark_sent(&prompt(&manager)).expect("nothing was added");
    let cursors: Vec<_> = manager.history().cursors().collect();
    let child = manager.fork(cursors[1], &ForkPolicy::closing()).expect("the turn is there");
    assert_eq!(stored(&child.manager), ["U\"t1\"", "U\"t1\"", "A\"a\""]);
    assert_eq!(child.turns_left_out, 2);
    assert_eq!(child.manager.world_state_baseline(), Some(&snapshot_of("t1")));
    let made = prompt(&child.manager);
    assert_eq!(
        made.proof().broken().map(|broken| &broken.declared[..]),
        Some(&[Declared::Rewrite(Rewrite::Rollback)][..])
    );
    assert_eq!(manager.history_version(), 0);

    let mut whole = manager.fork(manager.history().end_cursor(), &ForkPolicy::closing()).expect("the end is there");
    whole.manager.record_items([user("go on")], &recording()).expect("a small item");
    assert_eq!(prompt(&whole.manager).proof(), &Proof::Extends { shared: 9, new: 1 });
}

#[test]
fn a_fork_at_a_turn_that_is_gone_is_refused() {
    let mut manager = manager_of([user("1"), user("2")]);
    let cursor = manager.history().cursors().next_back().expect("two turns");
    manager.rollback_to(cursor).expect("the turn is there");
    let error = manager.fork(cursor, &ForkPolicy::closing()).expect_err("it was taken back");
    assert_eq!(error.to_string(), "no turn begins at position 1");
    manager.replace_compacted([user("s").into()], &recording()).expect("a small item");
    assert!(manager.fork(cursor, &ForkPolicy::closing()).expect_err("it was compacted").is_beyond_epoch());
}

#[test]
fn a_search_is_closed_by_an_empty_one() {
    let search = raw(r#"{"type":"tool_search_call","call_id":"s","execution":"client","arguments":{}}"#);
    let manager = manager_of([user("1"), search]);
    let child = manager.fork(manager.history().end_cursor(), &ForkPolicy::closing()).expect("the end is there");
    let history = child.manager.snapshot();
    let closing: &WireItem = history.items().last().expect("three items").item();
    assert_eq!(
        closing.as_str(),
        r#"{"type":"tool_search_output","call_id":"s","status":"completed","execution":"client","tools":[]}"#
    );
    assert!(prompt(&child.manager).repairs().is_empty());
}

#[test]
fn law_10_a_fork_copies_no_item() {
    let mut costs = Vec::new();
    for items in [1_000, 50_000] {
        let manager = manager_of((0..items).map(|number| user(&format!("item {number}"))));
        let cursor = manager.history().cursors().nth_back(2).expect("many turns");
        let mut child = None;
        let cost = measure(|| child = Some(manager.fork(cursor, &ForkPolicy::closing())));
        let child = child.expect("it ran").expect("the turn is there");
        assert_eq!(child.manager.history().item_count(), items - 3);
        let shared = child.manager.history().items().zip(manager.history().items());
        assert!(shared.clone().count() == items - 3 && shared.clone().all(|(one, two)| std::ptr::eq(one, two)));
        costs.push(cost.count_total);
    }
    assert!(costs.iter().all(|count| *count < 60), "{costs:?}");
}
