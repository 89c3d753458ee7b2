//! Compactions of a Codex rollout.

use std::{borrow::Cow, collections::BTreeMap};

use context_fragments::json::{Json, ObjectWriter, Shape};

use super::item;
use crate::{
    Error,
    rollout::{
        RawJson,
        checkpoint::{Checkpoint, CheckpointCause, CheckpointItem},
    },
};

/// Reads a `compacted` line. Baseline and reference are cleared by it, as in the log's own reader.
pub(super) fn checkpoint(payload: Json<'_>, unknown: &mut BTreeMap<String, u64>) -> Result<Checkpoint, Error> {
    let member = |key| payload.member(key).filter(|value| !value.is_null());
    let array = |key| match member(key) {
        Some(value) if value.shape() != Shape::Array => Err(Error::misshapen(format!("compacted.{key}"), "an array")),
        other => Ok(other),
    };
    let history = array("replacement_history")?;
    let beside = array("replacement_history_metadata")?;
    let counts = (history.map(|items| items.elements().count()), beside.map(|items| items.elements().count()));
    if matches!(counts, (None, Some(_))) || matches!(counts, (Some(items), Some(beside)) if items != beside) {
        let place = "compacted.replacement_history_metadata";
        return Err(Error::misshapen(place, "one entry for each item of replacement_history"));
    }
    let mut checkpoint = Checkpoint::new(CheckpointCause::Compaction, Vec::new());
    checkpoint.summary = member("message").and_then(Json::to_str).map(Cow::into_owned);
    checkpoint.items = match history {
        Some(history) => Some(items(history, beside, unknown)?),
        None => None,
    };
    // Old versions wrote the number of the window where newer ones write its id.
    let number = member("window_number").or_else(|| member("window_id"));
    checkpoint.counters.epoch = number.and_then(|number| number.as_raw().parse().ok());
    let mut details = ObjectWriter::new();
    for (key, value) in payload.members() {
        let is_apart = ["message", "replacement_history", "replacement_history_metadata"];
        if !is_apart.iter().any(|apart| key.is_text(apart)) {
            details.member((key, value));
        }
    }
    checkpoint.details = Some(RawJson::parse(&details.finish())?);
    Ok(checkpoint)
}

fn items(
    history: Json<'_>,
    beside: Option<Json<'_>>,
    unknown: &mut BTreeMap<String, u64>,
) -> Result<Vec<CheckpointItem>, Error> {
    let mut beside = beside.into_iter().flat_map(Json::elements);
    let mut items = Vec::new();
    for item in history.elements() {
        let metadata = beside.next().filter(|metadata| !metadata.is_null());
        if item.member("type").is_some_and(|kind| kind.is_text("ghost_snapshot")) {
            *unknown.entry("compacted.ghost_snapshot".into()).or_default() += 1;
            continue;
        }
        let (item, metadata) = item::lift(item, metadata)?;
        items.push(CheckpointItem::new(item, metadata));
    }
    Ok(items)
}
