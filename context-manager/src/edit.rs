//! Changing one member of a JSON value and keeping every other byte.

use context_fragments::json::{Json, ObjectWriter, push_string};

/// The object with `key` set to `value`, which is JSON text; every other member stays where and as it is.
pub(crate) fn with_member(object: Json<'_>, key: &str, value: &str) -> String {
    let place = object.members().enumerate().filter(|(_, (name, _))| name.is_text(key)).last().map(|(place, _)| place);
    let mut writer = ObjectWriter::new();
    for (position, member) in object.members().enumerate() {
        if place == Some(position) {
            writer.raw(key, value);
        } else {
            writer.member(member);
        }
    }
    if place.is_none() {
        writer.raw(key, value);
    }
    writer.finish()
}

/// `text` as a JSON string.
pub(crate) fn quoted(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    push_string(&mut out, text);
    out
}

/// A JSON array of `elements`, each of which is JSON text.
pub(crate) fn array<T: AsRef<str>>(elements: &[T]) -> String {
    let mut out = String::from("[");
    for (position, element) in elements.iter().enumerate() {
        if position > 0 {
            out.push(',');
        }
        out.push_str(element.as_ref());
    }
    out.push(']');
    out
}

/// An `input_text` part.
pub(crate) fn text_part(text: &str) -> String {
    let mut writer = ObjectWriter::new();
    writer.string("type", "input_text").string("text", text);
    writer.finish()
}
