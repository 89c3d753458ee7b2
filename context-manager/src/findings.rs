//! What a look at an item found, once, when it was recorded.

use std::sync::Arc;

use context_fragments::{ContentItem, WireItem};

use crate::{
    flaw::Flaw,
    image::{self, ImageSize, Probed},
    surrogates,
};

/// What a projection has to know of an item and cannot see in its head.
#[derive(Clone, Debug, Default)]
pub(crate) struct Findings {
    pub(crate) lone_surrogates: bool,
    pub(crate) flaw: Option<Flaw>,
    /// What the headers of its inline images say; none if they say nothing. Thin, since it stands beside every item.
    pub(crate) images: Option<Arc<Vec<FoundImage>>>,
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
    pub(crate) fn of(item: &WireItem) -> Self {
        Self {
            lone_surrogates: surrogates::has_lone(item.as_str()),
            flaw: Flaw::of(item),
            images: if item.has_images() { images_of(item) } else { None },
        }
    }

    /// The images of which something is known.
    pub(crate) fn images(&self) -> &[FoundImage] {
        self.images.as_deref().map_or(&[], Vec::as_slice)
    }
}

fn images_of(item: &WireItem) -> Option<Arc<Vec<FoundImage>>> {
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
