//! The plan for folders that tools have reached below, or beside, the working folder.

use std::{path::Path, sync::Arc};

use super::board::{Board, check_absolute};
use crate::{
    discovery::Discovery,
    document::LoadedAgentsMd,
    error::Error,
    inputs::{Inputs, UserSource},
    nested::NestedTargets,
    provenance::InstructionProvenance,
    trace::Note,
};

impl Board {
    /// Lists the candidates of every folder between the root and the targets that the start did not search.
    pub(super) fn nested(
        discovery: &Discovery,
        inputs: &Inputs,
        startup: &LoadedAgentsMd,
        targets: &NestedTargets,
    ) -> Result<Self, Error> {
        let mut discovery = discovery.clone();
        let used = |id: Option<&str>| -> usize {
            let entries = startup.entries().iter();
            let is_of = |entry: &&crate::InstructionEntry| match entry.provenance() {
                InstructionProvenance::Project { environment_id, .. } => {
                    id.is_none_or(|id| id == environment_id.as_ref())
                }
                InstructionProvenance::Internal => false,
            };
            entries.filter(is_of).map(|entry| entry.contents().len()).sum()
        };
        let max_bytes = discovery.max_bytes;
        if discovery.is_reference() && max_bytes > 0 {
            // One budget for all environments, as at the start.
            discovery.max_bytes = max_bytes.saturating_sub(used(None));
        }
        let mut inputs = inputs.clone();
        (inputs.user, inputs.thread, inputs.internal) = (UserSource::Absent, None, Vec::new());
        // Without a marker to look for, the first round is that of the candidates.
        let markers = std::mem::take(&mut discovery.root_markers);
        let mut board = Self::new(&discovery, &inputs)?;
        board.discovery.root_markers = markers;
        board.is_planned = true;
        board.before = startup.identities().collect();
        let is_open = board.closed().is_none();
        let selections = Arc::clone(&inputs.environments);
        for (chain_idx, selection) in selections.iter().enumerate() {
            board.chains[chain_idx].notes.retain(|note| !matches!(note, Note::NoMarkers));
            if !is_open {
                if discovery.max_bytes == 0 && max_bytes > 0 {
                    board.chains[chain_idx].notes = vec![Note::BudgetSpent];
                }
                continue;
            }
            check_absolute(Some(&selection.id), &selection.cwd)?;
            let trace = startup.trace().environments().get(chain_idx);
            let Some(top) = trace.and_then(|trace| trace.top.clone()) else { continue };
            let folders = targets.folders(&selection.id, &top, &selection.cwd);
            if folders.is_empty() {
                continue;
            }
            if !discovery.is_reference() {
                let left = max_bytes.saturating_sub(used(Some(&selection.id)));
                if left == 0 {
                    board.chains[chain_idx].notes.push(Note::BudgetSpent);
                    continue;
                }
                board.chains[chain_idx].max_bytes = left;
            }
            board.chains[chain_idx].top = Some(top);
            let deepest_first: Vec<&Path> = folders.iter().rev().map(AsRef::as_ref).collect();
            board.plan_chain(chain_idx, selection, &deepest_first);
        }
        Ok(board)
    }
}
