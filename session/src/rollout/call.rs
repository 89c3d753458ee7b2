//! Calls that got no output, and what the model reads in the place of one.

use context_fragments::json::{Json, ObjectWriter};

use super::field::Fields;
use crate::{CallState, Error};

/// A call whose turn ended before it had an output.
///
/// A prompt has a synthetic output for it, which says how far it had come. So the log has to say it too: the next process
/// makes the same bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ClosedCall {
    /// The position of the call.
    pub call: u64,
    /// How far it had come; what it gave is as short as the model reads it.
    pub state: CallState,
}

impl ClosedCall {
    /// A call at this position.
    #[must_use]
    pub const fn new(call: u64, state: CallState) -> Self {
        Self { call, state }
    }
}

pub(super) fn to_json(calls: &[ClosedCall]) -> String {
    let objects: Vec<String> = calls.iter().map(object_of).collect();
    format!("[{}]", objects.join(","))
}

fn object_of(closed: &ClosedCall) -> String {
    let mut object = ObjectWriter::new();
    object.raw("call", &closed.call.to_string());
    match &closed.state {
        CallState::NotStarted => object.string("state", "not_started"),
        CallState::ResultUnknown => object.string("state", "result_unknown"),
        CallState::Partial(text) => object.string("state", "partial").string("text", text),
    };
    object.finish()
}

/// Reads the member `calls`. A word that is not known says nothing of its call.
pub(super) fn from_fields(fields: &Fields<'_>, place: &str) -> Result<Vec<ClosedCall>, Error> {
    let mut calls = Vec::new();
    for value in fields.array("calls")?.into_iter().flat_map(Json::elements) {
        let closed = Fields::of(value, place)?;
        let call = closed.number("call")?;
        let call = closed.need("call", "a position", call)?;
        let state = match closed.string("state")?.as_deref() {
            Some("not_started") => CallState::NotStarted,
            Some("result_unknown") => CallState::ResultUnknown,
            Some("partial") => CallState::Partial(closed.string("text")?.unwrap_or_default()),
            _ => continue,
        };
        calls.push(ClosedCall { call, state });
    }
    Ok(calls)
}
