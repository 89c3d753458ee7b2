//! What a person sees of a history.

use context_fragments::{ContextItem, Kind, Part, Role, WireItem};
use context_manager::{ContextManager, Preset, SUMMARY_KIND, Shown, VisibleItem};
use proptest::prelude::*;

use crate::{
    laws::item,
    setup::{
        assistant, call, developer, environment, image_message, in_turn, manager_with, message, output, raw, recording,
        user,
    },
};

/// One line for each item that is shown.
fn lines(manager: &ContextManager) -> Vec<String> {
    manager.visible_items().map(|item| format!("{} {}", item.turn, line(&item))).collect()
}

fn line(item: &VisibleItem<'_>) -> String {
    match &item.shown {
        Shown::Input { texts, images, audio } => format!("input {texts:?} +{images} images +{audio} audio"),
        Shown::HookPrompts(prompts) => {
            let prompts: Vec<String> = prompts.iter().map(|hook| format!("{}={}", hook.run_id, hook.text)).collect();
            format!("hooks {prompts:?}")
        }
        Shown::Mail { author, texts } => format!("mail from {author} {texts:?}"),
        Shown::Answer { texts } => format!("answer {texts:?}"),
        Shown::Thought { texts } => format!("thought {texts:?}"),
        Shown::Call { name, call_id } => format!("call {name} {call_id:?}"),
        Shown::Output { call_id, texts, images, audio } => {
            format!("output {call_id:?} {texts:?} +{images} images +{audio} audio")
        }
        Shown::ImageMade => "image".to_owned(),
        Shown::Summary { texts } => format!("summary {texts:?}"),
        other => panic!("{other:?} has no line"),
    }
}

/// Both presets show this of the items.
#[track_caller]
fn check<const N: usize>(items: [ContextItem; N], want: &[&str]) {
    for preset in [Preset::Default, Preset::Codex] {
        assert_eq!(lines(&manager_with(preset, items.clone())), want, "{preset:?}");
    }
}

fn untold(texts: &[&str]) -> ContextItem {
    let parts: Vec<Part<'_>> = texts.iter().map(|text| Part::InputText(text)).collect();
    WireItem::message(Role::User, &parts).into()
}

const HOOK: &str = r#"<hook_prompt hook_run_id="run 1">say &quot;a &amp; b&quot; &lt;now&gt; &amp;lt;</hook_prompt>"#;
const ENVIRONMENT: &str = "<environment_context>\n</environment_context>";

#[test]
fn context_and_the_hosts_words_are_hidden() {
    check(
        [
            developer(Kind::PERMISSIONS, "p"),
            developer(Kind::new("generic.developer_instructions"), "words"),
            environment("e"),
            untold(&[ENVIRONMENT]),
            untold(&["# AGENTS.md instructions for /r\n\n<INSTRUCTIONS>\nx\n</INSTRUCTIONS>"]),
            untold(&["<skill>\n</skill>"]),
            untold(&["<user_shell_command>\n</user_shell_command>"]),
            raw(r#"{"type":"additional_tools","tools":[]}"#),
        ],
        &[],
    );
}

#[test]
fn words_and_images_of_a_person_are_shown_and_counted() {
    let labelled = raw(
        r#"{"type":"message","role":"user","content":[{"type":"input_text","text":"<image name=[Image #1]>"},{"type":"input_image","image_url":"u"},{"type":"input_text","text":"</image>"},{"type":"input_image","image_url":"u"},{"type":"input_text","text":"both"},{"type":"input_text","text":"</image>"}]}"#,
    );
    check(
        [user("hi"), image_message(), labelled, raw(r#"{"type":"message","role":"user","content":"plain"}"#)],
        &[
            r#"1 input ["hi"] +0 images +0 audio"#,
            r#"2 input ["see"] +1 images +0 audio"#,
            r#"3 input ["both", "</image>"] +2 images +0 audio"#,
            r#"4 input ["plain"] +0 images +0 audio"#,
        ],
    );
}

#[test]
fn hook_prompts_are_shown_and_begin_no_turn() {
    let read = "run 1=say \"a & b\" <now> &lt;";
    let want = format!("1 hooks [{read:?}]");
    check(
        [user("hi"), untold(&[HOOK]), untold(&[HOOK, ENVIRONMENT])],
        &[r#"1 input ["hi"] +0 images +0 audio"#, &want, &want],
    );
    let kinds = message(Role::User, &[(Kind::new("hooks.prompt"), HOOK)]);
    let other = format!("0 hooks [{read:?}]");
    check([kinds], &[&other]);
}

#[test]
fn a_message_of_context_and_words_is_hidden_in_the_codex_preset_only() {
    let known = message(Role::User, &[(Kind::ENVIRONMENT_CONTEXT, "e"), (Kind::USER_TEXT, "words")]);
    for mixed in [known, untold(&[ENVIRONMENT, "words"]), untold(&[HOOK, "words"])] {
        let default = manager_with(Preset::Default, [mixed.clone()]);
        assert_eq!(lines(&default), [r#"1 input ["words"] +0 images +0 audio"#]);
        assert_eq!(lines(&manager_with(Preset::Codex, [mixed])), [""; 0]);
    }
}

#[test]
fn law_6_what_a_person_typed_is_shown_whatever_it_looks_like() {
    check([user(ENVIRONMENT)], &[r#"1 input ["<environment_context>\n</environment_context>"] +0 images +0 audio"#]);
}

#[test]
fn tool_activity_and_answers_are_shown() {
    let items = [
        user("hi"),
        raw(r#"{"type":"reasoning","summary":[{"type":"summary_text","text":"thinking"}],"encrypted_content":"x"}"#),
        raw(r#"{"type":"reasoning","summary":[],"encrypted_content":"x"}"#),
        call("1"),
        output("1", "ok"),
        raw(r#"{"type":"web_search_call","status":"completed","action":{}}"#),
        raw(
            r#"{"type":"custom_tool_call_output","call_id":"2","output":[{"type":"input_text","text":"t"},{"type":"input_image","image_url":"u"}]}"#,
        ),
        raw(r#"{"type":"image_generation_call","status":"completed","result":"AAAA"}"#),
        assistant("done"),
        raw(r#"{"type":"message","role":"assistant","content":[{"type":"input_text","text":"odd"}]}"#),
        message(Role::User, &[(SUMMARY_KIND, "all that")]),
        raw(r#"{"type":"compaction","encrypted_content":"x"}"#),
        raw(
            r#"{"type":"agent_message","author":"/root/w","recipient":"/root","content":[{"type":"input_text","text":"found"}]}"#,
        ),
    ];
    check(
        items,
        &[
            r#"1 input ["hi"] +0 images +0 audio"#,
            r#"1 thought ["thinking"]"#,
            r#"1 call shell Some("1")"#,
            r#"1 output Some("1") ["ok"] +0 images +0 audio"#,
            "1 call web_search_call None",
            r#"1 output Some("2") ["t"] +1 images +0 audio"#,
            "1 image",
            r#"1 answer ["done"]"#,
            r#"1 answer ["odd"]"#,
            r#"1 summary ["all that"]"#,
            "1 summary []",
            r#"2 mail from /root/w ["found"]"#,
        ],
    );
}

#[test]
fn what_is_added_to_a_turn_is_shown_in_it() {
    let mut manager = ContextManager::new();
    for (turn, text) in [("t1", "U1"), ("t1", "U1b"), ("t2", "U2")] {
        manager.record_items([user(text)], &in_turn(turn)).expect("a small item");
    }
    let begins: Vec<(usize, bool)> = manager.visible_items().map(|item| (item.turn, item.begins.is_some())).collect();
    assert_eq!(begins, [(1, true), (1, false), (2, true)]);
    let cursors: Vec<_> = manager.visible_items().filter_map(|item| item.begins).collect();
    assert_eq!(cursors, manager.history().cursors().collect::<Vec<_>>());
}

proptest! {
    #![proptest_config(ProptestConfig { cases: crate::laws::cases(500), ..ProptestConfig::default() })]

    #[test]
    fn t12_both_views_divide_a_history_into_the_same_turns(
        items in prop::collection::vec((item(), prop::sample::select(vec![None, Some("t1"), Some("t2")])), 0..25),
        codex in any::<bool>(),
        taken in 0_usize..4,
    ) {
        let mut manager = ContextManager::with_preset(if codex { Preset::Codex } else { Preset::Default });
        for (item, turn) in items {
            let recording = turn.map_or_else(recording, in_turn);
            manager.record_items([item], &recording).expect("small items");
        }
        let before = lines(&manager);
        let begins: Vec<usize> = manager.visible_items().filter(|item| item.begins.is_some()).map(|item| item.turn).collect();
        prop_assert_eq!(&begins, &(1..=manager.history().turn_count()).collect::<Vec<_>>(), "each turn begins with a visible item");
        for item in manager.visible_items() {
            let stored = manager.history().entry_at(item.envelope.position()).and_then(|entry| entry.as_item());
            prop_assert!(stored.is_some_and(|stored| std::ptr::eq(stored, item.envelope)));
        }
        let left = manager.drop_last_n_user_turns(taken);
        prop_assert_eq!(manager.history().turn_count(), begins.len() - left.turns);
        let after = lines(&manager);
        prop_assert_eq!(&after[..], &before[..after.len()]);
        let stays = manager.history().turn_count();
        let of_others = before[after.len()..].iter().all(|line| {
            let turn: usize = line.split(' ').next().and_then(|turn| turn.parse().ok()).unwrap_or(0);
            // A hook prompt above an input is context of it.
            turn > stays || line.contains(" hooks ")
        });
        prop_assert!(of_others, "{before:?} then {after:?}");
    }
}
