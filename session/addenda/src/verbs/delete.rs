//! `delete`: a session with its log and blobs.

use serde::Serialize;
use session::rollout::{FolderLeft, SessionFolder, delete};

use crate::{
    args::Delete,
    exit::{Answer, Failure},
    output, surroundings,
};

#[derive(Debug, Serialize)]
struct Document {
    deleted: bool,
    /// Files that are none of the session's keep its folder.
    folder_left: bool,
}

pub(crate) fn run(args: &Delete) -> Result<Answer, Failure> {
    let shown = output::one_line(&args.folder.display().to_string());
    if !args.yes {
        output::say(format_args!("{shown}: nothing was deleted: say --yes"));
        return Ok(Answer::No);
    }
    let folder = SessionFolder::new(&args.folder);
    let left = delete(&folder, &surroundings::owner()).map_err(|error| Failure::of(&error))?;
    let document = Document { deleted: true, folder_left: left == FolderLeft::WithOtherFiles };
    if args.json {
        return output::print_json(&document);
    }
    let words = if document.folder_left { "deleted; its folder holds other files" } else { "deleted" };
    output::print(&format!("{shown}: {words}\n"))
}
