//! What costs nothing that grows with the history: counted in allocations, never in time.

use allocation_counter::measure;
use context_fragments::TurnContextItem;
use context_manager::{ContextManager, HistorySnapshot, Modalities, Profile};
use world_state::WorldStateSnapshot;

use crate::setup::{assistant, call, in_turn, manager_of, output, recording, user};

/// A history with a baseline and a reference context item.
fn history_of(items: usize) -> ContextManager {
    let mut manager = ContextManager::new();
    manager.set_world_state_baseline(Some(WorldStateSnapshot::default()));
    manager
        .set_reference_context_item(Some(TurnContextItem::parse(br#"{"cwd":"/r","model":"m1"}"#).expect("an object")));
    for number in 0..items {
        manager.record_items([user(&format!("item {number}"))], &in_turn("t1")).expect("small items");
    }
    manager
}

#[test]
fn law_10_snapshots_and_clones_allocate_nothing() {
    for items in [0, 100, 10_000] {
        let manager = history_of(items);
        let cost = measure(|| {
            let snapshot = manager.snapshot();
            let again = snapshot.clone();
            assert_eq!(again.item_count(), items);
            drop((snapshot, again));
        });
        assert_eq!(cost.count_total, 0, "{items} items");
        let fork = measure(|| assert_eq!(manager.clone().history().item_count(), items));
        assert_eq!(fork.count_total, 0, "{items} items");
    }
}

#[test]
fn law_10_appending_costs_the_same_with_a_thousand_snapshots_alive() {
    let mut costs = Vec::new();
    for (items, live) in [(300, 0), (300, 1), (300, 1_000), (20_300, 1_000)] {
        let mut manager = history_of(items);
        let mut snapshots: Vec<HistorySnapshot> = (0..live).map(|_| manager.snapshot()).collect();
        let ready = manager.admit([user("next")], &in_turn("t1")).expect("a small item").into_items();
        let ready = ready.into_iter().next().expect("one item was admitted");
        // The first append after a border allocates a chunk; this one does not stand at a border.
        let cost = measure(|| {
            manager.append(ready);
        });
        costs.push((cost.count_total, cost.bytes_total));
        snapshots.truncate(1);
        assert!(snapshots.iter().all(|snapshot| snapshot.item_count() == items));
    }
    assert_eq!(costs[0].0, 0, "the envelope was made when the item was admitted");
    assert!(costs.iter().all(|cost| *cost == costs[0]), "{costs:?}");
}

#[test]
fn law_10_totals_versions_and_baselines_are_kept_not_counted() {
    let manager = history_of(10_000);
    let cost = measure(|| {
        let history = manager.history();
        assert_eq!(history.item_count(), 10_000);
        assert_eq!(history.history_version(), 0);
        assert!(history.tokens() > 10_000);
        assert!(history.world_state_baseline().is_some());
        assert!(history.reference_context_item().is_some());
        assert_eq!(history.retained_kinds().iter().count(), 1);
    });
    assert_eq!(cost.count_total, 0);
}

#[test]
fn law_10_a_rollback_with_a_live_snapshot_copies_no_item() {
    let mut costs = Vec::new();
    for items in [1_000, 50_000] {
        let mut manager = manager_of((0..items).map(|number| user(&format!("item {number}"))));
        let snapshot = manager.snapshot();
        let cost = measure(|| {
            manager.drop_last_n_user_turns(1);
        });
        assert_eq!((snapshot.item_count(), manager.history().item_count()), (items, items - 1));
        costs.push(cost.count_total);
    }
    // A table of its own, its buckets, one chunk, the list of rewrites, the fact: none per item, and none per turn.
    assert!(costs.iter().all(|count| *count < 20), "{costs:?}");
}

#[test]
fn n26_ten_thousand_calls_are_paired_in_one_pass() {
    let mut measured = Vec::new();
    for pairs in [5_000, 10_000] {
        let mut manager = ContextManager::new();
        for number in 0..pairs {
            let id = format!("c{number}");
            // Every tenth call stays without an output, every tenth output without a call.
            if number % 10 != 1 {
                manager.record_items([call(&id)], &recording()).expect("small items");
            }
            if number % 10 != 0 {
                manager.record_items([output(&id, "ok")], &recording()).expect("small items");
            }
        }
        let mut steps = 0;
        let cost = measure(|| {
            let normalized = manager.for_prompt_annotated(Modalities::ALL, &Profile::responses());
            assert_eq!(normalized.repairs.len(), pairs / 5);
            steps = normalized.steps;
        });
        measured.push((steps, cost.count_total));
    }
    let [(half_steps, half_allocations), (steps, allocations)] = measured[..] else {
        panic!("two sizes were measured")
    };
    assert!(steps <= 6 * 20_000, "{steps} items and table entries were looked at");
    assert!(steps <= 2 * half_steps + 10, "{half_steps}, then {steps}");
    assert!(allocations <= 2 * half_allocations + 100, "{half_allocations}, then {allocations}");
}

#[test]
fn a_projection_without_repairs_makes_no_bytes() {
    let mut manager = ContextManager::new();
    manager
        .record_items((0..1_000).map(|number| assistant(&format!("a {number}"))), &recording())
        .expect("small items");
    let cost = measure(|| {
        let normalized = manager.for_prompt_annotated(Modalities::ALL, &Profile::responses());
        assert_eq!(normalized.items.len(), 1_000);
    });
    assert!(cost.count_total < 20, "{} allocations", cost.count_total);
}

/// How many blocks are freed, beyond those that are made.
fn freed(work: impl FnOnce()) -> i64 {
    -measure(work).count_current
}

#[test]
fn what_a_change_leaves_behind_is_freed_when_its_value_is_dropped() {
    let summary = || [context_manager::Replacement::from(user("summary"))];
    let compact =
        |manager: &mut ContextManager| manager.replace_compacted(summary(), &recording()).expect("it is smaller");

    // Each item is an envelope and its bytes, and 64 envelopes stand in a chunk.
    let mut plain = history_of(10_000);
    assert!(freed(|| drop(compact(&mut plain))) > 20_000, "whoever compacts waits for every item");

    let mut manager = history_of(10_000);
    let mut retired = None;
    let now = freed(|| retired = Some(manager.retiring(compact).1));
    assert!(now < 10, "{now} blocks were freed by the change");
    let retired = retired.expect("it was given");
    assert_eq!(retired.entries(), 10_002);
    assert!(freed(|| drop(retired)) > 20_000);

    // The same for a long turn that is taken back, and for the prompt that was sent before.
    let mut manager = history_of(10_000);
    manager.mark_sent(&manager.for_prompt(&crate::setup::parts(), &Profile::responses())).expect("nothing was added");
    let (done, rolled_back) = manager.retiring(|manager| manager.drop_last_n_user_turns(1));
    assert_eq!(done.items, 10_000, "all of it is one turn");
    let made = manager.for_prompt(&crate::setup::parts(), &Profile::responses());
    let mut sent = None;
    assert!(freed(|| sent = Some(manager.retiring(|manager| manager.mark_sent(&made)))) < 10);
    let (marked, before) = sent.expect("it was given");
    marked.expect("nothing was added");
    assert!(before.sent().is_some_and(|sent| sent.items().len() == 10_000));
    assert!(freed(|| drop(before)) < 10_001, "the items are held by what was rolled back");
    assert!(freed(|| drop(rolled_back)) > 20_000);

    let manager = history_of(10_000);
    let mut all = None;
    assert!(freed(|| all = Some(manager.retire())) < 10);
    assert!(freed(|| drop(all)) > 20_000);
}
