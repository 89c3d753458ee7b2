//! Prompts that say the same with other bytes, and what differs first.

use context_fragments::ContextItem;
use context_manager::{
    Binding, ContextManager, Origin, PartName, Place, PrefixGuard, Profile, Prompt, Proof, ReasoningBound, ValueProof,
    diff,
};
use proptest::prelude::*;

use crate::{
    laws::item,
    setup::{assistant, call, manager_of, output, parts, prompt, raw, recording, user},
};

fn of<const N: usize>(items: [&str; N]) -> Prompt {
    manager_of(items.map(raw)).for_prompt(&parts(), &Profile::codex())
}

/// Compares prompts of one item each.
#[track_caller]
fn check(one: &str, two: &str, are_same: bool) {
    let item = |value: &str| format!(r#"{{"type":"message","role":"user","content":"a","x":{value}}}"#);
    let (one, two) = (of([&item(one)]), of([&item(two)]));
    assert!(!two.compare(&one).extends(), "the bytes differ");
    let want = if are_same { ValueProof::Extends } else { ValueProof::Broken { place: Place::Item(0) } };
    assert_eq!(two.compare_values(&one, &Binding::ALL), want);
    assert_eq!(one.compare_values(&two, &Binding::ALL), want, "and the other way round");
}

#[test]
fn other_spellings_are_the_same_value() {
    check("1.0", "1", true);
    check("1.50e3", "1500", true);
    check("-0.0120", "-12E-3", true);
    check("1e400", "10e399", true);
    check("0", "0.0", true);
    check(r#"{"a":1,"b":[2]}"#, r#"{"b":[2.0],"a":1}"#, true);
    check(r#""\u00e9\/""#, r#""é/""#, true);
    check(r#"{"a":1,"a":2}"#, r#"{"a":2}"#, true);
}

#[test]
fn other_values_are_others() {
    check("1", "2", false);
    check("1", "-1", false);
    check("10", "1", false);
    check("1", "\"1\"", false);
    check("[1,2]", "[2,1]", false);
    check("[1]", "[1,1]", false);
    check(r#"{"a":1}"#, r#"{"a":1,"b":null}"#, false);
    check("true", "false", false);
    let deep = |inner: &str| format!("{}{inner}{}", "[".repeat(500), "]".repeat(500));
    check(&deep("1"), &deep("1.0"), false);
}

const FIRST: &str = r#"{"type":"message","role":"user","content":"a"}"#;
const OTHER_ORDER: &str = r#"{"role":"user","type":"message","content":"a"}"#;
const ANSWER: &str = r#"{"type":"message","role":"assistant","content":[{"type":"output_text","text":"b"}]}"#;

fn thought(id: u8) -> String {
    format!(r#"{{"type":"reasoning","id":"r{id}","summary":[],"encrypted_content":"xxxx"}}"#)
}

#[test]
fn reasoning_may_go_from_both_ends_and_not_from_between() {
    let [one, two, three] = [thought(1), thought(2), thought(3)];
    let all = of([FIRST, &one, ANSWER, &two, ANSWER, &three, ANSWER]);
    let said = |later: Prompt, binding: &Binding| later.compare_values(&all, binding);
    let broken = |index: usize| ValueProof::Broken { place: Place::Item(index) };
    let none = || of([OTHER_ORDER, ANSWER, ANSWER, ANSWER]);
    assert_eq!(said(none(), &Binding::THINKING), ValueProof::Extends);
    assert_eq!(said(none(), &Binding::ALL), broken(1));
    assert_eq!(said(of([FIRST, ANSWER, &two, ANSWER, ANSWER]), &Binding::THINKING), ValueProof::Extends);
    assert_eq!(said(of([FIRST, &one, ANSWER, ANSWER, &three, ANSWER]), &Binding::THINKING), broken(3));
    assert_eq!(said(of([FIRST, &one, ANSWER, &two, ANSWER, &three]), &Binding::THINKING), broken(6));
    assert_eq!(Binding::default().reasoning, ReasoningBound::All);
}

#[test]
fn a_broken_proof_tells_both_predicates_where_the_profile_binds_values() {
    let make = |items: [&str; 2], profile: &Profile| manager_of(items.map(raw)).for_prompt(&parts(), profile);
    for (profile, want) in [
        (Profile::responses(), [None, None]),
        (
            Profile::anthropic_messages(),
            [Some(ValueProof::Extends), Some(ValueProof::Broken { place: Place::Item(1) })],
        ),
    ] {
        let mut guard = PrefixGuard::new();
        let before = make([FIRST, ANSWER], &profile);
        assert_eq!(guard.check_values(&before, &Binding::ALL), ValueProof::Extends, "nothing was sent");
        guard.mark_sent(&before);
        for (later, want) in [[OTHER_ORDER, ANSWER], [OTHER_ORDER, FIRST]].into_iter().zip(want) {
            let later = make(later, &profile);
            let proof = guard.check(&later);
            assert_eq!(proof.broken().expect("the bytes differ").values, want);
            assert_eq!(
                guard.check_values(&later, &Binding::THINKING),
                want.unwrap_or(guard.check_values(&later, &Binding::ALL))
            );
        }
    }
}

#[test]
fn the_parts_that_bind_are_told_by_the_binding() {
    let manager = manager_of([user("a")]);
    let with = |parameters: &str, tools: &str| {
        let parts = parts().with_parameters(parameters).expect("an object").with_tools(tools).expect("an array");
        manager.for_prompt(&parts, &Profile::responses())
    };
    let before = with(r#"{"a":1,"b":2}"#, r#"[{"name":"x","strict":true}]"#);
    let other_order = with(r#"{"b":2,"a":1}"#, r#"[{"strict":true,"name":"x"}]"#);
    assert!(!other_order.compare(&before).extends());
    assert_eq!(other_order.compare_values(&before, &Binding::ALL), ValueProof::Extends);
    let other = with(r#"{"a":2}"#, r#"[{"name":"x","strict":true}]"#);
    let place = Place::Part(PartName::Parameters);
    assert_eq!(other.compare_values(&before, &Binding::ALL), ValueProof::Broken { place });
    assert_eq!(other.compare_values(&before, &Binding::THINKING), ValueProof::Extends);
    assert_eq!(ValueProof::Broken { place }.to_string(), "the values that bind differ in part parameters");
}

#[test]
fn a_difference_has_both_origins_and_what_it_costs() {
    let mut manager = manager_of([user("a"), call("1"), output("1", "ok"), assistant("done")]);
    let before = prompt(&manager);
    let mut other = manager_of([user("a"), call("1")]);
    other.record_items([user("new words")], &recording()).expect("a small item");
    let after = prompt(&other);
    let found = diff(&before, &after).expect("the output is another one");
    assert_eq!((found.place, found.shared), (Place::Item(2), 2));
    let origin = |side: &Option<context_manager::Provenance>| side.as_ref().map(|side| side.origin);
    assert_eq!((origin(&found.before), origin(&found.after)), (Some(Origin::Tool), Some(Origin::Repair)));
    assert_eq!((found.tokens_new, found.tokens_resent), (0, after.items()[2].tokens() + after.items()[3].tokens()));
    assert_eq!(found.values, ValueProof::Broken { place: Place::Item(2) });
    assert_eq!(
        found.to_string(),
        "2 items are shared; the first difference is in item 2 at byte 55, field `output`, before from Tool at position 2, after from Repair at position 1; 5 tokens are sent again and 0 are new"
    );
    // A part stands before every item, so all of them are sent again.
    let new_base = manager.for_prompt(&parts().with_base("other"), &Profile::responses());
    let found = diff(&before, &new_base).expect("the base is another one");
    assert_eq!(
        (found.place, found.shared, found.tokens_resent),
        (Place::Part(PartName::Base), 4, before.input_tokens())
    );
    // What is new is not sent again.
    manager.record_items([user("more")], &recording()).expect("a small item");
    let found = diff(&before, &prompt(&manager)).expect("an item was added");
    assert_eq!((found.place, found.tokens_resent, found.tokens_new), (Place::Item(4), 0, 1));
    assert_eq!(origin(&found.after), Some(Origin::User));
}

fn shuffled(item: &ContextItem) -> ContextItem {
    // serde's map sorts the keys.
    let value: serde_json::Value = serde_json::from_str(item.item().as_str()).unwrap_or_default();
    let text = value.to_string();
    context_fragments::WireItem::parse(text.as_bytes())
        .map_or_else(|_| item.clone(), |wire| ContextItem::new(wire, item.kinds()))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: crate::laws::cases(500), ..ProptestConfig::default() })]

    #[test]
    fn law_2_bytes_imply_values_and_spelling_is_none(items in prop::collection::vec(item(), 1..12), cut in 0_usize..12) {
        let make = |items: &[ContextItem]| manager_of(items.to_vec()).for_prompt(&parts(), &Profile::codex());
        let whole = make(&items);
        let part = make(&items[..cut.min(items.len())]);
        let proof = whole.compare(&part);
        if proof.extends() {
            prop_assert!(whole.compare_values(&part, &Binding::ALL).extends());
            prop_assert!(whole.compare_values(&part, &Binding::THINKING).extends());
        }
        let readable: Vec<ContextItem> = items.iter().filter(|item| !item.item().as_str().contains("\\ud800")).cloned().collect();
        let other: Vec<ContextItem> = readable.iter().map(shuffled).collect();
        prop_assert!(make(&other).compare_values(&make(&readable), &Binding::ALL).extends());
        prop_assert_eq!(diff(&whole, &part).is_none(), whole.compare(&part) == Proof::Identical);
        let tail = ContextManager::new().for_prompt(&parts(), &Profile::codex());
        prop_assert_eq!(tail.compare_values(&whole, &Binding::ALL).extends(), whole.items().is_empty());
    }
}
