//! Sections without their types, so that a world can hold all of them.

use std::any::Any;
use std::sync::Arc;

use context_fragments::Kind;
use serde_json::Value;

use crate::canonical::canonical;
use crate::entry::Entry;
use crate::error::Error;
use crate::extension::ExtensionSection;
use crate::previous::PreviousSectionState;
use crate::section::{SectionDiff, SnapshotChange, Volatility, WorldStateSection};
use crate::update::{Placement, Update, UpdateContent};
use crate::warning::Warning;

/// What a section is rendered against.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Basis {
    Absent,
    Unknown,
    Stored,
}

/// A section's answer without its type.
pub(crate) struct Rendered {
    /// What is stored from now on; the very entry that was stored where nothing moved.
    pub(crate) entry: Option<Arc<Entry>>,
    pub(crate) updates: Vec<Update>,
    pub(crate) warning: Option<Warning>,
}

/// A section without its type.
pub(crate) trait ErasedSection: Send + Sync {
    fn id(&self) -> &str;
    fn kinds(&self) -> &[Kind];
    fn retained_kinds(&self) -> &[Kind];
    /// Lists the kinds of which every one has to be in the history for what is stored to be known there.
    fn needed_kinds(&self, stored: &Entry) -> &'static [Kind];
    fn as_any(&self) -> &dyn Any;
    fn render(&self, id: &Arc<str>, basis: Basis, stored: Option<&Arc<Entry>>) -> Result<Rendered, Error>;
}

impl<T: WorldStateSection> ErasedSection for T {
    fn id(&self) -> &str {
        T::ID
    }

    fn kinds(&self) -> &[Kind] {
        WorldStateSection::kinds(self)
    }

    fn retained_kinds(&self) -> &[Kind] {
        WorldStateSection::retained_kinds(self)
    }

    fn needed_kinds(&self, stored: &Entry) -> &'static [Kind] {
        // What cannot be read is found out, and reported, when it is rendered.
        stored.typed::<T::Snapshot>().map_or(&[], |told| T::needed_kinds(told.as_ref()))
    }

    fn as_any(&self) -> &dyn Any {
        self
    }

    fn render(&self, id: &Arc<str>, basis: Basis, stored: Option<&Arc<Entry>>) -> Result<Rendered, Error> {
        let mut warning = None;
        let told = match stored.map(|entry| entry.typed::<T::Snapshot>()) {
            Some(Ok(told)) => Some(told),
            Some(Err(reason)) if basis == Basis::Stored => {
                warning = Some(Warning::Unreadable { section: Arc::clone(id), reason: reason.to_string() });
                None
            }
            Some(Err(_)) | None => None,
        };
        let previous = match (basis, &told) {
            (Basis::Absent, _) => PreviousSectionState::Absent,
            (Basis::Stored, Some(told)) => PreviousSectionState::Known(told.as_ref()),
            (Basis::Unknown | Basis::Stored, _) => PreviousSectionState::Unknown,
        };
        let SectionDiff { snapshot, said, failure } = self.render_diff(previous);
        let updates = updates(id, T::VOLATILITY, said, failure)?;
        let entry = match snapshot {
            SnapshotChange::Keep => stored.cloned(),
            SnapshotChange::Delete => None,
            // Types first: JSON is made only where they differ.
            SnapshotChange::Set(snapshot) if told.as_ref().is_some_and(|told| *told.as_ref() == snapshot) => {
                stored.cloned()
            }
            SnapshotChange::Set(snapshot) => Some(unless_equal(stored, Entry::from_typed(id, snapshot)?)),
        };
        Ok(Rendered { entry, updates, warning })
    }
}

impl ErasedSection for ExtensionSection {
    fn id(&self) -> &str {
        Self::id(self)
    }

    fn kinds(&self) -> &[Kind] {
        Self::kinds(self)
    }

    fn retained_kinds(&self) -> &[Kind] {
        Self::retained_kinds(self)
    }

    fn needed_kinds(&self, _stored: &Entry) -> &'static [Kind] {
        &[]
    }

    fn as_any(&self) -> &dyn Any {
        self
    }

    fn render(&self, id: &Arc<str>, basis: Basis, stored: Option<&Arc<Entry>>) -> Result<Rendered, Error> {
        let previous = match (basis, stored) {
            (Basis::Absent, _) => PreviousSectionState::Absent,
            (Basis::Stored, Some(entry)) => PreviousSectionState::Known(entry.json()),
            (Basis::Unknown | Basis::Stored, _) => PreviousSectionState::Unknown,
        };
        let SectionDiff { snapshot, said, failure } = self.render_diff(previous);
        let updates = updates(id, self.volatility(), said, failure)?;
        let entry = match snapshot {
            SnapshotChange::Keep => stored.cloned(),
            SnapshotChange::Delete => None,
            SnapshotChange::Set(Value::Null) => return Err(Error::NullSnapshot { section: Arc::clone(id) }),
            SnapshotChange::Set(json) => Some(unless_equal(stored, Entry::from_canonical(canonical(json)))),
        };
        Ok(Rendered { entry, updates, warning: None })
    }
}

/// Keeps the stored entry where the new one says the same, so that nothing moves.
fn unless_equal(stored: Option<&Arc<Entry>>, entry: Entry) -> Arc<Entry> {
    match stored {
        Some(stored) if stored.json() == entry.json() => Arc::clone(stored),
        _ => Arc::new(entry),
    }
}

fn updates(
    id: &Arc<str>,
    volatility: Volatility,
    said: Vec<(Placement, UpdateContent)>,
    failure: Option<context_fragments::Error>,
) -> Result<Vec<Update>, Error> {
    if let Some(source) = failure {
        return Err(Error::Render { section: Arc::clone(id), source });
    }
    if volatility == Volatility::PerTurn && said.iter().any(|(placement, _)| *placement == Placement::Prefix) {
        return Err(Error::VolatilePrefix { section: Arc::clone(id) });
    }
    Ok(said.into_iter().map(|(placement, content)| Update::new(Arc::clone(id), placement, content)).collect())
}
