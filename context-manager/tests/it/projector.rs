//! The incremental projection beside the plain one: the same items, kinds, repairs, provenance, chain and proofs.

use std::io::Read;

use allocation_counter::measure;
use context_fragments::{ContextItem, WireItem};
use context_manager::{
    CallState, ContextManager, Digest, Modalities, Model, OutputPlace, Parts, Position, Profile, Projector, Prompt,
    Proof, Replacement, Rewrite,
};
use proptest::prelude::*;

use crate::{
    laws::{cases, item},
    setup::{assistant, call, manager_of, output, parts, projected, raw, recording, rules, user},
};

/// What can happen between two prompts.
#[derive(Clone, Debug)]
enum Op {
    Record(Vec<ContextItem>),
    Fact(u8),
    Rollback(usize),
    Compact(usize),
    /// Marks the newest prompt of one of the projectors.
    Send(usize),
    /// Says how far a call had come.
    Note(usize, u8),
    /// Records what another model made.
    Author(Vec<ContextItem>),
    /// A log that is read again brings marks with it.
    RestoreSent(Vec<u64>),
    Fork,
    /// Goes on with the history that was forked off.
    Swap,
    Nothing,
}

fn op() -> impl Strategy<Value = Op> {
    prop_oneof![
        14 => prop::collection::vec(item(), 1..4).prop_map(Op::Record),
        1 => any::<u8>().prop_map(Op::Fact),
        1 => (0_usize..3).prop_map(Op::Rollback),
        1 => (0_usize..4).prop_map(Op::Compact),
        5 => (0_usize..7).prop_map(Op::Send),
        1 => prop::collection::vec(0_u64..40, 0..4).prop_map(Op::RestoreSent),
        2 => (0_usize..8, 0_u8..4).prop_map(|(back, state)| Op::Note(back, state)),
        3 => prop::collection::vec(item(), 1..4).prop_map(Op::Author),
        1 => Just(Op::Fork),
        1 => Just(Op::Swap),
        1 => Just(Op::Nothing),
    ]
}

/// The ways in which each history is projected.
fn ways() -> [(Profile, Parts); 7] {
    let blind = parts().with_model(Model::new("blind").with_modalities(Modalities::TEXT));
    [
        (Profile::responses(), parts()),
        (Profile::responses(), blind.clone()),
        (Profile::codex(), parts()),
        (Profile::codex(), blind),
        (Profile::anthropic_messages(), parts()),
        (Profile::gemini(), parts().with_model(Model::new("m2"))),
        (paired(), parts()),
    ]
}

/// Every call and its output are a step of their own.
fn paired() -> Profile {
    let mut paired = Profile::responses();
    paired.output_place = OutputPlace::Paired;
    paired
}

/// Fails unless both prompts say the same of everything.
#[track_caller]
fn check_same(made: &Prompt, plain: &Prompt) {
    assert_eq!(made.input_json(), plain.input_json());
    for (one, two) in made.items().iter().zip(plain.items()) {
        assert_eq!(one.kinds(), two.kinds());
        assert_eq!(one.provenance(), two.provenance());
        assert_eq!((one.digest(), one.tokens(), one.link()), (two.digest(), two.tokens(), two.link()));
    }
    assert_eq!(made.items().len(), plain.items().len());
    assert_eq!(made.repairs(), plain.repairs());
    assert_eq!(made.media(), plain.media());
    assert_eq!(made.synthetic_outputs(), plain.synthetic_outputs());
    assert_eq!(made.proof(), plain.proof());
    assert_eq!(made.history().entry_count(), plain.history().entry_count());
    let chain =
        plain.items().iter().fold(Digest::CHAIN_START, |link, item| link.chained(Digest::of(item.item().as_bytes())));
    assert_eq!((made.chain(), plain.chain()), (chain, chain));
    let tokens = plain.items().iter().map(|item| item.tokens()).sum::<u64>();
    assert_eq!((made.input_tokens(), plain.input_tokens()), (tokens, tokens));
}

/// Fails unless the prompt's bytes are the same in every form.
#[track_caller]
fn check_bytes(made: &Prompt) {
    let items: Vec<&str> = made.items().iter().map(|item| item.item().as_str()).collect();
    let want = format!("[{}]", items.join(","));
    assert_eq!(made.input_json(), want);
    let want = want.into_bytes();
    let chunks: Vec<_> = made.body().collect();
    assert!(chunks.iter().all(|chunk| !chunk.is_empty()));
    assert_eq!(chunks.iter().flat_map(|chunk| chunk.to_vec()).collect::<Vec<u8>>(), want);
    let mut read = Vec::new();
    assert_eq!(made.body().byte_len(), made.body().map(|chunk| chunk.len()).sum::<usize>());
    made.body().into_reader().read_to_end(&mut read).expect("memory can be read");
    assert_eq!(read, want);
}

fn run(ops: &[Op]) {
    let mut manager = ContextManager::new();
    let mut other = manager.clone();
    let ways = ways();
    let mut projectors = ways.clone().map(|(profile, _)| Projector::new(profile));
    for op in ops {
        match op {
            Op::Record(items) => {
                manager.record_items(items.iter().cloned(), &recording()).expect("small items");
            }
            Op::Author(items) => {
                manager.record_items(items.iter().cloned(), &recording().by_model("m2")).expect("small items");
            }
            Op::Note(back, state) => {
                let position = manager.history().items().rev().nth(*back).map(|envelope| envelope.position());
                let state = match state {
                    0 => CallState::NotStarted,
                    1 => CallState::OutcomeUnknown,
                    _ => CallState::Cancelled { partial: format!("{state}").into() },
                };
                if let Some(position) = position {
                    // It is refused for what is no call, and for one that was sent.
                    drop(manager.note_call(position, state));
                }
            }
            Op::Fact(word) => {
                manager.set_world_state_baseline(Some(crate::baselines::snapshot_of(&word.to_string())));
            }
            Op::Rollback(turns) => {
                manager.drop_last_n_user_turns(*turns);
            }
            Op::Compact(skipped) => {
                let before = manager.snapshot();
                let kept = before.items().skip(*skipped).map(|envelope| Replacement::Keep(envelope.position()));
                let items = std::iter::once(user("summary").into()).chain(kept);
                manager.rewrite(Rewrite::Compaction, items, &recording()).expect("what is kept is there");
            }
            Op::Send(way) => {
                let prompt = projectors[*way].prompt(&manager, &ways[*way].1);
                manager.mark_sent(&prompt).expect("nothing was added");
            }
            Op::RestoreSent(positions) => manager.restore_sent(positions.iter().copied().map(Position::new)),
            Op::Fork => other = manager.clone(),
            Op::Swap => std::mem::swap(&mut manager, &mut other),
            Op::Nothing => {}
        }
        for ((profile, parts), projector) in ways.iter().zip(&mut projectors) {
            let made = projector.prompt(&manager, parts);
            check_same(&made, &manager.for_prompt(parts, profile));
        }
        check_bytes(&projectors[0].prompt(&manager, &ways[0].1));
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(500), ..ProptestConfig::default() })]

    #[test]
    fn law_4_the_projector_says_what_the_plain_form_says(ops in prop::collection::vec(op(), 0..24)) {
        run(&ops);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(500), ..ProptestConfig::default() })]

    /// One call id only, so that calls and outputs meet in every order.
    #[test]
    fn law_4_calls_and_outputs_of_one_id_in_every_order(picks in prop::collection::vec(0_usize..12, 0..30)) {
        let server = r#"{"type":"tool_search_output","call_id":"1","status":"completed","execution":"server","tools":[]}"#;
        let search = r#"{"type":"tool_search_call","call_id":"1","execution":"client","arguments":{}}"#;
        let ops: Vec<Op> = picks.iter().enumerate().map(|(number, pick)| match pick {
            0..=2 => Op::Record(vec![call("1")]),
            3..=5 => Op::Record(vec![output("1", &number.to_string())]),
            6..=7 => Op::Send(0),
            8 => Op::Send(2),
            9 => Op::Record(vec![raw(server)]),
            10 => Op::Record(vec![raw(search)]),
            _ => Op::Compact(1),
        }).collect();
        run(&ops);
    }
}

/// Calls with outputs, as they come; `number` of each.
fn long_history(number: usize) -> ContextManager {
    let mut manager = ContextManager::new();
    for number in 0..number {
        let id = format!("c{number}");
        manager.record_items([call(&id), output(&id, &"x".repeat(200))], &recording()).expect("small items");
    }
    manager
}

/// The plain form hands its items on many at a time; what is said of the later ones must not show it.
#[test]
fn law_4_a_long_history_is_the_same_prompt_in_both_forms() {
    let mut manager = long_history(400);
    let odd = [call("open"), output("nobody", "x"), user(" "), assistant("a"), call("c1"), output("c1", "again")];
    manager.record_items(odd, &recording()).expect("small items");
    for (profile, parts) in ways() {
        let plain = manager.for_prompt(&parts, &profile);
        assert!(!plain.repairs().is_empty());
        check_same(&Projector::new(profile).prompt(&manager, &parts), &plain);
    }
}

#[test]
fn law_10_a_prompt_of_nothing_new_allocates_nothing() {
    for number in [0, 100, 10_000] {
        let mut manager = long_history(number);
        manager.record_items([call("open"), output("orphan", "o")], &recording()).expect("small items");
        let (parts, mut projector) = (parts(), Projector::new(Profile::responses()));
        drop(projector.prompt(&manager, &parts));
        let cost = measure(|| assert_eq!(projector.prompt(&manager, &parts).proof(), &Proof::First));
        assert_eq!(cost.count_total, 0, "{number} calls");
        let sent = projector.prompt(&manager, &parts);
        manager.mark_sent(&sent).expect("nothing was added");
        let cost = measure(|| assert_eq!(projector.prompt(&manager, &parts).proof(), &Proof::Identical));
        assert_eq!(cost.count_total, 0, "{number} calls, sent");
    }
}

#[test]
fn law_10_new_items_cost_the_same_in_every_history() {
    let mut costs = Vec::new();
    for number in [1_000, 30_000] {
        let (parts, mut projector) = (parts(), Projector::new(Profile::responses()));
        let mut manager = long_history(number);
        manager.mark_sent(&projector.prompt(&manager, &parts)).expect("nothing was added");
        let mut most = (0, 0);
        for step in 0..20 {
            let id = format!("n{step}");
            manager.record_items([call(&id), output(&id, "ok")], &recording()).expect("small items");
            let mut made = None;
            let cost = measure(|| made = Some(projector.prompt(&manager, &parts)));
            let made = made.expect("it was made");
            assert_eq!(made.proof(), &Proof::Extends { shared: 2 * (number + step), new: 2 });
            manager.mark_sent(&made).expect("nothing was added");
            most = (most.0.max(cost.count_total), most.1.max(cost.bytes_total));
        }
        costs.push(most);
    }
    // A chunk of the log and a segment may fall due; neither grows with the history.
    assert!(costs.iter().all(|(count, bytes)| *count < 60 && *bytes < 400_000), "{costs:?}");
}

#[test]
fn a_long_history_has_few_chunks() {
    let manager = long_history(5_000);
    let made = Projector::new(Profile::responses()).prompt(&manager, &parts());
    let (joined, plain) = (made.body().count(), manager.for_prompt(&parts(), &Profile::responses()).body().count());
    assert!(joined < plain / 10, "{joined} of {plain}");
    check_bytes(&made);
}

#[test]
fn a_body_outlives_its_prompt() {
    let mut projector = Projector::new(Profile::responses());
    let manager = manager_of([user("u")]);
    let body = projector.prompt(&manager, &parts()).body();
    drop((projector, manager));
    let bytes = std::thread::spawn(move || body.flat_map(|chunk| chunk.to_vec()).collect::<Vec<u8>>());
    let want = format!("[{}]", WireItem::user_text("u").as_str());
    assert_eq!(String::from_utf8(bytes.join().expect("it is read")).expect("JSON is text"), want);
}

#[test]
fn parallel_calls_give_way_one_by_one() {
    let mut manager = manager_of([user("u"), call("1"), call("2")]);
    let mut projector = Projector::new(Profile::responses());
    let shown = projector.prompt(&manager, &parts());
    assert_eq!(projected(&shown), ["U\"u\"", "C(1)", "O(1,\"aborted\")", "C(2)", "O(2,\"aborted\")"]);
    manager.record_items([output("2", "b"), assistant("a")], &recording()).expect("small items");
    let next = projector.prompt(&manager, &parts());
    assert_eq!(projected(&next), ["U\"u\"", "C(1)", "O(1,\"aborted\")", "C(2)", "O(2,\"b\")", "A\"a\""]);
    assert_eq!(rules(&next), ["missing_output"]);
    assert_eq!(projected(&shown).len(), 5, "a prompt that was made never changes");
}

#[test]
fn joined_items_are_taken_apart_where_an_output_comes_late() {
    for behind in [0, 1, 100, 400, 900] {
        let mut manager = manager_of((0..300).map(|_| user(&"u".repeat(1_000))));
        manager.record_items([call("1")], &recording()).expect("a small item");
        manager.record_items((0..behind).map(|_| assistant(&"a".repeat(1_000))), &recording()).expect("small items");
        let mut projector = Projector::new(Profile::responses());
        let shown = projector.prompt(&manager, &parts());
        let bytes = shown.input_json();
        check_bytes(&shown);
        manager.record_items([output("1", "x")], &recording()).expect("a small item");
        let next = projector.prompt(&manager, &parts());
        check_same(&next, &manager.for_prompt(&parts(), &Profile::responses()));
        check_bytes(&next);
        manager.record_items((0..600).map(|_| user(&"w".repeat(1_000))), &recording()).expect("small items");
        check_bytes(&projector.prompt(&manager, &parts()));
        assert_eq!(shown.input_json(), bytes, "a prompt that was made never changes");
        check_bytes(&shown);
    }
}
