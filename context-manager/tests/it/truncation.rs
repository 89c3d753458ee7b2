//! Holding tool outputs to a limit.

use context_fragments::{ContentItem, Limit, MarkerRoom, WireItem, json::Json};
use context_manager::{ContextManager, Incoming, Recording, TruncationPolicy};

use crate::setup::{manager_of, output, raw, user};

/// Records one output under a policy; gives the text that stands in the history.
fn recorded(text: &str, policy: TruncationPolicy) -> String {
    let mut manager = ContextManager::new();
    manager.record_items([output("c1", text)], &Recording::new(policy)).expect("a small item");
    output_text(&manager)
}

fn output_text(manager: &ContextManager) -> String {
    let item = manager.history().items().next().expect("one item").item().clone();
    item.json().member("output").and_then(Json::to_str).expect("a text").into_owned()
}

/// The codex policy scales its limit by 1.2, so the exact limit of a vector is given for the one output.
#[track_caller]
fn check_tokens(text: &str, tokens: usize, want: &str) {
    let mut manager = ContextManager::new();
    let policy = TruncationPolicy::codex(Limit::Tokens(1));
    let incoming = Incoming::new(output("c1", text)).held_to(tokens);
    manager.record_items([incoming], &Recording::new(policy)).expect("a small item");
    assert_eq!(output_text(&manager), want);
}

#[track_caller]
fn check_bytes(text: &str, bytes: usize, want: &str) {
    assert_eq!(context_fragments::cut_middle(text, Limit::Bytes(bytes), MarkerRoom::OnTop), want);
}

#[test]
fn the_published_vectors() {
    check_tokens("", 0, "");
    check_tokens("", 5, "");
    check_tokens("abcdefgh", 2, "abcdefgh");
    check_tokens("abcdefghi", 2, "abcd…1 tokens truncated…fghi");
    check_tokens("abc", 0, "…1 tokens truncated…");
    check_bytes("abcdefghij", 4, "ab…6 chars truncated…ij");
    check_bytes("abcdefghij", 5, "ab…5 chars truncated…hij");
    check_bytes("abc", 0, "…3 chars truncated…");
    check_bytes("ééééé", 5, "é…3 chars truncated…é");
}

#[test]
fn the_codex_policy_gives_a_fifth_more_and_the_marker_on_top() {
    // Tokens(4) becomes Tokens(5), that is 20 bytes around the marker.
    let text = "word ".repeat(100);
    let cut = recorded(&text, TruncationPolicy::codex(Limit::Tokens(4)));
    assert_eq!(cut, "word word …120 tokens truncated…word word ");
    let bytes = recorded(&"a".repeat(100), TruncationPolicy::codex(Limit::Bytes(10)));
    assert_eq!(bytes, format!("{}…88 chars truncated…{}", "a".repeat(6), "a".repeat(6)));
}

#[test]
fn the_marker_names_what_is_gone_in_the_unit_of_the_policy() {
    let mut manager = ContextManager::new();
    let incoming = Incoming::new(output("c1", &"a".repeat(20_000))).held_to(2_500);
    let policy = TruncationPolicy::codex(Limit::Tokens(1));
    let recorded = manager.record_items([incoming], &Recording::new(policy)).expect("a small item");
    let half = "a".repeat(5_000);
    assert_eq!(output_text(&manager), format!("{half}…2500 tokens truncated…{half}"));
    // The whole comes back for the log, with the place of what was cut.
    assert_eq!(recorded.originals[0].item, *output("c1", &"a".repeat(20_000)).item());
    assert_eq!(recorded.originals[0].position, recorded.positions.first().copied());
    // The allowance is a fifth, rounded up.
    for (limit, want) in [
        (Limit::Tokens(4), Limit::Tokens(5)),
        (Limit::Tokens(10_000), Limit::Tokens(12_000)),
        (Limit::Bytes(10_000), Limit::Bytes(12_000)),
    ] {
        assert_eq!(TruncationPolicy::codex(limit).effective_limit(), want);
        assert_eq!(TruncationPolicy::new(limit).effective_limit(), limit);
    }
}

#[test]
fn the_published_counts_of_what_is_gone() {
    let lines =
        |n: usize, width: usize| (0..n).map(|line| format!("line-{line}-{}\n", "x".repeat(width))).collect::<String>();
    let error = "very long execution error line that should trigger truncation\n".repeat(2_500);
    for (text, gone) in [(error, 36_250), (lines(2_000, 64), 34_723), (lines(300, 256), 17_423)] {
        let mut manager = ContextManager::new();
        let incoming = Incoming::new(output("c1", &text)).held_to(2_500);
        let policy = TruncationPolicy::codex(Limit::Tokens(1));
        manager.record_items([incoming], &Recording::new(policy)).expect("a small item");
        let cut = output_text(&manager);
        assert!(cut.contains(&format!("…{gone} tokens truncated…")), "{gone}: {}", &cut[4_950..5_050]);
        assert!(text.starts_with(&cut[..4_990]) && text.ends_with(&cut[cut.len() - 4_990..]));
    }
}

#[test]
fn limits_without_sense_are_limits() {
    let text = "é".repeat(100);
    for limit in [0, usize::MAX / 4, usize::MAX / 2, usize::MAX] {
        for policy in [Limit::Tokens(limit), Limit::Bytes(limit)]
            .into_iter()
            .flat_map(|limit| [TruncationPolicy::new(limit), TruncationPolicy::codex(limit)])
        {
            let cut = recorded(&text, policy);
            assert_eq!(cut == text, limit > 0, "{policy:?}");
            assert!(limit > 0 || cut.len() < 40, "{cut}");
        }
    }
}

#[test]
fn an_item_over_the_hard_cap_is_refused_and_nothing_is_recorded() {
    let mut manager = ContextManager::new();
    let recording = Recording::new(TruncationPolicy::new(Limit::Tokens(10))).with_max_item_bytes(500);
    let error = manager
        .record_items([user("a"), user(&"x".repeat(500))], &recording)
        .expect_err("words are refused, never cut");
    assert!(error.to_string().starts_with("item 1 has 5"), "{error}");
    assert_eq!(manager.history().item_count(), 0);
    // An output is cut first, so that the cap does not meet it.
    manager.record_items([output("c", &"x".repeat(5_000))], &recording).expect("it was cut");
}

#[test]
fn a_limit_of_its_own_is_used_as_it_is() {
    let text = "word ".repeat(85);
    for (tokens, is_cut) in [(200, false), (100, true), (30_000, false)] {
        let mut manager = ContextManager::new();
        let recording = Recording::new(TruncationPolicy::codex(Limit::Tokens(4)));
        let recorded = manager.record_items([Incoming::new(output("c1", &text)).held_to(tokens)], &recording);
        assert_eq!(!recorded.expect("a small item").originals.is_empty(), is_cut, "{tokens}");
        let envelope = manager.history().items().next().expect("one item").clone();
        assert_eq!(envelope.truncation_limit(), Some(Limit::Tokens(tokens)));
    }
}

#[test]
fn n29_a_cut_output_is_within_its_limit_and_says_how_much_is_gone() {
    let text = "é".repeat(970_000);
    let limit = 40_000;
    let cut = recorded(&text, TruncationPolicy::new(Limit::Bytes(limit)));
    assert!(cut.len() <= limit, "{} bytes", cut.len());
    assert!(cut.len() > limit - 100, "{} bytes", cut.len());
    assert!(cut.starts_with("éé") && cut.ends_with("éé"));
    let kept = cut.matches('é').count();
    assert!(cut.contains(&format!("…{} chars truncated…", 970_000 - kept)), "the marker counts what is gone");

    // The same text again: within the limit in one policy, and already cut in the other.
    for policy in [TruncationPolicy::new(Limit::Bytes(limit)), TruncationPolicy::codex(Limit::Bytes(limit))] {
        let once = recorded(&text, policy);
        assert_eq!(recorded(&once, policy), once);
    }
}

#[test]
fn n29_a_text_that_only_looks_cut_is_held_to_the_limit() {
    let fake = format!("…9 chars truncated…{}", "x".repeat(1_000));
    let cut = recorded(&fake, TruncationPolicy::codex(Limit::Bytes(100)));
    assert!(cut.len() < 200, "{} bytes", cut.len());
}

#[test]
fn n30_a_cut_never_splits_a_character() {
    for limit in 0..40 {
        for policy in [TruncationPolicy::new(Limit::Bytes(limit)), TruncationPolicy::codex(Limit::Bytes(limit))] {
            for text in ["a😀", "a😀a😀a😀a😀a😀a😀a😀a😀a😀a😀"] {
                let cut = recorded(text, policy);
                assert!(!cut.contains(char::REPLACEMENT_CHARACTER), "{limit}: {cut}");
                assert!(policy.marker_room() == MarkerRoom::OnTop || cut.len() <= limit, "{limit}: {cut}");
            }
        }
    }
}

#[test]
fn n30_a_lone_surrogate_stays_in_the_store_and_is_repaired_in_the_prompt() {
    let json =
        r#"{"type":"message","role":"user","content":[{"type":"input_text","text":"a\uD83D \ud83d\ude00 \\ud83d"}]}"#;
    let manager = manager_of([raw(json)]);
    let envelope = manager.history().items().next().expect("one item").clone();
    assert_eq!(envelope.item().as_str(), json, "the store keeps the bytes");
    let prompt = crate::setup::prompt(&manager);
    assert_eq!(crate::setup::rules(&prompt), ["lone_surrogate"]);
    let sent = prompt.items()[0].item().as_str();
    assert_eq!(sent, json.replacen(r"\uD83D", r"\ufffd", 1));
    assert!(serde_json::from_str::<serde_json::Value>(sent).is_ok(), "a strict reader takes it");
    assert!(serde_json::from_str::<serde_json::Value>(json).is_err(), "and would not take the stored one");
}

/// Records an output of parts and gives the parts that stand in the history: texts, or types of the others.
fn recorded_parts(parts: &str, recording: &Recording, tokens: Option<usize>) -> Vec<String> {
    let mut manager = ContextManager::new();
    let mut incoming =
        Incoming::new(raw(&format!(r#"{{"type":"custom_tool_call_output","call_id":"c1","output":{parts}}}"#)));
    incoming.limit_tokens = tokens;
    manager.record_items([incoming], recording).expect("a small item");
    let item = manager.history().items().next().expect("one item").item().clone();
    let parts = item.json().member("output").expect("an output").elements();
    parts
        .map(|part| match ContentItem::parse(part).text() {
            Some(text) => text.to_string(),
            None => part.member("type").and_then(Json::to_str).unwrap_or_default().into_owned(),
        })
        .collect()
}

fn text_part(text: &str) -> String {
    format!(r#"{{"type":"input_text","text":"{text}"}}"#)
}

const IMAGE: &str = r#"{"type":"input_image","image_url":"data:image/png;base64,AAAA"}"#;

#[test]
fn parts_share_one_budget() {
    let list = format!("[{},{IMAGE},{},{}]", text_part("abcd"), text_part(&"x".repeat(40)), text_part("efgh"));
    let codex = Recording::new(TruncationPolicy::codex(Limit::Tokens(1)));
    assert_eq!(
        recorded_parts(&list, &codex, Some(3)),
        ["abcd", "input_image", "xxxx…8 tokens truncated…xxxx", "[omitted 1 text items ...]"]
    );
    assert_eq!(
        recorded_parts(&list, &codex, Some(11)),
        ["abcd", "input_image", &"x".repeat(40), "[omitted 1 text items ...]"]
    );
    assert_eq!(recorded_parts(&list, &codex, Some(12)), ["abcd", "input_image", &"x".repeat(40), "efgh"]);
}

#[test]
fn audio_over_the_budget_is_left_out() {
    let list = format!(r#"[{{"type":"input_audio","audio_url":"{}"}}]"#, "x".repeat(400));
    let codex = Recording::new(TruncationPolicy::codex(Limit::Tokens(1)));
    assert_eq!(recorded_parts(&list, &codex, Some(50)), ["[omitted 1 audio items ...]"]);
    assert_eq!(recorded_parts(&list, &codex, Some(100)), ["input_audio"]);
    // Ten seconds of PCM audio cost 100 tokens, whatever its bytes are.
    let list = format!(r#"[{{"type":"input_audio","audio_url":"{}"}}]"#, crate::tokens::wav(8_000, 80_000));
    assert_eq!(recorded_parts(&list, &codex, Some(50)), ["[omitted 1 audio items ...]"]);
    assert_eq!(recorded_parts(&list, &codex, Some(100)), ["input_audio"]);
}

#[test]
fn parts_of_the_default_policy_are_within_the_limit_with_their_notices() {
    for limit in [40, 60, 100, 200, 1_000] {
        let list =
            format!("[{},{},{}]", text_part(&"a".repeat(90)), text_part(&"b".repeat(900)), text_part(&"c".repeat(90)));
        let parts = recorded_parts(&list, &Recording::new(TruncationPolicy::new(Limit::Bytes(limit))), None);
        let total: usize = parts.iter().map(String::len).sum();
        assert!(total <= limit, "{total} bytes for {limit}: {parts:?}");
        assert!(parts.last().is_some_and(|last| last.starts_with("[omitted") || limit == 1_000), "{parts:?}");
    }
}

#[test]
fn an_output_of_another_shape_is_no_way_around_the_bound() {
    for output in
        [format!(r#"{{"k":"{}"}}"#, "x".repeat(1_000)), format!(r#"[{{"type":"odd","k":"{}"}}]"#, "x".repeat(1_000))]
    {
        let mut manager = ContextManager::new();
        let item = raw(&format!(r#"{{"type":"function_call_output","call_id":"c1","output":{output}}}"#));
        let recorded = manager.record_items([item], &Recording::new(TruncationPolicy::new(Limit::Bytes(100))));
        assert_eq!(recorded.expect("a small item").originals.len(), 1);
        let item: WireItem = manager.history().items().next().expect("one item").item().clone();
        assert!(item.as_bytes().len() < 200, "{item:?}");
    }
}

#[test]
fn short_outputs_and_everything_else_stay_as_they_are() {
    let long = "x".repeat(1_000);
    let search = format!(r#"{{"type":"tool_search_output","call_id":"q","execution":"client","tools":["{long}"]}}"#);
    let items = [user(&long), raw(&search), output("c1", "short")];
    let mut manager = ContextManager::new();
    let recorded = manager.record_items(items.clone(), &Recording::new(TruncationPolicy::new(Limit::Bytes(50))));
    assert!(recorded.expect("small items").originals.is_empty());
    assert!(manager.history().items().map(|envelope| envelope.item()).eq(items.iter().map(|item| item.item())));
}
