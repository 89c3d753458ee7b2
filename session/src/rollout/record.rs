//! The typed records of the log.

use context_fragments::{
    TurnContextItem, WireItem,
    json::{Json, ObjectWriter},
};

use super::{
    BlobRef, Checkpoint, Metadata, Opened, Original, PartsChange, RawJson, Rollback, SentMark, SessionMeta,
    TurnAborted, TurnEnded, TurnStarted,
    blob::{blobs_from_json, blobs_to_json},
    field::Fields,
    limits::READER_VERSION,
};
use crate::Error;

/// What a record says: its type and payload.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RolloutItem {
    /// `session_meta`: what the session was started with.
    SessionMeta(SessionMeta),
    /// `opened`: a writer took the log.
    Opened(Opened),
    /// `turn_started`: a turn begins.
    TurnStarted(TurnStarted),
    /// `turn_ended`: a turn ends by itself.
    TurnEnded(TurnEnded),
    /// `turn_aborted`: a turn is ended from outside.
    TurnAborted(TurnAborted),
    /// `item`: one entry on the wire, its bytes unchanged.
    Item(WireItem),
    /// `world_state`: what the model has been told about the world.
    WorldState(WorldStateItem),
    /// `turn_context`: the settings of a turn.
    TurnContext(TurnContextItem),
    /// `parts`: what the next prompt has beside items, where it is not what stood.
    Parts(PartsChange),
    /// `sent`: a prompt is about to be sent.
    Sent(SentMark),
    /// `usage`: what a provider says that a request took.
    Usage(RawJson),
    /// `rollback`: the newest turns are taken back.
    Rollback(Rollback),
    /// `checkpoint`: the whole window.
    Checkpoint(Checkpoint),
    /// `notice`: an event of a foreign log that repeats or describes what other records say.
    Notice {
        /// What the foreign log calls it.
        name: String,
        /// What it says.
        payload: RawJson,
    },
    /// Any other type: kept as it stands, and nothing for the history.
    Other {
        /// The type.
        type_name: String,
        /// The minimum reader version.
        version: u32,
        /// The payload.
        payload: RawJson,
    },
}

/// The state that the model is known to have been told, or what changed of it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "a state is whole or a patch")]
pub enum WorldStateItem {
    /// All of it.
    Full(RawJson),
    /// A merge patch (RFC 7386) over what stood.
    Patch(RawJson),
}

/// One record: what it says, and what stands beside it.
///
/// # Example
/// ```
/// use context_fragments::{Kind, WireItem};
/// use session::rollout::{LoggedOrigin, Metadata, Record, RolloutItem};
///
/// let metadata = Metadata::new().with_position(3).with_turn_id("t1").with_kinds([Kind::USER_TEXT]);
/// let record = Record::from(RolloutItem::Item(WireItem::user_text("hi"))).with_metadata(metadata);
/// assert_eq!(record.item.type_name(), "item");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Record {
    /// What it says.
    pub item: RolloutItem,
    /// What only the host sees of it.
    pub metadata: Metadata,
    /// The runs of the payload that stand in blobs; see [`expand_blobs`](super::expand_blobs).
    pub blobs: Vec<BlobRef>,
    /// The tool output before it was cut.
    pub original: Option<Original>,
}

/// What stands beside a payload, before the payload is read.
pub(super) enum MetadataPart<'a> {
    Read(Metadata),
    Unread(Json<'a>),
}

/// A record that waits to be written.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Draft {
    /// A new one.
    New(Box<Record>),
    /// One that was read, with everything in it that this version does not know; see
    /// [`LoggedLine::to_draft`](super::LoggedLine::to_draft).
    Copy(CopiedBody),
}

/// The text of a record from its type on, without time stamp, ordinal and checksum.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CopiedBody(pub(super) Box<str>);

impl CopiedBody {
    /// The text, from `"type"` on.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl RolloutItem {
    /// The type, as it stands on the line.
    #[must_use]
    pub fn type_name(&self) -> &str {
        match self {
            Self::SessionMeta(_) => "session_meta",
            Self::Opened(_) => "opened",
            Self::TurnStarted(_) => "turn_started",
            Self::TurnEnded(_) => "turn_ended",
            Self::TurnAborted(_) => "turn_aborted",
            Self::Item(_) => "item",
            Self::WorldState(_) => "world_state",
            Self::TurnContext(_) => "turn_context",
            Self::Parts(_) => "parts",
            Self::Sent(_) => "sent",
            Self::Usage(_) => "usage",
            Self::Rollback(_) => "rollback",
            Self::Checkpoint(_) => "checkpoint",
            Self::Notice { .. } => "notice",
            Self::Other { type_name, .. } => type_name,
        }
    }

    fn version(&self) -> u32 {
        match self {
            Self::Other { version, .. } => *version,
            _ => READER_VERSION,
        }
    }

    /// How many bytes its payload has. That of an item, and of what nobody reads, is told without rendering it.
    fn payload_bytes(&self) -> usize {
        match self {
            Self::Item(item) => item.as_str().len(),
            Self::Usage(payload) | Self::Notice { payload, .. } | Self::Other { payload, .. } => payload.as_str().len(),
            item => {
                let mut payload = String::new();
                item.push_payload(&mut payload);
                payload.len()
            }
        }
    }

    pub(super) fn push_payload(&self, out: &mut String) {
        match self {
            Self::SessionMeta(meta) => out.push_str(&meta.to_json()),
            Self::Opened(opened) => out.push_str(&opened.to_json()),
            Self::TurnStarted(turn) => out.push_str(&turn.to_json()),
            Self::TurnEnded(turn) => out.push_str(&turn.to_json()),
            Self::TurnAborted(turn) => out.push_str(&turn.to_json()),
            Self::Item(item) => out.push_str(item.as_str()),
            Self::WorldState(WorldStateItem::Full(state)) => push_state(out, "true", state),
            Self::WorldState(WorldStateItem::Patch(state)) => push_state(out, "false", state),
            Self::TurnContext(context) => out.push_str(context.as_str()),
            Self::Parts(parts) => out.push_str(&parts.to_json()),
            Self::Sent(mark) => out.push_str(&mark.to_json()),
            Self::Usage(usage) => out.push_str(usage.as_str()),
            Self::Rollback(rollback) => out.push_str(&rollback.to_json()),
            Self::Checkpoint(checkpoint) => checkpoint.push_json(out),
            Self::Notice { name, payload } => {
                let mut object = ObjectWriter::new();
                object.string("name", name).raw("payload", payload.as_str());
                out.push_str(&object.finish());
            }
            Self::Other { payload, .. } => out.push_str(payload.as_str()),
        }
    }

    /// Reads the payload of a record of `type_name` from its text, which nobody has checked.
    pub(super) fn from_text(type_name: &str, version: u32, payload: &str) -> Result<Self, Error> {
        let is_item = type_name == "item" && version <= READER_VERSION;
        if !is_item {
            let payload = Json::parse(payload).map_err(|source| Error::Json { place: "payload".into(), source })?;
            return Self::from_json(type_name, version, payload);
        }
        // Most of a log: checked, walked over and copied by one reading.
        WireItem::parse_str(payload).map(Self::Item).map_err(|source| {
            let is_no_json = matches!(source, context_fragments::Error::NotJson { .. });
            Error::Json { place: if is_no_json { "payload" } else { "item.payload" }.into(), source }
        })
    }

    /// Reads the payload of a record of `type_name`.
    pub(super) fn from_json(type_name: &str, version: u32, payload: Json<'_>) -> Result<Self, Error> {
        let misread = |source| Error::Json { place: format!("{type_name}.payload"), source };
        Ok(match type_name {
            _ if version > READER_VERSION => Self::other(type_name, version, payload),
            "session_meta" => Self::SessionMeta(SessionMeta::from_json(payload)?),
            "opened" => Self::Opened(Opened::from_json(payload)?),
            "turn_started" => Self::TurnStarted(TurnStarted::from_json(payload)?),
            "turn_ended" => Self::TurnEnded(TurnEnded::from_json(payload)?),
            "turn_aborted" => Self::TurnAborted(TurnAborted::from_json(payload)?),
            "item" => Self::Item(WireItem::from_json(payload).map_err(misread)?),
            "world_state" => Self::WorldState(WorldStateItem::from_json(payload)?),
            "turn_context" => Self::TurnContext(TurnContextItem::from_json(payload).map_err(misread)?),
            "parts" => Self::Parts(PartsChange::from_json(payload)?),
            "sent" => Self::Sent(SentMark::from_json(payload)?),
            "usage" => Self::Usage(RawJson::from_json(payload)),
            "rollback" => Self::Rollback(Rollback::from_json(payload)?),
            "checkpoint" => Self::Checkpoint(Checkpoint::from_json(payload)?),
            "notice" => {
                let fields = Fields::of(payload, "notice")?;
                let name = fields.string("name")?;
                let name = fields.need("name", "a string", name)?;
                Self::Notice { name, payload: fields.need("payload", "a value", fields.raw("payload"))? }
            }
            _ => Self::other(type_name, version, payload),
        })
    }

    fn other(type_name: &str, version: u32, payload: Json<'_>) -> Self {
        Self::Other { type_name: type_name.into(), version, payload: RawJson::from_json(payload) }
    }
}

impl WorldStateItem {
    /// The state or the patch.
    #[must_use]
    pub const fn state(&self) -> &RawJson {
        match self {
            Self::Full(state) | Self::Patch(state) => state,
        }
    }

    pub(super) fn from_json(payload: Json<'_>) -> Result<Self, Error> {
        let fields = Fields::of(payload, "world_state")?;
        let full = fields.flag("full")?;
        let state = fields.need("state", "an object", fields.raw("state"))?;
        Ok(if fields.need("full", "a boolean", full)? { Self::Full(state) } else { Self::Patch(state) })
    }
}

fn push_state(out: &mut String, full: &str, state: &RawJson) {
    out.push_str("{\"full\":");
    out.push_str(full);
    out.push_str(",\"state\":");
    out.push_str(state.as_str());
    out.push('}');
}

impl From<RolloutItem> for Record {
    fn from(item: RolloutItem) -> Self {
        Self { item, metadata: Metadata::default(), blobs: Vec::new(), original: None }
    }
}

impl Record {
    /// Sets what stands beside it.
    #[must_use]
    pub fn with_metadata(mut self, metadata: Metadata) -> Self {
        self.metadata = metadata;
        self
    }

    /// Sets the tool output before it was cut.
    #[must_use]
    pub fn with_original(mut self, original: Original) -> Self {
        self.original = Some(original);
        self
    }

    /// Names the runs of the payload that stand in blobs. They are missing in the item that the record holds.
    #[must_use]
    pub fn with_blobs(mut self, blobs: Vec<BlobRef>) -> Self {
        self.blobs = blobs;
        self
    }

    /// About how many bytes it holds beside its own place in memory.
    pub(super) fn held_bytes(&self) -> usize {
        let beside = [&self.metadata.provenance, &self.metadata.foreign].into_iter().flatten();
        let original = match &self.original {
            Some(Original::Inline(item)) => item.as_str().len(),
            Some(Original::Other(value)) => value.as_str().len(),
            Some(Original::Blob(_)) | None => 0,
        };
        let payload = match &self.item {
            // A whole window is not rendered for that.
            RolloutItem::Checkpoint(checkpoint) => {
                checkpoint.items.iter().flatten().map(|item| item.item.as_str().len()).sum()
            }
            item => item.payload_bytes(),
        };
        payload + original + beside.map(|text| text.as_str().len()).sum::<usize>()
    }

    /// Appends type, version and metadata.
    pub(super) fn push_head(&self, out: &mut String) {
        out.push_str("\"type\":");
        context_fragments::json::push_string(out, self.item.type_name());
        out.push_str(",\"v\":");
        out.push_str(&self.item.version().to_string());
        if let Some(metadata) = self.metadata.to_json() {
            out.push_str(",\"metadata\":");
            out.push_str(&metadata);
        }
    }

    /// Reads what stands beside a payload that was read.
    pub(super) fn from_parts(
        item: RolloutItem,
        metadata: MetadataPart<'_>,
        blobs: Option<Json<'_>>,
        original: Option<Json<'_>>,
    ) -> Result<Self, Error> {
        Ok(Self {
            item,
            metadata: match metadata {
                MetadataPart::Read(metadata) => metadata,
                MetadataPart::Unread(json) => Metadata::from_json(json)?,
            },
            blobs: blobs.map(blobs_from_json).transpose()?.unwrap_or_default(),
            original: original.map(Original::from_json).transpose()?,
        })
    }
}

impl From<Record> for Draft {
    fn from(record: Record) -> Self {
        Self::New(Box::new(record))
    }
}

impl From<RolloutItem> for Draft {
    fn from(item: RolloutItem) -> Self {
        Record::from(item).into()
    }
}

impl Draft {
    /// The type of the record.
    #[must_use]
    pub fn type_name(&self) -> &str {
        match self {
            Self::New(record) => record.item.type_name(),
            Self::Copy(body) => {
                let rest = body.as_str().strip_prefix("\"type\":\"").unwrap_or_default();
                rest.split('"').next().unwrap_or_default()
            }
        }
    }

    /// About how many bytes it takes on its line, without rendering it.
    pub(crate) fn payload_bytes(&self) -> usize {
        match self {
            Self::Copy(body) => body.as_str().len(),
            Self::New(record) => record.item.payload_bytes(),
        }
    }

    /// Appends everything between the ordinal and the checksum.
    pub(super) fn push_body(&self, out: &mut String) {
        let record = match self {
            Self::Copy(body) => return out.push_str(body.as_str()),
            Self::New(record) => record,
        };
        record.push_head(out);
        if !record.blobs.is_empty() {
            out.push_str(",\"blobs\":");
            out.push_str(&blobs_to_json(&record.blobs));
        }
        if let Some(original) = &record.original {
            out.push_str(",\"original\":");
            out.push_str(&original.to_json());
        }
        out.push_str(",\"payload\":");
        record.item.push_payload(out);
    }
}
