//! Going on from a long log with a checkpoint near its end, and without one; the most that is held at once is printed.
//!
//! The log has 10 MB, or as many megabytes as `ADDENDA_LOG_MB` says: `ADDENDA_LOG_MB=100`, `ADDENDA_LOG_MB=1000`.

#![expect(
    clippy::expect_used,
    clippy::print_stdout,
    reason = "a bench that cannot have its files ends; its figures are read"
)]

use std::{fs::File, hint::black_box, io::BufRead as _, path::Path, time::Duration};

use addenda_benches::corpus::{Spec, conversation};
use context_fragments::{Limit, WireItem};
use context_manager::{ContextManager, Recording, TruncationPolicy};
use criterion::{BenchmarkId, Criterion, SamplingMode, criterion_group, criterion_main};
use session::{
    Replay,
    rollout::{
        Checkpoint, CheckpointCause, CheckpointItem, Draft, Durability, FsLogFile, LiveEvents, LogWriter, Metadata,
        OpenLimits, RolloutItem, SessionMeta, WriterStart,
    },
};

/// 2026-10-20T08:00:00.123Z.
const AT_MS: i64 = 1_792_483_200_123;
/// How many items stand behind the checkpoint, and how many it holds.
const WINDOW: usize = 800;
/// The most that may be held at once, in bytes, where a checkpoint stands near the end.
const MAX_HELD: u64 = 32_000_000;

fn corpus_json(len: usize) -> Vec<String> {
    conversation(len).iter().map(Spec::json).collect()
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Checkpoints {
    NearTheEnd,
    Missing,
}

/// Writes a log of about so many bytes; gives how many items a history of it has.
fn write_log(path: &Path, bytes: u64, checkpoints: Checkpoints) -> usize {
    let items: Vec<WireItem> = corpus_json(10_000)
        .iter()
        .map(|item| WireItem::parse(item.as_bytes()).expect("the corpus is made of items"))
        .collect();
    let file = FsLogFile::create(path).expect("a file can be made");
    let mut log = LogWriter::new(file, path, WriterStart::NEW);
    let mut position = 0;
    let mut metadata = || {
        position += 1;
        Metadata::new().with_position(position - 1)
    };
    let header: Draft = RolloutItem::SessionMeta(SessionMeta::new("s1")).into();
    log.append(AT_MS, &[header], Durability::Flush).expect("the disk has room");
    let record = |item: &WireItem, metadata: Metadata| -> Draft {
        session::rollout::Record::from(RolloutItem::Item(item.clone())).with_metadata(metadata).into()
    };
    let mut n_items = 0;
    'full: loop {
        for step in items.chunks(100) {
            let drafts: Vec<_> = step.iter().map(|item| record(item, metadata())).collect();
            log.append(AT_MS, &drafts, Durability::Flush).expect("the disk has room");
            n_items += drafts.len();
            if log.len() >= bytes {
                break 'full;
            }
        }
    }
    if checkpoints == Checkpoints::Missing {
        return n_items;
    }
    let window = items[..WINDOW].iter().map(|item| CheckpointItem::new(item.clone(), metadata())).collect();
    let mut checkpoint = Checkpoint::new(CheckpointCause::Compaction, window);
    checkpoint.counters.history_version = Some(1);
    let behind: Vec<_> = items[WINDOW..2 * WINDOW].iter().map(|item| record(item, metadata())).collect();
    let first = behind.len() as u64;
    checkpoint.counters.next_position = Some(metadata().position.map_or(0, |end| end - first));
    let checkpoint: Draft = RolloutItem::Checkpoint(checkpoint).into();
    log.append(AT_MS, &[checkpoint], Durability::Flush).expect("the disk has room");
    log.append(AT_MS, &behind, Durability::Flush).expect("the disk has room");
    2 * WINDOW
}

fn resume(path: &Path) -> usize {
    let recording = Recording::new(TruncationPolicy::new(Limit::Tokens(10_000)));
    let mut replay = Replay::new(ContextManager::new(), recording);
    let file = File::open(path).expect("the log is there");
    let live = LiveEvents::open(file, OpenLimits::default(), None, path.to_owned()).expect("the log can be read");
    for event in live {
        replay.apply(&event.expect("the log is whole")).expect("each record fits");
    }
    replay.manager().history().item_count()
}

/// What the reference does: the whole file in memory, each line parsed into a value, then the items kept.
fn resume_naive(path: &Path) -> usize {
    let mut items: Vec<serde_json::Value> = Vec::new();
    for line in std::io::BufReader::new(File::open(path).expect("the log is there")).lines() {
        let line: serde_json::Value = serde_json::from_str(&line.expect("the log is text")).expect("a line is JSON");
        match line["type"].as_str() {
            Some("item") => items.push(line["payload"].clone()),
            Some("checkpoint") => {
                let window = line["payload"]["items"].as_array().cloned().unwrap_or_default();
                items = window.into_iter().map(|mut item| item["payload"].take()).collect();
            }
            _ => {}
        }
    }
    items.len()
}

fn rollout_resume(criterion: &mut Criterion) {
    let temporary = tempfile::tempdir().expect("there is a temporary folder");
    let megabytes: u64 = asked("ADDENDA_LOG_MB").unwrap_or(10);
    for (name, checkpoints) in [("checkpoint", Checkpoints::NearTheEnd), ("whole", Checkpoints::Missing)] {
        let mut group = criterion.benchmark_group(format!("rollout_resume_{name}"));
        group.sample_size(10).sampling_mode(SamplingMode::Flat);
        group.warm_up_time(Duration::from_millis(200)).measurement_time(Duration::from_secs(2));
        let path = temporary.path().join(name);
        let n_items = write_log(&path, megabytes * 1_000_000, checkpoints);
        let mut found = 0;
        let ours = allocation_counter::measure(|| found = resume(&path));
        assert_eq!(found, n_items);
        let naive = allocation_counter::measure(|| found = resume_naive(&path));
        assert_eq!(found, n_items);
        println!("{name}/{megabytes} MB: at most {} bytes held, naive {}", ours.bytes_max, naive.bytes_max);
        if checkpoints == Checkpoints::NearTheEnd {
            assert!(ours.bytes_max <= MAX_HELD, "{} bytes were held, and {MAX_HELD} are the bound", ours.bytes_max);
        }
        group.bench_function(BenchmarkId::new("addenda", megabytes), |bencher| {
            bencher.iter(|| black_box(resume(&path)));
        });
        group.bench_function(BenchmarkId::new("naive", megabytes), |bencher| {
            bencher.iter(|| black_box(resume_naive(&path)));
        });
        group.finish();
    }
}

#[expect(clippy::disallowed_methods, reason = "who runs a bench speaks through the environment")]
fn asked(name: &str) -> Option<u64> {
    std::env::var(name).ok()?.parse().ok()
}

criterion_group!(benches, rollout_resume);
criterion_main!(benches);
