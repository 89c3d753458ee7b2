//! Flaws in the content of items: mended in the projection, as they are in the store.

use context_fragments::{ContextItem, Kind, Role, WireItem};
use context_manager::{Mend, Profile, Prompt};

use crate::setup::{
    assistant, call, codex_prompt, custom_call, custom_output, manager_of, message, output, parts, projected, prompt,
    raw, rules, stored, user,
};

/// Projects `items` in the default profile, and as they are in the codex profile.
#[track_caller]
fn check(items: impl IntoIterator<Item = ContextItem>, want: &[&str], want_rules: &[&str]) -> Prompt {
    let manager = manager_of(items);
    let before = stored(&manager);
    let made = prompt(&manager);
    assert_eq!((projected(&made), rules(&made)), (want.iter().map(ToString::to_string).collect(), want_rules.to_vec()));
    assert_eq!(stored(&manager), before, "the store is as it was");
    let plain = codex_prompt(&manager);
    assert!(plain.items().iter().map(|item| item.item()).eq(manager.history().items().map(|envelope| envelope.item())));
    made
}

fn with_arguments(arguments: &str) -> WireItem {
    WireItem::function_call("shell", arguments, "1")
}

#[test]
fn n12_arguments_that_are_no_object_become_an_empty_one() {
    for arguments in [r#"{"value": "#, "", " ", "5", "[]", "null", "{}}"] {
        let made = check(
            [with_arguments(arguments).into(), output("1", "not executed")],
            &["C(1)", "O(1,\"not executed\")"],
            &["bad_arguments"],
        );
        assert_eq!(made.items()[0].item(), &with_arguments("{}"), "{arguments}");
        assert_eq!(made.repairs()[0].why(), "the arguments are no JSON object");
    }
    for arguments in ["{}", " {\"a\": 1} ", r#"{"a":"\ud800"}"#] {
        let made = prompt(&manager_of([ContextItem::from(with_arguments(arguments)), output("1", "o")]));
        assert_eq!((made.items()[0].item(), rules(&made)), (&with_arguments(arguments), vec![]), "{arguments}");
    }
}

#[test]
fn n12_missing_arguments_and_those_of_another_sort() {
    for arguments in ["", r#","arguments":null"#, r#","arguments":{"a":1}"#] {
        let item = raw(&format!(r#"{{"type":"function_call","name":"f","call_id":"1"{arguments}}}"#));
        let made = check([item, output("1", "o")], &["C(1)", "O(1,\"o\")"], &["bad_arguments"]);
        let want = r#"{"type":"function_call","name":"f","call_id":"1","arguments":"{}"}"#;
        assert_eq!(made.items()[0].item().as_str(), want);
    }
    // What a custom tool takes is text of any sort.
    check([custom_call("1"), custom_output("1", "o")], &["CC(1)", "CO(1,\"o\")"], &[]);
}

#[test]
fn n14_a_message_without_text_is_left_out() {
    let reasoning = || raw(r#"{"type":"reasoning","summary":[],"encrypted_content":"xxxx"}"#);
    // The reasoning led to nothing, so that no provider would take it.
    check([user("u"), reasoning(), assistant("")], &["U\"u\""], &["lone_reasoning", "blank_text"]);
    for content in
        ["\"\"", "\" \\n\"", "[]", r#"[{"type":"output_text","text":"\t"},{"type":"output_text","text":""}]"#]
    {
        let blank = raw(&format!(r#"{{"type":"message","role":"assistant","content":{content}}}"#));
        check([user("u"), blank], &["U\"u\""], &["blank_text"]);
    }
}

#[test]
fn n14_blank_parts_are_left_out_and_the_kinds_stay_beside_their_parts() {
    let two = message(Role::Developer, &[(Kind::PERMISSIONS, "\n"), (Kind::MODEL_SWITCH, "s")]);
    let made = check([two], &["D\"s\""], &["blank_text"]);
    assert_eq!(made.items()[0].kinds(), [Kind::MODEL_SWITCH]);
    // An image says something.
    let image = r#"{"type":"message","role":"user","content":[{"type":"input_image","image_url":"u"}]}"#;
    check([raw(image)], &["U\"?\""], &[]);
}

#[test]
fn n15_an_output_without_text_says_so() {
    for text in ["", " \n"] {
        check([call("1"), output("1", text)], &["C(1)", "O(1,\"(no output)\")"], &["blank_output"]);
    }
    check([custom_call("1"), custom_output("1", "")], &["CC(1)", "CO(1,\"(no output)\")"], &["blank_output"]);
    let of_parts = |parts: &str| raw(&format!(r#"{{"type":"function_call_output","call_id":"1","output":{parts}}}"#));
    check([call("1"), of_parts("[]")], &["C(1)", "O(1,\"(no output)\")"], &["blank_output"]);
    check(
        [call("1"), of_parts(r#"[{"type":"input_text","text":""},{"type":"input_image","image_url":"u"}]"#)],
        &["C(1)", r#"O(1,[{"type":"input_image","image_url":"u"}])"#],
        &["blank_output"],
    );
}

#[test]
fn a_blank_output_that_becomes_a_message_is_mended_as_one() {
    let mut profile = Profile::responses();
    profile.blank_output = Mend::Keep;
    let manager = manager_of([call("1"), output("1", "o"), output("1", " "), user("u")]);
    let made = manager.for_prompt(&parts(), &profile);
    assert_eq!(rules(&made), ["duplicate_output", "blank_text"]);
    let header = &projected(&made)[2];
    assert!(header.starts_with("U\"Output of the tool call 1,") && !header.contains('|'), "{header}");
}

#[test]
fn n15_a_late_output_without_text_says_so_too() {
    let mut manager = manager_of([call("1")]);
    manager.mark_sent(&prompt(&manager)).expect("nothing was added");
    manager.record_items([output("1", "")], &crate::setup::recording()).expect("a small item");
    let made = prompt(&manager);
    assert!(projected(&made)[2].ends_with("|(no output)\""), "{:?}", projected(&made));
    assert_eq!(rules(&made), ["missing_output", "late_output", "blank_output"]);
}

#[test]
fn n23_reasoning_without_what_signs_it_is_left_out() {
    let reasoning = |content: &str| raw(&format!(r#"{{"type":"reasoning","id":"r","summary":[]{content}}}"#));
    check(
        [user("u"), reasoning(r#","encrypted_content":"""#), assistant("a")],
        &["U\"u\"", "A\"a\""],
        &["unsigned_reasoning"],
    );
    // One that the provider keeps has none, and one with content is taken as it is.
    for content in ["", r#","encrypted_content":null"#, r#","encrypted_content":"xxxx""#] {
        check([reasoning(content), assistant("a")], &["reasoning()", "A\"a\""], &[]);
    }
}

#[test]
fn every_mend_can_be_switched_off() {
    let mut profile = Profile::responses();
    let mends = [
        &mut profile.bad_arguments,
        &mut profile.blank_text,
        &mut profile.blank_output,
        &mut profile.unsigned_reasoning,
        &mut profile.lone_reasoning,
    ];
    mends.into_iter().for_each(|mend| *mend = Mend::Keep);
    let manager = manager_of([
        ContextItem::from(with_arguments("")),
        output("1", ""),
        assistant(""),
        raw(r#"{"type":"reasoning","summary":[],"encrypted_content":""}"#),
    ]);
    let made = manager.for_prompt(&parts(), &profile);
    assert!(made.repairs().is_empty() && made.items().len() == 4);
    assert_eq!(rules(&prompt(&manager)), ["bad_arguments", "blank_output", "blank_text", "unsigned_reasoning"]);
}
