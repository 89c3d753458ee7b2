//! What a provider counted, and how long that is believed.

use context_manager::{ContextManager, Model, Preset, TotalTokens, UsageAnchor};

use crate::setup::{assistant, custom_output, manager_of, raw, reasoning, recording, user};

fn model() -> Model {
    Model::new("m1")
}

#[test]
fn the_total_is_what_was_counted_and_what_came_after() {
    let mut manager = manager_of([user("u"), assistant("a")]);
    let anchor = UsageAnchor::new(manager.history(), &model(), 100);
    manager.record_items([user("12345678"), custom_output("c1", "12")], &recording()).expect("small items");
    assert_eq!(anchor.total(manager.history(), &model()), TotalTokens::Known(100 + 2 + 1));
    // What was recorded between the answer and the report counts as after it.
    let later = UsageAnchor::new(manager.history(), &model(), 100);
    assert_eq!(later, anchor);
}

#[test]
fn without_anything_of_a_model_the_report_counts_up_to_the_end() {
    let mut manager = manager_of([user("12345678")]);
    let anchor = UsageAnchor::new(manager.history(), &model(), 10);
    assert_eq!(anchor.total(manager.history(), &model()), TotalTokens::Known(10));
    manager.record_items([user("1234")], &recording()).expect("a small item");
    assert_eq!(anchor.total(manager.history(), &model()), TotalTokens::Known(11));
    let empty = UsageAnchor::new(ContextManager::new().history(), &model(), 10);
    assert_eq!(empty.total(manager.history(), &model()).known(), Some(13));
}

#[test]
fn another_model_another_version_and_another_history_are_unknown() {
    let mut manager = manager_of([user("u"), assistant("a"), user("v")]);
    let anchor = UsageAnchor::new(manager.history(), &model(), 100);
    assert_eq!(anchor.total(manager.history(), &Model::new("m2")), TotalTokens::Unknown);
    assert_eq!(anchor.total(manager_of([user("u"), assistant("b")]).history(), &model()), TotalTokens::Unknown);
    assert_eq!(anchor.total(ContextManager::new().history(), &model()), TotalTokens::Unknown);
    manager.drop_last_n_user_turns(1);
    assert_eq!(anchor.total(manager.history(), &model()), TotalTokens::Unknown);
}

#[test]
fn a_fork_with_an_equal_answer_at_the_same_place_is_another_history() {
    let base = manager_of([user("u"), user("v")]);
    let [mut one, mut two] = [base.clone(), base];
    for (manager, words) in [(&mut one, "short"), (&mut two, "a much longer question")] {
        manager.drop_last_n_user_turns(1);
        manager.record_items([user(words), assistant("ok")], &recording()).expect("small items");
    }
    let anchor = UsageAnchor::new(one.history(), &model(), 100);
    assert_eq!(anchor.total(one.history(), &model()), TotalTokens::Known(100));
    assert_eq!(anchor.total(two.history(), &model()), TotalTokens::Unknown);
    let endless = UsageAnchor::new(one.history(), &model(), u64::MAX);
    one.record_items([user("more")], &recording()).expect("a small item");
    assert_eq!(endless.total(one.history(), &model()), TotalTokens::Known(u64::MAX));
}

#[test]
fn reasoning_before_the_last_turn_of_the_user() {
    let of = |len: usize| reasoning(&"x".repeat(len));
    let manager = manager_of([of(900), of(1_000), user("u"), of(2_000)]);
    for preset in [Preset::Default, Preset::Codex] {
        assert_eq!(manager.history().reasoning_tokens_before_last_turn(preset), 7 + 25);
        assert_eq!(manager_of([of(900)]).history().reasoning_tokens_before_last_turn(preset), 0);
    }
    let plain = raw(r#"{"type":"reasoning","summary":[]}"#);
    assert_eq!(manager_of([plain, user("u")]).history().reasoning_tokens_before_last_turn(Preset::Default), 0);
}
