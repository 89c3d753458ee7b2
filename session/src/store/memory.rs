//! A log in memory, with everything that a log on a disk has: one writer, levels, blobs.

use std::{
    collections::BTreeMap,
    io::Cursor,
    path::PathBuf,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use super::{Claim, Claimed, Store};
use crate::{
    Error,
    rollout::{Appended, Draft, Durability, Holder, Owner, ReadLimits, Sha256, find_end, push_lines},
};

/// The log of a session in memory. Clones are handles to the same log; each may be a writer or a reader.
///
/// The log belongs to the handle that claimed it until that one is dropped, or until a [crash](Self::crash).
#[derive(Debug)]
pub struct MemoryStore {
    shared: Arc<Mutex<Shared>>,
    /// What this handle was given when it claimed the log.
    claim: Option<u64>,
    name: PathBuf,
}

/// What a crash takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(clippy::exhaustive_enums, reason = "a process ends or the machine does")]
pub enum Crash {
    /// The process is killed: what the system has stays.
    Kill,
    /// The power goes: what was not synced is gone.
    PowerLoss,
}

#[derive(Debug, Default)]
struct Shared {
    bytes: Vec<u8>,
    synced_len: usize,
    next_ordinal: u64,
    synced_through: Option<u64>,
    blobs: BTreeMap<Sha256, (Arc<[u8]>, Durability)>,
    /// Counts the claims, so that a handle that was superseded is known by its own number.
    claims: u64,
    holder: Option<(u64, Holder)>,
}

impl Clone for MemoryStore {
    /// Another handle, which holds nothing.
    fn clone(&self) -> Self {
        Self { shared: Arc::clone(&self.shared), claim: None, name: self.name.clone() }
    }
}

impl MemoryStore {
    /// A store that holds nothing; `name` stands for its path in errors.
    pub fn new(name: impl Into<PathBuf>) -> Self {
        Self { shared: Arc::default(), claim: None, name: name.into() }
    }

    /// The whole log.
    #[must_use]
    pub fn bytes(&self) -> Vec<u8> {
        self.shared().bytes.clone()
    }

    /// Lets a test change the bytes of the log, as damage would.
    pub fn damage(&self, change: impl FnOnce(&mut Vec<u8>)) {
        let mut shared = self.shared();
        change(&mut shared.bytes);
        shared.synced_len = shared.synced_len.min(shared.bytes.len());
    }

    /// Ends the process that holds the log, or the machine. Its handle is fenced from now on.
    pub fn crash(&self, crash: Crash) {
        let mut shared = self.shared();
        shared.holder = None;
        if crash == Crash::PowerLoss {
            let synced = shared.synced_len;
            shared.bytes.truncate(synced);
            shared.blobs.retain(|_, (_, level)| *level == Durability::DataSync);
        }
    }

    fn shared(&self) -> MutexGuard<'_, Shared> {
        self.shared.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The log, if this handle holds it.
    fn held(&self, expected: Option<u64>) -> Result<MutexGuard<'_, Shared>, Error> {
        let shared = self.shared();
        let is_holder = self.claim.is_some() && shared.holder.as_ref().map(|(claim, _)| *claim) == self.claim;
        if is_holder && expected.is_none_or(|expected| expected == shared.next_ordinal) {
            return Ok(shared);
        }
        let holder = shared.holder.as_ref().filter(|_| !is_holder).map(|(_, holder)| Box::new(holder.clone()));
        Err(Error::Fenced { path: self.name.clone(), expected, found: Some(shared.next_ordinal), holder })
    }
}

impl Drop for MemoryStore {
    fn drop(&mut self) {
        if let Some(claim) = self.claim {
            let mut shared = self.shared();
            shared.holder = shared.holder.take().filter(|(holder, _)| *holder != claim);
        }
    }
}

impl Shared {
    fn sync(&mut self) {
        self.synced_len = self.bytes.len();
        self.synced_through = self.next_ordinal.checked_sub(1);
    }
}

impl Store for MemoryStore {
    fn path(&self) -> PathBuf {
        self.name.clone()
    }

    fn claim(&mut self, claim: Claim, owner: &Owner) -> Result<Claimed, Error> {
        let path = self.name.clone();
        let mut shared = self.shared();
        if let Some((_, holder)) = &shared.holder {
            return Err(holder.busy(path));
        }
        let holder = Holder::of(owner)?;
        let report = find_end(&mut Cursor::new(&shared.bytes), ReadLimits::default()).map_err(|source| Error::Io {
            action: "read",
            path: path.clone(),
            source,
        })?;
        match claim {
            Claim::New if report.records > 0 => return Err(Error::Exists { path }),
            Claim::Existing if report.records == 0 => return Err(Error::Empty { path, contents: report.contents }),
            _ => {}
        }
        let end = usize::try_from(report.append_at).unwrap_or(usize::MAX);
        shared.bytes.truncate(end);
        shared.synced_len = shared.synced_len.min(end);
        if shared.bytes.last().is_some_and(|last| *last != b'\n') {
            shared.bytes.push(b'\n');
        }
        shared.next_ordinal = report.next_ordinal;
        shared.synced_through = None;
        shared.claims += 1;
        let number = shared.claims;
        shared.holder = Some((number, holder));
        drop(shared);
        self.claim = Some(number);
        Ok(Claimed { next_ordinal: report.next_ordinal, report })
    }

    fn append(
        &mut self,
        expected: u64,
        at_ms: i64,
        drafts: &[Draft],
        durability: Durability,
    ) -> Result<Appended, Error> {
        let mut shared = self.held(Some(expected))?;
        let mut lines = String::new();
        push_lines(&mut lines, at_ms, expected, drafts, ReadLimits::default())?;
        let offset = shared.bytes.len() as u64;
        shared.bytes.extend_from_slice(lines.as_bytes());
        shared.next_ordinal += drafts.len() as u64;
        if durability == Durability::DataSync {
            shared.sync();
        }
        Ok(Appended {
            first: expected,
            last: shared.next_ordinal.saturating_sub(1),
            offset,
            level: durability,
            flushed_through: shared.next_ordinal.saturating_sub(1),
            synced_through: shared.synced_through,
        })
    }

    fn sync(&mut self) -> Result<Appended, Error> {
        let next = self.held(None)?.next_ordinal;
        self.append(next, 0, &[], Durability::DataSync)
    }

    fn len(&mut self) -> Result<u64, Error> {
        Ok(self.shared().bytes.len() as u64)
    }

    fn read(&mut self, offset: u64, bytes: &mut [u8]) -> Result<usize, Error> {
        let shared = self.shared();
        let rest = usize::try_from(offset).ok().and_then(|offset| shared.bytes.get(offset..)).unwrap_or_default();
        let read = rest.len().min(bytes.len());
        bytes[..read].copy_from_slice(&rest[..read]);
        Ok(read)
    }

    fn put_blob(&mut self, sha256: Sha256, bytes: &[u8], durability: Durability) -> Result<(), Error> {
        let mut shared = self.held(None)?;
        let kept = shared.blobs.entry(sha256).or_insert_with(|| (bytes.into(), durability));
        kept.1 = kept.1.max(durability);
        Ok(())
    }

    fn blob(&mut self, sha256: Sha256) -> Result<Vec<u8>, Error> {
        let kept = self.shared().blobs.get(&sha256).map(|(bytes, _)| bytes.to_vec());
        kept.ok_or_else(|| Error::Io {
            action: "read blob",
            path: self.name.join(sha256.to_string()),
            source: std::io::ErrorKind::NotFound.into(),
        })
    }

    fn blobs(&mut self) -> Result<Vec<Sha256>, Error> {
        Ok(self.shared().blobs.keys().copied().collect())
    }

    fn delete(self: Box<Self>, _owner: &Owner) -> Result<(), Error> {
        let mut shared = self.shared();
        if let Some((claim, holder)) = &shared.holder
            && Some(*claim) != self.claim
        {
            return Err(holder.busy(self.name.clone()));
        }
        let claims = shared.claims;
        *shared = Shared { claims, ..Shared::default() };
        Ok(())
    }
}
