//! The laws of the house that this crate holds, over random histories.

use std::collections::HashMap;

use context_fragments::{ContextItem, Kind, Limit, WireItem, json::Json};
use context_manager::{
    ContextManager, Digest, Estimate, HistorySnapshot, Incoming, Modalities, Model, PartName, Parts, Preset, Profile,
    Prompt, Proof, Recording, Replacement, Rewrite, TokenCounter, TruncationPolicy, normalize,
};
use proptest::prelude::*;

use crate::setup::{
    assistant, call, custom_call, custom_output, developer, environment, image_message, output, parts, raw, recording,
    user,
};

/// What can happen to a history.
#[derive(Clone, Debug)]
enum Op {
    Record(ContextItem),
    Baseline(u8),
    Rollback(usize),
    Replace,
    Preview,
    Send,
    SendBlind,
    SendWithBase(u8),
}

pub(crate) fn item() -> impl Strategy<Value = ContextItem> {
    let id = prop::sample::select(vec!["1", "2", "3", "1_dup1"]);
    let odd = prop::sample::select(vec![
        r#"{"type":"function_call","name":"f","arguments":"{}"}"#,
        r#"{"type":"function_call","name":"f","arguments":"{}","call_id":7}"#,
        r#"{"type":"function_call_output","output":"event"}"#,
        r#"{"type":"function_call_output","call_id":null,"output":[]}"#,
        r#"{"type":"custom_tool_call_output","call_id":{},"output":5}"#,
        r#"{"type":"tool_search_call","call_id":"1","execution":"client","arguments":{}}"#,
        r#"{"type":"tool_search_output","call_id":"1","status":"completed","execution":"client","tools":[]}"#,
        r#"{"type":"tool_search_output","call_id":"2","status":"completed","execution":"server","tools":[]}"#,
        r#"{"type":"local_shell_call","call_id":"1","status":"completed","action":{}}"#,
        r#"{"type":"image_generation_call","status":"completed","result":"AAAA"}"#,
        r#"{"type":"function_call_output","call_id":"1","output":[{"type":"input_audio","audio_url":"x"},{"type":"encrypted_content","encrypted_content":"x"},7,{}]}"#,
        r#"{"type":"message","role":"user","content":[{"type":"input_text","text":"\ud800"}]}"#,
        r#"{"type":"message","role":"user","content":7}"#,
        r#"{"type":"message","role":"assistant"}"#,
        r#"{"type":"message","role":"user","content":[{"type":"input_text","text":" "},{"type":"input_image","image_url":"u"}]}"#,
        r#"{"type":"function_call","name":"f","arguments":"{\"a\":","call_id":"1"}"#,
        r#"{"type":"function_call_output","call_id":"2","output":[{"type":"input_text","text":""},{"type":"input_image","image_url":"u"}]}"#,
        r#"{"type":"function_call_output","call_id":"3","output":" \n"}"#,
        r#"{"type":"reasoning","summary":[],"encrypted_content":""}"#,
        r#"{"type":"reasoning","summary":[],"encrypted_content":"xxxx"}"#,
        r#"{"type":"reasoning","id":"rs_1","summary":[],"encrypted_content":"yyyy"}"#,
        r#"{"type":"reasoning","id":"rs_2","summary":[],"encrypted_content":"cut"}"#,
        r#"{"type":"message","id":"msg_1","role":"assistant","content":[{"type":"output_text","text":"a"}]}"#,
        r#"{"type":"custom_tool_call","id":"msg_1","call_id":"2","name":"p","input":"i"}"#,
        r#"{"type":"message","id":"msg\u005f1","role":"assistant","content":[{"type":"output_text","text":"b"}]}"#,
        r#"{"type":"function_call","name":"f","arguments":"{}","call_id":"\u0031"}"#,
        r#"{"type":"function_call_output","call_id":"\u0031","output":"b"}"#,
        r#"{"type":"message","role":"user","content":[{"type":"input_text","text":""},{"type":"input_image","image_url":"data:image/png;base64,AAAA"}]}"#,
        r#"{"type":"function_call_output","call_id":"1","output":[{"type":"input_image","image_url":"data:image/gif;base64,R0lGODlh//8BAAAA"}]}"#,
    ]);
    prop_oneof![
        2 => "[a-z]{0,8}".prop_map(|text| user(&text)),
        2 => "[a-z]{0,8}".prop_map(|text| assistant(&text)),
        4 => id.clone().prop_map(call),
        4 => (id.clone(), "[a-z]{0,8}").prop_map(|(id, text)| output(id, &text)),
        1 => id.clone().prop_map(|id| raw(&format!(r#"{{"type":"function_call","id":"fc_{id}","name":"f","arguments":"{{}}","call_id":"{id}"}}"#))),
        1 => id.clone().prop_map(custom_call),
        1 => (id, "[a-z]{0,8}").prop_map(|(id, text)| custom_output(id, &text)),
        1 => Just(image_message()),
        1 => Just(developer(Kind::PERMISSIONS, "p")),
        1 => Just(environment("e")),
        2 => odd.prop_map(raw),
    ]
}

fn op() -> impl Strategy<Value = Op> {
    prop_oneof![
        12 => item().prop_map(Op::Record),
        1 => any::<u8>().prop_map(Op::Baseline),
        1 => (0_usize..3).prop_map(Op::Rollback),
        1 => Just(Op::Replace),
        2 => Just(Op::Preview),
        6 => Just(Op::Send),
        1 => Just(Op::SendBlind),
        1 => (0_u8..2).prop_map(Op::SendWithBase),
    ]
}

fn ops() -> impl Strategy<Value = Vec<Op>> {
    prop::collection::vec(op(), 0..30)
}

/// As many cases as are asked for by `PROPTEST_CASES`, and no fewer than `least`.
pub(crate) fn cases(least: u32) -> u32 {
    ProptestConfig::default().cases.max(least)
}

fn config() -> ProptestConfig {
    ProptestConfig { cases: cases(1_000), ..ProptestConfig::default() }
}

fn blind() -> Parts {
    parts().with_model(Model::new("blind").with_modalities(Modalities::TEXT))
}

fn record(manager: &mut ContextManager, item: ContextItem) {
    manager.record_items([Incoming::new(item)], &recording()).expect("small items");
}

/// Does what no prompt is needed for.
fn apply(manager: &mut ContextManager, op: &Op) {
    match op {
        Op::Record(item) => record(manager, item.clone()),
        Op::Baseline(word) => manager.set_world_state_baseline(Some(crate::baselines::snapshot_of(&word.to_string()))),
        Op::Rollback(turns) => {
            manager.drop_last_n_user_turns(*turns);
        }
        Op::Replace => {
            let before = manager.snapshot();
            let kept = before.items().skip(1).map(|envelope| Replacement::Keep(envelope.position()));
            manager
                .rewrite(Rewrite::Replace, kept.chain([user("summary").into()]), &recording())
                .expect("what is kept is there");
        }
        Op::Preview | Op::Send | Op::SendBlind | Op::SendWithBase(_) => {}
    }
}

/// Everything that a snapshot shows.
fn contents(history: &HistorySnapshot) -> (Vec<WireItem>, usize, u64, u64, Option<String>) {
    (
        history.items().map(|envelope| envelope.item().clone()).collect(),
        history.entry_count(),
        history.tokens(),
        history.history_version(),
        history.world_state_baseline().map(|baseline| format!("{baseline:?}")),
    )
}

/// The bytes that bind the prefix: the parts, and the items.
type Bytes = (Vec<String>, Vec<String>);

/// What a cache sees of a prompt.
fn bytes_of(prompt: &Prompt) -> Bytes {
    let parts = PartName::ALL.iter().map(|&name| prompt.parts().text(name).to_owned()).collect();
    (parts, prompt.items().iter().map(|item| item.item().as_str().to_owned()).collect())
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn law_1_append_only(ops in ops(), codex in any::<bool>()) {
        let mut manager = ContextManager::with_preset(if codex { Preset::Codex } else { Preset::Default });
        let mut kept: Vec<(HistorySnapshot, _)> = Vec::new();
        for op in &ops {
            let before = manager.snapshot();
            apply(&mut manager, op);
            let after = manager.snapshot();
            if before.history_version() == after.history_version() {
                let same = before.entries().zip(after.entries()).all(|(one, two)| one.position() == two.position());
                prop_assert!(same && before.entry_count() <= after.entry_count());
                let items = before.items().zip(after.items()).all(|(one, two)| one.item().ptr_eq(two.item()));
                prop_assert!(items && before.item_count() <= after.item_count());
            } else {
                prop_assert_eq!(after.history_version(), before.history_version() + 1);
            }
            let positions: Vec<_> = after.entries().map(|entry| entry.position()).collect();
            prop_assert!(positions.is_sorted() && positions.windows(2).all(|pair| pair[0] != pair[1]));
            kept.push((before.clone(), contents(&before)));
        }
        for (snapshot, then) in kept {
            prop_assert_eq!(contents(&snapshot), then, "a snapshot never changes");
        }
    }

    #[test]
    fn law_2_prefix_proof(ops in ops(), codex in any::<bool>()) {
        let profile = if codex { Profile::codex() } else { Profile::responses() };
        let mut manager = ContextManager::new();
        let mut sent: Option<(Bytes, Modalities, u64)> = None;
        let mut base = parts();
        for op in &ops {
            apply(&mut manager, op);
            let prompt = match op {
                Op::Preview => {
                    // Made with other parts and thrown away: the next proofs must not notice.
                    drop(manager.for_prompt(&blind().with_base("preview"), &profile));
                    continue;
                }
                Op::Send => manager.for_prompt(&base, &profile),
                Op::SendBlind => manager.for_prompt(&base.clone().with_model(blind().model().clone()), &profile),
                Op::SendWithBase(word) => {
                    base = parts().with_base(format!("base {word}"));
                    manager.for_prompt(&base, &profile)
                }
                _ => continue,
            };
            let now = bytes_of(&prompt);
            let modalities = prompt.parts().model().modalities();
            match (&sent, prompt.proof()) {
                (None, proof) => prop_assert_eq!(proof, &Proof::First),
                (Some((then, ..)), Proof::Identical) => prop_assert_eq!(then, &now),
                (Some((then, ..)), Proof::Extends { shared, new }) => {
                    prop_assert_eq!(&then.0, &now.0);
                    prop_assert_eq!(&then.1[..], &now.1[..*shared]);
                    prop_assert!(*new > 0 && shared + new == now.1.len() && *shared == then.1.len());
                }
                (Some((then, had, version)), Proof::Broken(broken)) => {
                    prop_assert!(then.0 != now.0 || !now.1.starts_with(&then.1), "{broken:?}");
                    prop_assert!(broken.is_declared(), "{broken:?}");
                    // In the default profile nothing but what the host asked for breaks a prefix.
                    let asked = then.0 != now.0 || *had != modalities || *version != manager.history_version();
                    prop_assert!(codex || asked, "{broken:?}");
                }
                (Some(_), Proof::First) => prop_assert!(false, "something was sent before"),
            }
            manager.mark_sent(&prompt).expect("nothing was added");
            sent = Some((now, modalities, manager.history_version()));
        }
    }

    #[test]
    fn law_3_wire_bytes_are_made_once(items in prop::collection::vec(item(), 0..20)) {
        let mut manager = ContextManager::new();
        for item in items {
            record(&mut manager, item);
        }
        let prompt = manager.for_prompt(&blind(), &Profile::responses());
        let stored: HashMap<_, _> = manager.history().items().map(|envelope| (envelope.position(), envelope.clone())).collect();
        for item in prompt.items() {
            prop_assert_eq!(item.digest(), Digest::of(item.item().as_bytes()));
            let provenance = item.provenance();
            let position = provenance.position.expect("every item comes from an entry");
            let moved_only = provenance.repairs.iter().all(|rule| rule.id() == "early_output");
            prop_assert_eq!(item.item().ptr_eq(stored[&position].item()), moved_only, "{:?}", item);
            if !moved_only {
                prop_assert!(prompt.repairs().iter().any(|repair| repair.position() == Some(position)));
            }
        }
    }

    #[test]
    fn law_4_projection_never_edits_the_store(ops in ops(), codex in any::<bool>()) {
        let profile = if codex { Profile::codex() } else { Profile::responses() };
        let mut manager = ContextManager::new();
        for op in &ops {
            apply(&mut manager, op);
            let before = contents(manager.history());
            let once = manager.for_prompt(&blind(), &profile);
            let twice = manager.for_prompt(&blind(), &profile);
            prop_assert_eq!(once.input_json(), twice.input_json());
            prop_assert_eq!(once.repairs(), twice.repairs());
            prop_assert_eq!(contents(manager.history()), before);
            if matches!(op, Op::Send) {
                manager.mark_sent(&once).expect("nothing was added");
            }
        }
        // What came out of a projection needs no repair.
        let items: Vec<ContextItem> =
            manager.for_prompt(&blind(), &profile).items().iter().map(|item| item.context_item().clone()).collect();
        let again = normalize(&items, Modalities::TEXT, &profile);
        prop_assert!(again.repairs.is_empty(), "{:?}", again.repairs);
        prop_assert!(again.items.iter().map(|item| item.item()).eq(items.iter().map(ContextItem::item)));
    }

    #[test]
    fn law_5_outputs_are_bounded_and_words_are_not_cut(text in "[a-zé😀\n\"]{0,400}", limit in 0_usize..300, custom in any::<bool>()) {
        let recording = Recording::new(TruncationPolicy::new(Limit::Bytes(limit)));
        let mut manager = ContextManager::new();
        let result = if custom { custom_output("1", &text) } else { output("1", &text) };
        manager.record_items([user(&text), assistant(&text), result], &recording).expect("small items");
        let history = manager.snapshot();
        let items: Vec<&WireItem> = history.items().map(|envelope| envelope.item()).collect();
        let words = [user(&text), assistant(&text)];
        prop_assert_eq!(&items[..2], [words[0].item(), words[1].item()]);
        let cut = items[2].json().member("output").and_then(Json::to_str).expect("a text");
        prop_assert!(cut.len() <= limit, "{} bytes", cut.len());
        prop_assert_eq!(cut == text, text.len() <= limit);
    }

    #[test]
    fn law_6_kinds_decide_whatever_the_text_is(text in "(<environment_context>|<skill>|# AGENTS.md instructions)?[a-z]{0,5}(</environment_context>|</skill>|</INSTRUCTIONS>)?") {
        let mut manager = ContextManager::new();
        manager.record_items([user("first"), environment(&text), user(&text)], &recording()).expect("small items");
        let done = manager.drop_last_n_user_turns(1);
        prop_assert_eq!((done.turns, done.items), (1, 2), "the user's words and the context above them");
    }

    #[test]
    fn law_7_a_baseline_is_never_ahead_of_its_items(ops in ops()) {
        // Each update says its own number; the baseline may only name what the history still holds.
        let mut manager = ContextManager::new();
        let mut number = 0_u32;
        for op in &ops {
            if let Op::Baseline(_) = op {
                number += 1;
                let word = number.to_string();
                let told = developer(Kind::PERMISSIONS, &format!("update {word}"));
                manager.record_update([told], crate::baselines::snapshot_of(&word), &recording()).expect("small items");
            } else {
                apply(&mut manager, op);
            }
            if let Some(baseline) = manager.world_state_baseline() {
                let told = (1..=number).find(|number| *baseline == crate::baselines::snapshot_of(&number.to_string()));
                let text = format!("update {}", told.expect("a baseline that was set"));
                prop_assert!(manager.history().items().any(|envelope| envelope.item().as_str().contains(&text)), "{text}");
            }
        }
    }

    #[test]
    fn law_9_every_part_of_a_prompt_has_a_provenance(ops in ops()) {
        let mut manager = ContextManager::new();
        for op in &ops {
            apply(&mut manager, op);
            let prompt = manager.for_prompt(&blind(), &Profile::responses());
            for name in PartName::ALL {
                prop_assert_eq!(prompt.parts().digest(name), Digest::of(prompt.parts().text(name).as_bytes()));
            }
            for item in prompt.items() {
                let position = item.provenance().position.expect("every item comes from an entry");
                prop_assert!(prompt.history().entry_at(position).is_some());
            }
            // What does not show is named by a repair.
            let shown: Vec<_> = prompt.items().iter().filter_map(|item| item.provenance().position).collect();
            for envelope in prompt.history().items() {
                let position = envelope.position();
                let reported = prompt.repairs().iter().any(|repair| repair.position() == Some(position));
                prop_assert!(shown.contains(&position) || reported, "{:?}", envelope);
            }
            if matches!(op, Op::Send) {
                manager.mark_sent(&prompt).expect("nothing was added");
            }
        }
    }

    #[test]
    fn law_10_running_totals_are_those_of_a_recount(ops in ops(), codex in any::<bool>()) {
        let mut manager = ContextManager::with_preset(if codex { Preset::Codex } else { Preset::Default });
        for op in &ops {
            apply(&mut manager, op);
            let history = manager.history();
            prop_assert_eq!(history.tokens(), history.items().map(|envelope| Estimate.count(envelope.item())).sum::<u64>());
            prop_assert_eq!(history.item_count(), history.items().count());
            let kinds: context_fragments::RetainedKinds = history.items().flat_map(|envelope| envelope.kinds()).collect();
            prop_assert_eq!(history.retained_kinds(), kinds);
        }
    }
}
