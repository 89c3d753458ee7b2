//! `salvage`: whatever can be read in a file, as JSON lines.

use std::{fs::OpenOptions, io::BufWriter};

use serde::Serialize;
use session::rollout::salvage;

use super::inspect::contents_name;
use crate::{
    args::Salvage,
    exit::{Answer, Failure},
    output,
    progress::Bar,
};

#[derive(Debug, Serialize)]
struct Document {
    records: u64,
    contents: &'static str,
    findings: Vec<String>,
}

pub(crate) fn run(args: &Salvage) -> Result<Answer, Failure> {
    let shown = args.to.display();
    // It holds what a conversation holds, so it is for its owner only; and nothing that is there is written over.
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let file = options.open(&args.to).map_err(|error| Failure::new(format_args!("{shown}: {error}")))?;
    let mut bar = Bar::new();
    let salvaged = salvage(&args.log, &mut BufWriter::new(file), &mut |progress| bar.tell(progress));
    drop(bar);
    let salvaged = salvaged.map_err(|error| {
        // What was made is empty or half of it.
        drop(std::fs::remove_file(&args.to));
        Failure::of(&error)
    })?;
    let findings: Vec<_> = salvaged.report.findings.iter().map(ToString::to_string).collect();
    let document = Document { records: salvaged.records, contents: contents_name(salvaged.report.contents), findings };
    let answer = if document.records > 0 { Answer::Yes } else { Answer::No };
    if args.json {
        output::print_json(&document)?;
        return Ok(answer);
    }
    let mut words = format!("{}: {} records\n", output::one_line(&shown.to_string()), document.records);
    for finding in &document.findings {
        words.push_str(&format!("  {}\n", output::one_line(finding)));
    }
    output::print(&words)?;
    Ok(answer)
}
