//! The laws over histories that are rolled back, forked, elided and compacted.

use context_fragments::{ContextItem, Kind};
use context_manager::{
    ByteBudget, CompactionPlan, CompactionTarget, ContextManager, Cursor, Digest, Entry, Estimate, ForkPolicy,
    HistorySnapshot, OpenCalls, OutputPlace, Position, Preset, Profile, Projector, Proof, Replacement, Restored,
    SUMMARY_KIND, TokenCounter,
};
use proptest::prelude::*;

use crate::{
    baselines::snapshot_of,
    laws::{cases, item},
    setup::{developer, in_turn, message, parts, raw, recording},
};

#[derive(Clone, Debug)]
enum Op {
    Record(ContextItem, Option<&'static str>),
    /// Says the next number, and moves the baseline to it.
    Update,
    /// Moves the baseline to the next number, which no item says.
    Tell,
    RollBackTo(usize),
    Drop(usize),
    Fork(usize, bool),
    Elide(u64),
    Compact(u64),
    Send,
}

fn picture() -> ContextItem {
    raw(
        r#"{"type":"message","role":"user","content":[{"type":"input_text","text":"see"},{"type":"input_image","image_url":"data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNkYAAAAAYAAjCB0C8AAAAASUVORK5CYII="}]}"#,
    )
}

fn op() -> impl Strategy<Value = Op> {
    let turn = prop::sample::select(vec![None, Some("t1"), Some("t2")]);
    prop_oneof![
        12 => (item(), turn).prop_map(|(item, turn)| Op::Record(item, turn)),
        2 => Just(Op::Record(picture(), None)),
        2 => Just(Op::Update),
        1 => Just(Op::Tell),
        1 => (0_usize..4).prop_map(Op::RollBackTo),
        1 => (0_usize..3).prop_map(Op::Drop),
        1 => (0_usize..3, any::<bool>()).prop_map(|(turns, drops)| Op::Fork(turns, drops)),
        1 => (0_u64..800).prop_map(Op::Elide),
        1 => (0_u64..60).prop_map(Op::Compact),
        4 => Just(Op::Send),
    ]
}

fn ops() -> impl Strategy<Value = Vec<Op>> {
    prop::collection::vec(op(), 0..30)
}

/// The ways to place outputs.
fn profile() -> impl Strategy<Value = Profile> {
    let mut paired = Profile::responses();
    paired.output_place = OutputPlace::Paired;
    prop::sample::select(vec![Profile::responses(), Profile::chat_completions(), paired])
}

/// A history, the profile in which it is sent, and how many updates were said.
struct World {
    manager: ContextManager,
    profile: Profile,
    said: u32,
}

impl World {
    fn new(codex: bool) -> Self {
        let preset = if codex { Preset::Codex } else { Preset::Default };
        Self { manager: ContextManager::with_preset(preset), profile: Profile::responses(), said: 0 }
    }

    fn apply(&mut self, op: &Op) {
        let manager = &mut self.manager;
        match op {
            Op::Record(item, turn) => {
                let recording = turn.map_or_else(recording, in_turn);
                manager.record_items([item.clone()], &recording).expect("small items");
            }
            Op::Update => {
                self.said += 1;
                let told = developer(Kind::PERMISSIONS, &format!("update {}.", self.said));
                manager.record_update([told], snapshot_of(&self.said.to_string()), &recording()).expect("a small item");
            }
            Op::Tell => manager.set_world_state_baseline(Some(snapshot_of("of no item"))),
            Op::RollBackTo(turns) => {
                let cursor = manager.history().cursors().rev().nth(*turns);
                if let Some(cursor) = cursor {
                    manager.rollback_to(cursor).expect("the cursor is of this epoch");
                }
            }
            Op::Drop(turns) => {
                manager.drop_last_n_user_turns(*turns);
            }
            Op::Fork(turns, drops) => {
                let history = manager.history();
                let cursor = match turns.checked_sub(1) {
                    None => history.end_cursor(),
                    Some(turns) => history.cursors().rev().nth(turns).unwrap_or_else(|| history.end_cursor()),
                };
                let policy =
                    if *drops { ForkPolicy::closing().with_others(OpenCalls::Drop) } else { ForkPolicy::closing() };
                *manager = manager.fork(cursor, &policy).expect("the cursor is of this epoch").manager;
            }
            Op::Elide(low) => {
                let budget = ByteBudget::new(low * 2).down_to(*low).keeping_newest(0);
                manager.elide_over(&budget).expect("what the history names is there");
            }
            Op::Compact(tokens) => {
                let target = CompactionTarget::new(*tokens).with_reserve(2);
                if let CompactionPlan::Compact(plan) = manager.history().plan_compaction(&target) {
                    let summary = message(context_fragments::Role::User, &[(SUMMARY_KIND, "summary")]);
                    let window = plan.kept.iter().map(|&kept| Replacement::Keep(kept)).chain([summary.into()]);
                    manager.replace_compacted(window, &recording()).expect("the plan can be done");
                }
            }
            Op::Send => {
                let prompt = manager.for_prompt(&parts(), &self.profile);
                manager.mark_sent(&prompt).expect("nothing was added");
            }
        }
    }
}

/// Everything that a snapshot shows.
fn contents(history: &HistorySnapshot) -> String {
    let entries = history.entries().map(|entry| match entry {
        Entry::Item(envelope) => format!("{} {:?} {:?}", envelope.item().as_str(), envelope.kinds(), envelope.turn()),
        Entry::Fact(fact) => format!("{:?}", fact.fact()),
    });
    let entries: Vec<String> = history
        .entries()
        .map(|entry| entry.position().to_string())
        .zip(entries)
        .map(|(position, entry)| format!("{position} {entry}"))
        .collect();
    let cursors: Vec<Cursor> = history.cursors().collect();
    format!(
        "{entries:?} {cursors:?} {} {:?} {}",
        history.tokens(),
        history.world_state_baseline(),
        history.history_version()
    )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(500), ..ProptestConfig::default() })]

    #[test]
    fn law_1_rewrites_have_a_name_and_snapshots_never_change(ops in ops(), codex in any::<bool>()) {
        let mut world = World::new(codex);
        let mut kept: Vec<(HistorySnapshot, String)> = Vec::new();
        for op in &ops {
            let before = world.manager.snapshot();
            world.apply(op);
            let after = world.manager.snapshot();
            if before.history_version() == after.history_version() {
                let same = before.entries().zip(after.entries()).all(|(one, two)| one.position() == two.position());
                prop_assert!(same && before.entry_count() <= after.entry_count(), "{op:?}");
            } else {
                let steps = after.history_version() - before.history_version();
                // A fork that takes turns back and leaves calls out does two things.
                prop_assert!(steps == 1 || (steps == 2 && matches!(op, Op::Fork(..))), "{op:?}");
                prop_assert!(!matches!(op, Op::Record(..) | Op::Update | Op::Tell | Op::Send), "{op:?}");
            }
            let positions: Vec<Position> = after.entries().map(Entry::position).collect();
            prop_assert!(positions.is_sorted_by(|one, two| one < two), "{positions:?}");
            kept.push((before.clone(), contents(&before)));
        }
        for (snapshot, then) in kept {
            prop_assert_eq!(contents(&snapshot), then, "a snapshot never changes");
        }
    }

    #[test]
    fn law_2_every_break_is_declared(ops in ops(), profile in profile()) {
        let mut world = World { profile, ..World::new(false) };
        for op in &ops {
            world.apply(op);
            let made = world.manager.for_prompt(&parts(), &world.profile);
            prop_assert!(made.proof().is_legal(), "{op:?}: {:?}", made.proof());
            if let Some(sent) = world.manager.guard().last() {
                let (then, now) = (sent.input_json(), made.input_json());
                let extends = now.starts_with(then.trim_end_matches(']')) ;
                prop_assert_eq!(made.proof().extends(), extends, "{:?}", made.proof());
                prop_assert!(extends || sent.history().history_version() != world.manager.history_version());
            } else {
                prop_assert_eq!(made.proof(), &Proof::First);
            }
        }
    }

    #[test]
    fn n27_a_sent_prompt_is_a_byte_prefix_of_the_next(ops in ops(), codex in any::<bool>()) {
        let profile = if codex { Profile::codex() } else { Profile::responses() };
        let mut world = World::new(codex);
        let mut sent: Option<String> = None;
        for op in &ops {
            world.apply(op);
            let (made, again) = (world.manager.for_prompt(&parts(), &profile), world.manager.for_prompt(&parts(), &profile));
            let json = made.input_json();
            prop_assert_eq!(&json, &again.input_json());
            let is_prefix = sent.as_ref().is_none_or(|sent| json.starts_with(sent.trim_end_matches(']')));
            let is_declared = made.proof().broken().is_some_and(|broken| broken.is_declared());
            // What `Op::Send` sent was of the default profile, and another profile is a declared break.
            prop_assert!(is_prefix || is_declared, "{op:?}: {:?}", made.proof());
            world.manager.mark_sent(&made).expect("nothing was added");
            sent = Some(json);
        }
    }

    #[test]
    fn law_4_the_projector_follows_every_rewrite(ops in ops(), codex in any::<bool>(), profile in profile()) {
        let mut world = World { profile: profile.clone(), ..World::new(codex) };
        let mut projector = Projector::new(profile.clone());
        for op in &ops {
            world.apply(op);
            let before = contents(world.manager.history());
            let (made, plain) = (projector.prompt(&world.manager, &parts()), world.manager.for_prompt(&parts(), &profile));
            prop_assert_eq!(made.input_json(), plain.input_json(), "{:?}", op);
            prop_assert_eq!((made.repairs(), made.proof(), made.chain()), (plain.repairs(), plain.proof(), plain.chain()));
            prop_assert_eq!(contents(world.manager.history()), before);
        }
    }

    #[test]
    fn law_7_after_a_rewrite_what_was_told_is_there_or_said_again(ops in ops(), codex in any::<bool>()) {
        let mut world = World::new(codex);
        for op in &ops {
            world.apply(op);
            let history = world.manager.history();
            // No baseline: the next step says every section. A baseline: the items that told it are there.
            let Some(baseline) = history.world_state_baseline() else { continue };
            let Some(told) = (1..=world.said).find(|number| *baseline == snapshot_of(&number.to_string())) else { continue };
            let text = format!("update {told}.");
            prop_assert!(history.items().any(|envelope| envelope.item().as_str().contains(&text)), "{op:?}: {text}");
        }
        let mut compacted = world.manager.clone();
        compacted.replace([], &recording()).expect("nothing is kept");
        prop_assert!(compacted.world_state_baseline().is_none());
    }

    #[test]
    fn law_10_totals_are_those_of_a_recount(ops in ops(), codex in any::<bool>()) {
        let mut world = World::new(codex);
        for op in &ops {
            world.apply(op);
            let history = world.manager.history();
            let items = || history.items().map(|envelope| envelope.item());
            prop_assert_eq!(history.tokens(), items().map(|item| Estimate.count(item)).sum::<u64>());
            prop_assert_eq!(history.bytes(), items().map(|item| item.as_bytes().len() as u64).sum::<u64>());
            prop_assert_eq!(history.item_count(), items().count());
            let kinds: context_fragments::RetainedKinds = history.items().flat_map(|envelope| envelope.kinds()).collect();
            prop_assert_eq!(history.retained_kinds(), kinds);
            for envelope in history.items() {
                prop_assert_eq!(envelope.digest(), Digest::of(envelope.item().as_bytes()));
            }
            // What is put back from a log has the same totals and the same turns.
            let mut again = World::new(codex).manager;
            for entry in history.entries() {
                match entry {
                    Entry::Item(envelope) => {
                        let mut restored = Restored::new(envelope.context_item().clone(), envelope.position());
                        restored.turn = envelope.turn().cloned();
                        restored.moved_from = envelope.moved_from();
                        again.restore(restored).expect("it stands behind the one before");
                    }
                    Entry::Fact(fact) => again.restore_fact(fact.fact().clone(), fact.position(), fact.turn().cloned()).expect("it stands behind the one before"),
                }
            }
            let totals = |history: &HistorySnapshot| (history.tokens(), history.bytes(), history.media_bytes(), history.turn_count());
            prop_assert_eq!(totals(again.history()), totals(history));
        }
    }

    #[test]
    fn a_cursor_and_a_count_take_back_the_same(ops in ops(), codex in any::<bool>(), turns in 1_usize..5) {
        let mut world = World::new(codex);
        for op in &ops {
            world.apply(op);
        }
        let Some(cursor) = world.manager.history().cursors().rev().nth(turns - 1) else { return Ok(()) };
        let (mut counted, mut pointed) = (world.manager.clone(), world.manager.clone());
        let done = pointed.rollback_to(cursor).expect("the cursor is of this epoch");
        prop_assert_eq!(&done, &counted.drop_last_n_user_turns(turns));
        prop_assert_eq!(contents(pointed.history()), contents(counted.history()));
        prop_assert_eq!(done.turns, turns);
        let before = contents(pointed.history());
        prop_assert_eq!(pointed.rollback_to(cursor).expect("it was taken back").turns, 0);
        prop_assert_eq!(contents(pointed.history()), before, "once is enough");
        prop_assert!(pointed.history().entries().all(|entry| entry.position() != cursor.position()));
    }
}
