//! Where turns start and end, and what takes them back.

use context_fragments::json::{Json, ObjectWriter};

use super::{ClosedCall, RawJson, call, field::Fields};
use crate::Error;

/// A turn begins.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct TurnStarted {
    /// The turn; old foreign logs do not name it.
    pub turn_id: Option<String>,
}

/// A turn ends by itself, with an answer or with an error.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct TurnEnded {
    /// The turn.
    pub turn_id: Option<String>,
    /// What went wrong, if it did not end with an answer.
    pub error: Option<RawJson>,
}

/// A turn is ended from outside.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct TurnAborted {
    /// The turn.
    pub turn_id: Option<String>,
    /// Why, in one word, such as `interrupted`.
    pub reason: Option<String>,
    /// Its calls without an output, as far as it is known what became of them.
    pub calls: Vec<ClosedCall>,
}

/// The newest turns are taken back.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Rollback {
    /// How many user turns.
    pub n_turns: Option<u64>,
    /// The turn boundary that the history goes back to: entries at this position and behind it are gone.
    pub to_position: Option<u64>,
    /// The version of the history behind it.
    pub history_version: Option<u64>,
}

impl TurnStarted {
    /// The begin of a named turn.
    #[must_use]
    pub fn new(turn_id: impl Into<String>) -> Self {
        Self { turn_id: Some(turn_id.into()) }
    }

    pub(super) fn to_json(&self) -> String {
        words(&[("turn_id", &self.turn_id)]).finish()
    }

    pub(super) fn from_json(payload: Json<'_>) -> Result<Self, Error> {
        Ok(Self { turn_id: Fields::of(payload, "turn_started")?.string("turn_id")? })
    }
}

impl TurnEnded {
    /// The end of a named turn, with an answer.
    #[must_use]
    pub fn new(turn_id: impl Into<String>) -> Self {
        Self { turn_id: Some(turn_id.into()), error: None }
    }

    /// Says what went wrong.
    #[must_use]
    pub fn with_error(mut self, error: RawJson) -> Self {
        self.error = Some(error);
        self
    }

    pub(super) fn to_json(&self) -> String {
        let mut object = words(&[("turn_id", &self.turn_id)]);
        if let Some(error) = &self.error {
            object.raw("error", error.as_str());
        }
        object.finish()
    }

    pub(super) fn from_json(payload: Json<'_>) -> Result<Self, Error> {
        let fields = Fields::of(payload, "turn_ended")?;
        Ok(Self { turn_id: fields.string("turn_id")?, error: fields.raw("error") })
    }
}

impl TurnAborted {
    /// The end of a named turn, and why.
    #[must_use]
    pub fn new(turn_id: impl Into<String>, reason: impl Into<String>) -> Self {
        Self { turn_id: Some(turn_id.into()), reason: Some(reason.into()), calls: Vec::new() }
    }

    /// Says what became of its calls without an output.
    #[must_use]
    pub fn with_calls(mut self, calls: Vec<ClosedCall>) -> Self {
        self.calls = calls;
        self
    }

    pub(super) fn to_json(&self) -> String {
        let mut object = words(&[("turn_id", &self.turn_id), ("reason", &self.reason)]);
        if !self.calls.is_empty() {
            object.raw("calls", &call::to_json(&self.calls));
        }
        object.finish()
    }

    pub(super) fn from_json(payload: Json<'_>) -> Result<Self, Error> {
        let fields = Fields::of(payload, "turn_aborted")?;
        let calls = call::from_fields(&fields, "turn_aborted.calls")?;
        Ok(Self { turn_id: fields.string("turn_id")?, reason: fields.string("reason")?, calls })
    }
}

impl Rollback {
    /// Takes back the entries at `position` and behind it.
    #[must_use]
    pub const fn to_position(position: u64) -> Self {
        Self { n_turns: None, to_position: Some(position), history_version: None }
    }

    /// Takes back the newest `n_turns` user turns, as foreign logs say it.
    #[must_use]
    pub const fn of_turns(n_turns: u64) -> Self {
        Self { n_turns: Some(n_turns), to_position: None, history_version: None }
    }

    pub(super) fn to_json(&self) -> String {
        let mut object = ObjectWriter::new();
        let numbers =
            [("n_turns", self.n_turns), ("to_position", self.to_position), ("history_version", self.history_version)];
        for (key, value) in numbers {
            if let Some(value) = value {
                object.raw(key, &value.to_string());
            }
        }
        object.finish()
    }

    pub(super) fn from_json(payload: Json<'_>) -> Result<Self, Error> {
        let fields = Fields::of(payload, "rollback")?;
        let (n_turns, to_position) = (fields.number("n_turns")?, fields.number("to_position")?);
        fields.need("to_position", "a number here or in `n_turns`", n_turns.or(to_position))?;
        Ok(Self { n_turns, to_position, history_version: fields.number("history_version")? })
    }
}

fn words(members: &[(&str, &Option<String>)]) -> ObjectWriter {
    let mut object = ObjectWriter::new();
    for (key, value) in members {
        if let Some(value) = value {
            object.string(key, value);
        }
    }
    object
}
