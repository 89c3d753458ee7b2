//! Projection of whatever may stand in a log, in every profile: total, idempotent, and never flipping what was sent.

use context_fragments::{ContextItem, WireItem};
use context_manager::{
    CallState, ContextManager, Declared, DuplicateId, EarlyOutput, LateOutput, Mend, MisshapenId, Modalities, Model,
    OutputPlace, Position, Profile, Projection, Projector, Proof, Restored, TokenCounter, normalize, validate,
};
use proptest::prelude::*;

use crate::{
    laws::{cases, item},
    setup::{parts, png, recording},
};

/// The profiles in which nothing that was sent flips.
fn keeping() -> Vec<Profile> {
    let mut paired = Profile::responses();
    paired.output_place = OutputPlace::Paired;
    vec![Profile::responses(), Profile::chat_completions(), Profile::anthropic_messages(), Profile::gemini(), paired]
}

/// JSON of any shape, some of it nearly what an item has.
fn json() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        Just("null".to_owned()),
        Just("true".to_owned()),
        Just("-1e400".to_owned()),
        Just(r#""\ud800""#.to_owned()),
        Just("\"\"".to_owned()),
        "[ a-z1={}]{0,6}".prop_map(|text| format!("{text:?}")),
        Just(r#"[{"type":"input_text","text":" "}]"#.to_owned()),
        Just(r#"[{"type":"input_text","text":7},{"type":"input_image"},{"type":"input_audio","audio_url":"data:audio/wav;base64,UklGRg=="}]"#.to_owned()),
        Just(r#"[{"type":"input_image","image_url":"data:image/jpeg;base64,/9j/4AAC"}]"#.to_owned()),
        (0_u32..20_000, 0_u32..20_000)
            .prop_map(|(width, height)| format!(r#"[{{"type":"input_image","image_url":"{}","detail":"original"}}]"#, png(width, height))),
    ];
    leaf.prop_recursive(2, 8, 3, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..3).prop_map(|elements| format!("[{}]", elements.join(","))),
            inner.prop_map(|value| format!(r#"{{"type":"input_text","text":{value}}}"#)),
        ]
    })
}

/// An object that has the type of an item, and members of every shape.
fn any_item() -> impl Strategy<Value = ContextItem> {
    let types = prop::sample::select(vec![
        "message",
        "agent_message",
        "reasoning",
        "local_shell_call",
        "function_call",
        "function_call_output",
        "custom_tool_call",
        "custom_tool_call_output",
        "tool_search_call",
        "tool_search_output",
        "image_generation_call",
        "compaction",
        "anything_new",
    ]);
    let keys = prop::sample::subsequence(
        vec!["id", "role", "call_id", "content", "output", "arguments", "encrypted_content", "result", "tools", "name"],
        0..8,
    );
    (types, keys, prop::collection::vec(json(), 10), prop::sample::select(vec!["1", "2", "3"])).prop_map(
        |(item_type, keys, values, id)| {
            let members: String = keys
                .iter()
                .zip(&values)
                .map(|(key, value)| match *key {
                    // Ids that are ids more often than not, so that ends meet.
                    "id" | "call_id" if value.len() % 4 > 0 => format!(r#","{key}":"{id}""#),
                    "role" => format!(r#","role":"{}""#, ["user", "assistant", "developer"][value.len() % 3]),
                    key => format!(r#","{key}":{value}"#),
                })
                .collect();
            let object = format!(r#"{{"type":"{item_type}"{members}}}"#);
            WireItem::parse(object.as_bytes()).expect("it is an object").into()
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(500), ..ProptestConfig::default() })]

    #[test]
    fn law_4_projection_is_total_and_idempotent_in_every_profile(items in prop::collection::vec(any_item(), 0..14)) {
        let mut manager = ContextManager::new();
        for (number, item) in (0..).zip(&items) {
            let mut restored = Restored::new(item.clone(), Position::new(number));
            restored.model = (number % 3 == 0).then(|| "m2".into());
            // What recording would keep out may stand in a log.
            manager.restore(restored).expect("positions increase");
        }
        for profile in keeping().into_iter().chain([Profile::codex()]) {
            for allowed in [Modalities::ALL, Modalities::TEXT] {
                let once = normalize(&items, allowed, &profile);
                let again: Vec<ContextItem> = once.items.iter().map(|item| item.context_item().clone()).collect();
                let twice = normalize(&again, allowed, &profile);
                prop_assert!(twice.repairs.is_empty(), "{} {:?} of {again:?}", profile.name, twice.repairs);
                prop_assert!(twice.items.iter().map(|item| item.item()).eq(again.iter().map(ContextItem::item)));
            }
            let plain = manager.for_prompt(&parts(), &profile);
            let made = Projector::new(profile.clone()).prompt(&manager, &parts());
            prop_assert_eq!(made.input_json(), plain.input_json());
            prop_assert_eq!(made.repairs(), plain.repairs());
            let found = validate(manager.history(), &Model::new("m1"), &profile);
            let is_mended = plain.repairs().iter().all(|repair| found.iter().any(|found| found.rule == repair.rule()));
            prop_assert!(is_mended, "what is mended is a violation");
        }
    }

    #[test]
    fn estimates_are_total(item in any_item()) {
        let estimate = context_manager::Estimate.count(item.item());
        prop_assert!(estimate <= 4 * item.item().as_bytes().len() as u64 + 50_000);
    }
}

/// What can happen between two prompts that are sent.
#[derive(Clone, Debug)]
enum Op {
    Record(ContextItem),
    Author(ContextItem),
    Note(usize),
    Send,
    Switch,
}

fn op() -> impl Strategy<Value = Op> {
    prop_oneof![
        8 => item().prop_map(Op::Record),
        3 => item().prop_map(Op::Author),
        1 => (0_usize..6).prop_map(Op::Note),
        5 => Just(Op::Send),
        1 => Just(Op::Switch),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(500), ..ProptestConfig::default() })]

    #[test]
    fn law_2_what_was_sent_never_flips_in_any_profile(ops in prop::collection::vec(op(), 0..30)) {
        for profile in keeping() {
            let mut manager = ContextManager::new();
            let mut model = "m1";
            let mut has_switched = false;
            for op in &ops {
                match op {
                    Op::Record(item) => drop(manager.record_items([item.clone()], &recording())),
                    Op::Author(item) => drop(manager.record_items([item.clone()], &recording().by_model("m2"))),
                    Op::Note(back) => {
                        let position = manager.history().items().rev().nth(*back).map(|envelope| envelope.position());
                        // It is refused for what is no call, and for one that was sent.
                        drop(position.map(|position| manager.note_call(position, CallState::OutcomeUnknown)));
                    }
                    Op::Switch => {
                        model = if model == "m1" { "m2" } else { "m1" };
                        has_switched = true;
                    }
                    Op::Send => {
                        let prompt = manager.for_prompt(&parts().with_model(Model::new(model)), &profile);
                        if let Proof::Broken(broken) = prompt.proof() {
                            prop_assert!(has_switched, "{}: {broken:?}", profile.name);
                            prop_assert_eq!(&broken.declared, &[Declared::Projection(Projection::Model)], "{:?}", broken);
                        }
                        has_switched = false;
                        manager.mark_sent(&prompt).expect("nothing was added");
                    }
                }
            }
        }
    }
}

/// A profile in which a host has set rows as it liked.
fn any_profile() -> impl Strategy<Value = Profile> {
    let mend = || prop::sample::select(vec![Mend::Apply, Mend::Keep, Mend::Allow]);
    let rows = prop::collection::vec(any::<bool>(), 7);
    let places = prop::sample::select(vec![OutputPlace::AsRecorded, OutputPlace::Paired, OutputPlace::Grouped]);
    (rows, places, prop::collection::vec(mend(), 11)).prop_map(|(rows, place, mends)| {
        let mut profile = Profile::responses();
        profile.early_output = if rows[0] { EarlyOutput::Move } else { EarlyOutput::Keep };
        profile.late_output = if rows[1] { LateOutput::Append } else { LateOutput::Replace };
        profile.misshapen_id = if rows[2] { MisshapenId::Remove } else { MisshapenId::Keep };
        profile.duplicate_id = if rows[3] { DuplicateId::Rename } else { DuplicateId::Share };
        profile.media = Modalities::new(rows[4], rows[5]);
        profile.max_image_px = rows[6].then_some(100);
        profile.output_place = place;
        [
            profile.bad_arguments,
            profile.blank_text,
            profile.blank_output,
            profile.unsigned_reasoning,
            profile.cut_signature,
            profile.lone_reasoning,
            profile.foreign_reasoning,
            profile.ids_without_reasoning,
            profile.repeated_item_id,
            profile.undecodable_image,
            profile.large_image,
        ] = mends.try_into().expect("one for each row");
        profile
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(500), ..ProptestConfig::default() })]

    #[test]
    fn law_4_a_host_may_set_every_row(profile in any_profile(), ops in prop::collection::vec(op(), 0..30)) {
        let mut manager = ContextManager::new();
        let mut projector = Projector::new(profile.clone());
        for op in &ops {
            match op {
                Op::Record(item) => drop(manager.record_items([item.clone()], &recording())),
                Op::Author(item) => drop(manager.record_items([item.clone()], &recording().by_model("m2"))),
                Op::Send => {
                    let prompt = projector.prompt(&manager, &parts());
                    manager.mark_sent(&prompt).expect("nothing was added");
                }
                Op::Note(_) | Op::Switch => {}
            }
            let (made, plain) = (projector.prompt(&manager, &parts()), manager.for_prompt(&parts(), &profile));
            prop_assert_eq!(made.input_json(), plain.input_json());
            prop_assert_eq!((made.repairs(), made.proof()), (plain.repairs(), plain.proof()));
            if let Proof::Broken(broken) = made.proof() {
                prop_assert!(!broken.declared.is_empty(), "nobody declared {:?}", broken);
            }
        }
    }

    #[test]
    fn law_4_projection_is_idempotent_whatever_a_host_sets(
        profile in any_profile(),
        items in prop::collection::vec(any_item(), 0..14),
    ) {
        let once = normalize(&items, Modalities::ALL, &profile);
        let again: Vec<ContextItem> = once.items.iter().map(|item| item.context_item().clone()).collect();
        let twice = normalize(&again, Modalities::ALL, &profile);
        prop_assert!(twice.repairs.is_empty(), "{:?} of {again:?}", twice.repairs);
        prop_assert!(twice.items.iter().map(|item| item.item()).eq(again.iter().map(ContextItem::item)));
    }
}
