//! `fsck`: whether a log and its blobs are sound.

use serde::Serialize;
use session::rollout::{BlobProblem, Checked, LogFormat, fsck};

use super::inspect::contents_name;
use crate::{
    args::OneLog,
    exit::{Answer, Failure},
    output,
    progress::Bar,
};

/// What was found, as data.
#[derive(Debug, Serialize)]
struct Document {
    sound: bool,
    format: &'static str,
    records: u64,
    contents: &'static str,
    /// A session must not be gone on from the log unless someone decides so.
    resumable: bool,
    findings: Vec<Found>,
    torn_tail: Option<Tail>,
    n_blobs: u64,
    blobs: Vec<Blob>,
    unnamed_blobs: Vec<String>,
}

#[derive(Debug, Serialize)]
struct Found {
    offset: u64,
    len: u64,
    line: Option<u64>,
    problem: String,
    damage: bool,
}

#[derive(Debug, Serialize)]
struct Tail {
    offset: u64,
    len: u64,
}

#[derive(Debug, Serialize)]
struct Blob {
    sha256: String,
    named_at: u64,
    problem: &'static str,
}

pub(crate) fn run(args: &OneLog) -> Result<Answer, Failure> {
    let mut bar = Bar::new();
    let checked = fsck(&args.log, &mut |progress| bar.tell(progress)).map_err(|error| Failure::of(&error))?;
    drop(bar);
    let document = Document::of(&checked);
    let answer = if checked.is_sound() { Answer::Yes } else { Answer::No };
    if args.json {
        output::print_json(&document)?;
        return Ok(answer);
    }
    output::print(&document.in_words(&args.log.display().to_string()))?;
    Ok(answer)
}

pub(super) const fn format_name(format: LogFormat) -> &'static str {
    match format {
        LogFormat::Own => "own",
        LogFormat::Codex => "codex",
        LogFormat::Empty => "empty",
        _ => "unknown",
    }
}

impl Document {
    fn of(checked: &Checked) -> Self {
        let report = &checked.report;
        Self {
            sound: checked.is_sound(),
            format: format_name(checked.format),
            records: report.records,
            contents: contents_name(report.contents),
            resumable: report.records > 0 && report.obstacles().next().is_none(),
            findings: report
                .findings
                .iter()
                .map(|finding| Found {
                    offset: finding.offset,
                    len: finding.len,
                    line: finding.line,
                    problem: finding.problem.to_string(),
                    damage: finding.problem.is_damage(),
                })
                .collect(),
            torn_tail: report.torn_tail.map(|tail| Tail { offset: tail.offset, len: tail.len }),
            n_blobs: checked.n_blobs,
            blobs: checked
                .blobs
                .iter()
                .map(|blob| Blob {
                    sha256: blob.sha256.to_string(),
                    named_at: blob.named_at,
                    problem: match blob.problem {
                        BlobProblem::Missing => "missing",
                        _ => "damaged",
                    },
                })
                .collect(),
            unnamed_blobs: checked.unnamed_blobs.iter().map(ToString::to_string).collect(),
        }
    }

    fn in_words(&self, name: &str) -> String {
        let mut words = format!(
            "{}: {} ({} records, {} blobs)\n",
            output::one_line(name),
            if self.sound { "sound" } else { "not sound" },
            self.records,
            self.n_blobs
        );
        for found in &self.findings {
            let place = found.line.map_or_else(String::new, |line| format!(" (line {line})"));
            let problem = output::one_line(&found.problem);
            words.push_str(&format!("  byte {}{place}: {problem} ({} bytes)\n", found.offset, found.len));
        }
        for blob in &self.blobs {
            words.push_str(&format!("  blob {}: {}, named at byte {}\n", blob.sha256, blob.problem, blob.named_at));
        }
        if !self.unnamed_blobs.is_empty() {
            words.push_str(&format!("  {} blobs that no record names\n", self.unnamed_blobs.len()));
        }
        if !self.resumable {
            words.push_str("  it cannot be resumed\n");
        }
        words
    }
}
