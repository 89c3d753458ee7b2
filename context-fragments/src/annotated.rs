//! Content parts and their kinds, edited together so that they never come apart.

use crate::{
    ContentItem, ContextItem, Error, ItemType, Kind, Role,
    json::{self, Json, Shape},
};

/// One content part and what it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AnnotatedPart {
    json: String,
    kind: Kind,
}

impl AnnotatedPart {
    /// Takes a part as JSON, and what it is.
    ///
    /// # Errors
    /// [`Error::NotJson`] if it is none, [`Error::Shape`] if it is no object.
    pub fn new(part: &str, kind: Kind) -> Result<Self, Error> {
        let json = json::compact(part)?;
        match Json::parse(&json)?.shape() {
            Shape::Object => Ok(Self { json, kind }),
            other => {
                let (expected, found) = ("an object", other.name());
                Err(Error::Shape { place: "a content part".to_owned(), expected, found })
            }
        }
    }

    /// Makes an `input_text`.
    #[must_use]
    pub fn input_text(text: &str, kind: Kind) -> Self {
        Self::text("input_text", text, kind)
    }

    fn text(type_name: &str, text: &str, kind: Kind) -> Self {
        let mut object = json::ObjectWriter::new();
        object.string("type", type_name);
        object.string("text", text);
        Self { json: object.finish(), kind }
    }

    /// The part as it stands.
    #[must_use]
    pub fn as_json(&self) -> &str {
        &self.json
    }

    /// What it is.
    #[must_use]
    pub const fn kind(&self) -> &Kind {
        &self.kind
    }

    /// Its text, if it is a text.
    #[must_use]
    pub fn to_text(&self) -> Option<String> {
        ContentItem::parse(Json::parse(&self.json).ok()?).text().map(|text| text.clone().into_owned())
    }
}

impl ContextItem {
    /// The content parts, each with its kind.
    ///
    /// # Shape
    /// A message whose content is a plain string has one part. Where there are no kinds, or another number of them than of
    /// parts, each part is [`Kind::UNKNOWN`]. An item without content has none.
    ///
    /// # Example
    /// ```
    /// use context_fragments::{AnnotatedPart, ContextItem, Kind};
    ///
    /// let item = ContextItem::user_text("hi");
    /// let mut parts = item.annotated();
    /// parts.push(AnnotatedPart::input_text("<x/>", Kind::ENVIRONMENT_CONTEXT));
    /// let item = item.with_annotated(&parts)?;
    /// assert_eq!(item.kinds(), [Kind::USER_TEXT, Kind::ENVIRONMENT_CONTEXT]);
    /// assert_eq!(item.annotated(), parts);
    /// # Ok::<(), context_fragments::Error>(())
    /// ```
    #[must_use]
    pub fn annotated(&self) -> Vec<AnnotatedPart> {
        let Some(content) = self.item().json().member(self.content_member()) else { return Vec::new() };
        let parts: Vec<String> = match content.shape() {
            Shape::String => {
                let text = content.to_str().unwrap_or_default();
                let type_name = if self.item().role() == Some(Role::Assistant) { "output_text" } else { "input_text" };
                vec![AnnotatedPart::text(type_name, &text, Kind::UNKNOWN).json]
            }
            Shape::Array => content.elements().map(|part| part.as_raw().to_owned()).collect(),
            _ => Vec::new(),
        };
        let is_aligned = self.kinds().len() == parts.len();
        let kind = |position: usize| if is_aligned { self.kinds()[position].clone() } else { Kind::UNKNOWN };
        parts.into_iter().enumerate().map(|(position, json)| AnnotatedPart { json, kind: kind(position) }).collect()
    }

    /// The same item with these parts and their kinds; everything else in it stays as it stands.
    ///
    /// Given back what [`annotated`](Self::annotated) gave, nothing changes, not even a plain string.
    ///
    /// # Errors
    /// [`Error::ItemTooLarge`] if the item outgrows what one can be.
    pub fn with_annotated(&self, parts: &[AnnotatedPart]) -> Result<Self, Error> {
        if self.annotated() == parts {
            return Ok(self.clone());
        }
        let kinds: Vec<Kind> = parts.iter().map(|part| part.kind.clone()).collect();
        let parts: Vec<&str> = parts.iter().map(AnnotatedPart::as_json).collect();
        let content = format!("[{}]", parts.join(","));
        Ok(Self::new(self.item().with_member(self.content_member(), &content)?, kinds))
    }

    fn content_member(&self) -> &'static str {
        match self.item().item_type() {
            ItemType::FunctionCallOutput | ItemType::CustomToolCallOutput => "output",
            _ => "content",
        }
    }
}
