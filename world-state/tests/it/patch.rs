//! Merge patches: making them, applying them, and that one undoes the other.

use proptest::prelude::*;
use serde_json::{Map, Value, json};
use world_state::MergePatch;

use crate::stored;

#[track_caller]
fn check(previous: Value, current: Value, want: Option<Value>) {
    let (previous, current) = (stored(previous), stored(current));
    let patch = current.merge_patch_from(&previous);
    assert_eq!(patch.clone().map(|patch| Value::Object(patch.into_object())), want);
    let mut replayed = previous;
    if let Some(patch) = patch {
        replayed.apply_merge_patch(&patch);
    }
    assert_eq!(replayed, current);
}

#[test]
fn a_patch_has_only_what_changed() {
    check(json!({}), json!({}), None);
    check(json!({}), json!({"a": {}}), Some(json!({"a": {}})));
    check(json!({"a": {"x": 1}}), json!({"a": {"x": 1}}), None);
    check(json!({"a": {"x": 1, "y": 2}}), json!({"a": {"x": 3}}), Some(json!({"a": {"x": 3, "y": null}})));
    check(json!({"a": 1}), json!({"a": {"x": 1}}), Some(json!({"a": {"x": 1}})));
    check(json!({"a": {"x": 1}}), json!({"a": 1}), Some(json!({"a": 1})));
    check(json!({"a": [1, 2]}), json!({"a": [1, 2, 3]}), Some(json!({"a": [1, 2, 3]})));
    check(json!({"a": 1, "b": 2}), json!({"b": 2}), Some(json!({"a": null})));
    check(
        json!({"a": {"x": {"p": 1}}}),
        json!({"a": {"x": {"p": 1, "q": [null]}}}),
        Some(json!({"a": {"x": {"q": [null]}}})),
    );
    check(json!({"a": {"x": 1}}), json!({"a": {}}), Some(json!({"a": {"x": null}})));
}

#[test]
fn a_patch_keeps_removes_and_changes_at_once() {
    check(
        json!({"kept": {"same": "s", "changed": "before", "removed": 1}, "removed_section": {"a": 1}}),
        json!({"kept": {"same": "s", "changed": "after"}}),
        Some(json!({"kept": {"changed": "after", "removed": null}, "removed_section": null})),
    );
}

#[track_caller]
fn check_apply(target: Value, patch: Value, want: Value) {
    let mut state = stored(target);
    state.apply_merge_patch(&serde_json::from_value(patch).unwrap());
    assert_eq!(state, stored(want));
}

#[test]
fn nulls_of_a_patch_remove() {
    check_apply(json!({"a": 1}), json!({"a": {"b": null, "c": 2}}), json!({"a": {"c": 2}}));
    check_apply(json!({"a": 1}), json!({"unknown": null}), json!({"a": 1}));
    check_apply(json!({"a": {"b": 1}}), json!({"a": {"b": null}}), json!({"a": {}}));
    check_apply(json!({"a": {"b": 1}, "c": 2}), json!({"a": null}), json!({"c": 2}));
    check_apply(json!({}), json!({"a": {"b": {"c": null}}}), json!({"a": {"b": {}}}));
    check_apply(json!({}), json!({"a": [null, {"b": null}]}), json!({"a": [null, {"b": null}]}));
}

#[test]
fn keys_are_sorted_whatever_the_map() {
    let patch: MergePatch = serde_json::from_str(r#"{"b":{"z":1,"a":null},"a":[{"y":null,"x":1}]}"#).unwrap();
    assert_eq!(patch.to_string(), r#"{"a":[{"x":1,"y":null}],"b":{"a":null,"z":1}}"#);

    let mut state = stored(serde_json::from_str(r#"{"s":{"d":4,"b":2,"c":3,"a":1}}"#).unwrap());
    state.apply_merge_patch(&serde_json::from_str(r#"{"s":{"a":null,"aa":0}}"#).unwrap());
    assert_eq!(serde_json::to_string(&state).unwrap(), r#"{"s":{"aa":0,"b":2,"c":3,"d":4}}"#);
}

#[test]
fn a_patch_that_is_no_object_is_refused() {
    for text in ["null", "1", "[]", r#""a""#] {
        assert!(serde_json::from_str::<MergePatch>(text).is_err(), "{text}");
    }
}

/// JSON without nulls in objects, with few keys, so that two of them overlap.
pub(crate) fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        any::<bool>().prop_map(Value::from),
        (0..3_u8).prop_map(Value::from),
        "[ab]{0,2}".prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 24, 4, |inner| {
        let element = prop_oneof![3 => inner.clone(), 1 => Just(Value::Null)];
        prop_oneof![
            prop::collection::vec(element, 0..4).prop_map(Value::from),
            prop::collection::btree_map("[a-d]", inner, 0..4)
                .prop_map(|members| Value::Object(members.into_iter().collect::<Map<_, _>>())),
        ]
    })
}

fn any_state() -> impl Strategy<Value = Value> {
    prop::collection::btree_map("[a-d]", any_json(), 0..4)
        .prop_map(|members| Value::Object(members.into_iter().collect::<Map<_, _>>()))
}

proptest! {
    #[test]
    fn applying_a_patch_gives_what_it_was_made_from(previous in any_state(), current in any_state()) {
        let (previous, current) = (stored(previous), stored(current));
        let patch = current.merge_patch_from(&previous);
        prop_assert_eq!(patch.is_none(), previous == current);
        let mut replayed = previous;
        if let Some(patch) = &patch {
            // As it comes back from a log.
            let read: MergePatch = serde_json::from_str(&patch.to_string()).unwrap();
            prop_assert_eq!(&read, patch);
            replayed.apply_merge_patch(&read);
        }
        prop_assert_eq!(serde_json::to_string(&replayed).unwrap(), serde_json::to_string(&current).unwrap());
    }

    #[test]
    fn a_patch_is_the_smallest(state in any_state(), section in any_json()) {
        // One section changes, so no other stands in the patch.
        let before = stored(state.clone());
        let mut changed = state;
        changed["a"] = section;
        let patch = stored(changed).merge_patch_from(&before);
        prop_assert!(patch.is_none_or(|patch| patch.as_object().keys().all(|id| id == "a")));
    }
}
