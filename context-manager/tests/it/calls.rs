//! What a host knows of calls without an output, and what their synthetic outputs say.

use context_fragments::Limit;
use context_manager::{CallState, ContextManager, Error, Position, Profile, Projector, Proof, Replacement, Rewrite};

use crate::setup::{
    call, codex_prompt, custom_call, manager_of, output, parts, projected, prompt, raw, recording, user,
};

/// The text of the synthetic output of one call, of which `state` is known.
#[track_caller]
fn check(state: CallState, want: &str) {
    let mut manager = manager_of([user("u"), call("1")]);
    manager.note_call(Position::new(1), state).expect("a call stands there");
    assert_eq!(projected(&prompt(&manager))[2], format!("O(1,{want:?})"));
    // The reference says one word.
    assert_eq!(projected(&codex_prompt(&manager))[2], "O(1,\"aborted\")");
}

#[test]
fn a_synthetic_output_says_how_far_the_call_had_come() {
    check(CallState::NotStarted, "aborted: the tool was not started");
    check(
        CallState::OutcomeUnknown,
        "aborted: the tool was started and its outcome is unknown; check what it has done before you call it again",
    );
    check(
        CallState::Cancelled { partial: " ".into() },
        "aborted: the tool was stopped while it ran, before it had put out anything",
    );
    check(
        CallState::cancelled("half a \"line\"", Limit::Tokens(100)),
        "aborted: the tool was stopped while it ran. It had put out:\nhalf a \"line\"",
    );
}

#[test]
fn what_a_cancelled_call_had_put_out_is_bounded() {
    let state = CallState::cancelled(&"x".repeat(10_000), Limit::Bytes(200));
    let CallState::Cancelled { partial } = &state else { panic!("{state:?}") };
    assert!(partial.len() <= 200 && partial.contains("chars truncated"), "{partial}");
    assert!(state.text().len() < 300);
}

#[test]
fn what_was_sent_never_says_anything_else() {
    let mut manager = manager_of([user("u"), call("1"), custom_call("2")]);
    manager.note_call(Position::new(1), CallState::NotStarted).expect("a call stands there");
    manager.note_call(Position::new(1), CallState::OutcomeUnknown).expect("nothing was sent");
    let first = prompt(&manager);
    manager.mark_sent(&first).expect("nothing was added");
    for position in [1, 2] {
        let refused = manager.note_call(Position::new(position), CallState::NotStarted);
        assert!(matches!(refused, Err(Error::AlreadySent { .. })), "{refused:?}");
    }
    assert_eq!(prompt(&manager).proof(), &Proof::Identical);
    // Neither a rollback of what stands behind it nor a late output changes it.
    manager.record_items([user("v"), output("1", "late")], &recording()).expect("small items");
    manager.mark_sent(&prompt(&manager)).expect("nothing was added");
    manager.drop_last_n_user_turns(1);
    assert_eq!(projected(&prompt(&manager)), projected(&first));
}

#[test]
fn what_is_noted_after_a_prompt_was_made_is_not_what_it_said() {
    for noted_before in [None, Some(CallState::OutcomeUnknown)] {
        let mut manager = manager_of([user("u"), call("1")]);
        let mut projector = Projector::new(Profile::responses());
        if let Some(state) = &noted_before {
            manager.note_call(Position::new(1), state.clone()).expect("nothing was sent");
        }
        let made = projector.prompt(&manager, &parts());
        manager.note_call(Position::new(1), CallState::NotStarted).expect("nothing was sent");
        let sent = manager.mark_sent(&made).expect("no item was added");
        assert_eq!(sent.call_states, Vec::from_iter(noted_before.map(|state| (Position::new(1), state))));
        assert_eq!(prompt(&manager).proof(), &Proof::Identical);
        assert_eq!(projector.prompt(&manager, &parts()).proof(), &Proof::Identical);
        // A later run that reads the log says the same.
        let mut resumed = manager_of([user("u"), call("1")]);
        resumed.restore_sent(sent.synthetic_outputs);
        resumed.restore_call_states(sent.call_states);
        assert_eq!(prompt(&resumed).input_json(), made.input_json());
    }
}

#[test]
fn what_is_no_call_is_refused() {
    let mut manager = manager_of([user("u")]);
    for position in [0, 7] {
        let error = manager.note_call(Position::new(position), CallState::NotStarted).expect_err("no call");
        assert_eq!(error.to_string(), format!("no call at position {position}"));
    }
}

#[test]
fn an_output_that_comes_before_it_was_sent_is_the_output() {
    let mut manager = manager_of([call("1")]);
    manager.note_call(Position::new(0), CallState::OutcomeUnknown).expect("a call stands there");
    manager.record_items([output("1", "done")], &recording()).expect("a small item");
    assert_eq!(projected(&prompt(&manager)), ["C(1)", "O(1,\"done\")"]);
}

#[test]
fn what_is_known_goes_with_a_call_that_is_kept_and_with_a_log() {
    let mut manager = manager_of([user("u"), call("1")]);
    manager.note_call(Position::new(1), CallState::NotStarted).expect("a call stands there");
    let known: Vec<(Position, CallState)> =
        manager.call_states().map(|(position, state)| (position, state.clone())).collect();
    let mut resumed = manager_of([user("u"), call("1")]);
    resumed.restore_call_states(known);
    assert_eq!(prompt(&resumed).input_json(), prompt(&manager).input_json());

    let before = prompt(&manager);
    manager
        .rewrite(Rewrite::Compaction, [user("summary").into(), Replacement::Keep(Position::new(1))], &recording())
        .expect("what is kept is there");
    assert_eq!(projected(&prompt(&manager))[2], projected(&before)[2]);
}

#[test]
fn calls_with_one_item_id_get_outputs_with_ids_of_their_own() {
    let with_id = |call_id: &str| {
        raw(&format!(r#"{{"type":"function_call","id":"fc_1","name":"f","arguments":"{{}}","call_id":"{call_id}"}}"#))
    };
    let made = prompt(&manager_of([with_id("a"), with_id("b")]));
    let ids: Vec<Option<String>> =
        made.items().iter().map(|item| item.item().item_id().map(|id| id.into_owned())).collect();
    assert_eq!(ids[2..], [None, None], "the second call and its output have none");
    assert_eq!(ids[0].as_deref(), Some("fc_1"));
    assert!(ids[1].as_deref().is_some_and(|id| id.starts_with("fco_")), "{ids:?}");
    assert_eq!(crate::setup::rules(&made), ["missing_output", "repeated_item_id", "missing_output"]);
    // The reference leaves them as they are.
    let plain = codex_prompt(&manager_of([with_id("a"), with_id("b")]));
    assert_eq!(plain.items()[1].item().item_id(), plain.items()[3].item().item_id());
}

#[test]
fn a_projector_takes_up_what_is_known_of_a_call() {
    let mut manager: ContextManager = manager_of([user("u"), call("1"), user("v")]);
    let mut projector = Projector::new(Profile::responses());
    assert_eq!(projected(&projector.prompt(&manager, &parts()))[2], "O(1,\"aborted\")");
    manager.note_call(Position::new(1), CallState::NotStarted).expect("a call stands there");
    assert_eq!(projected(&projector.prompt(&manager, &parts())), projected(&prompt(&manager)));
    assert_eq!(projected(&prompt(&manager))[2], "O(1,\"aborted: the tool was not started\")");
}
