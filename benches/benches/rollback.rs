//! Taking the last user turn back while a snapshot lives.

use std::{
    hint::black_box,
    time::{Duration, Instant},
};

use addenda_benches::{conversations, naive, ours};
use criterion::{BenchmarkId, Criterion, SamplingMode, criterion_group, criterion_main};

fn rollback(criterion: &mut Criterion) {
    for (suffix, variant, len) in conversations() {
        let mut group = criterion.benchmark_group(format!("rollback{suffix}"));
        group.sample_size(20).sampling_mode(SamplingMode::Flat);
        group.warm_up_time(Duration::from_millis(100)).measurement_time(Duration::from_millis(300));
        let manager = ours::manager_of_variant(variant, len);
        let snapshot = manager.snapshot();
        group.bench_function(BenchmarkId::new("addenda", len), |bencher| {
            bencher.iter_custom(|iterations| {
                let mut timed = Duration::ZERO;
                for _ in 0..iterations {
                    let mut history = manager.clone();
                    let start = Instant::now();
                    let rolled_back = black_box(&mut history).drop_last_n_user_turns(1);
                    timed += start.elapsed();
                    assert_eq!((rolled_back.turns, history.history().item_count()), (1, len - rolled_back.items));
                }
                assert_eq!(snapshot.item_count(), len);
                timed
            });
        });
        let history = naive::History::of_variant(variant, len);
        group.bench_function(BenchmarkId::new("naive", len), |bencher| {
            bencher.iter_custom(|iterations| {
                let mut timed = Duration::ZERO;
                for _ in 0..iterations {
                    let mut history = history.clone();
                    let start = Instant::now();
                    black_box(&mut history).drop_last_turn();
                    timed += start.elapsed();
                    assert!(history.len() < len);
                }
                timed
            });
        });
        group.finish();
    }
}

criterion_group!(benches, rollback);
criterion_main!(benches);
