//! Where to look: the markers above a working folder, and the candidates from the root down to it.

use std::{
    collections::{HashMap, HashSet},
    path::{Path, PathBuf},
    sync::Arc,
};

use super::board::{Board, Chain, Place, stays_inside};
use crate::{
    ask::{Links, Purpose},
    discovery::{NoRoot, Share, SymlinkPolicy},
    inputs::{TrustLevel, TurnEnvironmentSelection},
    trace::Note,
};

impl Board {
    pub(super) fn plan_markers(&mut self, chain_idx: usize, selection: &TurnEnvironmentSelection) -> Chain {
        let mut chain = Chain { max_bytes: self.discovery.max_bytes, ..Chain::default() };
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

    /// Lists the candidates of these folders, given from the nearest one up; the last is the highest.
    pub(super) fn plan_chain(&mut self, chain_idx: usize, selection: &TurnEnvironmentSelection, folders: &[&Path]) {
        let links = self.links();
        let id = &selection.id;
        let top = folders.last().map(|folder| folder.to_path_buf());
        if let (Links::Resolve, Some(root)) = (links, self.chains[chain_idx].top.clone().or_else(|| top.clone())) {
            let place = Place::Root { chain_idx };
            let slot = self.add(place, Some(id), root, Purpose::Root, Links::Resolve);
            self.chains[chain_idx].root_slot = Some(slot);
        }
        self.chains[chain_idx].top = self.chains[chain_idx].top.take().or(top);
        let groups = self.safe_groups(chain_idx);
        let mut paths = Paths::new(groups.iter().flat_map(|(names, _)| names).map(String::as_str));
        let markers = self.marker_slots(chain_idx);
        // From the working folder up, so that a path that two folders name belongs to the nearer one.
        let mut lists: Vec<(usize, Vec<PathBuf>, Share)> = Vec::new();
        for (depth, folder) in folders.iter().enumerate() {
            // The groups of one folder stay in their order when the whole is turned around.
            let of_folder = groups.iter().map(|(names, share)| {
                let list = names.iter().map(|name| folder.join(name)).filter(|path| paths.is_new(path)).collect();
                (depth, list, *share)
            });
            let of_folder: Vec<_> = of_folder.collect();
            lists.extend(of_folder.into_iter().rev());
        }
        for (depth, list, share) in lists.into_iter().rev() {
            let mut slots = Vec::with_capacity(list.len());
            for path in list {
                let slot = match markers.get(&path) {
                    Some(&slot) => slot,
                    None => self.add(Place::Candidate { chain_idx }, Some(id), path, Purpose::Candidate, links),
                };
                self.known[slot].earlier = slots.last().copied();
                (self.known[slot].depth, self.known[slot].share) = (depth, share);
                slots.push(slot);
            }
            if !slots.is_empty() {
                self.chains[chain_idx].folders.push(slots);
            }
        }
        if self.discovery.is_ignoring() {
            let top = self.chains[chain_idx].top.clone().unwrap_or_default();
            let nearest = folders.iter().copied();
            let mut seen: HashSet<&Path> = HashSet::new();
            let above = nearest.flat_map(Path::ancestors).take_while(|folder| folder.starts_with(&top));
            for folder in above.filter(|folder| seen.insert(folder)).collect::<Vec<_>>() {
                let path = folder.join(".gitignore");
                // A host that names it as an instruction file gets it as one.
                let is_candidate =
                    self.asks.iter().any(|ask| ask.path == path && self.chain_of(ask.slot) == Some(chain_idx));
                if is_candidate && !markers.contains_key(&path) {
                    continue;
                }
                let slot = match markers.get(&path) {
                    Some(&slot) => slot,
                    None => self.add(Place::Ignore { chain_idx }, Some(id), path, Purpose::Candidate, Links::Follow),
                };
                self.chains[chain_idx].ignore_slots.push(slot);
            }
        }
    }

    /// The groups of names to try in a folder, each name in one group only.
    fn safe_groups(&mut self, chain_idx: usize) -> Vec<(Vec<String>, Share)> {
        let mut groups = vec![(self.safe_names(chain_idx), Share::Common)];
        let more: Vec<(Vec<String>, Share)> = self
            .discovery
            .more_names()
            .into_iter()
            .map(|(names, share)| (names.into_iter().map(str::to_owned).collect(), share))
            .collect();
        for (names, share) in more {
            let mut safe: Vec<String> = Vec::new();
            for name in names {
                let is_known =
                    |(names, _): &(Vec<String>, Share)| names.iter().any(|known| Path::new(known) == Path::new(&name));
                if !stays_inside(&name) {
                    self.chains[chain_idx].notes.push(Note::NameIgnored { name });
                } else if !groups.iter().any(is_known) && !safe.iter().any(|known| Path::new(known) == Path::new(&name))
                {
                    safe.push(name);
                }
            }
            if !safe.is_empty() {
                groups.push((safe, share));
            }
        }
        groups
    }

    /// The names to try in a folder; in the mended rules only those that stay inside it.
    fn safe_names(&mut self, chain_idx: usize) -> Vec<String> {
        let mut safe: Vec<String> = Vec::new();
        for name in self.discovery.names() {
            let path = Path::new(name);
            if !stays_inside(name) && !self.discovery.is_reference() {
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
        self.discovery.all_names().iter().any(|name| Path::new(name).file_name() == file_name)
    }

    /// What must be known about the links of a candidate.
    fn links(&self) -> Links {
        match self.discovery.symlinks {
            // Where a file refers to others, it counts where it really lies.
            _ if self.discovery.followed().is_some() => Links::Resolve,
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
