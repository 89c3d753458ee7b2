//! Bytes that stand beside the log, not in it.

use std::{fmt, ops::Range};

use context_fragments::{
    WireItem,
    json::{Json, ObjectWriter},
};

use super::{RawJson, Sha256, field::Fields};
use crate::{Error, redact::json_string_end};

/// Where the bytes of blobs are; [`SessionFolder`](super::SessionFolder) is such a place.
pub trait Blobs: fmt::Debug + Send + Sync {
    /// Reads the bytes of one blob. Who asks compares them with the digest.
    ///
    /// # Errors
    /// [`Error::Io`] if they cannot be read; it names the blob.
    fn read_blob(&self, blob: &BlobRef) -> Result<Vec<u8>, Error>;
}

/// A run of a payload's bytes that was moved into a blob.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct BlobRef {
    /// Where the bytes stand in the whole payload, in bytes from its start.
    pub offset: u64,
    /// How many they are.
    pub len: u64,
    /// Their digest, which is also the blob's name.
    pub sha256: Sha256,
}

/// The tool output before it was cut to its limit.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Original {
    /// The item as it would have been recorded without a limit.
    Inline(WireItem),
    /// The same, in a blob.
    Blob(BlobRef),
    /// Something that a newer version wrote.
    Other(RawJson),
}

impl BlobRef {
    /// Names a run of bytes.
    #[must_use]
    pub const fn new(offset: u64, len: u64, sha256: Sha256) -> Self {
        Self { offset, len, sha256 }
    }

    fn to_json(self) -> String {
        let mut object = ObjectWriter::new();
        object.raw("offset", &self.offset.to_string()).raw("len", &self.len.to_string());
        object.string("sha256", &self.sha256.to_string());
        object.finish()
    }

    fn from_json(value: Json<'_>) -> Result<Self, Error> {
        let fields = Fields::of(value, "blobs")?;
        let number = |key| fields.number(key).and_then(|found| fields.need(key, "a number", found));
        let sha256 = fields.digest("sha256")?;
        Ok(Self { offset: number("offset")?, len: number("len")?, sha256: fields.need("sha256", "a digest", sha256)? })
    }
}

impl Original {
    pub(super) fn to_json(&self) -> String {
        match self {
            Self::Inline(item) => format!("{{\"item\":{}}}", item.as_str()),
            Self::Blob(blob) => format!("{{\"blob\":{}}}", blob.to_json()),
            Self::Other(value) => value.as_str().to_owned(),
        }
    }

    pub(super) fn from_json(value: Json<'_>) -> Result<Self, Error> {
        if let Some(item) = value.member("item") {
            let item = WireItem::from_json(item).map_err(|source| Error::Json { place: "original".into(), source })?;
            return Ok(Self::Inline(item));
        }
        if let Some(blob) = value.member("blob") {
            return BlobRef::from_json(blob).map(Self::Blob);
        }
        Ok(Self::Other(RawJson::from_json(value)))
    }
}

pub(super) fn blobs_to_json(blobs: &[BlobRef]) -> String {
    let mut out = String::from("[");
    for (index, blob) in blobs.iter().enumerate() {
        if index > 0 {
            out.push(',');
        }
        out.push_str(&blob.to_json());
    }
    out.push(']');
    out
}

pub(super) fn blobs_from_json(value: Json<'_>) -> Result<Vec<BlobRef>, Error> {
    value.elements().map(BlobRef::from_json).collect()
}

/// Puts the bytes of `blobs` back into `payload`, the text that stands in the log.
///
/// `fetch` gives the bytes of one blob; each is compared with its digest and its length.
///
/// # Errors
/// [`Error::BlobMismatch`] for a blob that is not what the record names or does not fit where the record puts it, and
/// what `fetch` says.
/// # Example
/// ```
/// use session::rollout::{BlobRef, Sha256, expand_blobs};
///
/// let blob = BlobRef::new(8, 4, Sha256::of(b"AAAA"));
/// let whole = expand_blobs(r#"{"url":""}"#, &[blob], |_| Ok(b"AAAA".to_vec()))?;
/// assert_eq!(whole, r#"{"url":"AAAA"}"#);
/// # Ok::<(), session::Error>(())
/// ```
pub fn expand_blobs(
    payload: &str,
    blobs: &[BlobRef],
    mut fetch: impl FnMut(&BlobRef) -> Result<Vec<u8>, Error>,
) -> Result<String, Error> {
    let mut whole = String::with_capacity(payload.len());
    let mut rest = payload;
    for blob in blobs {
        let mismatch = || Error::BlobMismatch { sha256: blob.sha256.to_string(), bytes: blob.len };
        let before = usize::try_from(blob.offset).ok().and_then(|offset| offset.checked_sub(whole.len()));
        let (plain, after) = before.and_then(|len| rest.split_at_checked(len)).ok_or_else(mismatch)?;
        let bytes = fetch(blob)?;
        if u64::try_from(bytes.len()) != Ok(blob.len) || Sha256::of(&bytes) != blob.sha256 {
            return Err(mismatch());
        }
        whole.push_str(plain);
        whole.push_str(&String::from_utf8(bytes).map_err(|_| mismatch())?);
        rest = after;
    }
    whole.push_str(rest);
    Ok(whole)
}

/// Where strings of at least `min_bytes` stand in `payload`, compact JSON: the insides of values, not of keys.
pub(super) fn large_strings(payload: &str, min_bytes: usize) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut at = 0;
    while payload.len().saturating_sub(at) > min_bytes {
        let Some(quote) = payload.get(at..).and_then(|rest| rest.find('"')) else { break };
        let start = at + quote + 1;
        let Some(end) = json_string_end(payload, start) else { break };
        if end - start >= min_bytes && payload.as_bytes().get(end + 1) != Some(&b':') {
            found.push(start..end);
        }
        at = end + 1;
    }
    found
}

#[cfg(test)]
mod tests {
    use super::large_strings;

    #[track_caller]
    fn check(payload: &str, want: &[&str]) {
        let found: Vec<_> = large_strings(payload, 4).into_iter().map(|range| &payload[range]).collect();
        assert_eq!(found, want);
    }

    #[test]
    fn large_strings_are_the_insides_of_values() {
        check(r#"{"a":"12345","b":"123"}"#, &["12345"]);
        check(r#"{"a long key":"x","b":["1234","\\\"ab\\"]}"#, &["1234", r#"\\\"ab\\"#]);
        check(r#"{"n":123456,"s":""}"#, &[]);
        check(r#""1234"#, &[]);
        check("", &[]);
    }
}
