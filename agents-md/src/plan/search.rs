//! Where to look: the markers above a working folder, and the candidates from the root down to it.

use std::{
    collections::{HashMap, HashSet},
    path::{Component, Path, PathBuf},
    sync::Arc,
};

use super::board::{Board, Chain, Place};
use crate::{
    ask::{Links, Purpose},
    discovery::{NoRoot, SymlinkPolicy},
    inputs::{TrustLevel, TurnEnvironmentSelection},
    trace::Note,
};

impl Board {
    pub(super) fn plan_markers(&mut self, chain_idx: usize, selection: &TurnEnvironmentSelection) -> Chain {
        let mut chain = Chain::default();
        if let Some(note) = self.closed() {
            chain.notes.push(note);
            return chain;
        }
        let mut names: Vec<String> = Vec::new();
        for name in &self.discovery.root_markers {
            if !name.is_empty() && !names.iter().any(|known| Path::new(known) == Path::new(name)) {
                names.push(name.clone());
            }
        }
        if names.is_empty() {
            chain.notes.push(Note::NoMarkers);
        }
        let mut paths = Paths::new(names.iter().map(String::as_str));
        // A marker that is a candidate too is asked once, so all is asked that will matter.
        let links = |name: &String| if self.may_be_candidate(name) { self.links() } else { Links::Follow };
        let names: Vec<_> = names.iter().map(|name| (name, links(name))).collect();
        let first = self.asks.len();
        for (depth, folder) in selection.cwd.ancestors().enumerate() {
            for &(name, links) in &names {
                let path = folder.join(name);
                if paths.is_new(&path) {
                    let place = Place::Marker { chain_idx, depth };
                    self.add(place, Some(&selection.id), path, Purpose::Marker, links);
                }
            }
        }
        chain.markers = first..self.asks.len();
        chain
    }

    /// Why no path of a project may be looked at, if none may.
    pub(super) fn closed(&self) -> Option<Note> {
        if self.inputs.trust == TrustLevel::Untrusted {
            Some(Note::Untrusted)
        } else if self.discovery.max_bytes == 0 {
            Some(Note::Disabled)
        } else {
            None
        }
    }

    /// Lists the candidates, once; says whether this was the time.
    pub(super) fn plan_candidates(&mut self) -> bool {
        if self.is_planned {
            return false;
        }
        self.is_planned = true;
        if self.closed().is_some() {
            return true;
        }
        let selections = Arc::clone(&self.inputs.environments);
        for (chain_idx, selection) in selections.iter().enumerate() {
            let folders: Vec<&Path> = selection.cwd.ancestors().collect();
            let top = self.top(chain_idx, &folders);
            self.plan_chain(chain_idx, selection, &folders[..=top]);
        }
        true
    }

    /// The highest folder to search, counted from the working folder up.
    fn top(&mut self, chain_idx: usize, folders: &[&Path]) -> usize {
        let chain = &mut self.chains[chain_idx];
        if let Some((depth, slot)) = chain.root {
            let path = &self.asks[slot].path;
            let marker = path.strip_prefix(folders[depth]).unwrap_or(path).display().to_string();
            chain.notes.push(Note::RootFound { root: folders[depth].to_owned(), marker });
            return depth;
        }
        if !chain.markers.is_empty() {
            chain.notes.push(Note::NoRoot {
                markers: self.discovery.root_markers.clone(),
                up_to: folders.last().map(|folder| folder.to_path_buf()).unwrap_or_default(),
            });
        }
        let NoRoot::WalkTo(boundary) = &self.discovery.no_root else {
            return 0;
        };
        let boundary = boundary.clone();
        match folders.iter().position(|folder| *folder == boundary) {
            Some(depth) => {
                chain.notes.push(Note::WalkedTo { boundary });
                depth
            }
            None => {
                chain.notes.push(Note::BoundaryElsewhere { boundary });
                0
            }
        }
    }

    fn plan_chain(&mut self, chain_idx: usize, selection: &TurnEnvironmentSelection, folders: &[&Path]) {
        let links = self.links();
        let id = &selection.id;
        if let (Links::Resolve, Some(root)) = (links, folders.last()) {
            let place = Place::Root { chain_idx };
            let slot = self.add(place, Some(id), root.to_path_buf(), Purpose::Root, Links::Resolve);
            self.chains[chain_idx].root_slot = Some(slot);
        }
        let names = self.safe_names(chain_idx);
        let mut paths = Paths::new(names.iter().map(String::as_str));
        let markers = self.marker_slots(chain_idx);
        // From the working folder up, so that a path that two folders name belongs to the nearer one.
        let lists: Vec<Vec<PathBuf>> = folders
            .iter()
            .map(|folder| names.iter().map(|name| folder.join(name)).filter(|path| paths.is_new(path)).collect())
            .collect();
        for list in lists.into_iter().rev() {
            let mut slots = Vec::with_capacity(list.len());
            for path in list {
                let slot = match markers.get(&path) {
                    Some(&slot) => slot,
                    None => self.add(Place::Candidate { chain_idx }, Some(id), path, Purpose::Candidate, links),
                };
                self.known[slot].earlier = slots.last().copied();
                slots.push(slot);
            }
            self.chains[chain_idx].folders.push(slots);
        }
    }

    /// The names to try in a folder; in the mended rules only those that stay inside it.
    fn safe_names(&mut self, chain_idx: usize) -> Vec<String> {
        let mut safe: Vec<String> = Vec::new();
        for name in self.discovery.names() {
            let path = Path::new(name);
            let stays = path.components().all(|part| matches!(part, Component::Normal(_) | Component::CurDir));
            if !stays && !self.discovery.is_reference() {
                self.chains[chain_idx].notes.push(Note::NameIgnored { name: name.to_owned() });
            } else if !safe.iter().any(|known| Path::new(known) == path) {
                safe.push(name.to_owned());
            }
        }
        safe
    }

    /// The answered markers that may be candidates too.
    fn marker_slots(&self, chain_idx: usize) -> HashMap<PathBuf, usize> {
        if !self.discovery.root_markers.iter().any(|name| self.may_be_candidate(name)) {
            return HashMap::new();
        }
        self.chains[chain_idx]
            .markers
            .clone()
            .filter(|&slot| self.known[slot].answer.is_some())
            .map(|slot| (self.asks[slot].path.clone(), slot))
            .collect()
    }

    fn may_be_candidate(&self, marker: &str) -> bool {
        let file_name = Path::new(marker).file_name();
        self.discovery.names().iter().any(|name| Path::new(name).file_name() == file_name)
    }

    /// What must be known about the links of a candidate.
    fn links(&self) -> Links {
        match self.discovery.symlinks {
            SymlinkPolicy::Follow => Links::Follow,
            SymlinkPolicy::WithinRoot => Links::Resolve,
            SymlinkPolicy::Reject => Links::Inspect,
        }
    }
}

/// Knows which paths were named already, at no cost where names without separators make it impossible.
struct Paths(Option<HashSet<PathBuf>>);

impl Paths {
    fn new<'a>(mut names: impl Iterator<Item = &'a str>) -> Self {
        let can_collide = names.any(|name| Path::new(name).components().count() != 1);
        Self(can_collide.then(HashSet::new))
    }

    fn is_new(&mut self, path: &Path) -> bool {
        match &mut self.0 {
            Some(known) => known.insert(path.to_owned()),
            None => true,
        }
    }
}
