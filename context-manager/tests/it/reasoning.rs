//! Reasoning: what signs it, who made it, and what follows it.

use context_fragments::ContextItem;
use context_manager::{
    ContextManager, Declared, Mend, Model, Parts, Profile, Projection, Projector, Prompt, Proof, Restored,
};

use crate::setup::{
    assistant, call, codex_prompt, manager_of, output, parts, projected, prompt, raw, reasoning, recording, rules, user,
};

fn asking(model: &str) -> Parts {
    parts().with_model(Model::new(model))
}

fn for_model(manager: &ContextManager, model: &str) -> Prompt {
    manager.for_prompt(&asking(model), &Profile::responses())
}

/// A question, and what the model `x` answered.
fn answered_by_x() -> ContextManager {
    let mut manager = manager_of([user("u")]);
    let answer =
        raw(r#"{"type":"message","id":"msg_1","role":"assistant","content":[{"type":"output_text","text":"a"}]}"#);
    manager.record_items([reasoning("xxxx"), answer], &recording().by_model("x")).expect("small items");
    manager
}

#[track_caller]
fn check(items: impl IntoIterator<Item = ContextItem>, want: &[&str], want_rules: &[&str]) {
    let manager = manager_of(items);
    let made = prompt(&manager);
    assert_eq!((projected(&made), rules(&made)), (want.iter().map(ToString::to_string).collect(), want_rules.to_vec()));
    assert_eq!(codex_prompt(&manager).items().len(), manager.history().item_count());
}

#[test]
fn n22_reasoning_of_another_model_is_left_out_and_is_there_again_for_its_own() {
    let mut manager = answered_by_x();
    let own = for_model(&manager, "x");
    assert_eq!((projected(&own).len(), rules(&own).len()), (3, 0));
    manager.mark_sent(&own).expect("nothing was added");

    let other = for_model(&manager, "y");
    assert_eq!(projected(&other), ["U\"u\"", "A\"a\""]);
    // The answer's id would name the reasoning that is gone.
    assert_eq!(rules(&other), ["foreign_reasoning", "id_without_reasoning"]);
    assert!(!other.input_json().contains("msg_1"));
    let broken = other.proof().broken().expect("the reasoning is gone");
    assert_eq!(broken.declared, [Declared::Projection(Projection::Model)]);

    manager.mark_sent(&other).expect("nothing was added");
    let back = for_model(&manager, "x");
    assert_eq!(back.input_json(), own.input_json());
    assert_eq!(
        back.proof().broken().map(|broken| broken.declared.clone()),
        Some(vec![Declared::Projection(Projection::Model)])
    );
}

#[test]
fn n22_the_model_is_kept_with_the_item_and_comes_back_from_a_log() {
    let manager = answered_by_x();
    let models: Vec<Option<&str>> = manager.history().items().map(|envelope| envelope.model()).collect();
    assert_eq!(models, [None, Some("x"), Some("x")], "the user is no model");
    let mut resumed = ContextManager::new();
    for envelope in manager.history().items() {
        let mut restored = Restored::new(envelope.context_item().clone(), envelope.position());
        restored.model = envelope.model().map(Into::into);
        resumed.restore(restored).expect("positions increase");
    }
    assert_eq!(for_model(&resumed, "y").input_json(), for_model(&manager, "y").input_json());
}

#[test]
fn n22_reasoning_of_nobody_known_stays_and_a_switch_alone_changes_no_byte() {
    let mut manager = manager_of([user("u"), reasoning("xxxx"), assistant("a")]);
    manager.mark_sent(&for_model(&manager, "x")).expect("nothing was added");
    assert_eq!(for_model(&manager, "y").proof(), &Proof::Identical);
    let mut keeping = Profile::responses();
    keeping.foreign_reasoning = Mend::Keep;
    assert_eq!(answered_by_x().for_prompt(&asking("y"), &keeping).items().len(), 3);
}

#[test]
fn n22_a_projector_follows_a_switch_and_back() {
    let manager = answered_by_x();
    let mut projector = Projector::new(Profile::responses());
    for model in ["x", "y", "y", "x"] {
        let made = projector.prompt(&manager, &asking(model));
        assert_eq!(made.input_json(), for_model(&manager, model).input_json(), "{model}");
    }
}

#[test]
fn n23_a_signature_that_was_cut_is_none() {
    for cut in ["x", "xx", "xxxxx", "gAAAAA=", "xxxx xxxx", "xxx\u{e9}", "=xxx", "x==="] {
        check([user("u"), reasoning(cut), assistant("a")], &["U\"u\"", "A\"a\""], &["cut_signature"]);
    }
    for whole in ["xxxx", "gAAAAABo_-9=", "ab+/cd==", "xxxxxxx="] {
        check([user("u"), reasoning(whole), assistant("a")], &["U\"u\"", "reasoning()", "A\"a\""], &[]);
    }
    let mut needless = Profile::responses();
    needless.cut_signature = Mend::Allow;
    assert_eq!(manager_of([reasoning("x"), assistant("a")]).for_prompt(&parts(), &needless).items().len(), 2);
}

#[test]
fn reasoning_without_what_it_led_to_is_left_out() {
    let lone = "lone_reasoning";
    check([user("u"), reasoning("xxxx")], &["U\"u\""], &[lone]);
    check([reasoning("xxxx"), user("u"), assistant("a")], &["U\"u\"", "A\"a\""], &[lone]);
    check([reasoning("xxxx"), reasoning("yyyy")], &[], &[lone, lone]);
    // A run of them is followed as a whole, by whatever the model made.
    check(
        [reasoning("xxxx"), reasoning("yyyy"), call("1"), output("1", "o")],
        &["reasoning()", "reasoning()", "C(1)", "O(1,\"o\")"],
        &[],
    );
    // What is left out itself follows nothing, and hides nothing.
    check([reasoning("xxxx"), assistant(" "), assistant("a")], &["reasoning()", "A\"a\""], &["blank_text"]);
    check(
        [call("1"), output("1", "o"), reasoning("xxxx"), output("1", "again")],
        &[
            "C(1)",
            "O(1,\"o\")",
            "U\"Output of the tool call 1, which came after the call had been closed. It was written by the tool, not by the user.|again\"",
        ],
        &[lone, "duplicate_output"],
    );
}

#[test]
fn reasoning_that_waited_for_its_follower_extends_what_was_sent() {
    let mut manager = manager_of([user("u"), reasoning("xxxx")]);
    let mut projector = Projector::new(Profile::responses());
    let first = projector.prompt(&manager, &parts());
    assert_eq!(projected(&first), ["U\"u\""]);
    manager.mark_sent(&first).expect("nothing was added");
    manager.record_items([assistant("a")], &recording()).expect("a small item");
    let second = projector.prompt(&manager, &parts());
    assert_eq!(second.proof(), &Proof::Extends { shared: 1, new: 2 });
    assert_eq!(second.input_json(), prompt(&manager).input_json());
}
