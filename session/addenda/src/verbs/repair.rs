//! `repair`: a sound log out of a damaged one, in another folder.

use serde::Serialize;
use session::rollout::{EditedRecords, SessionFolder, repair};

use crate::{
    args::Repair,
    exit::{Answer, Failure},
    output,
    progress::Bar,
    surroundings,
};

#[derive(Debug, Serialize)]
struct Document {
    records: u64,
    left_out: Vec<LeftOut>,
    findings: Vec<String>,
}

#[derive(Debug, Serialize)]
struct LeftOut {
    offset: u64,
    ordinal: u64,
    r#type: String,
    reason: &'static str,
}

pub(crate) fn run(args: &Repair) -> Result<Answer, Failure> {
    let to = SessionFolder::new(&args.to);
    let edited = if args.keep_edited { EditedRecords::Take } else { EditedRecords::LeaveOut };
    let owner = surroundings::owner();
    let mut bar = Bar::new();
    let repaired = repair(&args.log, &to, &owner, edited, &mut |progress| bar.tell(progress));
    drop(bar);
    let repaired = repaired.map_err(|error| Failure::of(&error))?;
    let left_out = repaired.left_out.into_iter().map(|left| LeftOut {
        offset: left.offset,
        ordinal: left.ordinal,
        r#type: left.type_name,
        reason: left.reason,
    });
    let findings = repaired.report.findings.iter().map(ToString::to_string).collect();
    let document = Document { records: repaired.records, left_out: left_out.collect(), findings };
    // What was damaged is gone from the new log, and that is an answer that a script has to see.
    let is_whole = document.left_out.is_empty() && repaired.report.is_clean();
    let answer = if is_whole { Answer::Yes } else { Answer::No };
    if args.json {
        output::print_json(&document)?;
        return Ok(answer);
    }
    let mut words = format!("{}: {} records\n", output::one_line(&args.to.display().to_string()), document.records);
    for finding in &document.findings {
        words.push_str(&format!("  {}\n", output::one_line(finding)));
    }
    for left in &document.left_out {
        let name = output::one_line(&left.r#type);
        words.push_str(&format!(
            "  left out: record {} ({name}) at byte {}: {}\n",
            left.ordinal, left.offset, left.reason
        ));
    }
    output::print(&words)?;
    Ok(answer)
}
