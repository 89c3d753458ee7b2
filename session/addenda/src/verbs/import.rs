//! `import`: a rollout of the Codex CLI as a session of this project.

use std::{fmt::Write as _, fs::File};

use session::{
    foreign,
    rollout::{Owner, SessionFolder},
};

use crate::{
    args::Import,
    exit::{Answer, Failure},
    output, surroundings,
};

pub(crate) fn run(args: &Import) -> Result<Answer, Failure> {
    let shown = args.rollout.display();
    let failed = |error: std::io::Error| Failure::new(format_args!("{shown}: {error}"));
    if !args.rollout.metadata().map_err(failed)?.is_file() {
        return Err(Failure::new(format_args!("{shown}: not a regular file")));
    }
    let file = File::open(&args.rollout).map_err(failed)?;
    let at_ms = surroundings::now_ms();
    let mut import = foreign::Import::new(Owner::this_process("localhost", at_ms), at_ms).with_path(&args.rollout);
    if let Some(id) = &args.id {
        import = import.named(id);
    }
    let folder = SessionFolder::new(&args.folder);
    let imported = foreign::import(file, &folder, &import).map_err(|error| Failure::of(&error))?;
    let mut told = String::new();
    // Writing into a string cannot fail.
    _ = writeln!(
        told,
        "session {} in {}: {} lines kept, {} items for the model",
        imported.session_id,
        args.folder.display(),
        imported.lines,
        imported.items
    );
    if imported.losses.is_empty() {
        told.push_str("lost: nothing\n");
    }
    for loss in imported.losses.iter() {
        _ = writeln!(told, "lost: {loss}");
    }
    output::print(&told)
}
