//! Stored states: what they hold and what they refuse.

use serde_json::{Value, json};
use world_state::{Error, WorldStateSnapshot};

use crate::stored;

#[track_caller]
fn check(read: Value, want: &str) {
    assert_eq!(serde_json::to_string(&stored(read)).unwrap(), want);
}

#[test]
fn nulls_of_objects_are_stripped_and_nulls_in_arrays_stay() {
    check(
        json!({"test": {"value": "current", "optional": null, "array": [{"value": null}, null]}}),
        r#"{"test":{"array":[{"value":null},null],"value":"current"}}"#,
    );
    check(json!({"test": {"a": {"b": {"c": null}}}}), r#"{"test":{"a":{"b":{}}}}"#);
}

#[test]
fn any_json_but_null_is_a_state() {
    let bare = r#"{"a":false,"b":"text","c":3,"d":[],"e":{},"f":""}"#;
    check(serde_json::from_str(bare).unwrap(), bare);
}

#[test]
fn a_null_section_is_refused_by_name() {
    let Value::Object(object) = json!({"a": 1, "b": null}) else { unreachable!() };
    let error = WorldStateSnapshot::from_object(object).unwrap_err();
    assert!(matches!(&error, Error::NullSnapshot { section, .. } if section.as_ref() == "b"));
    let error = serde_json::from_str::<WorldStateSnapshot>(r#"{"b":null}"#).unwrap_err();
    assert_eq!(error.to_string(), "the state of section `b` is null, which a merge patch cannot say");
    for text in ["null", "[]", "1"] {
        assert!(serde_json::from_str::<WorldStateSnapshot>(text).is_err(), "{text}");
    }
}

#[test]
fn an_object_is_given_and_taken() {
    let state = stored(json!({"b": {"y": 1, "x": 2}, "a": true}));
    assert_eq!(state.ids().collect::<Vec<_>>(), ["a", "b"]);
    assert_eq!(state.section("a"), Some(&json!(true)));
    assert_eq!(state.section("c"), None);
    assert_eq!(format!("{state:?}"), r#"{"a": Bool(true), "b": Object {"x": Number(2), "y": Number(1)}}"#);
    let object = state.clone().into_object();
    assert_eq!(serde_json::to_string(&object).unwrap(), r#"{"a":true,"b":{"x":2,"y":1}}"#);
    assert_eq!(WorldStateSnapshot::from_object(object).unwrap(), state);
    assert!(WorldStateSnapshot::default().is_empty());
}

#[test]
fn a_clone_does_not_see_later_patches() {
    let before = stored(json!({"a": 1}));
    let mut after = before.clone();
    assert!(after.is_same(&before));
    after.apply_merge_patch(&serde_json::from_value(json!({"a": 2, "b": 3})).unwrap());
    assert_eq!(before, stored(json!({"a": 1})));
    assert_eq!(after, stored(json!({"a": 2, "b": 3})));
    assert!(!after.is_same(&before));
}
