//! Tools: their order, their digests, their difference by name, and updates as items.

use context_manager::{Digest, PartName, Proof};
use world_state::ToolSet;

use crate::setup::{manager_of, parts, prompt, raw, recording, user};

const A: &str = r#"{"type": "function", "name": "a"}"#;
const A_STRICT: &str = r#"{"type":"function","name":"a","strict":true}"#;
const B: &str = r#"{"type":"function","name":"b"}"#;
const SEARCH: &str = r#"{"type":"web_search"}"#;

#[test]
fn the_order_in_which_a_host_finds_tools_never_shows() {
    let set = |tools: &[&str]| ToolSet::parse(tools).expect("the test's tools are declarations");
    let (one, two) = (parts().with_tool_set(&set(&[B, SEARCH, A])), parts().with_tool_set(&set(&[A, B, SEARCH])));
    assert_eq!(one, two);
    let want = r#"[{"type":"function","name":"a"},{"type":"function","name":"b"},{"type":"web_search"}]"#;
    assert_eq!(one.text(PartName::Tools), want);
    let digests = one.tool_digests();
    let names: Vec<&str> = digests.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["a", "b", "web_search"]);
    assert_eq!(digests[1].1, Digest::of(B.as_bytes()));
}

#[test]
fn tools_are_compared_by_name() {
    let with = |tools: &str| parts().with_tools(tools).expect("an array");
    let (before, after) = (with(&format!("[{A},{B}]")), with(&format!("[{SEARCH},{A_STRICT}]")));
    let diff = after.tool_diff(&before).expect("both are sets");
    assert_eq!(
        (diff.added, diff.changed, diff.removed),
        (vec!["web_search".into()], vec!["a".into()], vec!["b".into()])
    );
    assert!(with(&format!("[{B},{A}]")).tool_diff(&before).is_some_and(|diff| diff.is_empty()));
    assert_eq!(with(&format!("[{B},{B}]")).tool_diff(&before), None);
    assert_eq!(before.tool_diff(&with("[1]")), None);
}

#[test]
fn a_tool_that_is_added_as_an_item_extends_the_prefix() {
    let mut manager = manager_of([user("u")]);
    manager.mark_sent(&prompt(&manager)).expect("nothing was added");
    let update = raw(&format!(r#"{{"type":"additional_tools","role":"developer","tools":[{B}]}}"#));
    manager.record_items([update], &recording()).expect("a small item");
    assert_eq!(prompt(&manager).proof(), &Proof::Extends { shared: 1, new: 1 });
}
