//! `instructions`: which instruction files apply, and why each path that was looked at does or does not.

use agents_md::{LoadedAgentsMd, Scope};
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
    let loaded = discovered::discover(&folder, &args.rules)?;
    if args.json {
        let report = Report::of(&loaded);
        let compact = serde_json::to_string(&report).map_err(|error| Failure::of(&error))?;
        return output::print(&output::pretty(&compact));
    }
    output::print(&explained(&loaded))
}

/// The answer as a document: what applies, in order, and the trace.
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
    /// Every probed path with its outcome.
    trace: &'a agents_md::Trace,
}

impl<'a> Report<'a> {
    fn of(loaded: &'a LoadedAgentsMd) -> Self {
        Self {
            applies: loaded.sources().map(|path| path.display().to_string()).collect(),
            text: loaded.text(),
            directory: loaded.directory(),
            warnings: loaded.warnings().iter().map(ToString::to_string).collect(),
            trace: loaded.trace(),
        }
    }
}

fn explained(loaded: &LoadedAgentsMd) -> String {
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
