//! The rules of the default preset.

use std::{collections::HashMap, sync::Arc};

use super::board::{Board, Content};
use crate::{
    ask::FileIdentity,
    budget::fit_project,
    document::LoadedAgentsMd,
    draft::Notices,
    error::Error,
    fit::Chain,
    outcome::{Budget, Locus, Outcome},
};

impl Board {
    pub(super) fn finish_mended(&mut self) -> Result<LoadedAgentsMd, Error> {
        let selections = Arc::clone(&self.inputs.environments);
        let mut drafts = self.other_drafts()?;
        let user_slot = drafts.user.as_ref().and_then(|user| user.slot);
        let mut chosen = self.choose_all()?;
        self.drop_duplicates(&mut chosen, user_slot);
        if self.discovery.followed().is_some() {
            self.inline_imports(user_slot, &chosen)?;
            if let Some(slot) = user_slot {
                drafts.user = self.draft(slot);
            }
        }
        if let (Some(user), Some(max_bytes)) = (&mut drafts.user, self.discovery.max_user_bytes) {
            user.limit(max_bytes, Budget::User);
        }
        for (chain_idx, (selection, slots)) in selections.iter().zip(&chosen).enumerate() {
            let mut files: Vec<_> = slots.iter().filter_map(|&slot| self.draft(slot)).collect();
            fit_project(&mut files, self.chains[chain_idx].max_bytes, self.discovery.order);
            drafts.chains.push(Chain { id: &selection.id, cwd: &selection.cwd, drafts: files });
        }
        let laid_out = drafts.fit(self.discovery.order);
        Ok(self.conclude(&drafts, laid_out, Notices::Shown))
    }

    /// One file of each folder of each environment, from the root down.
    fn choose_all(&mut self) -> Result<Vec<Vec<usize>>, Error> {
        let mut chosen = Vec::with_capacity(self.chains.len());
        for chain_idx in 0..self.chains.len() {
            let mut slots = Vec::new();
            for folder in self.chains[chain_idx].folders.clone() {
                slots.extend(self.choose(&folder, Some(chain_idx))?);
            }
            chosen.push(slots);
        }
        Ok(chosen)
    }

    /// Drops each file that is loaded already: as the user's, from an earlier environment, or from a nearer folder.
    fn drop_duplicates(&mut self, chosen: &mut [Vec<usize>], user_slot: Option<usize>) {
        let mut slot_of: HashMap<FileIdentity, usize> = HashMap::new();
        if let Some(slot) = user_slot
            && let Some(identity) = self.identity(slot)
        {
            slot_of.insert(identity, slot);
        }
        for slots in chosen {
            // By length first: hashing every text took a third of a discovery.
            let mut slots_of_length: HashMap<usize, Vec<usize>> = HashMap::new();
            // The nearest first, so that it is the one that stays; in one folder the usual name before the others.
            let mut nearest_first = slots.clone();
            nearest_first.sort_by_key(|&slot| self.known[slot].depth);
            for slot in nearest_first {
                if let Some(of) = self.loaded_before(slot) {
                    self.known[slot].outcome = Some(Outcome::Duplicate { of });
                    continue;
                }
                let same_file = self.identity(slot).map(|identity| *slot_of.entry(identity).or_insert(slot));
                let same_text = self.whole_text(slot).and_then(|text| {
                    let slots = slots_of_length.entry(text.len()).or_default();
                    let same = slots.iter().copied().find(|&other| self.whole_text(other) == Some(text));
                    slots.push(slot);
                    same
                });
                let first = [same_file, same_text].into_iter().flatten().find(|&first| first != slot);
                if let Some(first) = first {
                    self.known[slot].outcome = Some(Outcome::Duplicate { of: self.locus(first) });
                }
            }
            slots.retain(|&slot| !matches!(self.known[slot].outcome, Some(Outcome::Duplicate { .. })));
        }
    }

    fn loaded_before(&self, slot: usize) -> Option<Locus> {
        let identity = self.identity(slot)?;
        self.before.iter().find(|(before, _)| *before == identity).map(|(_, locus)| locus.clone())
    }

    fn whole_text(&self, slot: usize) -> Option<&str> {
        match &self.known[slot].content {
            Content::Text(text) if !text.is_head => Some(&text.text),
            _ => None,
        }
    }
}
