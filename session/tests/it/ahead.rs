//! Reading ahead on a second thread.

use std::{
    io::{Cursor, Read, Seek, SeekFrom},
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

use context_fragments::WireItem;
use session::{
    Error,
    rollout::{
        Draft, LiveEvents, OpenLimits, Original, RawJson, Record, RecoveryReport, ReplayEvent, RolloutItem, SessionMeta,
    },
};

use crate::sample::log_of;

/// The events that are read before a second thread begins, those that may be read before they are taken, and the buffers.
const AHEAD: u64 = (1 << 20) + 3 * (512 << 10) + (512 << 10);

/// A log of about as many bytes.
fn log(bytes: usize) -> Vec<u8> {
    log_of_records(items(bytes))
}

fn items(bytes: usize) -> impl Iterator<Item = Record> {
    let item = |number: usize| RolloutItem::Item(WireItem::user_text(&format!("{number} {}", "x".repeat(2_000))));
    (0..bytes / 2_200).map(move |number| item(number).into())
}

/// A log of a header and these.
fn log_of_records(records: impl Iterator<Item = Record>) -> Vec<u8> {
    let header = Record::from(RolloutItem::SessionMeta(SessionMeta::new("s1")));
    log_of(&[header].into_iter().chain(records).map(Draft::from).collect::<Vec<_>>())
}

fn open<R: Read + Seek>(file: R) -> LiveEvents<R> {
    LiveEvents::open(file, OpenLimits::default(), None, "log".into()).unwrap()
}

fn one_by_one(log: &[u8]) -> (Vec<ReplayEvent>, RecoveryReport) {
    let mut live = open(Cursor::new(log));
    (live.by_ref().map(Result::unwrap).collect(), live.into_report())
}

#[track_caller]
fn check(log: &[u8]) {
    let (mut live, mut events) = (open(Cursor::new(log)), Vec::new());
    live.read_ahead(|event| event.map(|event| events.push(event))).unwrap();
    assert_eq!((events, live.into_report()), one_by_one(log));
}

#[test]
fn what_is_read_ahead_is_what_is_read_one_by_one() {
    for bytes in [0, 5_000, 900_000, 1_100_000, 6_000_000] {
        let mut log = log(bytes);
        check(&log);
        // One line is damaged, and the last one is torn.
        let middle = log.len() / 2;
        log[middle] ^= 1;
        log.truncate(log.len() - 7);
        check(&log);
    }
}

/// A file that is counted, and that fails or panics when asked for what stands behind a place.
struct Watched {
    log: Cursor<Vec<u8>>,
    /// Up to where it was read for the second time: the way back from the end comes first.
    read: Arc<AtomicU64>,
    n_rewinds: usize,
    trap: Option<(u64, Trap)>,
}

/// What happens at a place of a file.
#[derive(Clone, Copy)]
enum Trap {
    Error,
    Panic,
}

impl Watched {
    fn new(log: Vec<u8>, trap: Option<(u64, Trap)>) -> Self {
        Self { log: Cursor::new(log), read: Arc::default(), n_rewinds: 0, trap }
    }
}

impl Read for Watched {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let n_bytes = self.log.read(buffer)?;
        if self.n_rewinds > 0 {
            let at = self.log.position();
            self.read.store(at, Ordering::SeqCst);
            match self.trap.filter(|(trap, _)| at >= *trap) {
                Some((_, Trap::Error)) => return Err(std::io::Error::other("the disk is gone")),
                Some((_, Trap::Panic)) => panic!("the trap at byte {at}"),
                None => {}
            }
        }
        Ok(n_bytes)
    }
}

impl Seek for Watched {
    fn seek(&mut self, to: SeekFrom) -> std::io::Result<u64> {
        self.n_rewinds += usize::from(to == SeekFrom::Start(0));
        self.log.seek(to)
    }
}

#[track_caller]
fn check_bound(log: Vec<u8>) {
    let file = Watched::new(log, None);
    let read = Arc::clone(&file.read);
    let (mut live, mut most, mut end) = (open(file), 0, 0);
    live.read_ahead(|event| {
        end = event?.offset;
        most = most.max(read.load(Ordering::SeqCst).saturating_sub(end));
        Ok::<(), Error>(())
    })
    .unwrap();
    assert!(end > 19_000_000, "{end}");
    assert!(most <= AHEAD, "{most} bytes were read and not yet taken");
}

#[test]
fn no_more_is_read_ahead_than_three_batches() {
    check_bound(log(20_000_000));
}

/// What is no item is held too, and so is all that a cut output was.
#[test]
fn whatever_a_record_holds_counts_as_read_ahead() {
    let long = "x".repeat(50_000);
    let usage = |_| RolloutItem::Usage(RawJson::string(&long)).into();
    check_bound(log_of_records(items(3_000_000).chain((0..400).map(usage))));
    let cut = |_| {
        let original = Original::Inline(WireItem::function_call_output("c1", &long));
        Record::from(RolloutItem::Item(WireItem::function_call_output("c1", "x"))).with_original(original)
    };
    check_bound(log_of_records(items(3_000_000).chain((0..400).map(cut))));
}

#[test]
fn an_error_of_the_taker_ends_reading() {
    let file = Watched::new(log(20_000_000), None);
    let read = Arc::clone(&file.read);
    let mut left = 2_000;
    let ended = open(file).read_ahead(|event| {
        left -= 1;
        if left == 0 { Err(event.unwrap().offset) } else { Ok(()) }
    });
    let at = ended.unwrap_err();
    assert!(read.load(Ordering::SeqCst) <= at + AHEAD, "the reader went on behind byte {at}");
}

#[test]
fn an_error_of_reading_comes_where_it_comes_one_by_one() {
    let failing = || open(Watched::new(log(6_000_000), Some((4_000_000, Trap::Error))));
    let said = |event: Result<ReplayEvent, Error>| event.map(|event| event.offset).map_err(|error| error.to_string());
    let mut events = Vec::new();
    let ended = failing().read_ahead(|event| {
        events.push(said(event));
        Ok::<(), Error>(())
    });
    assert!(ended.is_ok(), "the taker goes on");
    assert_eq!(events, failing().map(said).collect::<Vec<_>>());
    assert!(events.len() > 1_000 && events.last().is_some_and(Result::is_err), "{:?}", events.last());
}

/// A log must not look shorter than it is.
#[test]
#[should_panic(expected = "a scoped thread panicked")]
fn a_panic_of_the_reader_is_one_of_the_caller() {
    let mut live = open(Watched::new(log(20_000_000), Some((10_000_000, Trap::Panic))));
    let _ended = live.read_ahead(|event| event.map(drop));
}
