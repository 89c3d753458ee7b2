//! Asking for a summary, with less each time the model refuses.

use context_fragments::{ContextItem, ItemType, WireItem};
use context_manager::{
    ContextManager, Origin, Parts, Position, Profile, Prompt, Recording, Replacement, ResponseItemEnvelope, Rewrite,
    TruncationPolicy,
};

use super::{CompactionTrigger, Summarizer, Summary, SummaryError, SummaryRequest};
use crate::{Error, calls::output_of};

/// How many of the largest items an error names.
const NAMED: usize = 3;

/// The rungs: places from which the history can be shown to the model without tearing an exchange apart.
#[derive(Debug)]
pub(super) struct Ladder<'a> {
    manager: &'a ContextManager,
    parts: &'a Parts,
    profile: &'a Profile,
    instructions: &'a str,
    /// The indices of the items at which a request may begin, increasing; the first one is 0.
    starts: Vec<usize>,
    /// The tokens of all items before each start.
    tokens: Vec<u64>,
    at: usize,
}

impl<'a> Ladder<'a> {
    pub(super) fn new(
        manager: &'a ContextManager,
        parts: &'a Parts,
        profile: &'a Profile,
        instructions: &'a str,
    ) -> Self {
        let (mut starts, mut tokens) = (Vec::new(), Vec::new());
        let mut open: Vec<(ItemType, String)> = Vec::new();
        let (mut sum, mut after_reasoning) = (0, false);
        for (index, envelope) in manager.history().items().enumerate() {
            if index == 0 || (open.is_empty() && !after_reasoning && begins_exchange(envelope)) {
                starts.push(index);
                tokens.push(sum);
            }
            note(&mut open, envelope.item());
            after_reasoning = envelope.item().item_type() == ItemType::Reasoning;
            sum += envelope.tokens();
        }
        Self { manager, parts, profile, instructions, starts, tokens, at: 0 }
    }

    /// How many of the oldest exchanges the last request left out.
    pub(super) const fn skipped(&self) -> usize {
        self.at
    }

    /// Asks until there is a summary. Each request begins later than the one before, so that it ends.
    pub(super) async fn climb(
        &mut self,
        summarizer: &dyn Summarizer,
        trigger: CompactionTrigger,
    ) -> Result<Summary, Error> {
        loop {
            let prompt = self.prompt()?;
            let asked = prompt.input_tokens();
            let request = SummaryRequest { prompt, trigger, skipped: self.at };
            let limit = match summarizer.summarize(request).await {
                Ok(summary) => match summary.fault() {
                    None => return Ok(summary),
                    Some(fault) => return Err(Error::Summary { source: SummaryError::NoSummary { fault } }),
                },
                Err(SummaryError::TooLarge { limit }) => limit,
                Err(source) => return Err(Error::Summary { source }),
            };
            if !self.step_up(asked, limit) {
                return Err(self.irreducible());
            }
        }
    }

    /// Goes to the next start from which at most three quarters are left, or what the model takes; at least one further.
    fn step_up(&mut self, asked: u64, limit: Option<u64>) -> bool {
        let wanted = limit.unwrap_or(u64::MAX).min(asked - asked / 4);
        let total = self.manager.history().tokens();
        let next = (self.at + 1..self.starts.len()).find(|rung| total.saturating_sub(self.tokens[*rung]) <= wanted);
        let last = self.starts.len().saturating_sub(1);
        match next.or((self.at < last).then_some(last)) {
            Some(next) => {
                self.at = next;
                true
            }
            None => false,
        }
    }

    /// The conversation from this rung on, and the words that ask for the summary. The history itself is not touched.
    fn prompt(&self) -> Result<Prompt, Error> {
        let recording = Recording::new(TruncationPolicy::new(context_fragments::Limit::Tokens(10_000)));
        let mut view = self.manager.clone();
        let start = self.starts.get(self.at).copied().unwrap_or(0);
        if start > 0 {
            let kept: Vec<Replacement> =
                self.manager.history().items().skip(start).map(|item| Replacement::Keep(item.position())).collect();
            view.rewrite(Rewrite::Replace, kept, &recording).map_err(Error::history)?;
        }
        view.record_items([ContextItem::user_text(self.instructions)], &recording).map_err(Error::history)?;
        Ok(view.for_prompt(self.parts, self.profile))
    }

    fn irreducible(&self) -> Error {
        let start = self.starts.get(self.at).copied().unwrap_or(0);
        let mut items: Vec<(Position, u64, String)> = self
            .manager
            .history()
            .items()
            .skip(start)
            .map(|item| (item.position(), item.tokens(), item.item().type_name().into_owned()))
            .collect();
        let floor = items.iter().map(|(_, tokens, _)| tokens).sum();
        items.sort_by_key(|(position, tokens, _)| (std::cmp::Reverse(*tokens), *position));
        items.truncate(NAMED);
        let largest = items
            .into_iter()
            .map(|(position, tokens, name)| format!("{name} at {position}: {tokens} tokens"))
            .collect();
        Error::Irreducible { floor, largest }
    }
}

/// Says that nothing before this item is needed to understand it: the user speaks, or the model begins to answer.
fn begins_exchange(envelope: &ResponseItemEnvelope) -> bool {
    matches!(envelope.origin(), Origin::User | Origin::Model) && !is_output(envelope.item())
}

fn is_output(item: &WireItem) -> bool {
    matches!(
        item.item_type(),
        ItemType::FunctionCallOutput | ItemType::CustomToolCallOutput | ItemType::ToolSearchOutput
    )
}

/// Takes an item: a call opens, its output closes it.
fn note(open: &mut Vec<(ItemType, String)>, item: &WireItem) {
    let Some(id) = item.call_id() else { return };
    match output_of(item.item_type()) {
        Some(output) => open.push((output, id.into_owned())),
        None => {
            let answered = open.iter().position(|(output, of)| *output == item.item_type() && *of == id);
            if let Some(answered) = answered {
                open.remove(answered);
            }
        }
    }
}
