//! The rules of the codex preset.

use std::sync::Arc;

use super::board::{Board, Content};
use crate::{
    decode::decode_lossy,
    discovery::BudgetOrder,
    document::LoadedAgentsMd,
    draft::{Draft, Keep, Notices},
    error::Error,
    fit::Chain,
    layout::Labels,
    outcome::{Budget, Outcome},
    trace::Note,
};

impl Board {
    pub(super) fn finish_reference(&mut self) -> Result<LoadedAgentsMd, Error> {
        let selections = Arc::clone(&self.inputs.environments);
        let mut drafts = self.other_drafts()?;
        if let (Some(user), Some(max_bytes)) = (&mut drafts.user, self.discovery.max_user_bytes) {
            user.limit(max_bytes, Budget::User);
        }
        let mut remaining = self.discovery.max_bytes;
        for (chain_idx, selection) in selections.iter().enumerate() {
            let files = match self.fill_chain(chain_idx, remaining) {
                Ok(files) => files,
                Err(slot) => {
                    self.discard_chain(chain_idx, slot)?;
                    Vec::new()
                }
            };
            // Between environments the decoded length counts, inside one the length in the file.
            let decoded: usize = files.iter().map(|draft| draft.text.len()).sum();
            remaining = remaining.saturating_sub(decoded);
            drafts.chains.push(Chain { id: &selection.id, cwd: &selection.cwd, drafts: files });
        }
        let laid_out = drafts.compose(Notices::Silent, Labels::Exact).laid_out;
        Ok(self.conclude(&drafts, laid_out, Notices::Silent))
    }

    /// The texts of one environment, or the slot of the file that failed.
    fn fill_chain(&mut self, chain_idx: usize, mut remaining: usize) -> Result<Vec<Draft>, usize> {
        let mut folders = self.chains[chain_idx].folders.clone();
        let is_discovered = remaining > 0;
        let mut firsts = Vec::new();
        for folder in &mut folders {
            let first = folder.iter().position(|&slot| self.gate(slot).is_ok());
            let failed = folder[..first.unwrap_or(folder.len())].iter().find(|&&slot| self.failure(slot).is_some());
            if let Some(&slot) = failed
                && is_discovered
            {
                return Err(slot);
            }
            if let Some(first) = first {
                let by = &self.asks[folder[first]].path;
                for &slot in &folder[first + 1..] {
                    let shadowed = || Outcome::Shadowed { by: by.clone() };
                    let outcome = self.gate(slot).err().unwrap_or_else(shadowed);
                    self.known[slot].outcome = Some(outcome);
                }
                firsts.push(folder[first]);
            }
        }
        if self.discovery.order == BudgetOrder::NearestFirst {
            firsts.reverse();
        }
        let mut files = Vec::new();
        for slot in firsts {
            if remaining == 0 {
                let of =
                    self.known[slot].answer.as_ref().and_then(|answer| answer.found()).map_or(0, |found| found.size);
                self.known[slot].outcome = Some(Outcome::DroppedByBudget { of, budget: Budget::Project });
                continue;
            }
            let Content::Bytes { bytes, size } = &self.known[slot].content else {
                if self.failure(slot).is_some() {
                    return Err(slot);
                }
                self.known[slot].outcome = self.refusal(slot);
                continue;
            };
            let kept = &bytes[..bytes.len().min(remaining)];
            let of = (*size).max(bytes.len() as u64);
            let decoded = decode_lossy(kept, self.discovery.newlines);
            if decoded.text.trim().is_empty() {
                self.known[slot].outcome = Some(Outcome::Blank);
                continue;
            }
            remaining -= kept.len();
            let is_cut = (kept.len() as u64) < of;
            files.push(Draft {
                slot: Some(slot),
                of,
                keep: if is_cut { Keep::Cut(kept.len(), Budget::Project) } else { Keep::Whole },
                report: Some(decoded.report),
                ..Draft::given("a file", decoded.text.into(), Some(self.asks[slot].path.clone()))
            });
        }
        if self.discovery.order == BudgetOrder::NearestFirst {
            files.reverse();
        }
        Ok(files)
    }

    /// Says that an environment failed: as an error where it is strict, else in the trace.
    fn discard_chain(&mut self, chain_idx: usize, slot: usize) -> Result<(), Error> {
        let Some((op, source)) = self.failure(slot) else {
            return Ok(());
        };
        let (source, path) = (source.clone(), self.asks[slot].path.clone());
        if self.is_strict(Some(chain_idx)) {
            let environment = Arc::clone(&self.inputs.environments[chain_idx].id);
            return Err(Error::Environment { environment, path, op, source });
        }
        self.chains[chain_idx].notes.push(Note::EnvironmentFailed { path, error: source.to_string() });
        for slot in self.chains[chain_idx].folders.concat() {
            let outcome = self.refusal(slot).unwrap_or(Outcome::Discarded);
            self.known[slot].outcome = Some(outcome);
        }
        Ok(())
    }
}
