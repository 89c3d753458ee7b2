//! The same history in a context manager.
#![expect(clippy::expect_used, reason = "the corpus is this crate's own, and a bench on another one has to fail")]

use context_fragments::{Limit, TurnContextItem, WireItem};
use context_manager::{
    ContextManager, Model, Parts, Profile, Projector, Prompt, ReadyItem, Recording, TruncationPolicy,
};
use world_state::{WorldState, WorldStateSnapshot, initial_context};

use crate::{
    corpus::{self, Spec, Variant},
    naive,
    world::Host,
};

fn recording() -> Recording {
    Recording::new(TruncationPolicy::new(Limit::Tokens(10_000)))
}

fn wire(spec: &Spec) -> WireItem {
    WireItem::parse(spec.json().as_bytes()).expect("the corpus is JSON")
}

/// The first `len` items of the corpus, with its world state and settings.
///
/// # Panics
/// If the corpus is not what it says.
#[must_use]
pub fn manager_of_corpus(len: usize) -> ContextManager {
    manager_of_variant(Variant::Plain, len)
}

/// The first `len` items of a variant of the corpus, with its world state and settings.
///
/// # Panics
/// If the corpus is not what it says.
#[must_use]
pub fn manager_of_variant(variant: Variant, len: usize) -> ContextManager {
    let mut manager = ContextManager::new();
    manager.set_world_state_baseline(Some(world_state()));
    record_corpus(&mut manager, variant, len);
    assert_eq!(manager.history().item_count(), len);
    manager
}

fn record_corpus(manager: &mut ContextManager, variant: Variant, len: usize) {
    let settings = TurnContextItem::parse(corpus::turn_context().as_bytes()).expect("the corpus is JSON");
    manager.set_reference_context_item(Some(settings));
    let items = corpus::conversation_of(variant, len);
    manager.record_items(items.iter().map(wire), &recording()).expect("the items are small");
}

/// `count` items that follow on `len`, ready to be appended.
///
/// # Panics
/// If the corpus is not what it says.
#[must_use]
pub fn ready_items(len: usize, count: usize) -> Vec<ReadyItem> {
    let admitted = ContextManager::new().admit(wire_items(len, count), &recording());
    admitted.expect("the items are small").into_items()
}

/// `count` items that follow on `len`, as they come from the wire.
///
/// # Panics
/// If the corpus is not what it says.
#[must_use]
pub fn wire_items(len: usize, count: usize) -> Vec<WireItem> {
    corpus::conversation(len + count)[len..].iter().map(wire).collect()
}

/// What the prompts of the corpus have beside their items.
#[must_use]
pub fn parts() -> Parts {
    Parts::new(Model::new("model-1")).with_base("You are careful.")
}

/// The bound to which the corpus is recorded.
#[must_use]
pub fn bound() -> Recording {
    recording()
}

/// The world state of the corpus.
///
/// # Panics
/// If the corpus is not what it says.
#[must_use]
pub fn world_state() -> WorldStateSnapshot {
    serde_json::from_value(naive::world_state().into_iter().collect()).expect("the corpus has no nulls")
}

/// A conversation that goes on, step by step, as a session drives it: history, world and projector live as long as it.
#[derive(Debug)]
pub struct Conversation {
    manager: ContextManager,
    projector: Projector,
    parts: Parts,
    recording: Recording,
    host: Host,
    world: WorldState,
}

impl Conversation {
    /// The context of the world, then the first `len` items of a variant of the corpus; all of it was sent.
    ///
    /// # Panics
    /// If the corpus is not what it says.
    #[must_use]
    pub fn new(variant: Variant, len: usize, n_bytes: usize) -> Self {
        let (host, mut world, mut manager) = (Host::new(1, n_bytes), WorldState::new(), ContextManager::new());
        host.set_in(&mut world);
        let told = world.render_full().expect("the texts are small");
        let context = initial_context(told.updates);
        manager.record_update(context, told.snapshot, &recording()).expect("the items are small");
        record_corpus(&mut manager, variant, len);
        Self {
            manager,
            projector: Projector::new(Profile::responses()),
            parts: parts(),
            recording: recording(),
            host,
            world,
        }
    }

    /// The same conversation, to go on in another way: the history is shared, and the first prompt was sent.
    ///
    /// # Panics
    /// Never: nothing was added between prompt and mark.
    #[must_use]
    pub fn fork(&self) -> Self {
        let host = self.host.on_day(1);
        let mut world = WorldState::new();
        host.set_in(&mut world);
        let mut fork = Self {
            manager: self.manager.clone(),
            projector: Projector::new(Profile::responses()),
            parts: self.parts.clone(),
            recording: self.recording.clone(),
            host,
            world,
        };
        let prompt = fork.projector.prompt(&fork.manager, &fork.parts);
        fork.sent(&prompt);
        fork
    }

    /// One step: the items come as the provider's bytes and are bounded and recorded, the world is set and compared with
    /// what was told, the prompt is made.
    ///
    /// # Panics
    /// If the items are no JSON, or the world has something to say.
    pub fn step(&mut self, items: [&str; 2]) -> Prompt {
        let items = items.map(|json| WireItem::parse(json.as_bytes()).expect("the corpus is JSON"));
        self.manager.record_items(items, &self.recording).expect("the items are small");
        self.host.set_in(&mut self.world);
        let told = self.manager.world_state_baseline();
        let diff = self.world.render_diff(told, &self.manager.retained_kinds()).expect("the texts are small");
        assert!(diff.updates.is_empty(), "the world is the same");
        self.projector.prompt(&self.manager, &self.parts)
    }

    /// Says that the prompt was sent.
    ///
    /// # Panics
    /// If items were added since it was made.
    pub fn sent(&mut self, prompt: &Prompt) {
        self.manager.mark_sent(prompt).expect("nothing was added");
    }

    /// The history.
    #[must_use]
    pub const fn manager(&self) -> &ContextManager {
        &self.manager
    }
}
