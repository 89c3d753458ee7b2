//! From a finished table to what is loaded.

use std::sync::Arc;

use super::{
    Step,
    board::{Board, Content, Place},
};
use crate::{
    ask::ProbeAnswer,
    document::{InstructionEntry, LoadedAgentsMd, UserText},
    draft::{Draft, Notices},
    error::Error,
    evidence::{Evidence, Gather},
    fit::Drafts,
    inputs::UserSource,
    layout::LaidOut,
    outcome::Outcome,
    provenance::InstructionProvenance,
    trace::{EnvironmentTrace, Note, Row, Scope, Trace},
    warning::Warning,
};

impl Board {
    pub(super) fn finish(mut self) -> Result<Step, Error> {
        let loaded = if self.discovery.is_reference() { self.finish_reference() } else { self.finish_mended() };
        Ok(Step::Done(Box::new(loaded?)))
    }

    /// The text of a candidate that was chosen.
    pub(super) fn draft(&self, slot: usize) -> Option<Draft> {
        let Content::Text(text) = &self.known[slot].content else {
            return None;
        };
        Some(Draft {
            slot: Some(slot),
            of: text.of,
            is_head: text.is_head,
            report: Some(text.report),
            ..Draft::given("a file", Arc::clone(&text.text), Some(self.asks[slot].path.clone()))
        })
    }

    /// The texts that are no files of a project.
    pub(super) fn other_drafts<'a>(&mut self) -> Result<Drafts<'a>, Error> {
        let slots = self.user.clone();
        let user = match (self.choose(&slots, None)?, &self.inputs.user) {
            (Some(slot), _) => self.draft(slot),
            (None, UserSource::Given { text, source }) if !text.trim().is_empty() => {
                Some(Draft::given("the user instructions", Arc::clone(text), source.clone()))
            }
            (None, _) => None,
        };
        let thread = self.inputs.thread.as_ref().map(|thread| thread.shared());
        let thread = thread.filter(|text| !text.trim().is_empty());
        let internal = self.inputs.internal.iter();
        Ok(Drafts {
            user,
            thread: thread.map(|text| Draft::given("the thread instructions", text, None)),
            chains: Vec::new(),
            internal: internal.map(|text| Draft::given("the host's instructions", Arc::clone(text), None)).collect(),
        })
    }

    /// Puts the parts together; what was kept of each text decides its outcome.
    pub(super) fn conclude(&mut self, drafts: &Drafts<'_>, laid_out: LaidOut, notices: Notices) -> LoadedAgentsMd {
        let files = drafts.user.iter().chain(drafts.chains.iter().flat_map(|chain| &chain.drafts));
        let mut has_omission = false;
        for draft in files.chain(&drafts.thread).chain(&drafts.internal) {
            has_omission |= draft.is_dropped() && notices == Notices::Shown;
            if let Some(slot) = draft.slot {
                self.known[slot].outcome = Some(draft.outcome());
            }
        }
        let kept = |draft: &&Draft| !draft.is_dropped();
        let mut entries = Vec::new();
        for chain in &drafts.chains {
            for draft in chain.drafts.iter().filter(kept) {
                let path = draft.path.clone().unwrap_or_default();
                let provenance = InstructionProvenance::project(path, Arc::clone(chain.id), chain.cwd);
                let mut entry = InstructionEntry::new(draft.shown(notices), provenance, draft.report);
                entry.identity = draft.slot.and_then(|slot| self.identity(slot));
                entries.push(entry);
            }
        }
        for draft in drafts.internal.iter().filter(kept) {
            entries.push(InstructionEntry::new(draft.shown(notices), InstructionProvenance::Internal, None));
        }
        let user = drafts.user.as_ref().filter(kept).map(|draft| UserText {
            text: draft.shown(notices),
            source: draft.path.clone(),
            decoding: draft.report,
            identity: draft.slot.and_then(|slot| self.identity(slot)),
        });
        let thread = drafts.thread.as_ref().filter(kept).map(|draft| draft.shown(notices));
        let evidence = self.evidence();
        let (trace, warnings) = self.explain(drafts);
        LoadedAgentsMd::assemble(user, thread, entries, laid_out, has_omission, trace, warnings).with_evidence(evidence)
    }

    /// What a later look is compared with; nothing, unless somebody will look.
    fn evidence(&mut self) -> Evidence {
        if matches!(self.gather, Gather::Nothing) {
            return Evidence::default();
        }
        let probes = self.asks.iter().zip(&self.known);
        let probes = probes.filter_map(|(ask, known)| Some((ask.clone(), known.answer.clone()?))).collect();
        let reads = self.known.iter_mut().filter_map(|known| known.seen.take()).collect();
        Evidence::new(probes, reads)
    }

    fn explain(&mut self, drafts: &Drafts<'_>) -> (Trace, Vec<Warning>) {
        let mut user_rows = Vec::new();
        let mut chain_rows: Vec<Vec<Row>> = self.chains.iter().map(|_| Vec::new()).collect();
        let mut warnings = Vec::new();
        let mut project_warnings = Vec::new();
        for slot in 0..self.asks.len() {
            let Some(outcome) = self.outcome(slot) else {
                continue;
            };
            let path = Some(self.asks[slot].path.clone());
            match self.chain_of(slot) {
                None => {
                    let row = Row { scope: Scope::User, path, outcome };
                    self.warn(Some(slot), &row, &mut warnings);
                    user_rows.push(row);
                }
                Some(index) => {
                    let environment = Arc::clone(&self.inputs.environments[index].id);
                    let row = Row { scope: Scope::Project { index, environment }, path, outcome };
                    self.warn(Some(slot), &row, &mut project_warnings);
                    chain_rows[index].push(row);
                }
            }
        }
        for (scope, draft) in [(Scope::User, &drafts.user), (Scope::Thread, &drafts.thread)] {
            if let Some(draft) = draft
                && draft.slot.is_none()
            {
                let row = Row { scope, path: draft.path.clone(), outcome: draft.outcome() };
                self.warn(None, &row, &mut warnings);
                user_rows.push(row);
            }
        }
        warnings.append(&mut project_warnings);
        let environments = self.inputs.environments.iter().zip(&mut self.chains);
        let environments = environments.map(|(selection, chain)| EnvironmentTrace {
            environment: Arc::clone(&selection.id),
            cwd: selection.cwd.clone(),
            root: chain.notes.iter().find_map(|note| match note {
                Note::RootFound { root, .. } => Some(root.clone()),
                _ => None,
            }),
            notes: std::mem::take(&mut chain.notes),
            top: chain.top.take(),
        });
        let environments = environments.collect();
        user_rows.extend(chain_rows.into_iter().flatten());
        (Trace::new(environments, user_rows), warnings)
    }

    /// What became of a probed path; none for one that was never asked about.
    fn outcome(&mut self, slot: usize) -> Option<Outcome> {
        let known = &mut self.known[slot];
        if let Some(outcome) = known.outcome.take() {
            return Some(outcome);
        }
        let ProbeAnswer::Found(found) = known.answer.as_ref()? else {
            return self.gate(slot).err();
        };
        Some(match known.place {
            Place::Marker { chain_idx, depth } => match self.chains[chain_idx].root {
                Some((root_depth, _)) if root_depth == depth => Outcome::RootMarker,
                _ => Outcome::OuterMarker,
            },
            Place::Root { .. } => Outcome::Root { resolved: found.resolved.clone().unwrap_or_default() },
            Place::User | Place::Candidate { .. } => self.refusal(slot).unwrap_or(Outcome::Discarded),
            Place::Import { .. } => self.refusal(slot).unwrap_or(Outcome::Unneeded),
            Place::Ignore { .. } => self.refusal(slot).unwrap_or(Outcome::IgnoreRules),
        })
    }

    fn warn(&self, slot: Option<usize>, row: &Row, warnings: &mut Vec<Warning>) {
        let is_project = matches!(row.scope, Scope::Project { .. });
        if self.discovery.is_reference() && is_project {
            return;
        }
        let scope = || row.scope.clone();
        match (&row.outcome, &row.path) {
            (Outcome::Cut { kept, of, .. }, path) => {
                warnings.push(Warning::Cut { scope: scope(), path: path.clone(), size: *of, kept: *kept });
            }
            (Outcome::DroppedByBudget { of, .. }, path) => {
                warnings.push(Warning::Cut { scope: scope(), path: path.clone(), size: *of, kept: 0 });
            }
            (Outcome::OutsideRoot { .. } | Outcome::SymlinkRejected | Outcome::Replaced, Some(path)) => {
                let (path, outcome) = (path.clone(), row.outcome.clone());
                warnings.push(Warning::NotFollowed { scope: scope(), path, outcome });
            }
            _ => {}
        }
        let (Some(slot), Some(path)) = (slot, &row.path) else {
            return;
        };
        let is_marker = matches!(self.known[slot].place, Place::Marker { .. } | Place::Root { .. });
        match (&row.outcome, self.failure(slot), &self.known[slot].content) {
            (Outcome::Denied { .. } | Outcome::Failed { .. }, Some((op, failure)), _) if !is_marker => {
                let failure = failure.clone();
                warnings.push(Warning::Unreadable { scope: scope(), path: path.clone(), op, failure });
            }
            (outcome, _, Content::Text(text)) if outcome.is_loaded() && text.report.replacements > 0 => {
                let report = text.report;
                warnings.push(Warning::Replaced { scope: scope(), path: path.clone(), report });
            }
            _ => {}
        }
    }
}
