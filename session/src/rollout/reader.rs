//! Reading the own format: every record that can be read, and a report of what could not.

use std::{collections::VecDeque, io::Read, ops::Range, path::PathBuf};

use super::{
    judge::{Judgement, Trust, has_lone_surrogate, judge},
    limits::{READER_VERSION, ReadLimits},
    line::Layout,
    lines::{LineEnd, LineReader, RawLine},
    logged::LoggedLine,
    ordinals::Ordinals,
    report::{Contents, Finding, Problem, RecoveryReport, TornTail},
};
use crate::Error;

/// Reads records one by one and never stops at damage.
///
/// A line is in memory once; nothing of the lines before it is kept. Reading a log takes no lock, so a log can be read
/// while it is written.
///
/// # Example
/// ```
/// use session::rollout::{Contents, RecordReader};
///
/// let mut reader = RecordReader::new(&b"half a li"[..]);
/// assert!(reader.next().is_none());
/// let report = reader.into_report();
/// assert_eq!(report.contents, Contents::DamagedOnly);
/// assert_eq!(report.torn_tail.map(|tail| tail.len), Some(9));
/// ```
#[derive(Debug)]
pub struct RecordReader<R> {
    lines: LineReader<R>,
    limits: ReadLimits,
    ordinals: Ordinals,
    ready: VecDeque<LoggedLine>,
    report: RecoveryReport,
    seen: Seen,
    from_start: bool,
    failed: bool,
    path: PathBuf,
}

/// What kinds of lines were met, for [`Contents`].
#[derive(Debug, Default)]
struct Seen {
    body: bool,
    damage: bool,
}

impl<R: Read> RecordReader<R> {
    /// Reads a log from its start.
    pub fn new(inner: R) -> Self {
        Self::with_limits(inner, ReadLimits::default())
    }

    /// Reads a log from its start, with other limits.
    pub fn with_limits(inner: R, limits: ReadLimits) -> Self {
        Self::build(inner, limits, 0, Ordinals::default())
    }

    /// Reads from the start of a line on, where `inner` stands: `offset` is its place, `ordinal` that of its record.
    ///
    /// [`last_checkpoint`](super::last_checkpoint) finds such a place.
    pub fn starting_at(inner: R, limits: ReadLimits, offset: u64, ordinal: u64) -> Self {
        Self::build(inner, limits, offset, Ordinals::from(ordinal))
    }

    /// The same where the ordinal of the first record is not known: it is taken as it stands.
    pub(crate) fn starting_at_unknown(inner: R, limits: ReadLimits, offset: u64) -> Self {
        Self::build(inner, limits, offset, Ordinals::unknown())
    }

    pub(super) const fn limit_line(&mut self, max_line_bytes: usize) {
        self.limits.max_line_bytes = max_line_bytes;
        self.lines.limit(max_line_bytes);
    }

    /// Where the next line starts, in bytes.
    pub(crate) const fn position(&self) -> u64 {
        self.lines.position()
    }

    /// Says that records of the line that was read last wait.
    pub(crate) fn has_ready(&self) -> bool {
        !self.ready.is_empty()
    }

    /// Names the file in errors.
    #[must_use]
    pub fn with_path(mut self, path: impl Into<PathBuf>) -> Self {
        self.path = path.into();
        self
    }

    /// What was found so far; complete once the iterator has ended.
    #[must_use]
    pub const fn report(&self) -> &RecoveryReport {
        &self.report
    }

    /// Ends reading and gives the report.
    #[must_use]
    pub fn into_report(self) -> RecoveryReport {
        self.report
    }

    /// Counts the ordinals behind the record that was read last as if reading had started at it.
    pub(super) fn count_from(&mut self, ordinal: u64) {
        self.ordinals = Ordinals::from(ordinal);
        self.ordinals.see(ordinal);
        self.report.next_ordinal = self.ordinals.next();
    }

    /// Takes a line that nobody needs any more: the next one takes its place in memory.
    pub(super) fn reuse(&mut self, line: LoggedLine) {
        self.lines.reuse(line.into_text().into_bytes());
    }

    pub(super) fn report_mut(&mut self) -> &mut RecoveryReport {
        &mut self.report
    }

    fn build(inner: R, limits: ReadLimits, offset: u64, ordinals: Ordinals) -> Self {
        let report = RecoveryReport { append_at: offset, next_ordinal: ordinals.next(), ..RecoveryReport::default() };
        Self {
            lines: LineReader::new(inner, offset, limits.max_line_bytes),
            limits,
            ordinals,
            ready: VecDeque::new(),
            report,
            seen: Seen::default(),
            from_start: offset == 0,
            failed: false,
            path: PathBuf::new(),
        }
    }

    /// The record on a line, if there is one; of several the others are [ready](Self::ready).
    fn take_line(&mut self, mut raw: RawLine) -> Option<LoggedLine> {
        let ended = raw.end != LineEnd::EndOfFile;
        let line_end = raw.offset + raw.len;
        if raw.byte_order_mark {
            self.find(raw.offset, 3, raw.number, Problem::ByteOrderMark);
        }
        if raw.end == LineEnd::CarriageReturn {
            self.report.crlf_lines += 1;
        }
        if ended {
            self.report.append_at = line_end;
        }
        if raw.is_blank() {
            self.report.blank_lines += 1;
            if !ended && self.report.append_at < line_end {
                // Spaces without a newline would otherwise stand before the next record.
                self.report.torn_tail = Some(TornTail { offset: raw.offset, len: raw.len });
                self.find(raw.offset, raw.len, raw.number, Problem::TornTail);
            }
            return None;
        }
        if raw.too_long {
            let problem = Problem::TooLong { limit: self.limits.max_line_bytes };
            self.damage(raw.offset, raw.len, &raw, problem);
            return None;
        }
        let offset = raw.text_offset();
        let len = raw.bytes.len() as u64;
        match judge(std::mem::take(&mut raw.bytes), offset) {
            Judgement::Record(text, layout, trust) => {
                let line = self.accept(text, layout, trust, offset, raw.number);
                if !ended {
                    self.report.append_at = offset + len;
                    self.find(offset, len, raw.number, Problem::Unterminated);
                }
                return Some(line);
            }
            Judgement::Fused(bytes, records) => self.split(&bytes, &records, &raw),
            Judgement::Damage(problem) => self.damage(offset, len, &raw, problem),
        }
        None
    }

    /// Delivers the records of a line that holds more than one record, and reports the bytes around them.
    fn split(&mut self, bytes: &[u8], records: &[Range<usize>], raw: &RawLine) {
        let offset = raw.text_offset();
        let mut from = 0;
        for record in records {
            if from < record.start {
                self.find(offset + from as u64, (record.start - from) as u64, raw.number, Problem::Fused);
            }
            from = record.end;
            let place = offset + record.start as u64;
            match judge(bytes[record.clone()].to_vec(), place) {
                Judgement::Record(text, layout, trust) => {
                    let line = self.accept(text, layout, trust, place, raw.number);
                    self.ready.push_back(line);
                }
                _ => self.find(place, record.len() as u64, raw.number, Problem::NotJson),
            }
            if raw.end == LineEnd::EndOfFile {
                self.report.append_at = offset + record.end as u64;
            }
        }
        if from < bytes.len() {
            self.damage(offset + from as u64, (bytes.len() - from) as u64, raw, Problem::Fused);
        } else if raw.end == LineEnd::EndOfFile {
            self.find(offset, bytes.len() as u64, raw.number, Problem::Unterminated);
        }
    }

    fn accept(&mut self, text: String, layout: Layout, trust: Trust, offset: u64, number: Option<u64>) -> LoggedLine {
        let len = text.len() as u64;
        let ordinal = layout.ordinal;
        let (place, problem) =
            if trust.is_edited() { self.ordinals.see_edited(ordinal) } else { self.ordinals.see(ordinal) };
        let edited = match trust {
            Trust::Whole | Trust::Unchecked => None,
            Trust::Edited { written, computed } => Some(Problem::Edited { written, computed }),
            Trust::Unsealed => Some(Problem::Unsealed),
        };
        let line = LoggedLine::standing_at(text, layout, offset, trust, place);
        let type_name = line.type_name();
        let is_meta = type_name == "session_meta";
        let headless = self.from_start && self.report.records == 0 && !is_meta;
        let unknown = line.version() > READER_VERSION || !is_known(type_name);
        let refused = (unknown && (is_meta || line.must_be_understood()))
            .then(|| Problem::Refused { type_name: type_name.into(), needed: line.version() });
        let lone = has_lone_surrogate(line.text()).then_some(Problem::LoneSurrogate);
        let headless = headless.then_some(Problem::NoSessionMeta);
        for problem in [headless, problem, edited, refused, lone].into_iter().flatten() {
            self.find(offset, len, number, problem);
        }
        if unknown {
            *self.report.unknown.entry(type_name.into()).or_default() += 1;
        }
        self.report.records += 1;
        self.report.next_ordinal = self.ordinals.next();
        self.seen.body |= !is_meta && type_name != "opened";
        self.report.contents = self.contents();
        line
    }

    fn damage(&mut self, offset: u64, len: u64, raw: &RawLine, problem: Problem) {
        let torn = raw.end == LineEnd::EndOfFile;
        if torn {
            self.report.torn_tail = Some(TornTail { offset, len });
        }
        self.seen.damage = true;
        self.find(offset, len, raw.number, if torn { Problem::TornTail } else { problem });
    }

    fn find(&mut self, offset: u64, len: u64, line: Option<u64>, problem: Problem) {
        self.report.findings.push(Finding { offset, len, line, problem });
        self.report.contents = self.contents();
    }

    const fn contents(&self) -> Contents {
        match (self.report.records, &self.seen) {
            (_, Seen { body: true, .. }) => Contents::Records,
            (1.., _) => Contents::HeaderOnly,
            (_, Seen { damage: true, .. }) => Contents::DamagedOnly,
            _ if self.report.blank_lines > 0 => Contents::BlankOnly,
            _ => Contents::Empty,
        }
    }
}

impl<R: Read> Iterator for RecordReader<R> {
    type Item = Result<LoggedLine, Error>;

    /// The next record; an error is the system's and ends reading.
    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if let Some(line) = self.ready.pop_front() {
                return Some(Ok(line));
            }
            if self.failed {
                return None;
            }
            match self.lines.next_line() {
                Ok(Some(raw)) => {
                    if let Some(line) = self.take_line(raw) {
                        return Some(Ok(line));
                    }
                }
                Ok(None) => {
                    self.report.contents = self.contents();
                    return None;
                }
                Err(source) => {
                    self.failed = true;
                    return Some(Err(Error::Io { action: "read", path: self.path.clone(), source }));
                }
            }
        }
    }
}

/// Says that this version knows the records of a type.
fn is_known(type_name: &str) -> bool {
    matches!(
        type_name,
        "session_meta"
            | "opened"
            | "turn_started"
            | "turn_ended"
            | "turn_aborted"
            | "item"
            | "world_state"
            | "turn_context"
            | "parts"
            | "sent"
            | "usage"
            | "rollback"
            | "checkpoint"
            | "notice"
    )
}
