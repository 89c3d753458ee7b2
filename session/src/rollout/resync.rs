//! Writing records again after a failed sync.
//!
//! A system may mark bytes as clean when it could not bring them to the disk: a second sync would then succeed without
//! them. So they are read back, proved by their checksums, and written over themselves before the next sync.

use std::io::{self, Read};

use super::{file::LogFile, judge::Trust, limits::ReadLimits, reader::RecordReader, report::Problem};
use crate::Error;

const CHUNK: usize = 256 * 1024;

/// How it went.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Resynced {
    /// Every byte waits for the disk again.
    Written,
    /// What stands there is not what was written.
    Lost,
}

/// Writes the bytes from `from` to `to` over themselves.
pub(super) fn resync<F: LogFile>(file: &mut F, from: u64, to: u64, limits: ReadLimits) -> io::Result<Resynced> {
    if !holds_whole_records(file, from, to, limits)? {
        return Ok(Resynced::Lost);
    }
    let mut chunk = vec![0; CHUNK];
    let mut at = from;
    while at < to {
        let wanted = usize::try_from(to - at).unwrap_or(CHUNK).min(CHUNK);
        let read = file.read_at(at, &mut chunk[..wanted])?;
        if read == 0 {
            return Ok(Resynced::Lost);
        }
        file.write_over(at, &chunk[..read])?;
        at += read as u64;
    }
    Ok(Resynced::Written)
}

fn holds_whole_records<F: LogFile>(file: &mut F, from: u64, to: u64, limits: ReadLimits) -> io::Result<bool> {
    let part = Part { file, at: from, to };
    let mut reader = RecordReader::starting_at(part, limits, from, 0);
    for line in reader.by_ref() {
        match line {
            Ok(line) if line.trust() == Trust::Whole => {}
            Ok(_) => return Ok(false),
            Err(Error::Io { source, .. }) => return Err(source),
            Err(_) => return Ok(false),
        }
    }
    let report = reader.into_report();
    // The first ordinal is not zero, which is all that may look missing.
    let is_whole = |problem: &Problem| !problem.is_damage() || matches!(problem, Problem::OrdinalsMissing { .. });
    Ok(report.append_at == to && report.findings.iter().all(|finding| is_whole(&finding.problem)))
}

/// A stretch of a file as a reader.
struct Part<'a, F> {
    file: &'a mut F,
    at: u64,
    to: u64,
}

impl<F: LogFile> Read for Part<'_, F> {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        let left = usize::try_from(self.to - self.at).unwrap_or(usize::MAX).min(bytes.len());
        let read = self.file.read_at(self.at, &mut bytes[..left])?;
        self.at += read as u64;
        Ok(read)
    }
}
