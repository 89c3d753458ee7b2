//! The record from which a session is rebuilt without reading further back.

use context_fragments::{
    TurnContextItem, WireItem,
    json::{Json, ObjectWriter},
};

use super::{ClosedCall, Metadata, Original, RawJson, SentMark, call, field::Fields};
use crate::Error;

/// Why a checkpoint was written.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum CheckpointCause {
    /// `compaction`: old items were replaced by a summary.
    Compaction,
    /// `replace`, `elide`, `import`, or what else a rewrite of the history is called.
    Rewrite(String),
    /// `fork`: the start of a session that goes on from another one.
    Fork,
    /// `request`: nothing was rewritten; resume gets shorter.
    Request,
}

/// Everything that a session holds: its whole window.
///
/// # Shape
/// What stands before it in the log is history for people; what it holds is the history of the model.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Checkpoint {
    /// Why it was written.
    pub cause: CheckpointCause,
    /// The items of the window, oldest first. None only in old foreign logs, whose reader rebuilt them from the
    /// surviving user messages and the summary.
    pub items: Option<Vec<CheckpointItem>>,
    /// The summary that a compaction made, where the log has it apart.
    pub summary: Option<String>,
    /// The state that the model is known to have been told; none means that the next turn says everything.
    pub baseline: Option<RawJson>,
    /// The settings of the last turn that the model was shown; none means that the next turn says everything.
    pub reference_context_item: Option<TurnContextItem>,
    /// The last prompt that was sent.
    pub sent: Option<Box<SentMark>>,
    /// Its calls whose turn ended before they had an output, as far as it is known what became of them.
    pub calls: Vec<ClosedCall>,
    /// The counters of the session.
    pub counters: Counters,
    /// What is worth knowing about a compaction: trigger, what was replaced, kept and injected, tokens before and after.
    pub details: Option<RawJson>,
}

/// Where a session's numbering goes on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Counters {
    /// The position that the next entry gets.
    pub next_position: Option<u64>,
    /// The version of the history.
    pub history_version: Option<u64>,
    /// How many compactions there were.
    pub epoch: Option<u64>,
    /// The acceptance order that the next item gets.
    pub next_acceptance: Option<u64>,
}

/// One item of a checkpoint.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct CheckpointItem {
    /// The item.
    pub item: WireItem,
    /// What stands beside it.
    pub metadata: Metadata,
    /// The output before it was cut.
    pub original: Option<Original>,
}

impl CheckpointItem {
    /// An item and what stands beside it.
    #[must_use]
    pub const fn new(item: WireItem, metadata: Metadata) -> Self {
        Self { item, metadata, original: None }
    }

    fn push_json(&self, out: &mut String) {
        out.push('{');
        if let Some(metadata) = self.metadata.to_json() {
            out.push_str("\"metadata\":");
            out.push_str(&metadata);
            out.push(',');
        }
        if let Some(original) = &self.original {
            out.push_str("\"original\":");
            out.push_str(&original.to_json());
            out.push(',');
        }
        out.push_str("\"payload\":");
        out.push_str(self.item.as_str());
        out.push('}');
    }

    fn from_json(value: Json<'_>) -> Result<Self, Error> {
        let fields = Fields::of(value, "checkpoint.items")?;
        let payload = fields.need("payload", "an item", fields.value("payload"))?;
        let misread = |source| Error::Json { place: "checkpoint.items.payload".into(), source };
        Ok(Self {
            item: WireItem::from_json(payload).map_err(misread)?,
            metadata: fields.value("metadata").map(Metadata::from_json).transpose()?.unwrap_or_default(),
            original: fields.value("original").map(Original::from_json).transpose()?,
        })
    }
}

impl CheckpointCause {
    /// The word in the log.
    #[must_use]
    pub fn as_str(&self) -> &str {
        match self {
            Self::Compaction => "compaction",
            Self::Rewrite(name) => name,
            Self::Fork => "fork",
            Self::Request => "request",
        }
    }

    fn from_word(word: &str) -> Self {
        match word {
            "compaction" => Self::Compaction,
            "fork" => Self::Fork,
            "request" => Self::Request,
            name => Self::Rewrite(name.into()),
        }
    }
}

const COUNTERS: [&str; 4] = ["next_position", "history_version", "epoch", "next_acceptance"];

impl Counters {
    fn to_json(self) -> String {
        let mut object = ObjectWriter::new();
        let values = [self.next_position, self.history_version, self.epoch, self.next_acceptance];
        for (key, value) in COUNTERS.into_iter().zip(values) {
            if let Some(value) = value {
                object.raw(key, &value.to_string());
            }
        }
        object.finish()
    }

    fn from_json(value: Json<'_>) -> Result<Self, Error> {
        let fields = Fields::of(value, "checkpoint.counters")?;
        Ok(Self {
            next_position: fields.number(COUNTERS[0])?,
            history_version: fields.number(COUNTERS[1])?,
            epoch: fields.number(COUNTERS[2])?,
            next_acceptance: fields.number(COUNTERS[3])?,
        })
    }
}

impl Checkpoint {
    /// A window of these items, of which nothing else is known.
    #[must_use]
    pub const fn new(cause: CheckpointCause, items: Vec<CheckpointItem>) -> Self {
        Self {
            cause,
            items: Some(items),
            summary: None,
            baseline: None,
            reference_context_item: None,
            sent: None,
            calls: Vec::new(),
            counters: Counters { next_position: None, history_version: None, epoch: None, next_acceptance: None },
            details: None,
        }
    }

    /// Appends the payload to `out`; a window is not copied on the way.
    pub(super) fn push_json(&self, out: &mut String) {
        let mut object = ObjectWriter::new();
        object.string("cause", self.cause.as_str());
        object.raw("counters", &self.counters.to_json());
        if let Some(summary) = &self.summary {
            object.string("summary", summary);
        }
        let sent = self.sent.as_ref().map(|sent| sent.to_json());
        let calls = (!self.calls.is_empty()).then(|| call::to_json(&self.calls));
        let values = [
            ("baseline", self.baseline.as_ref().map(RawJson::as_str)),
            ("reference_context_item", self.reference_context_item.as_ref().map(TurnContextItem::as_str)),
            ("sent", sent.as_deref()),
            ("calls", calls.as_deref()),
            ("details", self.details.as_ref().map(RawJson::as_str)),
        ];
        for (key, value) in values {
            if let Some(value) = value {
                object.raw(key, value);
            }
        }
        let head = object.finish();
        let Some(items) = &self.items else {
            out.push_str(&head);
            return;
        };
        out.push_str(head.strip_suffix('}').unwrap_or(&head));
        out.push_str(",\"items\":[");
        for (index, item) in items.iter().enumerate() {
            if index > 0 {
                out.push(',');
            }
            item.push_json(out);
        }
        out.push_str("]}");
    }

    pub(super) fn from_json(payload: Json<'_>) -> Result<Self, Error> {
        let fields = Fields::of(payload, "checkpoint")?;
        let cause = fields.string("cause")?;
        let items = fields.array("items")?;
        let context = fields.value("reference_context_item").map(TurnContextItem::from_json).transpose();
        Ok(Self {
            cause: CheckpointCause::from_word(&fields.need("cause", "a word", cause)?),
            items: items.map(|items| items.elements().map(CheckpointItem::from_json).collect()).transpose()?,
            summary: fields.string("summary")?,
            baseline: fields.raw("baseline"),
            reference_context_item: context
                .map_err(|source| Error::Json { place: "checkpoint.reference_context_item".into(), source })?,
            sent: fields.value("sent").map(SentMark::from_json).transpose()?.map(Box::new),
            calls: call::from_fields(&fields, "checkpoint.calls")?,
            counters: fields.value("counters").map(Counters::from_json).transpose()?.unwrap_or_default(),
            details: fields.raw("details"),
        })
    }
}
