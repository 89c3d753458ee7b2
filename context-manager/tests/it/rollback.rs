//! Taking turns back.

use context_fragments::{ContextItem, Kind, Part, Role, TurnContextItem, WireItem};
use context_manager::{ContextManager, Incoming, Preset, SUMMARY_KIND};
use world_state::WorldStateSnapshot;

use crate::setup::{
    assistant, call, developer, environment, in_turn, manager_with, message, output, raw, recording, stored, user,
};

fn settings(turn: &str) -> TurnContextItem {
    TurnContextItem::parse(format!(r#"{{"turn_id":"{turn}","cwd":"/r","model":"m1"}}"#).as_bytes()).expect("an object")
}

/// Drops `turns` from `items` in both presets; they have to agree.
#[track_caller]
fn check<I>(items: I, turns: usize, want: &[&str])
where
    I: IntoIterator<Item: Into<Incoming>> + Clone,
{
    for preset in [Preset::Default, Preset::Codex] {
        let mut manager = manager_with(preset, items.clone());
        manager.drop_last_n_user_turns(turns);
        assert_eq!(stored(&manager), want, "{preset:?}");
    }
}

fn permissions(text: &str) -> ContextItem {
    developer(Kind::PERMISSIONS, text)
}

#[test]
fn context_before_the_first_turn_always_stays() {
    let items = [permissions("d"), environment("e"), user("1"), assistant("a"), permissions("d2"), user("2")];
    check(items.clone(), 1, &["D\"d\"", "U\"e\"", "U\"1\"", "A\"a\""]);
    check(items.clone(), 2, &["D\"d\"", "U\"e\""]);
    check(items, 99, &["D\"d\"", "U\"e\""]);
    let prefixed = [assistant("prefix"), user("1"), assistant("a1"), user("2"), assistant("a2")];
    check(prefixed.clone(), 1, &["A\"prefix\"", "U\"1\"", "A\"a1\""]);
    check(prefixed, 99, &["A\"prefix\""]);
}

#[test]
fn five_messages_of_context_are_no_turns() {
    let context = [
        "agents_md.instructions",
        "environments.environment_context",
        "skills.instructions",
        "user_shell_command.result",
        "internal_context.notice",
    ];
    let prefix = context.map(|kind| message(Role::User, &[(Kind::new(kind), "c")]));
    let items: Vec<ContextItem> = prefix.into_iter().chain([user("1"), assistant("a"), user("2")]).collect();
    check(items.clone(), 1, &["U\"c\"", "U\"c\"", "U\"c\"", "U\"c\"", "U\"c\"", "U\"1\"", "A\"a\""]);
    check(items.clone(), 2, &["U\"c\""; 5]);
    check(items, 3, &["U\"c\""; 5]);
}

#[test]
fn a_history_without_a_turn_only_gets_a_version() {
    for preset in [Preset::Default, Preset::Codex] {
        let mut manager = manager_with(preset, [environment("e")]);
        manager.set_world_state_baseline(Some(WorldStateSnapshot::default()));
        let done = manager.drop_last_n_user_turns(1);
        assert_eq!((done.turns, done.items, done.history_version), (0, 0, 1));
        assert_eq!(stored(&manager), ["U\"e\""]);
        assert_eq!(manager.world_state_baseline().is_none(), preset == Preset::Codex);
    }
}

#[test]
fn a_summary_is_no_turn() {
    let summary = message(Role::User, &[(SUMMARY_KIND, "s")]);
    let items = [user("1"), summary, user("2")];
    check(items.clone(), 1, &["U\"1\"", "U\"s\""]);
    check(items, 2, &[]);
}

#[test]
fn versions_count_rewrites() {
    for preset in [Preset::Default, Preset::Codex] {
        let mut manager = manager_with(preset, [user("1"), user("2"), user("3")]);
        assert_eq!(manager.history_version(), 0);
        manager.replace([user("1").into(), user("2").into()], &recording()).expect("small items");
        assert_eq!(manager.history_version(), 1);
        assert_eq!(manager.drop_last_n_user_turns(0).history_version, 1);
        assert_eq!(manager.drop_last_n_user_turns(1).history_version, 2);
        assert_eq!(manager.history_version(), 2);
    }
}

#[test]
fn context_above_the_turn_goes_with_it() {
    let above = [
        "managed_config.developer_instructions",
        "apps.instructions",
        "plugins.instructions",
        "environments.instructions",
        "collaboration_mode.instructions",
    ];
    let mut items = vec![assistant("prefix"), user("1"), assistant("a")];
    items.extend(above.map(|kind| developer(Kind::new(kind), "x")));
    items.extend([environment("e"), user("2"), assistant("b")]);
    check(items, 1, &["A\"prefix\"", "U\"1\"", "A\"a\""]);
    let prefixes = developer(Kind::APPROVED_COMMAND_PREFIXES, "Approved command prefix saved:\n- [\"touch\"]");
    check([user("1"), prefixes, user("2")], 1, &["U\"1\""]);
    let words = developer(Kind::new("generic.developer_instructions"), "Generated images are saved");
    check([user("1"), words, environment("e"), user("2")], 1, &["U\"1\"", "D\"Generated images are saved\""]);
}

#[test]
fn items_without_kinds_are_judged_by_their_texts() {
    let items = [
        user("1"),
        WireItem::developer_text("<permissions instructions>x</permissions instructions>").into(),
        WireItem::developer_text("Approved command prefix saved:\n- [\"touch\"]").into(),
        WireItem::user_text("<environment_context>x</environment_context>").into(),
        ContextItem::from(WireItem::user_text("2")),
    ];
    check(items, 1, &["U\"1\""]);
}

#[test]
fn law_6_what_a_user_types_is_a_turn_whatever_it_looks_like() {
    check([user("1"), user("<environment_context>hi</environment_context>"), assistant("a")], 1, &["U\"1\""]);
}

#[test]
fn a_mixed_message_is_a_turn_unless_the_preset_is_codex() {
    let mixed = message(Role::User, &[(Kind::ENVIRONMENT_CONTEXT, "e"), (Kind::USER_TEXT, "words")]);
    for (preset, want) in [(Preset::Default, vec!["U\"1\""]), (Preset::Codex, vec![])] {
        let mut manager = manager_with(preset, [user("1"), mixed.clone()]);
        manager.drop_last_n_user_turns(1);
        assert_eq!(stored(&manager), want, "{preset:?}");
    }
}

#[test]
fn agent_messages_are_turns_and_agent_mail_is_one_in_the_codex_preset() {
    let agent = raw(r#"{"type":"agent_message","author":"/root","recipient":"/root/w","content":[]}"#);
    check([user("1"), agent, assistant("a")], 1, &["U\"1\""]);
    let mail = WireItem::assistant_text(r#"{"author":"/root","recipient":"/w","content":"go","trigger_turn":true}"#);
    let plain = WireItem::assistant_text("message from /root to /w: go");
    for (item, preset, left) in [(&mail, Preset::Codex, 1), (&mail, Preset::Default, 0), (&plain, Preset::Codex, 0)] {
        let mut manager = manager_with(preset, [user("1"), item.clone().into()]);
        manager.drop_last_n_user_turns(1);
        assert_eq!(manager.history().item_count(), left, "{preset:?} {item:?}");
    }
}

/// Two turns with settings and a baseline for each; the second turn has a diff above it.
fn two_turns(preset: Preset) -> ContextManager {
    let mut manager = ContextManager::with_preset(preset);
    manager.record_items([permissions("d")], &in_turn("t1")).expect("a small item");
    manager.set_world_state_baseline(Some(baseline("1")));
    manager.set_reference_context_item(Some(settings("t1")));
    manager.record_items([user("1"), assistant("a")], &in_turn("t1")).expect("small items");
    manager.record_items([environment("e2")], &in_turn("t2")).expect("a small item");
    manager.set_world_state_baseline(Some(baseline("2")));
    manager.set_reference_context_item(Some(settings("t2")));
    manager.record_items([user("2"), assistant("b")], &in_turn("t2")).expect("small items");
    manager
}

fn baseline(word: &str) -> WorldStateSnapshot {
    crate::baselines::snapshot_of(word)
}

#[test]
fn baseline_and_settings_are_those_that_were_true_there() {
    let mut manager = two_turns(Preset::Default);
    let before = manager.snapshot();
    manager.drop_last_n_user_turns(1);
    assert_eq!(stored(&manager), ["D\"d\"", "U\"1\"", "A\"a\""]);
    assert_eq!(manager.world_state_baseline(), Some(&baseline("1")));
    assert_eq!(manager.reference_context_item(), Some(&settings("t1")));
    assert!(!manager.retained_kinds().contains(&Kind::ENVIRONMENT_CONTEXT), "the kind went with its item");
    assert_eq!(before.world_state_baseline(), Some(&baseline("2")));
    assert_eq!(before.reference_context_item(), Some(&settings("t2")));
}

#[test]
fn the_codex_preset_clears_the_baseline_and_keeps_the_settings() {
    let mut manager = two_turns(Preset::Codex);
    manager.drop_last_n_user_turns(1);
    assert_eq!(stored(&manager), ["D\"d\"", "U\"1\"", "A\"a\""]);
    assert_eq!(manager.world_state_baseline(), None);
    assert_eq!(manager.reference_context_item(), Some(&settings("t2")));
}

#[test]
fn settings_of_a_turn_without_a_diff_go_with_it() {
    let mut manager = ContextManager::new();
    manager.set_reference_context_item(Some(settings("t1")));
    manager.record_items([user("1"), assistant("a")], &in_turn("t1")).expect("small items");
    manager.set_reference_context_item(Some(settings("t2")));
    manager.record_items([user("2")], &in_turn("t2")).expect("a small item");
    manager.drop_last_n_user_turns(1);
    assert_eq!(manager.reference_context_item(), Some(&settings("t1")));
    manager.drop_last_n_user_turns(1);
    assert_eq!(manager.reference_context_item(), Some(&settings("t1")), "what stands before the first turn stays");
}

#[test]
fn a_mixed_bundle_clears_the_settings_in_the_codex_preset() {
    let bundle = message(
        Role::Developer,
        &[(Kind::PERMISSIONS, "p"), (Kind::new("generic.developer_instructions"), "persistent plugin instructions")],
    );
    let mut manager = manager_with(Preset::Codex, [user("1"), assistant("a"), bundle, environment("e"), user("2")]);
    manager.set_reference_context_item(Some(settings("t2")));
    manager.drop_last_n_user_turns(1);
    assert_eq!(stored(&manager), ["U\"1\"", "A\"a\""]);
    assert_eq!(manager.reference_context_item(), None);
}

#[test]
fn a_notice_of_the_turn_before_stays_in_the_default_preset() {
    let mut manager = ContextManager::new();
    let notice = message(Role::User, &[(Kind::new("turn_aborted.notice"), "aborted")]);
    manager.record_items([user("1"), notice], &in_turn("t1")).expect("small items");
    manager.record_items([user("2")], &in_turn("t2")).expect("a small item");
    manager.drop_last_n_user_turns(1);
    assert_eq!(stored(&manager), ["U\"1\"", "U\"aborted\""]);
}

#[test]
fn answers_to_a_later_input_go_with_it_wherever_they_stand() {
    let items = || {
        vec![
            Incoming::new(user("0")).accepted_as(0),
            Incoming::new(assistant("a")).accepted_as(2),
            Incoming::new(call("c")).accepted_as(2),
            Incoming::new(output("c", "o")),
            Incoming::new(user("1")).accepted_as(1),
        ]
    };
    check(items(), 1, &["U\"0\""]);
}

#[test]
fn a_second_rollback_finds_the_baseline_of_its_place() {
    let mut manager = two_turns(Preset::Default);
    // The third turn is accepted before the answer of the second one, so that the log has to be made anew.
    manager.record_items([Incoming::new(assistant("late")).accepted_as(9)], &in_turn("t2")).expect("a small item");
    manager.record_items([Incoming::new(user("3")).accepted_as(8)], &in_turn("t3")).expect("a small item");
    manager.drop_last_n_user_turns(1);
    assert_eq!(stored(&manager), ["D\"d\"", "U\"1\"", "A\"a\"", "U\"e2\"", "U\"2\"", "A\"b\""]);
    assert_eq!(manager.world_state_baseline(), Some(&baseline("2")));
    manager.drop_last_n_user_turns(1);
    assert_eq!(manager.world_state_baseline(), Some(&baseline("1")));
    assert_eq!(manager.reference_context_item(), Some(&settings("t1")));
}

#[test]
fn the_codex_preset_takes_model_switches_from_before_the_first_turn() {
    let four = [
        (Kind::MODEL_SWITCH, "switch"),
        (Kind::PERMISSIONS, "p"),
        (Kind::new("persistent_mode.instructions"), "mode"),
        (Kind::COLLABORATION_MODE, "c"),
    ];
    let items = [message(Role::Developer, &four), developer(Kind::MODEL_SWITCH, "only"), user("1"), assistant("a")];
    let mut codex = manager_with(Preset::Codex, items.clone());
    codex.drop_last_n_user_turns(1);
    assert_eq!(stored(&codex), ["D\"p|c\""]);
    let envelope = codex.history().items().next().expect("one item").clone();
    assert_eq!(envelope.kinds(), [Kind::PERMISSIONS, Kind::COLLABORATION_MODE]);
    assert!(envelope.moved_from().is_some());
    let mut default = manager_with(Preset::Default, items);
    default.drop_last_n_user_turns(1);
    assert_eq!(stored(&default), ["D\"switch|p|mode|c\"", "D\"only\""]);
}

#[test]
fn a_configuration_update_goes_with_its_turn() {
    let update = raw(r#"{"type":"configuration_update","reasoning":{"effort":"high"}}"#);
    let items =
        [Incoming::new(user("1")), Incoming::new(user("2")), Incoming::new(update).by(context_manager::Origin::Host)];
    check(items, 1, &["U\"1\""]);
}

#[test]
fn images_of_a_user_are_a_turn() {
    let picture = ContextItem::new(
        WireItem::message(Role::User, &[Part::InputImage { url: "u", detail: "high" }]),
        [Kind::USER_IMAGE],
    );
    check([user("1"), picture], 1, &["U\"1\""]);
}
