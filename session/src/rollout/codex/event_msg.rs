//! Events of a Codex rollout.

use std::{borrow::Cow, collections::BTreeMap};

use context_fragments::json::Json;

use super::line::{notice, other};
use crate::{
    Error,
    rollout::{
        RawJson,
        record::{Record, RolloutItem},
        turn::{Rollback, TurnAborted, TurnEnded, TurnStarted},
    },
};

/// Events that repeat or describe what other lines say.
const NOTICES: &[&str] = &[
    "user_message",
    "agent_message",
    "agent_reasoning",
    "agent_reasoning_raw_content",
    "item_completed",
    "patch_apply_end",
    "mcp_tool_call_end",
    "web_search_end",
    "image_generation_end",
    "sub_agent_activity",
    "thread_goal_updated",
    "thread_settings_applied",
    "context_compacted",
    "entered_review_mode",
    "exited_review_mode",
];

/// Says an event in the words of the own format.
pub(super) fn translate(payload: Json<'_>, unknown: &mut BTreeMap<String, u64>) -> Result<Record, Error> {
    let string = |key| payload.member(key).and_then(Json::to_str).map(Cow::into_owned);
    let name = string("type").ok_or_else(|| Error::misshapen("event_msg.type", "a string"))?;
    let turn_id = string("turn_id");
    let item = match name.as_str() {
        "task_started" | "turn_started" => RolloutItem::TurnStarted(TurnStarted { turn_id: turn_id.clone() }),
        "task_complete" | "turn_complete" => {
            let error = payload.member("error").filter(|error| !error.is_null()).map(RawJson::from_json);
            RolloutItem::TurnEnded(TurnEnded { turn_id: turn_id.clone(), error })
        }
        "turn_aborted" => RolloutItem::TurnAborted(TurnAborted {
            turn_id: turn_id.clone(),
            reason: string("reason"),
            calls: Vec::new(),
        }),
        "thread_rolled_back" => {
            let turns = payload.member("num_turns").and_then(|turns| turns.as_raw().parse().ok());
            let turns = turns.ok_or_else(|| Error::misshapen("thread_rolled_back.num_turns", "a whole number"))?;
            RolloutItem::Rollback(Rollback::of_turns(turns))
        }
        "token_count" => RolloutItem::Usage(RawJson::from_json(payload)),
        known if NOTICES.contains(&known) => return Ok(notice(known, payload)),
        new => {
            let name = format!("event_msg.{new}");
            let record = other(&name, payload);
            *unknown.entry(name).or_default() += 1;
            return Ok(record);
        }
    };
    let mut record = Record::from(item);
    record.metadata.turn_id = turn_id.map(Into::into);
    Ok(record)
}
