//! A set of tools, in an order of its own.

use std::collections::BTreeMap;
use std::sync::Arc;

use context_fragments::json::{Json, ObjectWriter, Shape, compact};
use serde_json::Value;

use super::diff::{ToolSetDiff, ToolSetSnapshot};
use crate::error::Error;
use crate::hash::WorldStateHash;

/// Holds declarations of tools, sorted by name, so that the order in which a host finds them never shows.
///
/// A clone is a reference count.
///
/// # Example
/// ```
/// use world_state::ToolSet;
///
/// let a = r#"{"type": "function", "name": "a"}"#;
/// let b = r#"{"type": "function", "name": "b"}"#;
/// let tools = ToolSet::parse([b, a])?;
/// assert_eq!(tools.to_json(), r#"[{"type":"function","name":"a"},{"type":"function","name":"b"}]"#);
/// assert_eq!(tools, ToolSet::parse([a, b])?);
/// # Ok::<(), world_state::Error>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct ToolSet(Arc<Inner>);

#[derive(Debug, Default, PartialEq, Eq)]
struct Inner {
    tools: Vec<Declaration>,
    snapshot: Arc<ToolSetSnapshot>,
}

/// One declaration: a tool, or a namespace with its tools.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Declaration {
    pub(super) name: Arc<str>,
    /// Compact, otherwise as it was given.
    json: String,
    /// The names of the members, as the snapshot has them, in their order; a tool has none.
    members: Option<Vec<Arc<str>>>,
}

impl ToolSet {
    /// Takes declarations as they go to a provider, each one JSON object.
    ///
    /// # Errors
    /// [`Error::ToolJson`] and [`Error::Tool`] for what is no declaration, [`Error::ToolCollision`] where a name stands
    /// twice.
    pub fn parse(declarations: impl IntoIterator<Item = impl AsRef<str>>) -> Result<Self, Error> {
        let mut tools = Vec::new();
        let mut hashes = BTreeMap::new();
        for (position, text) in declarations.into_iter().enumerate() {
            let refuse = |problem| Error::Tool { position, problem };
            let mut value: Value =
                serde_json::from_str(text.as_ref()).map_err(|source| Error::ToolJson { position, source })?;
            let name = name_of(&value).ok_or_else(|| refuse("has neither a name nor a type"))?;
            let mut add = |name: &Arc<str>, value: &Value| match hashes
                .insert(Arc::clone(name), WorldStateHash::of_json(value))
            {
                None => Ok(()),
                Some(_) => Err(Error::ToolCollision { name: Arc::clone(name) }),
            };
            let is_namespace = value.get("type").and_then(Value::as_str) == Some("namespace");
            let mut members = None;
            if is_namespace {
                if name.contains('.') {
                    return Err(refuse("is a namespace with a dot in its name"));
                }
                let tools = value.as_object_mut().and_then(|header| header.remove("tools"));
                let Some(Value::Array(tools)) = tools else {
                    return Err(refuse("is a namespace without an array of tools"));
                };
                let mut names = Vec::with_capacity(tools.len());
                for tool in &tools {
                    let member = name_of(tool).ok_or_else(|| refuse("has a tool with neither a name nor a type"))?;
                    let member: Arc<str> = format!("{name}.{member}").into();
                    add(&member, tool)?;
                    names.push(member);
                }
                members = Some(names);
            }
            add(&name, &value)?;
            let json = compact(text.as_ref()).map_err(|_| refuse("is not JSON"))?;
            tools.push(Declaration { name, json, members });
        }
        tools.sort_by(|left, right| left.name.cmp(&right.name));
        for tool in tools.iter().filter(|tool| tool.members.is_none()) {
            // `a.b` beside `a` would read as a member of `a`.
            if let Some((namespace, _)) = tool.name.split_once('.')
                && hashes.contains_key(namespace)
            {
                return Err(Error::ToolCollision { name: Arc::clone(&tool.name) });
            }
        }
        Ok(Self(Arc::new(Inner { tools, snapshot: Arc::new(ToolSetSnapshot { hashes }) })))
    }

    /// Returns the declarations as a JSON array, sorted by name.
    #[must_use]
    pub fn to_json(&self) -> String {
        array(self.0.tools.iter().map(|tool| tool.json.clone()))
    }

    /// Returns the hashes of the declarations.
    #[must_use]
    pub fn snapshot(&self) -> &ToolSetSnapshot {
        &self.0.snapshot
    }

    /// Says what changed since an earlier set.
    #[must_use]
    pub fn diff_from(&self, previous: &ToolSetSnapshot) -> ToolSetDiff {
        self.0.snapshot.diff_from(previous)
    }

    pub(super) fn shared_snapshot(&self) -> &Arc<ToolSetSnapshot> {
        &self.0.snapshot
    }

    pub(super) fn declarations(&self) -> &[Declaration] {
        &self.0.tools
    }
}

/// By pointer first: the same set is compared at every step.
impl PartialEq for ToolSet {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0) || self.0 == other.0
    }
}

impl Eq for ToolSet {}

impl Declaration {
    /// The members; none for a tool.
    pub(super) fn members(&self) -> Option<&[Arc<str>]> {
        self.members.as_deref()
    }

    pub(super) fn json(&self) -> &str {
        &self.json
    }

    /// What a namespace says about itself.
    pub(super) fn description(&self) -> Option<String> {
        let description = self.value()?.member("description")?.to_str()?;
        (!description.trim().is_empty()).then(|| description.into_owned())
    }

    /// The declaration of a namespace with those members only whose names `is_wanted` takes.
    pub(super) fn json_with_members(&self, is_wanted: impl Fn(&str) -> bool) -> String {
        let (Some(value), Some(names)) = (self.value(), &self.members) else { return self.json.clone() };
        let mut out = ObjectWriter::new();
        for (key, member) in value.members() {
            if key.is_text("tools") && member.shape() == Shape::Array {
                let tools = member.elements().zip(names).filter(|(_, name)| is_wanted(name));
                out.raw("tools", &array(tools.map(|(tool, _)| tool.as_raw().to_owned())));
            } else {
                out.member((key, member));
            }
        }
        out.finish()
    }

    /// The declaration to read in; it was parsed when the set was made.
    fn value(&self) -> Option<Json<'_>> {
        Json::parse(&self.json).ok()
    }
}

/// The name of a tool; a built-in one has only its type.
fn name_of(tool: &Value) -> Option<Arc<str>> {
    let text = |key: &str| tool.get(key).and_then(Value::as_str).filter(|text| !text.is_empty());
    text("name").or_else(|| text("type")).map(Into::into)
}

pub(super) fn array(elements: impl Iterator<Item = String>) -> String {
    format!("[{}]", elements.collect::<Vec<_>>().join(","))
}
