//! The prompt of a history to which 0, 2 or 10 items were added since the prompt before.

use std::{
    hint::black_box,
    time::{Duration, Instant},
};

use addenda_benches::{conversations, corpus::Variant, naive, ours};
use context_manager::{ContextManager, Parts, Profile, Projector, ReadyItem};
use criterion::{BenchmarkId, Criterion, SamplingMode, criterion_group, criterion_main};

/// Prompts that are made of one history before another copy of it is taken, so that it stays about as long as it says.
fn batch_of(len: usize) -> usize {
    (len / 10).clamp(32, 1_024)
}

/// Times `iterations` prompts; the appends between them, and the first prompt of each copy, are not timed.
fn prepare(master: &ContextManager, parts: &Parts, items: &[ReadyItem], n_new: usize, iterations: u64) -> Duration {
    let len = master.history().item_count();
    let mut timed = Duration::ZERO;
    let mut left = usize::try_from(iterations).unwrap_or(usize::MAX);
    while left > 0 {
        let batch = left.min(batch_of(len));
        let mut manager = master.clone();
        let mut projector = Projector::new(Profile::responses());
        drop(projector.prompt(&manager, parts));
        let mut next = items.iter().cycle();
        for _ in 0..batch {
            for item in next.by_ref().take(n_new) {
                manager.append(item.clone());
            }
            let start = Instant::now();
            let prompt = black_box(projector.prompt(black_box(&manager), parts));
            timed += start.elapsed();
            assert_eq!(prompt.history().item_count(), manager.history().item_count());
        }
        left -= batch;
    }
    timed
}

fn measure(criterion: &mut Criterion, suffix: &str, variant: Variant, len: usize) {
    let (manager, parts) = (ours::manager_of_variant(variant, len), ours::parts());
    let history = naive::History::of_variant(variant, len);
    // No calls: going round the items would repeat their ids.
    let items: Vec<ReadyItem> =
        ours::ready_items(len, 64).into_iter().filter(|item| item.context_item().item().call_id().is_none()).collect();
    for n_new in [0, 2, 10] {
        let mut group = criterion.benchmark_group(format!("prompt_prepare_{n_new}{suffix}"));
        group.sample_size(20).sampling_mode(SamplingMode::Flat);
        group.warm_up_time(Duration::from_millis(100)).measurement_time(Duration::from_millis(200));
        if n_new == 0 {
            // Where one happens to lie in memory makes half of such a short time, so some take turns.
            let mut projectors: Vec<Projector> = (0..8).map(|_| Projector::new(Profile::responses())).collect();
            projectors.iter_mut().for_each(|projector| drop(projector.prompt(&manager, &parts)));
            let mut turn = 0;
            group.bench_function(BenchmarkId::new("addenda", len), |bencher| {
                bencher.iter(|| {
                    turn = (turn + 1) % 8;
                    drop(black_box(projectors[turn].prompt(black_box(&manager), &parts)));
                });
            });
        } else {
            group.bench_function(BenchmarkId::new("addenda", len), |bencher| {
                bencher.iter_custom(|iterations| prepare(&manager, &parts, &items, n_new, iterations));
            });
        }
        group.bench_function(BenchmarkId::new("naive", len), |bencher| {
            bencher.iter(|| black_box(black_box(&history).prompt()));
        });
        group.finish();
    }
}

fn prompt_prepare(criterion: &mut Criterion) {
    for (suffix, variant, len) in conversations() {
        measure(criterion, &suffix, variant, len);
    }
}

criterion_group!(benches, prompt_prepare);
criterion_main!(benches);
