//! `export`: a session of this project as a rollout of the Codex CLI.

use std::{
    fs::File,
    io::{BufWriter, Write as _},
};

use session::{foreign, rollout::SessionFolder};

use crate::{
    args::Export,
    exit::{Answer, Failure},
    output,
};

pub(crate) fn run(args: &Export) -> Result<Answer, Failure> {
    let folder = SessionFolder::new(&args.session);
    let events = folder.events().map_err(|error| Failure::of(&error))?;
    let exported = match &args.output {
        None => {
            let mut out = Vec::new();
            let exported = foreign::export(events, &mut out).map_err(|error| Failure::of(&error))?;
            output::print_exactly(&String::from_utf8_lossy(&out))?;
            exported
        }
        Some(path) => {
            let failed = |error: std::io::Error| Failure::new(format_args!("{}: {error}", path.display()));
            // What stands there is never written over.
            let file = File::create_new(path).map_err(failed)?;
            let mut out = BufWriter::new(file);
            let exported = foreign::export(events, &mut out).map_err(|error| Failure::of(&error))?;
            out.flush().map_err(failed)?;
            exported
        }
    };
    for loss in exported.losses.iter() {
        output::warn(loss);
    }
    Ok(if exported.lines == 0 { Answer::No } else { Answer::Yes })
}
