//! What files looked like when they were read, so that a later look can tell whether they have changed.

use std::{
    hash::{BuildHasher as _, RandomState},
    sync::Arc,
    time::{Duration, SystemTime},
};

use crate::ask::{FileKind, Links, ProbeAnswer, ProbeAsk, Purpose, ReadAnswer, ReadAsk};

/// How coarse the clocks of file systems are: an edit this soon after another may leave the time as it was.
const GRANULARITY: Duration = Duration::from_secs(2);

/// Whether a discovery keeps what later looks are compared with.
#[derive(Clone, Debug, Default)]
pub(crate) enum Gather {
    #[default]
    Nothing,
    /// Stamps and digests; the hasher is the manager's own, so that nobody can make two texts of one digest.
    All(RandomState, Contents),
}

/// Whether what was read is kept, so that the same discovery can be made again without a disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Contents {
    Kept,
    Dropped,
}

/// One file that was read.
#[derive(Clone, Debug)]
pub(crate) struct ReadSeen {
    pub(crate) ask: ReadAsk,
    pub(crate) digest: u64,
    pub(crate) answer: Option<ReadAnswer>,
}

/// Every path that was probed and every file that was read. Two loaded values are equal whatever their evidence is.
#[derive(Clone, Debug, Default)]
pub(crate) struct Evidence(Option<Arc<Seen>>);

#[derive(Debug)]
struct Seen {
    probes: Vec<(ProbeAsk, ProbeAnswer)>,
    reads: Vec<ReadSeen>,
}

impl PartialEq for Evidence {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Eq for Evidence {}

impl Evidence {
    pub(crate) fn new(probes: Vec<(ProbeAsk, ProbeAnswer)>, reads: Vec<ReadSeen>) -> Self {
        Self(Some(Arc::new(Seen { probes, reads })))
    }

    /// The paths to look at again, absent ones too.
    pub(crate) fn probes(&self) -> Vec<ProbeAsk> {
        let seen = self.0.iter().flat_map(|seen| &seen.probes);
        seen.map(|(ask, _)| ProbeAsk { purpose: Purpose::Check, ..ask.clone() }).collect()
    }

    /// Whether the paths look as they did.
    pub(crate) fn is_same_look(&self, answers: &[ProbeAnswer]) -> bool {
        let Some(seen) = &self.0 else { return false };
        seen.probes.len() == answers.len()
            && seen.probes.iter().zip(answers).all(|((ask, before), now)| is_same(ask, before, now))
    }

    /// The files whose look proves nothing, because they were changed so shortly before they were read.
    pub(crate) fn racy_reads(&self, read_at: Option<SystemTime>) -> Vec<ReadAsk> {
        let Some(seen) = &self.0 else { return Vec::new() };
        let is_racy = |ask: &ReadAsk| {
            let probe = seen.probes.iter().find(|(probe, _)| probe.slot == ask.slot);
            let modified = probe.and_then(|(_, answer)| answer.found()).and_then(|found| found.modified);
            match (modified, read_at) {
                (Some(modified), Some(read_at)) => modified + GRANULARITY > read_at,
                _ => true,
            }
        };
        seen.reads.iter().map(|read| &read.ask).filter(|ask| is_racy(ask)).cloned().collect()
    }

    /// All files that were read.
    pub(crate) fn reads(&self) -> Vec<ReadAsk> {
        self.0.iter().flat_map(|seen| &seen.reads).map(|read| read.ask.clone()).collect()
    }

    /// Whether these files read as they did.
    pub(crate) fn is_same_text(&self, asks: &[ReadAsk], answers: &[ReadAnswer], hasher: &RandomState) -> bool {
        let Some(seen) = &self.0 else { return false };
        asks.len() == answers.len()
            && asks.iter().zip(answers).all(|(ask, answer)| {
                let before = seen.reads.iter().find(|read| read.ask.slot == ask.slot);
                before.is_some_and(|before| before.digest == digest(answer, hasher))
            })
    }

    /// What was found at a path; none if nobody asked.
    pub(crate) fn found(&self, ask: &ProbeAsk) -> Option<ProbeAnswer> {
        let probes = self.0.iter().flat_map(|seen| &seen.probes);
        let same = |(before, _): &&(ProbeAsk, ProbeAnswer)| before.slot == ask.slot && before == ask;
        probes.into_iter().find(same).map(|(_, answer)| answer.clone())
    }

    /// What a file held; none if nobody asked, or it was not kept.
    pub(crate) fn held(&self, ask: &ReadAsk) -> Option<ReadAnswer> {
        let mut reads = self.0.iter().flat_map(|seen| &seen.reads);
        reads.find(|read| read.ask == *ask).and_then(|read| read.answer.clone())
    }

    /// The folders in which a change can matter.
    #[cfg(feature = "watch")]
    pub(crate) fn paths(&self) -> impl Iterator<Item = &std::path::Path> {
        self.0.iter().flat_map(|seen| &seen.probes).map(|(ask, _)| ask.path.as_path())
    }
}

/// What a file gave when it was read, as a number.
pub(crate) fn digest(answer: &ReadAnswer, hasher: &RandomState) -> u64 {
    match answer {
        ReadAnswer::Bytes(file) => hasher.hash_one((0_u8, &file.bytes, file.size)),
        ReadAnswer::Vanished => hasher.hash_one(1_u8),
        ReadAnswer::NotAFile(kind) => hasher.hash_one((2_u8, kind)),
        ReadAnswer::Denied(failure) => hasher.hash_one((3_u8, failure.kind())),
        ReadAnswer::Failed(failure) => hasher.hash_one((4_u8, failure.kind())),
    }
}

/// Whether nothing has changed that matters at this path.
fn is_same(ask: &ProbeAsk, before: &ProbeAnswer, now: &ProbeAnswer) -> bool {
    match (before, now) {
        (ProbeAnswer::Found(before), ProbeAnswer::Found(now)) => {
            let is_same_place = before.kind == now.kind
                && before.resolved == now.resolved
                && (ask.links != Links::Inspect || before.is_link == now.is_link);
            // A folder's own time changes with every file in it, and of a marker only its being there matters.
            is_same_place
                && (before.kind != FileKind::File
                    || ask.purpose == Purpose::Marker
                    || (before.size == now.size && before.modified == now.modified && before.identity == now.identity))
        }
        (ProbeAnswer::Absent, ProbeAnswer::Absent) => true,
        (
            ProbeAnswer::Denied(before) | ProbeAnswer::Failed(before),
            ProbeAnswer::Denied(now) | ProbeAnswer::Failed(now),
        ) => before.kind() == now.kind(),
        _ => false,
    }
}
