//! What is known of calls that run: started, and what they gave so far.

use std::collections::BTreeMap;

use context_fragments::{
    Limit, MarkerRoom, cut_middle,
    json::{Json, ObjectWriter},
};
use context_manager::{ContextManager, Position};

use crate::{
    Error, OpenCall,
    rollout::{ClosedCall, RawJson, RolloutItem},
};

const STARTED: &str = "tool_started";
const PARTIAL: &str = "tool_output";

/// How much of a partial output the model reads where the output would stand.
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

/// The calls as log and history keep them: what one gave is cut to what the model reads of it.
pub(crate) fn closed(calls: &[OpenCall], states: &[CallState]) -> Vec<ClosedCall> {
    let cut = |state: &CallState| match state {
        CallState::Partial(text) => CallState::Partial(cut_middle(text, SHOWN, MarkerRoom::Inside).into_owned()),
        other => other.clone(),
    };
    calls.iter().zip(states).map(|(call, state)| ClosedCall::new(call.position().number(), cut(state))).collect()
}

/// Tells the history what became of calls; from here on their synthetic outputs say it.
///
/// A call that is not there, or whose synthetic output was sent, stays what it was: what was said is never taken back.
pub(crate) fn tell(manager: &mut ContextManager, calls: &[ClosedCall]) {
    for closed in calls {
        let state = match &closed.state {
            CallState::NotStarted => context_manager::CallState::NotStarted,
            CallState::ResultUnknown => context_manager::CallState::OutcomeUnknown,
            CallState::Partial(text) => context_manager::CallState::Cancelled { partial: text.as_str().into() },
        };
        drop(manager.note_call(Position::new(closed.call), state));
    }
}

/// What the history was told of the calls in it, each at the place that `place` gives for it.
pub(crate) fn told(manager: &ContextManager, place: impl Fn(Position) -> Option<u64>) -> Vec<ClosedCall> {
    let closed = |(position, state): (Position, &context_manager::CallState)| {
        let state = match state {
            context_manager::CallState::NotStarted => CallState::NotStarted,
            context_manager::CallState::Cancelled { partial } => CallState::Partial(partial.as_ref().to_owned()),
            // Another state says no more than that.
            _ => CallState::ResultUnknown,
        };
        Some(ClosedCall::new(place(position)?, state))
    };
    manager.call_states().filter_map(closed).collect()
}

/// What a notice says of calls without a result, where their synthetic outputs say nothing; empty if there are none.
pub(crate) fn words_of(calls: &[OpenCall], closed: &[ClosedCall]) -> String {
    let mut told = String::new();
    for (call, closed) in calls.iter().zip(closed) {
        let name = call.name().map_or_else(String::new, |name| format!("{name} "));
        let words = match &closed.state {
            CallState::NotStarted => "not started",
            CallState::ResultUnknown => "started, result unknown",
            CallState::Partial(_) => "finished with partial output:",
        };
        told.push_str(&format!("\n- {name}({}): {words}", call.call_id()));
        if let CallState::Partial(text) = &closed.state {
            told.push('\n');
            told.push_str(text);
        }
    }
    told
}
