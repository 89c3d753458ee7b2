//! The words of the user that a compaction keeps.

use context_fragments::{ContextItem, Kind, Limit, MarkerRoom, Role, WireItem, cut_middle, json::Json};
use context_manager::{ContextManager, Origin, ResponseItemEnvelope, SUMMARY_KIND, text_tokens};

use crate::rewriting::WindowItem;

/// The newest messages of the user that fit into `budget` tokens, in their order.
///
/// One that does not fit is cut in the middle to what is left, and ends the walk. Of a message with images or audio the
/// words stay. Summaries and context are no words of the user.
pub(super) fn retained(manager: &ContextManager, budget: u64) -> Vec<WindowItem> {
    let mut left = budget;
    let mut kept = Vec::new();
    for envelope in manager.history().items().rev().filter(|item| is_said(item)) {
        if left == 0 {
            break;
        }
        let text = text_of(envelope.item());
        if text.is_empty() {
            continue;
        }
        let tokens = text_tokens(&text);
        if tokens > left {
            let limit = Limit::Tokens(usize::try_from(left).unwrap_or(usize::MAX));
            kept.push(said(envelope, &cut_middle(&text, limit, MarkerRoom::Inside)));
            break;
        }
        left -= tokens;
        let has_media = envelope.item().has_images() || envelope.item().has_audio();
        kept.push(if has_media { said(envelope, &text) } else { WindowItem::Kept(Box::new(envelope.clone())) });
    }
    kept.reverse();
    kept
}

fn is_said(envelope: &ResponseItemEnvelope) -> bool {
    envelope.origin() == Origin::User
        && envelope.item().role() == Some(Role::User)
        && !envelope.kinds().contains(&SUMMARY_KIND)
}

/// A message of the user in other bytes, in the same turn.
fn said(envelope: &ResponseItemEnvelope, text: &str) -> WindowItem {
    let item = ContextItem::new(WireItem::user_text(text), [Kind::USER_TEXT]);
    WindowItem::New { item, turn: envelope.turn().cloned(), origin: Origin::User }
}

/// What a message says, its parts one below the other. Context that stands in the same message is none of it.
pub(super) fn text_of(item: &WireItem) -> String {
    let content = item.json().member("content");
    let Some(content) = content else { return String::new() };
    if let Some(text) = content.to_str() {
        return text.into_owned();
    }
    let texts = content.elements().filter_map(|part| part.member("text").and_then(Json::to_str));
    texts.map(String::from).collect::<Vec<_>>().join("\n")
}
