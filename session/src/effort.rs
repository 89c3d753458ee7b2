//! The reasoning effort inside a window: what a request says, and what is appended when it changes.

use context_fragments::{ContextItem, ItemType, Kind, WireItem, json::Json};
use context_manager::{Entry, Fact, HistorySnapshot, Incoming, Origin, ResponseItemEnvelope};

const KIND: Kind = Kind::from_static("configuration.effort");

/// The efforts that an update can say. Another one is the provider's own word and is left to the host.
const KNOWN: [&str; 7] = ["disabled", "none", "minimal", "low", "medium", "high", "xhigh"];

/// The effort with which the window began: every request of it says this one, so that no earlier byte moves.
pub(crate) fn pinned(history: &HistorySnapshot) -> Option<String> {
    history.entries().find_map(|entry| match entry {
        Entry::Fact(fact) => match fact.fact() {
            Fact::TurnContext(Some(context)) => effort_of(context.json()),
            _ => None,
        },
        Entry::Item(_) => None,
    })
}

/// The update that makes `wanted` the effort from here on; none where it is, or where no window has begun.
pub(crate) fn update(history: &HistorySnapshot, wanted: Option<&str>) -> Option<Incoming> {
    let wanted = wanted.filter(|wanted| KNOWN.contains(wanted))?;
    let standing = newest_update(history).or_else(|| pinned(history))?;
    if standing == wanted {
        return None;
    }
    let item = format!(r#"{{"type":"configuration_update","reasoning":{{"effort":"{wanted}"}}}}"#);
    let item = WireItem::parse(item.as_bytes()).ok()?;
    Some(Incoming::new(ContextItem::new(item, [KIND])).by(Origin::Host))
}

fn newest_update(history: &HistorySnapshot) -> Option<String> {
    // Most windows have none, which the kinds tell without a walk.
    if !history.retained_kinds().contains(&KIND) {
        return None;
    }
    let is_update = |item: &&ResponseItemEnvelope| {
        item.item().item_type() == ItemType::ConfigurationUpdate && item.origin() == Origin::Host
    };
    history.items().rev().find(is_update).and_then(|item| effort_of(item.item().json().member("reasoning")?))
}

fn effort_of(json: Json<'_>) -> Option<String> {
    json.member("effort").and_then(Json::to_str).map(String::from)
}
