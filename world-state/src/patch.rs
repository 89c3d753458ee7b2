//! RFC 7386 merge patches between two states.

use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::canonical::sort_object;

/// Says how one state becomes the next: an RFC 7386 merge patch over section ids.
///
/// # Shape
/// A JSON object with sorted keys at every depth. A null removes, an object merges, everything else replaces;
/// arrays are replaced whole.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "Map<String, Value>", into = "Map<String, Value>")]
pub struct MergePatch(Map<String, Value>);

impl MergePatch {
    /// Takes a patch as it was read, and sorts its keys.
    #[must_use]
    pub fn from_object(object: Map<String, Value>) -> Self {
        Self(sort_object(object))
    }

    /// Returns the patch as a JSON object.
    #[must_use]
    pub fn as_object(&self) -> &Map<String, Value> {
        &self.0
    }

    /// Gives the patch as a JSON object.
    #[must_use]
    pub fn into_object(self) -> Map<String, Value> {
        self.0
    }

    /// Whether the patch changes nothing.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Collects members that are sorted and in canonical form already.
    pub(crate) fn from_sorted(members: impl IntoIterator<Item = (String, Value)>) -> Self {
        Self(members.into_iter().collect())
    }
}

impl From<Map<String, Value>> for MergePatch {
    fn from(object: Map<String, Value>) -> Self {
        Self::from_object(object)
    }
}

impl From<MergePatch> for Map<String, Value> {
    fn from(patch: MergePatch) -> Self {
        patch.0
    }
}

/// The patch as compact JSON.
impl fmt::Display for MergePatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let json = serde_json::to_string(&self.0).map_err(|_| fmt::Error)?;
        f.write_str(&json)
    }
}

impl fmt::Debug for MergePatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "MergePatch({self})")
    }
}

/// Returns the patch value that turns `previous` into `current`, or `None` where they are equal.
///
/// Both are in canonical form, so no null stands in an object: a null in the answer is a removal.
pub(crate) fn diff(previous: &Value, current: &Value) -> Option<Value> {
    let (Value::Object(previous), Value::Object(current)) = (previous, current) else {
        return (previous != current).then(|| current.clone());
    };
    // Both are sorted, so one walk over the two finds what is gone, new and changed, in the order of the patch.
    let mut members: Vec<(String, Value)> = Vec::new();
    let mut before = previous.iter().peekable();
    for (key, value) in current {
        while let Some((gone, _)) = before.next_if(|(earlier, _)| *earlier < key) {
            members.push((gone.clone(), Value::Null));
        }
        let change = match before.next_if(|(same, _)| *same == key) {
            Some((_, before)) => diff(before, value),
            None => Some(value.clone()),
        };
        members.extend(change.map(|change| (key.clone(), change)));
    }
    members.extend(before.map(|(gone, _)| (gone.clone(), Value::Null)));
    if members.is_empty() {
        return None;
    }
    Some(Value::Object(members.into_iter().collect()))
}
