//! What was last told, by section: the form that is compared, stored and patched.

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Map, Value};

use crate::canonical::canonical;
use crate::entry::Entry;
use crate::error::Error;
use crate::patch::{MergePatch, diff};

/// A section's id and what is stored for it.
pub(crate) type Stored = (Arc<str>, Arc<Entry>);

/// Holds the comparison data of the sections by id; not the text that was rendered from it.
///
/// A clone is a reference count, and states that follow one another share the sections that did not move.
///
/// # Shape
/// A JSON object from section id to any JSON but null, with sorted keys. The nulls of objects are absent values and are
/// stripped; nulls inside arrays stay. `{}` for a section ("told nothing"), no entry, and an entry that its section
/// cannot read are three different things.
///
/// # Source
/// Patches are RFC 7386.
///
/// # Example
/// ```
/// use serde_json::json;
/// use world_state::WorldStateSnapshot;
///
/// let before: WorldStateSnapshot = serde_json::from_value(json!({"kept": {"x": 1, "y": 2}, "gone": true}))?;
/// let after: WorldStateSnapshot = serde_json::from_value(json!({"kept": {"x": 3}}))?;
/// let patch = after.merge_patch_from(&before).expect("they differ");
/// assert_eq!(patch.to_string(), r#"{"gone":null,"kept":{"x":3,"y":null}}"#);
///
/// let mut replayed = before;
/// replayed.apply_merge_patch(&patch);
/// assert_eq!(replayed, after);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Default)]
pub struct WorldStateSnapshot {
    /// Sorted by id.
    entries: Arc<Vec<Stored>>,
}

impl WorldStateSnapshot {
    /// Takes a stored state as it was read.
    ///
    /// # Errors
    /// [`Error::NullSnapshot`] if a section is null.
    pub fn from_object(object: Map<String, Value>) -> Result<Self, Error> {
        let mut entries = object
            .into_iter()
            .map(|(id, json)| {
                let id: Arc<str> = id.into();
                match canonical(json) {
                    Value::Null => Err(Error::NullSnapshot { section: id }),
                    json => Ok((id, Arc::new(Entry::from_canonical(json)))),
                }
            })
            .collect::<Result<Vec<_>, _>>()?;
        entries.sort_by(|(left, _), (right, _)| left.cmp(right));
        Ok(Self { entries: Arc::new(entries) })
    }

    /// Changes the state as `patch` says.
    ///
    /// Applying never fails: a patch is an object, and every JSON value may be replaced by every other.
    pub fn apply_merge_patch(&mut self, patch: &MergePatch) {
        if patch.is_empty() {
            return;
        }
        // Both are sorted by id, so one walk over the two does it, however many sections there are.
        let mut entries = Vec::with_capacity(self.len() + patch.as_object().len());
        let mut standing = self.entries.iter().peekable();
        for (id, change) in patch.as_object() {
            while let Some(untouched) = standing.next_if(|(earlier, _)| earlier.as_ref() < id.as_str()) {
                entries.push(untouched.clone());
            }
            let before = standing.next_if(|(same, _)| same.as_ref() == id);
            if change.is_null() {
                continue;
            }
            let (id, json) = match before {
                Some((id, entry)) => (Arc::clone(id), entry.json().clone()),
                None => (id.as_str().into(), Value::Null),
            };
            entries.push((id, Arc::new(Entry::from_canonical(merged(json, change)))));
        }
        entries.extend(standing.cloned());
        self.entries = Arc::new(entries);
    }

    /// Returns the patch that turns `previous` into this state, or `None` where they are equal.
    #[must_use]
    pub fn merge_patch_from(&self, previous: &Self) -> Option<MergePatch> {
        if Arc::ptr_eq(&self.entries, &previous.entries) {
            return None;
        }
        let mut members: Vec<(String, Value)> = Vec::new();
        // Both are sorted, so one walk over the two finds what is gone, new and changed, in the order of the patch.
        let mut before = previous.entries.iter().peekable();
        for (id, entry) in self.entries.iter() {
            while let Some((gone, _)) = before.next_if(|(earlier, _)| !Arc::ptr_eq(earlier, id) && earlier < id) {
                members.push((gone.to_string(), Value::Null));
            }
            let change = match before.next_if(|(same, _)| Arc::ptr_eq(same, id) || same == id) {
                Some((_, before)) if Arc::ptr_eq(before, entry) => None,
                Some((_, before)) => diff(before.json(), entry.json()),
                None => Some(entry.json().clone()),
            };
            members.extend(change.map(|change| (id.to_string(), change)));
        }
        members.extend(before.map(|(gone, _)| (gone.to_string(), Value::Null)));
        (!members.is_empty()).then(|| MergePatch::from_sorted(members))
    }

    /// Returns what is stored for the section `id`.
    #[must_use]
    pub fn section(&self, id: &str) -> Option<&Value> {
        self.entry(id).map(|entry| entry.json())
    }

    /// Lists the ids of the stored sections, sorted.
    pub fn ids(&self) -> impl ExactSizeIterator<Item = &str> {
        self.entries.iter().map(|(id, _)| id.as_ref())
    }

    /// Whether nothing is stored.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Whether both are one value in memory: the cheap answer to "did anything move?".
    ///
    /// Two states that were read apart may be equal and not the same.
    #[must_use]
    pub fn is_same(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.entries, &other.entries)
    }

    /// Gives the state as a JSON object with sorted keys.
    #[must_use]
    pub fn into_object(self) -> Map<String, Value> {
        self.entries.iter().map(|(id, entry)| (id.to_string(), entry.json().clone())).collect()
    }

    pub(crate) fn entry(&self, id: &str) -> Option<&Arc<Entry>> {
        let position = self.position(id).ok()?;
        Some(&self.entries[position].1)
    }

    /// Finds an entry, first where it was found the last time.
    pub(crate) fn entry_near(&self, id: &Arc<str>, last_position: &mut usize) -> Option<&Arc<Entry>> {
        if let Some((found, entry)) = self.entries.get(*last_position)
            && (Arc::ptr_eq(found, id) || found == id)
        {
            return Some(entry);
        }
        *last_position = self.position(id).ok()?;
        Some(&self.entries[*last_position].1)
    }

    pub(crate) fn len(&self) -> usize {
        self.entries.len()
    }

    /// Copies the handles of the entries.
    pub(crate) fn entries(&self) -> Vec<Stored> {
        self.entries.to_vec()
    }

    /// Puts or removes one entry in a list that is sorted by id.
    pub(crate) fn put(entries: &mut Vec<Stored>, id: &Arc<str>, entry: Option<Arc<Entry>>) {
        match (entries.binary_search_by(|(entry_id, _)| entry_id.cmp(id)), entry) {
            (Ok(position), Some(entry)) => entries[position] = (Arc::clone(id), entry),
            (Ok(position), None) => drop(entries.remove(position)),
            (Err(position), Some(entry)) => entries.insert(position, (Arc::clone(id), entry)),
            (Err(_), None) => {}
        }
    }

    /// Takes entries that are sorted by id.
    pub(crate) fn from_sorted(entries: Vec<Stored>) -> Self {
        Self { entries: Arc::new(entries) }
    }

    fn position(&self, id: &str) -> Result<usize, usize> {
        self.entries.binary_search_by(|(entry_id, _)| entry_id.as_ref().cmp(id))
    }
}

/// Applies one section's part of a patch.
fn merged(mut target: Value, change: &Value) -> Value {
    json_patch::merge(&mut target, change);
    canonical(target)
}

impl PartialEq for WorldStateSnapshot {
    fn eq(&self, other: &Self) -> bool {
        let same_entry = |(left, right): (&Stored, &Stored)| {
            left.0 == right.0 && (Arc::ptr_eq(&left.1, &right.1) || left.1.json() == right.1.json())
        };
        self.is_same(other)
            || (self.len() == other.len() && self.entries.iter().zip(other.entries.iter()).all(same_entry))
    }
}

impl Eq for WorldStateSnapshot {}

impl fmt::Debug for WorldStateSnapshot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self.entries.iter().map(|(id, entry)| (id, entry.json()))).finish()
    }
}

impl Serialize for WorldStateSnapshot {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.entries.iter().map(|(id, entry)| (id, entry.json())))
    }
}

impl<'de> Deserialize<'de> for WorldStateSnapshot {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let object = Map::deserialize(deserializer)?;
        Self::from_object(object).map_err(serde::de::Error::custom)
    }
}
