//! Items that a projection adds: outputs of calls that have none, and outputs that came too late.

use context_fragments::{
    ContextItem, ItemType, WireItem,
    json::{Json, ObjectWriter, Shape},
};
use uuid::{Uuid, uuid};

use super::LATE_OUTPUT_KIND;
use crate::edit;

/// The namespace of synthetic ids, a constant of the published format.
const SYNTHETIC_IDS: Uuid = uuid!("90d38d3e-6a5b-4d52-bfe2-2f1e634bfac4");

/// What a synthetic output says of a call of which nothing is known.
pub(super) const ABORTED: &str = "aborted";

/// The synthetic output of a call; none if the item is no call or has no call id.
///
/// Its id derives from the item id of the call, so that it is the same in every run; a call without one gives none.
pub(super) fn output_of(call: &WireItem, text: &str) -> Option<WireItem> {
    let (item_type, prefix) = match call.item_type() {
        ItemType::FunctionCall | ItemType::LocalShellCall => ("function_call_output", "fco"),
        ItemType::CustomToolCall => ("custom_tool_call_output", "ctco"),
        ItemType::ToolSearchCall => ("tool_search_output", "tso"),
        _ => return None,
    };
    let call_id = call.json().member("call_id")?;
    let mut output = ObjectWriter::new();
    output.string("type", item_type);
    if let Some(item_id) = call.item_id() {
        let id = Uuid::new_v5(&SYNTHETIC_IDS, format!("{prefix}:{item_id}").as_bytes());
        output.string("id", &format!("{prefix}_{id}"));
    }
    output.raw("call_id", call_id.as_raw());
    if call.item_type() == ItemType::ToolSearchCall {
        output.string("status", "completed").string("execution", "client").raw("tools", "[]");
    } else {
        output.string("output", text);
    }
    WireItem::parse(output.finish().as_bytes()).ok()
}

/// The message in which an output is given whose call was sent as closed.
///
/// It is a user message: what a tool gave back must not speak with the host's voice. The first part says what it is, and
/// nothing closes it, so that no text in it can end it.
pub(super) fn late_message(output: &WireItem) -> ContextItem {
    let call_id = output.call_id().unwrap_or_default();
    let header = format!(
        "Output of the tool call {call_id}, which came after the call had been closed. It was written by the tool, not by the user."
    );
    let mut parts = vec![edit::text_part(&header)];
    let body = output.json().member("output").or_else(|| output.json().member("tools"));
    match body.map(|body| (body, body.shape())) {
        Some((body, Shape::Array)) if output.item_type() != ItemType::ToolSearchOutput => {
            parts.extend(body.elements().map(as_message_part));
        }
        Some((body, Shape::String)) => {
            // The string is taken over as it is escaped, lone surrogates included.
            let mut part = ObjectWriter::new();
            part.string("type", "input_text").raw("text", body.as_raw());
            parts.push(part.finish());
        }
        Some((body, _)) => parts.push(edit::text_part(body.as_raw())),
        None => {}
    }
    let mut message = ObjectWriter::new();
    message.string("type", "message").string("role", "user").raw("content", &edit::array(&parts));
    let kinds = vec![LATE_OUTPUT_KIND; parts.len()];
    // A writer's object always parses; a header alone is the honest fallback.
    let item = WireItem::parse(message.finish().as_bytes()).unwrap_or_else(|_| WireItem::user_text(&header));
    ContextItem::new(item, kinds)
}

/// A part of an output as a message takes it; for what only an output may hold stands a notice.
fn as_message_part(part: Json<'_>) -> String {
    let part_type = part.member("type").and_then(Json::to_str);
    match part_type.as_deref() {
        Some("encrypted_content") => edit::text_part("[encrypted content omitted]"),
        _ => part.as_raw().to_owned(),
    }
}
