//! The writer on files that cut, fail and lie.

use session::{
    Error,
    rollout::{CutBack, Draft, Durability, LogWriter, RawJson, RolloutItem, WriterStart},
};

use crate::sample::{AT_MS, SharedFile, read};

fn item(text: &str) -> Draft {
    RolloutItem::Usage(RawJson::string(text)).into()
}

fn writer(file: &SharedFile) -> LogWriter<SharedFile> {
    LogWriter::new(file.clone(), "rollout.jsonl", WriterStart::NEW)
}

/// The payloads in the file; every line has to be whole.
fn texts(bytes: &[u8]) -> Vec<String> {
    let (lines, report) = read(bytes);
    assert!(report.findings.iter().all(|finding| finding.problem.to_string().contains("start with")), "{report:?}");
    assert_eq!(report.append_at, bytes.len() as u64);
    lines.iter().map(|line| line.payload().unwrap().to_str().unwrap().into_owned()).collect()
}

#[test]
fn a_batch_is_one_write_and_says_where_it_went() {
    let file = SharedFile::default();
    let mut log = writer(&file);
    let first = log.append(AT_MS, &[item("a"), item("b"), item("c")], Durability::Flush).unwrap();
    assert_eq!((first.first, first.last, first.offset), (0, 2, 0));
    assert_eq!((first.level, first.flushed_through, first.synced_through), (Durability::Flush, 2, None));
    let second = log.append(AT_MS, &[item("d")], Durability::DataSync).unwrap();
    assert_eq!((second.first, second.last, second.level), (3, 3, Durability::DataSync));
    assert_eq!(second.synced_through, Some(3));
    assert_eq!(file.with(|state| (state.appends, state.syncs)), (2, 1));
    assert_eq!(file.with(|state| state.disk.clone()), file.bytes());
    assert_eq!(texts(&file.bytes()), ["a", "b", "c", "d"]);
}

#[test]
fn a_write_that_takes_less_is_gone_on_with() {
    let file = SharedFile::default();
    file.with(|state| (state.faults.max_append, state.faults.interruptions) = (Some(50), 2));
    writer(&file).append(AT_MS, &[item("a"), item("b")], Durability::Flush).unwrap();
    assert_eq!(texts(&file.bytes()), ["a", "b"]);
}

/// Nothing of a batch that does not fit stays, whatever the room that is left.
#[test]
fn a_write_that_fails_halfway_is_cut_back() {
    let whole = SharedFile::default();
    writer(&whole).append(AT_MS, &[item("b"), item("c")], Durability::Flush).unwrap();
    for free in 0..whole.bytes().len() {
        let file = SharedFile::default();
        let mut log = writer(&file);
        log.append(AT_MS, &[item("a")], Durability::Flush).unwrap();
        file.with(|state| state.faults.free = Some(free));
        let error = log.append(AT_MS, &[item("b"), item("c")], Durability::DataSync).unwrap_err();
        let want = if free == 0 { CutBack::NothingWritten } else { CutBack::Done };
        assert!(matches!(&error, Error::Append { ordinal: 1, cut_back, .. } if *cut_back == want), "{free}: {error}");
        assert!(error.is_retryable());
        assert_eq!(texts(&file.bytes()), ["a"], "{free}");
        file.with(|state| state.faults.free = None);
        assert_eq!(log.append(AT_MS, &[item("b")], Durability::Flush).unwrap().first, 1);
        assert_eq!(texts(&file.bytes()), ["a", "b"]);
    }
}

#[test]
fn what_cannot_be_cut_at_once_is_cut_before_the_next_record() {
    let file = SharedFile::default();
    let mut log = writer(&file);
    log.append(AT_MS, &[item("a")], Durability::Flush).unwrap();
    file.with(|state| (state.faults.free, state.faults.cut_fails) = (Some(40), Some(())));
    let error = log.append(AT_MS, &[item("b")], Durability::Flush).unwrap_err();
    assert_eq!(
        error.to_string(),
        "could not append record 1 to rollout.jsonl; an incomplete record stands at its end until the next append"
    );
    // Still no cut, so still no record: two lines never fuse.
    file.with(|state| state.faults.free = None);
    let error = log.append(AT_MS, &[item("b")], Durability::Flush).unwrap_err();
    assert!(matches!(error, Error::Append { cut_back: CutBack::Pending, .. }), "{error}");
    file.with(|state| state.faults.cut_fails = None);
    log.append(AT_MS, &[item("b")], Durability::Flush).unwrap();
    assert_eq!(texts(&file.bytes()), ["a", "b"]);
}

#[test]
fn a_call_that_fails_after_it_wrote_is_cut_back_too() {
    let file = SharedFile::default();
    let mut log = writer(&file);
    file.with(|state| state.faults.append_lies = Some(()));
    let error = log.append(AT_MS, &[item("a")], Durability::Flush).unwrap_err();
    assert!(matches!(error, Error::Append { cut_back: CutBack::Done, .. }), "{error}");
    assert!(file.bytes().is_empty());
}

#[test]
fn a_file_that_someone_else_changed_is_left_alone() {
    let file = SharedFile::default();
    let mut log = writer(&file);
    log.append(AT_MS, &[item("a")], Durability::Flush).unwrap();
    file.with(|state| state.bytes.extend(b"their line\n"));
    let before = file.bytes();
    let error = log.append(AT_MS, &[item("b")], Durability::Flush).unwrap_err();
    let expected = before.len() as u64 - 11;
    assert_eq!(
        error.to_string(),
        format!("rollout.jsonl has {} bytes where this writer left {expected}", before.len())
    );
    assert_eq!(file.bytes(), before);
}

/// A system may forget after a failed sync that bytes wait for the disk; a second sync alone would claim too much.
#[test]
fn after_a_failed_sync_records_are_written_again_before_the_level_is_claimed() {
    let file = SharedFile::default();
    let mut log = writer(&file);
    log.append(AT_MS, &[item("a")], Durability::DataSync).unwrap();
    log.append(AT_MS, &[item("b")], Durability::Flush).unwrap();
    file.with(|state| state.faults.sync_failures = 1);
    let error = log.append(AT_MS, &[item("c")], Durability::DataSync).unwrap_err();
    let Error::Sync { appended, .. } = &error else { panic!("{error}") };
    assert_eq!((appended.first, appended.level), (2, Durability::Flush));
    assert_eq!((appended.flushed_through, appended.synced_through), (2, Some(0)));
    assert_eq!(error.to_string(), "records up to 2 are in rollout.jsonl but not synced");
    assert_eq!(texts(&file.with(|state| state.disk.clone())), ["a"]);
    let synced = log.sync().unwrap();
    assert_eq!(synced.synced_through, Some(2));
    assert_eq!(texts(&file.with(|state| state.disk.clone())), ["a", "b", "c"]);
    log.append(AT_MS, &[item("d")], Durability::DataSync).unwrap();
    assert_eq!(texts(&file.with(|state| state.disk.clone())), ["a", "b", "c", "d"]);
}

#[test]
fn records_that_a_failed_sync_lost_are_not_claimed() {
    let file = SharedFile::default();
    let mut log = writer(&file);
    log.append(AT_MS, &[item("a")], Durability::DataSync).unwrap();
    let synced = file.bytes().len();
    file.with(|state| (state.faults.sync_failures, state.faults.failed_sync_drops) = (1, Some(())));
    log.append(AT_MS, &[item("b")], Durability::DataSync).unwrap_err();
    let error = log.sync().unwrap_err();
    assert_eq!(error.to_string(), format!("records of rollout.jsonl behind byte {synced} were lost by a failed sync"));
}

#[test]
fn a_time_that_cannot_be_written_is_refused() {
    let file = SharedFile::default();
    let mut log = writer(&file);
    for at_ms in [i64::MAX, i64::MIN, -70_000_000_000_000] {
        let error = log.append(at_ms, &[item("a")], Durability::Flush).unwrap_err();
        assert_eq!(error.to_string(), format!("{at_ms} ms since the epoch is no time that can be written"));
    }
    assert!(file.bytes().is_empty());
    log.append(0, &[item("a")], Durability::Flush).unwrap();
    assert!(file.bytes().starts_with(b"{\"timestamp\":\"1970-01-01T00:00:00.000Z\""));
}
