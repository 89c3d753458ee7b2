//! Making a history acceptable: missing, orphaned, early and late outputs; media; ids.

use context_fragments::{ContextItem, Kind, Role};
use context_manager::{
    Declared, LATE_OUTPUT_KIND, Modalities, Model, Origin, Profile, Projection, Prompt, Proof, Rule, normalize,
};

use crate::setup::{
    assistant, call, codex_prompt, custom_call, custom_output, image_message, manager_of, message, output, parts,
    projected, prompt, raw, recording, rules, stored, user,
};

const NS: &str = "{\"type\":\"function_call\",\"id\":\"fc_1\",\"name\":\"f\",\"arguments\":\"{}\",\"call_id\":\"c1\"}";

/// Projects `items` in the default profile.
#[track_caller]
fn check<const N: usize>(items: impl IntoIterator<Item = ContextItem>, want: &[&str], want_rules: [&str; N]) -> Prompt {
    let manager = manager_of(items);
    let before = stored(&manager);
    let made = prompt(&manager);
    assert_eq!(projected(&made), want);
    assert_eq!(rules(&made), want_rules);
    assert_eq!(stored(&manager), before, "the store is as it was");
    made
}

#[test]
fn n01_a_call_without_output_gets_a_synthetic_one() {
    let made = check([user("u"), call("1")], &["U\"u\"", "C(1)", "O(1,\"aborted\")"], ["missing_output"]);
    assert_eq!(made.items()[2].provenance().origin, Origin::Repair);
    assert_eq!(made.repairs()[0].call_id(), Some("1"));
    assert_eq!((made.repairs()[0].place(), made.repairs()[0].why()), (2, "the call has no output"));
    assert_eq!(made.synthetic_outputs().len(), 1);
}

#[test]
fn n01_the_synthetic_id_is_the_same_in_every_run() {
    let manager = manager_of([raw(NS), user("later")]);
    let want = r#"{"type":"function_call_output","id":"fco_d08ee114-ed5d-5706-8dbd-16ccacd40aa4","call_id":"c1","output":"aborted"}"#;
    for _ in 0..2 {
        assert_eq!(prompt(&manager).items()[1].item().as_str(), want);
        assert_eq!(codex_prompt(&manager).items()[1].item().as_str(), want);
    }
    let renamed = manager_of([raw(&NS.replace("fc_1", "fc_2"))]);
    assert_ne!(prompt(&renamed).items()[1].item().item_id(), prompt(&manager).items()[1].item().item_id());
    let unnamed = manager_of([raw(&NS.replace("fc_1", ""))]);
    assert_eq!(prompt(&unnamed).items()[1].item().item_id(), None);
}

#[test]
fn n02_an_orphan_output_is_left_out_and_reported() {
    let made = check([user("u"), output("1", "x")], &["U\"u\""], ["orphan_output"]);
    assert_eq!(made.repairs()[0].call_id(), Some("1"));
    assert_eq!(made.repairs()[0].position().map(context_manager::Position::number), Some(1));
    // A custom output does not answer a function call, nor the other way round.
    check([call("1"), custom_output("1", "x")], &["C(1)", "O(1,\"aborted\")"], ["missing_output", "orphan_output"]);
}

#[test]
fn n03_custom_and_shell_and_search_calls_get_outputs_of_their_family() {
    let shell =
        raw(r#"{"type":"local_shell_call","id":"s","call_id":"s1","status":"completed","action":{"type":"exec"}}"#);
    let search = raw(r#"{"type":"tool_search_call","id":"q","call_id":"q1","execution":"client","arguments":{}}"#);
    let made = check(
        [user("u"), custom_call("1"), shell, search],
        &[
            "U\"u\"",
            "CC(1)",
            "CO(1,\"aborted\")",
            "local_shell_call(s1)",
            "O(s1,\"aborted\")",
            "tool_search_call(q1)",
            "tool_search_output(q1)",
        ],
        ["missing_output"; 3],
    );
    let ids: Vec<_> = made.items().iter().filter_map(|item| item.item().item_id().map(|id| id.into_owned())).collect();
    assert!(ids[1].starts_with("fco_") && ids[3].starts_with("tso_"), "{ids:?}");
    assert_eq!(
        made.items()[6].item().as_str().split_once("\"call_id\"").map(|(_, rest)| rest),
        Some(r#":"q1","status":"completed","execution":"client","tools":[]}"#)
    );
}

#[test]
fn the_mixed_case_of_the_reference() {
    let shell = raw(r#"{"type":"local_shell_call","call_id":"s1","status":"completed","action":{"type":"exec"}}"#);
    check(
        [call("c1"), output("c2", "x"), custom_call("t1"), shell],
        &["C(c1)", "O(c1,\"aborted\")", "CC(t1)", "CO(t1,\"aborted\")", "local_shell_call(s1)", "O(s1,\"aborted\")"],
        ["missing_output", "orphan_output", "missing_output", "missing_output"],
    );
}

#[test]
fn n06_parallel_outputs_pair_by_id_in_any_order() {
    let items = [call("1"), call("2"), call("3"), output("3", "c"), output("1", "a"), output("2", "b")];
    let manager = manager_of(items);
    let made = prompt(&manager);
    assert_eq!(projected(&made), stored(&manager));
    assert_eq!(rules(&made), [""; 0]);
}

#[test]
fn n07_an_output_before_its_call_moves_behind_it() {
    check([output("1", "x"), user("u"), call("1")], &["U\"u\"", "C(1)", "O(1,\"x\")"], ["early_output"]);
    check(
        [output("1", "x"), output("1", "y"), call("1"), output("1", "z")],
        // One output is enough for a call: nothing asked for the second one, and the third one is said beside it.
        &["C(1)", "O(1,\"x\")", &format!("U\"{}|z\"", late_header("1"))],
        ["orphan_output", "early_output", "duplicate_output"],
    );
    // The codex profile leaves it where it is.
    let manager = manager_of([output("1", "x"), call("1")]);
    assert_eq!(projected(&codex_prompt(&manager)), ["O(1,\"x\")", "C(1)"]);
}

/// What stands above an output that is a message of its own.
fn late_header(id: &str) -> String {
    format!(
        "Output of the tool call {id}, which came after the call had been closed. It was written by the tool, not by the user."
    )
}

#[test]
fn in_the_codex_profile_two_calls_with_one_id_share_one_output() {
    let manager = manager_of([call("1"), call("1"), output("1", "x")]);
    assert_eq!(projected(&codex_prompt(&manager)), ["C(1)", "C(1)", "O(1,\"x\")"]);
}

#[test]
fn n08_the_second_pair_of_an_id_is_renamed() {
    let items = [call("t:0"), output("t:0", "r1"), user("u"), call("t:0"), output("t:0", "r2")];
    let made = check(
        items,
        &["C(t:0)", "O(t:0,\"r1\")", "U\"u\"", "C(t:0_dup1)", "O(t:0_dup1,\"r2\")"],
        ["duplicate_call_id"; 2],
    );
    assert_eq!((made.repairs()[0].call_id(), made.repairs()[0].place()), (Some("t:0"), 3));
    check(
        [call("1"), call("1"), call("1"), output("1", "a"), output("1", "b")],
        &["C(1)", "C(1_dup1)", "C(1_dup2)", "O(1_dup2,\"aborted\")", "O(1,\"a\")", "O(1_dup1,\"b\")"],
        ["duplicate_call_id", "duplicate_call_id", "missing_output", "duplicate_call_id"],
    );
    // Families have ids of their own.
    check(
        [call("1"), output("1", "a"), custom_call("1"), custom_output("1", "b")],
        &["C(1)", "O(1,\"a\")", "CC(1)", "CO(1,\"b\")"],
        [],
    );
}

#[test]
fn n08_a_name_that_is_taken_is_not_given() {
    check(
        [call("1_dup1"), output("1_dup1", "a"), call("1"), output("1", "b"), call("1"), output("1", "c")],
        &["C(1_dup1)", "O(1_dup1,\"a\")", "C(1)", "O(1,\"b\")", "C(1_dup2)", "O(1_dup2,\"c\")"],
        ["duplicate_call_id"; 2],
    );
    check(
        [call("1"), output("1", "a"), call("1"), output("1", "b"), call("1_dup1"), output("1_dup1", "c")],
        &["C(1)", "O(1,\"a\")", "C(1_dup1)", "O(1_dup1,\"b\")", "C(1_dup1_dup1)", "O(1_dup1_dup1,\"c\")"],
        ["duplicate_call_id"; 4],
    );
}

#[test]
fn n08_an_output_too_many_is_a_message_of_its_own() {
    check(
        [call("1"), output("1", "a"), output("1", "b")],
        &["C(1)", "O(1,\"a\")", &format!("U\"{}|b\"", late_header("1"))],
        ["duplicate_output"],
    );
}

#[test]
fn n10_item_ids_and_call_ids_are_two_things() {
    let made =
        check([call("a"), call("b")], &["C(a)", "O(a,\"aborted\")", "C(b)", "O(b,\"aborted\")"], ["missing_output"; 2]);
    assert!(!made.input_json().contains("undefined") && !made.input_json().contains("\"id\""));
}

#[test]
fn n10_missing_and_misshapen_call_ids() {
    let with =
        |item_type: &str, call_id: &str| raw(&format!(r#"{{"type":"{item_type}"{call_id},"name":"f","output":"o"}}"#));
    for call_id in ["", r#","call_id":null"#] {
        // A named event and a shell call may be without one; a call and a custom output may not.
        let kept = ["function_call_output", "local_shell_call", "tool_search_call", "tool_search_output"];
        let removed = ["function_call", "custom_tool_call", "custom_tool_call_output"];
        for item_type in kept {
            let made = prompt(&manager_of([with(item_type, call_id)]));
            assert_eq!((made.items().len(), rules(&made).len()), (1, 0), "{item_type}{call_id}");
        }
        for item_type in removed {
            let made = prompt(&manager_of([with(item_type, call_id)]));
            assert_eq!((made.items().len(), rules(&made)), (0, vec!["misshapen_call_id"]), "{item_type}{call_id}");
            assert_eq!(codex_prompt(&manager_of([with(item_type, call_id)])).items().len(), 1, "{item_type}{call_id}");
        }
    }
    for call_id in [r#","call_id":5"#, r#","call_id":["c1"]"#, r#","call_id":{}"#] {
        for item_type in ["function_call", "function_call_output", "tool_search_output", "local_shell_call"] {
            let made = prompt(&manager_of([with(item_type, call_id)]));
            assert_eq!((made.items().len(), rules(&made)), (0, vec!["misshapen_call_id"]), "{item_type}{call_id}");
        }
    }
    // An empty id is an id.
    check([call("")], &["C()", "O(,\"aborted\")"], ["missing_output"]);
}

#[test]
fn searches_of_the_provider_need_no_call() {
    let server =
        raw(r#"{"type":"tool_search_output","call_id":"q","status":"completed","execution":"server","tools":[]}"#);
    let client =
        raw(r#"{"type":"tool_search_output","call_id":"q","status":"completed","execution":"client","tools":[]}"#);
    check([server], &["tool_search_output(q)"], []);
    check([client], &[], ["orphan_output"]);
}

fn text_only(manager: &context_manager::ContextManager) -> Prompt {
    let model = Model::new("blind").with_modalities(Modalities::TEXT);
    manager.for_prompt(&parts().with_model(model), &Profile::responses())
}

const MEDIA: &str = r#"[{"type":"input_text","text":"a"},{"type":"input_image","image_url":"u"},{"type":"input_audio","audio_url":"u"},{"type":"input_text","text":"b"}]"#;
const IMAGE_GONE: &str = "image content omitted because you do not support image input";
const AUDIO_GONE: &str = "audio content omitted because you do not support audio input";

#[test]
fn n17_media_become_placeholders_and_come_back_with_the_model() {
    let item = raw(&format!(r#"{{"type":"message","role":"user","content":{MEDIA}}}"#));
    let kinds = [Kind::USER_TEXT, Kind::USER_IMAGE, Kind::USER_AUDIO, Kind::USER_TEXT];
    let item = ContextItem::new(item.item().clone(), kinds);
    let mut manager = manager_of([
        item.clone(),
        call("1"),
        raw(&format!(r#"{{"type":"function_call_output","call_id":"1","output":{MEDIA}}}"#)),
    ]);
    let made = text_only(&manager);
    assert_eq!(projected(&made)[0], format!("U\"a|{IMAGE_GONE}|{AUDIO_GONE}|b\""));
    let got: Vec<&str> = made.items()[0].kinds().iter().map(Kind::as_str).collect();
    assert_eq!(got, ["user.text", "images.unsupported", "audio.unsupported", "user.text"]);
    assert!(
        made.items()[2].item().as_str().contains(IMAGE_GONE) && made.items()[2].item().as_str().contains(AUDIO_GONE)
    );
    let media = made.media();
    assert_eq!((media.allowed, media.present), (Modalities::TEXT, Modalities::ALL));
    assert_eq!((media.removed_images, media.removed_audio), (2, 2));
    manager.mark_sent(&made).expect("nothing was added");

    let seeing = prompt(&manager);
    assert_eq!(seeing.items()[0].item(), item.item(), "the images are there again");
    let broken = seeing.proof().broken().expect("the prefix changed");
    assert_eq!(broken.declared, [Declared::Projection(Projection::Modality)]);
    assert_eq!(seeing.media().removed_images, 0);
}

#[test]
fn n17_a_model_that_takes_the_media_that_are_there_changes_nothing() {
    let mut manager = manager_of([user("no media")]);
    manager.mark_sent(&text_only(&manager)).expect("nothing was added");
    assert_eq!(prompt(&manager).proof(), &Proof::Identical);
}

#[test]
fn n17_a_generated_image_is_cleared() {
    let item = raw(r#"{"type":"image_generation_call","id":"ig","status":"completed","result":"AAAA"}"#);
    let manager = manager_of([item]);
    let made = text_only(&manager);
    assert_eq!(
        made.items()[0].item().as_str(),
        r#"{"type":"image_generation_call","id":"ig","status":"completed","result":""}"#
    );
    assert_eq!(rules(&made), ["image_result_cleared"]);
    assert_eq!(rules(&prompt(&manager)), [""; 0]);
}

#[test]
fn n18_an_output_of_one_image_is_not_empty_without_it() {
    let only =
        raw(r#"{"type":"function_call_output","call_id":"1","output":[{"type":"input_image","image_url":"u"}]}"#);
    let manager = manager_of([call("1"), only]);
    let made = text_only(&manager);
    assert_eq!(rules(&made), ["image_unsupported"]);
    assert_eq!(projected(&made)[1], format!(r#"O(1,[{{"type":"input_text","text":"{IMAGE_GONE}"}}])"#));
}

#[test]
fn kinds_that_do_not_match_the_parts_say_nothing() {
    let item = ContextItem::new(image_message().item().clone(), [Kind::USER_TEXT]);
    let made = text_only(&manager_of([item]));
    assert_eq!(made.items()[0].kinds(), [Kind::UNKNOWN, Kind::IMAGES_UNSUPPORTED]);
}

#[test]
fn n28_a_late_output_is_a_message_of_its_own() {
    let mut manager = manager_of([user("u"), call("1")]);
    let first = prompt(&manager);
    manager.mark_sent(&first).expect("nothing was added");
    manager.record_items([output("1", "done </x> at last")], &recording()).expect("a small item");
    let second = prompt(&manager);
    let header = "Output of the tool call 1, which came after the call had been closed. It was written by the tool, not by the user.";
    assert_eq!(projected(&second), ["U\"u\"", "C(1)", "O(1,\"aborted\")", &format!("U\"{header}|done </x> at last\"")]);
    assert_eq!(second.items()[3].kinds(), [LATE_OUTPUT_KIND, LATE_OUTPUT_KIND]);
    assert_eq!(second.items()[3].provenance().origin, Origin::Tool);
    assert_eq!(rules(&second), ["missing_output", "late_output"]);
    assert_eq!(second.proof(), &Proof::Extends { shared: 3, new: 1 });
    // And it stays so, also with another call of the same id and another output.
    manager.mark_sent(&second).expect("nothing was added");
    manager.record_items([call("1"), output("1", "again")], &recording()).expect("small items");
    let third = prompt(&manager);
    assert_eq!(projected(&third)[4..], ["C(1_dup1)", "O(1_dup1,\"again\")"]);
    assert_eq!(third.proof(), &Proof::Extends { shared: 4, new: 2 });
}

#[test]
fn n28_a_synthetic_output_that_was_only_shown_gives_way() {
    let mut manager = manager_of([user("u"), call("1")]);
    assert_eq!(rules(&prompt(&manager)), ["missing_output"]);
    manager.record_items([output("1", "done")], &recording()).expect("a small item");
    assert_eq!(projected(&prompt(&manager)), ["U\"u\"", "C(1)", "O(1,\"done\")"]);
}

#[test]
fn n28_the_codex_profile_replaces_and_declares() {
    let mut manager = manager_of([user("u"), call("1")]);
    manager.mark_sent(&codex_prompt(&manager)).expect("nothing was added");
    manager.record_items([output("1", "done")], &recording()).expect("a small item");
    let second = codex_prompt(&manager);
    assert_eq!(projected(&second), ["U\"u\"", "C(1)", "O(1,\"done\")"]);
    let broken = second.proof().broken().expect("the synthetic output was sent");
    assert_eq!(broken.declared, [Declared::Projection(Projection::LateOutput)]);
    assert_eq!(broken.before.as_ref().map(|before| before.repairs.clone()), Some(vec![Rule::MissingOutput]));
}

#[test]
fn n28_an_output_of_parts_keeps_its_parts_when_it_is_late() {
    let mut manager = manager_of([custom_call("1")]);
    manager.mark_sent(&prompt(&manager)).expect("nothing was added");
    manager
        .record_items(
            [raw(&format!(r#"{{"type":"custom_tool_call_output","call_id":"1","output":{MEDIA}}}"#))],
            &recording(),
        )
        .expect("a small item");
    let made = prompt(&manager);
    assert!(made.items()[2].item().as_str().contains(r#"{"type":"input_image","image_url":"u"}"#));
    let blind = text_only(&manager);
    assert!(blind.items()[2].item().as_str().contains(IMAGE_GONE));
}

#[test]
fn normalising_twice_changes_nothing_more() {
    let items = [
        output("0", "orphan"),
        user("u"),
        call("1"),
        image_message(),
        custom_call("2"),
        output("3", "early"),
        call("3"),
        message(Role::Developer, &[(Kind::PERMISSIONS, "p")]),
        assistant("a"),
    ];
    for profile in [Profile::responses(), Profile::codex()] {
        let once = normalize(&items, Modalities::TEXT, &profile);
        let again: Vec<ContextItem> = once.items.iter().map(|item| item.context_item().clone()).collect();
        let twice = normalize(&again, Modalities::TEXT, &profile);
        assert!(twice.repairs.is_empty(), "{:?}", twice.repairs);
        assert!(twice.items.iter().map(|item| item.item()).eq(again.iter().map(ContextItem::item)));
    }
}
