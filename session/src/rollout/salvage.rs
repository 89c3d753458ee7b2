//! Getting out of a file whatever can be read, for people and for other programs.

use std::{
    io::{self, Write},
    path::Path,
};

use context_fragments::json::ObjectWriter;

use super::{
    event::Events,
    fsck::folder_of,
    judge::Trust,
    limits::ReadLimits,
    report::RecoveryReport,
    source::{LogSource, Progress},
};
use crate::Error;

/// What a salvage has found.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Salvaged {
    /// How many records were written out.
    pub records: u64,
    /// What could not be read.
    pub report: RecoveryReport,
}

/// Writes every record that can be read in a log, own or of the Codex CLI, as one JSON object on a line: `offset`,
/// `ordinal` if it has one, `timestamp`, `type`, `trust` (`whole`, `edited` or `unchecked`), `payload`.
///
/// It asks for nothing but records: not for a header, not for an order, not for blobs. Where a blob is there, its bytes are
/// put back; where it is not, the record has its holes. It is no log any more; [`repair`](super::repair) makes one.
///
/// # Errors
/// [`Error::Io`] if the log cannot be read or `out` not be written, [`Error::Compressed`].
pub fn salvage(path: &Path, out: &mut dyn Write, tell: &mut dyn FnMut(Progress)) -> Result<Salvaged, Error> {
    let source = LogSource::open(path)?;
    let mut meter = source.meter();
    let folder = folder_of(path);
    let mut events = Events::from_source(source, ReadLimits::default(), path.to_owned());
    let mut records = 0;
    let failed =
        |source: io::Error| Error::Io { action: "write what was salvaged from", path: path.to_owned(), source };
    for event in events.by_ref() {
        let event = event?;
        let mut payload = String::new();
        event.record.item.push_payload(&mut payload);
        if !event.record.blobs.is_empty()
            && let Ok(whole) =
                super::expand_blobs(&payload, &event.record.blobs, |blob| super::Blobs::read_blob(&folder, blob))
        {
            payload = whole;
        }
        let mut object = ObjectWriter::new();
        object.raw("offset", &event.offset.to_string());
        if let Some(ordinal) = event.ordinal {
            object.raw("ordinal", &ordinal.to_string());
        }
        let trust = match event.trust {
            Trust::Whole => "whole",
            Trust::Edited { .. } | Trust::Unsealed => "edited",
            Trust::Unchecked => "unchecked",
        };
        object.string("timestamp", &event.timestamp).string("type", event.record.item.type_name());
        object.string("trust", trust).raw("payload", &payload);
        out.write_all((object.finish() + "\n").as_bytes()).map_err(failed)?;
        records += 1;
        meter.tell(tell);
    }
    out.flush().map_err(failed)?;
    Ok(Salvaged { records, report: events.into_report() })
}
