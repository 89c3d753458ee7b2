//! A file that fails in every way at any call, and what was acknowledged on it.

use std::{
    io::{self, ErrorKind},
    sync::{
        Arc, Mutex,
        atomic::{AtomicU64, Ordering},
    },
};

use proptest::prelude::*;
use session::{
    Error,
    rollout::{Draft, Durability, LogFile, LogWriter, RawJson, RolloutItem, SessionMeta, Trust, WriterStart},
};

use crate::{
    laws::at_least,
    sample::{AT_MS, read},
};

/// What one call to the file does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fault {
    None,
    /// The call does nothing and fails.
    Fails,
    /// A write takes this many bytes and succeeds.
    Short(usize),
    /// A write takes this many bytes and says that the disk is full.
    Full(usize),
    Interrupted,
    /// The call does its work and fails all the same.
    Lies,
}

/// What the system has, what the disk has, and what comes next.
#[derive(Debug, Default)]
struct State {
    bytes: Vec<u8>,
    disk: Vec<u8>,
    /// Bytes from here on wait for the disk.
    dirty_from: usize,
    faults: std::collections::VecDeque<Fault>,
    calls: u64,
    faulty_calls: u64,
}

#[derive(Clone, Debug, Default)]
struct FaultyFile(Arc<Mutex<State>>);

impl FaultyFile {
    fn with<T>(&self, look: impl FnOnce(&mut State) -> T) -> T {
        look(&mut self.0.lock().unwrap())
    }

    /// Does one call as its fault says.
    fn call<T>(&self, work: impl FnOnce(&mut State, Fault) -> io::Result<T>) -> io::Result<T> {
        self.with(|state| {
            let fault = state.faults.pop_front().unwrap_or(Fault::None);
            state.calls += 1;
            state.faulty_calls += u64::from(fault != Fault::None);
            match fault {
                Fault::Fails => Err(ErrorKind::Other.into()),
                Fault::Interrupted => Err(ErrorKind::Interrupted.into()),
                Fault::Lies => work(state, fault).and_then(|_| Err(ErrorKind::TimedOut.into())),
                _ => work(state, fault),
            }
        })
    }
}

impl LogFile for FaultyFile {
    fn len(&mut self) -> io::Result<u64> {
        self.call(|state, _| Ok(state.bytes.len() as u64))
    }

    fn append(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.call(|state, fault| {
            let taken = match fault {
                Fault::Short(at_most) | Fault::Full(at_most) => bytes.len().min(at_most),
                _ => bytes.len(),
            };
            state.bytes.extend(&bytes[..taken]);
            if matches!(fault, Fault::Full(_)) { Err(ErrorKind::StorageFull.into()) } else { Ok(taken) }
        })
    }

    fn cut(&mut self, len: u64) -> io::Result<()> {
        self.call(|state, _| {
            let len = usize::try_from(len).unwrap();
            state.bytes.truncate(len);
            state.dirty_from = state.dirty_from.min(len);
            Ok(())
        })
    }

    /// A sync that fails leaves nothing waiting: what it did not bring to the disk, no later one brings.
    fn sync_data(&mut self) -> io::Result<()> {
        let synced = self.call(|state, _| {
            let dirty = state.dirty_from;
            state.disk.resize(state.disk.len().max(dirty), 0);
            state.disk.truncate(dirty);
            state.disk.extend_from_slice(&state.bytes[dirty..]);
            Ok(())
        });
        self.with(|state| state.dirty_from = state.bytes.len());
        synced
    }

    fn read_at(&mut self, offset: u64, bytes: &mut [u8]) -> io::Result<usize> {
        self.call(|state, fault| {
            let rest = state.bytes.get(usize::try_from(offset).unwrap()..).unwrap_or_default();
            let most = if let Fault::Short(most) = fault { most.max(1) } else { usize::MAX };
            let read = rest.len().min(bytes.len()).min(most);
            bytes[..read].copy_from_slice(&rest[..read]);
            Ok(read)
        })
    }

    fn write_over(&mut self, offset: u64, bytes: &[u8]) -> io::Result<()> {
        self.call(|state, _| {
            let start = usize::try_from(offset).unwrap();
            state.bytes[start..start + bytes.len()].copy_from_slice(bytes);
            state.dirty_from = state.dirty_from.min(start);
            Ok(())
        })
    }
}

fn fault() -> impl Strategy<Value = Fault> {
    prop_oneof![
        6 => Just(Fault::None),
        1 => Just(Fault::Fails),
        2 => (0_usize..200).prop_map(Fault::Short),
        2 => (0_usize..200).prop_map(Fault::Full),
        1 => Just(Fault::Interrupted),
        1 => Just(Fault::Lies),
    ]
}

/// The records of each batch, and the level that is asked for.
fn batches() -> impl Strategy<Value = Vec<(Vec<String>, Durability)>> {
    let text = prop_oneof!["\\PC{0,60}", Just(String::from("\u{0}\n,\"crc\":\"00000000\"}")), "[a-z]{100,300}"];
    let level = prop_oneof![Just(Durability::Flush), Just(Durability::DataSync)];
    proptest::collection::vec((proptest::collection::vec(text, 0..4), level), 1..12)
}

/// How much was tried in all cases together.
static CALLS: AtomicU64 = AtomicU64::new(0);
static FAULTS: AtomicU64 = AtomicU64::new(0);

/// The texts of whole records, none of them damaged but at the end.
fn texts(bytes: &[u8], may_be_torn: bool) -> Result<Vec<String>, TestCaseError> {
    let (lines, report) = read(bytes);
    prop_assert!(lines.iter().all(|line| line.trust() == Trust::Whole));
    let torn = usize::from(report.torn_tail.is_some());
    prop_assert!(may_be_torn || torn == 0, "a torn tail");
    prop_assert!(
        report.findings.len() <= torn || report.torn_tail.is_none() && report.is_clean(),
        "{:?}",
        report.findings
    );
    let texts = lines.iter().skip(1).map(|line| line.payload().unwrap().to_str().unwrap().into_owned());
    Ok(texts.collect())
}

/// Any records, any chunking, any faults: what is read is what was written, in order, once; and after a loss of power
/// everything is there that was acknowledged as synced.
#[test]
fn law_8_what_is_read_is_what_was_acknowledged() {
    proptest!(at_least(1_000), |(batches in batches(), faults in proptest::collection::vec(fault(), 0..80))| {
        let file = FaultyFile::default();
        let mut log = LogWriter::new(file.clone(), "log", WriterStart::NEW);
        let header = [RolloutItem::SessionMeta(SessionMeta::new("s1")).into()];
        log.append(AT_MS, &header, Durability::DataSync).unwrap();
        file.with(|state| state.faults = faults.into());
        let mut written: Vec<String> = Vec::new();
        let mut n_synced = 0;
        let mut lost = false;
        'batches: for (texts_of_batch, level) in &batches {
            let drafts: Vec<Draft> =
                texts_of_batch.iter().map(|text| RolloutItem::Usage(RawJson::string(text)).into()).collect();
            // The schedule is finite, so a batch that is tried again comes through.
            for _ in 0..200 {
                match log.append(AT_MS, &drafts, *level) {
                    Ok(done) => {
                        written.extend(texts_of_batch.iter().cloned());
                        prop_assert_eq!(done.flushed_through, written.len() as u64);
                        prop_assert!(done.level >= *level);
                        if *level == Durability::DataSync {
                            n_synced = written.len();
                            prop_assert_eq!(done.synced_through, Some(n_synced as u64));
                        }
                        continue 'batches;
                    }
                    // Nothing of it is there: it is made again.
                    Err(Error::Append { .. }) => {}
                    Err(Error::Sync { appended, .. }) => {
                        written.extend(texts_of_batch.iter().cloned());
                        prop_assert_eq!(appended.level, Durability::Flush);
                        prop_assert_eq!(appended.flushed_through, written.len() as u64);
                        continue 'batches;
                    }
                    Err(Error::Lost { .. }) => {
                        // Only what was never synced, and the writer says so instead of claiming it.
                        lost = true;
                        break 'batches;
                    }
                    Err(error) => prop_assert!(false, "{error}"),
                }
                let on_disk = texts(&file.with(|state| state.disk.clone()), true)?;
                prop_assert!(on_disk.len() >= n_synced && on_disk[..n_synced] == written[..n_synced]);
            }
            prop_assert!(false, "a batch never came through");
        }
        file.with(|state| state.faults.clear());
        if !lost {
            match log.sync() {
                Ok(done) => prop_assert_eq!(done.synced_through, Some(written.len() as u64)),
                Err(error) => prop_assert!(matches!(error, Error::Lost { .. }), "{}", error),
            }
        }
        // A torn tail may still stand there until the next append, and behind it nothing.
        let in_system = texts(&file.with(|state| state.bytes.clone()), true)?;
        prop_assert!(in_system == written, "{:?} and {:?}", in_system, written);
        let on_disk = texts(&file.with(|state| state.disk.clone()), true)?;
        prop_assert!(on_disk.len() >= n_synced && on_disk[..n_synced] == written[..n_synced]);
        file.with(|state| {
            CALLS.fetch_add(state.calls, Ordering::Relaxed);
            FAULTS.fetch_add(state.faulty_calls, Ordering::Relaxed);
        });
    });
    let (calls, faults) = (CALLS.load(Ordering::Relaxed), FAULTS.load(Ordering::Relaxed));
    assert!(faults > 5_000, "{faults} faults are too few to say anything");
    println!("{calls} calls, {faults} faults, lost: 0");
}

/// Each kind of fault at each call of one run, one at a time and two in a row.
#[test]
fn each_fault_at_each_call_costs_nothing_that_was_acknowledged() {
    let kinds = [
        Fault::Fails,
        Fault::Short(0),
        Fault::Short(17),
        Fault::Full(0),
        Fault::Full(40),
        Fault::Interrupted,
        Fault::Lies,
    ];
    let mut runs = 0;
    for first in kinds {
        for second in [None].into_iter().chain(kinds.map(Some)) {
            for at in 0..40 {
                let file = FaultyFile::default();
                let mut log = LogWriter::new(file.clone(), "log", WriterStart::NEW);
                let header = [RolloutItem::SessionMeta(SessionMeta::new("s1")).into()];
                log.append(AT_MS, &header, Durability::DataSync).unwrap();
                file.with(|state| {
                    state.faults.extend(std::iter::repeat_n(Fault::None, at).chain([first]).chain(second));
                });
                let mut written = Vec::new();
                for number in 0..8 {
                    let level = if number % 2 == 0 { Durability::Flush } else { Durability::DataSync };
                    let text = format!("record {number}");
                    let draft: Draft = RolloutItem::Usage(RawJson::string(&text)).into();
                    let mut attempts = 0..10;
                    loop {
                        attempts.next().unwrap_or_else(|| panic!("{first:?} {second:?} at {at}: never taken"));
                        match log.append(AT_MS, std::slice::from_ref(&draft), level) {
                            Err(Error::Append { .. }) => {}
                            Ok(_) | Err(Error::Sync { .. }) => break written.push(text),
                            Err(error) => panic!("{first:?} {second:?} at {at}: {error}"),
                        }
                    }
                }
                assert!((0..5).any(|_| log.sync().is_ok()), "{first:?} {second:?} at {at}");
                for bytes in [file.with(|state| state.bytes.clone()), file.with(|state| state.disk.clone())] {
                    assert_eq!(texts(&bytes, false).unwrap(), written, "{first:?} {second:?} at {at}");
                }
                runs += 1;
            }
        }
    }
    assert_eq!(runs, 7 * 8 * 40);
    println!("{runs} runs with one or two faults, lost: 0");
}
