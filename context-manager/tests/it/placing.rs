//! Where outputs stand: as recorded, paired with their call, or grouped behind the calls that were made together.

use context_fragments::ContextItem;
use context_manager::{ContextManager, Modalities, OutputPlace, Profile, Projector, Proof, normalize};

use crate::setup::{
    assistant, call, custom_call, custom_output, manager_of, output, parts, projected, raw, reasoning, recording,
    rules, user,
};

fn profile(place: OutputPlace) -> Profile {
    let mut profile = Profile::responses();
    profile.output_place = place;
    profile
}

#[track_caller]
fn check(place: OutputPlace, items: impl IntoIterator<Item = ContextItem>, want: &str, want_rules: &[&str]) {
    let made = manager_of(items).for_prompt(&parts(), &profile(place));
    assert_eq!((projected(&made).join(" "), rules(&made)), (want.replace('\'', "\""), want_rules.to_vec()));
}

fn parallel() -> [ContextItem; 6] {
    [call("1"), call("2"), call("3"), output("3", "c"), output("1", "a"), output("2", "b")]
}

#[test]
fn n06_outputs_are_paired_by_id_and_put_in_the_order_that_the_profile_asks_for() {
    check(OutputPlace::AsRecorded, parallel(), "C(1) C(2) C(3) O(3,'c') O(1,'a') O(2,'b')", &[]);
    check(OutputPlace::Paired, parallel(), "C(1) O(1,'a') C(2) O(2,'b') C(3) O(3,'c')", &["output_order"; 2]);
    check(OutputPlace::Grouped, parallel(), "C(1) C(2) C(3) O(1,'a') O(2,'b') O(3,'c')", &["output_order"; 2]);
    // Three functionCall parts, three functionResponse parts behind them.
    let made = manager_of(parallel()).for_prompt(&parts(), &Profile::gemini());
    assert_eq!(projected(&made)[3..], ["O(1,\"a\")", "O(2,\"b\")", "O(3,\"c\")"]);
}

#[test]
fn n06_a_group_in_order_is_as_it_was_recorded() {
    let items = [call("1"), custom_call("2"), output("1", "a"), custom_output("2", "b"), assistant("x")];
    check(OutputPlace::Grouped, items, "C(1) CC(2) O(1,'a') CO(2,'b') A'x'", &[]);
    check(
        OutputPlace::Grouped,
        [call("1"), call("2"), output("1", "a"), user("u"), output("2", "b")],
        "C(1) C(2) O(1,'a') O(2,'b') U'u'",
        &["output_order"],
    );
    // What was made in two steps is in two groups.
    check(
        OutputPlace::Grouped,
        [call("1"), output("1", "a"), call("2"), output("2", "b")],
        "C(1) O(1,'a') C(2) O(2,'b')",
        &[],
    );
}

#[test]
fn n06_a_call_without_an_output_ends_its_group() {
    check(
        OutputPlace::Grouped,
        [call("1"), call("2"), call("3"), output("3", "c"), output("1", "a")],
        "C(1) C(2) O(1,'a') O(2,'aborted') C(3) O(3,'c')",
        &["output_order", "missing_output"],
    );
}

#[test]
fn an_item_that_is_left_out_ends_no_group_and_parts_no_reasoning_from_its_call() {
    let gone = || {
        [
            raw(r#"{"type":"custom_tool_call_output","output":"x"}"#),
            user(" "),
            raw(r#"{"type":"message","role":"developer","content":[]}"#),
            raw(r#"{"type":"function_call_output","call_id":7,"output":"x"}"#),
        ]
    };
    for left_out in gone() {
        let search = raw(r#"{"type":"tool_search_call","arguments":{}}"#);
        let items = [custom_call("3"), reasoning("xxxx"), left_out, search, custom_output("3", "o")];
        let profile = Profile::chat_completions();
        let manager = manager_of(items);
        let made = manager.for_prompt(&parts(), &profile);
        assert_eq!(projected(&made), ["CC(3)", "reasoning()", "tool_search_call()", "CO(3,\"o\")"]);
        assert_eq!(rules(&made).len(), 1, "the one item: {:?}", made.repairs());
        let again: Vec<ContextItem> = made.items().iter().map(|item| item.context_item().clone()).collect();
        assert_eq!(normalize(&again, Modalities::ALL, &profile).repairs, []);
        let grown = Projector::new(profile).prompt(&manager, &parts());
        assert_eq!((grown.input_json(), grown.repairs()), (made.input_json(), made.repairs()));
    }
}

#[test]
fn n07_an_early_output_is_placed_like_every_other_one() {
    for place in [OutputPlace::Paired, OutputPlace::Grouped] {
        check(place, [output("1", "x"), user("u"), call("1")], "U'u' C(1) O(1,'x')", &["early_output"]);
    }
}

#[test]
fn a_group_that_was_sent_never_changes() {
    for place in [OutputPlace::Paired, OutputPlace::Grouped] {
        let profile = profile(place);
        let mut manager = ContextManager::new();
        for items in [
            vec![user("u"), call("1"), call("2")],
            vec![call("3")],
            vec![output("3", "c"), output("1", "late")],
            vec![output("4", "early"), call("4"), call("5")],
            vec![assistant("a"), output("5", "late too")],
        ] {
            manager.record_items(items, &recording()).expect("small items");
            let made = manager.for_prompt(&parts(), &profile);
            assert!(made.proof().extends(), "{:?}", made.proof());
            manager.mark_sent(&made).expect("nothing was added");
            assert_eq!(manager.for_prompt(&parts(), &profile).proof(), &Proof::Identical);
        }
    }
}
