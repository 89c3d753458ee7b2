//! Reading a log from its end.

use std::{
    borrow::Cow,
    io::{self, Read, Seek, SeekFrom},
};

use super::{
    judge::{Judgement, Trust, judge},
    limits::{READER_VERSION, ReadLimits},
    line::Head,
    ordinals::Place,
    reader::RecordReader,
    report::{Problem, RecoveryReport},
};
use crate::Error;

/// How much is read at once on the way back.
const BLOCK: u64 = 64 * 1024;
/// More than the head of any line: a time stamp, two numbers and a type.
pub(super) const HEAD: u64 = 192;

/// Where a record stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct RecordPlace {
    /// Where its line starts, in bytes.
    pub offset: u64,
    /// Its ordinal.
    pub ordinal: u64,
}

/// Finds the newest undamaged checkpoint without reading what stands before it.
///
/// Reads the log backwards in blocks, so the cost is that of the records behind the checkpoint. Damage behind it is found
/// by the [`RecordReader`] that starts there; damage before it does not matter to a resume.
///
/// # Errors
/// What the system says when the file is read.
pub fn last_checkpoint<R: Read + Seek>(file: &mut R, limits: ReadLimits) -> io::Result<Option<RecordPlace>> {
    let mut lines = ReverseLines::new(file)?;
    newest_checkpoint(&mut lines, limits, u64::MAX).map(|found| match found {
        Newest::At(place) => Some(place),
        Newest::Missing | Newest::TooLarge(_) => None,
    })
}

enum Newest {
    Missing,
    At(RecordPlace),
    TooLarge(u64),
}

fn newest_checkpoint<R: Read + Seek>(
    lines: &mut ReverseLines<'_, R>,
    limits: ReadLimits,
    max_bytes: u64,
) -> io::Result<Newest> {
    while let Some((start, end)) = lines.previous()? {
        let head = lines.read(start, (end - start).min(HEAD))?;
        let Some(head) = Head::scan(&head).filter(|found| &head[found.type_name.clone()] == b"checkpoint") else {
            continue;
        };
        if head.version <= READER_VERSION && end - start > max_bytes {
            return Ok(Newest::TooLarge(start));
        }
        if head.version <= READER_VERSION && lines.holds_record(start, end, limits)? {
            return Ok(Newest::At(RecordPlace { offset: start, ordinal: head.ordinal }));
        }
    }
    Ok(Newest::Missing)
}

/// Where the live part of a log starts.
#[derive(Debug)]
pub(super) struct LiveStart {
    /// The newest undamaged checkpoint.
    pub(super) checkpoint: RecordPlace,
    /// What became of turns before it, newest first, back to the last start of one: where the lines start.
    pub(super) turn_marks: Vec<RecordPlace>,
}

/// What a look from the end found.
#[derive(Debug)]
pub(super) enum Live {
    /// There is no checkpoint.
    Whole,
    /// The live part starts there.
    From(LiveStart),
    /// The checkpoint whose line starts there is longer than what may be held.
    TooLarge(u64),
}

/// Finds the newest checkpoint, and the turn in which it stands.
pub(super) fn live_start<R: Read + Seek>(file: &mut R, limits: ReadLimits, max_bytes: u64) -> io::Result<Live> {
    let mut lines = ReverseLines::new(file)?;
    let checkpoint = match newest_checkpoint(&mut lines, limits, max_bytes)? {
        Newest::At(place) => place,
        Newest::Missing => return Ok(Live::Whole),
        Newest::TooLarge(offset) => return Ok(Live::TooLarge(offset)),
    };
    let mut turn_marks = Vec::new();
    while let Some((start, end)) = lines.previous()? {
        let bytes = lines.read(start, (end - start).min(HEAD))?;
        let Some(head) = Head::scan(&bytes) else { continue };
        let is_start = match &bytes[head.type_name.clone()] {
            b"turn_started" => true,
            b"turn_ended" | b"turn_aborted" => false,
            _ => continue,
        };
        // Of the ends only the newest one counts; a turn that ended before it is over all the same.
        if (is_start || turn_marks.is_empty()) && lines.holds_record(start, end, limits)? {
            turn_marks.push(RecordPlace { offset: start, ordinal: head.ordinal });
            if is_start {
                break;
            }
        }
    }
    Ok(Live::From(LiveStart { checkpoint, turn_marks }))
}

/// What stands at the end of a log: where the next record belongs and which ordinal it gets.
///
/// Only the lines from the last undamaged record on are read.
pub(crate) fn find_end<R: Read + Seek>(file: &mut R, limits: ReadLimits) -> Result<RecoveryReport, io::Error> {
    let mut start = RecordPlace { offset: 0, ordinal: 0 };
    let mut lines = ReverseLines::new(file)?;
    while let Some((line, end)) = lines.previous()? {
        let head = lines.read(line, (end - line).min(HEAD))?;
        if let Some(head) = Head::scan(&head)
            && lines.holds_record(line, end, limits)?
        {
            start = RecordPlace { offset: line, ordinal: head.ordinal };
            break;
        }
    }
    file.seek(SeekFrom::Start(start.offset))?;
    let mut reader = RecordReader::starting_at(file, limits, start.offset, start.ordinal);
    let mut displaced = 0;
    for line in reader.by_ref() {
        match line {
            Ok(line) => displaced += u64::from(line.place() == Place::Unknown),
            Err(Error::Io { source, .. }) => return Err(source),
            Err(_) => {}
        }
    }
    let mut report = reader.into_report();
    // Each lost line, and each one whose ordinal was edited, had an ordinal that is not given to another record.
    let lost = report.findings.iter().filter(|finding| is_lost_line(&finding.problem)).count();
    report.next_ordinal = report.next_ordinal.saturating_add(lost as u64).saturating_add(displaced);
    Ok(report)
}

const fn is_lost_line(problem: &Problem) -> bool {
    matches!(problem, Problem::NotJson | Problem::NotUtf8 { .. } | Problem::NotRecord { .. } | Problem::TooLong { .. })
}

/// The places of the lines of a file, last one first.
#[derive(Debug)]
pub(crate) struct ReverseLines<'a, R> {
    file: &'a mut R,
    /// The end of the line that comes next, its newline included.
    end: u64,
    block: Vec<u8>,
    block_start: u64,
}

impl<'a, R: Read + Seek> ReverseLines<'a, R> {
    fn new(file: &'a mut R) -> io::Result<Self> {
        let end = file.seek(SeekFrom::End(0))?;
        Ok(Self::ending_at(file, end))
    }

    /// Goes back from `end`, the start of a line or the end of the file.
    pub(crate) const fn ending_at(file: &'a mut R, end: u64) -> Self {
        Self { file, end, block: Vec::new(), block_start: end }
    }

    /// Start and end of the line before; its newline counts to it.
    pub(crate) fn previous(&mut self) -> io::Result<Option<(u64, u64)>> {
        if self.end == 0 {
            return Ok(None);
        }
        let end = self.end;
        // The last byte of the line may be its own newline.
        let mut search_end = end - 1;
        let start = loop {
            if search_end == 0 {
                break 0;
            }
            if search_end <= self.block_start {
                self.load(search_end)?;
            }
            let known = usize::try_from(search_end - self.block_start).unwrap_or(usize::MAX).min(self.block.len());
            match memchr::memrchr(b'\n', &self.block[..known]) {
                Some(newline) => break self.block_start + newline as u64 + 1,
                None => search_end = self.block_start,
            }
        };
        self.end = start;
        Ok(Some((start, end)))
    }

    /// Loads the block that ends at `end`.
    fn load(&mut self, end: u64) -> io::Result<()> {
        let start = end.saturating_sub(BLOCK);
        // The same buffer for all blocks: a log without a checkpoint has thousands.
        let mut block = std::mem::take(&mut self.block);
        block.resize(length(end - start)?, 0);
        self.file.seek(SeekFrom::Start(start))?;
        self.file.read_exact(&mut block)?;
        self.block = block;
        self.block_start = start;
        Ok(())
    }

    /// Reads `len` bytes from `start` on, from the block where it holds them.
    fn read(&mut self, start: u64, len: u64) -> io::Result<Cow<'_, [u8]>> {
        let held = start.checked_sub(self.block_start).and_then(|from| usize::try_from(from).ok());
        let wanted = length(len)?;
        if let Some(bytes) = held.and_then(|from| self.block.get(from..from.checked_add(wanted)?)) {
            return Ok(bytes.into());
        }
        self.file.seek(SeekFrom::Start(start))?;
        let mut bytes = vec![0; wanted];
        self.file.read_exact(&mut bytes)?;
        Ok(bytes.into())
    }

    /// Says whether an undamaged record stands there.
    fn holds_record(&mut self, start: u64, end: u64, limits: ReadLimits) -> io::Result<bool> {
        if usize::try_from(end - start).map_or(true, |len| len > limits.max_line_bytes) {
            return Ok(false);
        }
        let mut line = self.read(start, end - start)?.into_owned();
        while line.pop_if(|byte| matches!(*byte, b'\n' | b'\r')).is_some() {}
        Ok(matches!(judge(line, start), Judgement::Record(_, _, Trust::Whole)))
    }
}

fn length(len: u64) -> io::Result<usize> {
    usize::try_from(len).map_err(|_| io::Error::from(io::ErrorKind::OutOfMemory))
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;

    use super::*;

    /// The places of the lines, found forwards.
    fn places(file: &[u8]) -> Vec<(u64, u64)> {
        let mut start = 0;
        let place = |line: &[u8]| {
            let place = (start, start + line.len() as u64);
            start = place.1;
            place
        };
        file.split_inclusive(|byte| *byte == b'\n').map(place).collect()
    }

    /// Lines of these lengths, newline included, and what stands behind the last newline.
    #[track_caller]
    fn check(lengths: &[u64], rest: u64) {
        let mut file = Vec::new();
        for (number, &len) in (0_u8..).zip(lengths) {
            file.resize(file.len() + length(len - 1).unwrap(), b'a' + number);
            file.push(b'\n');
        }
        file.resize(file.len() + length(rest).unwrap(), 0);
        let mut cursor = Cursor::new(&file);
        let mut lines = ReverseLines::new(&mut cursor).unwrap();
        let mut found = Vec::new();
        while let Some((start, end)) = lines.previous().unwrap() {
            for len in [end - start, (end - start).min(HEAD)] {
                let from = length(start).unwrap();
                assert!(*lines.read(start, len).unwrap() == file[from..from + length(len).unwrap()]);
            }
            found.push((start, end));
        }
        found.reverse();
        assert_eq!(found, places(&file), "{lengths:?} and {rest}");
    }

    #[test]
    fn lines_are_found_backwards_wherever_a_block_ends() {
        check(&[], 0);
        check(&[], 3);
        for around in [BLOCK - 1, BLOCK, BLOCK + 1, 2 * BLOCK - 1, 2 * BLOCK, 2 * BLOCK + 1] {
            for rest in [0, 1, 2, BLOCK - 1, BLOCK, BLOCK + 1] {
                check(&[around], rest);
                check(&[1, around], rest);
                check(&[around, 1], rest);
                check(&[around, around, 1, 1], rest);
                check(&[1, 2, around, 2, 3 * BLOCK], rest);
            }
        }
    }
}
