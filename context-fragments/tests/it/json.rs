//! Reading and compacting JSON without changing it.

use context_fragments::{
    Error,
    json::{Json, ObjectWriter, Shape, compact, push_string},
};
use proptest::prelude::*;
use serde_json::Value;

#[track_caller]
fn check_compact(text: &str, want: &str) {
    assert_eq!(compact(text).unwrap(), want);
}

#[track_caller]
fn check_decoded(raw: &str, want: &str) {
    assert_eq!(Json::parse(raw).unwrap().to_str().unwrap(), want);
}

#[test]
fn only_white_space_between_tokens_goes() {
    check_compact(" [ 1 , 2 ] ", "[1,2]");
    check_compact("{\n\t\"a b\" : \" c \\\" d \" ,\r\n \"e\" : null }", r#"{"a b":" c \" d ","e":null}"#);
    check_compact(r#"{"n":1e2,"m":1E+2,"z":-0.0}"#, r#"{"n":1e2,"m":1E+2,"z":-0.0}"#);
    check_compact(r#"{"n": 12345678901234567890123}"#, r#"{"n":12345678901234567890123}"#);
    check_compact(r#"{"a":1,"a": 2}"#, r#"{"a":1,"a":2}"#);
    check_compact(r#"["\ud800", "\u00e9", "\/"]"#, r#"["\ud800","\u00e9","\/"]"#);
    check_compact(r#""x""#, r#""x""#);
    check_compact("7", "7");
}

#[test]
fn strings_are_decoded_and_lone_surrogates_replaced() {
    check_decoded(r#""plain""#, "plain");
    check_decoded(r#""a\"b\\c\/d\b\f\n\r\te""#, "a\"b\\c/d\u{8}\u{c}\n\r\te");
    check_decoded(r#""\u00e9\ud83d\ude00!""#, "é😀!");
    check_decoded(r#""\ud800\udc00\udbff\udfff""#, "\u{10000}\u{10ffff}");
    check_decoded(r#""\ud7ff\ue000\ud800\udbff\udbff\ue000""#, "\u{d7ff}\u{e000}\u{fffd}\u{fffd}\u{fffd}\u{e000}");
    check_decoded(r#""\ud83d""#, "\u{fffd}");
    check_decoded(r#""\ud83dx\ude00""#, "\u{fffd}x\u{fffd}");
    check_decoded(r#""\ud83d\ud83d\ude00""#, "\u{fffd}😀");
    check_decoded(r#""\ud83d\n""#, "\u{fffd}\n");
}

#[test]
fn members_and_elements_are_walked_in_order() {
    let json = Json::parse(r#"{ "b" : [1, {"x":"]"}, "s,"] , "a" : {} , "b" : false }"#).unwrap();
    let members: Vec<_> = json.members().map(|(key, value)| (key.to_str().unwrap(), value.as_raw())).collect();
    assert_eq!(members, [("b".into(), r#"[1, {"x":"]"}, "s,"]"#), ("a".into(), "{}"), ("b".into(), "false")]);
    let (_, array) = json.members().next().unwrap();
    let elements: Vec<_> = array.elements().map(Json::as_raw).collect();
    assert_eq!(elements, ["1", r#"{"x":"]"}"#, r#""s,""#]);
    assert_eq!(json.member("b").map(Json::as_raw), Some("false"), "the last of two equal keys wins");
    assert_eq!(json.elements().count(), 0, "an object has no elements");
}

#[test]
fn shapes_are_told_apart() {
    let shapes = ["null", "true", "-1", "\"\"", "[]", "{}"].map(|text| Json::parse(text).unwrap().shape());
    assert_eq!(shapes, [Shape::Null, Shape::Bool, Shape::Number, Shape::String, Shape::Array, Shape::Object]);
}

#[test]
fn what_is_not_json_is_refused_with_the_place() {
    let place = |text: &str| match Json::parse(text) {
        Err(Error::NotJson { line, column, .. }) => (line, column),
        other => panic!("{other:?}"),
    };
    assert_eq!(place("{\n \"a\" 1}"), (2, 6));
    assert_eq!(place(""), (1, 0));
    assert_eq!(place("{} x"), (1, 4));
    assert_eq!(place("\"a\nb\""), (1, 2), "a raw line feed inside a string is not JSON");
    let error = Json::parse_bytes(b"{\"a\":\"\xff\"}").unwrap_err();
    assert_eq!(error.to_string(), "not UTF-8 at byte 6");
    assert!(error.is_bad_json());
}

#[test]
fn deep_nesting_costs_no_stack() {
    let depth = 1_000_000;
    let text = "[".repeat(depth) + &"]".repeat(depth);
    assert_eq!(compact(&text).unwrap(), text);
    assert_eq!(Json::parse(&text).unwrap().elements().count(), 1);
}

#[test]
fn an_object_is_written_in_the_order_of_the_calls() {
    let mut object = ObjectWriter::new();
    object.string("z", "q\"").raw("a", "[1]").member(Json::parse(r#"{"k":1e2}"#).unwrap().members().next().unwrap());
    assert_eq!(object.finish(), r#"{"z":"q\"","a":[1],"k":1e2}"#);
    assert_eq!(ObjectWriter::default().finish(), "{}");
}

proptest! {
    #[test]
    fn strings_are_escaped_as_serde_json_escapes(text in any::<String>(), controls in "[\\x00-\\x1f\"\\\\\u{7f}é]{0,8}") {
        for text in [text, controls] {
            let mut out = String::new();
            push_string(&mut out, &text);
            prop_assert_eq!(&out, &serde_json::to_string(&text).unwrap());
            let json = Json::parse(&out).unwrap();
            prop_assert_eq!(json.to_str().unwrap(), text);
        }
    }

    #[test]
    fn any_text_is_json_here_exactly_if_serde_json_takes_it(text in "[\\[\\]{}:,\"\\\\ue0-9 \n+.-]{0,24}") {
        let here = Json::parse(&text).is_ok();
        let there = serde_json::from_str::<&serde_json::value::RawValue>(&text).is_ok();
        prop_assert_eq!(here, there);
    }

    #[test]
    fn compacting_changes_no_value(value in values(), pretty in any::<bool>()) {
        let text = if pretty { serde_json::to_string_pretty(&value) } else { serde_json::to_string(&value) }.unwrap();
        let compacted = compact(&text).unwrap();
        prop_assert_eq!(&compacted, &serde_json::to_string(&value).unwrap());
        prop_assert_eq!(compact(&compacted).unwrap(), compacted);
    }

    #[test]
    fn a_length_and_a_comparison_are_those_of_the_decoded_text(one in spelled(), two in spelled()) {
        let (one, two) = (Json::parse(&one).unwrap(), Json::parse(&two).unwrap());
        let (decoded, other) = (one.to_str().unwrap(), two.to_str().unwrap());
        prop_assert_eq!(one.text_len(), Some(decoded.len()));
        prop_assert!(one.is_text(&decoded));
        prop_assert_eq!(one.is_text(&other), decoded == other);
        let longer = format!("{decoded}a");
        prop_assert!(!one.is_text(one.as_raw()) && !one.is_text(&longer));
        if let Ok(known) = serde_json::from_str::<String>(one.as_raw()) {
            prop_assert_eq!(decoded, known);
        }
        let inner = &one.as_raw()[1..one.as_raw().len() - 1];
        prop_assert_eq!(one.is_text(inner), !inner.contains('\\'));
    }

    #[test]
    fn walking_finds_what_serde_json_finds(value in values()) {
        let text = serde_json::to_string_pretty(&value).unwrap();
        prop_assert_eq!(rebuilt(Json::parse(&text).unwrap()), value);
    }
}

/// A JSON string, spelled in any way: plain runs of every length, each kind of escape, halves of pairs.
fn spelled() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        "[a-c]{0,20}",
        "[é😀]{1,3}",
        r#"\\[bfnrt/"\\]"#,
        any::<u16>().prop_map(|unit| format!("\\u{unit:04x}")),
        (0xd800_u16..=0xdfff).prop_map(|unit| format!("\\u{unit:04X}")),
        any::<char>().prop_map(|letter| letter
            .encode_utf16(&mut [0; 2])
            .iter()
            .map(|u| format!("\\u{u:04x}"))
            .collect()),
    ];
    prop::collection::vec(piece, 0..8).prop_map(|pieces| format!("\"{}\"", pieces.concat()))
}

/// Any JSON value of a few levels.
fn values() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        "[a-z\"\\\\{}\\[\\],: é😀\n]{0,8}".prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 32, 5, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
            prop::collection::btree_map("[a-z\"\\\\,é]{0,4}", inner, 0..5)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

/// The value again, found by walking.
fn rebuilt(json: Json<'_>) -> Value {
    match json.shape() {
        Shape::Object => Value::Object(
            json.members().map(|(key, value)| (key.to_str().unwrap().into_owned(), rebuilt(value))).collect(),
        ),
        Shape::Array => json.elements().map(rebuilt).collect(),
        Shape::String => Value::from(json.to_str().unwrap()),
        _ => serde_json::from_str(json.as_raw()).unwrap(),
    }
}
