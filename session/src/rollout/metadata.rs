//! What stands beside a payload.

use std::sync::Arc;

use context_fragments::{
    Kind, Limit,
    json::{Json, ObjectWriter, push_string},
};

use super::{RawJson, field::Fields};
use crate::Error;

/// Who made an item, as the log says it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum LoggedOrigin {
    /// `user`: the person.
    User,
    /// `model`: the model.
    Model,
    /// `tool`: a tool, as the result of a call.
    Tool,
    /// `host`: the program around the model.
    Host,
    /// `repair`: a projection made it to keep the history acceptable.
    Repair,
    /// A word of a newer version.
    Other(String),
}

impl LoggedOrigin {
    /// The word in the log.
    #[must_use]
    pub fn as_str(&self) -> &str {
        match self {
            Self::User => "user",
            Self::Model => "model",
            Self::Tool => "tool",
            Self::Host => "host",
            Self::Repair => "repair",
            Self::Other(word) => word,
        }
    }

    /// Reads the word in the log.
    #[must_use]
    pub fn from_word(word: &str) -> Self {
        match word {
            "user" => Self::User,
            "model" => Self::Model,
            "tool" => Self::Tool,
            "host" => Self::Host,
            "repair" => Self::Repair,
            other => Self::Other(other.into()),
        }
    }
}

/// What only the host sees of a record: it never goes on the wire.
///
/// # Shape
/// Every field is optional in the log. `must_understand` and the places in the history (`position`, `turn_id`) belong to
/// any record, the rest to items.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Metadata {
    /// A reader that does not know the record's version or type must not go on from this log.
    pub must_understand: Option<MustUnderstand>,
    /// The position of the entry in the history.
    pub position: Option<u64>,
    /// The turn in which it was recorded.
    pub turn_id: Option<Arc<str>>,
    /// The position that a rewrite which kept the item took away.
    pub moved_from: Option<u64>,
    /// The kinds of the content parts, one each; empty if none are known.
    pub kinds: Vec<Kind>,
    /// Where the kinds come from.
    pub kinds_source: KindsSource,
    /// Who made it.
    pub origin: Option<LoggedOrigin>,
    /// The model that made it.
    pub model: Option<Arc<str>>,
    /// The limit to which a tool output was held when it was recorded.
    pub truncation_limit: Option<Limit>,
    /// The order in which the host accepted it, where that is not the order of recording.
    pub acceptance_order: Option<u64>,
    /// Whether the tool said that its call went well.
    pub success: Option<bool>,
    /// Which file, section, step or rule it came from, in words of the layer that made it.
    pub provenance: Option<RawJson>,
    /// What a foreign log had beside the item, as it stood there, for an export that puts it back.
    pub foreign: Option<RawJson>,
}

/// The mark of a record that must not be passed over.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(clippy::exhaustive_structs, reason = "a mark has nothing in it")]
pub struct MustUnderstand;

/// Where the kinds of an item come from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum KindsSource {
    /// From the log, or there are none.
    #[default]
    Logged,
    /// From the text of the parts, because a foreign log carries none.
    Recognised,
}

impl Metadata {
    /// Knows nothing.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the position in the history.
    #[must_use]
    pub const fn with_position(mut self, position: u64) -> Self {
        self.position = Some(position);
        self
    }

    /// Sets the turn.
    #[must_use]
    pub fn with_turn_id(mut self, turn_id: impl Into<Arc<str>>) -> Self {
        self.turn_id = Some(turn_id.into());
        self
    }

    /// Sets the kinds of the content parts.
    #[must_use]
    pub fn with_kinds(mut self, kinds: impl Into<Vec<Kind>>) -> Self {
        self.kinds = kinds.into();
        self
    }

    /// Sets who made it.
    #[must_use]
    pub fn with_origin(mut self, origin: LoggedOrigin) -> Self {
        self.origin = Some(origin);
        self
    }

    /// Marks the record as one that must not be passed over.
    #[must_use]
    pub const fn with_must_understand(mut self) -> Self {
        self.must_understand = Some(MustUnderstand);
        self
    }

    /// Writes the object; nothing if nothing is known.
    pub(super) fn to_json(&self) -> Option<String> {
        let mut object = ObjectWriter::new();
        if self.must_understand.is_some() {
            object.raw("must_understand", "true");
        }
        let number = |object: &mut ObjectWriter, key: &str, value: Option<u64>| {
            if let Some(value) = value {
                object.raw(key, &value.to_string());
            }
        };
        number(&mut object, "position", self.position);
        if let Some(turn_id) = &self.turn_id {
            object.string("turn_id", turn_id);
        }
        number(&mut object, "moved_from", self.moved_from);
        if !self.kinds.is_empty() {
            object.raw("kinds", &string_array(self.kinds.iter().map(Kind::as_str)));
        }
        if self.kinds_source == KindsSource::Recognised {
            object.string("kinds_source", "recognised");
        }
        if let Some(origin) = &self.origin {
            object.string("origin", origin.as_str());
        }
        if let Some(model) = &self.model {
            object.string("model", model);
        }
        match self.truncation_limit {
            Some(Limit::Bytes(bytes)) => drop(object.raw("truncation_limit", &format!("{{\"bytes\":{bytes}}}"))),
            Some(Limit::Tokens(tokens)) => drop(object.raw("truncation_limit", &format!("{{\"tokens\":{tokens}}}"))),
            None => {}
        }
        number(&mut object, "acceptance_order", self.acceptance_order);
        if let Some(success) = self.success {
            object.raw("success", if success { "true" } else { "false" });
        }
        for (key, value) in [("provenance", &self.provenance), ("foreign", &self.foreign)] {
            if let Some(value) = value {
                object.raw(key, value.as_str());
            }
        }
        let text = object.finish();
        (text != "{}").then_some(text)
    }

    /// Reads the object.
    pub(super) fn from_json(value: Json<'_>) -> Result<Self, Error> {
        let fields = Fields::of(value, "metadata")?;
        let kinds = fields.array("kinds")?.into_iter().flat_map(Json::elements);
        let kinds = kinds.map(|kind| kind.to_str().map(|label| Kind::from_label(&label))).collect::<Option<_>>();
        let limit = fields.read("truncation_limit", "`bytes` or `tokens`", |limit| {
            let size = |key| limit.member(key).and_then(|size: Json<'_>| size.as_raw().parse().ok());
            size("bytes").map(Limit::Bytes).or_else(|| size("tokens").map(Limit::Tokens))
        });
        let recognised = fields.string("kinds_source")?.is_some_and(|word| word == "recognised");
        Ok(Self {
            must_understand: fields.flag("must_understand")?.unwrap_or(false).then_some(MustUnderstand),
            position: fields.number("position")?,
            turn_id: fields.shared("turn_id")?,
            moved_from: fields.number("moved_from")?,
            kinds: kinds.ok_or_else(|| Error::misshapen("metadata.kinds", "an array of strings"))?,
            kinds_source: if recognised { KindsSource::Recognised } else { KindsSource::Logged },
            origin: fields.string("origin")?.map(|word| LoggedOrigin::from_word(&word)),
            model: fields.shared("model")?,
            truncation_limit: limit?,
            acceptance_order: fields.number("acceptance_order")?,
            success: fields.flag("success")?,
            provenance: fields.raw("provenance"),
            foreign: fields.raw("foreign"),
        })
    }
}

/// An array of strings as JSON.
pub(super) fn string_array<'a>(texts: impl IntoIterator<Item = &'a str>) -> String {
    let mut out = String::from("[");
    for (index, text) in texts.into_iter().enumerate() {
        if index > 0 {
            out.push(',');
        }
        push_string(&mut out, text);
    }
    out.push(']');
    out
}
