//! The instruction files that apply, found by the rules of the command line.

use std::path::Path;

use agents_md::{
    Discovery, Explanation, HostFs, Inputs, LoadedAgentsMd, TrustLevel, UserSource, discover_blocking, explain_blocking,
};

use crate::{
    args::{Preset, Rules},
    exit::Failure,
    surroundings,
};

/// Finds and reads the instruction files for `folder`.
pub(crate) fn discover(folder: &Path, rules: &Rules) -> Result<LoadedAgentsMd, Failure> {
    let (discovery, inputs) = chosen(folder, rules)?;
    discover_blocking(&discovery, &inputs, &HostFs::new()).map_err(|error| Failure::of(&error))
}

/// The same, and looks for files that a person may think are used.
pub(crate) fn explain(folder: &Path, rules: &Rules) -> Result<Explanation, Failure> {
    let (discovery, inputs) = chosen(folder, rules)?;
    explain_blocking(&discovery, &inputs, &HostFs::new()).map_err(|error| Failure::of(&error))
}

fn chosen(folder: &Path, rules: &Rules) -> Result<(Discovery, Inputs), Failure> {
    let discovery = match rules.preset {
        Preset::Default => Discovery::default(),
        Preset::Codex => Discovery::codex(),
    };
    let trust = if rules.untrusted { TrustLevel::Untrusted } else { TrustLevel::Trusted };
    let user = surroundings::home(rules.home.as_deref())?.map_or(UserSource::Absent, UserSource::Folder);
    Ok((discovery, Inputs::local(folder).with_trust(trust).with_user(user)))
}
