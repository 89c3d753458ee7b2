//! Reading a history: its estimate in tokens, and all its items one after the other.

use std::{hint::black_box, sync::Arc, time::Duration};

use addenda_benches::{conversations, naive, ours};
use context_manager::{Estimate, TokenCounter};
use criterion::{BenchmarkId, Criterion, SamplingMode, criterion_group, criterion_main};

fn history_read(criterion: &mut Criterion) {
    for (suffix, variant, len) in conversations() {
        let (manager, history) = (ours::manager_of_variant(variant, len), naive::History::of_variant(variant, len));
        let recounted: u64 = manager.history().items().map(|envelope| Estimate.count(envelope.item())).sum();
        assert_eq!(manager.history().tokens(), recounted, "the running sum is the recount");
        assert_eq!(usize::try_from(recounted), Ok(history.estimate()), "both sides count by the same rules");
        let mut group = criterion.benchmark_group(format!("token_estimate{suffix}"));
        group.sample_size(20).sampling_mode(SamplingMode::Flat);
        group.warm_up_time(Duration::from_millis(100)).measurement_time(Duration::from_millis(300));
        group.bench_function(BenchmarkId::new("addenda", len), |bencher| {
            bencher.iter(|| black_box(black_box(&manager).history().tokens()));
        });
        group.bench_function(BenchmarkId::new("naive", len), |bencher| {
            bencher.iter(|| black_box(black_box(&history).estimate()));
        });
        group.finish();

        // The best that an iteration can be: handles in one flat piece of memory.
        let snapshot = manager.snapshot();
        let flat: Vec<Arc<naive::Envelope>> = history.items().iter().cloned().map(Arc::new).collect();
        let mut group = criterion.benchmark_group(format!("history_iterate{suffix}"));
        group.sample_size(20).sampling_mode(SamplingMode::Flat);
        group.warm_up_time(Duration::from_millis(100)).measurement_time(Duration::from_millis(300));
        group.bench_function(BenchmarkId::new("addenda", len), |bencher| {
            bencher.iter(|| {
                let envelopes = black_box(&snapshot).items();
                envelopes.filter(|envelope| black_box(*envelope).truncation_limit().is_none()).count()
            });
        });
        group.bench_function(BenchmarkId::new("naive", len), |bencher| {
            bencher.iter(|| {
                let envelopes = black_box(&flat).iter();
                envelopes.filter(|envelope| black_box(envelope.as_ref()).metadata.is_none()).count()
            });
        });
        group.finish();
    }
}

criterion_group!(benches, history_read);
criterion_main!(benches);
