//! Files that instruction files refer to: which to ask for, and where their texts go.

use std::{
    collections::{HashMap, HashSet},
    path::{Path, PathBuf},
    sync::Arc,
};

use super::board::{Board, Content, Place};
use crate::{
    ask::{FileIdentity, Links, Purpose},
    error::Error,
    explain::flat,
    options::import::references,
    outcome::{Budget, Outcome},
    trace::{ImportSkip, Note},
};

/// What is known of references.
#[derive(Debug, Default)]
pub(super) struct Imported {
    /// The first slot of the round that runs; none before the first one.
    pub(super) first: Option<usize>,
    /// How many rounds of references were asked for.
    depth: usize,
    n_files: usize,
    /// Where the references of each file lead.
    targets: HashMap<usize, Vec<Target>>,
    /// The folder that each import may not leave.
    jails: HashMap<usize, PathBuf>,
    slots: HashMap<(Option<usize>, PathBuf), usize>,
    notes: Vec<(Option<usize>, Note)>,
}

/// One reference: the line that holds it, and the file.
#[derive(Clone, Debug)]
struct Target {
    line: std::ops::Range<usize>,
    is_alone: bool,
    reference: String,
    slot: usize,
}

impl Imported {
    pub(super) fn jail(&self, slot: usize) -> Option<&Path> {
        self.jails.get(&slot).map(PathBuf::as_path)
    }
}

impl Board {
    /// Lists the files that the texts of the last round refer to; the first slot of them, if there are any.
    pub(super) fn plan_imports(&mut self) -> Option<usize> {
        let limits = self.discovery.followed()?;
        let first = self.asks.len();
        let frontier: Vec<usize> = match self.imports.first {
            Some(first) => (first..self.asks.len()).filter(|&slot| self.has_text(slot)).collect(),
            None => self.importers(),
        };
        self.imports.depth += 1;
        for slot in frontier {
            let Content::Text(text) = &self.known[slot].content else { continue };
            let text = Arc::clone(&text.text);
            let chain_idx = self.chain_of(slot);
            let Some((base, jail)) = self.base_and_jail(slot) else { continue };
            let mut targets = Vec::new();
            for reference in references(&text) {
                let path = flat(&base.join(reference.path));
                let key = (chain_idx, path.clone());
                let skip = match () {
                    () if reference.path.starts_with('~') => Some(ImportSkip::Home),
                    () if !path.starts_with(&jail) => Some(ImportSkip::OutsideRoot),
                    () if self.imports.slots.contains_key(&key) || self.slot_at(chain_idx, &path).is_some() => None,
                    () if self.imports.depth > limits.max_depth => Some(ImportSkip::TooDeep),
                    () if self.imports.n_files >= limits.max_files => Some(ImportSkip::TooMany),
                    () => None,
                };
                if let Some(reason) = skip {
                    self.skip(slot, reference.path, reason);
                    continue;
                }
                let known = self.imports.slots.get(&key).copied().or_else(|| self.slot_at(chain_idx, &path));
                let target = known.unwrap_or_else(|| {
                    self.imports.n_files += 1;
                    let environment = self.asks[slot].environment.clone();
                    let place = Place::Import { chain_idx };
                    self.add(place, environment.as_ref(), path, Purpose::Candidate, Links::Resolve)
                });
                self.imports.slots.insert(key, target);
                self.imports.jails.entry(target).or_insert_with(|| jail.clone());
                let reference_text = reference.path.to_owned();
                targets.push(Target {
                    line: reference.line,
                    is_alone: reference.is_alone,
                    reference: reference_text,
                    slot: target,
                });
            }
            self.imports.targets.insert(slot, targets);
        }
        self.imports.first = Some(first);
        (first < self.asks.len()).then_some(first)
    }

    /// The files that were read and come first in their folder.
    fn importers(&self) -> Vec<usize> {
        let folders = self.chains.iter().flat_map(|chain| chain.folders.iter().flatten());
        let all = self.user.iter().chain(folders).copied();
        all.filter(|&slot| self.has_text(slot) && self.is_read_needed(slot)).collect()
    }

    /// A path that was asked for as something else in the same environment.
    fn slot_at(&self, chain_idx: Option<usize>, path: &Path) -> Option<usize> {
        (0..self.asks.len()).find(|&slot| self.asks[slot].path == path && self.chain_of(slot) == chain_idx)
    }

    /// The real folder of a file, and the folder that its references may not leave.
    fn base_and_jail(&self, slot: usize) -> Option<(PathBuf, PathBuf)> {
        let real = self.resolved(slot).unwrap_or(&self.asks[slot].path);
        let base = real.parent()?.to_owned();
        let jail = match (self.known[slot].place, self.chain_of(slot)) {
            (Place::Import { .. }, _) => self.imports.jail(slot)?.to_owned(),
            (_, Some(chain_idx)) => self.chains[chain_idx].root_slot.and_then(|slot| self.resolved(slot))?.to_owned(),
            // The user's own file may refer to what lies beside it, wherever it really is.
            (_, None) => base.clone(),
        };
        Some((base, jail))
    }

    fn skip(&mut self, slot: usize, reference: &str, reason: ImportSkip) {
        let file = self.asks[slot].path.clone();
        let note = Note::ImportSkipped { file, reference: reference.to_owned(), reason };
        self.imports.notes.push((self.chain_of(slot), note));
    }

    /// Puts the texts of imported files into those that refer to them, each once in an environment.
    pub(super) fn inline_imports(&mut self, user_slot: Option<usize>, chosen: &[Vec<usize>]) -> Result<(), Error> {
        let mut remaining = self.discovery.followed().unwrap_or_default().max_bytes;
        let chains = chosen.iter().map(Vec::as_slice);
        let user = user_slot.as_slice();
        for slots in [user].into_iter().chain(chains) {
            let mut seen = Seen::default();
            for &slot in slots {
                seen.insert(slot, self.identity(slot));
            }
            for &slot in slots {
                let text = self.expand(slot, &mut vec![slot], &mut seen, &mut remaining)?;
                if let (Some(expanded), Content::Text(text)) = (text, &mut self.known[slot].content) {
                    text.of = text.of - text.text.len() as u64 + expanded.len() as u64;
                    text.text = expanded.into();
                }
            }
        }
        for (chain_idx, note) in std::mem::take(&mut self.imports.notes) {
            // A note about the user's file has no environment of its own, so the first one tells it.
            if let Some(chain) = self.chains.get_mut(chain_idx.unwrap_or_default()) {
                chain.notes.push(note);
            }
        }
        Ok(())
    }

    /// The text of a file with what it refers to; none if it refers to nothing.
    fn expand(
        &mut self,
        slot: usize,
        stack: &mut Vec<usize>,
        seen: &mut Seen,
        remaining: &mut usize,
    ) -> Result<Option<String>, Error> {
        let Some(targets) = self.imports.targets.get(&slot).cloned().filter(|targets| !targets.is_empty()) else {
            return Ok(None);
        };
        let Content::Text(text) = &self.known[slot].content else { return Ok(None) };
        let text = Arc::clone(&text.text);
        let mut out = String::with_capacity(text.len());
        let mut copied_to = 0;
        for target in targets {
            let Some(inner) = self.inline(slot, &target, stack, seen, remaining)? else { continue };
            let end = if target.is_alone { target.line.start } else { target.line.end };
            // Two references may share a line.
            out.push_str(&text[copied_to..end.max(copied_to)]);
            copied_to = target.line.end.max(copied_to);
            if !out.is_empty() && !out.ends_with('\n') {
                out.push('\n');
            }
            out.push_str(&inner);
            if !out.ends_with('\n') && copied_to < text.len() {
                out.push('\n');
            }
        }
        out.push_str(&text[copied_to..]);
        Ok(Some(out))
    }

    /// The text of one reference; none where nothing takes its place.
    fn inline(
        &mut self,
        slot: usize,
        target: &Target,
        stack: &mut Vec<usize>,
        seen: &mut Seen,
        remaining: &mut usize,
    ) -> Result<Option<String>, Error> {
        let inner = target.slot;
        if stack.contains(&inner) {
            self.skip(slot, &target.reference, ImportSkip::Cycle);
            return Ok(None);
        }
        if let Some(outcome) = self.refusal(inner) {
            if matches!(outcome, Outcome::Denied { .. } | Outcome::Failed { .. })
                && self.is_strict(self.chain_of(inner))
            {
                return Err(self.access_error(inner));
            }
            return Ok(None);
        }
        if seen.contains(inner, self.identity(inner)) {
            self.skip(slot, &target.reference, ImportSkip::Repeated);
            return Ok(None);
        }
        let Content::Text(text) = &self.known[inner].content else { return Ok(None) };
        let (text, of) = (Arc::clone(&text.text), text.of);
        let is_import = matches!(self.known[inner].place, Place::Import { .. });
        if text.len() > *remaining || of > text.len() as u64 {
            if is_import {
                self.known[inner].outcome = Some(Outcome::DroppedByBudget { of, budget: Budget::Imports });
            }
            return Ok(None);
        }
        *remaining -= text.len();
        seen.insert(inner, self.identity(inner));
        let into = self.asks[slot].path.clone();
        if is_import {
            self.known[inner].outcome = Some(Outcome::Imported { bytes: text.len() as u64, into });
        }
        stack.push(inner);
        let expanded = self.expand(inner, stack, seen, remaining)?;
        stack.pop();
        Ok(Some(expanded.unwrap_or_else(|| text.as_ref().to_owned())))
    }
}

/// The files whose texts are there already.
#[derive(Debug, Default)]
struct Seen {
    slots: HashSet<usize>,
    identities: HashSet<FileIdentity>,
}

impl Seen {
    fn insert(&mut self, slot: usize, identity: Option<FileIdentity>) {
        self.slots.insert(slot);
        self.identities.extend(identity);
    }

    fn contains(&self, slot: usize, identity: Option<FileIdentity>) -> bool {
        self.slots.contains(&slot) || identity.is_some_and(|identity| self.identities.contains(&identity))
    }
}
