//! One record as it stands in the log, and what it says.

use std::ops::Range;

use context_fragments::{
    WireItem,
    json::{Json, ObjectWriter},
};

use super::{
    blob::{BlobRef, Blobs, blobs_from_json, expand_blobs},
    judge::Trust,
    limits::READER_VERSION,
    line::Layout,
    metadata::Metadata,
    ordinals::Place,
    plain::plain_metadata,
    record::{CopiedBody, Draft, MetadataPart, Record, RolloutItem},
    repeated::Repeated,
};
use crate::Error;

/// One record as it stands in the log.
#[derive(Clone, Debug)]
pub struct LoggedLine {
    text: String,
    layout: Layout,
    offset: u64,
    trust: Trust,
    place: Place,
}

impl LoggedLine {
    /// A line by itself, without a file around it.
    pub(super) const fn new(text: String, layout: Layout, trust: Trust) -> Self {
        Self::standing_at(text, layout, 0, trust, Place::InOrder)
    }

    /// A line at its place in a file.
    pub(super) const fn standing_at(text: String, layout: Layout, offset: u64, trust: Trust, place: Place) -> Self {
        Self { text, layout, offset, trust, place }
    }

    /// The same line where nothing stands before it.
    pub(super) fn in_order(mut self) -> Self {
        self.place = Place::InOrder;
        self
    }

    pub(super) fn into_text(self) -> String {
        self.text
    }

    /// The line, byte for byte, without its newline.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Where the line starts in the file, in bytes.
    #[must_use]
    pub const fn offset(&self) -> u64 {
        self.offset
    }

    /// When it was written, as it stands: RFC 3339 in UTC.
    #[must_use]
    pub fn timestamp(&self) -> &str {
        self.text.get(self.layout.timestamp.clone()).unwrap_or_default()
    }

    /// Its number in the log.
    #[must_use]
    pub const fn ordinal(&self) -> u64 {
        self.layout.ordinal
    }

    /// Its type.
    #[must_use]
    pub fn type_name(&self) -> &str {
        self.text.get(self.layout.type_name.clone()).unwrap_or_default()
    }

    /// The minimum version of a reader that understands it.
    #[must_use]
    pub const fn version(&self) -> u32 {
        self.layout.version
    }

    /// Whether it is what its writer wrote.
    #[must_use]
    pub const fn trust(&self) -> Trust {
        self.trust
    }

    /// Where it stands among the others.
    #[must_use]
    pub const fn place(&self) -> Place {
        self.place
    }

    /// Reads the payload.
    ///
    /// # Errors
    /// [`Error::Json`] if it is not JSON in spite of its checksum.
    pub fn payload(&self) -> Result<Json<'_>, Error> {
        self.part(self.layout.payload.clone(), "payload")
    }

    /// Reads the whole record.
    ///
    /// A record of a newer version or of an unknown type is [`RolloutItem::Other`](super::RolloutItem::Other).
    ///
    /// # Errors
    /// [`Error::Json`] and [`Error::Misshapen`] name the place.
    pub fn decode(&self) -> Result<Record, Error> {
        self.decode_after(&mut Repeated::default())
    }

    /// The same behind a record whose texts may stand here again.
    pub(super) fn decode_after(&self, repeated: &mut Repeated) -> Result<Record, Error> {
        let metadata = self.metadata(repeated)?;
        let blobs = self.beside(&self.layout.blobs, "blobs")?;
        let original = self.beside(&self.layout.original, "original")?;
        let payload = self.text.get(self.layout.payload.clone()).unwrap_or_default();
        let item = RolloutItem::from_text(self.type_name(), self.version(), payload)?;
        Record::from_parts(item, metadata, blobs, original)
    }

    /// The item and the metadata of a record that stands as records of items are written, with nothing else beside the item.
    ///
    /// Nothing for any other, good or bad: [`decode`](Self::decode) reads it, and would come to the same for these.
    pub(super) fn plain_item(&self, repeated: &mut Repeated) -> Option<(WireItem, Metadata)> {
        let Layout { metadata, blobs: None, original: None, payload, .. } = &self.layout else { return None };
        if self.type_name() != "item" || self.version() > READER_VERSION {
            return None;
        }
        let metadata = match metadata {
            Some(range) => plain_metadata(self.text.get(range.clone())?, repeated)?,
            None => Metadata::default(),
        };
        let item = self.text.get(payload.clone()).and_then(|text| WireItem::parse_str(text).ok())?;
        Some((item, metadata))
    }

    /// Reads the whole record with the bytes of its blobs put back; they are fetched only here.
    ///
    /// # Errors
    /// [`Error::BlobMismatch`] and what `blobs` says; else as [`decode`](Self::decode).
    pub fn decode_with(&self, blobs: &dyn Blobs) -> Result<Record, Error> {
        self.decode_after_with(&mut Repeated::default(), blobs)
    }

    /// The same behind a record whose texts may stand here again.
    pub(super) fn decode_after_with(&self, repeated: &mut Repeated, blobs: &dyn Blobs) -> Result<Record, Error> {
        if self.layout.blobs.is_none() {
            return self.decode_after(repeated);
        }
        let payload = self.payload_with(blobs)?;
        let payload = Json::parse(&payload).map_err(|source| Error::Json { place: "payload".into(), source })?;
        let metadata = self.metadata(repeated)?;
        let original = self.beside(&self.layout.original, "original")?;
        let item = RolloutItem::from_json(self.type_name(), self.version(), payload)?;
        Record::from_parts(item, metadata, None, original)
    }

    /// The payload with the bytes of its blobs put back: the wire bytes.
    ///
    /// # Errors
    /// [`Error::BlobMismatch`] and what `blobs` says, [`Error::Json`] and [`Error::Misshapen`] for what names the blobs.
    pub fn payload_with(&self, blobs: &dyn Blobs) -> Result<String, Error> {
        let text = self.text.get(self.layout.payload.clone()).unwrap_or_default();
        expand_blobs(text, &self.blobs()?, |blob| blobs.read_blob(blob))
    }

    /// The blobs that its payload needs.
    ///
    /// # Errors
    /// [`Error::Json`] and [`Error::Misshapen`].
    pub fn blobs(&self) -> Result<Vec<BlobRef>, Error> {
        let named = self.layout.blobs.clone().map(|range| self.part(range, "blobs")).transpose()?;
        named.map(blobs_from_json).transpose().map(Option::unwrap_or_default)
    }

    /// The record for another log, or for a later place in this one: everything but time, ordinal and checksum is
    /// copied byte for byte, also what this version does not know.
    #[must_use]
    pub fn to_draft(&self) -> Draft {
        if let Some(body) = self.layout.body.clone().and_then(|body| self.text.get(body)) {
            return Draft::Copy(CopiedBody(body.into()));
        }
        let mut object = ObjectWriter::new();
        for (key, value) in Json::parse(&self.text).into_iter().flat_map(Json::members) {
            if !["timestamp", "ordinal", "crc"].iter().any(|own| key.is_text(own)) {
                object.raw(key.to_str().as_deref().unwrap_or_default(), super::RawJson::from_json(value).as_str());
            }
        }
        let object = object.finish();
        Draft::Copy(CopiedBody(object[1..object.len() - 1].into()))
    }

    /// The metadata, read if they are plain; else what is JSON is read later, when the payload has been.
    fn metadata(&self, repeated: &mut Repeated) -> Result<MetadataPart<'_>, Error> {
        let Some(range) = self.layout.metadata.clone() else { return Ok(MetadataPart::Read(Metadata::default())) };
        let plain = self.text.get(range.clone()).and_then(|text| plain_metadata(text, repeated));
        plain.map_or_else(
            || self.part(range, "metadata").map(MetadataPart::Unread),
            |plain| Ok(MetadataPart::Read(plain)),
        )
    }

    fn beside(&self, range: &Option<Range<usize>>, place: &str) -> Result<Option<Json<'_>>, Error> {
        range.clone().map(|range| self.part(range, place)).transpose()
    }

    fn part(&self, range: Range<usize>, place: &str) -> Result<Json<'_>, Error> {
        let text = self.text.get(range).unwrap_or_default();
        Json::parse(text).map_err(|source| Error::Json { place: place.into(), source })
    }

    /// Whether the metadata says that the record must be understood.
    pub(super) fn must_be_understood(&self) -> bool {
        let metadata = self.layout.metadata.clone().and_then(|range| self.text.get(range));
        let metadata = metadata.and_then(|text| Json::parse(text).ok());
        metadata.and_then(|object| object.member("must_understand")).is_some_and(|mark| mark.as_raw() == "true")
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{
        super::judge::{Judgement, judge},
        *,
    };

    impl LoggedLine {
        /// The record, with nothing read the short way: each part is checked, and then read member by member.
        fn decode_the_long_way(&self) -> Result<Record, Error> {
            let metadata = self.beside(&self.layout.metadata, "metadata")?;
            let blobs = self.beside(&self.layout.blobs, "blobs")?;
            let original = self.beside(&self.layout.original, "original")?;
            let payload = self.payload()?;
            let item = RolloutItem::from_json(self.type_name(), self.version(), payload)?;
            let metadata = metadata.map_or_else(|| MetadataPart::Read(Metadata::default()), MetadataPart::Unread);
            Record::from_parts(item, metadata, blobs, original)
        }
    }

    /// Whichever way a line is read, it is the same record or the same error.
    fn agree(line: &str, repeated: &mut Repeated) -> Result<bool, TestCaseError> {
        let Judgement::Record(text, layout, trust) = judge(line.as_bytes().to_vec(), 0) else { return Ok(false) };
        let line = LoggedLine::new(text, layout, trust);
        let spelled = |record: Result<Record, Error>| record.map_err(|error| format!("{error:?}"));
        let long = spelled(line.decode_the_long_way());
        prop_assert_eq!(&spelled(line.decode_after(repeated)), &long, "{}", line.text());
        let short = line.plain_item(repeated);
        if let Some((item, metadata)) = short.clone() {
            let record = Record::from(RolloutItem::Item(item)).with_metadata(metadata);
            prop_assert_eq!(Ok(record), long, "{}", line.text());
        }
        Ok(short.is_some())
    }

    fn sealed(body: &str) -> String {
        format!("{body},\"crc\":\"{:08x}\"}}", crc32c::crc32c(body.as_bytes()))
    }

    const TYPES: [&str; 7] = ["item", "item", "item", "turn_started", "usage", "acme.mood", "it\\u0065m"];
    const METADATA: [&str; 12] = [
        "{\"position\":3,\"turn_id\":\"t1\",\"origin\":\"tool\"}",
        "{\"position\":4,\"turn_id\":\"t1\",\"kinds\":[\"user.text\",\"b\"],\"origin\":\"user\",\"success\":true}",
        "{\"position\":5,\"turn_id\":\"t2\",\"truncation_limit\":{\"tokens\":7}}",
        "{\"turn_id\":\"t\\u0031\",\"position\":5}",
        "{\"position\":5,\"provenance\":{\"answers\":1}}",
        "{\"position\":\"5\"}",
        "{\"position\":5,\"position\":6,\"turn_id\":null}",
        "{\"origin\":\"}\",\"model\":\"{\"}",
        "{\"position\":5,}",
        "{\"kinds\":[1]}",
        "[]",
        "{}",
    ];
    const PAYLOADS: [&str; 13] = [
        "{\"type\":\"message\",\"role\":\"user\",\"content\":[{\"type\":\"input_text\",\"text\":\"hi\\n\\ud800\"}]}",
        "{\"type\":\"function_call_output\",\"call_id\":\"c1\",\"output\":\"a long text of a tool, with\\tescapes \\\\ of\\/ all sorts\"}",
        "{\"type\":\"function_call\",\"call_id\":\"c\\u0031\",\"call_id\":\"c2\",\"arguments\":\"{\\\"n\\\":1e2}\"}",
        "{ \"type\" : \"reasoning\", \"n\": 12345678901234567890123 }",
        "{\"turn_id\":\"t1\"}",
        "{\"turn_id\":1}",
        "[{\"type\":\"message\"}]",
        "null",
        "{\"type\":\"mess\u{1}age\"}",
        "{\"type\":\"a\\x\"}",
        "{\"type\":\"message\"",
        "{\"type\":\"message\"}}",
        "\u{feff}{}",
    ];

    prop_compose! {
        fn bodies()(
            type_name in prop::sample::select(&TYPES[..]),
            version in prop::sample::select(&["1", "1", "1", "2", "0"][..]),
            metadata in prop::option::weighted(0.9, prop::sample::select(&METADATA[..])),
            blobs in prop::option::weighted(0.1, prop::sample::select(&["[]", "[{\"offset\":1}]", "7", "[}"][..])),
            original in prop::option::weighted(0.1, prop::sample::select(&["{\"item\":{}}", "{\"item\":[]}", "{\"a\":1}", "x"][..])),
            payload in prop::sample::select(&PAYLOADS[..]),
        ) -> String {
            let mut body = format!("{{\"timestamp\":\"2026-10-20T08:00:00.123Z\",\"ordinal\":7,\"type\":\"{type_name}\",\"v\":{version}");
            for (key, value) in [("metadata", metadata), ("blobs", blobs), ("original", original), ("payload", Some(payload))] {
                if let Some(value) = value {
                    body += &format!(",\"{key}\":{value}");
                }
            }
            body
        }
    }

    proptest! {
        #[test]
        fn a_record_is_the_same_whichever_way_it_is_read(
            bodies in prop::collection::vec(bodies(), 1..4),
            changes in prop::collection::vec((any::<prop::sample::Index>(), "[\\[\\]{}:,\"\\\\u0-9 \n\u{1}]{0,2}", 0..3_usize), 0..3),
            is_sealed in any::<bool>(),
        ) {
            // What stood in the lines before must not show in the next one.
            let mut repeated = Repeated::default();
            for mut body in bodies {
                for (place, piece, gone) in &changes {
                    let start = place.index(body.len() + 1);
                    let end = (start + gone).min(body.len());
                    if body.is_char_boundary(start) && body.is_char_boundary(end) {
                        body.replace_range(start..end, piece);
                    }
                }
                agree(&if is_sealed { sealed(&body) } else { body + "}" }, &mut repeated)?;
            }
        }
    }

    #[test]
    fn items_as_they_are_written_are_read_the_short_way() {
        let line_of = |type_and_version: &str, payload: &str| {
            let head =
                format!("{{\"timestamp\":\"2026-10-20T08:00:00.123Z\",\"ordinal\":7,\"type\":{type_and_version}");
            sealed(&format!("{head},\"metadata\":{},\"payload\":{payload}", METADATA[0]))
        };
        let line = |payload: &str| line_of("\"item\",\"v\":1", payload);
        for other in ["\"item\",\"v\":2", "\"acme.mood\",\"v\":1", "\"usage\",\"v\":1"] {
            assert!(!agree(&line_of(other, PAYLOADS[0]), &mut Repeated::default()).unwrap(), "{other}");
        }
        for payload in &PAYLOADS[..4] {
            assert!(agree(&line(payload), &mut Repeated::default()).unwrap(), "{payload}");
        }
        for payload in &PAYLOADS[6..] {
            assert!(!agree(&line(payload), &mut Repeated::default()).unwrap(), "{payload}");
        }
    }
}
