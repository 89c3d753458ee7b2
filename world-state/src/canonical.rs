//! One spelling for equal JSON: sorted keys, and no nulls where a merge patch could not keep them.

use serde_json::{Map, Value};

/// Whether the nulls of objects stay.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Nulls {
    Keep,
    Strip,
}

/// Removes the nulls of objects, also of nested ones but not inside arrays, and sorts all keys.
///
/// RFC 7386 reads a null in an object as "remove", so a stored state cannot hold one. Arrays are
/// replaced whole and may hold nulls.
pub(crate) fn canonical(value: Value) -> Value {
    // What a type writes is mostly in this form already, and looking is far cheaper than making every map again.
    if is_canonical(&value, Nulls::Strip) { value } else { rewrite(value, Nulls::Strip) }
}

fn is_canonical(value: &Value, nulls: Nulls) -> bool {
    match value {
        Value::Object(object) => {
            object.keys().is_sorted()
                && object.values().all(|value| (nulls == Nulls::Keep || !value.is_null()) && is_canonical(value, nulls))
        }
        Value::Array(elements) => elements.iter().all(|element| is_canonical(element, Nulls::Keep)),
        _ => true,
    }
}

/// Sorts the keys of every object and changes nothing else.
///
/// A host may switch on `serde_json/preserve_order` for the whole build; sorting here makes the
/// written bytes independent of that.
pub(crate) fn sort_keys(value: Value) -> Value {
    rewrite(value, Nulls::Keep)
}

/// Sorts the keys of `object` and of every object inside.
pub(crate) fn sort_object(object: Map<String, Value>) -> Map<String, Value> {
    rewrite_object(object, Nulls::Keep)
}

fn rewrite(value: Value, nulls: Nulls) -> Value {
    match value {
        Value::Object(object) => Value::Object(rewrite_object(object, nulls)),
        Value::Array(elements) => Value::Array(elements.into_iter().map(sort_keys).collect()),
        scalar => scalar,
    }
}

fn rewrite_object(object: Map<String, Value>, nulls: Nulls) -> Map<String, Value> {
    let mut members: Vec<(String, Value)> = object
        .into_iter()
        .filter(|(_, value)| nulls == Nulls::Keep || !value.is_null())
        .map(|(key, value)| (key, rewrite(value, nulls)))
        .collect();
    members.sort_by(|(left, _), (right, _)| left.cmp(right));
    members.into_iter().collect()
}
