//! A whole prompt, as a person reads it.

use std::fmt::Write as _;

use context_fragments::{Kind, WireItem};
use context_manager::{Modalities, Model, PartName, Profile};

use crate::setup::{
    assistant, call, developer, environment, image_message, manager_of, output, parts, raw, recording, user,
};

#[test]
fn a_prompt_with_every_sort_of_repair() {
    let search = r#"{"type":"tool_search_call","id":"tsc_1","call_id":"q","execution":"client","arguments":{"q":"x"}}"#;
    let mut manager = manager_of([
        developer(Kind::PERMISSIONS, "<permissions instructions>p</permissions instructions>"),
        environment("<environment_context>e</environment_context>"),
        user("fix the bug"),
        output("early", "it came first"),
        call("early"),
        call("late"),
        raw(search),
        output("lost", "nobody asked"),
        image_message(),
        WireItem::function_call("shell", "{}", "").into(),
    ]);
    let parts = parts().with_model(Model::new("m1").with_modalities(Modalities::TEXT));
    let first = manager.for_prompt(&parts, &Profile::responses());
    manager.mark_sent(&first).expect("nothing was added");
    manager.record_items([output("late", "too late"), assistant("done \u{e9}")], &recording()).expect("small items");
    let prompt = manager.for_prompt(&parts, &Profile::responses());

    let mut text = String::new();
    for name in PartName::ALL {
        writeln!(text, "{name}: {}", prompt.parts().text(name)).expect("a string takes all");
    }
    for (index, item) in prompt.items().iter().enumerate() {
        let provenance = item.provenance();
        let position = provenance.position.expect("every item comes from an entry");
        writeln!(text, "{index} <- {position} {:?} {:?}", provenance.origin, provenance.repairs)
            .expect("a string takes all");
        writeln!(text, "  {}", item.item().as_str()).expect("a string takes all");
    }
    for repair in prompt.repairs() {
        let position = repair.position().expect("every repair is of an entry");
        writeln!(text, "repair {} of {position} at {}: {}", repair.rule(), repair.place(), repair.why())
            .expect("a string takes all");
    }
    writeln!(text, "chain {}\n{:?}", prompt.chain(), prompt.proof()).expect("a string takes all");
    insta::assert_snapshot!(text);
}
