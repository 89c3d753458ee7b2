//! Making old tool outputs shorter and taking media out, without a summary.

use std::collections::HashMap;

use context_fragments::{ContextItem, ItemType, json::ObjectWriter};
use context_manager::{
    ByteBudget, ContextManager, Elided, Incoming, Position, Recording, ResponseItemEnvelope, Rewrite,
};

use crate::{
    Error, Session,
    commit::{Batch, Gated, Stage, State},
    records::parts_change,
    rewriting::{Rewriting, Standing, WindowItem, positions_of},
    rollout::{Metadata, RawJson, Record, RolloutItem},
};

/// What was made shorter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Shortened {
    /// How many outputs.
    pub outputs: usize,
    /// The estimate of the history, in tokens.
    pub tokens_before: u64,
    /// The same afterwards.
    pub tokens_after: u64,
    /// The history version from here on.
    pub history_version: u64,
}

impl Session {
    /// Holds tool outputs to `limit_tokens`, but for those within the newest `newest_tokens` of the history. None if none is
    /// longer.
    ///
    /// It is a declared rewrite and one record; the whole outputs stand where they were recorded. Baseline and settings stay,
    /// so nothing is said again.
    ///
    /// # Errors
    /// [`Error::OpenCalls`] inside of a tool round, [`Error::History`], [`Error::Clock`], and what the log says. Nothing was
    /// changed, unless the error [says so](Error::is_recorded).
    pub async fn shorten_outputs(&self, limit_tokens: usize, newest_tokens: u64) -> Result<Option<Shortened>, Error> {
        let gate = self.inner.enter().await?;
        let (manager, epoch) = self.between_rounds()?;
        let recording = self.inner.host.recording(None);
        let history = manager.history();
        let (mut items, mut outputs, mut newer) = (Vec::new(), 0, 0_u64);
        for envelope in history.items().rev() {
            newer = newer.saturating_add(envelope.tokens());
            let shorter = match newer > newest_tokens {
                true => shortened(envelope, limit_tokens, &recording)?,
                false => None,
            };
            outputs += usize::from(shorter.is_some());
            items.push(shorter.unwrap_or_else(|| WindowItem::Kept(Box::new(envelope.clone()))));
        }
        if outputs == 0 {
            return Ok(None);
        }
        items.reverse();
        let mut details = ObjectWriter::new();
        details.string("trigger", "shorten_outputs").raw("outputs", &outputs.to_string());
        details.raw("limit_tokens", &limit_tokens.to_string()).raw("newest_tokens", &newest_tokens.to_string());
        let before = history.tokens();
        let (next, _) = self.replace_window(gate, &manager, epoch, Rewrite::Replace, items, details).await?;
        Ok(Some(Shortened {
            outputs,
            tokens_before: before,
            tokens_after: next.history().tokens(),
            history_version: next.history_version(),
        }))
    }

    /// Takes images and audio that stand in the history itself out of it, the oldest first, until it is within `budget`; a
    /// text stands for each. None if it is within it, or has nothing to take.
    ///
    /// It is a declared rewrite and one record, by which a resume does the same; what was taken stands where it was recorded.
    /// Baseline and settings stay, so nothing is said again.
    ///
    /// # Errors
    /// As [`shorten_outputs`](Self::shorten_outputs).
    pub async fn elide_over(&self, budget: &ByteBudget) -> Result<Option<Elided>, Error> {
        let gate = self.inner.enter().await?;
        let (manager, epoch) = self.between_rounds()?;
        let mut view = manager.clone();
        let Some(mut elided) = view.elide_over(budget).map_err(Error::history)? else { return Ok(None) };
        let now: HashMap<Position, Position> = elided.elided.iter().copied().collect();
        let item_of = |envelope: &ResponseItemEnvelope| {
            let taken = now.get(&envelope.position()).and_then(|at| view.history().entry_at(*at)?.as_item());
            match taken {
                Some(taken) => WindowItem::changed(taken.context_item().clone(), envelope),
                None => WindowItem::Kept(Box::new(envelope.clone())),
            }
        };
        let items = manager.history().items().map(item_of).collect();
        let mut details = ObjectWriter::new();
        details.string("trigger", "elide").raw("media", &elided.media.to_string());
        details.raw("bytes_before", &elided.bytes_before.to_string());
        details.raw("bytes_after", &elided.bytes_after.to_string());
        let pairs: Vec<String> = elided.elided.iter().map(|(old, _)| old.to_string()).collect();
        details.raw("elided", &format!("[{}]", pairs.join(",")));
        let (next, positions) = self.replace_window(gate, &manager, epoch, Rewrite::Elide, items, details).await?;
        let stood = manager.history().items().map(ResponseItemEnvelope::position);
        let moved: HashMap<Position, Position> = stood.zip(positions).collect();
        for (old, now) in &mut elided.elided {
            *now = moved.get(old).copied().unwrap_or(*now);
        }
        elided.history_version = next.history_version();
        Ok(Some(elided))
    }

    /// The history and how often it was compacted, between two rounds of tools.
    fn between_rounds(&self) -> Result<(ContextManager, u64), Error> {
        let state = self.inner.state();
        if let Some(live) = state.live.as_ref().filter(|live| live.stage == Stage::Begun) {
            live.refuse_open_calls()?;
        }
        Ok((state.manager.clone(), state.epoch))
    }

    /// Puts these items in the place of the history, in one write; what was told stays told. Gives the new history, and
    /// where the items stand in it.
    async fn replace_window(
        &self,
        gate: Gated,
        manager: &ContextManager,
        epoch: u64,
        rewrite: Rewrite,
        items: Vec<WindowItem>,
        mut details: ObjectWriter,
    ) -> Result<(ContextManager, Vec<Position>), Error> {
        Standing::of(&self.inner.state()).write(&mut details);
        let rewriting = Rewriting {
            rewrite,
            items,
            baseline: manager.world_state_baseline().cloned(),
            reference: manager.reference_context_item().cloned(),
            epoch,
            summary: None,
            details: Some(RawJson::parse(&details.finish())?),
        };
        let (checkpoint, next) = rewriting.apply(manager)?;
        let positions = positions_of(&checkpoint);
        let parts = parts_change(&crate::records::unsaid_parts(), &gate.logged_parts)?;
        let mut drafts = vec![RolloutItem::Checkpoint(checkpoint).into()];
        drafts.extend(parts.map(|parts| Record::from(RolloutItem::Parts(parts)).with_metadata(Metadata::new()).into()));
        let installed = next.clone();
        let install = Box::new(move |state: &mut State| state.manager = installed);
        let at_ms = self.inner.now()?.at_ms();
        drop(self.inner.commit(gate, Batch { at_ms, drafts, logged_parts: None, install }).await?);
        Ok((next, positions))
    }
}

/// An output held to the limit; none if it is no output, or is short enough.
fn shortened(
    envelope: &ResponseItemEnvelope,
    limit_tokens: usize,
    recording: &Recording,
) -> Result<Option<WindowItem>, Error> {
    let is_output =
        matches!(envelope.item().item_type(), ItemType::FunctionCallOutput | ItemType::CustomToolCallOutput);
    if !is_output {
        return Ok(None);
    }
    // A history of its own cuts the output as the real one would have.
    let incoming = Incoming::new(envelope.context_item().clone()).held_to(limit_tokens);
    let admitted = ContextManager::new().admit([incoming], recording).map_err(Error::history)?;
    let cut = admitted.items().next().map(|ready| ready.context_item().clone());
    let cut: Option<ContextItem> = cut.filter(|cut| cut.item() != envelope.item());
    Ok(cut.map(|item| WindowItem::changed(item, envelope)))
}
