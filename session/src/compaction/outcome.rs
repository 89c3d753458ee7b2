//! What a compaction did.

use context_fragments::json::{ObjectWriter, push_string};
use context_manager::Position;

use super::{Compaction, CompactionTrigger, ContextInjection, cost::Verdict};
use crate::{Error, rewriting::Standing, rollout::RawJson};

/// What came of a compaction.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum CompactionOutcome {
    /// The history was replaced.
    Done(Compacted),
    /// It would cost more than it saves; nothing was changed and nobody was asked.
    NotWorthIt(Verdict),
}

/// A history that was replaced.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Compacted {
    /// Why.
    pub trigger: CompactionTrigger,
    /// When the context is said again.
    pub injection: ContextInjection,
    /// How many items there were.
    pub items_before: usize,
    /// How many the window has.
    pub items_after: usize,
    /// The items that were kept, by the positions that they had.
    pub kept: Vec<Position>,
    /// How many items of context the compaction itself said.
    pub injected: usize,
    /// How many of the oldest exchanges the model was not shown.
    pub skipped: usize,
    /// The estimate of the history, in tokens.
    pub tokens_before: u64,
    /// The estimate of the window, in tokens.
    pub tokens_after: u64,
    /// What the host wanted to find in the window and what is not there.
    pub missing: Vec<String>,
    /// The history version from here on.
    pub history_version: u64,
    /// Where the items of the window stand.
    pub positions: Vec<Position>,
}

/// The same for the log.
pub(super) fn details_of(done: &Compacted, compaction: &Compaction, standing: &Standing) -> Result<RawJson, Error> {
    let mut details = ObjectWriter::new();
    details.string("trigger", done.trigger.as_str()).string("injection", done.injection.as_str());
    standing.write(&mut details);
    let numbers = [
        ("replaced_items", (done.items_before - done.kept.len()) as u64),
        ("items_before", done.items_before as u64),
        ("items_after", done.items_after as u64),
        ("injected_items", done.injected as u64),
        ("skipped_exchanges", done.skipped as u64),
        ("tokens_before", done.tokens_before),
        ("tokens_after", done.tokens_after),
        ("retained_tokens", compaction.retained_tokens),
    ];
    for (key, value) in numbers {
        details.raw(key, &value.to_string());
    }
    let kept: Vec<String> = done.kept.iter().map(ToString::to_string).collect();
    details.raw("kept", &format!("[{}]", kept.join(",")));
    if !compaction.keeps.is_empty() {
        details.raw("checked", &strings(&compaction.keeps)).raw("missing", &strings(&done.missing));
    }
    RawJson::parse(&details.finish())
}

fn strings(texts: &[String]) -> String {
    let mut out = String::from("[");
    for (index, text) in texts.iter().enumerate() {
        if index > 0 {
            out.push(',');
        }
        push_string(&mut out, text);
    }
    out.push(']');
    out
}
