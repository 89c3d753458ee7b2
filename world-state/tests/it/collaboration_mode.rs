//! How the user and the agent work together.

use context_fragments::Kind;
use serde_json::json;
use world_state::*;

use crate::{history, said, stored, world_of};

fn plan() -> CollaborationModeState {
    CollaborationModeState::new("plan", "m1").with_instructions("Ask first.")
}

#[test]
fn instructions_that_vanish_are_cancelled_by_an_empty_block() {
    let held = history(&[Kind::COLLABORATION_MODE]);
    let mut world = world_of(plan());
    let told = world.render_full().unwrap().snapshot;
    world.set(CollaborationModeState::new("default", "m1")).unwrap();
    let diff = world.render_diff(Some(&told), &held).unwrap();
    assert_eq!(said(&diff), [("collaboration_mode", "<collaboration_mode></collaboration_mode>")]);
    assert_eq!(diff.snapshot, stored(json!({"collaboration_mode": {"mode": "default", "model": "m1"}})));
    // From there, another mode without instructions is stored in silence.
    world.set(CollaborationModeState::new("quiet", "m1")).unwrap();
    let quiet = world.render_diff(Some(&diff.snapshot), &held).unwrap();
    assert_eq!(said(&quiet), []);
    assert_eq!(
        quiet.snapshot.merge_patch_from(&diff.snapshot).unwrap().to_string(),
        r#"{"collaboration_mode":{"mode":"quiet"}}"#
    );
}

#[test]
fn a_lost_block_is_said_again() {
    let mut world = world_of(plan());
    let told = world.render_full().unwrap().snapshot;
    let diff = world.render_diff(Some(&told), &history(&[])).unwrap();
    assert_eq!(said(&diff), [("collaboration_mode", "<collaboration_mode>Ask first.</collaboration_mode>")]);
}

#[test]
fn the_state_has_a_hash_for_the_words() {
    let diff = world_of(plan()).render_full().unwrap();
    let instructions = WorldStateHash::of_fragment(
        context_fragments::FragmentRole::Developer,
        "<collaboration_mode>Ask first.</collaboration_mode>",
    );
    let want = json!({"collaboration_mode": {"mode": "plan", "model": "m1", "instructions": instructions}});
    assert_eq!(diff.snapshot, stored(want));
}

#[test]
fn other_words_replace_the_hash_that_was_made() {
    let state = plan();
    let first = world_of(state.clone()).render_full().unwrap();
    let second = world_of(state.with_instructions("Ask twice.")).render_full().unwrap();
    assert_ne!(first.snapshot, second.snapshot);
}
