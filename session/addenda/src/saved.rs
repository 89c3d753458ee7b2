//! The state of the world in a file, between two runs.

use std::{
    fs,
    io::{self, Read as _},
    path::Path,
};

use context_fragments::{Kind, RetainedKinds};
use serde::{Deserialize, Serialize};
use world_state::WorldStateSnapshot;

use crate::exit::Failure;

/// How large such a file may be: far more than a model reads.
const MAX_BYTES: u64 = 16 << 20;

/// What a model was told, and the kinds of context that its history holds.
#[derive(Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Saved {
    pub(crate) snapshot: WorldStateSnapshot,
    retained_kinds: Vec<Kind>,
}

impl Saved {
    pub(crate) fn new(snapshot: WorldStateSnapshot, retained: &RetainedKinds) -> Self {
        Self { snapshot, retained_kinds: retained.iter().cloned().collect() }
    }

    pub(crate) fn retained(&self) -> RetainedKinds {
        self.retained_kinds.iter().collect()
    }

    pub(crate) fn read(path: &Path) -> Result<Self, Failure> {
        let shown = path.display();
        let bytes = bounded(path).map_err(|error| Failure::new(format_args!("cannot read state: {shown}: {error}")))?;
        serde_json::from_slice(&bytes)
            .map_err(|error| Failure::new(format_args!("not a saved state: {shown}: {error}")))
    }

    pub(crate) fn write(&self, path: &Path) -> Result<(), Failure> {
        let shown = path.display();
        let refuse = |error: &dyn std::fmt::Display| Failure::new(format_args!("cannot save state: {shown}: {error}"));
        let mut json = serde_json::to_string_pretty(self).map_err(|error| refuse(&error))?;
        json.push('\n');
        fs::write(path, json).map_err(|error| refuse(&error))
    }
}

/// The words of a mode from a file.
pub(crate) fn instructions(path: &Path) -> Result<String, Failure> {
    let shown = path.display();
    let refuse =
        |error: &dyn std::fmt::Display| Failure::new(format_args!("cannot read instructions: {shown}: {error}"));
    let bytes = bounded(path).map_err(|error| refuse(&error))?;
    String::from_utf8(bytes).map_err(|error| refuse(&error.utf8_error()))
}

/// The bytes of a file that somebody named, which may be a pipe, and may be one that never ends.
fn bounded(path: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    fs::File::open(path)?.take(MAX_BYTES + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > MAX_BYTES {
        return Err(io::Error::other(format!("larger than {MAX_BYTES} bytes")));
    }
    Ok(bytes)
}
