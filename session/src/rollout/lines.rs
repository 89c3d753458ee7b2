//! Lines of a file, with their place, through a buffer of fixed size.

use std::io::{self, BufRead, BufReader, Read};

/// Large enough that system calls are rare and small enough to stay in a processor's cache.
const BUFFER: usize = 128 * 1024;
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
    /// An empty one, with room for a line.
    spare: Vec<u8>,
}

impl<R: Read> LineReader<R> {
    /// Reads from `offset` on, where `inner` stands.
    pub(super) fn new(inner: R, offset: u64, max_line_bytes: usize) -> Self {
        let number = (offset == 0).then_some(0);
        let inner = BufReader::with_capacity(BUFFER, inner);
        Self { inner, offset, number, max_line_bytes, spare: Vec::new() }
    }

    pub(super) const fn limit(&mut self, max_line_bytes: usize) {
        self.max_line_bytes = max_line_bytes;
    }

    /// Takes the bytes of a line that nobody needs any more: the next line is read into them.
    pub(super) fn reuse(&mut self, mut bytes: Vec<u8>) {
        // The room of a very long line is given back.
        if bytes.capacity() <= BUFFER {
            bytes.clear();
            self.spare = bytes;
        }
    }

    /// Where the next line starts.
    pub(super) const fn position(&self) -> u64 {
        self.offset
    }

    /// The next line; none at the end of the file.
    pub(super) fn next_line(&mut self) -> io::Result<Option<RawLine>> {
        let offset = self.offset;
        let mut bytes = std::mem::take(&mut self.spare);
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

#[cfg(test)]
mod tests {
    use super::*;

    /// Gives as many bytes as it likes, and sometimes asks to be asked again.
    struct Halting<'a>(&'a [u8], usize);

    impl Read for Halting<'_> {
        fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
            self.1 += 1;
            if self.1.is_multiple_of(3) {
                return Err(io::ErrorKind::Interrupted.into());
            }
            let len = bytes.len().min(1 + self.1 % 7 * 20_000);
            self.0.read(&mut bytes[..len])
        }
    }

    #[track_caller]
    fn check(file: &[u8], max_line_bytes: usize) {
        let mut reader = LineReader::new(Halting(file, 0), 0, max_line_bytes);
        let mut before = None;
        let mut offset = 0;
        for (number, line) in (1..).zip(file.split_inclusive(|byte| *byte == b'\n')) {
            // Every other line is read into the bytes of the one before.
            before.take_if(|_| number % 2 == 0).into_iter().for_each(|bytes| reader.reuse(bytes));
            let read = reader.next_line().unwrap().unwrap();
            assert_eq!((read.offset, read.len, read.number), (offset, line.len() as u64, Some(number)));
            let too_long = line.len() > max_line_bytes + usize::from(line.ends_with(b"\n"));
            assert_eq!(read.too_long, too_long, "{} bytes", line.len());
            let text = line.strip_suffix(b"\n").map_or(line, |text| text.strip_suffix(b"\r").unwrap_or(text));
            let text = if offset == 0 { text.strip_prefix(BYTE_ORDER_MARK).unwrap_or(text) } else { text };
            assert!(read.bytes == if too_long { b"" } else { text });
            before = Some(read.bytes);
            offset = reader.position();
        }
        assert!(reader.next_line().unwrap().is_none());
        assert_eq!(offset, file.len() as u64);
    }

    #[test]
    fn the_room_of_a_very_long_line_is_given_back() {
        let mut reader = LineReader::new(&b"a\nb\n"[..], 0, BUFFER);
        reader.reuse(vec![b'x'; BUFFER]);
        let read = reader.next_line().unwrap().unwrap();
        assert_eq!((read.bytes.as_slice(), read.bytes.capacity()), (&b"a"[..], BUFFER));
        reader.reuse(vec![b'x'; BUFFER + 1]);
        let read = reader.next_line().unwrap().unwrap();
        assert_eq!(read.bytes, b"b");
        assert!(read.bytes.capacity() < BUFFER);
    }

    #[test]
    fn lines_are_read_as_they_are_split_wherever_a_buffer_ends() {
        for around in [BUFFER - 2, BUFFER - 1, BUFFER, BUFFER + 1, 2 * BUFFER] {
            let long = "x".repeat(around);
            for file in [
                format!("{long}\n"),
                format!("{long}\r\n\r\n\n{long}\0\n"),
                format!("\n{long}\n{long}"),
                format!("\u{feff}{long}\n\u{feff}\n\0\0"),
                format!("{long}\r"),
            ] {
                for max_line_bytes in [2, around - 1, around, around + 1, around + 4, 10 * BUFFER] {
                    check(file.as_bytes(), max_line_bytes);
                }
            }
        }
    }
}
