//! The world state beside a history that is rewritten: a section is in what survives, or the next step says it again.

use context_fragments::{FragmentRole, Role};
use context_manager::{
    CompactionPlan, CompactionTarget, ContextManager, ForkPolicy, Preset, Replacement, SUMMARY_KIND,
};
use proptest::prelude::*;
use serde_json::json;
use world_state::{ExtensionSection, SectionDiff, SectionFragment, WorldState, merge_updates};

use crate::{
    laws::cases,
    setup::{assistant, in_turn, message, recording, user},
};

const IDS: [&str; 2] = ["files", "tickets"];

#[derive(Clone, Debug)]
enum Op {
    Change(usize, u8),
    Step,
    /// A step that is recorded and not answered.
    Interrupted,
    RollBack(usize),
    RollBackTo(usize),
    Fork(usize),
    /// Everything goes, and a summary stands for it.
    CompactAll,
    Compact(u64),
}

fn op() -> impl Strategy<Value = Op> {
    prop_oneof![
        4 => (0..IDS.len(), 0_u8..3).prop_map(|(section, value)| Op::Change(section, value)),
        6 => Just(Op::Step),
        1 => Just(Op::Interrupted),
        2 => (0_usize..4).prop_map(Op::RollBack),
        2 => (0_usize..4).prop_map(Op::RollBackTo),
        1 => (0_usize..3).prop_map(Op::Fork),
        1 => Just(Op::CompactAll),
        1 => (0_u64..60).prop_map(Op::Compact),
    ]
}

fn said(id: &str, value: u8) -> String {
    format!("{id}: {value} are open.")
}

/// A section that says its value where it is not what the model was told.
fn section(id: &'static str, value: u8) -> ExtensionSection {
    let section = ExtensionSection::new(id, move |previous| {
        let now = json!(value);
        if previous.known() == Some(&now) {
            return SectionDiff::keep();
        }
        SectionDiff::set(now).tell(&SectionFragment::new(id, FragmentRole::Developer, said(id, value)))
    });
    // One looks whether its words are still there, and one relies on the baseline alone.
    if id == IDS[0] { section.told_again_when_lost() } else { section }
}

struct World {
    manager: ContextManager,
    state: WorldState,
    values: [u8; 2],
    turns: u32,
}

impl World {
    fn set(&mut self, index: usize, value: u8) {
        self.values[index] = value;
        self.state.set_extension(section(IDS[index], value)).expect("a section by closure");
    }

    /// What a host does at the start of a turn.
    fn step(&mut self) {
        self.turns += 1;
        let recording = in_turn(&format!("t{}", self.turns));
        let manager = &mut self.manager;
        let told = manager.world_state_baseline().cloned();
        let diff = self.state.render_diff(told.as_ref(), &manager.retained_kinds()).expect("the sections render");
        manager.record_update(merge_updates(diff.updates), diff.snapshot, &recording).expect("small items");
        manager.record_items([user("go on")], &recording).expect("a small item");
    }

    fn apply(&mut self, op: &Op) {
        let summary = || Replacement::from(message(Role::User, &[(SUMMARY_KIND, "s")]));
        match op {
            Op::Change(index, value) => self.set(*index, *value),
            Op::Step => {
                self.step();
                self.manager.record_items([assistant("done")], &recording()).expect("a small item");
            }
            Op::Interrupted => self.step(),
            Op::RollBack(turns) => {
                self.manager.drop_last_n_user_turns(*turns);
            }
            Op::RollBackTo(turns) => {
                let cursor = self.manager.history().cursors().rev().nth(*turns);
                let cursor = cursor.unwrap_or_else(|| self.manager.history().end_cursor());
                self.manager.rollback_to(cursor).expect("the cursor is of this epoch");
            }
            Op::Fork(turns) => {
                let cursor = self.manager.history().cursors().rev().nth(*turns);
                let cursor = cursor.unwrap_or_else(|| self.manager.history().end_cursor());
                let forked = self.manager.fork(cursor, &ForkPolicy::closing()).expect("the cursor is of this epoch");
                self.manager = forked.manager;
            }
            Op::CompactAll => {
                // A history that is smaller than a summary is refused, and stays.
                let _refused = self.manager.replace_compacted([summary()], &recording());
            }
            Op::Compact(tokens) => {
                let plan = self.manager.history().plan_compaction(&CompactionTarget::new(*tokens).with_reserve(1));
                if let CompactionPlan::Compact(plan) = plan {
                    let kept = plan.kept.iter().map(|&kept| Replacement::Keep(kept));
                    self.manager
                        .replace_compacted(kept.chain([summary()]), &recording())
                        .expect("the plan can be done");
                }
            }
        }
    }

    /// Whether the last thing that the history says of each section is what is true.
    fn says_what_is_true(&self) -> bool {
        IDS.iter().zip(self.values).all(|(id, value)| {
            let of_section = |item: &&str| item.contains(&format!("{id}: "));
            let last = self.manager.history().items().map(|item| item.item().as_str()).rev().find(of_section);
            last.is_some_and(|last| last.contains(&said(id, value)))
        })
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(500), ..ProptestConfig::default() })]

    #[test]
    fn law_7_every_section_survives_or_is_said_again(ops in prop::collection::vec(op(), 0..30), codex in any::<bool>()) {
        let preset = if codex { Preset::Codex } else { Preset::Default };
        let mut world = World { manager: ContextManager::with_preset(preset), state: WorldState::new(), values: [0; 2], turns: 0 };
        for index in 0..IDS.len() {
            world.set(index, 0);
        }
        for op in &ops {
            world.apply(op);
            // Whatever happened, one step later the model knows what is true.
            let mut next = World { manager: world.manager.clone(), state: WorldState::new(), values: [0; 2], turns: world.turns };
            for (index, value) in world.values.into_iter().enumerate() {
                next.set(index, value);
            }
            next.step();
            prop_assert!(next.says_what_is_true(), "{op:?}: {:?}", crate::setup::stored(&next.manager));
            // And a step more says nothing again.
            let before = next.manager.history().item_count();
            next.step();
            prop_assert_eq!(next.manager.history().item_count(), before + 1, "{:?}", op);
        }
    }
}
