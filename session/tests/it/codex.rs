//! Rollouts of the Codex CLI, one file of made-up values for each generation.

use std::io::Cursor;

use session::rollout::{
    Contents, Events, KindsSource, LogFormat, Metadata, Problem, RecoveryReport, ReplayEvent, RolloutItem, sniff,
};

const GENERATIONS: [(&str, &str); 5] = [
    ("0.58", include_str!("../data/codex-0.58.jsonl")),
    ("0.105", include_str!("../data/codex-0.105.jsonl")),
    ("0.144", include_str!("../data/codex-0.144.jsonl")),
    ("0.149", include_str!("../data/codex-0.149.jsonl")),
    ("0.153", include_str!("../data/codex-0.153.jsonl")),
];

fn log(version: &str) -> &'static str {
    GENERATIONS.iter().find(|(name, _)| *name == version).unwrap().1
}

fn events(bytes: &[u8]) -> (LogFormat, Vec<ReplayEvent>, RecoveryReport) {
    let mut events = Events::open(Cursor::new(bytes)).unwrap();
    let found = events.by_ref().map(Result::unwrap).collect();
    (events.format(), found, events.into_report())
}

fn kinds(metadata: &Metadata) -> String {
    let labels: Vec<_> = metadata.kinds.iter().map(|kind| kind.as_str()).collect();
    let source = if metadata.kinds_source == KindsSource::Recognised { "?" } else { "" };
    format!("[{}]{source}", labels.join(", "))
}

/// One line for each event: what it is, its turn, and what was lifted.
fn outline(version: &str) -> String {
    let (format, events, report) = events(log(version).as_bytes());
    assert_eq!(format, LogFormat::Codex);
    let mut out = String::new();
    for event in events {
        let record = &event.record;
        let turn = record.metadata.turn_id.as_deref().map_or(String::new(), |turn| format!(" ({turn})"));
        let what = match &record.item {
            RolloutItem::Item(item) => format!("{} {}", item.type_name(), kinds(&record.metadata)),
            RolloutItem::SessionMeta(meta) => format!(
                "{} by {} base {} parent {:?} history_base {}",
                meta.session_id,
                meta.program.as_deref().unwrap_or("-"),
                meta.base_instructions.as_ref().map_or("-", |base| base.as_str()),
                meta.parent.as_ref().map(|parent| parent.session_id.as_str()),
                meta.history_base.as_ref().map_or("-", |base| base.as_str()),
            ),
            RolloutItem::WorldState(state) => state.state().as_str().chars().take(40).collect(),
            RolloutItem::TurnContext(context) => context.model().unwrap_or_default().into_owned(),
            RolloutItem::TurnEnded(turn) => turn.error.as_ref().map_or(String::new(), ToString::to_string),
            RolloutItem::TurnAborted(turn) => turn.reason.clone().unwrap_or_default(),
            RolloutItem::Rollback(rollback) => format!("{:?} turns", rollback.n_turns),
            RolloutItem::Checkpoint(checkpoint) => {
                let items = checkpoint
                    .items
                    .as_ref()
                    .map(|items| items.iter().map(|item| kinds(&item.metadata)).collect::<Vec<_>>());
                format!("{:?} epoch {:?} items {items:?}", checkpoint.summary, checkpoint.counters.epoch)
            }
            RolloutItem::Notice { name, .. } => name.clone(),
            _ => String::new(),
        };
        out += format!("{}{turn} {what}", record.item.type_name()).trim_end();
        out += "\n";
    }
    for finding in &report.findings {
        out += &format!("! {finding}\n");
    }
    for (name, count) in &report.unknown {
        out += &format!("? {name} {count}\n");
    }
    out
}

#[test]
fn generation_0_58_is_read() {
    insta::assert_snapshot!(outline("0.58"));
}

#[test]
fn generation_0_105_is_read() {
    insta::assert_snapshot!(outline("0.105"));
}

#[test]
fn generation_0_144_is_read() {
    insta::assert_snapshot!(outline("0.144"));
}

#[test]
fn generation_0_149_is_read() {
    insta::assert_snapshot!(outline("0.149"));
}

#[test]
fn generation_0_153_is_read() {
    insta::assert_snapshot!(outline("0.153"));
}

#[test]
fn what_the_host_saw_is_lifted_out_of_the_wire_bytes() {
    let (_, events, _) = events(log("0.153").as_bytes());
    let record = &events.iter().find(|event| event.ordinal == Some(9)).unwrap().record;
    let RolloutItem::Item(item) = &record.item else { panic!("{record:?}") };
    assert_eq!(item.as_str(), r#"{"type":"function_call_output","id":"fco_k9","call_id":"call_k9","output":""}"#);
    let foreign = record.metadata.foreign.as_ref().unwrap().as_str();
    assert_eq!(foreign, r#"{"passthrough":{"turn_id":"k-t1","create_time":1788591840.25}}"#);
    // Beside the item in 0.149, with the limit of the output.
    let (_, events, _) = self::events(log("0.149").as_bytes());
    let record = &events.iter().find(|event| event.ordinal == Some(5)).unwrap().record;
    assert_eq!(record.metadata.truncation_limit, Some(context_fragments::Limit::Tokens(3000)));
    assert_eq!(record.metadata.turn_id.as_deref(), Some("k-t1"));
}

#[test]
fn every_generation_is_read_up_to_any_cut() {
    for (version, text) in GENERATIONS {
        let (_, all, _) = events(text.as_bytes());
        for cut in 0..text.len() {
            let cut_text = &text.as_bytes()[..cut];
            let whole = cut_text.iter().filter(|byte| **byte == b'\n').count();
            let (format, found, report) = events(cut_text);
            let complete = text.as_bytes()[cut] == b'\n';
            assert_eq!(found.len(), whole + usize::from(complete), "{version} cut at {cut}");
            let place = |event: &ReplayEvent| (event.offset, event.record.clone());
            assert!(found.iter().map(place).eq(all.iter().take(found.len()).map(place)), "{version} cut at {cut}");
            let tail = cut - cut_text.iter().rposition(|byte| *byte == b'\n').map_or(0, |newline| newline + 1);
            let torn = report.torn_tail.map_or(0, |tail| tail.len);
            assert_eq!(torn, if complete { 0 } else { tail as u64 }, "{version} cut at {cut}");
            if !found.is_empty() {
                assert_eq!(format, LogFormat::Codex);
            }
        }
    }
}

#[test]
fn damage_costs_only_itself_in_every_generation() {
    for (version, text) in GENERATIONS {
        let (_, all, clean) = events(text.as_bytes());
        let lines: Vec<_> = text.split_inclusive('\n').collect();
        let middle = lines.len() / 2;
        let (before, after) = (lines[..middle].concat(), lines[middle..].concat());
        let records = |events: &[ReplayEvent]| events.iter().map(|event| event.record.clone()).collect::<Vec<_>>();

        let (_, marked, report) = events(format!("\u{feff}{text}").as_bytes());
        assert_eq!(records(&marked), records(&all), "{version}");
        assert_eq!(report.findings.len(), clean.findings.len() + 1);

        let (_, found, report) = events(format!("{before}~~ garbage ~~\n{after}").as_bytes());
        assert_eq!(records(&found), records(&all), "{version}");
        let garbage = report.findings.iter().find(|finding| finding.problem == Problem::NotJson).unwrap();
        assert_eq!((garbage.offset, garbage.len, garbage.line), (before.len() as u64, 13, Some(middle as u64 + 1)));

        let mut broken = text.as_bytes().to_vec();
        broken[before.len() + 20] = 0xFF;
        let (_, found, report) = events(&broken);
        assert_eq!(found.len(), all.len() - 1, "{version}");
        assert!(
            report.findings.iter().any(|finding| finding.problem == Problem::NotUtf8 { at: before.len() as u64 + 20 })
        );

        // Half a line and the repeated whole one on one line, as a writer leaves it that opens the file again.
        let torn = format!("{before}{}{after}", &lines[middle][..lines[middle].len() / 2]);
        let (_, found, report) = events(torn.as_bytes());
        assert_eq!(records(&found), records(&all), "{version}");
        assert!(report.findings.iter().any(|finding| finding.problem == Problem::Fused), "{version}");
    }
}

/// What the fixtures say, packed as the CLI packs it.
#[cfg(feature = "zstd")]
#[test]
fn a_rollout_that_was_packed_away_is_read() {
    use session::rollout::{Owner, SessionFolder, pack};

    let folder = SessionFolder::new(tempfile::tempdir().unwrap().keep());
    let plain = format!("{}/tests/data/codex-0.144.jsonl", env!("CARGO_MANIFEST_DIR"));
    std::fs::copy(&plain, folder.log_path()).unwrap();
    let want: Vec<_> = Events::open_path(&folder.log_path()).unwrap().map(Result::unwrap).collect();
    pack(&folder, &Owner::this_process("here", crate::sample::AT_MS)).unwrap();
    let mut events = Events::open_path(&folder.compressed_log_path()).unwrap();
    assert_eq!(events.format(), LogFormat::Codex);
    assert_eq!(events.by_ref().map(Result::unwrap).collect::<Vec<_>>(), want);
    assert!(events.into_report().is_clean());
    std::fs::remove_dir_all(folder.path()).unwrap();

    let torn = tempfile::tempdir().unwrap();
    let path = torn.path().join("rollout-old.jsonl.zst");
    std::fs::write(&path, b"\x28\xB5\x2F\xFD\x04\x00").unwrap();
    let mut events = Events::open_path(&path).unwrap();
    assert!(events.by_ref().all(|event| event.is_err()), "nothing is made up");
    assert_eq!(events.into_report().records, 0);
}

#[cfg(not(feature = "zstd"))]
#[test]
fn a_rollout_that_was_packed_away_is_named() {
    let temporary = tempfile::tempdir().unwrap();
    let path = temporary.path().join("rollout-old.jsonl.zst");
    std::fs::write(&path, b"\x28\xB5\x2F\xFD\x04\x00").unwrap();
    let error = Events::open_path(&path).unwrap_err();
    assert!(matches!(error, session::Error::Compressed { .. }));
    let words = "rollout-old.jsonl.zst is compressed with zstd: decompress it first";
    assert!(error.to_string().ends_with(words), "{error}");
}

#[test]
fn formats_are_told_apart_by_their_first_lines() {
    for (bytes, want) in [
        (&b""[..], LogFormat::Empty),
        (b"\n \r\n", LogFormat::Empty),
        (b"{}\n", LogFormat::Unknown),
        (b"\xFF\xFE\n", LogFormat::Unknown),
        (b"{\"timestamp\":\"x\",\"ordinal\":3,\"type\":\"world_state\",\"payload\":{\"fu", LogFormat::Codex),
        (b"{ \"type\": \"event_msg\", \"timestamp\": \"x\", \"payload\": {} }\n", LogFormat::Codex),
        (b"{\"timestamp\":\"x\",\"ordinal\":3,\"type\":\"item\",\"v\":1,\"pay", LogFormat::Own),
        (b"garbage\n{\"timestamp\":\"x\",\"type\":\"event_msg\",\"payload\":{}}\n", LogFormat::Codex),
    ] {
        assert_eq!(sniff(bytes).unwrap(), want, "{:?}", String::from_utf8_lossy(bytes));
    }
}

#[test]
fn a_foreign_log_is_never_written_to() {
    let temporary = tempfile::tempdir().unwrap();
    let folder = session::rollout::SessionFolder::new(temporary.path());
    std::fs::write(folder.log_path(), log("0.153")).unwrap();
    let owner = session::rollout::Owner::this_process("here", 0);
    let error = folder.open_writer(&owner, session::rollout::Durability::Flush).unwrap_err();
    assert!(error.to_string().ends_with("cannot be appended to: it is a Codex rollout"), "{error}");
    assert_eq!(crate::sample::file_bytes(&folder.log_path()), log("0.153").as_bytes());
}

#[test]
fn a_rollout_without_events_says_what_it_holds() {
    let header = log("0.58").lines().next().unwrap();
    assert_eq!(events(header.as_bytes()).2.contents, Contents::HeaderOnly);
    assert_eq!(events(log("0.58").as_bytes()).2.contents, Contents::Records);
}
