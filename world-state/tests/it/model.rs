//! Which model answers.

use world_state::*;

use crate::{history, said, world_of};

const SWITCH: &str = "<model_switch>\nThe user was previously using a different model. Please continue the conversation \
                      according to the following instructions:\n\nThink first.\n</model_switch>";

#[test]
fn a_switch_is_said_once_and_alone() {
    let mut world = world_of(ModelInstructionsState::new("m1", "Be brief."));
    let told = world.render_full().unwrap();
    assert_eq!(told.updates, []);
    world.set(ModelInstructionsState::new("m2", "Think first.")).unwrap();
    let diff = world.render_diff(Some(&told.snapshot), &history(&[])).unwrap();
    assert_eq!(said(&diff), [("model", SWITCH)]);
    assert_eq!(diff.updates[0].placement(), Placement::Standalone);
    assert_eq!(world.render_diff(Some(&diff.snapshot), &history(&[])).unwrap().updates, []);
    // Back and forth is two switches.
    world.set(ModelInstructionsState::new("m1", "Be brief.")).unwrap();
    assert_eq!(world.render_diff(Some(&diff.snapshot), &history(&[])).unwrap().updates.len(), 1);
}

#[test]
fn a_switch_around_a_compaction_is_said() {
    let mut world = world_of(ModelInstructionsState::new("m2", "Think first.").with_previous_model("m1"));
    assert_eq!(said(&world.render_full().unwrap()), [("model", SWITCH)]);
    // What is stored wins over the settings of the last turn.
    let told = world.render_full().unwrap().snapshot;
    assert_eq!(world.render_diff(Some(&told), &history(&[])).unwrap().updates, []);
}

#[test]
fn other_instructions_of_the_same_model_are_not_said() {
    let mut world = world_of(ModelInstructionsState::new("m1", "Be brief."));
    let told = world.render_full().unwrap().snapshot;
    world.set(ModelInstructionsState::new("m1", "Think first.")).unwrap();
    let diff = world.render_diff(Some(&told), &history(&[])).unwrap();
    assert_eq!(diff.updates, []);
    assert!(diff.snapshot.is_same(&told));
}
