//! Records whose large parts were taken out.

use std::collections::HashSet;

use super::{
    BlobRef, Original, Record, RolloutItem, Sha256,
    blob::{blobs_to_json, large_strings},
    record::{CopiedBody, Draft},
};

/// A record that is ready to be written, and the blobs that have to be there before it is.
///
/// # Example
/// ```
/// use context_fragments::WireItem;
/// use session::rollout::{Draft, Prepared, RolloutItem};
///
/// let draft = Draft::from(RolloutItem::Item(WireItem::user_text(&"A".repeat(100_000))));
/// let prepared = Prepared::new(draft, 32 * 1024);
/// assert_eq!(prepared.blobs[0].1.len(), 100_000);
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Prepared {
    /// What goes on the line.
    pub draft: Draft,
    /// The bytes that were taken out, each once, with their names.
    pub blobs: Vec<(Sha256, String)>,
}

impl Prepared {
    /// Takes every string of at least `min_blob_bytes` out of the payload, and so the output before it was cut.
    ///
    /// A copied record stays as it is: what is large in it is in blobs already.
    #[must_use]
    pub fn new(draft: Draft, min_blob_bytes: usize) -> Self {
        let mut record = match draft {
            Draft::New(record) if record.blobs.is_empty() => record,
            draft => return Self { draft, blobs: Vec::new() },
        };
        let mut blobs = Blobs::default();
        if let Some(Original::Inline(item)) = &record.original
            && item.as_str().len() >= min_blob_bytes
        {
            record.original = Some(Original::Blob(blobs.take(0, item.as_str())));
        }
        if is_small(&record, min_blob_bytes) {
            return Self { draft: Draft::New(record), blobs: blobs.taken };
        }
        let mut payload = String::new();
        record.item.push_payload(&mut payload);
        let strings = large_strings(&payload, min_blob_bytes);
        if strings.is_empty() {
            return Self { draft: Draft::New(record), blobs: blobs.taken };
        }
        let mut left = String::new();
        let mut from = 0;
        let mut runs = Vec::with_capacity(strings.len());
        for string in strings {
            left.push_str(&payload[from..string.start]);
            runs.push(blobs.take(string.start, &payload[string.clone()]));
            from = string.end;
        }
        left.push_str(&payload[from..]);
        let mut body = String::with_capacity(left.len() + 256);
        record.push_head(&mut body);
        body.push_str(",\"blobs\":");
        body.push_str(&blobs_to_json(&runs));
        if let Some(original) = &record.original {
            body.push_str(",\"original\":");
            body.push_str(&original.to_json());
        }
        body.push_str(",\"payload\":");
        body.push_str(&left);
        Self { draft: Draft::Copy(CopiedBody(body.into())), blobs: blobs.taken }
    }
}

/// Says that nothing in the payload can be large, without rendering it.
fn is_small(record: &Record, min_blob_bytes: usize) -> bool {
    match &record.item {
        RolloutItem::Item(item) => item.as_str().len() < min_blob_bytes,
        RolloutItem::TurnStarted(_) | RolloutItem::Sent(_) | RolloutItem::Opened(_) => true,
        // The header has to be readable by itself.
        RolloutItem::SessionMeta(_) => true,
        _ => false,
    }
}

#[derive(Default)]
struct Blobs {
    taken: Vec<(Sha256, String)>,
    names: HashSet<Sha256>,
}

impl Blobs {
    fn take(&mut self, offset: usize, bytes: &str) -> BlobRef {
        let sha256 = Sha256::of(bytes.as_bytes());
        if self.names.insert(sha256) {
            self.taken.push((sha256, bytes.to_owned()));
        }
        BlobRef::new(offset as u64, bytes.len() as u64, sha256)
    }
}
