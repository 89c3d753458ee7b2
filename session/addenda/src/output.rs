//! Writing to the standard streams.

use std::io::{self, ErrorKind, IsTerminal, Write};

use crate::exit::{Answer, Failure};

/// Prints `text` and a line feed on standard output, in one go, so that a failure before this point leaves it empty.
///
/// A reader that has seen enough and closes the pipe is no failure.
pub(crate) fn print(text: &str) -> Result<Answer, Failure> {
    write(text.trim_end_matches('\n'), "\n")
}

/// Prints a document as indented JSON.
pub(crate) fn print_json(document: &impl serde::Serialize) -> Result<Answer, Failure> {
    let compact = serde_json::to_string(document).map_err(|error| Failure::of(&error))?;
    print(&pretty(&compact))
}

/// Prints `text` and nothing else, but for the line feed that a person at a terminal needs.
pub(crate) fn print_exactly(text: &str) -> Result<Answer, Failure> {
    write(text, if io::stdout().is_terminal() { "\n" } else { "" })
}

fn write(text: &str, end: &str) -> Result<Answer, Failure> {
    let written = stdout().and_then(|mut out| {
        out.write_all(text.as_bytes())?;
        out.write_all(end.as_bytes())?;
        out.flush()
    });
    match written {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => {
            Err(Failure::new(format_args!("could not write to standard output: {error}")))
        }
        _ => Ok(Answer::Yes),
    }
}

/// Standard output as a file: the standard library's own takes one that cannot be written for one that swallows all.
#[cfg(unix)]
fn stdout() -> io::Result<impl Write> {
    use std::os::fd::AsFd;

    io::stdout().as_fd().try_clone_to_owned().map(std::fs::File::from)
}

#[cfg(not(unix))]
fn stdout() -> io::Result<impl Write> {
    Ok(io::stdout().lock())
}

/// Says something beside the answer on standard error.
pub(crate) fn warn(line: impl std::fmt::Display) {
    // A warning that nobody can read does not spoil the answer.
    drop(writeln!(io::stderr(), "addenda: warning: {}", one_line(&line.to_string())));
}

/// `text` with its control characters spelled as escapes: the name of a file must neither break the line that a person
/// reads nor steer the terminal.
pub(crate) fn one_line(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            // These break or turn around a line without being control characters.
            '\u{2028}' | '\u{2029}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => {
                out.extend(letter.escape_unicode());
            }
            _ if letter.is_control() => out.extend(letter.escape_default()),
            _ => out.push(letter),
        }
    }
    out
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
    use super::{one_line, pretty};

    #[test]
    fn a_line_stays_a_line_and_steers_no_terminal() {
        assert_eq!(one_line("a\nb\r\t\u{1b}[31m\u{9b}1m\0\u{7f}"), r"a\nb\r\t\u{1b}[31m\u{9b}1m\u{0}\u{7f}");
        assert_eq!(one_line("\u{202e}a\u{2028}b\u{2069}"), r"\u{202e}a\u{2028}b\u{2069}");
        assert_eq!(one_line("é 😀 \u{fffd} \\ '"), "é 😀 \u{fffd} \\ '");
    }

    #[test]
    fn pretty_json_is_spread_as_serde_json_does_and_respells_nothing() {
        let compact = r#"{"b":[1,{"x":"a\"b,{\\"}],"a":{},"c":[],"d":null}"#;
        let value: serde_json::Value = serde_json::from_str(compact).unwrap();
        let sorted = serde_json::to_string(&value).unwrap();
        assert_eq!(pretty(&sorted), serde_json::to_string_pretty(&value).unwrap());
        assert_eq!(pretty(r#"{"n":1e2,"s":"\ud800"}"#), "{\n  \"n\": 1e2,\n  \"s\": \"\\ud800\"\n}");
    }
}
