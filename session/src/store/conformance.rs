//! Checks that every store has to pass, for the tests of stores of one's own.
//!
//! A test gives a [`Harness`], which opens handles, ends processes and damages bytes, and calls [`check_all`].
//!
//! ```
//! use session::store::{Crash, MemoryStore, Store, conformance::{Damage, Harness, check_all}};
//!
//! struct InMemory(MemoryStore);
//!
//! impl Harness for InMemory {
//!     fn reset(&mut self) {
//!         self.0 = MemoryStore::new("s1");
//!     }
//!
//!     fn open(&self) -> Box<dyn Store> {
//!         Box::new(self.0.clone())
//!     }
//!
//!     fn crash(&mut self, _store: Box<dyn Store>, crash: Crash) {
//!         self.0.crash(crash);
//!     }
//!
//!     fn damage(&mut self, damage: &Damage) {
//!         self.0.damage(|bytes| damage.apply(bytes));
//!     }
//! }
//!
//! let passed = check_all(&mut InMemory(MemoryStore::new("s1"))).unwrap();
//! assert!(passed.len() >= 12);
//! ```

mod blobs;
mod crashes;
mod damages;
mod reading;
mod writers;

use std::fmt;

use super::{Crash, Store, StoreReader, take};
use crate::{
    Error,
    rollout::{
        Appended, Draft, Durability, LoggedLine, Owner, RawJson, RecordReader, RecoveryReport, RolloutItem, SessionMeta,
    },
};

/// 2026-10-20T08:00:00.123Z.
const AT_MS: i64 = 1_792_483_200_123;

/// What the checks need of the store's world.
///
/// All handles of one harness are to the log of one session.
pub trait Harness {
    /// Starts over: the next handle finds a log that holds nothing.
    fn reset(&mut self);

    /// Opens another handle, as another process would.
    fn open(&self) -> Box<dyn Store>;

    /// Ends the process that has `store`, or takes the power away. Where a test cannot take the power away, it ends the
    /// process.
    fn crash(&mut self, store: Box<dyn Store>, crash: Crash);

    /// Changes bytes of the log behind the back of every handle. None is open.
    fn damage(&mut self, damage: &Damage);
}

/// A change of bytes that no store made.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Damage {
    /// The log ends here.
    Cut {
        /// Its length, in bytes.
        len: u64,
    },
    /// Other bytes stand here.
    Overwrite {
        /// Where, in bytes.
        offset: u64,
        /// What stands there.
        bytes: Vec<u8>,
    },
    /// More bytes stand at the end.
    Append {
        /// What stands there.
        bytes: Vec<u8>,
    },
}

impl Damage {
    /// Does it to the bytes of a log.
    pub fn apply(&self, log: &mut Vec<u8>) {
        match self {
            Self::Cut { len } => log.truncate(usize::try_from(*len).unwrap_or(usize::MAX)),
            Self::Append { bytes } => log.extend_from_slice(bytes),
            Self::Overwrite { offset, bytes } => {
                let start = usize::try_from(*offset).unwrap_or(usize::MAX).min(log.len());
                let len = bytes.len().min(log.len() - start);
                log[start..start + len].copy_from_slice(&bytes[..len]);
            }
        }
    }
}

/// A promise that a store did not keep.
#[derive(Debug)]
#[non_exhaustive]
pub struct Broken {
    /// The check.
    pub check: &'static str,
    /// What was seen instead.
    pub found: String,
}

impl fmt::Display for Broken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.check, self.found)
    }
}

impl std::error::Error for Broken {}

type Outcome = Result<(), String>;
type Check = (&'static str, fn(&mut dyn Harness) -> Outcome);

const CHECKS: &[Check] = &[
    ("records are numbered and read back in order", writers::records_are_numbered),
    ("a log is made once and taken only where it is", writers::a_log_is_made_once),
    ("an append at another ordinal writes nothing", writers::another_ordinal_is_refused),
    ("a handle that claimed nothing writes nothing", writers::an_unclaimed_handle_is_refused),
    ("of two writers one is fenced", writers::of_two_writers_one_is_fenced),
    ("racing writers lose and repeat nothing", writers::racing_writers_lose_nothing),
    ("what was acknowledged at a level survives what the level names", crashes::acknowledged_survives),
    ("after a crash another writer takes over at once", crashes::another_takes_over),
    ("a writer from before a crash is fenced", crashes::a_writer_from_before_is_fenced),
    ("a log that is cut anywhere keeps its whole records", damages::cut_anywhere),
    ("a torn record at the end is cut and said", damages::torn_tail_is_cut),
    ("a damaged page costs only its own records", damages::damaged_page),
    ("reads of any size give the same bytes", reading::short_reads),
    ("pages and heads agree in both directions", reading::pages_agree),
    ("blobs are kept once and proved", blobs::kept_once),
    ("blobs reach their level before their record", blobs::survive),
    ("a deleted log is gone and can be made anew", blobs::deleted),
];

/// Runs every check; gives their names.
///
/// # Errors
/// The first promise that was not kept.
pub fn check_all(harness: &mut dyn Harness) -> Result<Vec<&'static str>, Broken> {
    let mut passed = Vec::with_capacity(CHECKS.len());
    for (check, run) in CHECKS {
        harness.reset();
        run(harness).map_err(|found| Broken { check, found })?;
        passed.push(*check);
    }
    Ok(passed)
}

/// Says what was found where something else should be.
fn ensure(holds: bool, found: impl FnOnce() -> String) -> Outcome {
    if holds { Ok(()) } else { Err(found()) }
}

fn said(error: Error) -> String {
    format!("{error}")
}

fn owner(host: &str) -> Owner {
    Owner::this_process(host, AT_MS)
}

fn draft(text: &str) -> Draft {
    RolloutItem::Usage(RawJson::string(text)).into()
}

fn created(harness: &dyn Harness) -> Result<(Box<dyn Store>, Appended), String> {
    let mut store = harness.open();
    let meta = SessionMeta::new("s1");
    let taken = super::create(store.as_mut(), &meta, &owner("first"), Durability::DataSync).map_err(said)?;
    Ok((store, taken.appended))
}

fn taken(harness: &dyn Harness) -> Result<(Box<dyn Store>, Appended), String> {
    let mut store = harness.open();
    let taken = take(store.as_mut(), &owner("next"), Durability::Flush).map_err(said)?;
    Ok((store, taken.appended))
}

fn read(store: &mut dyn Store) -> Result<(Vec<LoggedLine>, RecoveryReport), String> {
    let mut reader = RecordReader::new(StoreReader::new(store));
    let lines = reader.by_ref().collect::<Result<Vec<_>, _>>().map_err(said)?;
    Ok((lines, reader.into_report()))
}

/// The texts of the records that the checks wrote.
fn texts(lines: &[LoggedLine]) -> Vec<String> {
    let usage = lines.iter().filter(|line| line.type_name() == "usage");
    usage.filter_map(|line| Some(line.payload().ok()?.to_str()?.into_owned())).collect()
}
