//! Going on from a log as it is usually done, of our own writing: each line becomes a tree, the tree is copied and read into
//! types, and all of the log is held until the history is rebuilt from it.
//!
//! # Shape
//! The lines are those of the design that is in use: a type and a payload beside each other, read by a derived reader that
//! flattens them into the line; compactions hold the history that replaced what stood before. It has no checksums, no
//! positions and no metadata, so its log of the same conversation is a little shorter than ours and costs less to read.

use std::{
    fs::File,
    io::{self, BufRead as _, BufReader},
    path::Path,
};

use context_fragments::json::ObjectWriter;
use serde::Deserialize;
use serde_json::Value;

use crate::naive::{Envelope, Item};

/// One line, read into types.
#[derive(Deserialize)]
struct Line {
    #[expect(dead_code, reason = "the design in use keeps it with each entry")]
    timestamp: String,
    #[serde(flatten)]
    entry: Entry,
}

/// What a line says.
#[derive(Deserialize)]
#[serde(tag = "type", content = "payload", rename_all = "snake_case")]
enum Entry {
    SessionMeta(#[expect(dead_code, reason = "nothing of it is needed for the items")] Value),
    ResponseItem(Item),
    Compacted(Compacted),
    EventMsg(#[expect(dead_code, reason = "nothing of it is needed for the items")] Event),
}

/// A compaction, and what stands in the place of all items before it.
#[derive(Deserialize)]
struct Compacted {
    #[expect(dead_code, reason = "the design in use keeps it")]
    message: String,
    replacement_history: Option<Vec<Item>>,
}

/// Where a turn begins and ends.
#[derive(Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
#[expect(dead_code, reason = "nothing of it is needed for the items")]
enum Event {
    TaskStarted { turn_id: String },
    TaskComplete { turn_id: String },
}

fn line(timestamp: &str, type_name: &str, payload: &str) -> String {
    let mut line = ObjectWriter::new();
    line.string("timestamp", timestamp).string("type", type_name).raw("payload", payload);
    line.finish() + "\n"
}

/// The first line of a log.
#[must_use]
pub fn header_line(timestamp: &str, session_id: &str) -> String {
    let mut payload = ObjectWriter::new();
    payload.string("id", session_id).string("timestamp", timestamp).string("cwd", "/home/user/project");
    line(timestamp, "session_meta", &payload.finish())
}

/// The line of an item whose JSON is `item`.
#[must_use]
pub fn item_line(timestamp: &str, item: &str) -> String {
    line(timestamp, "response_item", item)
}

/// The line that a turn begins or ends with; `event` is `task_started` or `task_complete`.
#[must_use]
pub fn event_line(timestamp: &str, event: &str, turn_id: &str) -> String {
    let mut payload = ObjectWriter::new();
    payload.string("type", event).string("turn_id", turn_id);
    line(timestamp, "event_msg", &payload.finish())
}

/// The line of a compaction that leaves these items.
#[must_use]
pub fn compacted_line(timestamp: &str, window: &[String]) -> String {
    let mut payload = ObjectWriter::new();
    payload.string("message", "").raw("replacement_history", &format!("[{}]", window.join(",")));
    line(timestamp, "compacted", &payload.finish())
}

/// Reads the log at `path` and rebuilds its history: all lines into memory, then the newest replacement history and the
/// items behind it. Lines that are none of a log are passed over.
///
/// # Errors
/// What the system says of the file.
pub fn resume(path: &Path) -> io::Result<Vec<Envelope>> {
    let mut entries = Vec::new();
    for line in BufReader::new(File::open(path)?).lines() {
        let Ok(value) = serde_json::from_str::<Value>(&line?) else { continue };
        if let Ok(line) = serde_json::from_value::<Line>(value.clone()) {
            entries.push(line);
        }
    }
    let replacement = |line: &Line| match &line.entry {
        Entry::Compacted(compacted) => compacted.replacement_history.clone(),
        _ => None,
    };
    let newest = entries.iter().enumerate().rev().find_map(|(at, line)| Some((at, replacement(line)?)));
    let (from, window) = newest.map_or((0, Vec::new()), |(at, window)| (at + 1, window));
    let behind = entries[from..].iter().filter_map(|line| match &line.entry {
        Entry::ResponseItem(item) => Some(item.clone()),
        _ => None,
    });
    Ok(window.into_iter().chain(behind).map(|item| Envelope { item, metadata: None }).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::corpus;

    #[test]
    fn a_log_is_read_back_from_its_newest_compaction_on() {
        let items: Vec<String> = corpus::conversation(12).iter().map(corpus::Spec::json).collect();
        let at = "2026-10-20T08:00:00.123Z";
        let log = [
            header_line(at, "s1"),
            event_line(at, "task_started", "turn-1"),
            item_line(at, &items[0]),
            compacted_line(at, &items[1..4]),
            item_line(at, &items[4]),
            "half a li".to_owned(),
            item_line(at, &items[5]),
            compacted_line(at, &items[6..10]),
            item_line(at, &items[10]),
            event_line(at, "task_complete", "turn-1"),
            item_line(at, &items[11]),
        ];
        let folder = tempfile::tempdir().expect("there is a temporary folder");
        let path = folder.path().join("log");
        std::fs::write(&path, log.concat()).expect("the disk has room");
        let found = resume(&path).expect("it can be read");
        let found: Vec<_> = found.iter().map(|envelope| serde_json::to_string(&envelope.item).ok()).collect();
        assert_eq!(found, items[6..].iter().cloned().map(Some).collect::<Vec<_>>());
    }
}
