//! `pack` and `unpack`: the log of a session that is not used any more.

use std::path::Path;

use serde::Serialize;
use session::rollout::{SessionFolder, pack as pack_log, unpack as unpack_log};

use crate::{
    args::OneFolder,
    exit::{Answer, Failure},
    output, surroundings,
};

#[derive(Debug, Serialize)]
struct Document {
    bytes_before: u64,
    bytes_after: u64,
}

pub(crate) fn pack(args: &OneFolder) -> Result<Answer, Failure> {
    let folder = SessionFolder::new(&args.folder);
    let before = length(&folder.log_path());
    pack_log(&folder, &surroundings::owner()).map_err(|error| Failure::of(&error))?;
    told(args, "packed", Document { bytes_before: before, bytes_after: length(&folder.compressed_log_path()) })
}

pub(crate) fn unpack(args: &OneFolder) -> Result<Answer, Failure> {
    let folder = SessionFolder::new(&args.folder);
    let before = length(&folder.compressed_log_path());
    unpack_log(&folder, &surroundings::owner()).map_err(|error| Failure::of(&error))?;
    told(args, "unpacked", Document { bytes_before: before, bytes_after: length(&folder.log_path()) })
}

fn told(args: &OneFolder, done: &str, document: Document) -> Result<Answer, Failure> {
    if args.json {
        return output::print_json(&document);
    }
    let shown = output::one_line(&args.folder.display().to_string());
    output::print(&format!("{shown}: {done}, {} bytes became {}\n", document.bytes_before, document.bytes_after))
}

/// 0 where there is no file; the work itself says so.
fn length(path: &Path) -> u64 {
    path.metadata().map_or(0, |metadata| metadata.len())
}
