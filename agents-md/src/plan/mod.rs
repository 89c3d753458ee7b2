//! Which paths to ask for next, and what the answers mean. No disk is touched here.

mod board;
mod search;
mod verdict;
mod mended;
mod reference;
mod finish;
mod imports;
mod nested;

use board::Board;

use crate::{
    ask::{ProbeAnswer, ProbeAsk, ReadAnswer, ReadAsk},
    discovery::Discovery,
    document::LoadedAgentsMd,
    error::Error,
    evidence::Gather,
    inputs::Inputs,
    nested::NestedTargets,
};

/// A discovery that does no I/O: it says what to ask, takes the answers, and says what to ask next.
///
/// At most three rounds come before the end: the markers of every folder above the working folders with the
/// user's files; the candidates from the roots down; the files that are there. Where references are followed
/// ([`Discovery::imports`]), each level of them adds two rounds.
///
/// # Example
/// ```
/// use agents_md::{Discovery, FileSystem, Inputs, MemoryFs, Plan, Step};
///
/// let fs = MemoryFs::new().with_folder("/r/.git").with_file("/r/AGENTS.md", "Use tabs.");
/// let mut step = Plan::start(&Discovery::default(), &Inputs::local("/r"))?;
/// let loaded = loop {
///     step = match step {
///         Step::Probe(round) => round.answer_each(|ask| fs.probe(ask).0)?,
///         Step::Read(round) => round.answer_each(|ask| fs.read(ask, None))?,
///         Step::Done(loaded) => break loaded,
///     };
/// };
/// assert_eq!(loaded.text(), "Use tabs.");
/// # Ok::<(), agents_md::Error>(())
/// ```
#[derive(Debug)]
#[expect(clippy::exhaustive_structs, reason = "a name to start from; the state is in the steps")]
pub struct Plan;

impl Plan {
    /// Says what to ask first; nothing, if there is nothing to look for.
    ///
    /// # Errors
    /// [`Error::RelativeFolder`] if a folder of the inputs is not absolute.
    pub fn start(discovery: &Discovery, inputs: &Inputs) -> Result<Step, Error> {
        Self::start_gathering(discovery, inputs, Gather::Nothing)
    }

    pub(crate) fn start_gathering(discovery: &Discovery, inputs: &Inputs, gather: Gather) -> Result<Step, Error> {
        let mut board = Board::new(discovery, inputs)?;
        board.gather = gather;
        ProbeRound { board: Box::new(board), first: 0 }.or_next()
    }

    /// Says what to ask for the instruction files of folders that tools have reached.
    ///
    /// # Errors
    /// As [`start`](Self::start).
    pub(crate) fn start_nested(
        discovery: &Discovery,
        inputs: &Inputs,
        startup: &LoadedAgentsMd,
        targets: &NestedTargets,
    ) -> Result<Step, Error> {
        let board = Board::nested(discovery, inputs, startup, targets)?;
        ProbeRound { board: Box::new(board), first: 0 }.or_next()
    }
}

/// What a discovery needs next.
#[derive(Debug)]
#[expect(clippy::exhaustive_enums, reason = "a driver must handle every step")]
pub enum Step {
    /// Paths to look at.
    Probe(ProbeRound),
    /// Files to read.
    Read(ReadRound),
    /// Nothing: it is done.
    Done(Box<LoadedAgentsMd>),
}

/// A batch of paths to look at.
#[derive(Debug)]
pub struct ProbeRound {
    board: Box<Board>,
    first: usize,
}

impl ProbeRound {
    /// The paths; each is in no other batch of this discovery.
    #[must_use]
    pub fn asks(&self) -> &[ProbeAsk] {
        &self.board.asks[self.first..]
    }

    /// Takes one answer for each ask, in their order.
    ///
    /// # Errors
    /// [`Error::AnswerCount`] for another number of answers; what [`ReadRound::answer`] says if no
    /// file is there to be read.
    pub fn answer(mut self, answers: Vec<ProbeAnswer>) -> Result<Step, Error> {
        check_count(self.asks().len(), answers.len())?;
        for (slot, answer) in (self.first..).zip(answers) {
            self.board.probed(slot, answer);
        }
        self.next()
    }

    /// Asks one path at a time, and leaves out those that an earlier answer has made useless.
    ///
    /// # Errors
    /// What [`ReadRound::answer`] says if no file is there to be read.
    pub fn answer_each(mut self, mut probe: impl FnMut(&ProbeAsk) -> ProbeAnswer) -> Result<Step, Error> {
        for slot in self.first..self.board.asks.len() {
            if self.board.is_probe_needed(slot) {
                let answer = probe(&self.board.asks[slot]);
                self.board.probed(slot, answer);
            }
        }
        self.next()
    }

    fn next(mut self) -> Result<Step, Error> {
        let first = self.board.asks.len();
        if self.board.plan_candidates() {
            return Self { board: self.board, first }.or_next();
        }
        let asks = self.board.plan_reads();
        if asks.is_empty() {
            return after_reads(self.board);
        }
        Ok(Step::Read(ReadRound { board: self.board, asks }))
    }

    fn or_next(self) -> Result<Step, Error> {
        if self.asks().is_empty() { self.next() } else { Ok(Step::Probe(self)) }
    }
}

/// A batch of files to read.
#[derive(Debug)]
pub struct ReadRound {
    board: Box<Board>,
    asks: Vec<ReadAsk>,
}

impl ReadRound {
    /// The files.
    #[must_use]
    pub fn asks(&self) -> &[ReadAsk] {
        &self.asks
    }

    /// Takes one answer for each ask, in their order.
    ///
    /// # Errors
    /// [`Error::AnswerCount`] for another number of answers; [`Error::Access`] or
    /// [`Error::Environment`] for a file that could not be looked at or read where that is an error.
    pub fn answer(mut self, answers: Vec<ReadAnswer>) -> Result<Step, Error> {
        check_count(self.asks.len(), answers.len())?;
        for (ask, answer) in self.asks.iter().zip(answers) {
            self.board.read(ask, answer);
        }
        after_reads(self.board)
    }

    /// Reads one file at a time, and leaves out those that an earlier answer has made useless.
    ///
    /// # Errors
    /// [`Error::Access`] or [`Error::Environment`] for a file that could not be looked at or read
    /// where that is an error.
    pub fn answer_each(mut self, mut read: impl FnMut(&ReadAsk) -> ReadAnswer) -> Result<Step, Error> {
        for ask in &self.asks {
            if self.board.is_read_needed(ask.slot) {
                let answer = read(ask);
                self.board.read(ask, answer);
            }
        }
        after_reads(self.board)
    }
}

/// Asks for what the files that were read refer to, or ends.
fn after_reads(mut board: Box<Board>) -> Result<Step, Error> {
    match board.plan_imports() {
        Some(first) => Ok(Step::Probe(ProbeRound { board, first })),
        None => board.finish(),
    }
}

fn check_count(asked: usize, answered: usize) -> Result<(), Error> {
    if asked == answered { Ok(()) } else { Err(Error::AnswerCount { asked, answered }) }
}
