//! What is refused, in which words, and that nothing moves then.

use std::borrow::Cow;
use std::error::Error as _;

use context_fragments::{Bound, ContextualUserFragment, FragmentRole, Kind, Markers, Overflow};
use serde::{Serialize, Serializer};
use world_state::*;

use crate::{history, said, world_of};

/// A text that must not be cut.
#[derive(Debug)]
struct Uncut(usize);

impl ContextualUserFragment for Uncut {
    fn role(&self) -> FragmentRole {
        FragmentRole::Developer
    }
    fn content_kind(&self) -> Kind {
        Kind::from_static("uncut.text")
    }
    fn markers(&self) -> Markers<'_> {
        Markers::NONE
    }
    fn body(&self) -> Cow<'_, str> {
        Cow::Owned("x".repeat(self.0))
    }
    fn bound(&self) -> Bound {
        let mut bound = Bound::FRAGMENT;
        bound.overflow = Overflow::Refuse;
        bound
    }
    fn type_markers() -> Markers<'static> {
        Markers::NONE
    }
}

#[derive(PartialEq)]
struct Managed(usize);

impl WorldStateSection for Managed {
    const ID: &'static str = "managed";
    type Snapshot = usize;

    fn render_diff(&self, previous: PreviousSectionState<'_, usize>) -> SectionDiff<usize> {
        if previous.known() == Some(&self.0) {
            return SectionDiff::keep();
        }
        SectionDiff::set(self.0).tell(&Uncut(self.0))
    }
}

#[test]
fn what_cannot_be_said_is_not_stored_and_stops_all() {
    let mut world = world_of(PermissionsState::new("P"));
    world.set(Managed(8)).unwrap();
    let retained = history(&[Kind::PERMISSIONS]);
    let told = world.render_full().unwrap().snapshot;
    world.set(PermissionsState::new("Q")).unwrap();
    world.set(Managed(50_000)).unwrap();
    let error = world.render_diff(Some(&told), &retained).unwrap_err();
    assert_eq!(error.to_string(), "could not render section `managed`");
    assert_eq!(error.source().unwrap().to_string(), "uncut.text: 12500 tokens are over the limit of 10000 tokens");
    // The other section was not lost by that.
    world.set(Managed(8)).unwrap();
    let diff = world.render_diff(Some(&told), &retained).unwrap();
    assert_eq!(diff.updates.len(), 1);
    assert_eq!(said(&diff)[0].0, "permissions");
}

#[derive(Debug, PartialEq, serde::Deserialize)]
struct Unwritable;

impl Serialize for Unwritable {
    fn serialize<S: Serializer>(&self, _: S) -> Result<S::Ok, S::Error> {
        Err(serde::ser::Error::custom("no"))
    }
}

#[derive(PartialEq)]
struct Broken;

impl WorldStateSection for Broken {
    const ID: &'static str = "broken";
    type Snapshot = Unwritable;

    fn render_diff(&self, _: PreviousSectionState<'_, Unwritable>) -> SectionDiff<Unwritable> {
        SectionDiff::set(Unwritable)
    }
}

#[test]
fn a_state_that_cannot_be_written_is_refused() {
    let error = world_of(Broken).render_full().unwrap_err();
    assert_eq!(error.to_string(), "could not write the state of section `broken` as JSON");
    assert_eq!(error.source().unwrap().to_string(), "no");
}

#[test]
fn dates_and_hashes_name_what_was_given() {
    assert_eq!("2026-1-1".parse::<Date>().unwrap_err().to_string(), r#"not a date of the form YYYY-MM-DD: "2026-1-1""#);
    assert_eq!("xyz".parse::<WorldStateHash>().unwrap_err().to_string(), r#"not a SHA-1 in lower-case hex: "xyz""#);
}
