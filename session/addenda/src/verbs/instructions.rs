//! `instructions`: which instruction files apply, and why each path that was looked at does or does not.

use agents_md::{Explanation, Finding, LoadedAgentsMd, Problem, Scope};
use comfy_table::{Table, presets::NOTHING};
use serde::Serialize;

use crate::{
    args::Instructions,
    discovered,
    exit::{Answer, Failure},
    output::{self, one_line},
    surroundings,
};

pub(crate) fn run(args: &Instructions) -> Result<Answer, Failure> {
    let folder = surroundings::folder_of(args.path.as_deref())?;
    let explanation = discovered::explain(&folder, &args.rules)?;
    let problems = explanation.problems();
    if args.json {
        let report = Report::of(&explanation, &problems);
        let compact = serde_json::to_string(&report).map_err(|error| Failure::of(&error))?;
        output::print(&output::pretty(&compact))?;
    } else if args.check {
        output::print(&checked(&problems))?;
    } else {
        output::print(&explained(&explanation))?;
    }
    Ok(if args.check && !problems.is_empty() { Answer::No } else { Answer::Yes })
}

/// The answer as a document: what applies, in order, what does not and why, and the trace.
#[derive(Serialize)]
struct Report<'a> {
    /// The files that apply, the user's own first, then from the root down.
    applies: Vec<String>,
    /// What the model reads of them; empty if nothing applies.
    text: &'a str,
    /// The folder that the model is told they are for.
    directory: Option<&'a str>,
    /// What should be looked at by a person.
    warnings: Vec<String>,
    /// Why files that are there were not used, or not whole, as sentences.
    explanation: Vec<String>,
    /// Files that nobody looks for and a person may think are used.
    findings: &'a [Finding],
    /// What `--check` fails for.
    problems: &'a [Problem],
    /// Every probed path with its outcome.
    trace: &'a agents_md::Trace,
}

impl<'a> Report<'a> {
    fn of(explanation: &'a Explanation, problems: &'a [Problem]) -> Self {
        let loaded = explanation.loaded();
        Self {
            applies: loaded.sources().map(|path| path.display().to_string()).collect(),
            text: loaded.text(),
            directory: loaded.directory(),
            warnings: loaded.warnings().iter().map(ToString::to_string).collect(),
            explanation: sentences(explanation).collect(),
            findings: explanation.findings(),
            problems,
            trace: loaded.trace(),
        }
    }
}

fn sentences(explanation: &Explanation) -> impl Iterator<Item = String> {
    let rows = explanation.loaded().trace().sentences();
    rows.chain(explanation.findings().iter().map(ToString::to_string))
}

fn checked(problems: &[Problem]) -> String {
    if problems.is_empty() {
        return "Nothing is cut, hidden, unreadable or duplicated.".to_owned();
    }
    problems.iter().map(|problem| one_line(&problem.to_string())).collect::<Vec<_>>().join("\n")
}

fn explained(explanation: &Explanation) -> String {
    let loaded = explanation.loaded();
    let mut lines = Vec::new();
    let sources: Vec<_> = loaded.sources().map(|path| one_line(&path.display().to_string())).collect();
    match sources.as_slice() {
        [] => lines.push("No instruction file applies.".to_owned()),
        [one] => lines.push(format!("One instruction file applies: {one}")),
        many => {
            lines.push(format!("{} instruction files apply, in this order:", many.len()));
            lines.extend(many.iter().enumerate().map(|(position, path)| format!("  {}. {path}", position + 1)));
        }
    }
    for environment in loaded.trace().environments() {
        for note in &environment.notes {
            lines.push(one_line(&format!("{}: {note}", environment.environment)));
        }
    }
    for warning in loaded.warnings() {
        lines.push(one_line(&format!("warning: {warning}")));
    }
    lines.extend(sentences(explanation).map(|sentence| one_line(&sentence)));
    if !loaded.trace().rows().is_empty() {
        lines.push(table(loaded).to_string());
    }
    lines.join("\n")
}

fn table(loaded: &LoadedAgentsMd) -> Table {
    let mut table = Table::new();
    table.load_style(NOTHING).set_header(["FOR", "PATH", "OUTCOME"]);
    for row in loaded.trace().rows() {
        let scope = match &row.scope {
            Scope::Project { environment, .. } => environment.to_string(),
            other => other.to_string(),
        };
        let path = row.path.as_ref().map(|path| path.display().to_string()).unwrap_or_default();
        table.add_row([scope, path, row.outcome.to_string()].map(|cell| one_line(&cell)));
    }
    table
}
