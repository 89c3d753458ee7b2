//! The format as its page says it, and files that must load for ever.

use context_fragments::{Limit, WireItem};
use context_manager::{CallState, ContextManager, Recording, TruncationPolicy};
use session::{
    Replay,
    rollout::{
        Durability, Events, FORMAT_VERSION, LogWriter, READER_VERSION, ReplayEvent, RolloutItem, Sha256, WriterStart,
    },
};

use crate::sample::{AT_MS, SharedFile, drafts, log_of, read, records};

/// The file that stands in `FORMAT.md`. Its checksums were not made by this crate.
fn worked_file() -> &'static str {
    let page = include_str!("../../FORMAT.md");
    page.split_once("```jsonl\n").and_then(|(_, rest)| rest.split_once("```")).unwrap().0
}

#[test]
fn the_worked_file_of_the_page_reads() {
    let (lines, report) = read(worked_file().as_bytes());
    assert!(report.findings.is_empty(), "{:?}", report.findings);
    let types: Vec<_> = lines.iter().map(|line| line.type_name()).collect();
    assert_eq!(types, ["session_meta", "opened", "turn_started", "item", "sent", "item"]);
    let records: Vec<_> = lines.iter().map(|line| line.decode().unwrap()).collect();
    let RolloutItem::Item(question) = &records[3].item else { panic!("{records:?}") };
    assert_eq!(*question, WireItem::user_text("What is 1e2?"));
    let RolloutItem::Sent(sent) = &records[4].item else { panic!("{records:?}") };
    let mut chain = [0; 64];
    chain[32..].copy_from_slice(Sha256::of(question.as_bytes()).as_bytes());
    assert_eq!((sent.chain, sent.n_items), (Sha256::of(&chain), 1));
    assert_eq!(sent.parameters, Sha256::of(b"{\"model\":\"m1\"}"));
}

#[test]
fn the_worked_file_is_what_the_writer_writes() {
    let file = SharedFile::default();
    let mut writer = LogWriter::new(file.clone(), "log", WriterStart::NEW);
    let (lines, _) = read(worked_file().as_bytes());
    let times = [AT_MS, AT_MS, AT_MS + 4_877, AT_MS + 4_877, AT_MS + 4_897, AT_MS + 7_127];
    for (line, at_ms) in lines.iter().zip(times) {
        writer.append(at_ms, &[line.decode().unwrap().into()], Durability::Flush).unwrap();
    }
    assert_eq!(String::from_utf8(file.bytes()).unwrap(), worked_file());
}

/// What the page says of digests and of the chain is what a resume asks for.
#[test]
fn the_prompt_of_the_worked_file_can_be_made_again() {
    let without_profile = |event: &mut ReplayEvent| {
        if let RolloutItem::Sent(mark) = &mut event.record.item {
            mark.profile = None;
        }
    };
    for change in [|_: &mut ReplayEvent| (), without_profile] {
        let recording = Recording::new(TruncationPolicy::new(Limit::Tokens(10_000)));
        let mut replay = Replay::new(ContextManager::new(), recording);
        for event in Events::open(std::io::Cursor::new(worked_file())).unwrap() {
            let mut event = event.unwrap();
            change(&mut event);
            replay.apply(&event).unwrap();
        }
        replay.verify_sent(&[]).unwrap();
        assert_eq!(replay.manager().history().item_count(), 2);
    }
}

/// Every released format keeps a file here, and each of them loads.
#[test]
fn a_log_of_format_1_loads() {
    let golden = include_bytes!("../data/own-format-1.jsonl");
    let (lines, report) = read(golden);
    assert!(report.is_clean() && report.obstacles().next().is_none(), "{:?}", report.findings);
    let found: Vec<_> = lines.iter().map(|line| line.decode().unwrap()).collect();
    assert_eq!(found, records());
    assert_eq!(report.unknown.keys().collect::<Vec<_>>(), ["acme.mood"]);
    // Writing has not changed either.
    assert_eq!(log_of(&drafts()), golden);
}

#[test]
fn the_page_names_every_type_and_the_versions() {
    let page = include_str!("../../FORMAT.md");
    let own = records();
    for name in own.iter().map(|record| record.item.type_name()).filter(|name| !name.contains('.')) {
        assert!(page.contains(&format!("| `{name}` |")), "{name}");
    }
    for name in ["tool_started", "tool_output", "folders_reached", "codex.line"] {
        assert!(page.contains(&format!("| `{name}` |")), "{name}");
    }
    assert!(page.starts_with(&format!("# The log of a session, format {FORMAT_VERSION}")));
    assert!(page.contains(&format!("{READER_VERSION} on this page")));
}

#[test]
fn a_line_is_laid_out_as_the_page_says() {
    let text = String::from_utf8(log_of(&drafts())).unwrap();
    let want = [
        r#"{"timestamp":"2026-10-20T08:00:00.123Z","ordinal":8,"type":"item","v":1"#,
        r#","metadata":{"position":4,"turn_id":"t1","origin":"tool","truncation_limit":{"tokens":2500},"acceptance_order":2,"success":true}"#,
        r#","original":{"item":{"type":"function_call_output","call_id":"c1","output":"first, middle, last"}}"#,
        r#","payload":{"type":"function_call_output","call_id":"c1","output":"first…last"}"#,
        r#","crc":"792f2a4e"}"#,
    ];
    assert_eq!(text.lines().nth(8).unwrap(), want.concat());
}

/// What a synthetic output says is what the page says, word for word.
#[test]
fn the_page_has_the_words_of_synthetic_outputs() {
    let page = include_str!("../../FORMAT.md");
    let states = [
        ("not_started", CallState::NotStarted),
        ("result_unknown", CallState::OutcomeUnknown),
        ("partial", CallState::Cancelled { partial: "half".into() }),
        ("partial", CallState::Cancelled { partial: " ".into() }),
    ];
    for (word, state) in states {
        let row = page.lines().find(|line| line.starts_with(&format!("| `{word}` | `aborted"))).unwrap();
        let said = state.text();
        assert!(row.contains(&format!("`{}`", said.strip_suffix("\nhalf").unwrap_or(&said))), "{said}");
    }
}
