//! Sections by closure.

use std::sync::{Arc, Mutex};

use context_fragments::{FragmentRole, Kind};
use serde_json::{Value, json};
use world_state::*;

use crate::{history, said, stored};

fn fragment(body: &str) -> SectionFragment {
    SectionFragment::new("extension_test", FragmentRole::Developer, body)
        .between("<extension_test>", "</extension_test>")
}

fn world_with(section: ExtensionSection) -> WorldState {
    let mut world = WorldState::new();
    world.set_extension(section).unwrap();
    world
}

#[test]
fn a_closure_sees_what_is_stored_and_sets_it() {
    let section = ExtensionSection::new("extension_test", |previous| {
        assert_eq!(previous, PreviousSectionState::Known(&json!({"value": "before"})));
        SectionDiff::set(json!({"value": "after", "optional": null})).tell(&fragment("after"))
    });
    let previous = stored(json!({"extension_test": {"value": "before"}}));
    let diff = world_with(section).render_diff(Some(&previous), &history(&[])).unwrap();
    assert_eq!(diff.snapshot, stored(json!({"extension_test": {"value": "after"}})));
    assert_eq!(said(&diff), [("extension_test", "<extension_test>after</extension_test>")]);
    let items = merge_updates(diff.updates);
    assert_eq!(items[0].kinds(), [Kind::new("extension_test.instructions")]);
    assert_eq!(
        items[0].item().as_str(),
        r#"{"type":"message","role":"developer","content":[{"type":"input_text","text":"<extension_test>after</extension_test>"}]}"#
    );
}

#[test]
fn a_deleted_state_is_gone_and_a_null_one_is_refused() {
    let previous = stored(json!({"extension_test": true}));
    let diff = world_with(ExtensionSection::new("extension_test", |_| SectionDiff::delete()))
        .render_diff(Some(&previous), &history(&[]))
        .unwrap();
    assert_eq!(diff.snapshot.merge_patch_from(&previous).unwrap().to_string(), r#"{"extension_test":null}"#);
    assert_eq!(diff.warnings, []);

    let error = world_with(ExtensionSection::new("extension_test", |_| SectionDiff::set(Value::Null)))
        .render_diff(Some(&previous), &history(&[]))
        .unwrap_err();
    assert!(matches!(error, Error::NullSnapshot { .. }));
}

#[test]
fn a_lost_text_is_absent_and_the_stored_state_is_kept() {
    let asked = Arc::new(Mutex::new(Vec::new()));
    let seen = Arc::clone(&asked);
    let section = ExtensionSection::new("extension_test", move |previous| {
        seen.lock().unwrap().push(format!("{previous:?}"));
        SectionDiff::keep()
    });
    let previous = stored(json!({"extension_test": 7}));
    let lost = history(&[Kind::USER_TEXT]);
    let held = history(&[Kind::new("extension_test.instructions")]);

    let mut opted_in = world_with(section.clone().told_again_when_lost());
    for retained in [&lost, &held] {
        assert!(opted_in.render_diff(Some(&previous), retained).unwrap().snapshot.is_same(&previous));
    }
    let mut opted_out = world_with(section);
    assert!(opted_out.render_diff(Some(&previous), &lost).unwrap().snapshot.is_same(&previous));
    assert_eq!(*asked.lock().unwrap(), ["Absent", "Known(Number(7))", "Known(Number(7))"]);
}

#[test]
fn three_states_stay_three() {
    let asked = Arc::new(Mutex::new(Vec::new()));
    let seen = Arc::clone(&asked);
    let kind = Kind::from_static("elsewhere.text");
    let section = ExtensionSection::new("x", move |previous| {
        seen.lock().unwrap().push(format!("{previous:?}"));
        SectionDiff::keep()
    })
    .with_kinds([kind.clone()]);
    let mut world = world_with(section);
    let mut check = |previous: Value, retained: &[Kind]| {
        assert_eq!(world.render_diff(Some(&stored(previous)), &history(retained)).unwrap().updates, []);
    };
    check(json!({"x": {}}), &[]);
    check(json!({}), &[]);
    check(json!({}), &[kind]);
    check(json!({}), &[Kind::new("x.instructions")]);
    assert_eq!(*asked.lock().unwrap(), ["Known(Object {})", "Absent", "Unknown", "Absent"]);
}

#[test]
fn w02_what_changes_per_turn_cannot_stand_in_the_prefix() {
    let clock = |volatility| {
        ExtensionSection::new("clock", |_| {
            let text = SectionFragment::new("clock", FragmentRole::Developer, "12:30:59");
            SectionDiff::set(json!("12:30:59")).tell_at(Placement::Prefix, &text)
        })
        .with_volatility(volatility)
    };
    let error = world_with(clock(Volatility::PerTurn)).render_full().unwrap_err();
    assert_eq!(error.to_string(), "section `clock` changes per turn and cannot stand in the prefix");
    for volatility in [Volatility::Static, Volatility::PerSession] {
        assert_eq!(world_with(clock(volatility)).render_full().unwrap().updates.len(), 1);
    }
}

#[test]
fn equal_is_the_same_closure() {
    let section = ExtensionSection::new("x", |_| SectionDiff::keep());
    assert_eq!(section, section.clone());
    assert_ne!(section, section.clone().told_again_when_lost());
    assert_ne!(section, ExtensionSection::new("x", |_| SectionDiff::keep()));
    assert_eq!(section.id(), "x");
    assert!(format!("{section:?}").starts_with("ExtensionSection { id: \"x\""));
}

#[test]
fn a_body_cannot_close_its_frame() {
    let section = ExtensionSection::new("extension_test", |_| {
        SectionDiff::set(json!(1)).tell(&fragment("a</Extension_Test>b").of_kind(Kind::from_static("own.kind")))
    });
    let diff = world_with(section).render_full().unwrap();
    assert_eq!(said(&diff)[0].1, r"<extension_test>a<\/Extension_Test>b</extension_test>");
}

#[test]
fn a_section_of_ones_own_takes_under_forty_lines() {
    let readme = include_str!("../../README.md");
    let (_, code) = readme.split_once("/// Tells the model about the tests that fail.").unwrap();
    let (section, test) = code.split_once("\nlet mut world").unwrap();
    assert!(section.contains("impl WorldStateSection for FailingTests"));
    assert!(section.trim().lines().count() < 40, "{}", section.lines().count());
    assert!(test.contains("assert_eq!"), "its test follows");
}
