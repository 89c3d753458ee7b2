//! The heads of lines, without their bodies.

use std::io::{self, BufRead as _, BufReader, Read, Seek, SeekFrom};

use super::{line::Head, tail::HEAD};

/// Large enough for most lines, small enough that a long one costs little.
const BUFFER: usize = 64 * 1024;

/// Finds the lines of a log and reads the head of each.
///
/// Where a newline stands is only known by looking for it, so a file is read once from end to end; nothing longer than a
/// head is kept.
#[derive(Debug)]
pub(crate) struct HeadReader<R> {
    inner: BufReader<R>,
    start: Option<u64>,
    at: u64,
}

/// One line.
#[derive(Debug)]
pub(crate) struct HeadOfLine {
    pub(crate) offset: u64,
    pub(crate) len: u64,
    /// None for a line that does not start as the format says.
    pub(crate) head: Option<OwnedHead>,
}

/// The first keys of a line.
#[derive(Debug)]
pub(crate) struct OwnedHead {
    pub(crate) timestamp: String,
    pub(crate) ordinal: u64,
    pub(crate) type_name: String,
    pub(crate) version: u32,
}

impl<R: Read + Seek> HeadReader<R> {
    /// Reads from the start of a line on.
    pub(crate) fn new(inner: R, from: u64) -> Self {
        Self { inner: BufReader::with_capacity(BUFFER, inner), start: Some(from), at: from }
    }

    /// Where the next line starts.
    pub(crate) const fn position(&self) -> u64 {
        self.at
    }

    /// The next line; none at the end.
    pub(crate) fn next_head(&mut self) -> io::Result<Option<HeadOfLine>> {
        if let Some(from) = self.start.take() {
            self.inner.seek(SeekFrom::Start(from))?;
        }
        let offset = self.at;
        let mut start = Vec::with_capacity(HEAD_LEN);
        loop {
            let buffer = match self.inner.fill_buf() {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                other => other?,
            };
            if buffer.is_empty() {
                break;
            }
            let newline = memchr::memchr(b'\n', buffer);
            let used = newline.map_or(buffer.len(), |place| place + 1);
            let wanted = HEAD_LEN.saturating_sub(start.len()).min(used);
            start.extend_from_slice(&buffer[..wanted]);
            self.inner.consume(used);
            self.at += used as u64;
            if newline.is_some() {
                break;
            }
        }
        if self.at == offset {
            return Ok(None);
        }
        let text = |range: std::ops::Range<usize>| String::from_utf8_lossy(&start[range]).into_owned();
        let head = Head::scan(&start).map(|head| OwnedHead {
            timestamp: text(head.timestamp.clone()),
            ordinal: head.ordinal,
            type_name: text(head.type_name.clone()),
            version: head.version,
        });
        Ok(Some(HeadOfLine { offset, len: self.at - offset, head }))
    }
}

#[expect(clippy::cast_possible_truncation, reason = "192 fits everywhere")]
const HEAD_LEN: usize = HEAD as usize;
