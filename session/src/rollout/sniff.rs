//! Recognising what a file is.

use std::{
    fmt,
    io::{self, Read},
};

use context_fragments::json::{Json, Shape};

use super::line::Head;

/// How much of a file is looked at first: a head is found in the first bytes of a line.
const FIRST_LOOK: u64 = 8 * 1024;
/// How much is looked at if the first lines are damage.
const LOOK: u64 = 1024 * 1024;
const ZSTD: &[u8] = b"\x28\xB5\x2F\xFD";
const BYTE_ORDER_MARK: &[u8] = b"\xEF\xBB\xBF";

/// What a file was recognised as.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum LogFormat {
    /// A log of this crate.
    Own,
    /// A rollout of the `OpenAI` Codex CLI.
    Codex,
    /// A file compressed with zstd, as the Codex CLI keeps old rollouts.
    Zstd,
    /// A file with nothing in it.
    Empty,
    /// Nothing that is known.
    Unknown,
}

impl fmt::Display for LogFormat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Own => "a session log",
            Self::Codex => "a Codex rollout",
            Self::Zstd => "compressed with zstd",
            Self::Empty => "empty",
            Self::Unknown => "no log that is known",
        })
    }
}

/// Recognises a log by its first lines; damaged ones are passed over.
///
/// # Errors
/// What the system says when the file is read.
/// # Example
/// ```
/// use session::rollout::{LogFormat, sniff};
///
/// assert_eq!(sniff(&b"{\"timestamp\":\"2026-09-01T08:00:00.000Z\",\"type\":\"event_msg\",\"payload\":{}}\n"[..])?, LogFormat::Codex);
/// assert_eq!(sniff(&b"Dear diary\n"[..])?, LogFormat::Unknown);
/// # Ok::<(), std::io::Error>(())
/// ```
pub fn sniff(mut file: impl Read) -> io::Result<LogFormat> {
    let mut start = Vec::new();
    for look in [FIRST_LOOK, LOOK - FIRST_LOOK] {
        file.by_ref().take(look).read_to_end(&mut start)?;
        if start.starts_with(ZSTD) {
            return Ok(LogFormat::Zstd);
        }
        let text = start.strip_prefix(BYTE_ORDER_MARK).unwrap_or(&start);
        if let Some(found) = text.split(|&byte| byte == b'\n').find_map(format_of) {
            return Ok(found);
        }
    }
    let text = start.strip_prefix(BYTE_ORDER_MARK).unwrap_or(&start);
    let is_empty = text.iter().all(u8::is_ascii_whitespace);
    Ok(if is_empty { LogFormat::Empty } else { LogFormat::Unknown })
}

/// Recognises one line, which may be cut behind its head.
fn format_of(line: &[u8]) -> Option<LogFormat> {
    if Head::scan(line).is_some() {
        return Some(LogFormat::Own);
    }
    if is_codex_head(line) {
        return Some(LogFormat::Codex);
    }
    let json = Json::parse_bytes(line).ok().filter(|json| json.shape() == Shape::Object)?;
    let has = |key| json.member(key).is_some();
    match has("timestamp") && has("type") && has("payload") {
        true if has("v") || has("crc") => Some(LogFormat::Own),
        true => Some(LogFormat::Codex),
        false => None,
    }
}

/// `{"timestamp":"…"[,"ordinal":N],"type":"…","payload":`, without escapes.
fn is_codex_head(line: &[u8]) -> bool {
    let word = |rest: &'_ [u8]| rest.iter().position(|&byte| matches!(byte, b'"' | b'\\'));
    let rest = line.strip_prefix(b"{\"timestamp\":\"").and_then(|rest| rest[word(rest)?..].strip_prefix(b"\""));
    let rest = rest.map(|rest| match rest.strip_prefix(b",\"ordinal\":") {
        Some(number) => &number[number.iter().take_while(|byte| byte.is_ascii_digit()).count()..],
        None => rest,
    });
    let rest = rest.and_then(|rest| rest.strip_prefix(b",\"type\":\""));
    rest.and_then(|rest| rest[word(rest)?..].strip_prefix(b"\",\"payload\":")).is_some()
}
