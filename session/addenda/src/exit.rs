//! How the command ends: 0, or 1 where the answer is "no", or 2 for bad use and bad input.

use std::{fmt::Display, io::Write, process::ExitCode};

use crate::output;

/// What a verb found out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Answer {
    /// All is as it should be, or what was asked for is printed.
    Yes,
    /// There is nothing in it, or a check failed.
    No,
}

impl From<Answer> for ExitCode {
    fn from(answer: Answer) -> Self {
        match answer {
            Answer::Yes => Self::SUCCESS,
            Answer::No => Self::FAILURE,
        }
    }
}

/// Why a verb could not do its work: one line that names the input.
#[derive(Debug)]
pub(crate) struct Failure(String);

impl Failure {
    pub(crate) fn new(reason: impl Display) -> Self {
        Self(reason.to_string())
    }

    /// Adds the causes of an error behind its own words, in the same line.
    pub(crate) fn of(error: &dyn std::error::Error) -> Self {
        let mut line = error.to_string();
        let mut cause = error.source();
        while let Some(error) = cause {
            line.push_str(": ");
            line.push_str(&error.to_string());
            cause = error.source();
        }
        Self(line)
    }

    /// Says the line on standard error and gives the exit status.
    pub(crate) fn report(self) -> ExitCode {
        let line = output::one_line(&self.0);
        // Nothing can be said if standard error is closed; the exit status still speaks.
        drop(writeln!(std::io::stderr(), "addenda: {line}"));
        ExitCode::from(2)
    }
}
