//! Sets of tools: their bytes, their differences, and what is no declaration.

use context_fragments::Kind;
use world_state::*;

use crate::{history, world_of};

const A: &str = r#"{"type":"function","name":"a","parameters":{"type":"object","properties":{}}}"#;
const B: &str = r#"{"type":"function","name":"b"}"#;

fn names(names: &[&str]) -> Vec<std::sync::Arc<str>> {
    names.iter().map(|name| (*name).into()).collect()
}

#[test]
fn w04_order_gives_equal_bytes_and_a_schema_is_a_change_of_one_tool() {
    let first = ToolSet::parse([B, A]).unwrap();
    let second = ToolSet::parse([A, B]).unwrap();
    assert_eq!(first.to_json(), format!("[{A},{B}]"));
    assert_eq!(first.to_json(), second.to_json());
    assert!(second.diff_from(first.snapshot()).is_empty());

    let changed = A.replace(r#""properties":{}"#, r#""properties":{"x":{"type":"string"}}"#);
    let third = ToolSet::parse([&changed, B]).unwrap();
    let diff = third.diff_from(first.snapshot());
    assert_eq!((diff.added, diff.changed, diff.removed), (vec![], names(&["a"]), vec![]));

    let mut world = world_of(ToolsState::new(first));
    let told = world.render_full().unwrap().snapshot;
    let held = history(&[Kind::TOOLS_DECLARED]);
    world.set(ToolsState::new(second)).unwrap();
    let diff = world.render_diff(Some(&told), &held).unwrap();
    assert!(diff.updates.is_empty() && diff.snapshot.is_same(&told));
    world.set(ToolsState::new(third)).unwrap();
    let items = merge_updates(world.render_diff(Some(&told), &held).unwrap().updates);
    let declared = format!(r#"{{"type":"additional_tools","role":"developer","tools":[{changed}]}}"#);
    assert_eq!(items.iter().map(|item| item.item().as_str()).collect::<Vec<_>>(), [declared]);
}

#[test]
fn key_order_is_no_change_and_the_bytes_are_those_that_were_given() {
    let other = r#"{ "name": "b", "type": "function" }"#;
    let set = ToolSet::parse([other]).unwrap();
    assert!(set.diff_from(ToolSet::parse([B]).unwrap().snapshot()).is_empty());
    assert_eq!(set.to_json(), r#"[{"name":"b","type":"function"}]"#);
}

#[test]
fn a_namespace_that_is_gone_is_listed_without_its_members() {
    let mail = r#"{"type":"namespace","name":"mail","tools":[{"name":"read"},{"name":"send.now"}]}"#;
    let before = ToolSet::parse([mail, A, B]).unwrap();
    let now = ToolSet::parse([A]).unwrap();
    let diff = now.diff_from(before.snapshot());
    assert_eq!(diff.removed, names(&["b", "mail", "mail.read", "mail.send.now"]));
    let mut world = world_of(ToolsState::new(before));
    let told = world.render_full().unwrap().snapshot;
    world.set(ToolsState::new(now)).unwrap();
    let diff = world.render_diff(Some(&told), &history(&[Kind::TOOLS_DECLARED])).unwrap();
    assert_eq!(diff.updates.len(), 1);
    assert_eq!(diff.updates[0].placement(), Placement::Standalone);
    let text = diff.updates[0].text().unwrap();
    assert!(text.ends_with("- mail\n\nThe following tools are no longer available. Do not call them:\n- b"), "{text}");
}

#[test]
fn declarations_that_are_lost_are_said_again_and_no_tools_are_known() {
    let mut world = world_of(ToolsState::new(ToolSet::parse([A]).unwrap()));
    let told = world.render_full().unwrap().snapshot;
    let again = world.render_diff(Some(&told), &history(&[])).unwrap();
    assert_eq!(again.updates.len(), 1);
    let mut empty = world_of(ToolsState::new(ToolSet::default()));
    let diff = empty.render_full().unwrap();
    assert_eq!((diff.updates.len(), diff.snapshot.section("tools").unwrap().to_string()), (0, "{}".to_owned()));
}

#[test]
fn what_is_no_declaration_is_named_by_its_place() {
    let refused = |tools: &[&str]| {
        let error = ToolSet::parse(tools).unwrap_err();
        error.to_string()
    };
    assert_eq!(refused(&[A, "{"]), "tool declaration 1 is not JSON");
    assert_eq!(refused(&[A, "7"]), "tool declaration 1 has neither a name nor a type");
    assert_eq!(refused(&[r#"{"name":""}"#]), "tool declaration 0 has neither a name nor a type");
    assert_eq!(
        refused(&[r#"{"type":"namespace","name":"n"}"#]),
        "tool declaration 0 is a namespace without an array of tools"
    );
    assert_eq!(
        refused(&[r#"{"type":"namespace","name":"n.m","tools":[]}"#]),
        "tool declaration 0 is a namespace with a dot in its name"
    );
    assert_eq!(
        refused(&[r#"{"type":"namespace","name":"n","tools":[{}]}"#]),
        "tool declaration 0 has a tool with neither a name nor a type"
    );
    assert_eq!(refused(&[A, B, A]), "two tools are called `a`");
    let member = r#"{"type":"namespace","name":"n","tools":[{"name":"x"},{"name":"x"}]}"#;
    assert_eq!(refused(&[member]), "two tools are called `n.x`");
    let beside = r#"{"type":"namespace","name":"n","tools":[{"name":"x"}]}"#;
    assert_eq!(refused(&[beside, r#"{"name":"n.y"}"#]), "two tools are called `n.y`");
}
