//! Reading rollouts of the `OpenAI` Codex CLI: a plain forward pass into the words of the own format.

mod item;
mod line;
mod compacted;
mod event_msg;

use std::{collections::VecDeque, io::Read, path::PathBuf};

use context_fragments::json::Json;

use self::line::{CodexLine, translate};
use super::{
    event::ReplayEvent,
    judge::{Trust, has_lone_surrogate},
    limits::ReadLimits,
    line::{LINE_START, find},
    lines::{LineEnd, LineReader, RawLine},
    ordinals::{Ordinals, Place},
    record::{Record, RolloutItem},
    report::{Contents, Finding, Problem, RecoveryReport, TornTail},
};
use crate::{Error, rollout::RawJson};

/// How many starts of a line are tried on one damaged line: a bound on the work.
const MAX_STARTS: usize = 32;

/// Reads a Codex rollout of any generation, line by line, and never stops at damage.
///
/// The format has no checksum and, before version 0.149, no ordinals: an edited line is not noticed.
/// [`Events`](super::Events) makes it for a file that it recognises.
#[derive(Debug)]
pub struct CodexReader<R> {
    lines: LineReader<R>,
    limits: ReadLimits,
    ordinals: Ordinals,
    ready: VecDeque<ReplayEvent>,
    report: RecoveryReport,
    failed: bool,
    path: PathBuf,
}

impl<R: Read> CodexReader<R> {
    /// Reads a rollout from its start.
    pub fn new(inner: R) -> Self {
        Self::with_limits(inner, ReadLimits::default())
    }

    /// Reads a rollout from its start, with other limits.
    pub fn with_limits(inner: R, limits: ReadLimits) -> Self {
        Self {
            lines: LineReader::new(inner, 0, limits.max_line_bytes),
            limits,
            ordinals: Ordinals::default(),
            ready: VecDeque::new(),
            report: RecoveryReport::default(),
            failed: false,
            path: PathBuf::new(),
        }
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

    fn take_line(&mut self, raw: &RawLine) {
        let ended = raw.end != LineEnd::EndOfFile;
        if raw.byte_order_mark {
            self.find(raw.offset, 3, raw.number, Problem::ByteOrderMark);
        }
        if raw.end == LineEnd::CarriageReturn {
            self.report.crlf_lines += 1;
        }
        if ended {
            self.report.append_at = raw.offset + raw.len;
        }
        if raw.is_blank() {
            self.report.blank_lines += 1;
            return self.set_contents(Contents::BlankOnly);
        }
        if raw.too_long {
            let problem = Problem::TooLong { limit: self.limits.max_line_bytes };
            return self.damage(raw.offset, raw.len, raw, problem);
        }
        // A write that was torn and then repeated leaves half a line and a whole one on one line.
        let start = if Json::parse_bytes(&raw.bytes).is_ok() { 0 } else { whole_end(&raw.bytes).unwrap_or(0) };
        let (torn, line) = raw.bytes.split_at(start);
        if !torn.is_empty() && self.read(torn, raw.text_offset(), raw.number).is_err() {
            self.find(raw.text_offset(), torn.len() as u64, raw.number, Problem::Fused);
        }
        let (offset, len) = (raw.text_offset() + start as u64, line.len() as u64);
        match self.read(line, offset, raw.number) {
            Ok(()) if ended => {}
            Ok(()) => {
                self.report.append_at = offset + len;
                self.find(offset, len, raw.number, Problem::Unterminated);
            }
            Err(problem) => self.damage(offset, len, raw, problem),
        }
    }

    fn damage(&mut self, offset: u64, len: u64, raw: &RawLine, problem: Problem) {
        let torn = raw.end == LineEnd::EndOfFile;
        if torn {
            self.report.torn_tail = Some(TornTail { offset, len });
        }
        self.set_contents(Contents::DamagedOnly);
        self.find(offset, len, raw.number, if torn { Problem::TornTail } else { problem });
    }

    /// Delivers one line, or says why it is none.
    fn read(&mut self, bytes: &[u8], offset: u64, number: Option<u64>) -> Result<(), Problem> {
        let at = |error: std::str::Utf8Error| Problem::NotUtf8 { at: offset + error.valid_up_to() as u64 };
        let text = std::str::from_utf8(bytes).map_err(at)?;
        let json = Json::parse(text).map_err(|_| Problem::NotJson)?;
        let line = CodexLine::parse(json).map_err(|missing| Problem::NotRecord { missing })?;
        let len = text.len() as u64;
        let (place, problem) = line.ordinal.map_or((Place::InOrder, None), |ordinal| self.ordinals.see(ordinal));
        let lone = has_lone_surrogate(text).then_some(Problem::LoneSurrogate);
        for problem in [problem, lone].into_iter().flatten() {
            self.find(offset, len, number, problem);
        }
        let record = translate(&line, &mut self.report.unknown).unwrap_or_else(|error| {
            self.find(offset, len, number, Problem::Misshapen { reason: error.to_string() });
            let payload = RawJson::from_json(line.payload);
            Record::from(RolloutItem::Other { type_name: line.type_name.to_string(), version: 0, payload })
        });
        if matches!(&record.item, RolloutItem::SessionMeta(meta) if meta.history_base.is_some()) {
            self.find(offset, len, number, Problem::HistoryElsewhere);
        }
        self.report.records += 1;
        self.report.next_ordinal = self.ordinals.next();
        let is_header = matches!(record.item, RolloutItem::SessionMeta(_));
        self.set_contents(if is_header { Contents::HeaderOnly } else { Contents::Records });
        self.ready.push_back(ReplayEvent {
            offset,
            ordinal: line.ordinal,
            timestamp: line.timestamp.into(),
            trust: Trust::Unchecked,
            place,
            record,
        });
        Ok(())
    }

    fn find(&mut self, offset: u64, len: u64, line: Option<u64>, problem: Problem) {
        self.report.findings.push(Finding { offset, len, line, problem });
    }

    /// Keeps the richest of what was met.
    fn set_contents(&mut self, met: Contents) {
        let rank = |contents| match contents {
            Contents::Empty => 0,
            Contents::BlankOnly => 1,
            Contents::DamagedOnly => 2,
            Contents::HeaderOnly => 3,
            Contents::Records => 4,
        };
        if rank(met) > rank(self.report.contents) {
            self.report.contents = met;
        }
    }
}

impl<R: Read> Iterator for CodexReader<R> {
    type Item = Result<ReplayEvent, Error>;

    /// The next event; an error is the system's and ends reading.
    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if let Some(event) = self.ready.pop_front() {
                return Some(Ok(event));
            }
            if self.failed {
                return None;
            }
            match self.lines.next_line() {
                Ok(Some(raw)) => self.take_line(&raw),
                Ok(None) => return None,
                Err(source) => {
                    self.failed = true;
                    return Some(Err(Error::Io { action: "read", path: self.path.clone(), source }));
                }
            }
        }
    }
}

/// Where the whole line starts that ends a line of damage.
fn whole_end(line: &[u8]) -> Option<usize> {
    let mut from = 1;
    for _ in 0..MAX_STARTS {
        let start = from + find(line.get(from..)?, LINE_START)?;
        if Json::parse_bytes(&line[start..]).is_ok() {
            return Some(start);
        }
        from = start + 1;
    }
    None
}
