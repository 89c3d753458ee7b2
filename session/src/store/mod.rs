//! Where the log of a session is kept, and what every such place has to promise.
//!
//! A [`Store`] is a handle to the log of one session: lines, numbered without gaps, and blobs beside them. [`FsStore`] keeps
//! it in a folder, [`MemoryStore`] in memory. A store of one's own passes the `conformance` kit (a feature of that name).
//! [`StoreReader`] makes any of them a file for the readers of [`rollout`](crate::rollout).

mod page;
mod reader;
mod fs;
mod blob_files;
mod memory;
mod journal;
mod status;
#[cfg(feature = "conformance")]
pub mod conformance;

use std::{fmt, path::PathBuf};

pub(crate) use self::blob_files::blob_names;
pub(crate) use self::journal::{Journal, JournalRules, StoreSink};
pub use self::{
    fs::FsStore,
    memory::{Crash, MemoryStore},
    page::{Head, Page, page_backward, page_forward, page_of_heads},
    reader::StoreReader,
    status::{CapReached, LogCaps, LogHealth, LogStatus},
};
use crate::{
    Error,
    rollout::{Appended, Draft, Durability, Owner, RecoveryReport, RolloutItem, SessionMeta, Sha256, opened},
};

/// Whether a log is made or gone on with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(clippy::exhaustive_enums, reason = "a log is there or it is not")]
pub enum Claim {
    /// It must not hold a record yet.
    New,
    /// It must hold one.
    Existing,
}

/// The end of a log that was claimed for writing.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Claimed {
    /// The ordinal that the next record gets.
    pub next_ordinal: u64,
    /// What was found from the last undamaged record on; a torn tail was cut.
    pub report: RecoveryReport,
}

impl Claimed {
    /// A log that goes on with this ordinal.
    #[must_use]
    pub const fn new(next_ordinal: u64, report: RecoveryReport) -> Self {
        Self { next_ordinal, report }
    }
}

/// What a store found when a session took it, and wrote.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Taken {
    /// What was found from the last undamaged record on; a torn tail was cut.
    pub report: RecoveryReport,
    /// The records that were written.
    pub appended: Appended,
}

/// A handle to the log of one session, wherever it is kept. Its calls may block.
///
/// # Shape
/// The log is a run of bytes that only grows at its end, line by line, and can be read from any offset. Numbers and
/// checksums on the lines are [`push_lines`](crate::rollout::push_lines)'s. Blobs have the digest of their bytes as name.
///
/// # Concurrency
/// Any number of handles read. One writes: [`claim`](Self::claim) gives it the log, and
/// [`append`](Self::append) at another ordinal than the one that comes next is refused. Where a store cannot tell whether
/// the holder still lives, that refusal is the fence: a writer that was superseded writes nothing any more.
pub trait Store: fmt::Debug + Send {
    /// The name of the log, for errors.
    fn path(&self) -> PathBuf;

    /// Takes the log for writing: cuts a torn tail and says which ordinal comes next. Nothing is written.
    ///
    /// # Errors
    /// [`Error::Busy`] with the holder, if a live one is known. [`Error::Exists`] for a new log where a record stands;
    /// [`Error::Empty`] or [`Error::Io`] where none does and one should.
    fn claim(&mut self, claim: Claim, owner: &Owner) -> Result<Claimed, Error>;

    /// Appends records with one write, the first of them at the ordinal `expected`: all of them or none.
    ///
    /// # Errors
    /// [`Error::Fenced`] if another ordinal comes next or this handle does not hold the log.
    /// [`Error::Append`]: none of the records is in the log; the next call starts behind the last whole record.
    /// [`Error::Sync`]: all of them are, at [`Durability::Flush`] only.
    fn append(
        &mut self,
        expected: u64,
        at_ms: i64,
        drafts: &[Draft],
        durability: Durability,
    ) -> Result<Appended, Error>;

    /// Waits until every record that was appended survives a loss of power.
    ///
    /// # Errors
    /// [`Error::Sync`], [`Error::Lost`], [`Error::Fenced`].
    fn sync(&mut self) -> Result<Appended, Error>;

    /// The length of the log, in bytes.
    ///
    /// # Errors
    /// [`Error::Io`].
    fn len(&mut self) -> Result<u64, Error>;

    /// Says that the log has no byte.
    ///
    /// # Errors
    /// [`Error::Io`].
    fn is_empty(&mut self) -> Result<bool, Error> {
        self.len().map(|len| len == 0)
    }

    /// Reads into `bytes` from `offset` on; gives how many were read, which may be fewer than asked, and 0 at the end.
    ///
    /// # Errors
    /// [`Error::Io`].
    fn read(&mut self, offset: u64, bytes: &mut [u8]) -> Result<usize, Error>;

    /// Keeps the bytes of a blob; once is enough for equal ones. It reaches `durability` before this returns.
    ///
    /// # Errors
    /// [`Error::Io`], [`Error::Fenced`] if this handle does not hold the log.
    fn put_blob(&mut self, sha256: Sha256, bytes: &[u8], durability: Durability) -> Result<(), Error>;

    /// Reads a blob and proves it.
    ///
    /// # Errors
    /// [`Error::Io`], [`Error::BlobMismatch`] if its bytes are others.
    fn blob(&mut self, sha256: Sha256) -> Result<Vec<u8>, Error>;

    /// The names of all blobs, in order.
    ///
    /// # Errors
    /// [`Error::Io`].
    fn blobs(&mut self) -> Result<Vec<Sha256>, Error>;

    /// Deletes log and blobs. What blobs other sessions share with it stays with them.
    ///
    /// # Errors
    /// [`Error::Busy`] while another handle holds the log, [`Error::Io`].
    fn delete(self: Box<Self>, owner: &Owner) -> Result<(), Error>;
}

/// Makes a new log: its header and the record of who opened it, in one write.
///
/// # Errors
/// Those of [`Store::claim`] and [`Store::append`].
/// # Example
/// ```
/// use session::{rollout::{Durability, Owner, SessionMeta}, store::{MemoryStore, Store as _, create}};
///
/// let mut store = MemoryStore::new("s1");
/// let owner = Owner::this_process("build-7", 1_792_483_200_123);
/// let taken = create(&mut store, &SessionMeta::new("s1"), &owner, Durability::Flush)?;
/// assert_eq!((taken.appended.first, taken.appended.last), (0, 1));
/// # Ok::<(), session::Error>(())
/// ```
pub fn create(
    store: &mut dyn Store,
    meta: &SessionMeta,
    owner: &Owner,
    durability: Durability,
) -> Result<Taken, Error> {
    let claimed = store.claim(Claim::New, owner)?;
    let drafts = [RolloutItem::SessionMeta(meta.clone()).into(), opened(owner, claimed.report.torn_tail)];
    let appended = store.append(claimed.next_ordinal, owner.since_ms, &drafts, durability)?;
    Ok(Taken { report: claimed.report, appended })
}

/// Takes a log that is there: cuts a torn tail and writes who opened it.
///
/// # Errors
/// Those of [`Store::claim`] and [`Store::append`].
pub fn take(store: &mut dyn Store, owner: &Owner, durability: Durability) -> Result<Taken, Error> {
    let claimed = store.claim(Claim::Existing, owner)?;
    let drafts = [opened(owner, claimed.report.torn_tail)];
    let appended = store.append(claimed.next_ordinal, owner.since_ms, &drafts, durability)?;
    Ok(Taken { report: claimed.report, appended })
}
