//! Making the prompt that was sent last once more.

use context_manager::{ContextManager, PartName, Parts, Profile};

use crate::{
    Error,
    records::sha256,
    rollout::{ReplayEvent, SentMark},
};

/// The prompt that was sent last: its mark, and all that it was made of.
#[derive(Debug)]
pub(super) struct LastSent {
    manager: ContextManager,
    parts: Parts,
    mark: SentMark,
    offset: u64,
    ordinal: Option<u64>,
}

impl LastSent {
    pub(super) const fn new(event: &ReplayEvent, manager: ContextManager, parts: Parts, mark: SentMark) -> Self {
        Self { manager, parts, mark, offset: event.offset, ordinal: event.ordinal }
    }

    /// Makes the prompt and compares it; gives the history as it was, to which the prompt counts as sent.
    pub(super) fn verified(mut self, profiles: &[Profile]) -> Result<ContextManager, Error> {
        let built_in = [Profile::responses(), Profile::codex()];
        let mut known = profiles.iter().chain(&built_in);
        // A mark that names none was made by the profile that the host has.
        let name = self.mark.profile.as_deref();
        let profile = known.find(|profile| name.is_none_or(|name| profile.name == name));
        let profile = profile.ok_or_else(|| Error::Replay {
            path: None,
            offset: self.offset,
            ordinal: self.ordinal,
            reason: format!("the profile `{}` by which the prompt was made is not known", name.unwrap_or_default()),
        })?;
        for (name, digest) in PartName::ALL.into_iter().zip(self.mark.parts()) {
            if sha256(self.parts.digest(name)) != digest {
                return Err(self.mismatch(format!("its part {name} is another one")));
            }
        }
        let prompt = self.manager.for_prompt(&self.parts, profile);
        let n_items = prompt.items().len() as u64;
        if n_items != self.mark.n_items {
            return Err(self.mismatch(format!("it has {n_items} items where {} were sent", self.mark.n_items)));
        }
        if sha256(prompt.chain()) != self.mark.chain {
            return Err(self.mismatch("its items are not those that were sent".into()));
        }
        self.manager.mark_sent(&prompt).map_err(Error::history)?;
        Ok(self.manager)
    }

    const fn mismatch(&self, found: String) -> Error {
        Error::SentMismatch { path: None, offset: self.offset, ordinal: self.ordinal, found }
    }
}
