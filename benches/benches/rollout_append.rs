//! Appending to a log on a disk: steps of ten records.

#![expect(clippy::expect_used, reason = "a bench that cannot have its files ends")]

use std::{
    fs::File,
    hint::black_box,
    io::Write as _,
    time::{Duration, Instant},
};

use addenda_benches::{
    corpus::{Spec, conversation},
    naive,
};
use context_fragments::WireItem;
use criterion::{BenchmarkId, Criterion, SamplingMode, Throughput, criterion_group, criterion_main};
use serde::Serialize;
use session::rollout::{Draft, Durability, FsLogFile, LogWriter, RolloutItem, WriterStart};

/// 2026-10-20T08:00:00.123Z.
const AT_MS: i64 = 1_792_483_200_123;
const STEP: usize = 10;

fn corpus_json(len: usize) -> Vec<String> {
    conversation(len).iter().map(Spec::json).collect()
}

/// The records of some steps, as a session makes them.
fn steps() -> Vec<Vec<Draft>> {
    let items: Vec<Draft> = corpus_json(1_000)
        .iter()
        .map(|item| RolloutItem::Item(WireItem::parse(item.as_bytes()).expect("the corpus is made of items")).into())
        .collect();
    items.chunks(STEP).map(<[Draft]>::to_vec).collect()
}

/// A line of the naive log.
#[derive(Serialize)]
struct Line<'a> {
    timestamp: &'static str,
    #[serde(rename = "type")]
    line_type: &'static str,
    payload: &'a naive::Item,
}

/// What the reference does: each typed item is serialised with its time stamp, written, and flushed by itself.
fn append_naive(file: &mut File, items: &[naive::Envelope], sync: bool) {
    for item in items {
        let (timestamp, line_type) = ("2026-10-20T08:00:00.123Z", "response_item");
        let line = Line { timestamp, line_type, payload: &item.item };
        let line = serde_json::to_string(&line).expect("a line can be written") + "\n";
        file.write_all(line.as_bytes()).expect("the disk has room");
        file.flush().expect("the disk has room");
        if sync {
            file.sync_data().expect("the disk can be synced");
        }
    }
}

fn rollout_append(criterion: &mut Criterion) {
    let temporary = tempfile::tempdir().expect("there is a temporary folder");
    let steps = steps();
    let bytes: usize = corpus_json(1_000).iter().map(String::len).sum();
    let items: Vec<naive::Envelope> = conversation(1_000).iter().map(naive::Envelope::from).collect();
    for (name, durability) in [("flush", Durability::Flush), ("sync", Durability::DataSync)] {
        let mut group = criterion.benchmark_group(format!("rollout_append_{name}"));
        group.sample_size(10).sampling_mode(SamplingMode::Flat);
        group.warm_up_time(Duration::from_millis(200)).measurement_time(Duration::from_secs(2));
        group.throughput(Throughput::Bytes(bytes as u64));
        group.bench_function(BenchmarkId::new("addenda", STEP), |bencher| {
            bencher.iter_custom(|rounds| {
                let mut spent = Duration::ZERO;
                for _ in 0..rounds {
                    let path = temporary.path().join("log.jsonl");
                    drop(std::fs::remove_file(&path));
                    let file = FsLogFile::create(&path).expect("a file can be made");
                    let mut log = LogWriter::new(file, &path, WriterStart::NEW);
                    let start = Instant::now();
                    for step in &steps {
                        black_box(log.append(AT_MS, step, durability).expect("the disk has room"));
                    }
                    spent += start.elapsed();
                    assert_eq!(log.next_ordinal(), items.len() as u64);
                }
                spent
            });
        });
        group.bench_function(BenchmarkId::new("naive", STEP), |bencher| {
            bencher.iter_custom(|rounds| {
                let mut spent = Duration::ZERO;
                for _ in 0..rounds {
                    let path = temporary.path().join("naive.jsonl");
                    let mut file = File::create(&path).expect("a file can be made");
                    let start = Instant::now();
                    for step in items.chunks(STEP) {
                        append_naive(&mut file, step, durability == Durability::DataSync);
                    }
                    spent += start.elapsed();
                }
                spent
            });
        });
        group.finish();
    }
}

criterion_group!(benches, rollout_append);
criterion_main!(benches);
