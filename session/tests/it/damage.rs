//! Damaged logs: every record that can be read, and every damage with its place.

use std::io::Cursor;

use session::rollout::{
    Contents, Draft, Durability, Events, LogFormat, LogWriter, Owner, Place, Problem, ReadLimits, RecordReader,
    RolloutItem, SessionFolder, SessionMeta, Trust,
};

use crate::sample::{AT_MS, drafts, file_bytes, log_of, log_of_items, raw, read, records};

fn problems(bytes: &[u8]) -> Vec<(u64, Problem)> {
    read(bytes).1.findings.into_iter().map(|finding| (finding.offset, finding.problem)).collect()
}

fn insert(bytes: &[u8], at: usize, what: &[u8]) -> Vec<u8> {
    [&bytes[..at], what, &bytes[at..]].concat()
}

fn line_starts(bytes: &[u8]) -> Vec<usize> {
    let ends = bytes.iter().enumerate().filter(|(_, byte)| **byte == b'\n').map(|(at, _)| at + 1);
    [0].into_iter().chain(ends).collect()
}

/// Cuts the log at every byte, reads it, opens it for writing and appends.
#[test]
fn s01_every_cut_keeps_all_records_before_it() {
    // A header, an item with its metadata, and a blob: the shapes that a cut can fall into.
    let drafts: Vec<Draft> = [0, 2, 6, 9].into_iter().map(|index| records().swap_remove(index).into()).collect();
    let log = log_of(&drafts);
    let starts = line_starts(&log);
    let temporary = tempfile::tempdir().unwrap();
    let folder = SessionFolder::new(temporary.path().join("s1"));
    let owner = Owner::this_process("here", AT_MS);
    std::fs::create_dir(folder.path()).unwrap();
    for cut in 0..=log.len() {
        let whole = starts.iter().rposition(|&start| start <= cut).unwrap();
        let tail = cut - starts[whole];
        // Only the newline is missing: the record is whole.
        let complete = starts.get(whole + 1) == Some(&(cut + 1));
        let n_records = whole + usize::from(complete);
        let (lines, report) = read(&log[..cut]);
        assert_eq!(lines.len(), n_records, "cut at {cut}");
        let torn = (tail > 0 && !complete).then_some((starts[whole] as u64, tail as u64));
        assert_eq!(report.torn_tail.map(|tail| (tail.offset, tail.len)), torn, "cut at {cut}");

        std::fs::write(folder.log_path(), &log[..cut]).unwrap();
        if n_records == 0 {
            let opening = folder.create(&SessionMeta::new("s1"), &owner, Durability::Flush).unwrap();
            assert_eq!(opening.cut.map(|tail| tail.len), torn.map(|(_, len)| len));
            continue;
        }
        let mut opening = folder.open_writer(&owner, Durability::Flush).unwrap();
        assert_eq!(opening.cut.map(|tail| (tail.offset, tail.len)), torn, "cut at {cut}");
        opening.writer.append(AT_MS, &[RolloutItem::Usage(raw("{}")).into()], Durability::Flush).unwrap();
        let (again, report) = read(&file_bytes(&folder.log_path()));
        let kept: Vec<_> = again.iter().map(|line| line.text()).collect();
        let want: Vec<_> = lines.iter().map(|line| line.text()).collect();
        assert_eq!(kept[..n_records], want, "cut at {cut}");
        assert_eq!(again.len(), n_records + 2, "cut at {cut}");
        assert!(report.is_clean(), "cut at {cut}: {:?}", report.findings);
        let RolloutItem::Opened(opened) = again[n_records].decode().unwrap().item else { panic!("cut at {cut}") };
        assert_eq!(opened.cut, torn, "cut at {cut}");
    }
}

#[test]
fn s01_every_cut_of_every_type_of_record_is_read() {
    let log = log_of(&drafts());
    let starts = line_starts(&log);
    for cut in 0..log.len() {
        let whole = starts.iter().rposition(|&start| start <= cut).unwrap();
        let complete = usize::from(log[cut] == b'\n');
        let (lines, report) = read(&log[..cut]);
        assert_eq!(lines.len(), whole + complete, "cut at {cut}");
        let torn = if complete == 1 { 0 } else { cut - starts[whole] };
        assert_eq!(report.torn_tail.map_or(0, |tail| tail.len), torn as u64, "cut at {cut}");
    }
}

#[test]
fn s03_garbage_in_the_middle_costs_only_itself() {
    let log = log_of_items(5_000);
    let at = line_starts(&log)[7];
    for garbage in ["%%% not a record %%%\n", "{\"timestamp\":\"2026\n", "[1,2]\n", "{\"a\":1}\n", "\0\0\0\0\n"] {
        let damaged = insert(&log, at, garbage.as_bytes());
        let (lines, report) = read(&damaged);
        assert_eq!(lines.len(), 5_001, "{garbage:?}");
        assert_eq!(report.findings.len(), 1, "{garbage:?}: {:?}", report.findings);
        assert_eq!((report.findings[0].offset, report.findings[0].line), (at as u64, Some(8)));
        assert_eq!(report.findings[0].len, garbage.len() as u64 - 1);
    }
}

#[test]
fn s03_bytes_that_are_not_utf8_cost_only_their_line() {
    let mut log = log_of_items(20);
    let starts = line_starts(&log);
    log[starts[4] + 100] = 0xFF;
    let (lines, report) = read(&log);
    assert_eq!(lines.len(), 20);
    let found: Vec<_> = report.findings.iter().map(|finding| (finding.offset, &finding.problem)).collect();
    let at = (starts[4] + 100) as u64;
    let missing = Problem::OrdinalsMissing { first: 4, last: 4 };
    assert_eq!(found, [(starts[4] as u64, &Problem::NotUtf8 { at }), (starts[5] as u64, &missing)]);
}

#[test]
fn s05_a_byte_order_mark_is_passed_over() {
    let log = insert(&log_of_items(3), 0, b"\xEF\xBB\xBF");
    let (lines, report) = read(&log);
    assert_eq!((lines.len(), lines[0].offset()), (4, 3));
    assert_eq!(problems(&log), [(0, Problem::ByteOrderMark)]);
    assert!(report.is_clean() && report.obstacles().next().is_none());
    let mut events = Events::open(Cursor::new(log)).unwrap();
    assert_eq!((events.format(), events.by_ref().count()), (LogFormat::Own, 4));
}

#[test]
fn s06_a_log_without_records_says_what_it_holds() {
    let header = log_of(&[RolloutItem::SessionMeta(SessionMeta::new("s1")).into()]);
    for (bytes, contents, text) in [
        (&b""[..], Contents::Empty, "no byte"),
        (b"\n", Contents::BlankOnly, "only blank lines"),
        (b" \n\r\n\t\n", Contents::BlankOnly, "only blank lines"),
        (b"\xEF\xBB\xBF\n", Contents::BlankOnly, "only blank lines"),
        (b"half", Contents::DamagedOnly, "only damaged lines"),
        (&header, Contents::HeaderOnly, "only a header"),
    ] {
        assert_eq!(read(bytes).1.contents, contents, "{bytes:?}");
        assert_eq!(contents.to_string(), text);
        let mut events = Events::open(Cursor::new(bytes)).unwrap();
        assert_eq!(events.by_ref().count(), usize::from(contents == Contents::HeaderOnly));
        assert_eq!(events.into_report().contents, contents);
    }
}

#[test]
fn s06_an_empty_log_is_not_opened_for_writing_and_can_be_created() {
    let temporary = tempfile::tempdir().unwrap();
    let folder = SessionFolder::new(temporary.path());
    let owner = Owner::this_process("here", AT_MS);
    for left in ["", "\n\n", "{\"timestamp\":\"2026-10-2"] {
        std::fs::write(folder.log_path(), left).unwrap();
        let error = folder.open_writer(&owner, Durability::Flush).unwrap_err();
        assert!(matches!(error, session::Error::Empty { .. } | session::Error::NotOurs { .. }), "{left:?}: {error}");
        folder.create(&SessionMeta::new("s1"), &owner, Durability::Flush).unwrap();
        assert_eq!(read(&file_bytes(&folder.log_path())).0.len(), 2);
        let error = folder.create(&SessionMeta::new("s1"), &owner, Durability::Flush).unwrap_err();
        assert!(matches!(error, session::Error::Exists { .. }), "{error}");
    }
    let codex = "{\"timestamp\":\"2026-09-01T08:00:00.000Z\",\"type\":\"event_msg\",\"payload\":{\"ty";
    for (theirs, what) in [
        ("Dear diary\n", "no log that is known"),
        ("Dear diary", "no log that is known"),
        ("{\"timestamp\":\"\n", "no log that is known"),
        (codex, "a Codex rollout"),
    ] {
        std::fs::write(folder.log_path(), theirs).unwrap();
        let error = folder.create(&SessionMeta::new("s1"), &owner, Durability::Flush).unwrap_err();
        assert!(error.to_string().ends_with(&format!("cannot be appended to: it is {what}")), "{error}");
        assert_eq!(file_bytes(&folder.log_path()), theirs.as_bytes());
    }
}

/// A log as a newer version might write it: a new type, a new word in a known type, new members at every level.
fn newer_log() -> Vec<u8> {
    let bodies = [
        r#""type":"session_meta","v":1,"payload":{"format":1,"session_id":"s1","mood":"new"}"#,
        r#""type":"dream","v":2,"metadata":{"depth":3},"payload":{"x":1e2,"x":2}"#,
        r#""type":"item","v":1,"metadata":{"position":3,"origin":"oracle","aura":[1]},"halo":{"a":"}"},"payload":{"type":"vision","n":-0.0}"#,
        r#""type":"checkpoint","v":1,"payload":{"cause":"molt","items":[],"shine":true}"#,
        r#""type":"turn_aborted","v":1,"payload":{"reason":"eclipse","phase":9}"#,
    ];
    let mut log = String::new();
    for (ordinal, body) in bodies.iter().enumerate() {
        let line = format!("{{\"timestamp\":\"2026-10-20T08:00:00.123Z\",\"ordinal\":{ordinal},{body}");
        log += &format!("{line},\"crc\":\"{:08x}\"}}\n", crc32c::crc32c(line.as_bytes()));
    }
    log.into_bytes()
}

#[test]
fn s08_what_is_not_known_is_kept_and_copied_byte_for_byte() {
    let log = newer_log();
    let (lines, report) = read(&log);
    assert!(report.is_clean(), "{:?}", report.findings);
    assert_eq!(report.unknown.iter().collect::<Vec<_>>(), [(&String::from("dream"), &1)]);
    let items: Vec<_> = lines.iter().map(|line| line.decode().unwrap()).collect();
    assert!(matches!(&items[1].item, RolloutItem::Other { type_name, version: 2, .. } if type_name == "dream"));
    assert_eq!(items[2].metadata.origin.as_ref().map(|origin| origin.as_str()), Some("oracle"));
    assert!(matches!(&items[3].item, RolloutItem::Checkpoint(found) if found.cause.as_str() == "molt"));
    // The copy has the same time and ordinals, so the whole file is the same.
    let copies: Vec<Draft> = lines.iter().map(|line| line.to_draft()).collect();
    assert_eq!(log_of(&copies), log);
}

#[test]
fn a_record_that_must_be_understood_is_refused_by_name() {
    let future = |must: &str| {
        let body = format!(
            "{{\"timestamp\":\"2026-10-20T08:00:00.123Z\",\"ordinal\":1,\"type\":\"undo\",\"v\":2{must},\"payload\":{{}}"
        );
        let line = format!("{body},\"crc\":\"{:08x}\"}}\n", crc32c::crc32c(body.as_bytes()));
        [log_of_items(0), line.into_bytes()].concat()
    };
    let refused = future(",\"metadata\":{\"must_understand\":true}");
    let (lines, report) = read(&refused);
    assert_eq!(lines.len(), 2);
    let obstacle = report.obstacles().next().unwrap();
    assert_eq!(obstacle.problem, Problem::Refused { type_name: "undo".into(), needed: 2 });
    assert_eq!(obstacle.problem.to_string(), "`undo` (version 2) must be understood and is not known here");
    assert!(read(&future("")).1.is_clean());
}

#[test]
fn an_edited_record_is_shown_and_marked() {
    let log = String::from_utf8(log_of_items(3)).unwrap();
    let edited = log.replace("item 1", "item 9");
    let (lines, report) = read(edited.as_bytes());
    assert_eq!(lines.len(), 4);
    assert!(matches!(lines[2].trust(), Trust::Edited { .. }));
    assert_eq!(report.obstacles().count(), 1);
    // An editor that lays the line out anew leaves no checksum where it belongs.
    let spaced =
        log.replace("\"v\":1,\"payload\":{\"type\":\"message\"", "\"v\": 1, \"payload\": { \"type\": \"message\"");
    let (lines, report) = read(spaced.as_bytes());
    assert_eq!((lines.len(), report.obstacles().count()), (4, 3));
    assert_eq!(lines[1].payload().unwrap().member("role").unwrap().as_raw(), "\"user\"");
    let reordered = "{\"type\":\"usage\",\"v\":1,\"payload\":{ \"a\": 1 },\"ordinal\":4,\"timestamp\":\"2026-10-20T08:00:00.123Z\"}\n";
    let (lines, report) = read(&[log.as_bytes(), reordered.as_bytes()].concat());
    assert_eq!(lines[4].trust(), Trust::Unsealed);
    assert!(report.findings.iter().any(|finding| finding.problem == Problem::Unsealed));
    let copied = log_of(&[lines[4].to_draft()]);
    let body = "\"ordinal\":0,\"type\":\"usage\",\"v\":1,\"payload\":{\"a\":1},\"crc\":";
    assert!(String::from_utf8(copied).unwrap().contains(body));
}

#[test]
fn ordinals_that_are_missing_repeated_or_late_are_named() {
    let log = log_of_items(6);
    let starts = line_starts(&log);
    let line = |index: usize| &log[starts[index]..starts[index + 1]];
    let mixed = [line(0), line(1), line(4), line(2), line(2), line(6), line(1)].concat();
    let (lines, report) = read(&mixed);
    let found: Vec<_> = report.findings.iter().map(|finding| finding.problem.clone()).collect();
    let want = [
        Problem::OrdinalsMissing { first: 2, last: 3 },
        Problem::OrdinalOutOfOrder { ordinal: 2 },
        Problem::OrdinalRepeated { ordinal: 2 },
        Problem::OrdinalsMissing { first: 5, last: 5 },
        Problem::OrdinalRepeated { ordinal: 1 },
    ];
    assert_eq!(found, want);
    let places: Vec<_> = lines.iter().map(|line| line.place()).collect();
    use Place::{InOrder, Late, Repeated};
    assert_eq!(places, [InOrder, InOrder, InOrder, Late, Repeated, InOrder, Repeated]);
    assert_eq!(report.next_ordinal, 7);
}

#[test]
fn an_edited_ordinal_does_not_displace_the_records_behind_it() {
    let log = String::from_utf8(log_of_items(3)).unwrap();
    let (lines, report) = read(log.replace("\"ordinal\":1,", "\"ordinal\":18446744073709551615,").as_bytes());
    let places: Vec<_> = lines.iter().map(|line| line.place()).collect();
    assert_eq!(places, [Place::InOrder, Place::Unknown, Place::InOrder, Place::InOrder]);
    let problems: Vec<_> = report.findings.iter().map(|finding| finding.problem.to_string()).collect();
    assert!(problems[0].starts_with("edited") && problems[1] == "record 1 is missing", "{problems:?}");
    assert_eq!((problems.len(), report.next_ordinal), (2, 4));
}

#[test]
fn records_that_share_a_line_are_told_apart() {
    let log = log_of_items(3);
    let starts = line_starts(&log);
    // A torn write and the record after it on one line, as a writer without a cut would leave it.
    let torn = [&log[..starts[2] + 30], &log[starts[2]..]].concat();
    let (lines, report) = read(&torn);
    assert_eq!(lines.len(), 4);
    assert_eq!(problems(&torn), [(starts[2] as u64, Problem::Fused)]);
    assert_eq!(report.findings[0].len, 30);
    // A newline that became another byte.
    let mut joined = log;
    joined[starts[2] - 1] = b' ';
    assert_eq!((read(&joined).0.len(), problems(&joined)), (4, vec![(starts[2] as u64 - 1, Problem::Fused)]));
}

#[test]
fn half_a_surrogate_pair_is_kept_and_noted() {
    for (payload, lone) in [
        (r#"{"s":"\ud800"}"#, 1),
        (r#"{"s":"\udc00\ud800"}"#, 1),
        (r#"{"s":"\ud83d\ude00"}"#, 0),
        (r#"{"s":"\ud83dx\ude00"}"#, 1),
        (r#"{"s":"\ud83d\ud83d\ude00"}"#, 1),
        (r#"{"s":"\\ud800"}"#, 0),
        (r#"{"s":"\n\u00e9"}"#, 0),
    ] {
        let log =
            log_of(&[RolloutItem::SessionMeta(SessionMeta::new("s1")).into(), RolloutItem::Usage(raw(payload)).into()]);
        let (lines, report) = read(&log);
        assert_eq!(lines[1].payload().unwrap().as_raw(), payload);
        assert_eq!(
            report.findings.iter().filter(|finding| finding.problem == Problem::LoneSurrogate).count(),
            lone,
            "{payload}"
        );
        assert!(report.is_clean());
    }
}

#[test]
fn a_line_over_the_limit_is_stepped_over() {
    let log = log_of_items(3);
    let long = insert(&log, line_starts(&log)[2], &[&[b'x'; 5_000][..], b"\n"].concat());
    let limits = ReadLimits::default().with_max_line_bytes(1_000);
    let mut reader = RecordReader::with_limits(&long[..], limits);
    assert_eq!(reader.by_ref().count(), 4);
    let finding = &reader.report().findings[0];
    assert_eq!((finding.len, &finding.problem), (5_001, &Problem::TooLong { limit: 1_000 }));
}

#[test]
fn lines_that_end_like_those_of_windows_are_read() {
    let log = String::from_utf8(log_of_items(3)).unwrap().replace('\n', "\r\n");
    let (lines, report) = read(log.as_bytes());
    assert_eq!((lines.len(), report.crlf_lines, report.is_clean()), (4, 4, true));
}

#[test]
fn a_misshapen_record_is_reported_and_kept() {
    let other = RolloutItem::Other { type_name: "rollback".into(), version: 1, payload: raw(r#"{"far":true}"#) };
    let log = log_of(&[RolloutItem::SessionMeta(SessionMeta::new("s1")).into(), other.clone().into()]);
    let mut events = Events::open(Cursor::new(log)).unwrap();
    let last = events.by_ref().last().unwrap().unwrap();
    assert_eq!(last.record.item, other);
    assert_eq!(
        events.report().findings[0].problem.to_string(),
        "misshapen: rollback.to_position: expected a number here or in `n_turns`"
    );
}

#[test]
fn a_lost_line_at_the_end_does_not_give_its_ordinal_away() {
    let temporary = tempfile::tempdir().unwrap();
    let folder = SessionFolder::new(temporary.path());
    let mut log = log_of_items(3);
    let last = line_starts(&log)[3];
    log[last + 5] = b'X';
    std::fs::write(folder.log_path(), &log).unwrap();
    let opening = folder.open_writer(&Owner::this_process("here", AT_MS), Durability::Flush).unwrap();
    assert_eq!(opening.appended.first, 4);
    let _: &LogWriter = &opening.writer;
}
