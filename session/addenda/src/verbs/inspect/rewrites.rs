//! What a compaction did, and what was cut.

use context_fragments::{Limit, json::Json};
use context_manager::ResponseItemEnvelope;
use session::rollout::{Checkpoint, CheckpointCause, Original, ReplayEvent, RolloutItem};

use super::document::{Compaction, Truncation};

/// What a checkpoint says of the compaction that wrote it; items and tokens are those before and after it.
pub(super) fn compaction(checkpoint: &Checkpoint, items: (usize, usize), tokens: (u64, u64)) -> Compaction {
    let details = checkpoint.details.as_ref().map(session::rollout::RawJson::json);
    let member = |key: &str| details.and_then(|details| details.member(key));
    let word = |key: &str| member(key).and_then(Json::to_str).map(String::from);
    let number = |key: &str| member(key).and_then(|value| value.as_raw().parse::<u64>().ok());
    let list = |key: &str| member(key).into_iter().flat_map(Json::elements);
    let cause = match &checkpoint.cause {
        CheckpointCause::Compaction => None,
        other => Some(other.as_str().to_owned()),
    };
    Compaction {
        trigger: word("trigger").or(cause),
        injection: word("injection"),
        items_before: items.0,
        items_after: items.1,
        replaced: number("replaced_items"),
        kept: list("kept").filter_map(|position| position.as_raw().parse().ok()).collect(),
        injected: number("injected_items"),
        tokens_before: tokens.0,
        tokens_after: tokens.1,
        missing: list("missing").filter_map(Json::to_str).map(String::from).collect(),
    }
}

/// How an item was cut: by the writer of an own log, or by the reader of a foreign one.
pub(super) fn truncation(event: &ReplayEvent, added: &ResponseItemEnvelope) -> Option<Truncation> {
    let RolloutItem::Item(logged) = &event.record.item else { return None };
    let bytes_before = match &event.record.original {
        Some(Original::Inline(original)) => original.as_str().len(),
        Some(Original::Blob(blob)) => usize::try_from(blob.len).unwrap_or(usize::MAX),
        _ => logged.as_str().len(),
    };
    let bytes_after = added.item().as_str().len();
    (bytes_before > bytes_after).then(|| Truncation {
        position: added.position().number(),
        item: added.item().type_name().into_owned(),
        call_id: added.item().call_id().map(String::from),
        limit: added.truncation_limit().map(|limit| match limit {
            Limit::Bytes(bytes) => format!("{bytes} bytes"),
            Limit::Tokens(tokens) => format!("{tokens} tokens"),
        }),
        bytes_before,
        bytes_after,
    })
}
