//! A long text of which few lines changed is said as those lines.

use context_fragments::{Kind, RetainedKinds, UserInstructions};
use proptest::prelude::*;
use world_state::*;

use crate::{history, resumed, world_of};

fn state(text: &str) -> AgentsMdState {
    AgentsMdState::new(Some(UserInstructions::new(Some("/r".into()), text)))
}

/// What is said of `now` after `before`, and its kind.
fn said(before: &AgentsMdState, now: &AgentsMdState, held: &RetainedKinds) -> (Kind, String) {
    let told = world_of(before.clone()).render_full().unwrap().snapshot;
    let diff = world_of(now.clone()).render_diff(Some(&resumed(&told)), held).unwrap();
    let [update] = diff.updates.as_slice() else { panic!("{:?}", diff.updates) };
    let UpdateContent::Fragment(fragment) = update.content() else { panic!("an item") };
    // It is not said twice.
    let mut kinds = held.clone();
    kinds.insert(fragment.kind());
    assert_eq!(world_of(now.clone()).render_diff(Some(&diff.snapshot), &kinds).unwrap().updates, []);
    (fragment.kind().clone(), fragment.text().to_owned())
}

/// Reads the changes as their notice says, and applies them.
fn applied(before: &str, message: &str) -> String {
    let changes = message.split_once("<CHANGES>\n").unwrap().1.strip_suffix("\n</CHANGES>").unwrap();
    let (_, changes) = changes.split_once("\n\n").unwrap();
    let before: Vec<&str> = before.split('\n').collect();
    let mut out: Vec<&str> = Vec::new();
    let mut n_read = 0;
    for line in changes.split('\n') {
        if let Some(place) = line.strip_prefix("@@ -") {
            let (from, count) = place.split_once(' ').unwrap().0.split_once(',').unwrap();
            let (from, count): (usize, usize) = (from.parse().unwrap(), count.parse().unwrap());
            let start = if count == 0 { from } else { from - 1 };
            out.extend(&before[n_read..start]);
            n_read = start;
            let to: usize = place.split_once('+').unwrap().1.split_once(',').unwrap().0.parse().unwrap();
            assert!(to == out.len() || to == out.len() + 1, "{line}");
        } else if let Some(gone) = line.strip_prefix('-') {
            assert_eq!(before[n_read], gone);
            n_read += 1;
        } else {
            out.push(line.strip_prefix('+').unwrap());
        }
    }
    out.extend(&before[n_read..]);
    out.join("\n")
}

fn long_text() -> String {
    (0..100).map(|line| format!("- Rule {line}: say why.\n")).collect()
}

#[test]
fn one_changed_line_is_one_line() {
    let (before, now) = (long_text(), long_text().replace("Rule 50: say why.", "Rule 50: say how.\n- And when."));
    let held = history(&[Kind::AGENTS_MD]);
    let (kind, text) = said(&state(&before), &state(&now), &held);
    assert_eq!(kind, Kind::AGENTS_MD_CHANGES);
    insta::assert_snapshot!(text);
    assert_eq!(applied(&before, &text), now);
}

#[test]
fn the_whole_text_is_said_where_lines_would_not_do() {
    let before = long_text();
    let now = before.replace("Rule 50", "Rule fifty");
    let held = history(&[Kind::AGENTS_MD]);
    let whole = |before: &AgentsMdState, now: &AgentsMdState, held: &RetainedKinds| {
        let (kind, text) = said(before, now, held);
        assert_eq!(kind, Kind::AGENTS_MD);
        text
    };
    let replaces = "These AGENTS.md instructions replace";
    // In the codex preset; in another folder; where most of it changed; where it is short; where it would be cut.
    let codex = |text: &str| state(text).with_preset(Preset::Codex);
    assert!(whole(&codex(&before), &codex(&now), &held).contains(replaces));
    let elsewhere = AgentsMdState::new(Some(UserInstructions::new(Some("/s".into()), now.as_str())));
    assert!(whole(&state(&before), &elsewhere, &held).contains(replaces));
    assert!(whole(&state(&before), &state(&before.replace("say why", "say nothing")), &held).contains(replaces));
    assert!(whole(&state("a\nb"), &state("a\nc"), &held).contains(replaces));
    let huge = "x\n".repeat(20_000);
    assert!(whole(&state(&huge), &state(&format!("{huge}y")), &held).contains(replaces));
    // After a rewrite: the whole text is gone, and the lines that are left say nothing by themselves.
    for held in [history(&[]), history(&[Kind::AGENTS_MD_CHANGES])] {
        assert!(
            whole(&state(&before), &state(&now), &held).ends_with(&format!("<INSTRUCTIONS>\n{now}\n</INSTRUCTIONS>"))
        );
        let told = world_of(state(&now)).render_full().unwrap().snapshot;
        let again = world_of(state(&now)).render_diff(Some(&told), &held).unwrap();
        assert_eq!(again.updates.len(), 1, "also where it did not change");
    }
}

/// After a rewrite that kept the whole text and dropped the lines that changed it, and left the baseline where it was.
#[test]
fn a_text_whose_changes_are_lost_is_said_again() {
    let (before, now) = (long_text(), long_text().replace("Rule 50", "Rule fifty"));
    let mut world = world_of(state(&before));
    let told = world.render_full().unwrap().snapshot;
    world.set(state(&now)).unwrap();
    let changed = world.render_diff(Some(&told), &history(&[Kind::AGENTS_MD])).unwrap();
    assert!(
        matches!(changed.updates[0].content(), UpdateContent::Fragment(part) if *part.kind() == Kind::AGENTS_MD_CHANGES)
    );
    let both = history(&[Kind::AGENTS_MD, Kind::AGENTS_MD_CHANGES]);
    for told in [changed.snapshot.clone(), resumed(&changed.snapshot)] {
        assert_eq!(world.render_diff(Some(&told), &both).unwrap().updates, []);
        for held in [history(&[Kind::AGENTS_MD]), history(&[Kind::AGENTS_MD_CHANGES]), history(&[])] {
            let again = world.render_diff(Some(&told), &held).unwrap();
            let texts: Vec<&str> = again.updates.iter().filter_map(Update::text).collect();
            assert_eq!(texts, [format!("# AGENTS.md instructions for /r\n\n<INSTRUCTIONS>\n{now}\n</INSTRUCTIONS>")]);
            // From then on it counts as told whole.
            let after = world.render_diff(Some(&again.snapshot), &history(&[Kind::AGENTS_MD])).unwrap();
            assert_eq!(after.updates, []);
        }
    }
}

#[test]
fn changes_are_never_applied_to_changes() {
    let texts =
        [long_text(), long_text().replace("Rule 50", "Rule fifty"), long_text().replace("Rule 60", "Rule sixty")];
    let mut world = world_of(state(&texts[0]));
    let mut told = world.render_full().unwrap().snapshot;
    let both = history(&[Kind::AGENTS_MD, Kind::AGENTS_MD_CHANGES]);
    let mut kinds = Vec::new();
    for text in [&texts[1], &texts[2], &texts[0]] {
        world.set(state(text)).unwrap();
        let diff = world.render_diff(Some(&told), &both).unwrap();
        let [UpdateContent::Fragment(part)] = [diff.updates[0].content()] else { panic!("an item") };
        kinds.push(part.kind().clone());
        told = diff.snapshot;
    }
    assert_eq!(kinds, [Kind::AGENTS_MD_CHANGES, Kind::AGENTS_MD, Kind::AGENTS_MD_CHANGES]);
}

proptest! {
    #[test]
    fn a_delta_gives_the_current_text_and_is_at_most_half_as_long(
        lines in prop::collection::vec("[ab\r-]{0,3}|@@ -1,1 [+]1,1 @@|[-+]x|</CHANGES>|</INSTRUCTIONS>", 0..60),
        edits in prop::collection::vec((0..400_usize, 0..3_usize, prop::collection::vec("[ab+-]{0,2}", 0..3)), 1..8),
    ) {
        let padding = (0..300).map(|line| format!("- Rule {}: say why.", line % 40));
        let mut now: Vec<String> = padding.clone().take(150).chain(lines).chain(padding.skip(150)).collect();
        let before = now.join("\n");
        for (position, n_gone, come) in edits {
            let start = position.min(now.len());
            let end = (start + n_gone).min(now.len());
            now.splice(start..end, come);
        }
        let now = now.join("\n");
        prop_assume!(before != now);
        let (kind, text) = said(&state(&before), &state(&now), &history(&[Kind::AGENTS_MD]));
        prop_assert_eq!(kind, Kind::AGENTS_MD_CHANGES);
        let changes = text.split_once("\n\n@@").unwrap().1.strip_suffix("\n</CHANGES>").unwrap();
        prop_assert!(changes.len() + 2 <= now.len() / 2);
        prop_assert_eq!(applied(&before, &text), now);
    }
}
