//! Writing to the standard streams.

use std::io::{self, ErrorKind, Write};

use crate::exit::{Answer, Failure};

/// Prints `text` and a line feed on standard output, in one go, so that a failure before this point leaves it empty.
///
/// A reader that has seen enough and closes the pipe is no failure.
pub(crate) fn print(text: &str) -> Result<Answer, Failure> {
    let mut out = io::stdout().lock();
    let written = out.write_all(text.as_bytes()).and_then(|()| match text.ends_with('\n') {
        true => out.flush(),
        false => out.write_all(b"\n").and_then(|()| out.flush()),
    });
    match written {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => {
            Err(Failure::new(format_args!("could not write to standard output: {error}")))
        }
        _ => Ok(Answer::Yes),
    }
}

/// Says something beside the answer on standard error.
pub(crate) fn warn(line: impl std::fmt::Display) {
    // A warning that nobody can read does not spoil the answer.
    drop(writeln!(io::stderr(), "addenda: warning: {line}"));
}
