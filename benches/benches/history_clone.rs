//! A snapshot of a history, taken and dropped, with all that it carries.

use std::{hint::black_box, time::Duration};

use addenda_benches::{conversations, naive, ours};
use criterion::{BenchmarkId, Criterion, SamplingMode, criterion_group, criterion_main};

fn history_clone(criterion: &mut Criterion) {
    for (suffix, variant, len) in conversations() {
        let mut group = criterion.benchmark_group(format!("history_clone{suffix}"));
        group.sample_size(20).sampling_mode(SamplingMode::Flat);
        group.warm_up_time(Duration::from_millis(200)).measurement_time(Duration::from_millis(500));
        let manager = ours::manager_of_variant(variant, len);
        let snapshot = manager.snapshot();
        assert_eq!(snapshot.item_count(), len);
        assert!(snapshot.world_state_baseline().is_some() && snapshot.reference_context_item().is_some());
        group.bench_function(BenchmarkId::new("addenda", len), |bencher| {
            bencher.iter(|| drop(black_box(black_box(&manager).snapshot())));
        });

        let history = naive::History::of_variant(variant, len);
        let copy = history.clone();
        assert!(copy.len() == len && copy.has_state());
        group.bench_function(BenchmarkId::new("naive", len), |bencher| {
            bencher.iter(|| drop(black_box(black_box(&history).clone())));
        });
        group.finish();
    }
}

criterion_group!(benches, history_clone);
criterion_main!(benches);
