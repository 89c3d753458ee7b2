//! Rolling back to a place.

use context_fragments::{ContextItem, Kind, Role};
use context_manager::{ContextManager, Cursor, Error, Position, Preset, Replacement, Rewrite, SUMMARY_KIND, TurnId};

use crate::{
    baselines::snapshot_of,
    setup::{
        assistant, environment, in_turn, manager_of, manager_with, message, projected, prompt, recording, stored, user,
    },
};

/// Three turns, the first one with a second input while it goes on.
fn steered(preset: Preset) -> (ContextManager, Vec<Cursor>) {
    let mut manager = ContextManager::with_preset(preset);
    let mut cursors = Vec::new();
    for (turn, inputs) in [("t1", &["U1", "U1b"][..]), ("t2", &["U2"]), ("t3", &["U3"])] {
        manager.record_items([environment(&format!("e {turn}"))], &in_turn(turn)).expect("a small item");
        for (number, input) in inputs.iter().enumerate() {
            let recorded = manager.record_items([user(input)], &in_turn(turn)).expect("a small item");
            if number == 0 {
                cursors.push(Cursor::at(recorded.positions[0]));
            }
            manager.record_items([assistant(&format!("to {input}"))], &in_turn(turn)).expect("a small item");
        }
    }
    (manager, cursors)
}

#[track_caller]
fn refused(manager: &mut ContextManager, cursor: Cursor) -> String {
    let before = (manager.history_version(), stored(manager));
    let error = manager.rollback_to(cursor).expect_err("no cursor leads there");
    assert_eq!((manager.history_version(), stored(manager)), before, "nothing was changed");
    assert_eq!(error.is_beyond_epoch(), matches!(error, Error::BeyondEpoch { .. }));
    error.to_string()
}

#[test]
fn t12_a_turn_is_one_unit_for_cursors_and_counts_and_both_views() {
    let (mut manager, cursors) = steered(Preset::Default);
    assert_eq!(manager.history().cursors().collect::<Vec<_>>(), cursors);
    assert_eq!(manager.history().turn_count(), 3);
    let mut counted = manager.clone();
    let done = manager.rollback_to(cursors[1]).expect("the turn is there");
    assert_eq!((done.turns, done.items, done.history_version), (2, 6, 1));
    assert_eq!(stored(&manager), ["U\"e t1\"", "U\"U1\"", "A\"to U1\"", "U\"U1b\"", "A\"to U1b\""]);
    assert_eq!(projected(&prompt(&manager)), stored(&manager));
    assert_eq!(counted.drop_last_n_user_turns(2), done);
    assert_eq!(stored(&counted), stored(&manager));
    // One turn more takes the steered turn as a whole.
    assert_eq!(counted.drop_last_n_user_turns(1).items, 4);
    assert_eq!(stored(&counted), ["U\"e t1\""]);
}

#[test]
fn the_codex_preset_takes_every_input_for_a_turn() {
    let (mut manager, cursors) = steered(Preset::Codex);
    assert_eq!(manager.history().turn_count(), 4);
    manager.rollback_to(cursors[1]).expect("the turn is there");
    manager.drop_last_n_user_turns(1);
    assert_eq!(stored(&manager), ["U\"e t1\"", "U\"U1\"", "A\"to U1\""]);
}

#[test]
fn a_rollback_that_is_asked_for_twice_happens_once() {
    let (mut manager, cursors) = steered(Preset::Default);
    assert_eq!(manager.rollback_to(cursors[2]).expect("the turn is there").turns, 1);
    let (version, items) = (manager.history_version(), stored(&manager));
    for cursor in [cursors[2], manager.history().end_cursor()] {
        let again = manager.rollback_to(cursor).expect("it was taken back");
        assert_eq!((again.turns, again.items, again.history_version), (0, 0, version));
    }
    manager.record_items([user("another")], &in_turn("t4")).expect("a small item");
    manager.rollback_to(cursors[2]).expect("it was taken back, and what came later stays");
    assert_eq!(stored(&manager).len(), items.len() + 1);
    assert_eq!(manager.history_version(), version);
}

#[test]
fn a_cursor_that_names_no_turn_is_refused() {
    let (mut manager, _) = steered(Preset::Default);
    assert_eq!(refused(&mut manager, Cursor::at(Position::new(2))), "no turn begins at position 2");
    assert_eq!(refused(&mut manager, Cursor::at(Position::new(3))), "no turn begins at position 3", "a second input");
    assert_eq!(refused(&mut manager, Cursor::at(Position::new(99))), "no turn begins at position 99");
    assert_eq!(refused(&mut ContextManager::new(), Cursor::at(Position::new(1))), "no turn begins at position 1");
}

#[test]
fn the_end_is_where_the_next_turn_begins() {
    let mut manager = manager_of([user("1"), assistant("a")]);
    let end = manager.history().end_cursor();
    manager.record_items([environment("e")], &in_turn("t2")).expect("a small item");
    manager.record_items([user("2")], &in_turn("t2")).expect("a small item");
    assert_eq!(manager.rollback_to(end).expect("the turn began there").items, 2);
    assert_eq!(stored(&manager), ["U\"1\"", "A\"a\""]);
}

#[test]
fn a_turn_is_found_by_its_id() {
    let (manager, cursors) = steered(Preset::Default);
    assert_eq!(manager.history().cursor_of(&TurnId::new("t2")), Some(cursors[1]));
    assert_eq!(manager.history().cursor_of(&TurnId::new("t9")), None);
}

#[test]
fn t14_a_rollback_over_a_compaction_is_refused_by_name() {
    for rewrite in [Rewrite::Compaction, Rewrite::Replace, Rewrite::Import] {
        let (mut manager, cursors) = steered(Preset::Default);
        let summary = message(Role::User, &[(SUMMARY_KIND, "s")]);
        let window = [Replacement::Keep(cursors[2].position()), summary.into()];
        manager.rewrite(rewrite, window, &recording()).expect("small items");
        let later = manager.record_items([user("U4")], &in_turn("t4")).expect("a small item").positions[0];
        let epoch = cursors[2].position().number() + 2;
        for cursor in &cursors {
            let words = format!("position {} is beyond the epoch that begins at position {epoch}", cursor.position());
            assert_eq!(refused(&mut manager, *cursor), words, "{rewrite}");
        }
        // The input that was kept stands before the summary: what answered it is gone.
        let kept = manager.history().items().next().expect("it was kept").position();
        let words = format!("position {kept} is beyond the epoch that begins at position {later}");
        assert_eq!(refused(&mut manager, Cursor::at(kept)), words, "{rewrite}");
        assert_eq!(manager.history().cursors().collect::<Vec<_>>(), [Cursor::at(later)]);
        assert_eq!(manager.rollback_to(Cursor::at(later)).expect("a turn of this epoch").turns, 1);
        assert_eq!(stored(&manager), ["U\"U3\"", "U\"s\""], "{rewrite}");
        // A count has no epoch.
        assert_eq!(manager.drop_last_n_user_turns(9).turns, 1);
    }
}

#[test]
fn cursors_live_on_over_rewrites_that_keep_the_epoch() {
    let (mut manager, cursors) = steered(Preset::Default);
    for _ in 0..2 {
        let all: Vec<Replacement> =
            manager.history().items().map(|envelope| Replacement::Keep(envelope.position())).collect();
        manager.rewrite(Rewrite::Elide, all, &recording()).expect("all is there");
    }
    assert_ne!(manager.history().cursors().collect::<Vec<_>>(), cursors, "they moved");
    assert_eq!(manager.rollback_to(cursors[1]).expect("the cursor is led on").turns, 2);
    assert_eq!(manager.rollback_to(cursors[1]).expect("it was taken back").turns, 0);
    assert_eq!(manager.rollback_to(cursors[0]).expect("the cursor is led on").turns, 1);
    assert_eq!(stored(&manager), ["U\"e t1\""]);
}

#[test]
fn a_history_that_is_put_back_knows_the_same_cursors() {
    let (mut manager, cursors) = steered(Preset::Default);
    let summary = message(Role::User, &[(SUMMARY_KIND, "s")]);
    manager.replace_compacted([Replacement::Keep(cursors[2].position()), summary.into()], &recording()).expect("small");
    manager.record_items([user("U4")], &in_turn("t4")).expect("a small item");
    let mut again = ContextManager::new();
    for entry in manager.history().entries() {
        match entry {
            context_manager::Entry::Item(envelope) => {
                let mut restored = context_manager::Restored::new(envelope.context_item().clone(), envelope.position());
                restored.turn = envelope.turn().cloned();
                restored.moved_from = envelope.moved_from();
                again.restore(restored).expect("it stands behind the one before");
            }
            context_manager::Entry::Fact(fact) => again
                .restore_fact(fact.fact().clone(), fact.position(), fact.turn().cloned())
                .expect("it stands behind the one before"),
        }
    }
    assert!(again.history().cursors().eq(manager.history().cursors()));
    assert!(again.rollback_to(cursors[0]).expect_err("the compaction took it").is_beyond_epoch());
}

#[test]
fn a_baseline_that_no_item_tells_goes_with_its_turn() {
    for with_turn in [true, false] {
        let mut manager = ContextManager::new();
        let told = |manager: &mut ContextManager, items: &[ContextItem], word: &str, turn: &str| {
            if with_turn {
                manager.record_update(items.iter().cloned(), snapshot_of(word), &in_turn(turn)).expect("small items");
            } else {
                manager.record_items(items.iter().cloned(), &in_turn(turn)).expect("small items");
                manager.set_world_state_baseline(Some(snapshot_of(word)));
            }
        };
        told(&mut manager, &[environment("e1")], "1", "t1");
        manager.record_items([user("1"), assistant("a")], &in_turn("t1")).expect("small items");
        let aborted = message(Role::User, &[(Kind::new("turn_aborted.notice"), "aborted")]);
        told(&mut manager, &[aborted], "1 aborted", "t1");
        told(&mut manager, &[], "2", "t2");
        manager.record_items([user("2"), assistant("b")], &in_turn("t2")).expect("small items");
        told(&mut manager, &[], "3", "t3");
        manager.record_items([user("3")], &in_turn("t3")).expect("a small item");
        manager.drop_last_n_user_turns(1);
        assert_eq!(manager.world_state_baseline(), Some(&snapshot_of("2")));
        manager.drop_last_n_user_turns(1);
        if with_turn {
            assert_eq!(manager.world_state_baseline(), Some(&snapshot_of("1 aborted")));
        }
        assert_eq!(stored(&manager), ["U\"e1\"", "U\"1\"", "A\"a\"", "U\"aborted\""]);
    }
}

#[test]
fn a_rollback_to_a_cursor_follows_the_preset() {
    let mut manager = manager_with(Preset::Codex, [user("1"), user("2")]);
    manager.set_world_state_baseline(Some(snapshot_of("1")));
    let cursor = manager.history().cursors().next_back().expect("two turns");
    manager.rollback_to(cursor).expect("the turn is there");
    assert_eq!(manager.world_state_baseline(), None, "the codex preset clears it");
}
