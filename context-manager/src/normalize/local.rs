//! What becomes of an item whatever stands around it.

use context_fragments::ItemType;

use super::{Family, Fate, Source, without_id};
use crate::{Mend, Modalities, Profile};

/// For which model a history is projected.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Target<'a> {
    /// What it can take.
    pub(crate) allowed: Modalities,
    /// Its name; none if that is not known.
    pub(crate) model: Option<&'a str>,
}

/// Why an item is left out that no other item could save; none if it stays, as far as it goes.
pub(crate) fn left_out(source: &Source<'_>, target: Target<'_>, profile: &Profile) -> Option<Fate> {
    let item = source.item();
    // Recording keeps such items out; a restored log may hold them.
    if item.item_type() == ItemType::Unknown {
        return Some(Fate::UNKNOWN_TYPE);
    }
    if Family::of_call(item.item_type()).or(Family::of_output(item.item_type())).is_some() && item.call_id().is_none() {
        return without_id(item, profile);
    }
    if let Some(flaw) = source.findings().flaw.filter(|flaw| flaw.removes() && flaw.is_mended_by(profile)) {
        return Some(Fate::Remove(flaw.rule(), flaw.why()));
    }
    let is_foreign = item.item_type() == ItemType::Reasoning
        && source.model().zip(target.model).is_some_and(|(author, asked)| author != asked);
    (is_foreign && profile.foreign_reasoning == Mend::Apply).then_some(Fate::FOREIGN)
}
