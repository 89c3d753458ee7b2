//! `import`: a rollout of the Codex CLI as a session of this project.

use std::fmt::Write as _;

use session::{foreign, rollout::SessionFolder};

use crate::{
    args::Import,
    exit::{Answer, Failure},
    output, surroundings,
};

pub(crate) fn run(args: &Import) -> Result<Answer, Failure> {
    let owner = surroundings::owner();
    let at_ms = owner.since_ms;
    let mut import = foreign::Import::new(owner, at_ms);
    if let Some(id) = &args.id {
        import = import.named(id);
    }
    let folder = SessionFolder::new(&args.folder);
    let imported = foreign::import(&args.rollout, &folder, &import).map_err(|error| Failure::of(&error))?;
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
