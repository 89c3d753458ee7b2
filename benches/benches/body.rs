//! The body of a request, walked in pieces that nobody copies, and as one flat text.

use std::{hint::black_box, time::Duration};

use addenda_benches::{
    conversations,
    corpus::Variant,
    naive,
    ours::{manager_of_variant, parts},
};
use context_manager::{Profile, Projector};
use criterion::{BenchmarkId, Criterion, SamplingMode, criterion_group, criterion_main};

fn measure(criterion: &mut Criterion, suffix: &str, variant: Variant, len: usize) {
    let (manager, items) = (manager_of_variant(variant, len), naive::History::of_variant(variant, len).prompt());
    let prompt = Projector::new(Profile::responses()).prompt(&manager, &parts());
    let json = naive::json_of(&items);
    // Where a call has no output, both sides make one, in words of their own.
    if prompt.synthetic_outputs().is_empty() {
        assert!(prompt.input_json().as_bytes() == json, "the same bytes");
    }
    assert_eq!(prompt.input_json().len(), prompt.body().byte_len());
    let n_bytes: usize = prompt.body().map(|chunk| chunk.len()).sum();
    assert_eq!(n_bytes, prompt.body().byte_len());
    for (name, is_flat) in [("body_flat", true), ("body_pieces", false)] {
        let mut group = criterion.benchmark_group(format!("{name}{suffix}"));
        group.sample_size(20).sampling_mode(SamplingMode::Flat);
        group.warm_up_time(Duration::from_millis(100)).measurement_time(Duration::from_millis(300));
        group.bench_function(BenchmarkId::new("addenda", len), |bencher| {
            if is_flat {
                bencher.iter(|| black_box(black_box(&prompt).input_json()));
            } else {
                bencher.iter(|| black_box(&prompt).body().map(|chunk| black_box(chunk).len()).sum::<usize>());
            }
        });
        group.bench_function(BenchmarkId::new("naive", len), |bencher| {
            bencher.iter(|| black_box(naive::json_of(black_box(&items))));
        });
        group.finish();
    }
}

fn body(criterion: &mut Criterion) {
    for (suffix, variant, len) in conversations() {
        measure(criterion, &suffix, variant, len);
    }
}

criterion_group!(benches, body);
criterion_main!(benches);
