//! Appending to a log on a disk: steps of ten records.

#![expect(clippy::expect_used, reason = "a bench that cannot have its files ends")]

use std::{
    fs::File,
    hint::black_box,
    io::Write as _,
    time::{Duration, Instant},
};

use addenda_benches::corpus::{Spec, conversation};
use context_fragments::WireItem;
use criterion::{Criterion, SamplingMode, Throughput, criterion_group, criterion_main};
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

/// What the reference does: each item is parsed into a value, written with its time stamp, and flushed by itself.
fn append_naive(file: &mut File, items: &[String], sync: bool) {
    for item in items {
        let payload: serde_json::Value = serde_json::from_str(item).expect("the corpus is JSON");
        let line = serde_json::json!({
            "timestamp": "2026-10-20T08:00:00.123Z",
            "type": "response_item",
            "payload": payload,
        });
        let line = serde_json::to_string(&line).expect("a value can be written") + "\n";
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
    let items = corpus_json(1_000);
    let bytes: usize = items.iter().map(String::len).sum();
    for (name, durability) in [("flush", Durability::Flush), ("sync", Durability::DataSync)] {
        let mut group = criterion.benchmark_group(format!("rollout_append_{name}"));
        group.sample_size(10).sampling_mode(SamplingMode::Flat);
        group.warm_up_time(Duration::from_millis(200)).measurement_time(Duration::from_secs(2));
        group.throughput(Throughput::Bytes(bytes as u64));
        group.bench_function("addenda", |bencher| {
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
        group.bench_function("naive", |bencher| {
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
