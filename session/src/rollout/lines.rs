//! Lines of a file, with their place, through a buffer of fixed size.

use std::io::{self, BufRead, BufReader, Read};

/// Large enough that system calls are rare and small enough to stay in a processor's cache.
const BUFFER: usize = 256 * 1024;
const BYTE_ORDER_MARK: &[u8] = b"\xEF\xBB\xBF";

/// One line.
#[derive(Debug)]
pub(super) struct RawLine {
    /// Where its first byte stands in the file.
    pub(super) offset: u64,
    /// Its number from 1, if reading started at the first line.
    pub(super) number: Option<u64>,
    /// Its bytes without newline and carriage return; empty if it was too long.
    pub(super) bytes: Vec<u8>,
    /// Its bytes in the file.
    pub(super) len: u64,
    pub(super) end: LineEnd,
    pub(super) byte_order_mark: bool,
    pub(super) too_long: bool,
}

/// How a line ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LineEnd {
    Newline,
    CarriageReturn,
    EndOfFile,
}

/// Reads lines one by one; a line is in memory once, and only while it is in use.
#[derive(Debug)]
pub(super) struct LineReader<R> {
    inner: BufReader<R>,
    offset: u64,
    number: Option<u64>,
    max_line_bytes: usize,
}

impl<R: Read> LineReader<R> {
    /// Reads from `offset` on, where `inner` stands.
    pub(super) fn new(inner: R, offset: u64, max_line_bytes: usize) -> Self {
        let number = (offset == 0).then_some(0);
        Self { inner: BufReader::with_capacity(BUFFER, inner), offset, number, max_line_bytes }
    }

    pub(super) const fn limit(&mut self, max_line_bytes: usize) {
        self.max_line_bytes = max_line_bytes;
    }

    /// Where the next line starts.
    pub(super) const fn position(&self) -> u64 {
        self.offset
    }

    /// The next line; none at the end of the file.
    pub(super) fn next_line(&mut self) -> io::Result<Option<RawLine>> {
        let offset = self.offset;
        let mut bytes = Vec::new();
        let limit = u64::try_from(self.max_line_bytes).unwrap_or(u64::MAX).saturating_add(1);
        self.read_line(limit, &mut bytes)?;
        if bytes.is_empty() {
            return Ok(None);
        }
        let mut len = bytes.len() as u64;
        let mut end = if bytes.pop_if(|byte| *byte == b'\n').is_some() { LineEnd::Newline } else { LineEnd::EndOfFile };
        let too_long = len == limit && end == LineEnd::EndOfFile;
        if too_long {
            bytes = Vec::new();
            let (skipped, ended) = self.skip_line()?;
            len += skipped;
            end = ended;
        }
        if end == LineEnd::Newline && bytes.pop_if(|byte| *byte == b'\r').is_some() {
            end = LineEnd::CarriageReturn;
        }
        let byte_order_mark = offset == 0 && bytes.starts_with(BYTE_ORDER_MARK);
        if byte_order_mark {
            bytes.drain(..BYTE_ORDER_MARK.len());
        }
        self.offset += len;
        self.number = self.number.map(|number| number + 1);
        Ok(Some(RawLine { offset, number: self.number, bytes, len, end, byte_order_mark, too_long }))
    }

    /// Appends the rest of the line, its newline included, but no more than `limit` bytes.
    fn read_line(&mut self, limit: u64, bytes: &mut Vec<u8>) -> io::Result<()> {
        let limit = usize::try_from(limit).unwrap_or(usize::MAX);
        loop {
            let buffer = match self.inner.fill_buf() {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                other => other?,
            };
            let buffer = &buffer[..buffer.len().min(limit - bytes.len())];
            let newline = memchr::memchr(b'\n', buffer);
            let used = newline.map_or(buffer.len(), |place| place + 1);
            bytes.extend_from_slice(&buffer[..used]);
            self.inner.consume(used);
            if newline.is_some() || used == 0 {
                return Ok(());
            }
        }
    }

    fn skip_line(&mut self) -> io::Result<(u64, LineEnd)> {
        let mut skipped = 0;
        loop {
            let buffer = match self.inner.fill_buf() {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                other => other?,
            };
            if buffer.is_empty() {
                return Ok((skipped, LineEnd::EndOfFile));
            }
            let newline = memchr::memchr(b'\n', buffer);
            let used = newline.map_or(buffer.len(), |place| place + 1);
            self.inner.consume(used);
            skipped += used as u64;
            if newline.is_some() {
                return Ok((skipped, LineEnd::Newline));
            }
        }
    }
}

impl RawLine {
    /// Where the first byte of `bytes` stands in the file.
    pub(super) const fn text_offset(&self) -> u64 {
        self.offset + if self.byte_order_mark { BYTE_ORDER_MARK.len() as u64 } else { 0 }
    }

    /// Says that nothing stands on the line.
    pub(super) fn is_blank(&self) -> bool {
        !self.too_long && self.bytes.iter().all(|byte| matches!(byte, b' ' | b'\t' | b'\r'))
    }
}
