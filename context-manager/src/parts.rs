//! What a prompt has beside its input items.

use std::{fmt, sync::Arc};

use context_fragments::json::{self, Json, Shape};
use world_state::{ToolSet, ToolSetDiff};

use crate::{Digest, Error};

/// What a model can take beside text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Modalities {
    /// Images.
    pub images: bool,
    /// Audio.
    pub audio: bool,
}

impl Modalities {
    /// Text, images and audio.
    pub const ALL: Self = Self { images: true, audio: true };
    /// Text alone.
    pub const TEXT: Self = Self { images: false, audio: false };

    /// Names what is allowed.
    #[must_use]
    pub const fn new(images: bool, audio: bool) -> Self {
        Self { images, audio }
    }
}

/// The model that a prompt is for; no byte of the prefix depends on its name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Model {
    name: Arc<str>,
    modalities: Modalities,
}

impl Model {
    /// Names a model that takes text, images and audio.
    #[must_use]
    pub fn new(name: impl Into<Arc<str>>) -> Self {
        Self { name: name.into(), modalities: Modalities::ALL }
    }

    /// The same with what it can take.
    #[must_use]
    pub const fn with_modalities(mut self, modalities: Modalities) -> Self {
        self.modalities = modalities;
        self
    }

    /// The name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// What it can take.
    #[must_use]
    pub const fn modalities(&self) -> Modalities {
        self.modalities
    }
}

/// The parts whose bytes bind the prefix, in the order of their digests.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum PartName {
    /// Request parameters.
    Parameters,
    /// Base instructions.
    Base,
    /// Tool definitions.
    Tools,
    /// The output schema.
    Schema,
}

impl PartName {
    /// All parts, in the order of their digests.
    pub const ALL: [Self; 4] = [Self::Parameters, Self::Base, Self::Tools, Self::Schema];

    /// The name for errors and reports.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Parameters => "parameters",
            Self::Base => "base",
            Self::Tools => "tools",
            Self::Schema => "schema",
        }
    }
}

impl fmt::Display for PartName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// One part: its bytes, and their digest, made once.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Part {
    text: Arc<str>,
    digest: Digest,
}

impl Part {
    fn new(text: impl Into<Arc<str>>) -> Self {
        let text = text.into();
        Self { digest: Digest::of(text.as_bytes()), text }
    }
}

/// What a prompt has beside its input items; a clone is a few reference counts.
///
/// All of it comes from the host. Make it once and keep it: that is what a provider's cache wants, too.
///
/// # Example
/// ```
/// use context_manager::{Model, PartName, Parts};
///
/// let parts = Parts::new(Model::new("m1"))
///     .with_base("You are a careful engineer.")
///     .with_tools(r#"[ {"type": "function", "name": "shell"} ]"#)?;
/// assert_eq!(parts.text(PartName::Tools), r#"[{"type":"function","name":"shell"}]"#);
/// # Ok::<(), context_manager::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parts {
    model: Model,
    parts: [Part; 4],
}

impl Parts {
    /// Makes the parts of a request that has only a model: no parameters, no base, no tools, no schema.
    #[must_use]
    pub fn new(model: Model) -> Self {
        Self { model, parts: [Part::new("{}"), Part::new(""), Part::new("[]"), Part::new("null")] }
    }

    /// The same with another model.
    #[must_use]
    pub fn with_model(mut self, model: Model) -> Self {
        self.model = model;
        self
    }

    /// The same with request parameters, a JSON object.
    ///
    /// # Errors
    /// [`Error::BadPart`] if it is none.
    pub fn with_parameters(self, json: &str) -> Result<Self, Error> {
        self.with_json(PartName::Parameters, json, &[Shape::Object])
    }

    /// The same with base instructions.
    #[must_use]
    pub fn with_base(self, text: impl Into<Arc<str>>) -> Self {
        self.with(PartName::Base, Part::new(text))
    }

    /// The same with tool definitions, a JSON array in the order in which they are sent.
    ///
    /// # Errors
    /// [`Error::BadPart`] if it is none.
    pub fn with_tools(self, json: &str) -> Result<Self, Error> {
        self.with_json(PartName::Tools, json, &[Shape::Array])
    }

    /// The same with a set of tools, sorted by name, so that the order in which a host finds them never shows.
    #[must_use]
    pub fn with_tool_set(self, tools: &ToolSet) -> Self {
        self.with(PartName::Tools, Part::new(tools.to_json()))
    }

    /// The same with an output schema, a JSON object or null.
    ///
    /// # Errors
    /// [`Error::BadPart`] if it is neither.
    pub fn with_schema(self, json: &str) -> Result<Self, Error> {
        self.with_json(PartName::Schema, json, &[Shape::Object, Shape::Null])
    }

    /// The model.
    #[must_use]
    pub const fn model(&self) -> &Model {
        &self.model
    }

    /// The bytes of a part: text for the base instructions, compact JSON for the others.
    #[must_use]
    pub fn text(&self, name: PartName) -> &str {
        &self.part(name).text
    }

    /// The SHA-256 of the bytes of a part.
    #[must_use]
    pub fn digest(&self, name: PartName) -> Digest {
        self.part(name).digest
    }

    /// The digests of all parts, in the order of [`PartName::ALL`].
    #[must_use]
    pub fn digests(&self) -> [Digest; 4] {
        PartName::ALL.map(|name| self.digest(name))
    }

    /// The parts that differ from those of `other`; the model does not count.
    pub fn changed_from(&self, other: &Self) -> impl Iterator<Item = PartName> {
        PartName::ALL.into_iter().filter(|&name| self.digest(name) != other.digest(name))
    }

    /// The name of each tool, or its type where it has no name, and the SHA-256 of its declaration, in the order in which
    /// they are sent.
    #[must_use]
    pub fn tool_digests(&self) -> Vec<(String, Digest)> {
        let Ok(tools) = Json::parse(self.text(PartName::Tools)) else { return Vec::new() };
        let name_of = |tool: Json<'_>| {
            let text = |key: &str| tool.member(key).and_then(Json::to_str).filter(|text| !text.is_empty());
            text("name").or_else(|| text("type")).unwrap_or_default().into_owned()
        };
        tools.elements().map(|tool| (name_of(tool), Digest::of(tool.as_raw().as_bytes()))).collect()
    }

    /// Says by name which tools are new, which are declared in another way and which are gone, compared with `earlier`.
    ///
    /// None if the tools of a side are no set: what is no declaration, or a name that stands twice. Tools in another order
    /// are no difference here, though their bytes are others: [`with_tool_set`](Self::with_tool_set) keeps the order.
    #[must_use]
    pub fn tool_diff(&self, earlier: &Self) -> Option<ToolSetDiff> {
        let set_of = |parts: &Self| {
            let tools = Json::parse(parts.text(PartName::Tools)).ok()?;
            ToolSet::parse(tools.elements().map(Json::as_raw)).ok()
        };
        Some(set_of(self)?.diff_from(set_of(earlier)?.snapshot()))
    }

    /// Says that all is the same, the model too, by the digests of the parts.
    pub(crate) fn is_same_as(&self, other: &Self) -> bool {
        self.model == other.model && self.parts.iter().zip(&other.parts).all(|(one, two)| one.digest == two.digest)
    }

    fn part(&self, name: PartName) -> &Part {
        let [parameters, base, tools, schema] = &self.parts;
        match name {
            PartName::Parameters => parameters,
            PartName::Base => base,
            PartName::Tools => tools,
            PartName::Schema => schema,
        }
    }

    fn with(mut self, name: PartName, part: Part) -> Self {
        let [parameters, base, tools, schema] = &mut self.parts;
        *match name {
            PartName::Parameters => parameters,
            PartName::Base => base,
            PartName::Tools => tools,
            PartName::Schema => schema,
        } = part;
        self
    }

    fn with_json(self, name: PartName, json: &str, shapes: &[Shape]) -> Result<Self, Error> {
        let bad = |found: String| Error::BadPart { part: name.as_str(), found };
        let compact = json::compact(json).map_err(|error| bad(error.to_string()))?;
        let shape = Json::parse(&compact).map_err(|error| bad(error.to_string()))?.shape();
        if !shapes.contains(&shape) {
            let expected: Vec<&str> = shapes.iter().map(|shape| shape.name()).collect();
            return Err(bad(format!("expected {}, found {}", expected.join(" or "), shape.name())));
        }
        Ok(self.with(name, Part::new(compact)))
    }
}
