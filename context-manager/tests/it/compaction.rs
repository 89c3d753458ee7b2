//! What a compaction keeps and drops, and views for its retries.

use std::collections::HashSet;

use context_fragments::{ContextItem, Kind, Role};
use context_manager::{
    CompactionPlan, CompactionTarget, ContextManager, Declared, Model, PartName, Parts, Piece, Position, Preflight,
    Preset, Proof, Replacement, Rewrite, SUMMARY_KIND,
};
use proptest::prelude::*;

use crate::{
    laws::item,
    setup::{
        assistant, call, custom_call, custom_output, environment, image_message, manager_of, manager_with, message,
        output, parts, projected, prompt, raw, recording, rules, stored, user,
    },
};

/// A user message of so many tokens.
fn words(tokens: usize) -> ContextItem {
    user(&"four".repeat(tokens))
}

fn big_output(id: &str, tokens: usize) -> ContextItem {
    output(id, &"four".repeat(tokens - 1))
}

/// Applies a plan with a summary of so many tokens.
fn apply(manager: &mut ContextManager, kept: &[Position], summary_tokens: usize) {
    let summary = message(Role::User, &[(SUMMARY_KIND, &"four".repeat(summary_tokens))]);
    let window = kept.iter().map(|&position| Replacement::Keep(position)).chain([summary.into()]);
    manager.replace_compacted(window, &recording()).expect("the plan keeps whole exchanges and gets smaller");
}

#[test]
fn t04_a_smaller_window_is_told_before_and_reached_in_passes() {
    let manager = manager_of((0..450).map(|_| words(1_000)));
    let large = manager.for_prompt(&Parts::new(Model::new("m-1m")), &context_manager::Profile::responses());
    let parts_tokens = 3; // `{}`, nothing, `[]` and `null`
    assert_eq!(large.preflight(1_000_000), Preflight::Fits { left: 550_000 - parts_tokens });
    assert_eq!(manager.history().preflight(200_000), Preflight::Needs { tokens: 250_000 });
    let target = CompactionTarget::new(200_000).with_reserve(20_000);
    let CompactionPlan::Compact(plan) = manager.history().plan_compaction(&target) else { panic!("it does not fit") };
    assert_eq!((plan.kept.len(), plan.dropped.len(), plan.tokens_after), (180, 270, 200_000));
    assert_eq!(plan.passes.iter().map(|pass| pass.tokens).collect::<Vec<_>>(), [200_000, 110_000]);
    assert!(plan.passes.iter().all(|pass| pass.tokens <= 200_000) && plan.unread.is_empty());
    let read: Vec<Position> = plan.passes.iter().flat_map(|pass| pass.items.iter().copied()).collect();
    assert_eq!(read, plan.dropped);
    let mut manager = manager;
    apply(&mut manager, &plan.kept, 20_000);
    assert!(manager.history().preflight(200_000).fits());
}

#[test]
fn t05_a_floor_above_the_window_is_said_once_with_its_largest_pieces() {
    let manager = manager_of([user("hi"), assistant("hello")]);
    let base = "four".repeat(30_000);
    let tools = format!("[{{\"name\":\"{}\"}}]", "four".repeat(12_500));
    let parts = Parts::new(Model::new("m1")).with_base(base).with_tools(&tools).expect("an array");
    let target = CompactionTarget::new(33_000).with_parts(&parts).with_reserve(500);
    let plan = manager.history().plan_compaction(&target);
    let CompactionPlan::Irreducible { floor, largest } = &plan else { panic!("{plan:?}") };
    assert_eq!(*floor, 43_000 + 6 + 1, "the parts and the reserve, and what the person asked");
    let named: Vec<(Piece, u64)> = largest.iter().map(|weight| (weight.what, weight.tokens)).collect();
    assert_eq!(
        named,
        [
            (Piece::Part(PartName::Base), 30_000),
            (Piece::Part(PartName::Tools), 12_504),
            (Piece::Reserve, 500),
            (Piece::Part(PartName::Parameters), 1),
            (Piece::Part(PartName::Schema), 1),
        ]
    );
    assert_eq!(manager.history().plan_compaction(&target), plan, "to ask again changes nothing");
}

#[test]
fn t07_a_large_newest_item_does_not_end_the_search() {
    let mut manager = manager_of([words(10)]);
    for number in 0..10 {
        let id = format!("c{number}");
        manager
            .record_items([call(&id), big_output(&id, 20_000)], &recording().with_max_item_bytes(1 << 30))
            .expect("it fits");
    }
    manager.record_items([words(300_000)], &recording()).expect("it fits");
    // The outputs were cut when they were recorded; each exchange has 10,000 tokens or so.
    let before = manager.history().tokens();
    let target = CompactionTarget::new(350_000);
    let CompactionPlan::Compact(plan) = manager.history().plan_compaction(&target) else { panic!("it does not fit") };
    assert!(before > 350_000 && plan.tokens_after <= 350_000, "{before}, then {}", plan.tokens_after);
    let newest = manager.history().items().next_back().expect("many").position();
    assert!(plan.kept.contains(&newest) && plan.kept.len() > 1, "the newest item and what fits beside it");
    assert!(!plan.dropped.is_empty());

    // The same for the view of a retry.
    let mut view = manager.compaction_view();
    view.skip_until(350_000);
    assert!(view.tokens() <= 350_000 && view.items().any(|item| item.position() == newest));
    view.skip_until(0);
    assert_eq!(view.items().map(|item| item.position()).collect::<Vec<_>>(), [newest], "only what has to stay");
}

#[test]
fn a_history_that_fits_needs_no_plan() {
    let manager = manager_of([user("a")]);
    let target = CompactionTarget::new(100).with_parts(&parts());
    assert_eq!(manager.history().plan_compaction(&target), CompactionPlan::Fits { tokens: 1 + 1 + 1 + 1 + 1 });
}

#[test]
fn context_goes_because_it_is_said_again() {
    let manager = manager_of([environment(&"four".repeat(50)), words(100), assistant("ok"), words(10)]);
    let target = CompactionTarget::new(140);
    let CompactionPlan::Compact(plan) = manager.history().plan_compaction(&target) else { panic!("it does not fit") };
    assert_eq!((plan.kept.len(), plan.dropped.len()), (3, 1));
    assert!(plan.passes.is_empty(), "nobody has to read it");
}

#[test]
fn open_calls_of_the_turn_that_goes_on_stay() {
    let manager = manager_of([call("0"), words(100), call("1"), output("1", "ok"), call("2")]);
    let CompactionPlan::Compact(plan) = manager.history().plan_compaction(&CompactionTarget::new(107)) else {
        panic!("it does not fit")
    };
    let kept = |index: u64| plan.kept.contains(&Position::new(index));
    assert!(kept(1) && kept(4) && !kept(0));
}

#[test]
fn what_no_request_can_read_is_named() {
    let manager = manager_of([words(100), words(10), words(1)]);
    let target = CompactionTarget::new(20).with_pass(50).with_reserve(10);
    let CompactionPlan::Compact(plan) = manager.history().plan_compaction(&target) else { panic!("it does not fit") };
    assert_eq!(plan.unread, [Position::new(0)]);
    assert_eq!(plan.passes.len(), 1);
    assert_eq!((plan.passes[0].items.as_slice(), plan.passes[0].tokens), (&[Position::new(1)][..], 20));
}

#[test]
fn an_exchange_is_kept_whole_or_not_at_all() {
    let reasoning = raw(r#"{"type":"reasoning","summary":[],"encrypted_content":"xxxx"}"#);
    let items = [user("1"), reasoning, call("a"), call("b"), output("a", "ok"), user("2"), output("b", "ok")];
    let divided: [(&[u64], &str); 4] = [
        (&[1], "the item at position 1 is kept without the one at position 2, which belongs to it"),
        (&[2, 3, 4, 6], "the item at position 2 is kept without the one at position 1, which belongs to it"),
        (&[0, 4], "the item at position 4 is kept without the one at position 1, which belongs to it"),
        (&[1, 2, 3, 4], "the item at position 1 is kept without the one at position 6, which belongs to it"),
    ];
    for (kept, words) in divided {
        let mut manager = manager_of(items.clone());
        let keep = || kept.iter().map(|&number| Replacement::Keep(Position::new(number)));
        let compacted = manager.replace_compacted(keep(), &recording()).expect_err("an exchange is divided");
        let replaced = manager.replace(keep(), &recording()).expect_err("an exchange is divided");
        assert_eq!([compacted.to_string(), replaced.to_string()], [words; 2]);
        assert_eq!(manager.history_version(), 0);
        // A log that others wrote is replayed as it is.
        manager.rewrite(Rewrite::Compaction, keep(), &recording()).expect("what is kept is there");
        assert_eq!(stored(&manager).len(), kept.len());
    }
    for kept in [&[0, 5][..], &[1, 2, 3, 4, 6], &[0, 1, 2, 3, 4, 5, 6], &[]] {
        let mut manager = manager_of(items.clone());
        let keep = kept.iter().map(|&number| Replacement::Keep(Position::new(number)));
        manager.replace_compacted(keep, &recording()).expect("no exchange is divided");
        assert_eq!(stored(&manager).len(), kept.len());
    }
}

#[test]
fn a_compaction_is_never_longer_than_what_it_replaces() {
    let mut manager = manager_of([words(10), assistant("ok")]);
    let error = manager.replace_compacted([words(12).into()], &recording()).expect_err("it is longer");
    assert_eq!(error.to_string(), "the compaction has 12 tokens, more than the 11 tokens that it replaces");
    assert_eq!((manager.history_version(), stored(&manager).len()), (0, 2));
    manager.rewrite(Rewrite::Compaction, [words(12).into()], &recording()).expect("a replay does not weigh");
    assert_eq!(manager.history_version(), 1);
}

/// Leaves out the oldest exchange of `items`; gives what is left.
#[track_caller]
fn without_oldest(items: impl IntoIterator<Item = ContextItem>) -> Vec<String> {
    let manager = manager_of(items);
    let before = stored(&manager);
    let mut view = manager.compaction_view();
    view.skip_oldest();
    assert_eq!(stored(&manager), before, "the store is untouched");
    let left = view.to_manager();
    assert_eq!(view.tokens(), left.history().tokens());
    assert_eq!(view.items().count(), left.history().item_count());
    assert!(!rules(&prompt(&left)).contains(&"orphan_output"), "no pair is divided");
    stored(&left)
}

#[test]
fn the_oldest_exchange_goes_with_its_counterpart() {
    let none: [&str; 0] = [];
    assert_eq!(without_oldest([call("1"), output("1", "ok")]), none);
    assert_eq!(without_oldest([output("1", "ok"), call("1")]), none);
    let shell = raw(r#"{"type":"local_shell_call","call_id":"1","status":"completed","action":{}}"#);
    assert_eq!(without_oldest([shell, output("1", "ok")]), none);
    assert_eq!(without_oldest([custom_call("1"), custom_output("1", "ok")]), none);
    assert_eq!(without_oldest([user("a"), call("1"), output("1", "ok"), user("b")]), ["C(1)", "O(1,\"ok\")", "U\"b\""]);
    let parallel = [call("1"), call("2"), output("2", "ok"), output("1", "ok"), user("b")];
    assert_eq!(without_oldest(parallel), ["C(2)", "O(2,\"ok\")", "U\"b\""]);
}

#[test]
fn a_view_that_leaves_out_nothing_extends_what_was_sent() {
    let mut manager = manager_of([user("a"), call("1"), output("1", "ok"), user("b")]);
    manager.mark_sent(&prompt(&manager)).expect("nothing was added");
    let mut view = manager.compaction_view();
    let mut asking = view.to_manager();
    asking.record_items([user("summarise")], &recording()).expect("a small item");
    assert_eq!(prompt(&asking).proof(), &Proof::Extends { shared: 4, new: 1 });
    view.skip_oldest().expect("there is one");
    let mut asking = view.to_manager();
    asking.record_items([user("summarise")], &recording()).expect("a small item");
    let made = prompt(&asking);
    assert_eq!(projected(&made), ["C(1)", "O(1,\"ok\")", "U\"b\"", "U\"summarise\""]);
    assert_eq!(
        made.proof().broken().map(|broken| &broken.declared[..]),
        Some(&[Declared::Rewrite(Rewrite::Compaction)][..])
    );
    assert_eq!(manager.history_version(), 0);
}

#[test]
fn after_a_compaction_baseline_and_settings_are_as_the_table_says() {
    for preset in [Preset::Default, Preset::Codex] {
        let settings = context_fragments::TurnContextItem::parse(br#"{"cwd":"/r","model":"m1"}"#).expect("an object");
        let mut manager = manager_with(preset, [words(10)]);
        manager.set_world_state_baseline(Some(crate::baselines::snapshot_of("1")));
        manager.set_reference_context_item(Some(settings.clone()));
        // A retry of a compaction changes nothing of the store.
        manager.compaction_view().skip_until(0);
        assert!(manager.world_state_baseline().is_some());
        apply(&mut manager, &[], 1);
        assert_eq!((manager.world_state_baseline(), manager.reference_context_item()), (None, Some(&settings)));
        assert!(!manager.retained_kinds().contains(&Kind::ENVIRONMENT_CONTEXT));
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: crate::laws::cases(500), ..ProptestConfig::default() })]

    #[test]
    fn a_plan_partitions_the_history_and_can_be_done(
        items in prop::collection::vec(item(), 0..25),
        tokens in 0_u64..60,
        reserve in 0_u64..10,
        pass in 0_u64..60,
    ) {
        let manager = manager_of(items.into_iter().chain([image_message()]));
        let target = CompactionTarget::new(tokens).with_reserve(reserve).with_pass(pass);
        let before = manager.history().tokens();
        let all: Vec<Position> = manager.history().items().map(|item| item.position()).collect();
        match manager.history().plan_compaction(&target) {
            CompactionPlan::Fits { tokens: counted } => prop_assert!(counted == before && before <= tokens),
            CompactionPlan::Irreducible { floor, largest } => {
                prop_assert!(floor > tokens && floor <= before + reserve);
                prop_assert!(largest.is_sorted_by(|one, two| one.tokens >= two.tokens));
            }
            CompactionPlan::Compact(plan) => {
                prop_assert!(plan.tokens_before == before && plan.tokens_after <= tokens && plan.saving() > 0);
                let mut both = [plan.kept.clone(), plan.dropped.clone()].concat();
                both.sort_unstable();
                prop_assert_eq!(both, all);
                let read: HashSet<Position> = plan.passes.iter().flat_map(|pass| pass.items.iter().copied()).chain(plan.unread.iter().copied()).collect();
                prop_assert!(read.iter().all(|position| plan.dropped.contains(position)));
                prop_assert!(plan.passes.iter().all(|made| made.tokens <= pass && !made.items.is_empty()));
                let mut compacted = manager.clone();
                compacted.replace_compacted(plan.kept.iter().map(|&kept| Replacement::Keep(kept)), &recording()).expect("whole exchanges");
                prop_assert!(compacted.history().tokens() + reserve <= tokens);
            }
            other => prop_assert!(false, "{other:?}"),
        }
    }

    #[test]
    fn a_view_ends_and_never_divides_an_exchange(items in prop::collection::vec(item(), 0..25)) {
        let manager = manager_of(items);
        let mut view = manager.compaction_view();
        let mut steps = 0;
        loop {
            let shown: Vec<Replacement> = view.items().map(|item| Replacement::Keep(item.position())).collect();
            prop_assert_eq!(view.tokens(), view.items().map(|item| item.tokens()).sum::<u64>());
            manager.clone().replace_compacted(shown, &recording()).expect("no exchange is divided");
            steps += 1;
            if view.skip_oldest().is_none() {
                break;
            }
        }
        prop_assert!(steps <= manager.history().item_count() + 1);
    }
}
