//! A copy of a log from which secrets were taken.

use std::path::Path;

use super::{
    BlobRef, Blobs as _, Draft, Original, Prepared, RecordReader, RolloutItem, SentMark,
    digest::Sha256,
    folder::SessionFolder,
    fsck::folder_of,
    judge::{Judgement, judge},
    line::push_line,
    lock::Owner,
    logged::LoggedLine,
    report::RecoveryReport,
    sniff::LogFormat,
    source::{LogSource, Progress},
    writer::Durability,
};
use crate::{
    Error,
    redact::{Redactor, redact_json},
    store::{Claim, FsStore, Store as _},
};

/// From which length on a string goes into a blob.
const MIN_BLOB_BYTES: usize = 16 * 1024;

/// What an export has done.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Exported {
    /// How many records are in the copy.
    pub records: u64,
    /// In how many of them something was taken out.
    pub redacted: u64,
    /// How many `sent` marks were left out: behind a change, their digests are of other bytes.
    pub sent_left_out: u64,
    /// What was found in the log; what is damaged is not in the copy.
    pub report: RecoveryReport,
}

/// Copies a log of this crate, plain or packed, into a new folder without what `redactor` finds: in every record, every
/// blob, and what stands beside payloads. Signatures, encrypted parts and ids stay byte for byte.
///
/// The copy can be read, resumed and forked like any log. From the first change on it has no `sent` marks, because the
/// prompts that were sent had other bytes.
///
/// # Errors
/// [`Error::NotOurs`], [`Error::Compressed`], [`Error::Exists`], [`Error::Io`], [`Error::Append`].
/// [`Error::BlobMismatch`] if a blob that a payload needs is damaged: it could hold anything.
pub fn export_redacted(
    from: &Path,
    to: &SessionFolder,
    owner: &Owner,
    redactor: &dyn Redactor,
    tell: &mut dyn FnMut(Progress),
) -> Result<Exported, Error> {
    let source = LogSource::open(from)?;
    if source.format() != LogFormat::Own {
        return Err(Error::NotOurs { path: from.to_owned(), format: source.format() });
    }
    let mut meter = source.meter();
    let folder = folder_of(from);
    let mut reader = RecordReader::new(source).with_path(from);
    let mut store = FsStore::new(to.clone());
    store.claim(Claim::New, owner)?;
    let (mut records, mut redacted, mut sent_left_out) = (0, 0, 0);
    for line in reader.by_ref() {
        let line = line?;
        if line.trust().is_edited() {
            continue;
        }
        if line.type_name() == "sent" && redacted > 0 {
            sent_left_out += 1;
            continue;
        }
        let whole = whole_body(&line, &folder)?;
        let clean = redact_json(&whole, redactor);
        redacted += u64::from(clean != whole);
        let prepared = prepared(&clean, line.timestamp(), redacted > 0);
        for (sha256, bytes) in &prepared.blobs {
            store.put_blob(*sha256, bytes.as_bytes(), Durability::Flush)?;
        }
        let mut text = String::new();
        push_line(&mut text, line.timestamp(), records, |out| prepared.draft.push_body(out));
        store.append_lines(text, 1)?;
        records += 1;
        meter.tell(tell);
    }
    store.sync()?;
    Ok(Exported { records, redacted, sent_left_out, report: reader.into_report() })
}

/// The record as one JSON object, with all its bytes in it.
fn whole_body(line: &LoggedLine, folder: &SessionFolder) -> Result<String, Error> {
    let has_blobs = !line.blobs()?.is_empty();
    let draft = match line.decode() {
        Ok(record) if has_blobs || has_blob_beside(&record) => {
            let mut record = line.decode_with(folder)?;
            put_back(&mut record.original, folder)?;
            if let RolloutItem::Checkpoint(checkpoint) = &mut record.item {
                for item in checkpoint.items.iter_mut().flatten() {
                    put_back(&mut item.original, folder)?;
                }
            }
            Draft::from(record)
        }
        _ => line.to_draft(),
    };
    let mut body = String::from("{");
    draft.push_body(&mut body);
    body.push('}');
    Ok(body)
}

fn has_blob_beside(record: &super::Record) -> bool {
    super::fsck::blobs_of(record).len() > record.blobs.len()
}

/// Puts the output before it was cut back into its record; one that is gone stays gone.
fn put_back(original: &mut Option<Original>, folder: &SessionFolder) -> Result<(), Error> {
    let Some(Original::Blob(blob)) = original else { return Ok(()) };
    let BlobRef { sha256, len, .. } = *blob;
    let bytes = folder.read_blob(blob).ok().filter(|bytes| Sha256::of(bytes) == sha256);
    *original = match bytes {
        None => None,
        Some(bytes) => {
            let item = context_fragments::WireItem::parse(&bytes);
            Some(Original::Inline(item.map_err(|_| Error::BlobMismatch { sha256: sha256.to_string(), bytes: len })?))
        }
    };
    Ok(())
}

/// The record for its line, large parts in blobs again; a mark of a prompt that had other bytes is not kept.
fn prepared(body: &str, timestamp: &str, is_changed: bool) -> Prepared {
    let inner = body.strip_prefix('{').and_then(|body| body.strip_suffix('}')).unwrap_or(body);
    let mut text = String::new();
    push_line(&mut text, timestamp, 0, |out| out.push_str(inner));
    text.pop();
    let copy = |text: &str| {
        let inner = text.to_owned().into_boxed_str();
        Prepared::new(Draft::Copy(super::CopiedBody(inner)), MIN_BLOB_BYTES)
    };
    let Judgement::Record(line, layout, trust) = judge(text.into_bytes(), 0) else { return copy(inner) };
    let is_large = inner.len() >= MIN_BLOB_BYTES;
    let line = LoggedLine::new(line, layout, trust);
    match line.decode() {
        Ok(mut record) if is_large || (is_changed && has_mark(&record.item).is_some()) => {
            if let RolloutItem::Checkpoint(checkpoint) = &mut record.item
                && is_changed
            {
                checkpoint.sent = None;
            }
            Prepared::new(record.into(), MIN_BLOB_BYTES)
        }
        _ => copy(inner),
    }
}

fn has_mark(item: &RolloutItem) -> Option<&SentMark> {
    match item {
        RolloutItem::Checkpoint(checkpoint) => checkpoint.sent.as_deref(),
        _ => None,
    }
}
