//! `export`: a session of this project as a rollout of the Codex CLI.

use std::{
    fs::OpenOptions,
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
            // It holds what a conversation holds, so it is for its owner only; and nothing that is there is written over.
            let mut options = OpenOptions::new();
            options.write(true).create_new(true);
            #[cfg(unix)]
            std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
            let mut out = BufWriter::new(options.open(path).map_err(failed)?);
            let written = foreign::export(events, &mut out).map_err(|error| Failure::of(&error));
            let written = written.and_then(|exported| out.flush().map(|()| exported).map_err(failed));
            written.inspect_err(|_| {
                // What was made is empty or half of it.
                drop(std::fs::remove_file(path));
            })?
        }
    };
    for loss in exported.losses.iter() {
        output::warn(loss);
    }
    Ok(if exported.lines == 0 { Answer::No } else { Answer::Yes })
}
