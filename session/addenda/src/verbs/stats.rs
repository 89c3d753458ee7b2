//! `stats`: which kind of record holds the bytes of a log.

use std::collections::BTreeMap;

use comfy_table::{CellAlignment, Table, presets::NOTHING};
use serde::Serialize;
use session::rollout::{Stats, stats};

use super::fsck::format_name;
use crate::{
    args::OneLog,
    exit::{Answer, Failure},
    output,
    progress::Bar,
};

#[derive(Debug, Serialize)]
struct Document<'a> {
    format: &'static str,
    records: u64,
    bytes: u64,
    live_bytes: u64,
    blobs: Blobs,
    types: BTreeMap<&'a str, Type>,
}

#[derive(Debug, Serialize)]
struct Blobs {
    named: u64,
    named_bytes: u64,
    bytes_on_disk: u64,
}

#[derive(Debug, Serialize)]
struct Type {
    records: u64,
    bytes: u64,
    new_blob_bytes: u64,
    named_blob_bytes: u64,
    largest: u64,
}

pub(crate) fn run(args: &OneLog) -> Result<Answer, Failure> {
    let mut bar = Bar::new();
    let counted = stats(&args.log, &mut |progress| bar.tell(progress)).map_err(|error| Failure::of(&error))?;
    drop(bar);
    let document = document(&counted);
    if document.records == 0 {
        output::say(format_args!("{}: no record in it: {}", args.log.display(), counted.report.contents));
        return Ok(Answer::No);
    }
    if args.json { output::print_json(&document) } else { output::print(&in_words(&document)) }
}

fn document(counted: &Stats) -> Document<'_> {
    let types = counted.types.iter().map(|(name, of_type)| {
        let of_type = Type {
            records: of_type.records,
            bytes: of_type.bytes,
            new_blob_bytes: of_type.new_blob_bytes,
            named_blob_bytes: of_type.named_blob_bytes,
            largest: of_type.largest,
        };
        (name.as_str(), of_type)
    });
    Document {
        format: counted.format.map_or("unknown", format_name),
        records: counted.report.records,
        bytes: counted.bytes,
        live_bytes: counted.live_bytes,
        blobs: Blobs {
            named: counted.n_blobs,
            named_bytes: counted.blob_bytes,
            bytes_on_disk: counted.blob_bytes_on_disk,
        },
        types: types.collect(),
    }
}

/// The types with most bytes first.
fn in_words(document: &Document<'_>) -> String {
    let mut table = Table::new();
    table.load_style(NOTHING).set_header(["type", "records", "bytes", "%", "largest", "blobs"]);
    let mut types: Vec<_> = document.types.iter().collect();
    types.sort_by_key(|(_, of_type)| std::cmp::Reverse(of_type.bytes.saturating_add(of_type.new_blob_bytes)));
    for (name, of_type) in types {
        let percent = of_type.bytes.saturating_mul(100).checked_div(document.bytes).unwrap_or(0);
        let numbers = [of_type.records, of_type.bytes, percent, of_type.largest, of_type.new_blob_bytes];
        table.add_row([output::one_line(name)].into_iter().chain(numbers.iter().map(ToString::to_string)));
    }
    for column in table.column_iter_mut().skip(1) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    let lines: Vec<_> = table.lines().map(|line| line.trim_end().to_owned()).collect();
    format!(
        "{} records, {} bytes; {} bytes from the newest checkpoint on; {} blobs, {} bytes\n{}\n",
        document.records,
        document.bytes,
        document.live_bytes,
        document.blobs.named,
        document.blobs.named_bytes,
        lines.join("\n")
    )
}
