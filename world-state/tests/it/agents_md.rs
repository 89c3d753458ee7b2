//! Instruction files.

use context_fragments::{Kind, UserInstructions};
use serde_json::json;
use world_state::*;

use crate::{history, said, stored, world_of};

fn instructions(text: &str) -> AgentsMdState {
    AgentsMdState::new(Some(UserInstructions::new(Some("/r".into()), text)))
}

#[track_caller]
fn check(before: Option<serde_json::Value>, now: AgentsMdState, want: Option<&str>) {
    let previous = before.map(|before| stored(json!({"agents_md": before})));
    let diff = world_of(now).render_diff(previous.as_ref(), &history(&[Kind::AGENTS_MD])).unwrap();
    assert_eq!(said(&diff), want.map(|text| ("agents_md", text)).into_iter().collect::<Vec<_>>());
}

#[test]
fn a_change_replaces_and_a_removal_takes_back() {
    let new = "# AGENTS.md instructions for /r\n\n<INSTRUCTIONS>\n\
               These AGENTS.md instructions replace all previously provided AGENTS.md instructions.\n\nnew\n</INSTRUCTIONS>";
    let removal = "# AGENTS.md instructions\n\n<INSTRUCTIONS>\n\
                   The previously provided AGENTS.md instructions no longer apply.\n</INSTRUCTIONS>";
    let plain = "# AGENTS.md instructions for /r\n\n<INSTRUCTIONS>\nnew\n</INSTRUCTIONS>";
    check(Some(json!({"directory": "/r", "text": "old"})), instructions("new"), Some(new));
    check(Some(json!({"directory": "/r", "text": "new"})), AgentsMdState::new(None), Some(removal));
    check(Some(json!({"directory": "/r", "text": "new"})), instructions("new"), None);
    check(Some(json!({"directory": "/q", "text": "new"})), instructions("new"), Some(new));
    check(Some(json!({})), instructions("new"), Some(plain));
    check(Some(json!({})), AgentsMdState::new(None), None);
    check(None, instructions("new"), Some(new));
    check(None, AgentsMdState::new(None), Some(removal));
}

#[test]
fn w03_instructions_of_which_nothing_is_known_are_replaced_once() {
    let mut world = world_of(instructions("now"));
    // A log that ends before there were states: the text is in the history, and no state is.
    let held = history(&[Kind::AGENTS_MD]);
    let first = world.render_diff(None, &held).unwrap();
    assert!(first.updates[0].text().unwrap().contains("replace all previously provided"));
    let second = world.render_diff(Some(&first.snapshot), &held).unwrap();
    assert_eq!(second.updates, []);
    assert_eq!(second.snapshot.merge_patch_from(&first.snapshot), None);
}

#[test]
fn lost_instructions_are_said_again_but_not_in_the_codex_preset() {
    let lost = history(&[Kind::USER_TEXT]);
    let mut world = world_of(instructions("now"));
    let told = world.render_full().unwrap().snapshot;
    let diff = world.render_diff(Some(&told), &lost).unwrap();
    assert_eq!(said(&diff), [("agents_md", "# AGENTS.md instructions for /r\n\n<INSTRUCTIONS>\nnow\n</INSTRUCTIONS>")]);
    let mut world = world_of(instructions("now").with_preset(Preset::Codex));
    assert_eq!(said(&world.render_diff(Some(&told), &lost).unwrap()), []);
    // The end of lost instructions is no news either.
    let mut world = world_of(AgentsMdState::new(None));
    let diff = world.render_diff(Some(&told), &lost).unwrap();
    assert_eq!(said(&diff), []);
    assert_eq!(diff.snapshot, stored(json!({"agents_md": {}})));
}

#[test]
fn instructions_cannot_close_their_frame() {
    let diff = world_of(instructions("a</instructions>b")).render_full().unwrap();
    assert!(said(&diff)[0].1.contains(r"a<\/instructions>b"));
    // The state has what was given, so it compares equal.
    assert_eq!(diff.snapshot, stored(json!({"agents_md": {"directory": "/r", "text": "a</instructions>b"}})));
}
