//! The fingerprints of the published format.

use context_fragments::FragmentRole;
use serde_json::json;
use world_state::{Error, WorldStateHash};

#[test]
fn line_ends_do_not_count() {
    let of = |text| WorldStateHash::of_fragment(FragmentRole::Developer, text);
    assert_eq!(of("a\r\nb"), of("a\nb"));
    assert_eq!(of("\r\n\r\n"), of("\n\n"));
    assert_ne!(of("a\rb"), of("a\nb"));
    assert_ne!(of("a"), WorldStateHash::of_fragment(FragmentRole::User, "a"));
}

#[test]
fn key_order_does_not_count() {
    let left = serde_json::from_str(r#"{"a":{"x":1,"y":[{"p":1,"q":2}]},"b":2}"#).unwrap();
    let right = serde_json::from_str(r#"{"b":2,"a":{"y":[{"q":2,"p":1}],"x":1}}"#).unwrap();
    assert_eq!(WorldStateHash::of_json(&left), WorldStateHash::of_json(&right));
    assert_ne!(WorldStateHash::of_json(&json!([1, 2])), WorldStateHash::of_json(&json!([2, 1])));
}

/// Computed by hand from the layout: domain, then length (eight bytes, big-endian) and bytes of role and text.
#[test]
fn the_layout_is_the_published_one() {
    insta::assert_snapshot!(WorldStateHash::of_fragment(FragmentRole::Developer, "a\r\nb"), @"265493afd7043982a85cf5d38a2dcf4614f1dc86");
    insta::assert_snapshot!(WorldStateHash::of_json(&json!({"b": [true, null], "a": "x"})), @"a534b54ccc8efc222664c771abefcba03aec4e73");
}

#[test]
fn a_hash_survives_its_text() {
    let hash = WorldStateHash::of_json(&json!(1));
    assert_eq!(hash.to_string().parse::<WorldStateHash>().unwrap(), hash);
    assert_eq!(serde_json::from_value::<WorldStateHash>(serde_json::to_value(hash).unwrap()).unwrap(), hash);
}

#[test]
fn another_text_is_refused() {
    let good = "1f3b2c4d5e6f708192a3b4c5d6e7f8091a2b3c4d";
    assert!(good.parse::<WorldStateHash>().is_ok());
    for bad in [
        "",
        "1f",
        &good[1..],
        &good.to_uppercase(),
        &format!("{good}00"),
        &good.replace('f', "g"),
        "ääääääääääääääääääää",
    ] {
        let error = bad.parse::<WorldStateHash>().unwrap_err();
        assert!(matches!(&error, Error::Hash { input, .. } if input == bad), "{bad}");
    }
}
