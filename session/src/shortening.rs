//! Making old tool outputs shorter, without a summary.

use context_fragments::{ContextItem, ItemType};
use context_manager::{ContextManager, Incoming, Recording, ResponseItemEnvelope, Rewrite};

use crate::{
    Error, Session,
    commit::{Batch, Stage},
    records::parts_change,
    rewriting::{Rewriting, WindowItem},
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
        let (manager, epoch) = {
            let state = self.inner.state();
            if let Some(live) = state.live.as_ref().filter(|live| live.stage == Stage::Begun) {
                live.refuse_open_calls()?;
            }
            (state.manager.clone(), state.epoch)
        };
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
        let rewriting = Rewriting {
            rewrite: Rewrite::Replace,
            items,
            baseline: history.world_state_baseline().cloned(),
            reference: history.reference_context_item().cloned(),
            epoch,
            summary: None,
            details: Some(RawJson::parse(&format!(
                r#"{{"trigger":"shorten_outputs","outputs":{outputs},"limit_tokens":{limit_tokens},"newest_tokens":{newest_tokens}}}"#
            ))?),
        };
        let (checkpoint, next) = rewriting.apply(&manager)?;
        let done = Shortened {
            outputs,
            tokens_before: history.tokens(),
            tokens_after: next.history().tokens(),
            history_version: next.history_version(),
        };
        let parts = parts_change(&crate::records::unsaid_parts(), &gate.logged_parts)?;
        let mut drafts = vec![RolloutItem::Checkpoint(checkpoint).into()];
        drafts.extend(parts.map(|parts| Record::from(RolloutItem::Parts(parts)).with_metadata(Metadata::new()).into()));
        let install = Box::new(move |state: &mut crate::commit::State| state.manager = next);
        let at_ms = self.inner.now()?.at_ms();
        drop(self.inner.commit(gate, Batch { at_ms, drafts, logged_parts: None, install }).await?);
        Ok(Some(done))
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
    Ok(cut.map(|item| WindowItem::New { item, turn: envelope.turn().cloned(), origin: envelope.origin() }))
}
