//! What is known so far: each path that was asked for, with its answer.

use std::{
    ops::Range,
    path::{Component, Path, PathBuf},
    sync::Arc,
};

use super::imports::Imported;
#[cfg(feature = "gitignore")]
use crate::options::gitignore::IgnoreRules;
use crate::{
    ask::{FileIdentity, Links, ProbeAnswer, ProbeAsk, Purpose, ReadAnswer, ReadAsk},
    decode::{DecodeReport, Extent, decode, decode_lossy},
    discovery::{Discovery, NameSet, OVERRIDE_NAME, PLAIN_NAME, RootChoice, Share},
    error::Error,
    evidence::{Contents, Gather, ReadSeen, digest},
    inputs::{Inputs, UserSource},
    outcome::{Locus, Outcome},
    trace::Note,
};

/// How much is read of a file that has no limit of its own.
const MAX_UNLIMITED_BYTES: usize = 16 << 20;

/// How much is read of the rules by which a folder excludes files.
const MAX_IGNORE_BYTES: usize = 64 << 10;

/// How much is read beyond a limit: the longest character, so that a cut is seen and never inside one.
const BEYOND_LIMIT: usize = 4;

/// Why a path is in the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    User,
    Marker {
        chain_idx: usize,
        depth: usize,
    },
    Root {
        chain_idx: usize,
    },
    Candidate {
        chain_idx: usize,
    },
    /// A file that another one refers to; without an environment one of the user's.
    Import {
        chain_idx: Option<usize>,
    },
    /// The `.gitignore` of a folder.
    Ignore {
        chain_idx: usize,
    },
}

/// What is known about one path.
#[derive(Debug)]
pub(super) struct Known {
    pub(super) place: Place,
    /// The name that is tried before this one in the same folder.
    pub(super) earlier: Option<usize>,
    /// How far above the working folder its own folder is.
    pub(super) depth: usize,
    pub(super) share: Share,
    /// Why its text does not count, although it is there.
    pub(super) excluded: Option<Outcome>,
    /// What it gave when it was read, where somebody will look again.
    pub(super) seen: Option<ReadSeen>,
    pub(super) answer: Option<ProbeAnswer>,
    pub(super) content: Content,
    pub(super) outcome: Option<Outcome>,
}

/// What reading a file gave.
#[derive(Debug, Default)]
pub(super) enum Content {
    /// Nobody has asked.
    #[default]
    Unread,
    /// Its text.
    Text(Text),
    /// Its bytes, in the codex preset, where the budget cuts bytes.
    Bytes { bytes: Vec<u8>, size: u64 },
    /// Another file than the one that was probed.
    Replaced,
    /// It could not be read.
    Problem(ReadAnswer),
}

#[derive(Debug)]
pub(super) struct Text {
    pub(super) text: Arc<str>,
    pub(super) of: u64,
    pub(super) is_head: bool,
    pub(super) identity: Option<FileIdentity>,
    pub(super) report: DecodeReport,
}

/// What is known about one environment.
#[derive(Debug, Default)]
pub(super) struct Chain {
    /// The depth of the nearest marker, counted from the working folder up, and its slot.
    pub(super) root: Option<(usize, usize)>,
    /// Where the root's resolved path was asked for.
    pub(super) root_slot: Option<usize>,
    /// The candidates of each folder, from the root down.
    pub(super) folders: Vec<Vec<usize>>,
    pub(super) notes: Vec<Note>,
    pub(super) markers: Range<usize>,
    /// The highest folder that is searched.
    pub(super) top: Option<PathBuf>,
    /// The `.gitignore` of each folder.
    pub(super) ignore_slots: Vec<usize>,
    #[cfg(feature = "gitignore")]
    pub(super) ignore_rules: IgnoreRules,
    /// How many bytes of text this environment may give; in the mended rules only.
    pub(super) max_bytes: usize,
}

/// Everything that one discovery knows.
#[derive(Debug)]
pub(super) struct Board {
    pub(super) discovery: Discovery,
    pub(super) inputs: Inputs,
    pub(super) asks: Vec<ProbeAsk>,
    pub(super) known: Vec<Known>,
    pub(super) user: Vec<usize>,
    pub(super) chains: Vec<Chain>,
    pub(super) is_planned: bool,
    pub(super) imports: Imported,
    pub(super) gather: Gather,
    /// What is loaded already, elsewhere.
    pub(super) before: Vec<(FileIdentity, Locus)>,
}

impl Board {
    /// Lists the user's files and the markers of each environment.
    pub(super) fn new(discovery: &Discovery, inputs: &Inputs) -> Result<Self, Error> {
        let mut board = Self {
            discovery: discovery.clone(),
            inputs: inputs.clone(),
            asks: Vec::new(),
            known: Vec::new(),
            user: Vec::new(),
            chains: Vec::new(),
            is_planned: false,
            imports: Imported::default(),
            gather: Gather::Nothing,
            before: Vec::new(),
        };
        if let UserSource::Folder(folder) = &inputs.user {
            check_absolute(None, folder)?;
            let links = if discovery.followed().is_some() { Links::Resolve } else { Links::Follow };
            let mut names = vec![OVERRIDE_NAME, PLAIN_NAME];
            let others = discovery.also.iter().flat_map(NameSet::names).filter(|name| stays_inside(name));
            for name in others {
                if !names.contains(&name) {
                    names.push(name);
                }
            }
            for name in names {
                let slot = board.add(Place::User, None, folder.join(name), Purpose::Candidate, links);
                board.known[slot].earlier = board.user.last().copied();
                board.user.push(slot);
            }
        }
        for (chain_idx, selection) in inputs.environments.iter().enumerate() {
            if board.closed().is_none() {
                check_absolute(Some(&selection.id), &selection.cwd)?;
            }
            let chain = board.plan_markers(chain_idx, selection);
            board.chains.push(chain);
        }
        Ok(board)
    }

    pub(super) fn add(
        &mut self,
        place: Place,
        environment: Option<&Arc<str>>,
        path: PathBuf,
        purpose: Purpose,
        links: Links,
    ) -> usize {
        let slot = self.asks.len();
        self.asks.push(ProbeAsk { slot, environment: environment.cloned(), path, purpose, links });
        self.known.push(Known {
            place,
            earlier: None,
            depth: 0,
            share: Share::Common,
            excluded: None,
            seen: None,
            answer: None,
            content: Content::Unread,
            outcome: None,
        });
        slot
    }

    /// The environment that a path belongs to; none for the user's.
    pub(super) fn chain_of(&self, slot: usize) -> Option<usize> {
        match self.known[slot].place {
            Place::User => None,
            Place::Marker { chain_idx, .. }
            | Place::Root { chain_idx }
            | Place::Candidate { chain_idx }
            | Place::Ignore { chain_idx } => Some(chain_idx),
            Place::Import { chain_idx } => chain_idx,
        }
    }

    /// Whether a marker can still change what the root is.
    pub(super) fn is_probe_needed(&self, slot: usize) -> bool {
        match self.known[slot].place {
            Place::Marker { chain_idx, .. } => {
                self.discovery.root == RootChoice::Outermost || self.chains[chain_idx].root.is_none()
            }
            _ => true,
        }
    }

    pub(super) fn probed(&mut self, slot: usize, answer: ProbeAnswer) {
        if let (Place::Marker { chain_idx, depth }, ProbeAnswer::Found(_)) = (self.known[slot].place, &answer) {
            // Markers are asked from the working folder up, so the first one is the nearest.
            let root = &mut self.chains[chain_idx].root;
            match (self.discovery.root, *root) {
                (RootChoice::Outermost, known) if known.is_none_or(|(known, _)| known < depth) => {
                    *root = Some((depth, slot));
                }
                _ => _ = root.get_or_insert((depth, slot)),
            }
        }
        self.known[slot].answer = Some(answer);
    }

    /// Lists the files to read: all that are there, or in the codex preset the first of each folder.
    pub(super) fn plan_reads(&self) -> Vec<ReadAsk> {
        let all = |slots: &[usize]| slots.iter().filter_map(|&slot| self.read_ask(slot)).collect::<Vec<_>>();
        if let Some(first) = self.imports.first {
            return (first..self.asks.len()).filter_map(|slot| self.read_ask(slot)).collect();
        }
        let mut asks = all(&self.user);
        // What the repository excludes is read first, so that one file at a time need not be read in vain.
        asks.extend(self.chains.iter().flat_map(|chain| all(&chain.ignore_slots)));
        for folder in self.chains.iter().flat_map(|chain| &chain.folders) {
            if self.discovery.is_reference() {
                asks.extend(folder.iter().find_map(|&slot| self.read_ask(slot)));
            } else {
                asks.extend(all(folder));
            }
        }
        asks
    }

    fn read_ask(&self, slot: usize) -> Option<ReadAsk> {
        let path = self.gate(slot).ok()?;
        let limit = match self.known[slot].place {
            Place::User => self.discovery.max_user_bytes.unwrap_or(MAX_UNLIMITED_BYTES),
            Place::Import { .. } => self.discovery.imports.unwrap_or_default().max_bytes,
            Place::Ignore { .. } => MAX_IGNORE_BYTES,
            _ => self.discovery.max_bytes,
        };
        Some(ReadAsk {
            slot,
            environment: self.asks[slot].environment.clone(),
            path: path.to_owned(),
            max_bytes: limit.saturating_add(BEYOND_LIMIT),
        })
    }

    /// Whether no earlier name of the same folder was taken.
    pub(super) fn is_read_needed(&self, slot: usize) -> bool {
        let mut earlier = self.known[slot].earlier;
        while let Some(slot) = earlier {
            if self.has_text(slot) {
                return false;
            }
            earlier = self.known[slot].earlier;
        }
        true
    }

    pub(super) fn has_text(&self, slot: usize) -> bool {
        matches!(&self.known[slot].content, Content::Text(text) if !text.text.trim().is_empty())
            && self.excluded(slot).is_none()
    }

    pub(super) fn read(&mut self, ask: &ReadAsk, answer: ReadAnswer) {
        let slot = ask.slot;
        let probed = self.known[slot].answer.as_ref().and_then(ProbeAnswer::found).and_then(|found| found.identity);
        let place = self.known[slot].place;
        if let Gather::All(hasher, contents) = &self.gather {
            let kept = (*contents == Contents::Kept).then(|| answer.clone());
            self.known[slot].seen = Some(ReadSeen { ask: ask.clone(), digest: digest(&answer, hasher), answer: kept });
        }
        self.known[slot].content = match answer {
            ReadAnswer::Bytes(file) => {
                let is_checked = self.asks[slot].links != Links::Follow;
                if is_checked && file.identity.is_some() && probed.is_some() && file.identity != probed {
                    Content::Replaced
                } else if self.discovery.is_reference() && place != Place::User {
                    Content::Bytes { bytes: file.bytes, size: file.size }
                } else {
                    let identity = file.identity.or(probed);
                    Content::Text(self.text(place, &file.bytes, file.size, file.is_complete, identity))
                }
            }
            problem => Content::Problem(problem),
        };
        self.judge(slot);
    }

    fn text(&self, place: Place, bytes: &[u8], size: u64, is_complete: bool, identity: Option<FileIdentity>) -> Text {
        let newlines = self.discovery.newlines;
        let extent = if is_complete { Extent::Whole } else { Extent::Head };
        let decoded = match self.discovery.is_reference() {
            true => decode_lossy(bytes, newlines),
            false => decode(bytes, extent, newlines),
        };
        let text: Arc<str> = match place {
            Place::User => decoded.text.trim().into(),
            _ => decoded.text.into(),
        };
        let n_bytes = text.len() as u64;
        let of = if is_complete { n_bytes } else { n_bytes.max(size) };
        Text { of, is_head: !is_complete, text, identity, report: decoded.report }
    }
}

/// Whether a name leads to a file in the folder that it is joined to, or below.
pub(super) fn stays_inside(name: &str) -> bool {
    !name.is_empty()
        && Path::new(name).components().all(|part| matches!(part, Component::Normal(_) | Component::CurDir))
}

pub(super) fn check_absolute(environment: Option<&Arc<str>>, path: &Path) -> Result<(), Error> {
    if path.has_root() {
        return Ok(());
    }
    Err(Error::RelativeFolder { environment: environment.cloned(), path: path.to_owned() })
}
