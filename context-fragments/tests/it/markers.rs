//! Recognition by markers, and bodies that try to close their own frame.

use context_fragments::{Kind, Markers, neutralise, recognise_developer_text, recognise_user_text};
use proptest::prelude::*;

#[track_caller]
fn check(start: &str, end: &str, text: &str, want: bool) {
    assert_eq!(Markers::new(start, end).matches(text), want, "{start} {end} {text:?}");
}

#[track_caller]
fn check_user(text: &str, want: Option<&str>) {
    assert_eq!(recognise_user_text(text).as_ref().map(Kind::as_str), want, "{text:?}");
}

#[test]
fn both_ends_have_to_match() {
    check("<a>", "</a>", "<a>x</a>", true);
    check("<a>", "</a>", "x<a>y</a>", false);
    check("<a>", "</a>", "<a>x</a>y", false);
    check("<a>", "</a>", "<a></a>", true);
    check("<a>", "</a>", "<a", false);
    check("ab", "bc", "abc", true);
}

#[test]
fn white_space_around_and_ascii_case_do_not_matter() {
    check("<a>", "</a>", "  \n<A>x</A>\t\n", true);
    check("<a>", "</a>", "\u{2003}<a>x</a>\u{a0}", true);
    check("<é>", "</é>", "<É>x</É>", false);
    let agents = "# agents.md INSTRUCTIONS for /x\n\n<INSTRUCTIONS>\nb\n</instructions>";
    check("# AGENTS.md instructions", "</INSTRUCTIONS>", agents, true);
}

#[test]
fn an_empty_marker_matches_nothing() {
    check("<a>", "", "<a>x", false);
    check("", "</a>", "x</a>", false);
    check("", "", "anything", false);
    check("", "", "", false);
}

#[test]
fn a_marker_that_ends_inside_a_character_does_not_match() {
    check("<a>", "</a>", "éé", false);
    check("aé", "éa", "ééé", false);
}

#[test]
fn additional_context_names_its_key_at_both_ends() {
    let known = Some("additional_context.user");
    check_user("<external_k>v</external_k>", known);
    check_user(" <external_k>a > b</external_k>\n", known);
    check_user("<external_>v</external_>", known);
    check_user("<external_k></external_k>", known);
    check_user("<external_k>v</external_j>", None);
    check_user("<EXTERNAL_k>v</EXTERNAL_k>", None);
    check_user("<external_k>v", None);
}

#[test]
fn internal_context_names_its_source_in_one_word() {
    let known = Some("internal_context.notice");
    let from = |source: &str| format!("<codex_internal_context source=\"{source}\">\nb\n</codex_internal_context>");
    check_user(&from("a_1"), known);
    check_user(&from("extension"), known);
    check_user("<goal_context>g</goal_context>", known);
    for source in ["A", "1a", "", "Extension", "a-b", "a b"] {
        check_user(&from(source), None);
    }
    check_user("<codex_internal_context source=\"a\">\nb\n", None);
}

#[test]
fn user_messages_of_hosts_are_recognised_in_old_logs() {
    check_user("# AGENTS.md instructions for /r\n\n<INSTRUCTIONS>\nx\n</INSTRUCTIONS>", Some("agents_md.instructions"));
    check_user("<environment_context>\n</environment_context>", Some("environments.environment_context"));
    check_user("<SUBAGENT_notification>{}</subagent_NOTIFICATION>", Some("subagents.notification"));
    check_user("<turn_aborted>\nx\n</turn_aborted>", Some("turn_aborted.notice"));
    check_user("<skill>\nx\n</skill>", Some("skills.instructions"));
    check_user("<hook_prompt hook_run_id=\"1\">x</hook_prompt>", Some("hooks.prompt"));
    check_user("Warning: The maximum number of unified exec processes you can keep open is 60", Some("legacy.warning"));
    check_user(
        "Warning: apply_patch was requested via shell. Use the apply_patch tool instead of exec_command.",
        Some("legacy.warning"),
    );
    for text in
        ["hello", "", "<project_context>x</project_context>", "see <environment_context></environment_context>!"]
    {
        check_user(text, None);
    }
}

#[test]
fn developer_messages_of_sections_are_recognised_by_their_start() {
    let kind = |text: &str| recognise_developer_text(text).map(|kind| kind.to_string());
    assert_eq!(kind("\n<Permissions Instructions>x").as_deref(), Some("permissions.instructions"));
    assert_eq!(kind("<model_switch>").as_deref(), Some("model_switch.instructions"));
    assert_eq!(
        kind("Approved command prefix saved:\n- [\"a\"]").as_deref(),
        Some("permissions.approved_command_prefixes")
    );
    assert_eq!(kind("<context_window_guidance>x").as_deref(), Some("context_window_guidance.instructions"));
    assert_eq!(kind("Generated images are in /tmp"), None);
    assert_eq!(kind("<é"), None);
}

#[test]
fn a_body_cannot_hold_the_text_that_ends_its_frame() {
    let neutral = |body: &'static str| neutralise(body, &["</x>", "aa"]);
    assert_eq!(neutral("plain"), ("plain".into(), 0));
    assert_eq!(neutral("</x></X>"), (r"<\/x><\/X>".into(), 2));
    assert_eq!(neutral("aaa"), (r"a\a\a".into(), 2));
    assert_eq!(neutral(r"<\/x>"), (r"<\/x>".into(), 0));
    assert_eq!(neutralise("é</É>", &["</É>"]), (r"é<\/É>".into(), 1));
}

#[test]
fn a_closer_that_a_backslash_cannot_break_loses_its_first_character() {
    assert_eq!(neutralise("a[1] b", &["]"]), ("a[1\u{fffd} b".into(), 1));
    assert_eq!(neutralise("éÉ", &["é"]), ("\u{fffd}É".into(), 1));
    assert_eq!(neutralise(r"<\<\\", &[r"<\"]), ("\u{fffd}\\\u{fffd}\\\\".into(), 2));
    assert_eq!(neutralise(r"\\\", &[r"\\"]), ("\u{fffd}\u{fffd}\\".into(), 2));
    // A backslash behind the first `a` would make the other closer.
    assert_eq!(neutralise("aa", &["aa", r"a\a"]), ("\u{fffd}a".into(), 1));
    assert_eq!(neutralise("aa", &["", "aa"]), (r"a\a".into(), 1));
}

proptest! {
    #[test]
    fn matching_never_panics(start in "\\PC{0,4}", end in "\\PC{0,4}", text in any::<String>(), near in "[<>/aeé_ ]{0,24}") {
        for text in [&text, &near, &format!("{start}{text}{end}")] {
            let _: bool = Markers::new(&start, &end).matches(text);
            drop((recognise_user_text(text), recognise_developer_text(text)));
        }
        let framed = format!("{start}{text}{end}");
        let is_framed = !start.is_empty() && !end.is_empty() && !start.starts_with(char::is_whitespace) && !end.ends_with(char::is_whitespace);
        prop_assert!(!is_framed || Markers::new(&start, &end).matches(&framed));
    }

    #[test]
    fn what_is_neutralised_holds_no_closer(body in "[<>/ax\\\\X]{0,32}") {
        let closers = ["</x>", "aa"];
        let (once, count) = neutralise(&body, &closers);
        let lower = once.to_ascii_lowercase();
        prop_assert!(closers.iter().all(|closer| !lower.contains(closer)));
        prop_assert_eq!(once.len(), body.len() + count);
        prop_assert_eq!(neutralise(&once, &closers).1, 0);
    }

    #[test]
    fn whatever_the_closers_are_none_of_them_is_left(body in "[<a\\\\é]{0,12}", closers in prop::collection::vec("[<a\\\\é]{1,3}", 1..4)) {
        let (once, _) = neutralise(&body, &closers);
        let lower = once.to_ascii_lowercase();
        prop_assert!(closers.iter().all(|closer| !lower.contains(closer)), "{once}");
        prop_assert_eq!(neutralise(&once, &closers).1, 0);
    }
}
