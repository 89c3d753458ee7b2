//! The settings of a turn.

use std::{borrow::Cow, fmt, sync::Arc};

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use serde_json::value::RawValue;

use crate::{
    Error, Permissions, SandboxMode,
    json::{self, Json, ObjectWriter, Shape, push_string},
};

/// The settings of a turn, as the log holds them: model, policies, date and what else a version knows.
///
/// The bytes are the truth, as for items: unknown settings stay where they stand. Two are equal when their bytes are. A
/// clone is a reference count.
///
/// # Example
/// ```
/// use context_fragments::{ApprovalPolicy, Permissions, SandboxMode, TurnContextItem};
///
/// let permissions = Permissions::new(SandboxMode::ReadOnly, ApprovalPolicy::Never);
/// let turn = TurnContextItem::builder("/r", "m1", &permissions).current_date("2026-10-20").build();
/// assert_eq!(turn.model().as_deref(), Some("m1"));
/// assert_eq!(TurnContextItem::parse(turn.as_str().as_bytes())?, turn);
/// # Ok::<(), context_fragments::Error>(())
/// ```
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct TurnContextItem(Arc<str>);

impl TurnContextItem {
    /// Takes the JSON object of one turn's settings.
    ///
    /// # Errors
    /// [`Error::NotUtf8`] and [`Error::NotJson`] with the place, [`Error::Shape`] for another value than an object.
    pub fn parse(bytes: &[u8]) -> Result<Self, Error> {
        Self::from_json(Json::parse_bytes(bytes)?)
    }

    /// Takes the settings from a checked value.
    ///
    /// # Errors
    /// [`Error::Shape`] for another value than an object.
    pub fn from_json(value: Json<'_>) -> Result<Self, Error> {
        match value.shape() {
            Shape::Object => Ok(Self(json::compacted(value).into())),
            other => Err(Error::Shape { place: "turn context".into(), expected: "an object", found: other.name() }),
        }
    }

    /// Starts the settings of a turn from what every turn has.
    pub fn builder(cwd: &str, model: &str, permissions: &Permissions) -> TurnContextBuilder {
        TurnContextBuilder::new(cwd, model, permissions)
    }

    /// The JSON object, compact.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The settings as a value to read in.
    #[must_use]
    pub fn json(&self) -> Json<'_> {
        Json::trusted(&self.0)
    }

    /// The id of the turn.
    #[must_use]
    pub fn turn_id(&self) -> Option<Cow<'_, str>> {
        self.string("turn_id")
    }

    /// The folder that the turn works in.
    #[must_use]
    pub fn cwd(&self) -> Option<Cow<'_, str>> {
        self.string("cwd")
    }

    /// The model.
    #[must_use]
    pub fn model(&self) -> Option<Cow<'_, str>> {
        self.string("model")
    }

    /// When a person is asked, as it stands: newer versions may know more words than [`ApprovalPolicy`](crate::ApprovalPolicy).
    #[must_use]
    pub fn approval_policy(&self) -> Option<Cow<'_, str>> {
        self.string("approval_policy")
    }

    /// The sandbox mode, as it stands in `sandbox_policy.type`.
    #[must_use]
    pub fn sandbox_mode(&self) -> Option<Cow<'_, str>> {
        self.json().member("sandbox_policy")?.member("type")?.to_str()
    }

    /// The date, `YYYY-MM-DD`.
    #[must_use]
    pub fn current_date(&self) -> Option<Cow<'_, str>> {
        self.string("current_date")
    }

    /// The name of the time zone.
    #[must_use]
    pub fn timezone(&self) -> Option<Cow<'_, str>> {
        self.string("timezone")
    }

    /// The reasoning effort.
    #[must_use]
    pub fn effort(&self) -> Option<Cow<'_, str>> {
        self.string("effort")
    }

    fn string(&self, key: &str) -> Option<Cow<'_, str>> {
        self.json().member(key)?.to_str()
    }
}

impl fmt::Debug for TurnContextItem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "TurnContextItem({})", self.0)
    }
}

impl Serialize for TurnContextItem {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.json().serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for TurnContextItem {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let raw = Box::<RawValue>::deserialize(deserializer)?;
        Json::parse(raw.get()).and_then(Self::from_json).map_err(de::Error::custom)
    }
}

/// Collects the settings of a turn; made by [`TurnContextItem::builder`].
#[derive(Clone, Debug)]
#[must_use = "`build` ends it"]
pub struct TurnContextBuilder {
    cwd: String,
    model: String,
    approval_policy: &'static str,
    sandbox_policy: String,
    turn_id: Option<String>,
    current_date: Option<String>,
    timezone: Option<String>,
    effort: Option<String>,
}

impl TurnContextBuilder {
    fn new(cwd: &str, model: &str, permissions: &Permissions) -> Self {
        let mut sandbox = ObjectWriter::new();
        sandbox.string("type", permissions.sandbox.as_str());
        if permissions.sandbox == SandboxMode::WorkspaceWrite {
            let mut roots = String::from("[");
            for (position, root) in permissions.writable_roots.iter().enumerate() {
                if position > 0 {
                    roots.push(',');
                }
                push_string(&mut roots, root);
            }
            roots.push(']');
            let network = if permissions.network_enabled { "true" } else { "false" };
            sandbox.raw("writable_roots", &roots).raw("network_access", network);
        }
        Self {
            cwd: cwd.into(),
            model: model.into(),
            approval_policy: permissions.approval.as_str(),
            sandbox_policy: sandbox.finish(),
            turn_id: None,
            current_date: None,
            timezone: None,
            effort: None,
        }
    }

    /// Sets the id of the turn.
    pub fn turn_id(mut self, turn_id: impl Into<String>) -> Self {
        self.turn_id = Some(turn_id.into());
        self
    }

    /// Sets the date, `YYYY-MM-DD`.
    pub fn current_date(mut self, date: impl Into<String>) -> Self {
        self.current_date = Some(date.into());
        self
    }

    /// Sets the name of the time zone.
    pub fn timezone(mut self, timezone: impl Into<String>) -> Self {
        self.timezone = Some(timezone.into());
        self
    }

    /// Sets the reasoning effort.
    pub fn effort(mut self, effort: impl Into<String>) -> Self {
        self.effort = Some(effort.into());
        self
    }

    /// Writes the settings down, in the order of the published logs.
    #[must_use]
    pub fn build(self) -> TurnContextItem {
        let mut object = ObjectWriter::new();
        let optional = |object: &mut ObjectWriter, key: &str, value: &Option<String>| {
            if let Some(value) = value {
                object.string(key, value);
            }
        };
        optional(&mut object, "turn_id", &self.turn_id);
        object.string("cwd", &self.cwd);
        optional(&mut object, "current_date", &self.current_date);
        optional(&mut object, "timezone", &self.timezone);
        object.string("approval_policy", self.approval_policy);
        object.raw("sandbox_policy", &self.sandbox_policy);
        object.string("model", &self.model);
        optional(&mut object, "effort", &self.effort);
        TurnContextItem(object.finish().into())
    }
}
