//! Appending a ready item while 0, 1 or 1,000 snapshots of the history live.

use std::{
    hint::black_box,
    time::{Duration, Instant},
};

use addenda_benches::{conversations, corpus, naive, ours};
use context_manager::{ContextManager, HistorySnapshot, ReadyItem};
use criterion::{BenchmarkId, Criterion, SamplingMode, criterion_group, criterion_main};

/// Items that are appended in one timed stretch: enough to hide the clock, and whole chunks.
const BATCH: usize = 1_024;

/// Times `iterations` appends on our side; what is around them (a fork, the snapshots) is not timed.
fn append_ours(master: &ContextManager, items: &[ReadyItem], live: usize, iterations: u64) -> Duration {
    let len = master.history().item_count();
    let mut timed = Duration::ZERO;
    let mut left = usize::try_from(iterations).unwrap_or(usize::MAX);
    while left > 0 {
        let batch = left.min(BATCH);
        let mut manager = master.clone();
        // The slot behind the master is taken by an earlier batch, so the first append forks; it is not timed.
        manager.append(items[BATCH].clone());
        let snapshots: Vec<HistorySnapshot> = (0..live).map(|_| manager.snapshot()).collect();
        let ready = items[..batch].to_vec();
        let start = Instant::now();
        for item in ready {
            black_box(manager.append(item));
        }
        timed += start.elapsed();
        assert_eq!(manager.history().item_count(), len + 1 + batch);
        assert!(snapshots.iter().all(|snapshot| snapshot.item_count() == len + 1));
        left -= batch;
    }
    timed
}

/// Times `iterations` appends on the naive side, each with the snapshots alive.
fn append_naive(master: &naive::History, items: &[naive::Envelope], live: usize, iterations: u64) -> Duration {
    let len = master.len();
    let snapshots: Vec<naive::History> = (0..live).map(|_| master.clone()).collect();
    let mut timed = Duration::ZERO;
    if live > 0 {
        for _ in 0..iterations {
            let mut history = master.clone();
            let item = items[0].clone();
            let start = Instant::now();
            history.push(black_box(item));
            timed += start.elapsed();
            assert_eq!(history.len(), len + 1);
        }
    } else {
        let mut history = master.unshared();
        // The vector grows once, to where it stays; that is not timed.
        items.iter().for_each(|item| history.push(item.clone()));
        let mut left = usize::try_from(iterations).unwrap_or(usize::MAX);
        while left > 0 {
            let batch = left.min(BATCH);
            history.truncate(len);
            let ready = items[..batch].to_vec();
            let start = Instant::now();
            for item in ready {
                history.push(black_box(item));
            }
            timed += start.elapsed();
            assert_eq!(history.len(), len + batch);
            left -= batch;
        }
    }
    assert!(snapshots.iter().all(|snapshot| snapshot.len() == len));
    timed
}

fn history_append(criterion: &mut Criterion) {
    for (suffix, variant, len) in conversations() {
        let manager = ours::manager_of_variant(variant, len);
        let ready = ours::ready_items(len, BATCH + 1);
        let history = naive::History::of_variant(variant, len);
        let next: Vec<naive::Envelope> =
            corpus::conversation(len + BATCH)[len..].iter().map(naive::Envelope::from).collect();
        for live in [0, 1, 1_000] {
            let mut group = criterion.benchmark_group(format!("history_append_live_snapshots_{live}{suffix}"));
            group.sample_size(20).sampling_mode(SamplingMode::Flat);
            group.warm_up_time(Duration::from_millis(100)).measurement_time(Duration::from_millis(200));
            group.bench_function(BenchmarkId::new("addenda", len), |bencher| {
                bencher.iter_custom(|iterations| append_ours(&manager, &ready, live, iterations));
            });
            group.bench_function(BenchmarkId::new("naive", len), |bencher| {
                bencher.iter_custom(|iterations| append_naive(&history, &next, live, iterations));
            });
            group.finish();
        }
    }
}

criterion_group!(benches, history_append);
criterion_main!(benches);
