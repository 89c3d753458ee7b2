//! Counting what a turn adds, by kind.

use context_fragments::{ContentItem, Kind, ResponseItem, estimate_tokens};
use context_manager::{IMAGE_BYTES, ResponseItemEnvelope, text_tokens};

use super::document::{Added, Count};

impl Added {
    /// Counts one item of the history.
    pub(super) fn count(&mut self, envelope: &ResponseItemEnvelope) {
        let item = envelope.item();
        self.items += 1;
        self.tokens += envelope.tokens();
        let view = item.view().ok();
        let parts = match &view {
            Some(ResponseItem::Message(message)) => Some(message.content),
            Some(ResponseItem::FunctionCallOutput(output) | ResponseItem::CustomToolCallOutput(output)) => {
                self.media += output.output.parts().filter(is_medium).count();
                None
            }
            _ => None,
        };
        let Some(content) = parts else {
            self.add(&item.type_name(), envelope.tokens());
            return;
        };
        // A message without kinds says at least whose it is.
        let role = item.role().map_or("other", |role| role.as_str());
        let unknown = format!("message.{role}");
        let label = |index: usize| envelope.kinds().get(index).map_or(unknown.as_str(), Kind::as_str);
        if let Some(text) = content.text() {
            self.add(label(0), text_tokens(&text));
        }
        for (index, part) in content.parts().enumerate() {
            self.media += usize::from(is_medium(&part));
            self.add(label(index), tokens_of(&part));
        }
    }

    fn add(&mut self, label: &str, tokens: u64) {
        let count: &mut Count = self.by_kind.entry(label.to_owned()).or_default();
        count.parts += 1;
        count.tokens += tokens;
    }
}

fn is_medium(part: &ContentItem<'_>) -> bool {
    matches!(part, ContentItem::InputImage { .. } | ContentItem::InputAudio { .. })
}

fn tokens_of(part: &ContentItem<'_>) -> u64 {
    match part {
        ContentItem::InputImage { .. } => estimate_tokens(IMAGE_BYTES) as u64,
        ContentItem::InputAudio { audio_url, .. } => text_tokens(audio_url),
        part => part.text().map_or(0, |text| text_tokens(text)),
    }
}
