//! The estimate, item by item.

use context_fragments::WireItem;
use context_manager::{Estimate, TokenCounter, text_tokens};
use std::sync::Arc;

use crate::setup::{assistant, custom_output, manager_of, raw, recording, user};

#[track_caller]
fn check(item: &str, bytes: u64) {
    let item = WireItem::parse(item.as_bytes()).expect("the test's item is JSON");
    assert_eq!(Estimate.count(&item), bytes.div_ceil(4), "{item:?}");
}

#[test]
fn content_counts_and_nothing_else() {
    check(r#"{"type":"message","role":"user","id":"a long id","content":[{"type":"input_text","text":"hello"}]}"#, 5);
    check(r#"{"type":"message","role":"user","content":[{"type":"input_text","text":"\u00e9\n\""}]}"#, 4);
    check(r#"{"type":"message","role":"user","content":[]}"#, 0);
    check(
        r#"{"type":"agent_message","author":"/root","recipient":"/root/w","content":[{"type":"input_text","text":"go"},{"type":"encrypted_content","encrypted_content":"0123456789abcdef0"}]}"#,
        5 + 7 + 2 + 10,
    );
    check(r#"{"type":"function_call","name":"do","arguments":"{\"a\":1}","call_id":"c1"}"#, 2 + 9 + 7);
    check(r#"{"type":"function_call","name":"do","namespace":"n","arguments":"{}","call_id":"c1"}"#, 2 + 1 + 2);
    check(r#"{"type":"custom_tool_call","call_id":"t1","name":"p","input":"abc"}"#, 1 + 9 + 3);
    check(r#"{"type":"function_call_output","call_id":"c1","output":"four"}"#, 4 + 2);
    check(r#"{"type":"function_call_output","name":"send","namespace":"app","output":"event"}"#, 5 + 4 + 3);
    check(r#"{"type":"custom_tool_call_output","call_id":"c1","output":"four"}"#, 4 + 2);
    check(r#"{"type":"additional_tools","role":"developer","tools":[{"a":1}]}"#, 9);
    check(r#"{"type":"tool_search_call","call_id":"q","execution":"client","arguments":{"q":"x"}}"#, 9);
    check(r#"{"type":"tool_search_output","call_id":"q","status":"completed","execution":"client","tools":[]}"#, 2);
    check(r#"{"type":"local_shell_call","call_id":"s","status":"completed","action":{"type":"exec"}}"#, 15);
    check(r#"{"type":"web_search_call","status":"completed"}"#, 0);
    check(r#"{"type":"configuration_update","reasoning":{"effort":"high"}}"#, 0);
    check(r#"{"type":"anything_new","x":"long long long"}"#, 0);
}

#[test]
fn encrypted_content_counts_by_its_length() {
    let encrypted =
        |len: usize| format!(r#"{{"type":"reasoning","summary":[],"encrypted_content":"{}"}}"#, "x".repeat(len));
    check(&encrypted(900), 900 * 3 / 4 - 650);
    check(&encrypted(800), 0);
    check(
        r#"{"type":"reasoning","summary":[{"type":"summary_text","text":"not counted"}],"encrypted_content":null}"#,
        0,
    );
    check(r#"{"type":"context_compaction"}"#, 0);
    let output = format!(
        r#"{{"type":"function_call_output","call_id":"","output":[{{"type":"encrypted_content","encrypted_content":"{}"}}]}}"#,
        "x".repeat(1_868)
    );
    check(&output, 1_868_u64.div_ceil(16) * 9 - 3);
}

#[test]
fn images_count_as_images_and_audio_as_its_url() {
    let image = r#"{"type":"input_image","image_url":"DATA:image/png;BASE64,AAAA","detail":"high"}"#;
    check(&format!(r#"{{"type":"message","role":"user","content":[{image},{image}]}}"#), 2 * 7_373);
    check(
        r#"{"type":"message","role":"user","content":[{"type":"input_image","file_id":"f","detail":"high"}]}"#,
        7_373,
    );
    check(
        r#"{"type":"message","role":"user","content":[{"type":"input_image","file_id":"f","detail":"original"}]}"#,
        40_000,
    );
    // Only a file can be so large: an inline image is not decoded, and counts like every other one.
    check(
        r#"{"type":"message","role":"user","content":[{"type":"input_image","image_url":"data:,A","detail":"original"}]}"#,
        7_373,
    );
    check(r#"{"type":"message","role":"user","content":[{"type":"input_audio","audio_url":"12345"}]}"#, 8);
    check(r#"{"type":"image_generation_call","status":"completed","revised_prompt":"pp","result":"AAAA"}"#, 2 + 7_373);
    check(r#"{"type":"image_generation_call","status":"completed","revised_prompt":"pp","result":""}"#, 2);
}

#[test]
fn the_running_total_is_the_sum() {
    let manager = manager_of([user("hello"), assistant("hello"), custom_output("c", "x"), user("")]);
    let recount: u64 = manager.history().items().map(|envelope| Estimate.count(envelope.item())).sum();
    assert_eq!(manager.history().tokens(), recount);
}

#[test]
fn items_after_the_last_one_of_the_model() {
    let after = manager_of([assistant("a"), user("12345678"), custom_output("c1", "12")]);
    assert_eq!(after.history().tokens_after_last_model_item(), 2 + 1);
    assert_eq!(manager_of([user("12345678")]).history().tokens_after_last_model_item(), 0);
}

#[test]
fn base_instructions_count_by_their_bytes() {
    assert_eq!([text_tokens(""), text_tokens("a"), text_tokens("abcde")], [0, 1, 2]);
}

#[derive(Debug)]
struct Ten;

impl TokenCounter for Ten {
    fn count(&self, _item: &WireItem) -> u64 {
        10
    }
}

#[test]
fn a_host_may_count_in_its_own_way() {
    let mut manager = context_manager::ContextManager::new().with_counter(Arc::new(Ten));
    manager.record_items([user("a"), raw(r#"{"type":"reasoning","summary":[]}"#)], &recording()).expect("small items");
    assert_eq!(manager.history().tokens(), 20);
}
