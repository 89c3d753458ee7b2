//! The typed view of each item, and what it refuses.

use context_fragments::{Content, ContentItem, ItemType, ResponseItem, Role, WireItem};
use insta::assert_snapshot;

use crate::items::{EXAMPLES, HOSTILE};

#[track_caller]
fn item(text: &str) -> WireItem {
    WireItem::parse(text.as_bytes()).unwrap()
}

#[track_caller]
fn check_error(text: &str, want: &str) {
    assert_eq!(item(text).view().unwrap_err().to_string(), want);
}

#[test]
fn each_example_has_the_view_of_its_type() {
    let names: Vec<_> = EXAMPLES
        .iter()
        .map(|text| {
            let item = item(text);
            let debug = format!("{:?}", item.view().unwrap());
            let view = debug.split('(').next().unwrap();
            assert_eq!(view, format!("{:?}", item.item_type()));
            view.to_owned()
        })
        .collect();
    let mut distinct = names;
    distinct.sort();
    distinct.dedup();
    assert_eq!(distinct.len(), 18, "one example at least for each view");
}

#[test]
fn a_message_shows_its_parts() {
    let message = item(EXAMPLES[3]);
    let ResponseItem::Message(message) = message.view().unwrap() else { panic!("not a message") };
    assert_eq!((message.role, message.role_name.as_ref(), message.phase), (Role::User, "user", None));
    let parts: Vec<_> = message.content.parts().map(|part| format!("{part:?}")).collect();
    assert_snapshot!(parts.join("\n"), @r#"
    InputImage { image_url: Some("data:image/png;base64,AAAA"), file_id: None, detail: Some("high"), json: Json({"type":"input_image","image_url":"data:image/png;base64,AAAA","detail":"high"}) }
    InputImage { image_url: None, file_id: Some("file_1"), detail: Some("original"), json: Json({"type":"input_image","file_id":"file_1","detail":"original"}) }
    InputAudio { audio_url: "data:audio/wav;base64,AAAA", json: Json({"type":"input_audio","audio_url":"data:audio/wav;base64,AAAA"}) }
    "#);
}

#[test]
fn a_part_that_is_not_known_stays_as_it_stands() {
    let message = item(HOSTILE[2]);
    let ResponseItem::Message(message) = message.view().unwrap() else { panic!("not a message") };
    assert_eq!((message.role, message.role_name.as_ref()), (Role::Other, "critic"));
    assert_eq!((message.phase.as_deref(), message.status), (Some("overture"), None));
    let part = message.content.parts().next().unwrap();
    assert!(matches!(part, ContentItem::Unknown(_)));
    assert_eq!(part.json().as_raw(), r#"{"type":"hologram","depth":1e2}"#);
}

#[test]
fn a_lone_surrogate_is_lossy_in_the_view_only() {
    let message = item(HOSTILE[4]);
    let ResponseItem::Message(message) = message.view().unwrap() else { panic!("not a message") };
    let part = message.content.parts().next().unwrap();
    assert_eq!(part.text().unwrap(), "a\u{fffd}b");
    assert!(part.json().as_raw().contains(r"a\ud800b"));
}

#[test]
fn an_output_is_a_text_or_a_list() {
    let output = |text: &str| {
        let item = item(text);
        let ResponseItem::FunctionCallOutput(output) = item.view().unwrap() else { panic!("not an output") };
        (
            matches!(output.output, Content::Text(_)),
            output.output.joined_text(),
            output.call_id.map(|id| id.into_owned()),
        )
    };
    assert_eq!(output(EXAMPLES[7]), (true, Some("ok".into()), Some("c1".into())));
    assert_eq!(output(EXAMPLES[8]), (false, Some("ok".into()), Some("c1".into())));
    assert_eq!(output(EXAMPLES[9]), (true, Some("external event".into()), None));
    assert_eq!(output(r#"{"type":"function_call_output","output":[]}"#), (false, None, None));
    let texts = r#"{"type":"function_call_output","output":[{"type":"input_text","text":"a"},{"type":"input_text","text":" "},{"type":"output_text","text":"b"}]}"#;
    assert_eq!(output(texts).1.as_deref(), Some("a\nb"));
}

#[test]
fn content_may_be_one_string() {
    let message = item(r#"{"role":"user","content":"hi"}"#);
    let ResponseItem::Message(message) = message.view().unwrap() else { panic!("not a message") };
    assert_eq!((message.content.text().as_deref(), message.content.parts().count()), (Some("hi"), 0));
}

#[test]
fn what_a_type_needs_and_lacks_is_named() {
    check_error(r#"{"type":"message","content":[]}"#, "message.role: expected a string, found nothing");
    check_error(r#"{"type":"message","role":"user"}"#, "message.content: expected a string or an array, found nothing");
    check_error(r#"{"type":"message","role":5,"content":[]}"#, "message.role: expected a string, found a number");
    check_error(
        r#"{"type":"function_call_output","output":5}"#,
        "function_call_output.output: expected a string or an array, found a number",
    );
    check_error(
        r#"{"type":"function_call","name":"f","arguments":{},"call_id":"c"}"#,
        "function_call.arguments: expected a string, found an object",
    );
    check_error(
        r#"{"type":"function_call","name":"f","arguments":"{}"}"#,
        "function_call.call_id: expected a string, found nothing",
    );
    check_error(
        r#"{"type":"custom_tool_call","name":"f","call_id":"c"}"#,
        "custom_tool_call.input: expected a string, found nothing",
    );
    check_error(
        r#"{"type":"tool_search_output","tools":{}}"#,
        "tool_search_output.tools: expected an array, found an object",
    );
    check_error(r#"{"type":"compaction"}"#, "compaction.encrypted_content: expected a string, found nothing");
}

#[test]
fn each_family_of_calls_shows_its_fields() {
    let shell = item(EXAMPLES[12]);
    let ResponseItem::LocalShellCall(shell) = shell.view().unwrap() else { panic!("not a shell call") };
    assert_eq!(shell.action.member("command").unwrap().as_raw(), r#"["echo","hi"]"#);
    let search = item(r#"{"type":"tool_search_call","call_id":null,"execution":"server","arguments":[1]}"#);
    let ResponseItem::ToolSearchCall(search) = search.view().unwrap() else { panic!("not a search") };
    assert_eq!((search.call_id, search.execution.as_deref(), search.arguments.as_raw()), (None, Some("server"), "[1]"));
    let image = item(EXAMPLES[16]);
    let ResponseItem::ImageGenerationCall(image) = image.view().unwrap() else { panic!("not an image") };
    assert_eq!((image.result.as_ref(), image.revised_prompt.as_deref()), ("base64", Some("p")));
    let reasoning = item(EXAMPLES[5]);
    let ResponseItem::Reasoning(reasoning) = reasoning.view().unwrap() else { panic!("not reasoning") };
    assert_eq!((reasoning.content, reasoning.encrypted_content.as_deref()), (None, Some("…")));
    assert_eq!(item(EXAMPLES[21]).item_type(), ItemType::CompactionTrigger);
}
