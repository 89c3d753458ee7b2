//! Items keep their bytes, and know their heads.

use context_fragments::{
    Error, ItemType, Part, Role, WireItem,
    json::{Json, Shape, compact},
};
use proptest::prelude::*;

/// One example of each item, as it stands on the wire.
pub(crate) const EXAMPLES: &[&str] = &[
    r#"{"type":"message","role":"user","content":[{"type":"input_text","text":"hi"}]}"#,
    r#"{"type":"message","id":"msg_0","role":"developer","content":[{"type":"input_text","text":"<model_switch>\n…\n</model_switch>"}],"internal_chat_message_metadata_passthrough":{"turn_id":"t1","content_item_kinds":["model_switch.instructions"]}}"#,
    r#"{"type":"message","role":"assistant","phase":"final_answer","content":[{"type":"output_text","text":"done"}]}"#,
    r#"{"type":"message","role":"user","content":[{"type":"input_image","image_url":"data:image/png;base64,AAAA","detail":"high"},{"type":"input_image","file_id":"file_1","detail":"original"},{"type":"input_audio","audio_url":"data:audio/wav;base64,AAAA"}]}"#,
    r#"{"type":"agent_message","author":"/root","recipient":"/root/worker","content":[{"type":"input_text","text":"go"}]}"#,
    r#"{"type":"reasoning","summary":[{"type":"summary_text","text":"s"}],"content":null,"encrypted_content":"…"}"#,
    r#"{"type":"function_call","name":"do_it","arguments":"{\"a\":1}","call_id":"c1"}"#,
    r#"{"type":"function_call_output","call_id":"c1","output":"ok"}"#,
    r#"{"type":"function_call_output","call_id":"c1","output":[{"type":"input_text","text":"ok"},{"type":"input_image","image_url":"…","detail":"high"}]}"#,
    r#"{"type":"function_call_output","name":"send_message_to_thread","namespace":"codex_app","output":"external event"}"#,
    r#"{"type":"custom_tool_call","call_id":"t1","name":"apply_patch","input":"*** Begin Patch"}"#,
    r#"{"type":"custom_tool_call_output","call_id":"t1","output":"ok"}"#,
    r#"{"type":"local_shell_call","call_id":"s1","status":"completed","action":{"type":"exec","command":["echo","hi"],"timeout_ms":null,"working_directory":null,"env":null,"user":null}}"#,
    r#"{"type":"tool_search_call","call_id":"q1","execution":"client","arguments":{"query":"x"}}"#,
    r#"{"type":"tool_search_output","call_id":"q1","status":"completed","execution":"client","tools":[]}"#,
    r#"{"type":"web_search_call","status":"completed","action":{"type":"search","query":"x"}}"#,
    r#"{"type":"image_generation_call","id":"ig_1","status":"completed","revised_prompt":"p","result":"base64"}"#,
    r#"{"type":"additional_tools","role":"developer","tools":[{"type":"function","name":"lookup","parameters":{}}]}"#,
    r#"{"type":"compaction","encrypted_content":"…"}"#,
    r#"{"type":"context_compaction"}"#,
    r#"{"type":"configuration_update","reasoning":{"effort":"high"}}"#,
    r#"{"type":"compaction_trigger"}"#,
    r#"{"type":"anything_new","x":1}"#,
];

/// What a provider, an old log or an enemy may send: all of it is kept.
pub(crate) const HOSTILE: &[&str] = &[
    r#"{}"#,
    r#"{"type":5,"role":[],"call_id":{},"id":7,"content":{"type":"input_image"}}"#,
    r#"{"zeta":1,"type":"message","alpha":2,"role":"critic","content":[{"type":"hologram","depth":1e2}],"phase":"overture","status":9}"#,
    r#"{"type":"function_call","name":"f","arguments":"{\"value\": ","call_id":"c\u0031","n":12345678901234567890123,"e":1e2,"z":-0.0}"#,
    r#"{"type":"message","role":"user","content":[{"type":"input_text","text":"a\ud800b"}],"\ud800":"\udc00"}"#,
    r#"{"type":"reasoning","type":"message","role":"user","role":"assistant","content":"a","content":[]}"#,
    r#"{"type":"function_call_output","call_id":null,"output":null,"success":false}"#,
    r#"{"type":"","id":"","call_id":""}"#,
    r#"{"type":"mess\u0061ge","role":"us\u0065r","content":[]}"#,
];

#[track_caller]
fn item(text: &str) -> WireItem {
    WireItem::parse(text.as_bytes()).unwrap()
}

#[test]
fn every_example_and_every_hostile_item_keeps_its_bytes() {
    for text in EXAMPLES.iter().chain(HOSTILE) {
        let item = item(text);
        assert_eq!(item.as_str(), *text);
        assert_eq!(serde_json::to_string(&item).unwrap(), *text);
        assert_eq!(serde_json::from_str::<WireItem>(text).unwrap(), item);
        if let Ok(view) = item.view() {
            assert_eq!(view.json().as_raw(), *text);
            assert_eq!(serde_json::to_string(&view).unwrap(), *text);
        }
    }
}

#[test]
fn received_line_feeds_between_tokens_go_and_nothing_else() {
    for text in EXAMPLES.iter().chain(HOSTILE) {
        let loose = loosened(text);
        assert!(loose.len() > text.len());
        assert_eq!(item(&loose).as_str(), *text);
        assert_eq!(serde_json::from_str::<WireItem>(&loose).unwrap().as_str(), *text);
    }
}

#[test]
fn the_head_is_scanned_once_and_the_last_key_wins() {
    let twice = item(HOSTILE[5]);
    assert_eq!((twice.item_type(), twice.role()), (ItemType::Message, Some(Role::Assistant)));
    let escaped = item(HOSTILE[8]);
    assert_eq!((escaped.item_type(), escaped.role()), (ItemType::Message, Some(Role::User)));
    let misshapen = item(HOSTILE[1]);
    assert_eq!((misshapen.item_type(), misshapen.role()), (ItemType::Unknown, None));
    assert_eq!((misshapen.call_id(), misshapen.item_id(), misshapen.type_name().as_ref()), (None, None, ""));
    let call = item(HOSTILE[3]);
    assert_eq!(call.call_id().as_deref(), Some("c1"));
    let empty = item(HOSTILE[7]);
    assert_eq!((empty.call_id().as_deref(), empty.item_id()), (Some(""), None));
    assert_eq!(item(HOSTILE[2]).role(), Some(Role::Other));
    assert_eq!(item(r#"{"role":"user","content":"hi"}"#).item_type(), ItemType::Message, "`type` may be left out");
    assert_eq!(item(r#"{"type":"compaction_summary","encrypted_content":""}"#).item_type(), ItemType::Compaction);
    assert_eq!(item(EXAMPLES[22]).type_name(), "anything_new");
}

#[test]
fn media_are_seen_in_content_and_in_output() {
    let media = |text: &str| (item(text).has_images(), item(text).has_audio());
    assert_eq!(media(EXAMPLES[3]), (true, true));
    assert_eq!(media(EXAMPLES[8]), (true, false));
    assert_eq!(media(EXAMPLES[16]), (true, false));
    assert_eq!(media(r#"{"type":"image_generation_call","result":""}"#), (false, false));
    assert_eq!(media(EXAMPLES[0]), (false, false));
    // However a name is spelled, with white space around it and without.
    for (name, want) in
        [("input_audio", (false, true)), ("input\\u005fimage", (true, false)), ("input\\u005faudio", (false, true))]
    {
        for key in ["type", "typ\\u0065"] {
            for space in ["", " "] {
                let text = format!("{{\"type\":\"message\",\"content\":[{space}{{\"{key}\":\"{name}\"}}]}}");
                assert_eq!(media(&text), want, "{text}");
            }
        }
    }
    assert_eq!(
        media(r#"{"type":"message","content":[{"type":"input_text","text":"input_image"}],"x":"input_audio"}"#),
        (false, false)
    );
}

#[test]
fn a_member_is_replaced_where_it_stands() {
    let before = item(r#"{"b":1,"output":"x","a":2,"output":"y"}"#);
    assert_eq!(before.with_member("output", " [ 1 ] ").unwrap().as_str(), r#"{"b":1,"output":"x","a":2,"output":[1]}"#);
    assert_eq!(
        before.with_member("new", "\"\\ud800\"").unwrap().as_str(),
        r#"{"b":1,"output":"x","a":2,"output":"y","new":"\ud800"}"#
    );
    assert_eq!(before.without_member("output").as_str(), r#"{"b":1,"a":2}"#);
    assert!(before.without_member("absent").ptr_eq(&before));
    assert!(matches!(before.with_member("output", "oops"), Err(Error::NotJson { .. })));
}

#[test]
fn items_of_a_host_have_one_spelling() {
    let parts = [Part::InputText("a\n"), Part::InputImage { url: "data:,", detail: "high" }, Part::OutputText("b")];
    assert_eq!(
        WireItem::message(Role::User, &parts).as_str(),
        r#"{"type":"message","role":"user","content":[{"type":"input_text","text":"a\n"},{"type":"input_image","image_url":"data:,","detail":"high"},{"type":"output_text","text":"b"}]}"#
    );
    assert_eq!(WireItem::function_call("do_it", r#"{"a":1}"#, "c1").as_str(), EXAMPLES[6]);
    assert_eq!(WireItem::function_call_output("c1", "ok").as_str(), EXAMPLES[7]);
    assert_eq!(WireItem::custom_tool_call("apply_patch", "*** Begin Patch", "t1").as_str(), EXAMPLES[10]);
    assert_eq!(WireItem::custom_tool_call_output("t1", "ok").as_str(), EXAMPLES[11]);
    assert_eq!(WireItem::developer_text("d").role(), Some(Role::Developer));
    assert_eq!(WireItem::assistant_text("a").role(), Some(Role::Assistant));
    let raw = Json::parse(r#"{ "type" : "new", "n": 1e2 }"#).unwrap();
    assert_eq!(
        WireItem::message(Role::User, &[Part::Raw(raw)]).json().member("content").unwrap().as_raw(),
        r#"[{"type":"new","n":1e2}]"#
    );
}

#[test]
fn what_is_no_item_is_refused_with_the_reason() {
    let refused = |text: &[u8]| WireItem::parse(text).unwrap_err().to_string();
    assert_eq!(refused(b"[1]"), "item: expected an object, found an array");
    assert_eq!(refused(b"null"), "item: expected an object, found null");
    assert_eq!(refused(b"{\"a\":\"\xc3\"}"), "not UTF-8 at byte 6");
    assert_eq!(refused(b"{\"a\":1"), "not JSON at line 1, column 6");
}

#[test]
fn a_clone_shares_the_bytes() {
    let item = WireItem::user_text("hi");
    assert!(item.clone().ptr_eq(&item));
    assert_eq!(item, WireItem::user_text("hi"));
    assert!(!item.ptr_eq(&WireItem::user_text("hi")));
}

proptest! {
    #[test]
    fn any_object_keeps_its_bytes(
        members in prop::collection::vec(("[a-z_\"é]{0,6}", prop_oneof![
            Just("1e2".to_owned()), Just("12345678901234567890123".to_owned()), Just("\"\\ud800\"".to_owned()),
            Just("null".to_owned()), Just("[ ]".to_owned()), Just("{\"b\" :1}".to_owned()), Just("\"message\"".to_owned()),
        ]), 0..6),
    ) {
        let members: Vec<_> = members.iter().map(|(key, value)| format!("{} : {value}", serde_json::to_string(key).unwrap())).collect();
        let text = format!("{{ {} }}", members.join(" , "));
        let item = WireItem::parse(text.as_bytes()).unwrap();
        prop_assert_eq!(item.as_str(), compact(&text).unwrap());
        prop_assert_eq!(WireItem::parse(item.as_bytes()).unwrap(), item);
    }

    #[test]
    fn head_and_body_are_those_of_the_last_members_of_their_names(
        members in prop::collection::vec((prop::sample::select(KEYS), prop::sample::select(VALUES)), 0..10),
    ) {
        // Text with white space is read in another way than text without, and an element of an array in a third one.
        let text: Vec<_> = members.iter().map(|(key, value)| format!("\n{key} : {value}\t")).collect();
        let loose = item(&format!(" {{ {} }}", text.join(",")));
        let array = format!("[{}]", loose.as_str());
        let element = Json::parse(&array).unwrap().elements().next().unwrap();
        for item in [item(loose.as_str()), WireItem::from_json(element).unwrap(), loose] {
            check_head(&item)?;
        }
    }

    #[test]
    fn arbitrary_bytes_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..64)) {
        if let Ok(item) = WireItem::parse(&bytes) {
            prop_assert!(item.view().is_ok() || item.view().is_err_and(|error| error.is_bad_json()));
        }
    }
}

#[test]
fn the_only_text_is_found_in_messages_and_in_outputs() {
    let bodies = [("message", "content"), ("function_call_output", "output"), ("custom_tool_call_output", "output")];
    for (name, key) in bodies {
        for value in VALUES {
            for space in ["", " "] {
                check_head(&item(&format!("{{\"type\":\"{name}\",{space}\"{key}\":{value}}}"))).unwrap();
            }
        }
    }
}

/// The head of an item is what a walk over its members finds.
fn check_head(item: &WireItem) -> Result<(), TestCaseError> {
    let last = |key: &str| item.json().member(key);
    let name = last("type").and_then(Json::to_str).unwrap_or_default();
    let role = last("role").and_then(Json::to_str);
    let is_named = item.json().members().any(|(key, _)| key.is_text("type"));
    let key = match name.as_ref() {
        "" if !is_named && role.is_some() => Some("content"),
        "message" => Some("content"),
        "function_call" => Some("arguments"),
        "function_call_output" | "custom_tool_call_output" => Some("output"),
        "reasoning" => Some("encrypted_content"),
        _ => None,
    };
    let parts = item.json().members().filter(|(key, _)| key.is_text("content") || key.is_text("output")).last();
    let has_part = |kind: &str| {
        let mut parts = parts.into_iter().flat_map(|(_, parts)| parts.elements());
        parts.any(|part| part.member("type").is_some_and(|name| name.is_text(kind)))
    };
    prop_assert_eq!(item.has_images(), has_part("input_image"), "{:?}", item);
    prop_assert_eq!(item.has_audio(), has_part("input_audio"), "{:?}", item);
    prop_assert_eq!(item.type_name(), name);
    prop_assert_eq!(item.body().map(Json::as_raw), key.and_then(last).map(Json::as_raw));
    prop_assert!(item.members().eq(item.json().members()), "{:?}", item);
    prop_assert_eq!(item.sole_text(), sole_text(item), "{:?}", item);
    prop_assert_eq!(item.role(), role.map(|role| Role::from_name(&role)));
    prop_assert_eq!(item.call_id(), last("call_id").and_then(Json::to_str));
    prop_assert_eq!(item.item_id(), last("id").and_then(Json::to_str).filter(|id| !id.is_empty()));
    // An escaped backslash before a `u` may be taken for such an escape; none may be missed.
    prop_assert!(item.has_code_units() || !spells_code_unit(item.as_str()), "{:?}", item);
    prop_assert!(!item.has_code_units() || item.as_str().contains("\\u"), "{:?}", item);
    Ok(())
}

/// Says that a character in it is spelled by its code unit. Of what stands in JSON, only strings have backslashes.
fn spells_code_unit(json: &str) -> bool {
    let mut letters = json.chars();
    while let Some(letter) = letters.next() {
        if letter == '\\' && letters.next() == Some('u') {
            return true;
        }
    }
    false
}

/// The text of a body that is a list of one part, which has a type of text and a text, in this order, as they are usually
/// spelled.
fn sole_text(item: &WireItem) -> Option<Json<'_>> {
    let may_have_parts =
        matches!(item.item_type(), ItemType::Message | ItemType::FunctionCallOutput | ItemType::CustomToolCallOutput);
    let body = item.body().filter(|_| may_have_parts)?;
    let parts: Vec<_> = body.elements().collect();
    let [part] = parts.as_slice() else { return None };
    let members: Vec<_> = part.members().collect();
    let [(type_key, name), (text_key, text)] = members.as_slice() else { return None };
    let is_text = matches!(name.as_raw(), r#""input_text""# | r#""output_text""#);
    let is_spelled_so = type_key.as_raw() == r#""type""# && text_key.as_raw() == r#""text""#;
    (is_text && is_spelled_so && text.shape() == Shape::String).then_some(*text)
}

const KEYS: &[&str] = &[
    r#""type""#,
    r#""typ\u0065""#,
    r#""role""#,
    r#""content""#,
    r#""cont\u0065nt""#,
    r#""output""#,
    r#""arguments""#,
    r#""encrypted_content""#,
    r#""call_id""#,
    r#""id""#,
];

const VALUES: &[&str] = &[
    r#"[{"type":"input_text","text":"a"}]"#,
    r#"[{"type":"output_text","text":"\"}]"}]"#,
    r#"[{"type":"input_text","text":""},{"type":"input_text","text":"b"}]"#,
    r#"[{"type":"input_text","text":"a","annotations":[]}]"#,
    r#"[{"type":"input_text","text":"a","x":"b"}]"#,
    r#"[{"type":"input_text","text":["a"]}]"#,
    r#"[{"type":"input_text","text":{"type":"b"}}]"#,
    r#"[{"type":"input_text","text":null}]"#,
    r#"[{"type":"input_text","text":123456}]"#,
    r#"[{"type":"input_text","text":"a"},{}]"#,
    r#"[{"type":"input_text","text":"a\u0062 \\u0063"}]"#,
    r#"[{"type":"input_text","text":"a"},"b"]"#,
    r#"[{"text":"a","type":"input_text"}]"#,
    r#"[[{"type":"input_text","text":"a"}]]"#,
    r#""message""#,
    r#""m\u0065ssage""#,
    r#""function_call""#,
    r#""function_call_output""#,
    r#""custom_tool_call_output""#,
    r#""reasoning""#,
    r#""compaction_summary""#,
    r#""user""#,
    r#""""#,
    r#""\ud800 \" \\""#,
    "null",
    "1e2",
    r#"[ {"type":"input_text", "text": "a"} , [ ] ]"#,
    r#"{ "type" : "message", "content" : [[[{"content":1}]]] }"#,
    r#"[{"type":"input_image"},{"type":"input_text"}]"#,
    r#"[{"type":"input\u005fimage"},{"type":"input_audio"}]"#,
    r#"[{"typ\u0065":"input_audio","text":"\n"}]"#,
    r#"[{"type":"output_text","text":"input_image"}, "input_audio"]"#,
];

/// The same JSON with line feeds and blanks between its tokens.
fn loosened(text: &str) -> String {
    let mut out = String::new();
    let (mut inside, mut escaped) = (false, false);
    for letter in text.chars() {
        let token = !inside && matches!(letter, '{' | '}' | '[' | ']' | ',' | ':');
        if token {
            out.push_str("\r\n\t");
        }
        out.push(letter);
        if token {
            out.push(' ');
        }
        if inside && !escaped && letter == '\\' {
            escaped = true;
        } else {
            inside ^= letter == '"' && !escaped;
            escaped = false;
        }
    }
    out
}

#[test]
fn name_and_body_are_those_of_the_members() {
    let cases = [
        (r#"{"type":"message","role":"user","content":[]}"#, "message", Some("[]")),
        (r#"{"role":"user","content":"hi"}"#, "", Some("\"hi\"")),
        (r#"{"type":"mess\u0061ge","content":null,"content":1}"#, "message", Some("1")),
        (r#"{"type":"message","role":"user"}"#, "message", None),
        (r#"{"arguments":"{}","type":"function_call"}"#, "function_call", Some("\"{}\"")),
        (r#"{"type":"function_call_output","content":1,"output":null}"#, "function_call_output", Some("null")),
        (r#"{"type":"custom_tool_call_output","output":"o"}"#, "custom_tool_call_output", Some("\"o\"")),
        (r#"{"type":"reasoning","encrypted_content":"e","content":1}"#, "reasoning", Some("\"e\"")),
        (r#"{"type":"compaction_summary","encrypted_content":"e"}"#, "compaction_summary", None),
        (r#"{"type":"message","type":"anything_new","content":1}"#, "anything_new", None),
        (r#"{"type":1,"role":"user","content":1}"#, "", None),
    ];
    for (json, name, body) in cases {
        let item = WireItem::parse(json.as_bytes()).unwrap();
        assert_eq!((item.type_name().as_ref(), item.body().map(|body| body.as_raw())), (name, body), "{json}");
    }
}
