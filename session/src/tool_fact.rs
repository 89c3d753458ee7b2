//! What is known of calls that run: started, and what they gave so far.

use std::collections::BTreeMap;

use context_fragments::{
    Limit, MarkerRoom, cut_middle,
    json::{Json, ObjectWriter},
};
use context_manager::Position;

use crate::{
    Error, OpenCall,
    rollout::{RawJson, RolloutItem},
};

const STARTED: &str = "tool_started";
const PARTIAL: &str = "tool_output";

/// How much of a partial output the model reads in the notice that ends its turn.
const SHOWN: Limit = Limit::Tokens(1_000);

/// What is known of a call that has no output.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum CallState {
    /// It was not started.
    NotStarted,
    /// It may have been started, and what became of it is not known. So it is with every call whose host does not say
    /// when it [starts](crate::Turn::start_call) calls.
    ResultUnknown,
    /// It gave this, and no more is known.
    Partial(String),
}

/// One thing that a host says of a call that runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ToolFact {
    Started,
    /// What it gave so far.
    Partial(String),
}

impl ToolFact {
    pub(crate) fn record(&self, call: &OpenCall) -> Result<RolloutItem, Error> {
        let mut payload = ObjectWriter::new();
        payload.string("call_id", call.call_id()).raw("call", &call.position().to_string());
        let type_name = match self {
            Self::Started => STARTED,
            Self::Partial(text) => {
                payload.string("text", text);
                PARTIAL
            }
        };
        Ok(RolloutItem::Other { type_name: type_name.into(), version: 1, payload: RawJson::parse(&payload.finish())? })
    }
}

/// Says that a record of this type is one of these facts.
pub(crate) fn is_type(type_name: &str) -> bool {
    matches!(type_name, STARTED | PARTIAL)
}

/// Reads such a record: where its call stands, and what is said of it.
pub(crate) fn read(type_name: &str, payload: &RawJson) -> Result<(Position, ToolFact), &'static str> {
    let json = payload.json();
    let call = json.member("call").and_then(|call| call.as_raw().parse().ok());
    let call = Position::new(call.ok_or("it does not say where its call stands")?);
    if type_name == STARTED {
        return Ok((call, ToolFact::Started));
    }
    let text = json.member("text").and_then(Json::to_str).ok_or("it has no text")?;
    Ok((call, ToolFact::Partial(text.into_owned())))
}

/// What is known of the calls of a turn, by the place of the call.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct ToolFacts(BTreeMap<Position, ToolFact>);

impl ToolFacts {
    /// The newest fact of a call is what is known; that it started says less than what it gave.
    pub(crate) fn note(&mut self, call: Position, fact: ToolFact) {
        match fact {
            ToolFact::Started => {
                self.0.entry(call).or_insert(ToolFact::Started);
            }
            partial @ ToolFact::Partial(_) => drop(self.0.insert(call, partial)),
        }
    }

    /// What is known of each of these calls.
    pub(crate) fn states(&self, calls: &[OpenCall], tells_starts: bool) -> Vec<CallState> {
        let state = |call: &OpenCall| match self.0.get(&call.position()) {
            Some(ToolFact::Partial(text)) => CallState::Partial(text.clone()),
            Some(ToolFact::Started) => CallState::ResultUnknown,
            None if tells_starts => CallState::NotStarted,
            None => CallState::ResultUnknown,
        };
        calls.iter().map(state).collect()
    }
}

/// What the model reads of calls without a result; nothing if there are none.
pub(crate) fn told_of(calls: &[OpenCall], states: &[CallState]) -> String {
    let mut told = String::new();
    for (call, state) in calls.iter().zip(states) {
        let name = call.name().map_or_else(String::new, |name| format!("{name} "));
        let words = match state {
            CallState::NotStarted => "not started",
            CallState::ResultUnknown => "started, result unknown",
            CallState::Partial(_) => "finished with partial output:",
        };
        told.push_str(&format!("\n- {name}({}): {words}", call.call_id()));
        if let CallState::Partial(text) = state {
            told.push('\n');
            told.push_str(&cut_middle(text, SHOWN, MarkerRoom::Inside));
        }
    }
    told
}
