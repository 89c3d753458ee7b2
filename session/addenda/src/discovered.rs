//! The instruction files that apply, found by the rules of the command line.

use std::path::Path;

use agents_md::{Discovery, HostFs, Inputs, LoadedAgentsMd, TrustLevel, UserSource, discover_blocking};

use crate::{
    args::{Preset, Rules},
    exit::Failure,
    surroundings,
};

/// Finds and reads the instruction files for `folder`.
pub(crate) fn discover(folder: &Path, rules: &Rules) -> Result<LoadedAgentsMd, Failure> {
    let discovery = match rules.preset {
        Preset::Default => Discovery::default(),
        Preset::Codex => Discovery::codex(),
    };
    let trust = if rules.untrusted { TrustLevel::Untrusted } else { TrustLevel::Trusted };
    let user = surroundings::home(rules.home.as_deref())?.map_or(UserSource::Absent, UserSource::Folder);
    let inputs = Inputs::local(folder).with_trust(trust).with_user(user);
    discover_blocking(&discovery, &inputs, &HostFs::new()).map_err(|error| Failure::of(&error))
}
