//! The lines from which a session goes on, of a log that is read forwards.

use std::{collections::VecDeque, io::Read};

use super::{
    judge::Trust,
    limits::{OpenLimits, READER_VERSION},
    line::Layout,
    logged::LoggedLine,
    ordinals::Place,
    reader::RecordReader,
    report::{Finding, Problem},
    tail::RecordPlace,
};
use crate::Error;

/// A line that may be superseded before anybody reads it, as small as it can be.
#[derive(Debug)]
pub(super) enum HeldLine {
    /// As its writer wrote it: where its parts stand is found again when it is read.
    Whole { text: Box<str>, offset: u64, place: Place },
    /// Any other; there are few.
    Other(Box<LoggedLine>),
}

impl HeldLine {
    fn new(line: LoggedLine) -> Self {
        if line.trust() != Trust::Whole {
            return Self::Other(Box::new(line));
        }
        let (offset, place) = (line.offset(), line.place());
        Self::Whole { text: line.into_text().into(), offset, place }
    }

    /// The line as it was read.
    ///
    /// It was one before, so that there is none is no case that is met.
    pub(super) fn into_line(self) -> Option<LoggedLine> {
        match self {
            Self::Other(line) => Some(*line),
            Self::Whole { text, offset, place } => {
                let layout = Layout::in_order(text.as_bytes())?;
                Some(LoggedLine::standing_at(text.into(), layout, offset, Trust::Whole, place))
            }
        }
    }
}

/// What counts of the lines so far.
#[derive(Debug, Default)]
pub(super) struct Forward {
    /// The newest undamaged checkpoint.
    pub(super) checkpoint: Option<RecordPlace>,
    /// The header, where it stands before the checkpoint.
    pub(super) header: Option<LoggedLine>,
    /// What became of the turn in which the checkpoint stands.
    pub(super) turn: Vec<LoggedLine>,
    /// The lines from the checkpoint on, or all of them.
    pub(super) lines: VecDeque<HeldLine>,
    /// The bytes of these lines.
    n_bytes: u64,
    first: Option<LoggedLine>,
    turn_start: Option<LoggedLine>,
    turn_end: Option<LoggedLine>,
}

/// Why reading ended early.
pub(super) enum Stopped {
    /// The system's reason.
    Failed(Error),
    /// The line that starts there would not fit.
    OverLimit(u64),
}

impl Forward {
    /// Reads all lines and checks each, and keeps those that count: what stands before a checkpoint is dropped and never
    /// decoded. What was found before it goes too, but for the header, as if reading had started there.
    ///
    /// The limit is on the bytes of the lines that are held at once.
    pub(super) fn read<R: Read>(reader: &mut RecordReader<R>, limits: OpenLimits) -> Result<Self, Stopped> {
        let mut forward = Self::default();
        loop {
            let n_findings = reader.report().findings.len();
            if let Some(max_bytes) = limits.max_bytes {
                let left = usize::try_from(max_bytes.saturating_sub(forward.n_bytes)).unwrap_or(usize::MAX);
                reader.limit_line(left.min(limits.read.max_line_bytes));
            }
            let line = reader.next();
            if limits.max_bytes.is_some()
                && let Some(offset) = reader.report().too_long_since(n_findings)
            {
                return Err(Stopped::OverLimit(offset));
            }
            match line {
                None => return Ok(forward),
                Some(Err(error)) => return Err(Stopped::Failed(error)),
                Some(Ok(line)) => forward.take(line, reader),
            }
        }
    }

    fn take<R: Read>(&mut self, mut line: LoggedLine, reader: &mut RecordReader<R>) {
        if line.trust() == Trust::Whole {
            match line.type_name() {
                "checkpoint" if line.version() <= READER_VERSION => line = self.restart(line, reader),
                "turn_started" => (self.turn_start, self.turn_end) = (Some(line.clone()), None),
                "turn_ended" | "turn_aborted" => self.turn_end = Some(line.clone()),
                _ => {}
            }
        }
        self.first.get_or_insert_with(|| line.clone());
        self.n_bytes += line.text().len() as u64;
        self.lines.push_back(HeldLine::new(line));
    }

    /// Drops what stands before the checkpoint, and gives the checkpoint as the first record there is.
    fn restart<R: Read>(&mut self, checkpoint: LoggedLine, reader: &mut RecordReader<R>) -> LoggedLine {
        let place = RecordPlace { offset: checkpoint.offset(), ordinal: checkpoint.ordinal() };
        self.header = self.first.clone();
        self.turn =
            [&self.turn_start, &self.turn_end].into_iter().flatten().cloned().map(LoggedLine::in_order).collect();
        self.lines.clear();
        self.n_bytes = 0;
        self.checkpoint = Some(place);
        // What was found up to the first record is of the log as a whole; where an ordinal stands is of what went.
        let first = self.first.as_ref().map_or(place.offset, LoggedLine::offset);
        let stays = |found: &Finding| match &found.problem {
            _ if found.offset <= first => true,
            Problem::OrdinalsMissing { .. } | Problem::OrdinalRepeated { .. } | Problem::OrdinalOutOfOrder { .. } => {
                found.offset > place.offset
            }
            _ => found.offset >= place.offset,
        };
        reader.report_mut().findings.retain(stays);
        reader.count_from(place.ordinal);
        checkpoint.in_order()
    }
}
