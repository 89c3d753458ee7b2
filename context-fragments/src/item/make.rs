//! Making items that the host sends.

use super::{WireItem, head::Role};
use crate::json::{Json, ObjectWriter, push_string};

/// One content part of a message that the host makes.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum Part<'a> {
    /// `input_text`.
    InputText(&'a str),
    /// `output_text`.
    OutputText(&'a str),
    /// `input_image` by URL, with the `detail` that the provider should use.
    InputImage {
        /// A web address or a data URL.
        url: &'a str,
        /// `auto`, `low`, `high` or `original`.
        detail: &'a str,
    },
    /// A part as it stands in another item.
    Raw(Json<'a>),
}

impl Part<'_> {
    fn push_to(self, out: &mut String) {
        let mut object = ObjectWriter::new();
        match self {
            Part::InputText(text) => object.string("type", "input_text").string("text", text),
            Part::OutputText(text) => object.string("type", "output_text").string("text", text),
            Part::InputImage { url, detail } => {
                object.string("type", "input_image").string("image_url", url).string("detail", detail)
            }
            Part::Raw(json) => {
                out.push_str(&crate::json::compacted(json));
                return;
            }
        };
        out.push_str(&object.finish());
    }
}

impl WireItem {
    /// Makes `{"type":"message","role":…,"content":[…]}`, without an id.
    #[must_use]
    pub fn message(role: Role, parts: &[Part<'_>]) -> Self {
        let mut content = String::from("[");
        for (position, part) in parts.iter().enumerate() {
            if position > 0 {
                content.push(',');
            }
            part.push_to(&mut content);
        }
        content.push(']');
        let mut object = ObjectWriter::new();
        object.string("type", "message").string("role", role.as_str()).raw("content", &content);
        Self::trusted(object.finish())
    }

    /// Makes a user message of one text.
    ///
    /// # Example
    /// ```
    /// use context_fragments::WireItem;
    ///
    /// assert_eq!(
    ///     WireItem::user_text("hi").as_str(),
    ///     r#"{"type":"message","role":"user","content":[{"type":"input_text","text":"hi"}]}"#,
    /// );
    /// ```
    #[must_use]
    pub fn user_text(text: &str) -> Self {
        Self::message(Role::User, &[Part::InputText(text)])
    }

    /// Makes a developer message of one text.
    #[must_use]
    pub fn developer_text(text: &str) -> Self {
        Self::message(Role::Developer, &[Part::InputText(text)])
    }

    /// Makes an assistant message of one text.
    #[must_use]
    pub fn assistant_text(text: &str) -> Self {
        Self::message(Role::Assistant, &[Part::OutputText(text)])
    }

    /// Makes a `function_call`; `arguments` is the JSON text of the arguments.
    #[must_use]
    pub fn function_call(name: &str, arguments: &str, call_id: &str) -> Self {
        Self::of_strings(&[("type", "function_call"), ("name", name), ("arguments", arguments), ("call_id", call_id)])
    }

    /// Makes a `function_call_output` of one text.
    #[must_use]
    pub fn function_call_output(call_id: &str, output: &str) -> Self {
        Self::of_strings(&[("type", "function_call_output"), ("call_id", call_id), ("output", output)])
    }

    /// Makes a `custom_tool_call`.
    #[must_use]
    pub fn custom_tool_call(name: &str, input: &str, call_id: &str) -> Self {
        Self::of_strings(&[("type", "custom_tool_call"), ("call_id", call_id), ("name", name), ("input", input)])
    }

    /// Makes a `custom_tool_call_output` of one text.
    #[must_use]
    pub fn custom_tool_call_output(call_id: &str, output: &str) -> Self {
        Self::of_strings(&[("type", "custom_tool_call_output"), ("call_id", call_id), ("output", output)])
    }

    fn of_strings(members: &[(&str, &str)]) -> Self {
        let mut out = String::from("{");
        for (position, (key, value)) in members.iter().enumerate() {
            if position > 0 {
                out.push(',');
            }
            push_string(&mut out, key);
            out.push(':');
            push_string(&mut out, value);
        }
        out.push('}');
        Self::trusted(out)
    }
}
