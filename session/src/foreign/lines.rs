//! The lines of a foreign file, as they stand.

use std::io::{BufRead, Read as _};

use context_fragments::json;

use super::{CODEX_LINE, Loss, Losses};
use crate::rollout::{Draft, RawJson, ReadLimits, RolloutItem};

/// A byte order mark, which belongs to the file and to no line.
const MARK: &[u8] = b"\xEF\xBB\xBF";

/// Reads the next line without its line feed; none at the end.
pub(super) fn next_line(reader: &mut impl BufRead, number: u64) -> std::io::Result<Option<Vec<u8>>> {
    let limit = ReadLimits::default().max_line_bytes as u64;
    let mut line = Vec::new();
    // One byte more than a line may have says that it is too long; the rest of it is read as a line that is no JSON.
    let read = reader.take(limit.saturating_add(1)).read_until(b'\n', &mut line)?;
    if read == 0 {
        return Ok(None);
    }
    if line.last() == Some(&b'\n') {
        line.pop();
    }
    if number == 1 && line.starts_with(MARK) {
        line.drain(..MARK.len());
    }
    Ok(Some(line))
}

/// The record that keeps a line; none for what is no text.
pub(super) fn record_of(line: Vec<u8>, number: u64, losses: &mut Losses) -> Option<Draft> {
    let text = match String::from_utf8(line) {
        Ok(text) => text,
        Err(error) => {
            let at = error.utf8_error().valid_up_to();
            losses.push(Loss::Line { line: number, reason: format!("it is no UTF-8 behind byte {at}") });
            return None;
        }
    };
    let is_plain = json::compact(&text).is_ok_and(|compact| compact == text);
    let payload = match RawJson::parse(&text) {
        Ok(line) if is_plain && text.starts_with('{') => line,
        _ => RawJson::string(&text),
    };
    Some(RolloutItem::Other { type_name: CODEX_LINE.into(), version: 1, payload }.into())
}

/// The line that a record keeps.
pub(super) fn line_of(payload: &RawJson) -> String {
    payload.json().to_str().map_or_else(|| payload.as_str().to_owned(), String::from)
}
