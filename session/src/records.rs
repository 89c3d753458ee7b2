//! The records of what was added to a history.

use std::collections::HashMap;

use context_manager::{
    ContextManager, Digest, Entry, Fact, Modalities, Model, Origin, PartName, Parts, Position, ResponseItemEnvelope,
    Sent, TurnId,
};
use world_state::WorldStateSnapshot;

use crate::{
    Error,
    rollout::{
        Draft, LoggedOrigin, Metadata, Original, PartsChange, RawJson, Record, RolloutItem, SentMark, Sha256,
        WorldStateItem,
    },
};

/// What only the caller knows of the items that it recorded.
#[derive(Debug, Default)]
pub(crate) struct Beside {
    /// The turn in which a state was told; the history keeps none with it, and who reads the log wants to know.
    pub(crate) turn: Option<TurnId>,
    /// The whole of every output that was cut.
    pub(crate) originals: Vec<context_manager::Original>,
    /// Whether a tool did what it was asked.
    pub(crate) success: Option<bool>,
    /// The call that an output answers, where its id alone does not say it.
    pub(crate) answers: Option<Position>,
}

/// The records of the entries that `after` has and `before` has not, in record order.
///
/// The log is the history written down, so the records are made from the entries alone, each with its position.
pub(crate) fn records_of(
    before: &ContextManager,
    after: &ContextManager,
    beside: &Beside,
) -> Result<Vec<Draft>, Error> {
    let n_new = after.history().entry_count() - before.history().entry_count();
    let mut added: Vec<&Entry> = after.history().entries().rev().take(n_new).collect();
    added.reverse();
    let originals: HashMap<Position, &context_manager::Original> =
        beside.originals.iter().filter_map(|original| Some((original.position?, original))).collect();
    let mut told = before.world_state_baseline().cloned();
    let mut drafts = Vec::with_capacity(added.len());
    for entry in added {
        let record = match entry {
            Entry::Item(envelope) => {
                let mut metadata = metadata_of(envelope);
                metadata.success = beside.success;
                metadata.provenance = beside.answers.map(answers_of).transpose()?;
                let record = Record::from(RolloutItem::Item(envelope.item().clone())).with_metadata(metadata);
                match originals.get(&envelope.position()) {
                    Some(original) => record.with_original(Original::Inline(original.item.clone())),
                    None => record,
                }
            }
            Entry::Fact(fact) => {
                let mut metadata = Metadata::new().with_position(fact.position().number());
                metadata.turn_id = fact.turn().or(beside.turn.as_ref()).map(|turn| turn.as_str().into());
                let item = match fact.fact() {
                    Fact::Baseline(Some(now)) => {
                        let item = world_state_item(told.as_ref(), now)?;
                        told = Some(now.clone());
                        item
                    }
                    Fact::TurnContext(Some(context)) => RolloutItem::TurnContext(context.clone()),
                    // A live session clears nothing; a rewrite does, and writes a record of its own.
                    _ => continue,
                };
                Record::from(item).with_metadata(metadata)
            }
        };
        drafts.push(record.into());
    }
    Ok(drafts)
}

/// What only the host sees of an item.
pub(crate) fn metadata_of(envelope: &ResponseItemEnvelope) -> Metadata {
    let mut metadata = Metadata::new().with_position(envelope.position().number()).with_kinds(envelope.kinds());
    metadata.turn_id = envelope.turn().map(|turn| turn.as_str().into());
    metadata.moved_from = envelope.moved_from().map(Position::number);
    metadata.origin = Some(match envelope.origin() {
        Origin::User => LoggedOrigin::User,
        Origin::Model => LoggedOrigin::Model,
        Origin::Tool => LoggedOrigin::Tool,
        Origin::Repair => LoggedOrigin::Repair,
        _ => LoggedOrigin::Host,
    });
    metadata.model = envelope.model().map(Into::into);
    metadata.truncation_limit = envelope.truncation_limit();
    metadata.acceptance_order = envelope.acceptance_order();
    metadata
}

fn world_state_item(told: Option<&WorldStateSnapshot>, now: &WorldStateSnapshot) -> Result<RolloutItem, Error> {
    let patch = told.and_then(|told| now.merge_patch_from(told));
    Ok(RolloutItem::WorldState(match patch {
        Some(patch) => WorldStateItem::Patch(RawJson::parse(&patch.to_string())?),
        None => {
            let json = serde_json::to_string(now)
                .map_err(|_| Error::misshapen("world_state.state", "a state that JSON can hold"))?;
            WorldStateItem::Full(RawJson::parse(&json)?)
        }
    }))
}

/// The record of a prompt that is about to be sent.
pub(crate) fn sent_mark(sent: &Sent, history_version: u64, profile: &str) -> SentMark {
    let mut mark = SentMark::new(sent.parts.map(sha256), sha256(sent.chain), sent.items as u64);
    mark.history_version = history_version;
    mark.profile = Some(profile.to_owned());
    mark.model = Some(sent.model.clone());
    mark.synthetic_outputs = sent.synthetic_outputs.iter().map(|position| position.number()).collect();
    mark
}

pub(crate) fn sha256(digest: Digest) -> Sha256 {
    Sha256::new(*digest.as_bytes())
}

/// The parts of a log that says nothing of them.
pub(crate) fn unsaid_parts() -> Parts {
    Parts::new(Model::new(""))
}

/// What of the parts the log does not hold yet; none if it holds all.
pub(crate) fn parts_change(logged: &Parts, now: &Parts) -> Result<Option<PartsChange>, Error> {
    let mut change = PartsChange::default();
    for name in now.changed_from(logged) {
        let text = now.text(name);
        match name {
            PartName::Parameters => change.parameters = Some(RawJson::parse(text)?),
            PartName::Tools => change.tools = Some(RawJson::parse(text)?),
            PartName::Schema => change.schema = Some(RawJson::parse(text)?),
            // The base instructions of a session never change, and stand in its header.
            _ => {}
        }
    }
    let media = |parts: &Parts| parts.model().modalities();
    let (Modalities { images: had_images, audio: had_audio, .. }, Modalities { images, audio, .. }) =
        (media(logged), media(now));
    change.images = (had_images != images).then_some(images);
    change.audio = (had_audio != audio).then_some(audio);
    Ok((change != PartsChange::default()).then_some(change))
}

/// The word of the log on which call an output answers.
fn answers_of(call: Position) -> Result<RawJson, Error> {
    RawJson::parse(&format!("{{\"answers\":{call}}}"))
}

/// The call that an output answers, where the log says it.
pub(crate) fn answered_by(metadata: &Metadata) -> Option<Position> {
    let answers = metadata.provenance.as_ref()?.json().member("answers")?;
    answers.as_raw().parse().ok().map(Position::new)
}
