//! Mail between agents, as lines of their own in foreign logs.

use context_fragments::{
    WireItem,
    json::{Json, ObjectWriter, Shape, push_string},
};

/// The type of such a line.
pub(super) const TYPE: &str = "inter_agent_communication";

/// The item of the model that a line of mail stands for; none if it has no content.
pub(super) fn item_of(payload: Json<'_>) -> Option<WireItem> {
    let content = payload.member("content")?;
    let parts = match content.shape() {
        Shape::Array => content.as_raw().to_owned(),
        Shape::String => {
            let mut part = String::from(r#"[{"type":"input_text","text":"#);
            push_string(&mut part, &content.to_str()?);
            part.push_str("}]");
            part
        }
        _ => return None,
    };
    let mut item = ObjectWriter::new();
    item.string("type", "agent_message");
    for key in ["author", "recipient"] {
        if let Some(value) = payload.member(key).and_then(Json::to_str) {
            item.string(key, &value);
        }
    }
    item.raw("content", &parts);
    WireItem::parse(item.finish().as_bytes()).ok()
}
