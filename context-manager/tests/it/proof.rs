//! Prompts that extend the one before, and those that do not.

use context_fragments::json::Shape;
use context_manager::{
    ContextManager, Declared, Digest, Error, Modalities, Model, PartName, Parts, Place, PrefixGuard, Profile, Proof,
    Replacement, Rewrite, assert_extends,
};

use crate::setup::{assistant, call, in_turn, manager_of, output, parts, projected, prompt, raw, recording, user};

#[test]
fn first_identical_and_extended() {
    let mut manager = manager_of([user("a")]);
    let first = prompt(&manager);
    assert_eq!(first.proof(), &Proof::First);
    manager.mark_sent(&first).expect("nothing was added");
    assert_eq!(prompt(&manager).proof(), &Proof::Identical);
    manager.record_items([assistant("b"), user("c")], &recording()).expect("small items");
    let second = prompt(&manager);
    assert_eq!(second.proof(), &Proof::Extends { shared: 1, new: 2 });
    assert_extends!(first, second);
}

#[test]
fn w09_a_change_is_named_by_item_field_and_kind() {
    let text = raw(r#"{"type":"message","role":"user","content":"hi"}"#);
    let list = raw(r#"{"type":"message","role":"user","content":[{"type":"input_text","text":"hi"}]}"#);
    let before = prompt(&manager_of([user("0"), text, user("2")]));
    let after = prompt(&manager_of([user("0"), list, user("2")]));
    let proof = after.compare(&before);
    let broken = proof.broken().expect("item 1 is another one");
    assert_eq!(broken.place, Place::Item(1));
    assert_eq!(broken.field.as_deref(), Some("content"));
    assert_eq!(broken.shape_change.map(|change| (change.before, change.after)), Some((Shape::String, Shape::Array)));
    assert_eq!(broken.byte, r#"{"type":"message","role":"user","content":"#.len());
    assert_eq!(broken.tokens_resent, 2);
    assert!(!proof.is_legal() && !proof.extends());
    assert_eq!(
        broken.to_string(),
        "the prefix breaks in item 1 at byte 42, field `content` (a string became an array), 2 tokens are sent again, and nothing declares it"
    );
}

#[test]
#[should_panic(expected = "the prefix breaks in item 0")]
fn assert_extends_fails_on_a_break() {
    assert_extends!(prompt(&manager_of([user("a")])), prompt(&manager_of([user("b")])));
}

#[test]
fn n27_the_first_prompt_is_a_byte_prefix_of_the_later_one() {
    let mut manager = manager_of([user("u"), call("1"), output("1", "ok")]);
    let (once, twice) = (prompt(&manager), prompt(&manager));
    assert_eq!(once.input_json(), twice.input_json());
    manager.mark_sent(&once).expect("nothing was added");
    manager.record_items([assistant("a")], &recording()).expect("a small item");
    let later = prompt(&manager);
    let prefix = once.input_json();
    assert!(later.input_json().starts_with(prefix.trim_end_matches(']')));
    assert_eq!(later.proof(), &Proof::Extends { shared: 3, new: 1 });
}

#[test]
fn a_preview_disturbs_nothing() {
    let mut manager = manager_of([user("a")]);
    manager.mark_sent(&prompt(&manager)).expect("nothing was added");
    let preview = manager.for_prompt(&parts().with_base("another base"), &Profile::codex());
    assert!(!preview.proof().extends());
    assert_eq!(prompt(&manager).proof(), &Proof::Identical);
}

#[test]
fn a_prompt_of_an_older_history_is_stale() {
    let mut manager = manager_of([user("a")]);
    let old = prompt(&manager);
    // Facts are no items.
    manager.set_world_state_baseline(Some(world_state::WorldStateSnapshot::default()));
    manager.mark_sent(&old).expect("no item was added");
    manager.record_items([user("b")], &recording()).expect("a small item");
    let error = manager.mark_sent(&old).expect_err("an item was added");
    assert!(error.is_stale());
    assert_eq!(
        error.to_string(),
        "the prompt was made from 1 items at version 0, the history has 2 items at version 0"
    );
    let newer = prompt(&manager);
    manager.drop_last_n_user_turns(1);
    manager.record_items([user("c")], &recording()).expect("a small item");
    assert!(matches!(manager.mark_sent(&newer), Err(Error::Stale { prompt_items: 2, items: 2, version: 1, .. })));
    // The same number of items and the same version, but in another fork.
    let mut fork = manager.clone();
    fork.record_items([user("x")], &recording()).expect("a small item");
    manager.record_items([user("y")], &recording()).expect("a small item");
    assert!(manager.mark_sent(&prompt(&fork)).is_err());
}

#[test]
fn a_changed_part_declares_itself() {
    let mut manager = manager_of([user("a")]);
    let base = parts().with_tools("[1]").expect("an array");
    manager.mark_sent(&manager.for_prompt(&base, &Profile::responses())).expect("nothing was added");
    let tools = base.clone().with_tools("[1, 2]").expect("an array");
    let made = manager.for_prompt(&tools, &Profile::responses());
    let broken = made.proof().broken().expect("the tools are others");
    assert_eq!((broken.place, broken.byte), (Place::Part(PartName::Tools), 2));
    assert_eq!(broken.declared, [Declared::Part(PartName::Tools)]);
    assert!(made.proof().is_legal());
    // White space is no change, and neither is the name of the model.
    let same = base.with_tools(" [ 1 ] ").expect("an array").with_model(Model::new("m2"));
    assert_eq!(manager.for_prompt(&same, &Profile::responses()).proof(), &Proof::Identical);
}

#[test]
fn a_changed_part_does_not_excuse_a_changed_item() {
    let before = prompt(&manager_of([user("a")]));
    let after = manager_of([user("b")]).for_prompt(&parts().with_base("new"), &Profile::responses());
    let proof = after.compare(&before);
    let broken = proof.broken().expect("both differ");
    assert_eq!((broken.place, &broken.parts[..]), (Place::Item(0), &[PartName::Base][..]));
    assert!(!proof.is_legal());
}

#[test]
fn a_rewrite_excuses_what_it_took_and_nothing_else() {
    let mut manager = manager_of([user("a"), assistant("b"), user("c")]);
    manager.mark_sent(&prompt(&manager)).expect("nothing was added");
    manager.drop_last_n_user_turns(1);
    let shorter = prompt(&manager);
    let broken = shorter.proof().broken().expect("the last item is gone");
    assert_eq!((broken.place, broken.tokens_resent), (Place::Item(2), 0));
    assert_eq!(broken.declared, [Declared::Rewrite(Rewrite::Rollback)]);
    assert_eq!(broken.after, None);

    // Another history with the same rewrite behind it, but a change before what the rewrite took.
    let mut other = manager_of([user("x"), assistant("b"), user("c")]);
    other.drop_last_n_user_turns(1);
    let mut guard = PrefixGuard::new();
    guard.mark_sent(&prompt(&manager_of([user("a"), assistant("b"), user("c")])));
    assert!(!guard.check(&prompt(&other)).is_legal());
}

#[test]
fn a_rewrite_excuses_what_shows_for_the_other_end_of_a_pair() {
    // The output of an earlier call goes with the last turn, so a synthetic one shows before an item that stayed.
    let mut manager = manager_of([user("1"), call("c"), assistant("a"), user("2"), output("c", "ok")]);
    manager.mark_sent(&prompt(&manager)).expect("nothing was added");
    manager.drop_last_n_user_turns(1);
    let shorter = prompt(&manager);
    assert_eq!(projected(&shorter), ["U\"1\"", "C(c)", "O(c,\"aborted\")", "A\"a\""]);
    let broken = shorter.proof().broken().expect("a synthetic output stands before the answer");
    assert_eq!((broken.place, &broken.declared[..]), (Place::Item(2), &[Declared::Rewrite(Rewrite::Rollback)][..]));
}

#[test]
fn a_replaced_history_is_declared_by_its_name() {
    let mut manager = manager_of([user("a"), assistant("b")]);
    manager.mark_sent(&prompt(&manager)).expect("nothing was added");
    manager.replace_compacted([Replacement::from(user("summary"))], &recording()).expect("a small item");
    let broken = prompt(&manager).proof().broken().cloned().expect("all is new");
    assert_eq!(broken.declared, [Declared::Rewrite(Rewrite::Compaction)]);
    manager.mark_sent(&prompt(&manager)).expect("nothing was added");
    assert_eq!(prompt(&manager).proof(), &Proof::Identical);
}

#[test]
fn the_chain_is_that_of_the_items() {
    let made = prompt(&manager_of([user("a"), user("b")]));
    let digest = |index: usize| Digest::of(made.items()[index].item().as_bytes());
    assert_eq!(made.chain(), Digest::CHAIN_START.chained(digest(0)).chained(digest(1)));
    assert_eq!(prompt(&ContextManager::new()).chain(), Digest::CHAIN_START);
}

#[test]
fn what_was_sent_is_told_for_the_log() {
    let mut manager = manager_of([user("a"), call("1")]);
    let made = prompt(&manager);
    let sent = manager.mark_sent(&made).expect("nothing was added");
    assert_eq!((sent.items, sent.chain, sent.parts), (3, made.chain(), parts().digests()));
    assert_eq!(sent.synthetic_outputs, made.synthetic_outputs());
    // Another run takes it over.
    let mut resumed = manager_of([user("a"), call("1")]);
    resumed.restore_sent(sent.synthetic_outputs);
    resumed.record_items([output("1", "late")], &recording()).expect("a small item");
    assert_eq!(projected(&prompt(&resumed))[2], "O(1,\"aborted\")");
}

#[test]
fn every_way_to_write_the_input_gives_the_same_bytes() {
    for manager in [ContextManager::new(), manager_of([user("a")]), manager_of([user("a"), assistant("é"), call("1")])]
    {
        let made = prompt(&manager);
        let mut written = Vec::new();
        made.write_input(&mut written).expect("a vector takes all");
        assert_eq!(written, made.input_json().as_bytes());
        assert_eq!(made.input_chunks().collect::<Vec<_>>().concat(), written);
        let items: Vec<serde_json::Value> = serde_json::from_slice(&written).expect("it is JSON");
        assert_eq!(items.len(), made.items().len());
    }
}

#[test]
fn parts_have_to_be_the_json_that_they_are() {
    let parts = || Parts::new(Model::new("m").with_modalities(Modalities::new(true, false)));
    let words = |result: Result<Parts, Error>| result.expect_err("it is refused").to_string();
    assert_eq!(words(parts().with_tools("{}")), "tools: expected an array, found an object");
    assert_eq!(words(parts().with_schema("3")), "schema: expected an object or null, found a number");
    assert_eq!(words(parts().with_parameters("{")), "parameters: not JSON at line 1, column 1");
}

#[test]
fn a_turn_of_its_own_is_in_the_provenance() {
    let mut manager = ContextManager::new();
    manager.record_items([user("a")], &in_turn("t1")).expect("a small item");
    let made = prompt(&manager);
    assert_eq!(made.items()[0].provenance().turn.as_ref().map(ToString::to_string).as_deref(), Some("t1"));
}
