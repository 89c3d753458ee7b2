//! What becomes of the settings and of the baseline, event by event.

use context_fragments::{Kind, Role, TurnContextItem};
use context_manager::{ContextManager, Preset, Replacement, Rewrite};

use crate::{
    baselines::snapshot_of,
    setup::{assistant, developer, environment, in_turn, message, recording, user},
};

fn settings(turn: &str) -> TurnContextItem {
    TurnContextItem::parse(format!(r#"{{"turn_id":"{turn}","cwd":"/r","model":"m1"}}"#).as_bytes()).expect("an object")
}

/// Two turns; each says a baseline and settings of its own.
fn history(preset: Preset) -> ContextManager {
    let mut manager = ContextManager::with_preset(preset);
    for turn in ["t1", "t2"] {
        manager.record_update([environment(turn)], snapshot_of(turn), &in_turn(turn)).expect("a small item");
        manager.set_reference_context_item(Some(settings(turn)));
        manager.record_items([user(turn), assistant("a")], &in_turn(turn)).expect("small items");
    }
    manager
}

/// Whose settings and whose baseline hold after `event`.
#[track_caller]
fn check(name: &str, event: fn(&mut ContextManager), default: [&str; 2], codex: [&str; 2]) {
    for (preset, want) in [(Preset::Default, default), (Preset::Codex, codex)] {
        let mut manager = history(preset);
        event(&mut manager);
        let of = |word: &&&str| manager.reference_context_item() == Some(&settings(word));
        let told = |word: &&&str| manager.world_state_baseline() == Some(&snapshot_of(word));
        let words = ["t1", "t2", "t3", "told"];
        let none = manager.reference_context_item().map_or("none", |_| "another");
        let reference = words.iter().find(of).copied().unwrap_or(none);
        let none = manager.world_state_baseline().map_or("none", |_| "another");
        let baseline = words.iter().find(told).copied().unwrap_or(none);
        assert_eq!([reference, baseline], want, "{name}, {preset:?}: settings, then baseline");
    }
}

/// One event, and what holds after it in the default and in the codex preset.
type Row = (&'static str, fn(&mut ContextManager), [&'static str; 2], [&'static str; 2]);

fn roll_back(manager: &mut ContextManager, turns: usize) {
    manager.drop_last_n_user_turns(turns);
}

fn keep_all(manager: &ContextManager) -> Vec<Replacement> {
    manager.history().items().map(|item| Replacement::Keep(item.position())).collect()
}

#[test]
fn the_table_of_what_clears_what() {
    let kept = ["t2", "t2"];
    let rows: [Row; 11] = [
        ("append", |manager| drop(manager.record_items([user("x")], &recording()).expect("small")), kept, kept),
        (
            "a turn context is recorded",
            |manager| manager.set_reference_context_item(Some(settings("t3"))),
            ["t3", "t2"],
            ["t3", "t2"],
        ),
        (
            "a step says what changed",
            |manager| {
                drop(manager.record_update([environment("e")], snapshot_of("told"), &recording()).expect("small"));
            },
            ["t2", "told"],
            ["t2", "told"],
        ),
        // A difference: what was true there holds, where the reference forgets the baseline and keeps the settings.
        ("rollback", |manager| roll_back(manager, 1), ["t1", "t1"], ["t2", "none"]),
        ("rollback of nothing", |manager| roll_back(manager, 0), kept, kept),
        (
            "rollback of a mixed bundle",
            |manager| {
                let bundle = [(Kind::PERMISSIONS, "p"), (Kind::new("generic.developer_instructions"), "words")];
                manager.record_items([message(Role::Developer, &bundle)], &in_turn("t3")).expect("a small item");
                manager.set_reference_context_item(Some(settings("t3")));
                manager.record_items([user("t3")], &in_turn("t3")).expect("a small item");
                roll_back(manager, 1);
            },
            kept,
            ["none", "none"],
        ),
        (
            "rollback to a cursor",
            |manager| {
                let cursor = manager.history().cursors().next_back().expect("two turns");
                manager.rollback_to(cursor).expect("the turn is there");
            },
            ["t1", "t1"],
            ["t2", "none"],
        ),
        (
            "replace",
            |manager| drop(manager.replace(keep_all(manager), &recording()).expect("all is kept")),
            ["t2", "none"],
            ["t2", "none"],
        ),
        (
            "compaction, whose settings the caller sets",
            |manager| {
                manager.replace_compacted([user("s").into()], &recording()).expect("it is smaller");
                manager.set_reference_context_item(None);
            },
            ["none", "none"],
            ["none", "none"],
        ),
        // A difference: a retry reads a view, so that nothing of the store changes.
        ("a compaction is tried again", |manager| drop(manager.compaction_view().skip_oldest()), kept, kept),
        (
            "a history is imported",
            |manager| drop(manager.rewrite(Rewrite::Import, keep_all(manager), &recording()).expect("all is kept")),
            ["t2", "none"],
            ["t2", "none"],
        ),
    ];
    for (name, event, default, codex) in rows {
        check(name, event, default, codex);
    }
}

#[test]
fn what_is_kept_of_a_compaction_is_still_known_by_its_kind() {
    let mut manager = history(Preset::Default);
    manager.record_items([developer(Kind::PERMISSIONS, "p")], &recording()).expect("a small item");
    manager.replace(keep_all(&manager), &recording()).expect("all is kept");
    // No baseline and a kind that is there: the section is unknown, and its next update says all of it.
    assert!(manager.world_state_baseline().is_none());
    assert!(manager.retained_kinds().contains(&Kind::PERMISSIONS));
    manager.replace([], &recording()).expect("nothing is kept");
    assert!(!manager.retained_kinds().contains(&Kind::PERMISSIONS), "absent: it is said as if for the first time");
}
