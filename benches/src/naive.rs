//! The history as it is usually kept, of our own writing: a shared vector of owned, typed items that is copied on the
//! first change while a snapshot lives, with the world state and the settings by value beside it.

use std::{
    collections::{BTreeMap, HashSet},
    sync::Arc,
};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::corpus::{self, Spec, Variant};

/// A typed item that owns all its text.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
#[expect(clippy::exhaustive_enums, missing_docs, reason = "a baseline, not an API")]
pub enum Item {
    Message {
        role: String,
        content: Vec<Content>,
        #[serde(skip_serializing_if = "Option::is_none")]
        phase: Option<String>,
    },
    Reasoning {
        id: String,
        summary: Vec<Content>,
        encrypted_content: Option<String>,
    },
    FunctionCall {
        id: Option<String>,
        name: String,
        arguments: String,
        call_id: String,
        #[serde(skip_serializing_if = "Option::is_none")]
        namespace: Option<String>,
    },
    FunctionCallOutput {
        call_id: String,
        output: String,
    },
}

impl Item {
    fn call_id(&self) -> Option<String> {
        match self {
            Self::FunctionCall { call_id, .. } => Some(call_id.clone()),
            _ => None,
        }
    }

    /// What an estimate counts.
    fn content_bytes(&self) -> usize {
        match self {
            Self::Message { content, .. } => content.iter().map(Content::bytes).sum(),
            Self::Reasoning { encrypted_content, .. } => {
                (encrypted_content.as_ref().map_or(0, String::len) * 3 / 4).saturating_sub(650)
            }
            Self::FunctionCall { name, arguments, namespace, .. } => {
                name.len() + arguments.len() + namespace.as_ref().map_or("functions".len(), String::len)
            }
            Self::FunctionCallOutput { call_id, output } => call_id.len() + output.len(),
        }
    }

    fn output_id(&self) -> Option<String> {
        match self {
            Self::FunctionCallOutput { call_id, .. } => Some(call_id.clone()),
            _ => None,
        }
    }
}

/// One part of a message.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
#[expect(clippy::exhaustive_enums, missing_docs, reason = "a baseline, not an API")]
pub enum Content {
    InputText { text: String },
    OutputText { text: String },
    InputImage { image_url: String },
}

impl Content {
    fn bytes(&self) -> usize {
        match self {
            Self::InputText { text } | Self::OutputText { text } => text.len(),
            Self::InputImage { .. } => 7_373,
        }
    }
}

/// What only the host sees of an item.
#[derive(Clone, Debug, Default)]
#[expect(clippy::exhaustive_structs, missing_docs, reason = "a baseline, not an API")]
pub struct Metadata {
    pub client_authored: bool,
    pub truncation_limit: Option<usize>,
    pub kinds: Vec<String>,
}

/// An item and its metadata.
#[derive(Clone, Debug)]
#[expect(clippy::exhaustive_structs, missing_docs, reason = "a baseline, not an API")]
pub struct Envelope {
    pub item: Item,
    pub metadata: Option<Metadata>,
}

impl From<&Spec> for Envelope {
    fn from(spec: &Spec) -> Self {
        let item = match spec {
            Spec::Message { role, text } => {
                let text = text.clone();
                let part =
                    if *role == "assistant" { Content::OutputText { text } } else { Content::InputText { text } };
                Item::Message { role: (*role).to_owned(), content: vec![part], phase: None }
            }
            Spec::Image { text, url } => Item::Message {
                role: "user".to_owned(),
                content: vec![
                    Content::InputText { text: text.clone() },
                    Content::InputImage { image_url: url.clone() },
                ],
                phase: None,
            },
            Spec::Reasoning { id, encrypted_content } => Item::Reasoning {
                id: id.clone(),
                summary: Vec::new(),
                encrypted_content: Some(encrypted_content.clone()),
            },
            Spec::Call { id, name, arguments, call_id } => Item::FunctionCall {
                id: Some(id.clone()),
                name: (*name).to_owned(),
                arguments: arguments.clone(),
                call_id: call_id.clone(),
                namespace: None,
            },
            Spec::Output { call_id, output } => {
                Item::FunctionCallOutput { call_id: call_id.clone(), output: output.clone() }
            }
        };
        Self { item, metadata: None }
    }
}

/// The bytes of a request's input.
///
/// # Panics
/// Never: every item is serialisable.
#[must_use]
#[expect(clippy::expect_used, reason = "the items are this crate's own")]
pub fn json_of(items: &[Item]) -> Vec<u8> {
    serde_json::to_vec(items).expect("it is serialisable")
}

/// The world state of the corpus, as a tree.
#[must_use]
pub fn world_state() -> BTreeMap<String, Value> {
    let section = |fields: Vec<(String, String)>| {
        Value::Object(fields.into_iter().map(|(key, text)| (key, Value::String(text))).collect())
    };
    corpus::world_state().into_iter().map(|(id, fields)| (id, section(fields))).collect()
}

/// The history: a clone shares the items and copies the rest.
#[derive(Clone, Debug)]
pub struct History {
    items: Arc<Vec<Envelope>>,
    history_version: u64,
    world_state_baseline: Option<BTreeMap<String, Value>>,
    reference_context_item: Option<BTreeMap<String, String>>,
}

impl History {
    /// The first `len` items of the corpus, with its world state and settings.
    #[must_use]
    pub fn of_corpus(len: usize) -> Self {
        Self::of_variant(Variant::Plain, len)
    }

    /// The first `len` items of a variant of the corpus.
    #[must_use]
    pub fn of_variant(variant: Variant, len: usize) -> Self {
        let items = corpus::conversation_of(variant, len).iter().map(Envelope::from).collect();
        Self {
            items: Arc::new(items),
            history_version: 0,
            world_state_baseline: Some(world_state()),
            reference_context_item: serde_json::from_str(&corpus::turn_context()).ok(),
        }
    }

    /// Appends one item: copies all of them first if a snapshot lives.
    pub fn push(&mut self, item: Envelope) {
        Arc::make_mut(&mut self.items).push(item);
    }

    /// Forgets all but the first `len` items, to start a sample anew.
    pub fn truncate(&mut self, len: usize) {
        Arc::make_mut(&mut self.items).truncate(len);
    }

    /// The same history with items of its own, as the first push with a live snapshot makes it.
    #[must_use]
    pub fn unshared(&self) -> Self {
        Self { items: Arc::new(self.items.as_ref().clone()), ..self.clone() }
    }

    /// The items as they are sent: a copy of all of them, since the history is shared with its owner, in which calls
    /// without an output get one and outputs without a call go.
    #[must_use]
    pub fn prompt(&self) -> Vec<Item> {
        let mut copy = self.clone();
        let items = Arc::make_mut(&mut copy.items);
        let answered: HashSet<String> = items.iter().filter_map(|envelope| envelope.item.output_id()).collect();
        let missing: Vec<(usize, Item)> = items
            .iter()
            .enumerate()
            .filter_map(|(index, envelope)| Some((index, envelope.item.call_id()?)))
            .filter(|(_, call_id)| !answered.contains(call_id))
            .map(|(index, call_id)| (index, Item::FunctionCallOutput { call_id, output: "aborted".to_owned() }))
            .collect();
        for (index, item) in missing.into_iter().rev() {
            items.insert(index + 1, Envelope { item, metadata: None });
        }
        let called: HashSet<String> = items.iter().filter_map(|envelope| envelope.item.call_id()).collect();
        items.retain(|envelope| envelope.item.output_id().is_none_or(|call_id| called.contains(&call_id)));
        let items = Arc::unwrap_or_clone(copy.items);
        items.into_iter().map(|envelope| envelope.item).collect()
    }

    /// Says that the world state is still the one that the model was told; it is built anew to be compared.
    #[must_use]
    pub fn is_told(&self, world_state: &BTreeMap<String, Value>) -> bool {
        let now = world_state.clone();
        self.world_state_baseline.as_ref() == Some(&now)
    }

    /// The estimate of the whole history, counted anew by the rules of a context manager: content at four bytes a token.
    #[must_use]
    pub fn estimate(&self) -> usize {
        self.items.iter().map(|envelope| envelope.item.content_bytes().div_ceil(4)).sum()
    }

    /// The estimate in the shape that is in use: each item's length as JSON, four bytes a token.
    #[must_use]
    pub fn estimate_of_json(&self) -> usize {
        let len = |envelope: &Envelope| serde_json::to_string(&envelope.item).map_or(0, |json| json.len());
        self.items.iter().map(|envelope| len(envelope).div_ceil(4)).sum()
    }

    /// Takes the last user turn back: a copy of all that stays, since a snapshot lives.
    pub fn drop_last_turn(&mut self) {
        let is_user = |envelope: &Envelope| matches!(&envelope.item, Item::Message { role, .. } if role == "user");
        let Some(cut) = self.items.iter().rposition(is_user) else { return };
        self.items = Arc::new(self.items[..cut].to_vec());
        self.history_version += 1;
    }

    /// The items.
    #[must_use]
    pub fn items(&self) -> &[Envelope] {
        &self.items
    }

    /// How many items there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.items.len()
    }

    /// Says that there is no item.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    /// Says that what a clone has to carry is there.
    #[must_use]
    pub fn has_state(&self) -> bool {
        let sections = self.world_state_baseline.as_ref().map_or(0, BTreeMap::len);
        sections == 12 && self.reference_context_item.is_some() && self.history_version == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_sides_hold_the_same_items() {
        for variant in [Variant::Plain].into_iter().chain(Variant::SPECIAL) {
            for spec in corpus::conversation_of(variant, 1_000) {
                let json = serde_json::to_string(&Envelope::from(&spec).item).expect("it is serialisable");
                assert_eq!(json, spec.json());
            }
        }
    }

    #[test]
    fn the_prompt_of_a_cut_conversation_has_an_output_for_each_call() {
        let specs = corpus::conversation(1_000);
        let cut = specs.iter().position(|spec| matches!(spec, Spec::Call { .. })).expect("there are calls") + 1;
        let prompt = History::of_corpus(cut).prompt();
        assert_eq!(prompt.len(), cut + 1);
        assert!(matches!(prompt.last(), Some(Item::FunctionCallOutput { output, .. }) if output == "aborted"));
    }

    #[test]
    fn a_push_leaves_a_snapshot_as_it_was() {
        let mut history = History::of_corpus(100);
        let snapshot = history.clone();
        history.push(Envelope::from(&corpus::conversation(101)[100]));
        assert_eq!((snapshot.len(), history.len()), (100, 101));
        assert!(snapshot.has_state() && history.has_state());
    }
}
