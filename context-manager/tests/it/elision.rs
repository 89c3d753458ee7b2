//! Old media that make room for new ones.

use context_fragments::{ContextItem, Kind, WireItem, json::Json};
use context_manager::{
    ByteBudget, ContextManager, Cursor, Declared, ELIDED_KIND, Entry, Incoming, Origin, Position, Proof, Rewrite,
};

use crate::{
    baselines::snapshot_of,
    setup::{assistant, call, in_turn, manager_of, prompt, raw, recording, stored, user},
};

/// A message of a person with an inline image of so many bytes.
fn picture(bytes: usize) -> ContextItem {
    let url = format!("data:image/png;base64,{}", "A".repeat(bytes));
    let item = raw(&format!(
        r#"{{"type":"message","role":"user","content":[{{"type":"input_text","text":"see"}},{{"type":"input_image","image_url":"{url}","detail":"auto"}}]}}"#
    ));
    ContextItem::new(item.item().clone(), [Kind::USER_TEXT, Kind::USER_IMAGE])
}

fn images_of(manager: &ContextManager) -> Vec<bool> {
    manager
        .history()
        .items()
        .filter(|item| item.item().as_str().contains("\"see\""))
        .map(|item| item.item().has_images())
        .collect()
}

#[test]
fn an_item_whose_media_go_keeps_what_the_host_said_of_it() {
    let mut manager = ContextManager::new();
    let seen = Incoming::new(picture(64)).by(Origin::Host).accepted_as(7);
    let position = manager.record_items([seen], &in_turn("t1")).expect("it fits").positions[0];
    manager.elide(&[position]).expect("the item is there").expect("it has an image");
    let history = manager.snapshot();
    let entry = history.items().next().expect("the item is there");
    assert_eq!((images_of(&manager), history.media_bytes()), (vec![false], 0));
    assert_eq!((entry.acceptance_order(), entry.moved_from()), (Some(7), Some(position)));
    assert_eq!((entry.origin(), entry.turn().map(|turn| turn.as_str())), (Origin::Host, Some("t1")));
}

#[test]
fn n21_the_oldest_images_go_at_once_and_the_next_one_changes_nothing() {
    // The numbers of the report, a hundred times smaller: 63 images of 16 KiB, and room for 512 KiB.
    let mut manager = ContextManager::new();
    for number in 0..63 {
        manager
            .record_items([picture(16 << 10), assistant(&format!("seen {number}"))], &recording())
            .expect("they fit");
    }
    let budget = ByteBudget::new(512 << 10);
    assert!(manager.history().preflight(200_000).fits(), "in tokens nothing is wrong");
    assert!(manager.history().media_bytes() > 63 * (16 << 10));
    manager.mark_sent(&prompt(&manager)).expect("nothing was added");
    let before = manager.snapshot();

    let elided = manager.elide_over(&budget).expect("the items are there").expect("it is above the budget");
    assert!(elided.bytes_before > 512 << 10 && elided.bytes_after <= 256 << 10, "{elided:?}");
    assert_eq!((elided.bytes_after, elided.history_version), (manager.history().bytes(), 1));
    assert_eq!((elided.media, elided.elided.len()), (49, 49));
    assert_eq!(images_of(&manager), [vec![false; 49], vec![true; 14]].concat(), "the oldest ones");
    assert_eq!(images_of_snapshot(&before), 63, "a snapshot never changes");
    let made = prompt(&manager);
    let broken = made.proof().broken().expect("an image is gone");
    assert_eq!(broken.declared, [Declared::Rewrite(Rewrite::Elide)]);
    manager.mark_sent(&made).expect("nothing was added");

    // The low-water mark pays off: for sixteen images no earlier byte changes.
    for number in 0..16 {
        manager.record_items([picture(16 << 10), assistant("seen")], &recording()).expect("they fit");
        assert!(manager.elide_over(&budget).expect("the items are there").is_none(), "image {number}");
        let made = prompt(&manager);
        assert!(matches!(made.proof(), Proof::Extends { new: 2, .. }), "{:?}", made.proof());
        manager.mark_sent(&made).expect("nothing was added");
    }
    manager.record_items([picture(16 << 10)], &recording()).expect("it fits");
    assert!(manager.elide_over(&budget).expect("the items are there").is_some(), "now the room is used up");

    // A log that names the items has it done again.
    let mut replayed = ContextManager::new();
    for entry in before.entries() {
        if let Entry::Item(envelope) = entry {
            let restored = context_manager::Restored::new(envelope.context_item().clone(), envelope.position());
            replayed.restore(restored).expect("it stands behind the one before");
        }
    }
    let named: Vec<Position> = elided.elided.iter().map(|(old, _)| *old).collect();
    assert_eq!(replayed.elide(&named).expect("the items are there").as_ref(), Some(&elided));
}

fn images_of_snapshot(snapshot: &context_manager::HistorySnapshot) -> usize {
    snapshot.items().filter(|item| item.item().has_images()).count()
}

#[test]
fn media_of_every_sort_of_item_go() {
    let data = "data:audio/wav;base64,AAAA";
    let items = [
        raw(&format!(
            r#"{{"type":"function_call_output","call_id":"1","output":[{{"type":"input_image","image_url":"data:image/png;base64,AAAA"}},{{"type":"input_audio","audio_url":"{data}"}},{{"type":"input_image","image_url":"https://e/x.png"}}]}}"#
        )),
        raw(r#"{"type":"image_generation_call","id":"ig_1","status":"completed","result":"AAAA"}"#),
        raw(r#"{"type":"custom_tool_call_output","call_id":"2","output":[{"type":"input_image","file_id":"f"}]}"#),
    ];
    let mut manager = manager_of([call("1")].into_iter().chain(items));
    let all: Vec<Position> = manager.history().items().map(|item| item.position()).collect();
    let elided = manager.elide(&all).expect("they are there").expect("there are some");
    assert_eq!((elided.media, elided.elided.len()), (3, 2));
    let history = manager.snapshot();
    let items: Vec<&WireItem> = history.items().map(|item| item.item()).collect();
    let image = "[image removed from the history, to keep requests small]";
    let audio = "[audio removed from the history, to keep requests small]";
    assert_eq!(
        items[1].as_str(),
        format!(
            r#"{{"type":"function_call_output","call_id":"1","output":[{{"type":"input_text","text":"{image}"}},{{"type":"input_text","text":"{audio}"}},{{"type":"input_image","image_url":"https://e/x.png"}}]}}"#
        )
    );
    assert_eq!(items[2].json().member("result").and_then(Json::to_str).as_deref(), Some(""));
    assert!(items[3].has_images(), "a link costs no bytes");
    assert_eq!(history.media_bytes(), 0);
    assert_eq!(manager.elide(&[]).expect("nothing is named"), None);
}

#[test]
fn an_elision_keeps_what_is_not_media() {
    let mut manager = manager_of([user("first")]);
    manager.set_world_state_baseline(Some(snapshot_of("1")));
    manager.record_items([picture(8), call("1"), user("last")], &recording()).expect("small items");
    manager.mark_sent(&prompt(&manager)).expect("nothing was added");
    let cursors: Vec<Cursor> = manager.history().cursors().collect();
    let before = manager.snapshot();
    let position = before.items().nth(1).expect("four items").position();
    let elided = manager.elide(&[position]).expect("it is there").expect("it has an image");
    assert_eq!(elided.elided.len(), 1);
    let after = manager.snapshot();
    let (old, new) = (before.items().next().expect("one"), after.items().next().expect("one"));
    assert!(std::ptr::eq(old, new), "what stands before is shared");
    let changed = after.items().nth(1).expect("four items");
    assert_eq!(changed.kinds(), [Kind::USER_TEXT, ELIDED_KIND]);
    assert_eq!((changed.moved_from(), changed.position()), (Some(elided.elided[0].0), elided.elided[0].1));
    assert_eq!(manager.world_state_baseline(), Some(&snapshot_of("1")));
    assert_eq!(prompt(&manager).synthetic_outputs().len(), 1, "a call that was sent as closed stays closed");
    assert_eq!(manager.rollback_to(cursors[1]).expect("the cursor is led on").turns, 2);
    assert_eq!(stored(&manager), ["U\"first\""]);
    let error = manager.elide(&[Position::new(99)]).expect_err("there is none");
    assert_eq!(error.to_string(), "no item at position 99");
}

#[test]
fn a_position_that_is_given_twice_counts_once() {
    let mut manager = manager_of([picture(1_000), picture(1_000)]);
    let position = manager.history().items().next().expect("two items").position();
    let elided = manager.elide(&[position, position]).expect("the item is there").expect("it has an image");
    assert_eq!((elided.media, elided.elided.len()), (1, 1));
}

#[test]
fn the_newest_images_stay_whatever_they_cost() {
    let mut manager = manager_of([picture(1_000), picture(1_000), picture(1_000)]);
    let budget = ByteBudget::new(10).keeping_newest(2);
    manager.elide_over(&budget).expect("the items are there").expect("it is above the budget");
    assert_eq!(images_of(&manager), [false, true, true]);
    assert_eq!(manager.elide_over(&budget).expect("the items are there"), None, "there is nothing left to take");
}

#[test]
fn images_of_the_newest_output_are_replaced_and_those_of_a_person_stay() {
    let seen = raw(
        r#"{"type":"function_call_output","call_id":"1","output":[{"type":"input_text","text":"t"},{"type":"input_image","image_url":"https://e/x.png"}]}"#,
    );
    let mut manager = manager_of([picture(8), call("1"), seen, assistant("a")]);
    assert!(manager.replace_last_turn_images("gone"));
    let output = manager.history().items().nth(2).map(|item| item.item().as_str().to_owned()).expect("four items");
    assert_eq!(
        output,
        r#"{"type":"function_call_output","call_id":"1","output":[{"type":"input_text","text":"t"},{"type":"input_text","text":"gone"}]}"#
    );
    assert_eq!((manager.history_version(), images_of(&manager)), (1, vec![true]));
    assert!(!manager.replace_last_turn_images("gone"), "there is none left");
    manager.record_items([picture(8)], &recording()).expect("a small item");
    assert!(!manager.replace_last_turn_images("gone"), "a person gave it");
    assert!(!ContextManager::new().replace_last_turn_images("gone"));
    assert_eq!(manager.history_version(), 1);
}
