//! `inspect`: what a log holds, turn by turn, and whether each prompt extends the one before.

mod document;
mod prompts;
mod rewrites;
mod tally;
mod walk;
mod words;

use std::{
    fs::File,
    io::{ErrorKind, Read},
    path::{Path, PathBuf},
    sync::Arc,
};

use session::rollout::{Contents, Events, LogFormat, LogSource, ReadLimits, SessionFolder};

use crate::{
    args::Inspect,
    exit::{Answer, Failure},
    output,
};

pub(crate) fn run(args: &Inspect) -> Result<Answer, Failure> {
    let path = log_path(&args.rollout);
    let shown = args.rollout.display();
    check(&path).map_err(|error| Failure::new(format_args!("{shown}: {error}")))?;
    let source = LogSource::open(&path).map_err(|error| Failure::of(&error))?;
    let folder = SessionFolder::new(path.parent().unwrap_or(Path::new("")));
    let events = Events::from_source(source, ReadLimits::default(), path.clone()).with_blobs(Arc::new(folder));
    if events.format() == LogFormat::Unknown && !may_begin_a_record(&path) {
        return Err(Failure::new(format_args!("{shown}: neither a session log nor a Codex rollout")));
    }
    let document = walk::walk(events)?;
    if document.recovery.records == 0 {
        let contents = document.recovery.contents;
        output::say(format_args!("{shown}: no complete record in it: {contents}"));
        return Ok(Answer::No);
    }
    if args.json {
        let compact = serde_json::to_string(&document).map_err(|error| Failure::of(&error))?;
        return output::print(&output::pretty(&compact));
    }
    output::print(&words::told(&document))
}

/// A session is a folder; the log is in it.
fn log_path(given: &Path) -> PathBuf {
    if !given.is_dir() {
        return given.to_owned();
    }
    let folder = SessionFolder::new(given);
    let packed = folder.compressed_log_path();
    if !folder.log_path().exists() && packed.exists() { packed } else { folder.log_path() }
}

/// Makes sure that it is a regular file that can be opened; a pipe or a device could keep the command waiting for ever.
fn check(path: &Path) -> Result<(), String> {
    let words = |error: std::io::Error| match error.kind() {
        ErrorKind::NotFound => "no such file".to_owned(),
        ErrorKind::PermissionDenied => "permission denied".to_owned(),
        _ => error.to_string(),
    };
    if !path.metadata().map_err(words)?.is_file() {
        return Err("not a regular file".to_owned());
    }
    File::open(path).map(drop).map_err(words)
}

/// Says that a file may hold the beginning of its first record and nothing else: it was cut there.
fn may_begin_a_record(path: &Path) -> bool {
    const START: &[u8] = b"{\"timestamp\":\"";
    let mut head = Vec::new();
    let read = File::open(path).and_then(|file| file.take(1024 * 1024).read_to_end(&mut head));
    let head = head.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(&head);
    read.is_ok() && !head.contains(&b'\n') && (head.starts_with(START) || START.starts_with(head))
}

/// What the whole of a log amounts to, in the words of an empty answer.
pub(crate) const fn contents_name(contents: Contents) -> &'static str {
    match contents {
        Contents::Empty => "empty",
        Contents::BlankOnly => "blank_only",
        Contents::DamagedOnly => "damaged_only",
        Contents::HeaderOnly => "header_only",
        _ => "records",
    }
}
