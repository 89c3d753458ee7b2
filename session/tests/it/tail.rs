//! Reading from the end.

use std::io::{self, Cursor, Read, Seek, SeekFrom};

use context_fragments::{Limit, WireItem};
use context_manager::{ContextManager, Recording, TruncationPolicy};
use session::{
    Error, Replay,
    rollout::{
        Checkpoint, CheckpointCause, CheckpointItem, Draft, LiveEvents, Metadata, OpenLimits, ReadLimits, Record,
        RecordReader, RolloutItem, SessionMeta, TurnStarted, last_checkpoint,
    },
};

use crate::sample::{log_of, read};

fn item(index: usize) -> Draft {
    RolloutItem::Item(WireItem::user_text(&format!("item {index} {}", "x".repeat(index % 7 * 40)))).into()
}

fn checkpoint(text: &str) -> Draft {
    let items = vec![CheckpointItem::new(WireItem::user_text(text), Metadata::new())];
    RolloutItem::Checkpoint(Checkpoint::new(CheckpointCause::Request, items)).into()
}

/// A log with checkpoints at these ordinals.
fn log(n: usize, checkpoints: &[usize]) -> Vec<u8> {
    let drafts: Vec<_> = (0..n)
        .map(|ordinal| match ordinal {
            0 => RolloutItem::SessionMeta(SessionMeta::new("s1")).into(),
            // An item whose text looks like a checkpoint is none.
            1 => RolloutItem::Item(WireItem::user_text("{\"timestamp\":\"\",\"ordinal\":1,\"type\":\"checkpoint\""))
                .into(),
            _ if checkpoints.contains(&ordinal) => checkpoint("window"),
            _ => item(ordinal),
        })
        .collect();
    log_of(&drafts)
}

/// Counts what is read.
struct Counted(Cursor<Vec<u8>>, u64);

impl Read for Counted {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        let read = self.0.read(bytes)?;
        self.1 += read as u64;
        Ok(read)
    }
}

impl Seek for Counted {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.0.seek(to)
    }
}

#[test]
fn the_newest_checkpoint_is_found() {
    for (checkpoints, want) in [(&[][..], None), (&[5], Some(5)), (&[5, 90], Some(90)), (&[2, 3, 199], Some(199))] {
        let log = log(200, checkpoints);
        let place = last_checkpoint(&mut Cursor::new(&log), ReadLimits::default()).unwrap();
        assert_eq!(place.map(|place| place.ordinal), want);
        let Some(place) = place else { continue };
        let offset = usize::try_from(place.offset).unwrap();
        let mut reader = RecordReader::starting_at(&log[offset..], ReadLimits::default(), place.offset, place.ordinal);
        let first = reader.next().unwrap().unwrap();
        assert_eq!((first.type_name(), first.offset()), ("checkpoint", place.offset));
        assert_eq!(reader.by_ref().count() as u64, 199 - place.ordinal);
        assert!(reader.report().is_clean());
    }
}

#[test]
fn a_damaged_checkpoint_is_passed_over() {
    let mut log = log(200, &[5, 90]);
    let at = read(&log).0[90].offset();
    log[usize::try_from(at).unwrap() + 100] ^= 1;
    let place = last_checkpoint(&mut Cursor::new(&log), ReadLimits::default()).unwrap().unwrap();
    assert_eq!(place.ordinal, 5);
}

#[test]
fn what_stands_before_the_checkpoint_is_not_read() {
    let log = log(20_000, &[19_900]);
    let window = (read(&log).0[19_900].offset(), log.len() as u64);
    let mut file = Counted(Cursor::new(log), 0);
    last_checkpoint(&mut file, ReadLimits::default()).unwrap().unwrap();
    // The window, rounded up to blocks, and the checkpoint itself once more.
    assert!(
        file.1 <= (window.1 - window.0) + 2 * 64 * 1024,
        "{} bytes for a window of {}",
        file.1,
        window.1 - window.0
    );
}

/// A log as large as one likes that is never in memory: a header, the same lines over and over, and an end.
struct Huge {
    head: Vec<u8>,
    filler: Vec<u8>,
    n_filler: u64,
    end: Vec<u8>,
    at: u64,
    read: u64,
}

impl Huge {
    fn len(&self) -> u64 {
        (self.head.len() + self.end.len()) as u64 + self.filler.len() as u64 * self.n_filler
    }
}

impl Read for Huge {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        let (head, filler) = (self.head.len() as u64, self.filler.len() as u64 * self.n_filler);
        let index = |at: u64| usize::try_from(at).unwrap();
        let rest = if self.at < head {
            &self.head[index(self.at)..]
        } else if self.at < head + filler {
            &self.filler[index((self.at - head) % self.filler.len() as u64)..]
        } else {
            self.end.get(index(self.at - head - filler)..).unwrap_or_default()
        };
        let read = rest.len().min(bytes.len());
        bytes[..read].copy_from_slice(&rest[..read]);
        self.at += read as u64;
        self.read += read as u64;
        Ok(read)
    }
}

impl Seek for Huge {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.at = match to {
            SeekFrom::Start(at) => at,
            SeekFrom::End(by) => self.len().checked_add_signed(by).unwrap(),
            SeekFrom::Current(by) => self.at.checked_add_signed(by).unwrap(),
        };
        Ok(self.at)
    }
}

/// A gigabyte of log, and a live window of two megabytes behind its last checkpoint, which stands in a turn.
fn huge() -> Huge {
    let mut drafts: Vec<Draft> = vec![RolloutItem::SessionMeta(SessionMeta::new("s1")).into()];
    let filler: Vec<Draft> = (0..200).map(|index| item(index * 5)).collect();
    drafts.push(RolloutItem::TurnStarted(TurnStarted::new("turn-7")).into());
    drafts.push(checkpoint(&"w".repeat(1_000_000)));
    drafts.extend((0..1000).map(|_| Draft::from(RolloutItem::Item(WireItem::user_text(&"x".repeat(900))))));
    let whole = log_of(&drafts);
    let header = whole.iter().position(|byte| *byte == b'\n').unwrap() + 1;
    let filler = log_of(&filler);
    let n_filler = 1_000_000_000 / filler.len() as u64;
    Huge { head: whole[..header].to_vec(), filler, n_filler, end: whole[header..].to_vec(), at: 0, read: 0 }
}

#[test]
fn s10_of_a_gigabyte_only_the_live_window_is_read_and_held() {
    let mut log = huge();
    let (len, window) = (log.len(), log.end.len() as u64);
    assert!(len > 990_000_000 && window > 2_000_000 && window < 2_300_000, "{len} {window}");
    let mut n_events = 0;
    let allocated = allocation_counter::measure(|| {
        let mut live = LiveEvents::open(&mut log, OpenLimits::default(), None, "log".into()).unwrap();
        assert_eq!(live.checkpoint().map(|place| place.ordinal), Some(2));
        let first: Vec<_> = live.by_ref().take(2).map(|event| event.unwrap().record.item).collect();
        assert!(
            matches!(&first[..], [RolloutItem::SessionMeta(_), RolloutItem::TurnStarted(turn)] if turn.turn_id.as_deref() == Some("turn-7"))
        );
        n_events = live.by_ref().map(Result::unwrap).count();
        assert!(live.into_report().findings.iter().all(|finding| !finding.problem.is_damage()));
    });
    assert_eq!(n_events, 1001);
    // The way back and the way forth, the checkpoint once more to prove it, and some blocks.
    assert!(log.read < 2 * window + 1_000_000 + 10 * 256 * 1024, "{} bytes were read of {len}", log.read);
    // A checkpoint of one megabyte is held as bytes, as a line and as items at the same time.
    assert!(allocated.bytes_max < 8_000_000, "{} bytes were held at once", allocated.bytes_max);
}

#[test]
fn s10_a_limit_is_an_error_before_it_is_passed() {
    for (max_bytes, fits) in [(500_000, false), (1_200_000, false), (1_900_000, false), (2_200_000, true)] {
        let mut log = huge();
        let mut result = Ok(0);
        let allocated = allocation_counter::measure(|| {
            let limits = OpenLimits::default().with_max_bytes(max_bytes);
            let live = LiveEvents::open(&mut log, limits, None, "log".into());
            result = live.and_then(|mut live| live.try_fold(0, |n, event| event.map(|_| n + 1)));
        });
        match result {
            Ok(n_events) => assert!(fits && n_events == 1003, "{max_bytes}: {n_events}"),
            Err(error) => {
                assert!(!fits && matches!(error, Error::OverLimit { limit, .. } if limit == max_bytes), "{error}");
                let words = format!("log needs more than the {max_bytes} bytes that may be held: record at byte ");
                assert!(error.to_string().starts_with(&words), "{error}");
            }
        }
        assert!(allocated.bytes_max < 8_000_000, "{} bytes were held at once", allocated.bytes_max);
    }
}

/// A line of 100 MB costs its buffer, whether it stands among records or at the end.
#[test]
fn a_line_of_a_hundred_megabytes_is_stepped_over_in_bounded_memory() {
    let log = log(20, &[]);
    let middle = log.iter().position(|byte| *byte == b'\n').unwrap() + 1;
    for ended in [true, false] {
        let long = io::repeat(b'x').take(100_000_000);
        let end: &[u8] = if ended { b"\n" } else { b"" };
        let rest = if ended { &log[middle..] } else { &[] };
        let file = log[..middle].chain(long).chain(end).chain(rest);
        let mut found = (0, 0);
        let allocated = allocation_counter::measure(|| {
            let mut reader = RecordReader::with_limits(file, ReadLimits::default().with_max_line_bytes(1_000_000));
            let n_records = reader.by_ref().map(Result::unwrap).count();
            found = (n_records, reader.report().findings[0].len);
        });
        assert_eq!(found, (if ended { 20 } else { 1 }, if ended { 100_000_001 } else { 100_000_000 }));
        assert!(allocated.bytes_max < 4_000_000, "{} bytes were held", allocated.bytes_max);
    }
}

#[test]
fn without_a_checkpoint_each_item_is_held_once() {
    const BUFFERS: u64 = 512 * 1024;
    let item = WireItem::user_text(&"x".repeat(1_200));
    let recorded = |position| {
        let metadata = Metadata::new().with_position(position).with_turn_id("turn-1");
        Record::from(RolloutItem::Item(item.clone())).with_metadata(metadata).into()
    };
    let start =
        [RolloutItem::SessionMeta(SessionMeta::new("s1")), RolloutItem::TurnStarted(TurnStarted::new("turn-1"))];
    let drafts: Vec<Draft> = start.into_iter().map(Draft::from).chain((0..4_000).map(recorded)).collect();
    let log = log_of(&drafts);
    let items = 4_000 * item.as_str().len() as u64;
    let mut found = 0;
    let held = allocation_counter::measure(|| {
        let recording = Recording::new(TruncationPolicy::new(Limit::Tokens(10_000)));
        let mut replay = Replay::new(ContextManager::new(), recording);
        let live = LiveEvents::open(Cursor::new(&log[..]), OpenLimits::default(), None, "log".into()).unwrap();
        live.for_each(|event| drop(replay.apply(&event.unwrap()).unwrap()));
        found = replay.manager().history().item_count();
    });
    assert_eq!(found, 4_000);
    let bound = items * 13 / 10 + BUFFERS;
    assert!(held.bytes_max <= bound, "{} bytes for items of {items}", held.bytes_max);
}
