//! What a look at an item found, once, when it was recorded.

use std::sync::Arc;

use context_fragments::{ContentItem, ContextItem, WireItem};

use crate::{
    Origin,
    boundary::Marks,
    flaw::Flaw,
    image::{self, ImageSize, Probed},
    surrogates,
};

/// What has to be known of an item and cannot be seen in its head. The small ones stand together, since each entry of a
/// history holds them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Findings {
    /// Who made it: what the item shows, if the host did not say.
    pub(crate) origin: Origin,
    pub(crate) marks: Marks,
    pub(crate) lone_surrogates: bool,
    pub(crate) flaw: Option<Flaw>,
}

/// An inline image of which something is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FoundImage {
    /// The member that holds the list of parts.
    pub(crate) key: &'static str,
    /// Which part of the list it is, from 0.
    pub(crate) part: usize,
    /// Its size; none if its data cannot be decoded.
    pub(crate) size: Option<ImageSize>,
}

impl Findings {
    pub(crate) fn of(item: &ContextItem) -> Self {
        let (origin, marks, item) = (Origin::of(item), Marks::of(item), item.item());
        Self { origin, marks, lone_surrogates: surrogates::has_lone(item), flaw: Flaw::of(item) }
    }

    /// Says that there is nothing in it that a projection could have to mend, media aside.
    pub(crate) const fn are_none(self) -> bool {
        self.flaw.is_none() && !self.lone_surrogates
    }
}

/// The inline images of which something is known; none if there are none.
pub(crate) fn found_images(item: &WireItem) -> Option<Arc<Vec<FoundImage>>> {
    if !item.has_images() {
        return None;
    }
    let mut found = Vec::new();
    for key in ["content", "output"] {
        let Some(list) = item.json().member(key) else { continue };
        for (part, json) in list.elements().enumerate() {
            let ContentItem::InputImage { image_url: Some(url), .. } = ContentItem::parse(json) else { continue };
            match image::probe(&url) {
                Probed::Sized(size) => found.push(FoundImage { key, part, size: Some(size) }),
                Probed::Undecodable => found.push(FoundImage { key, part, size: None }),
                Probed::Unknown => {}
            }
        }
    }
    (!found.is_empty()).then(|| Arc::new(found))
}
