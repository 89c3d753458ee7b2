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

/// Says why there is no answer, on standard error.
pub(crate) fn say(line: impl std::fmt::Display) {
    // The exit status says it too.
    drop(writeln!(io::stderr(), "addenda: {line}"));
}

/// Spreads compact JSON over lines, two blanks a level, and changes nothing else: order and spelling stay.
pub(crate) fn pretty(compact: &str) -> String {
    let mut out = String::with_capacity(compact.len() * 2);
    let mut depth = 0_usize;
    let mut letters = compact.chars().peekable();
    while let Some(letter) = letters.next() {
        match letter {
            '"' => {
                out.push('"');
                let mut escaped = false;
                for letter in letters.by_ref() {
                    out.push(letter);
                    if letter == '"' && !escaped {
                        break;
                    }
                    escaped = letter == '\\' && !escaped;
                }
            }
            '{' | '[' => {
                out.push(letter);
                if let Some(close) = letters.next_if(|next| matches!(next, '}' | ']')) {
                    out.push(close);
                } else {
                    depth += 1;
                    break_line(&mut out, depth);
                }
            }
            '}' | ']' => {
                depth = depth.saturating_sub(1);
                break_line(&mut out, depth);
                out.push(letter);
            }
            ',' => {
                out.push(letter);
                break_line(&mut out, depth);
            }
            ':' => out.push_str(": "),
            _ => out.push(letter),
        }
    }
    out
}

fn break_line(out: &mut String, depth: usize) {
    out.push('\n');
    out.extend(std::iter::repeat_n("  ", depth));
}

#[cfg(test)]
mod tests {
    use super::pretty;

    #[test]
    fn pretty_json_is_spread_as_serde_json_does_and_respells_nothing() {
        let compact = r#"{"b":[1,{"x":"a\"b,{\\"}],"a":{},"c":[],"d":null}"#;
        let value: serde_json::Value = serde_json::from_str(compact).unwrap();
        let sorted = serde_json::to_string(&value).unwrap();
        assert_eq!(pretty(&sorted), serde_json::to_string_pretty(&value).unwrap());
        assert_eq!(pretty(r#"{"n":1e2,"s":"\ud800"}"#), "{\n  \"n\": 1e2,\n  \"s\": \"\\ud800\"\n}");
    }
}
