//! Record, snapshot, prompt, proof: the smallest loop around a history.

use context_fragments::{ContextItem, Limit, WireItem};
use context_manager::{ContextManager, Model, Parts, Profile, Projector, Recording, TruncationPolicy, assert_extends};

#[expect(clippy::print_stdout, reason = "an example shows what it did")]
fn main() -> Result<(), context_manager::Error> {
    let recording = Recording::new(TruncationPolicy::new(Limit::Tokens(10_000)));
    let parts = Parts::new(Model::new("model-1")).with_base("You are careful.");
    let mut manager = ContextManager::new();
    let mut projector = Projector::new(Profile::responses());

    manager.record_items([ContextItem::user_text("list the files")], &recording)?;
    let before = manager.snapshot();
    let first = projector.prompt(&manager, &parts);
    manager.mark_sent(&first)?;

    manager.record_items([WireItem::function_call("ls", "{}", "c1")], &recording)?;
    manager.record_items([WireItem::function_call_output("c1", "a.rs")], &recording)?;
    let second = projector.prompt(&manager, &parts);
    assert_extends!(first, second);
    println!("{} item before, {} now: {:?}", before.item_count(), second.items().len(), second.proof());
    Ok(())
}
