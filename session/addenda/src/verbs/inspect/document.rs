//! What `inspect` found, as data.

use std::collections::BTreeMap;

use serde::{Serialize, Serializer};
use session::rollout::Contents;

/// All that was found in one log.
#[derive(Debug, Serialize)]
pub(crate) struct Document {
    /// `own` or `codex`.
    pub(crate) format: &'static str,
    /// The id of the session, if the log names it.
    pub(crate) session: Option<String>,
    /// The turns in their order. What stands before the first one has no number.
    pub(crate) turns: Vec<Turn>,
    /// What the history holds at the end of the log.
    pub(crate) history: History,
    /// Every prompt extends the one before it, or says who declared the break.
    pub(crate) every_prompt_is_legal: bool,
    /// What was found besides records.
    pub(crate) recovery: Recovery,
}

/// One turn.
#[derive(Debug, Default, Serialize)]
pub(crate) struct Turn {
    /// Its number, from 1; none for what stands before the first turn.
    pub(crate) number: Option<usize>,
    /// Its id, if the log names it.
    pub(crate) id: Option<String>,
    /// `ended`, `failed`, `aborted`, or `open` if the log does not say how it ends.
    pub(crate) outcome: &'static str,
    /// Why it was aborted, or what failed.
    pub(crate) reason: Option<String>,
    /// The model of its last turn context.
    pub(crate) model: Option<String>,
    /// How many turn contexts the log has in it.
    pub(crate) turn_contexts: usize,
    /// What was added to the history.
    pub(crate) added: Added,
    /// Items that the log has and a history does not, by reason.
    pub(crate) dropped: BTreeMap<&'static str, usize>,
    /// What the model was told of the world.
    pub(crate) world_state: Vec<WorldStateChange>,
    /// Outputs that were cut.
    pub(crate) truncations: Vec<Truncation>,
    /// Old items that were replaced.
    pub(crate) compactions: Vec<Compaction>,
    /// Turns that were taken back.
    pub(crate) rollbacks: Vec<Rollback>,
    /// The prompts that were sent: those that the log marks, or those that its items imply.
    pub(crate) prompts: Vec<Prompt>,
    /// Records that could not be replayed, in words.
    pub(crate) not_replayed: Vec<String>,
}

/// What a turn added to the history.
#[derive(Debug, Default, Serialize)]
pub(crate) struct Added {
    pub(crate) items: usize,
    /// The estimate of all of them.
    pub(crate) tokens: u64,
    /// Images, and audio, in messages and outputs.
    pub(crate) media: usize,
    /// By kind of content part; what has no parts counts under its type.
    pub(crate) by_kind: BTreeMap<String, Count>,
}

#[derive(Clone, Copy, Debug, Default, Serialize)]
pub(crate) struct Count {
    pub(crate) parts: usize,
    pub(crate) tokens: u64,
}

/// One telling of the world state.
#[derive(Debug, Serialize)]
pub(crate) struct WorldStateChange {
    /// `full`, `patch`, or `ignored_patch` for one without a state that it could change.
    pub(crate) form: &'static str,
    /// The sections that it names.
    pub(crate) sections: Vec<String>,
    /// The sections that it takes away.
    pub(crate) removed: Vec<String>,
}

#[derive(Debug, Serialize)]
pub(crate) struct Compaction {
    /// Why it was made, in the word of the log: `manual`, `pre_turn`, `mid_turn`, `overflow`; or the name of another
    /// rewrite. A foreign log does not say it.
    pub(crate) trigger: Option<String>,
    /// When the context is said again: `now` or `next_step`.
    pub(crate) injection: Option<String>,
    pub(crate) items_before: usize,
    pub(crate) items_after: usize,
    /// How many items are gone.
    pub(crate) replaced: Option<u64>,
    /// Which items were kept, by the positions that they had.
    pub(crate) kept: Vec<u64>,
    /// How many items of context it said itself.
    pub(crate) injected: Option<u64>,
    pub(crate) tokens_before: u64,
    pub(crate) tokens_after: u64,
    /// What the host wanted to find in the new window and what is not there.
    pub(crate) missing: Vec<String>,
}

/// An output that was cut when it was recorded.
#[derive(Debug, Serialize)]
pub(crate) struct Truncation {
    pub(crate) position: u64,
    pub(crate) item: String,
    pub(crate) call_id: Option<String>,
    /// `N tokens` or `N bytes`; none where the log does not say it.
    pub(crate) limit: Option<String>,
    pub(crate) bytes_before: usize,
    pub(crate) bytes_after: usize,
}

#[derive(Debug, Serialize)]
pub(crate) struct Rollback {
    pub(crate) turns: usize,
    pub(crate) items: usize,
}

/// One prompt.
#[derive(Debug, Serialize)]
pub(crate) struct Prompt {
    /// `marked`: the log says that it was sent. `implied`: the model answered, so something was sent.
    pub(crate) source: &'static str,
    pub(crate) items: usize,
    pub(crate) tokens: u64,
    /// `first`, `identical`, `extends`, `declared_break` or `broken`.
    pub(crate) proof: &'static str,
    /// How many items it adds to the one before.
    pub(crate) new_items: Option<usize>,
    /// Where and why it does not extend the one before.
    pub(crate) broken: Option<String>,
    /// Whether its bytes have the digest that the log noted when it was sent; none if it noted none.
    pub(crate) digest_matches: Option<bool>,
    /// The repairs that no prompt before it had.
    pub(crate) new_repairs: Vec<String>,
}

#[derive(Debug, Default, Serialize)]
pub(crate) struct History {
    pub(crate) items: usize,
    pub(crate) tokens: u64,
    pub(crate) version: u64,
    /// The sections of the baseline.
    pub(crate) baseline: Option<Vec<String>>,
    /// The calls of an open turn that have no output.
    pub(crate) open_calls: Vec<String>,
}

#[derive(Debug, Serialize)]
pub(crate) struct Recovery {
    pub(crate) records: u64,
    #[serde(serialize_with = "contents_name")]
    pub(crate) contents: Contents,
    /// Nothing is lost, changed or doubtful.
    pub(crate) clean: bool,
    /// The bytes of an incomplete last line.
    pub(crate) torn_tail_bytes: u64,
    /// Every finding, in words.
    pub(crate) findings: Vec<String>,
    /// Records of types that are not known, by type.
    pub(crate) unknown: BTreeMap<String, u64>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "the shape that serde asks for")]
fn contents_name<S: Serializer>(contents: &Contents, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(super::contents_name(*contents))
}
