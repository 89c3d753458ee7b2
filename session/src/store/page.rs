//! Reading a store page by page, in both directions, and heads without bodies.

use std::io::{Seek as _, SeekFrom};

use super::{Store, StoreReader};
use crate::{
    Error,
    rollout::{LoggedLine, ReadLimits, RecordReader, RecoveryReport, ReverseLines},
};

/// Some records of a log, and where the next page starts.
#[derive(Debug)]
#[non_exhaustive]
pub struct Page {
    /// The records, in the order in which they were read.
    pub lines: Vec<LoggedLine>,
    /// What was found besides; ordinals are judged within the page only.
    pub report: RecoveryReport,
    /// Where the next page starts, in bytes; none at the end, and at the start for a page that was read backwards.
    pub next: Option<u64>,
}

/// What is known of a record without its body.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Head {
    /// Where its line starts, in bytes.
    pub offset: u64,
    /// How long the line is, with its newline.
    pub len: u64,
    /// When it was written: RFC 3339 in UTC.
    pub timestamp: String,
    /// Its number in the log.
    pub ordinal: u64,
    /// Its type.
    pub type_name: String,
    /// The lowest version of a reader that understands it.
    pub version: u32,
}

/// Reads records from the start of a line on, until `max_bytes` of lines were read; one record at least, if there is one.
///
/// # Errors
/// [`Error::Io`].
/// # Example
/// ```
/// # use session::{rollout::{Durability, Owner, SessionMeta}, store::{MemoryStore, create}};
/// use session::store::page_forward;
///
/// # let mut store = MemoryStore::new("s1");
/// # create(&mut store, &SessionMeta::new("s1"), &Owner::this_process("here", 0), Durability::Flush)?;
/// let page = page_forward(&mut store, 0, 1)?;
/// assert_eq!(page.lines[0].type_name(), "session_meta");
/// let page = page_forward(&mut store, page.next.unwrap(), 1)?;
/// assert_eq!((page.lines[0].type_name(), page.next), ("opened", None));
/// # Ok::<(), session::Error>(())
/// ```
pub fn page_forward(store: &mut dyn Store, from: u64, max_bytes: u64) -> Result<Page, Error> {
    let path = store.path();
    let len = store.len()?;
    let mut file = StoreReader::new(store);
    file.seek(SeekFrom::Start(from)).map_err(|source| Error::Io { action: "read", path: path.clone(), source })?;
    let mut reader = RecordReader::starting_at_unknown(file, ReadLimits::default(), from).with_path(path);
    let mut lines = Vec::new();
    while let Some(line) = reader.next().transpose()? {
        lines.push(line);
        if reader.position() - from >= max_bytes && !reader.has_ready() {
            break;
        }
    }
    let next = reader.position();
    Ok(Page { lines, next: (next < len).then_some(next), report: reader.into_report() })
}

/// Reads the records before `to`, the start of a line or the end of the log, newest first, until `max_bytes` of lines were
/// read; one line at least, if there is one.
///
/// # Errors
/// [`Error::Io`].
pub fn page_backward(store: &mut dyn Store, to: u64, max_bytes: u64) -> Result<Page, Error> {
    let path = store.path();
    let failed = |source| Error::Io { action: "read", path: path.clone(), source };
    let mut file = StoreReader::new(store);
    let mut back = ReverseLines::ending_at(&mut file, to);
    let mut start = to;
    while let Some((line, _)) = back.previous().map_err(failed)? {
        start = line;
        if to - start >= max_bytes {
            break;
        }
    }
    // The stretch is read forwards, so that damage on it is reported as everywhere.
    file.seek(SeekFrom::Start(start)).map_err(failed)?;
    let stretch = std::io::Read::take(file, to - start);
    let mut reader = RecordReader::starting_at_unknown(stretch, ReadLimits::default(), start).with_path(&path);
    let mut lines = reader.by_ref().collect::<Result<Vec<_>, _>>()?;
    lines.reverse();
    Ok(Page { lines, next: (start > 0).then_some(start), report: reader.into_report() })
}

/// The heads of the records from the start of a line on, at most `max_heads`, and where the next ones start. Bodies are
/// passed over unread where they are long; lines without a head are left out.
///
/// # Errors
/// [`Error::Io`].
pub fn page_of_heads(store: &mut dyn Store, from: u64, max_heads: usize) -> Result<(Vec<Head>, Option<u64>), Error> {
    let path = store.path();
    let len = store.len()?;
    let mut heads = Vec::new();
    let mut reader = crate::rollout::HeadReader::new(StoreReader::new(store), from);
    while heads.len() < max_heads {
        let found = reader.next_head().map_err(|source| Error::Io { action: "read", path: path.clone(), source })?;
        let Some(found) = found else { break };
        heads.extend(found.head.map(|head| Head {
            offset: found.offset,
            len: found.len,
            timestamp: head.timestamp,
            ordinal: head.ordinal,
            type_name: head.type_name,
            version: head.version,
        }));
    }
    let next = reader.position();
    Ok((heads, (next < len).then_some(next)))
}
