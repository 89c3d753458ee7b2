//! The world: how it holds sections, and what it asks them.

use std::sync::atomic::{AtomicUsize, Ordering};

use context_fragments::{ContextItem, FragmentRole, Kind, RetainedKinds, WireItem};
use serde::{Deserialize, Serialize};
use serde_json::json;
use world_state::*;

use crate::{history, resumed, said, stored, world_of};

/// A section that says its value, and shows what it was asked.
#[derive(Debug, PartialEq)]
struct Probe {
    value: &'static str,
    optional: Option<&'static str>,
}

#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct ProbeSnapshot {
    value: String,
    #[serde(default)]
    optional: Option<String>,
    #[serde(default)]
    array: Vec<Option<u8>>,
}

static PROBE_KINDS: [Kind; 1] = [Kind::from_static("test.instructions")];

impl Probe {
    fn of(value: &'static str) -> Self {
        Self { value, optional: None }
    }
}

impl WorldStateSection for Probe {
    const ID: &'static str = "test";
    type Snapshot = ProbeSnapshot;

    fn render_diff(&self, previous: PreviousSectionState<'_, ProbeSnapshot>) -> SectionDiff<ProbeSnapshot> {
        let asked = match previous {
            PreviousSectionState::Absent => "absent".into(),
            PreviousSectionState::Unknown => "unknown".into(),
            PreviousSectionState::Known(told) if told.value == self.value => return SectionDiff::keep(),
            PreviousSectionState::Known(told) => told.value.clone(),
        };
        let snapshot = ProbeSnapshot {
            value: self.value.into(),
            optional: self.optional.map(Into::into),
            array: vec![Some(1), None],
        };
        let text = format!("{asked} -> {}", self.value);
        SectionDiff::set(snapshot).tell(&SectionFragment::new("test", FragmentRole::Developer, text))
    }

    fn kinds(&self) -> &[Kind] {
        &PROBE_KINDS
    }

    fn retained_kinds(&self) -> &[Kind] {
        &PROBE_KINDS
    }
}

/// Another type with the id of the probe.
#[derive(PartialEq)]
struct Rival;

impl WorldStateSection for Rival {
    const ID: &'static str = "test";
    type Snapshot = bool;

    fn render_diff(&self, _: PreviousSectionState<'_, bool>) -> SectionDiff<bool> {
        SectionDiff::set(true)
    }
}

#[test]
fn a_stored_state_is_read_as_its_type() {
    let told = world_of(Probe::of("before")).render_full().unwrap().snapshot;
    for previous in [told.clone(), resumed(&told)] {
        let diff = world_of(Probe::of("after")).render_diff(Some(&previous), &history(&PROBE_KINDS)).unwrap();
        assert_eq!(said(&diff), [("test", "before -> after")]);
        assert_eq!(diff.snapshot, stored(json!({"test": {"value": "after", "array": [1, null]}})));
        assert_eq!(diff.warnings, []);
    }
}

#[test]
fn without_a_stored_state_the_history_decides() {
    let mut world = world_of(Probe::of("now"));
    let mut check = |previous, kinds: &[Kind], want| {
        let diff = world.render_diff(previous, &history(kinds)).unwrap();
        assert_eq!(said(&diff), [("test", want)]);
    };
    let empty = WorldStateSnapshot::default();
    check(None, &[], "absent -> now");
    check(Some(&empty), &[], "absent -> now");
    check(None, &[Kind::USER_TEXT], "absent -> now");
    check(None, &PROBE_KINDS, "unknown -> now");
    check(Some(&empty), &PROBE_KINDS, "unknown -> now");
}

#[test]
fn what_is_lost_from_the_history_is_said_again() {
    let mut world = world_of(Probe::of("now"));
    let told = world.render_full().unwrap().snapshot;
    assert_eq!(said(&world.render_diff(Some(&told), &history(&PROBE_KINDS)).unwrap()), []);
    let diff = world.render_diff(Some(&told), &history(&[Kind::USER_TEXT])).unwrap();
    assert_eq!(said(&diff), [("test", "absent -> now")]);
    assert!(diff.snapshot.is_same(&told), "the state is what it was");
    // And again, until the history holds it.
    assert_eq!(said(&world.render_diff(Some(&told), &history(&[])).unwrap()), [("test", "absent -> now")]);
    assert_eq!(said(&world.render_diff(Some(&told), &history(&PROBE_KINDS)).unwrap()), []);
}

#[test]
fn a_state_that_cannot_be_read_is_unknown_and_reported() {
    for shape in [json!({"invalid": true}), json!(false), json!("a hash"), json!([]), json!({}), json!(1.5)] {
        let previous = stored(json!({ "test": shape }));
        let mut world = world_of(Probe::of("now"));
        let diff = world.render_diff(Some(&previous), &history(&PROBE_KINDS)).unwrap();
        assert_eq!(said(&diff), [("test", "unknown -> now")], "{shape}");
        let [warning @ Warning::Unreadable { section, reason, .. }] = diff.warnings.as_slice() else {
            panic!("{shape}: {:?}", diff.warnings)
        };
        assert_eq!(section.as_ref(), "test");
        assert!(warning.to_string().ends_with(reason.as_str()), "{warning}");
        // Once.
        let diff = world.render_diff(Some(&diff.snapshot), &history(&PROBE_KINDS)).unwrap();
        assert_eq!((said(&diff), diff.warnings.len()), (vec![], 0));
    }
}

#[test]
fn an_equal_section_moves_nothing() {
    let mut world = WorldState::new();
    assert_eq!(world.set(Probe::of("a")).unwrap(), SetOutcome::Added);
    assert_eq!(world.set(Probe::of("a")).unwrap(), SetOutcome::Unchanged);
    assert_eq!(world.set(Probe::of("b")).unwrap(), SetOutcome::Replaced);
    assert_eq!(world.section::<Probe>(), Some(&Probe::of("b")));
    assert!(world.section::<Rival>().is_none());
}

#[test]
fn a_shared_section_is_the_same_or_equal_or_another() {
    let shared = std::sync::Arc::new(Probe::of("a"));
    let mut world = WorldState::new();
    assert_eq!(world.set_shared(&shared).unwrap(), SetOutcome::Added);
    assert_eq!(world.set_shared(&shared).unwrap(), SetOutcome::Unchanged);
    assert_eq!(world.set(Probe::of("a")).unwrap(), SetOutcome::Unchanged);
    assert_eq!(world.set_shared(&std::sync::Arc::new(Probe::of("a"))).unwrap(), SetOutcome::Unchanged);
    assert_eq!(world.set_shared(&std::sync::Arc::new(Probe::of("b"))).unwrap(), SetOutcome::Replaced);
    assert_eq!(world.set_shared(&shared).unwrap(), SetOutcome::Replaced);
    assert_eq!(world.section::<Probe>(), Some(&Probe::of("a")));
    assert!(matches!(world.set_shared(&std::sync::Arc::new(Rival)), Err(Error::DuplicateId { .. })));
}

#[test]
fn a_duplicate_id_is_refused_by_name_and_nothing_moves() {
    let mut world = world_of(Probe::of("a"));
    let extension = ExtensionSection::new("test", |_| SectionDiff::keep());
    for error in [world.set(Rival).unwrap_err(), world.set_extension(extension.clone()).unwrap_err()] {
        assert_eq!(error.to_string(), "duplicate world-state section ID: test");
    }
    assert_eq!(world.section::<Probe>(), Some(&Probe::of("a")));

    let mut world = WorldState::new();
    world.set_extension(extension.clone()).unwrap();
    assert!(matches!(world.set(Rival), Err(Error::DuplicateId { id, .. }) if id.as_ref() == "test"));
    assert_eq!(world.set_extension(extension).unwrap(), SetOutcome::Unchanged);
}

#[test]
fn sections_stay_in_the_order_in_which_they_were_added() {
    let section = |id: &'static str| {
        ExtensionSection::new(id, move |_| {
            SectionDiff::set(json!(1)).tell(&SectionFragment::new(id, FragmentRole::User, id))
        })
    };
    let mut world = WorldState::new();
    for id in ["z", "a", "m"] {
        world.set_extension(section(id)).unwrap();
    }
    world.set_extension(section("z")).unwrap();
    assert_eq!(said(&world.render_full().unwrap()), [("z", "z"), ("a", "a"), ("m", "m")]);
    assert!(world.remove("a"));
    assert!(!world.remove("a"));
    world.set_extension(section("a")).unwrap();
    assert_eq!(world.ids().collect::<Vec<_>>(), ["z", "m", "a"]);
    assert_eq!(format!("{world:?}"), r#"WorldState(["z", "m", "a"])"#);
}

#[test]
fn the_skills_of_the_host_stand_before_the_permissions() {
    let section = |id: &'static str| {
        ExtensionSection::new(id, move |previous| match previous {
            PreviousSectionState::Known(_) => SectionDiff::keep(),
            _ => SectionDiff::set(json!(1)).tell(&SectionFragment::new(id, FragmentRole::Developer, id)),
        })
    };
    let mut world = world_of(PersonalityState::none());
    world.set(PermissionsState::new("Read.")).unwrap();
    for id in ["skills", "host_skills", "cloud_skills"] {
        assert_eq!(world.set_extension(section(id)).unwrap(), SetOutcome::Added);
    }
    let order = ["personality", "host_skills", "permissions", "skills", "cloud_skills"];
    assert_eq!(world.ids().collect::<Vec<_>>(), order);
    // Once it stands it stays, and without permissions it stands where every other one would.
    assert_eq!(world.set_extension(section("host_skills")).unwrap(), SetOutcome::Replaced);
    assert_eq!(world.ids().collect::<Vec<_>>(), order);
    let mut world = world_of(PersonalityState::none());
    world.set_extension(section("host_skills")).unwrap();
    world.set(PermissionsState::new("Read.")).unwrap();
    assert_eq!(world.ids().collect::<Vec<_>>(), ["personality", "host_skills", "permissions"]);
}

#[test]
fn a_section_that_is_taken_out_leaves_the_state_with_a_warning() {
    let mut world = world_of(Probe::of("a"));
    world.set_extension(ExtensionSection::new("other", |_| SectionDiff::set(json!(true)))).unwrap();
    let told = world.render_full().unwrap().snapshot;
    world.remove("test");
    let diff = world.render_diff(Some(&told), &history(&PROBE_KINDS)).unwrap();
    assert_eq!(diff.merge_patch(&told), r#"{"test":null}"#);
    assert_eq!(said(&diff), []);
    assert_eq!(diff.warnings.len(), 1);
    assert_eq!(diff.warnings[0].to_string(), "section `test` left the world, and the model was not told");
    assert_eq!(diff.warnings[0].section(), "test");
    // Coming back, it says everything, and that it may not be the first time.
    world.set(Probe::of("a")).unwrap();
    let diff = world.render_diff(Some(&diff.snapshot), &history(&PROBE_KINDS)).unwrap();
    assert_eq!(said(&diff), [("test", "unknown -> a")]);
}

#[test]
fn only_the_section_that_changed_speaks() {
    let mut world = world_of(Probe::of("a"));
    world.set(ModelInstructionsState::new("m1", "I1")).unwrap();
    world.set(PermissionsState::new("P1")).unwrap();
    let retained = history(&[PROBE_KINDS[0].clone(), Kind::PERMISSIONS]);
    let told = world.render_full().unwrap().snapshot;
    world.set(PermissionsState::new("P2")).unwrap();
    let diff = world.render_diff(Some(&told), &retained).unwrap();
    assert_eq!(said(&diff), [("permissions", "<permissions instructions>\nP2\n</permissions instructions>")]);
    assert_eq!(diff.snapshot.section("test"), told.section("test"));
}

#[test]
fn a_copy_of_a_world_goes_its_own_way() {
    let mut world = world_of(Probe::of("a"));
    let told = world.render_full().unwrap().snapshot;
    let mut copy = world.clone();
    copy.set(Probe::of("b")).unwrap();
    assert_eq!(said(&copy.render_diff(Some(&told), &history(&PROBE_KINDS)).unwrap()), [("test", "a -> b")]);
    assert_eq!(said(&world.render_diff(Some(&told), &history(&PROBE_KINDS)).unwrap()), []);
}

#[test]
fn w01_the_same_world_twice_says_nothing() {
    let mut world = world_of(Probe::of("a"));
    let first = world.render_full().unwrap();
    let retained = history(&PROBE_KINDS);
    world.set(Probe::of("a")).unwrap();
    let second = world.render_diff(Some(&first.snapshot), &retained).unwrap();
    assert_eq!(second.updates, []);
    assert_eq!(second.snapshot.merge_patch_from(&first.snapshot), None);
    assert!(second.snapshot.is_same(&first.snapshot));
    // Nor does a world that was made anew, as in the next process.
    let resumed = resumed(&first.snapshot);
    let third = world_of(Probe::of("a")).render_diff(Some(&resumed), &retained).unwrap();
    assert_eq!(third.updates, []);
    assert!(third.snapshot.is_same(&resumed));
}

#[test]
fn w07_a_state_cannot_hold_a_null_that_a_patch_could_not_say() {
    let with = Probe { value: "a", optional: Some("o") };
    let told = world_of(with).render_full().unwrap().snapshot;
    assert_eq!(told, stored(json!({"test": {"value": "a", "optional": "o", "array": [1, null]}})));
    let without = Probe { value: "b", optional: None };
    let diff = world_of(without).render_diff(Some(&told), &history(&PROBE_KINDS)).unwrap();
    assert_eq!(diff.snapshot, stored(json!({"test": {"value": "b", "array": [1, null]}})));
    assert_eq!(diff.merge_patch(&told), r#"{"test":{"optional":null,"value":"b"}}"#);
    let mut replayed = told;
    replayed.apply_merge_patch(&serde_json::from_str(r#"{"test":{"optional":null,"value":"b"}}"#).unwrap());
    assert_eq!(replayed, diff.snapshot);

    #[derive(PartialEq)]
    struct Null;
    impl WorldStateSection for Null {
        const ID: &'static str = "null";
        type Snapshot = Option<bool>;
        fn render_diff(&self, _: PreviousSectionState<'_, Option<bool>>) -> SectionDiff<Option<bool>> {
            SectionDiff::set(None)
        }
    }
    assert!(
        matches!(world_of(Null).render_full(), Err(Error::NullSnapshot { section, .. }) if section.as_ref() == "null")
    );
}

/// Says several things of every sort; the state counts how often.
#[derive(PartialEq)]
struct Mixed;

impl WorldStateSection for Mixed {
    const ID: &'static str = "mixed_output";
    const VOLATILITY: Volatility = Volatility::Static;
    type Snapshot = u8;

    fn render_diff(&self, previous: PreviousSectionState<'_, u8>) -> SectionDiff<u8> {
        if previous.known() == Some(&2) {
            return SectionDiff::keep();
        }
        let fragment = |text: &str| SectionFragment::new("mixed", FragmentRole::Developer, text);
        SectionDiff::set(2)
            .tell(&fragment("fragment"))
            .item(Placement::Prefix, ContextItem::from(WireItem::developer_text("prefix item")))
            .tell_at(Placement::Prefix, &fragment("prefix fragment"))
            .item(Placement::Standalone, ContextItem::from(WireItem::developer_text("standalone item")))
            .tell(&fragment("last"))
    }
}

#[test]
fn mixed_output_keeps_its_order() {
    let mut world = world_of(Mixed);
    let diff = world.render_full().unwrap();
    assert_eq!(diff.snapshot, stored(json!({"mixed_output": 2})));
    let in_prefix: Vec<_> = diff.updates.iter().map(|update| update.placement() == Placement::Prefix).collect();
    assert_eq!(in_prefix, [false, true, true, false, false]);

    let texts = |items: &[ContextItem]| -> Vec<String> {
        items.iter().map(|item| item.item().as_str().split('"').nth_back(1).unwrap().to_owned()).collect()
    };
    let merged = merge_updates(diff.updates.clone());
    assert_eq!(texts(&merged), ["fragment", "prefix item", "prefix fragment", "standalone item", "last"]);
    let (prefix, rest) = split_prefix_updates(diff.updates);
    assert_eq!(texts(&prefix), ["prefix item", "prefix fragment"]);
    assert_eq!(texts(&merge_updates(rest)), ["fragment", "standalone item", "last"]);

    let again = world.render_diff(Some(&diff.snapshot), &RetainedKinds::new()).unwrap();
    assert_eq!(again.updates, []);
    assert!(again.snapshot.is_same(&diff.snapshot));
}

/// A state that counts how often it is written, and has a part that is not.
#[derive(Debug, PartialEq, Deserialize)]
struct Counted {
    value: u8,
    #[serde(skip)]
    unwritten: u8,
}

static N_WRITTEN: AtomicUsize = AtomicUsize::new(0);

impl Serialize for Counted {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        N_WRITTEN.fetch_add(1, Ordering::Relaxed);
        serializer.collect_map([("value", self.value)])
    }
}

/// Never keeps: it always sets its state, and leaves the rest to the world.
#[derive(PartialEq)]
struct Setting(u8, u8);

impl WorldStateSection for Setting {
    const ID: &'static str = "setting";
    type Snapshot = Counted;

    fn render_diff(&self, _: PreviousSectionState<'_, Counted>) -> SectionDiff<Counted> {
        SectionDiff::set(Counted { value: self.0, unwritten: self.1 })
    }
}

#[test]
fn a_state_that_is_set_to_what_it_is_does_not_move() {
    let mut world = world_of(Setting(1, 0));
    let told = world.render_full().unwrap().snapshot;
    let written = N_WRITTEN.load(Ordering::Relaxed);
    // Equal as a type, so no JSON is made.
    let mut same = world_of(Setting(1, 0));
    assert!(same.render_diff(Some(&told), &history(&[])).unwrap().snapshot.is_same(&told));
    assert_eq!(N_WRITTEN.load(Ordering::Relaxed), written);
    // Other as a type and equal as JSON.
    let mut other = world_of(Setting(1, 9));
    assert!(other.render_diff(Some(&told), &history(&[])).unwrap().snapshot.is_same(&told));
    assert_eq!(N_WRITTEN.load(Ordering::Relaxed), written + 1);
    let moved = world_of(Setting(2, 0)).render_diff(Some(&told), &history(&[])).unwrap();
    assert_eq!(moved.merge_patch(&told), r#"{"setting":{"value":2}}"#);
}

/// The patch of a diff, as it would be written.
trait MergePatchText {
    fn merge_patch(&self, previous: &WorldStateSnapshot) -> String;
}

impl MergePatchText for WorldStateDiff {
    fn merge_patch(&self, previous: &WorldStateSnapshot) -> String {
        self.snapshot.merge_patch_from(previous).unwrap().to_string()
    }
}

#[test]
fn every_state_of_a_section_that_is_not_here_goes_at_once() {
    let strange = |n: usize| (0..n).map(|id| (format!("{id:05}"), json!({"a": id})));
    let mut previous: serde_json::Map<_, _> = strange(30_000).collect();
    let mut world = world_of(Probe::of("now"));
    let told = world.render_full().unwrap().snapshot;
    previous.extend(told.clone().into_object());
    let diff = world.render_diff(Some(&stored(previous.clone().into())), &history(&PROBE_KINDS)).unwrap();
    assert_eq!(diff.snapshot, told, "what is known stays");
    assert_eq!(diff.warnings.len(), 30_000);
    assert!(diff.updates.is_empty());

    // And a log can say the same as a patch, and take it back.
    let gone = diff.snapshot.merge_patch_from(&stored(previous.clone().into())).unwrap();
    let back = stored(previous.clone().into()).merge_patch_from(&diff.snapshot).unwrap();
    let mut state = stored(previous.into());
    let before = state.clone();
    state.apply_merge_patch(&gone);
    assert_eq!(state, told);
    state.apply_merge_patch(&back);
    assert_eq!(state, before);
}
