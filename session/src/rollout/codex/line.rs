//! The lines of a Codex rollout.

use std::{borrow::Cow, collections::BTreeMap};

use context_fragments::{
    TurnContextItem,
    json::{Json, ObjectWriter, Shape},
};

use super::{compacted, event_msg, item};
use crate::{
    Error,
    rollout::{
        RawJson,
        field::Fields,
        record::{Record, RolloutItem, WorldStateItem},
        session_meta::{Parent, SessionMeta},
    },
};

/// The parts of a line.
#[derive(Debug)]
pub(super) struct CodexLine<'a> {
    pub(super) timestamp: Cow<'a, str>,
    pub(super) ordinal: Option<u64>,
    pub(super) type_name: Cow<'a, str>,
    pub(super) metadata: Option<Json<'a>>,
    pub(super) payload: Json<'a>,
}

impl<'a> CodexLine<'a> {
    /// Takes a line apart; says what is missing.
    pub(super) fn parse(line: Json<'a>) -> Result<Self, &'static str> {
        let fields = Fields::of(line, "line").map_err(|_| "not an object")?;
        Ok(Self {
            timestamp: fields.value("timestamp").and_then(Json::to_str).ok_or("no timestamp")?,
            ordinal: fields.value("ordinal").and_then(|ordinal| ordinal.as_raw().parse().ok()),
            type_name: fields.value("type").and_then(Json::to_str).ok_or("no type")?,
            metadata: fields.value("metadata"),
            payload: fields.value("payload").ok_or("no payload")?,
        })
    }
}

/// Says a line in the words of the own format; counts what it does not know in `unknown`.
pub(super) fn translate(line: &CodexLine<'_>, unknown: &mut BTreeMap<String, u64>) -> Result<Record, Error> {
    let payload = line.payload;
    let misread = |source| Error::Json { place: format!("{}.payload", line.type_name), source };
    Ok(match line.type_name.as_ref() {
        "session_meta" => RolloutItem::SessionMeta(session_meta(payload)?).into(),
        "response_item" if payload.member("type").is_some_and(|kind| kind.is_text("ghost_snapshot")) => {
            *unknown.entry("response_item.ghost_snapshot".into()).or_default() += 1;
            other("response_item.ghost_snapshot", payload)
        }
        "response_item" => {
            let (item, metadata) = item::lift(payload, line.metadata)?;
            Record::from(RolloutItem::Item(item)).with_metadata(metadata)
        }
        "turn_context" => {
            let context = TurnContextItem::from_json(payload).map_err(misread)?;
            let turn_id = context.turn_id().map(Into::into);
            let mut record = Record::from(RolloutItem::TurnContext(context));
            record.metadata.turn_id = turn_id;
            record
        }
        "world_state" => RolloutItem::WorldState(WorldStateItem::from_json(payload)?).into(),
        "compacted" => RolloutItem::Checkpoint(compacted::checkpoint(payload, unknown)?).into(),
        "token_usage_record" => RolloutItem::Usage(RawJson::from_json(payload)).into(),
        "event_msg" => event_msg::translate(payload, unknown)?,
        "security_risk_score" | "inter_agent_communication_metadata" | "retained_context" | "realtime_item" => {
            notice(&line.type_name, payload)
        }
        name => {
            *unknown.entry(name.into()).or_default() += 1;
            other(name, payload)
        }
    })
}

pub(super) fn notice(name: &str, payload: Json<'_>) -> Record {
    RolloutItem::Notice { name: name.into(), payload: RawJson::from_json(payload) }.into()
}

pub(super) fn other(name: &str, payload: Json<'_>) -> Record {
    RolloutItem::Other { type_name: name.into(), version: 0, payload: RawJson::from_json(payload) }.into()
}

/// The header. Its own members stay in `details`, the long texts apart.
fn session_meta(payload: Json<'_>) -> Result<SessionMeta, Error> {
    let string = |key| payload.member(key).and_then(Json::to_str);
    let id = string("id").or_else(|| string("session_id"));
    let id = id.ok_or_else(|| Error::misshapen("session_meta.id", "a string"))?;
    let mut meta = SessionMeta::new(id);
    meta.format = None;
    let program = [string("originator"), string("cli_version")];
    let program: Vec<_> = program.iter().flatten().map(Cow::as_ref).collect();
    meta.program = (!program.is_empty()).then(|| program.join(" "));
    meta.cwd = string("cwd").map(Cow::into_owned);
    let base = payload.member("base_instructions").and_then(|base| base.member("text"));
    let base = base.or_else(|| payload.member("instructions")).filter(|base| base.shape() == Shape::String);
    meta.base_instructions = base.map(RawJson::from_json);
    meta.tools = payload.member("dynamic_tools").filter(|tools| !tools.is_null()).map(RawJson::from_json);
    let parent = string("forked_from_id").or_else(|| string("parent_thread_id"));
    meta.parent = parent.map(|parent| Parent::new(parent, None));
    meta.history_base = payload.member("history_base").filter(|base| !base.is_null()).map(RawJson::from_json);
    let mut details = ObjectWriter::new();
    for (key, value) in payload.members() {
        if !["base_instructions", "instructions", "dynamic_tools"].iter().any(|long| key.is_text(long)) {
            details.member((key, value));
        }
    }
    meta.details = Some(RawJson::parse(&details.finish())?);
    Ok(meta)
}
