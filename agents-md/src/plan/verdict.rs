//! What the answers about one path mean.

#[cfg(feature = "globs")]
use std::path::PathBuf;
use std::{io, path::Path};

use super::board::{Board, Content, Place};
#[cfg(feature = "gitignore")]
use crate::discovery::Share;
#[cfg(feature = "globs")]
use crate::trace::Note;
use crate::{
    ask::{Failure, FileIdentity, Found, ProbeAnswer, ReadAnswer},
    discovery::{Strictness, SymlinkPolicy},
    error::Error,
    inputs::ReadAccess,
    outcome::{Locus, Operation, Outcome},
};

impl Board {
    /// The path to read, or why it is not read.
    pub(super) fn gate(&self, slot: usize) -> Result<&Path, Outcome> {
        let path = &self.asks[slot].path;
        let found = match &self.known[slot].answer {
            None | Some(ProbeAnswer::Absent) => return Err(Outcome::Absent),
            Some(ProbeAnswer::Denied(failure)) => return Err(denied(Operation::Probe, failure)),
            // A path below something that is no folder is as absent as one that is not there. The
            // reference treats it as an error.
            Some(ProbeAnswer::Failed(failure))
                if failure.kind() == io::ErrorKind::NotADirectory && !self.discovery.is_reference() =>
            {
                return Err(Outcome::Absent);
            }
            Some(ProbeAnswer::Failed(failure)) => return Err(failed(Operation::Probe, failure)),
            Some(ProbeAnswer::Found(found)) => found,
        };
        let Some(chain_idx) = self.chain_of(slot) else {
            return match &self.known[slot].place {
                _ if !found.is_file() => Err(Outcome::not_a_file(found)),
                Place::Import { .. } => self.inside_jail(slot, found),
                _ => Ok(path),
            };
        };
        if matches!(self.known[slot].place, Place::Import { .. }) {
            return if found.is_file() { self.inside_jail(slot, found) } else { Err(Outcome::not_a_file(found)) };
        }
        match self.discovery.symlinks {
            SymlinkPolicy::Reject if found.is_link => Err(Outcome::SymlinkRejected),
            _ if !found.is_file() => Err(Outcome::not_a_file(found)),
            SymlinkPolicy::Follow | SymlinkPolicy::Reject => Ok(path),
            SymlinkPolicy::WithinRoot => {
                let root = self.chains[chain_idx].root_slot.and_then(|slot| self.resolved(slot));
                match (&found.resolved, root) {
                    (Some(target), Some(root)) if target.starts_with(root) => Ok(target),
                    // Where it cannot be found out where a path leads, it is not allowed to lead there.
                    (target, _) => Err(Outcome::OutsideRoot { target: target.as_ref().unwrap_or(path).clone() }),
                }
            }
        }
    }

    /// The resolved path of an imported file, if it is inside the folder that imports may not leave.
    fn inside_jail<'a>(&'a self, slot: usize, found: &'a Found) -> Result<&'a Path, Outcome> {
        let path = &self.asks[slot].path;
        match (&found.resolved, self.imports.jail(slot)) {
            (Some(target), Some(jail)) if target.starts_with(jail) => Ok(target),
            (target, _) => Err(Outcome::OutsideRoot { target: target.as_ref().unwrap_or(path).clone() }),
        }
    }

    /// Why a text that is there does not count, if it does not.
    pub(super) fn excluded(&self, slot: usize) -> Option<Outcome> {
        let known = &self.known[slot];
        #[cfg(feature = "gitignore")]
        if let Place::Candidate { chain_idx } = known.place
            && known.share == Share::Common
            && let Some(by) = self.chains[chain_idx].ignore_rules.excluding(&self.asks[slot].path)
        {
            return Some(Outcome::Ignored { by });
        }
        known.excluded.clone()
    }

    /// Takes a text that was just read for what it says about itself or about others.
    pub(super) fn judge(&mut self, slot: usize) {
        #[cfg(feature = "gitignore")]
        if let (Place::Ignore { chain_idx }, Content::Text(text)) = (self.known[slot].place, &self.known[slot].content)
            && let Some(folder) = self.asks[slot].path.parent()
        {
            self.chains[chain_idx].ignore_rules.add(folder, &text.text);
            self.known[slot].outcome = Some(Outcome::IgnoreRules);
        }
        #[cfg(feature = "globs")]
        if self.discovery.scoping == crate::Scoping::FrontMatter && !self.discovery.is_reference() {
            self.judge_scope(slot);
        }
        #[cfg(not(any(feature = "gitignore", feature = "globs")))]
        let _: usize = slot;
    }

    #[cfg(feature = "globs")]
    fn judge_scope(&mut self, slot: usize) {
        use crate::options::scope::{Verdict, scope};
        let Place::Candidate { chain_idx } = self.known[slot].place else { return };
        let Content::Text(text) = &mut self.known[slot].content else { return };
        let Some(scope) = scope(&text.text) else { return };
        let top = self.chains[chain_idx].top.clone().unwrap_or_default();
        let touched = self.inputs.touched.iter();
        let below_top = |path: &PathBuf| match path.is_relative() {
            true => Some(path.clone()),
            false => path.strip_prefix(&top).ok().map(Path::to_owned),
        };
        let touched: Vec<PathBuf> = touched.filter_map(below_top).collect();
        let touched: Vec<&Path> = touched.iter().map(PathBuf::as_path).collect();
        let (verdict, bad) = scope.judge(&touched);
        let file = &self.asks[slot].path;
        let bad = bad.into_iter().map(|pattern| Note::BadPattern { file: file.clone(), pattern: pattern.to_owned() });
        let bad: Vec<Note> = bad.collect();
        text.text = text.text[scope.text_at..].into();
        text.of = if text.is_head { text.of } else { text.text.len() as u64 };
        self.chains[chain_idx].notes.extend(bad);
        if verdict == Verdict::Elsewhere {
            self.known[slot].excluded = Some(Outcome::OutOfScope { patterns: scope.patterns });
        }
    }

    pub(super) fn resolved(&self, slot: usize) -> Option<&Path> {
        self.known[slot].answer.as_ref()?.found()?.resolved.as_deref()
    }

    /// What became of a candidate, if it has no text to offer.
    pub(super) fn refusal(&self, slot: usize) -> Option<Outcome> {
        if let Err(outcome) = self.gate(slot) {
            return Some(outcome);
        }
        if let Some(outcome) = self.excluded(slot) {
            return Some(outcome);
        }
        match &self.known[slot].content {
            Content::Text(text) => text.text.trim().is_empty().then_some(Outcome::Blank),
            Content::Unread | Content::Bytes { .. } => None,
            Content::Replaced => Some(Outcome::Replaced),
            Content::Problem(problem) => match problem {
                ReadAnswer::Bytes(_) => None,
                ReadAnswer::Vanished => Some(Outcome::Vanished),
                ReadAnswer::NotAFile(found) => Some(Outcome::NotAFile { found: *found }),
                ReadAnswer::Denied(failure) => Some(denied(Operation::Read, failure)),
                ReadAnswer::Failed(failure) => Some(failed(Operation::Read, failure)),
            },
        }
    }

    /// What the system said, if a path could not be looked at or read.
    pub(super) fn failure(&self, slot: usize) -> Option<(Operation, &Failure)> {
        match (&self.known[slot].answer, &self.known[slot].content) {
            (Some(ProbeAnswer::Denied(failure) | ProbeAnswer::Failed(failure)), _) => Some((Operation::Probe, failure)),
            (_, Content::Problem(ReadAnswer::Denied(failure) | ReadAnswer::Failed(failure))) => {
                Some((Operation::Read, failure))
            }
            _ => None,
        }
    }

    /// Whether an unreadable file of this environment, or of the user for none, is an error.
    pub(super) fn is_strict(&self, chain_idx: Option<usize>) -> bool {
        self.discovery.strictness == Strictness::Strict
            || chain_idx.is_some_and(|idx| self.inputs.environments[idx].access == ReadAccess::Restricted)
    }

    /// The first name of a folder that has text; the others get their outcomes.
    pub(super) fn choose(&mut self, slots: &[usize], chain_idx: Option<usize>) -> Result<Option<usize>, Error> {
        let mut chosen: Option<usize> = None;
        for &slot in slots {
            let refusal = self.refusal(slot);
            let outcome = match (chosen, refusal) {
                (None, None) => {
                    chosen = Some(slot);
                    continue;
                }
                (None, Some(Outcome::Denied { .. } | Outcome::Failed { .. })) if self.is_strict(chain_idx) => {
                    return Err(self.access_error(slot));
                }
                (None, Some(outcome)) => outcome,
                (Some(chosen), _) => match self.gate(slot) {
                    Err(outcome) => outcome,
                    Ok(_) if self.identity(slot).is_some() && self.identity(slot) == self.identity(chosen) => {
                        Outcome::Duplicate { of: self.locus(chosen) }
                    }
                    Ok(_) => Outcome::Shadowed { by: self.asks[chosen].path.clone() },
                },
            };
            self.known[slot].outcome = Some(outcome);
        }
        Ok(chosen)
    }

    pub(super) fn access_error(&self, slot: usize) -> Error {
        let ask = &self.asks[slot];
        let failure = self.failure(slot).map(|(op, failure)| (op, failure.clone()));
        let (op, source) = failure.unwrap_or_else(|| (Operation::Read, io::ErrorKind::Other.into()));
        Error::Access { environment: ask.environment.clone(), path: ask.path.clone(), op, source }
    }

    pub(super) fn identity(&self, slot: usize) -> Option<FileIdentity> {
        match &self.known[slot].content {
            Content::Text(text) => text.identity,
            _ => self.known[slot].answer.as_ref()?.found()?.identity,
        }
    }

    pub(super) fn locus(&self, slot: usize) -> Locus {
        Locus { environment: self.asks[slot].environment.clone(), path: self.asks[slot].path.clone() }
    }
}

fn denied(op: Operation, failure: &Failure) -> Outcome {
    Outcome::Denied { op, error: failure.to_string() }
}

fn failed(op: Operation, failure: &Failure) -> Outcome {
    Outcome::Failed { op, error: failure.to_string() }
}
