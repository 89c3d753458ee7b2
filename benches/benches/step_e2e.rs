//! A whole step with two new items: they are parsed or copied, bounded and appended; the world state is compared with
//! what was told; the prompt is made, its body handed out piece by piece, and its tokens estimated.
#![expect(clippy::expect_used, reason = "the corpus is this crate's own, and a bench on another one has to fail")]

use std::{
    hint::black_box,
    time::{Duration, Instant},
};

use addenda_benches::{SIZES, corpus, naive, ours};
use context_fragments::WireItem;
use context_manager::{ContextManager, Parts, Profile, Projector};
use criterion::{BenchmarkId, Criterion, SamplingMode, criterion_group, criterion_main};

/// Steps of one history before another copy of it is taken, so that it stays about as long as it says.
fn batch_of(len: usize) -> usize {
    (len / 10).clamp(32, 1_024)
}

/// Times `iterations` steps; the copy and its first prompt are not timed.
fn steps(master: &ContextManager, parts: &Parts, json: &[String], iterations: u64) -> Duration {
    let (recording, world_state) = (ours::bound(), ours::world_state());
    let len = master.history().item_count();
    let mut timed = Duration::ZERO;
    let mut left = usize::try_from(iterations).unwrap_or(usize::MAX);
    while left > 0 {
        let batch = left.min(batch_of(len));
        let mut manager = master.clone();
        let mut projector = Projector::new(Profile::responses());
        manager.mark_sent(&projector.prompt(&manager, parts)).expect("nothing was added");
        for step in 0..batch {
            let pair = [&json[2 * step % json.len()], &json[(2 * step + 1) % json.len()]];
            let start = Instant::now();
            let items = pair.map(|json| WireItem::parse(black_box(json).as_bytes()).expect("the corpus is JSON"));
            manager.record_items(items, &recording).expect("the items are small");
            assert!(manager.world_state_baseline() == Some(&world_state));
            let prompt = projector.prompt(&manager, parts);
            let bytes: usize = prompt.body().map(|chunk| chunk.len()).sum();
            black_box((bytes, prompt.input_tokens(), prompt.proof().extends()));
            timed += start.elapsed();
            assert!(prompt.proof().extends() && bytes > 1_000);
            manager.mark_sent(&prompt).expect("nothing was added");
        }
        left -= batch;
    }
    timed
}

/// Times `iterations` steps of the naive side, each on a history that its owner shares with a snapshot.
fn naive_steps(master: &naive::History, items: &[naive::Envelope], iterations: u64) -> Duration {
    let world_state = naive::world_state();
    let mut timed = Duration::ZERO;
    for _ in 0..iterations {
        let mut history = master.clone();
        let pair = [items[0].clone(), items[1].clone()];
        let start = Instant::now();
        pair.into_iter().for_each(|item| history.push(black_box(item)));
        assert!(history.is_told(&world_state));
        let prompt = history.prompt();
        let body = serde_json::to_vec(&prompt).expect("it is serialisable");
        black_box((body.len(), history.estimate()));
        timed += start.elapsed();
        assert!(prompt.len() >= master.len() + 2);
    }
    timed
}

fn step_e2e(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("step_e2e");
    group.sample_size(20).sampling_mode(SamplingMode::Flat);
    group.warm_up_time(Duration::from_millis(100)).measurement_time(Duration::from_millis(200));
    for len in SIZES {
        let (manager, parts) = (ours::manager_of_corpus(len), ours::parts());
        let messages = |spec: &&corpus::Spec| matches!(spec, corpus::Spec::Message { .. });
        let specs = corpus::conversation(len + 256);
        let json: Vec<String> = specs[len..].iter().filter(messages).map(corpus::Spec::json).collect();
        group.bench_function(BenchmarkId::new("addenda", len), |bencher| {
            bencher.iter_custom(|iterations| steps(&manager, &parts, &json, iterations));
        });
        let history = naive::History::of_corpus(len);
        let items: Vec<naive::Envelope> = specs[len..].iter().filter(messages).map(naive::Envelope::from).collect();
        group.bench_function(BenchmarkId::new("naive", len), |bencher| {
            bencher.iter_custom(|iterations| naive_steps(&history, &items, iterations));
        });
    }
    group.finish();
}

criterion_group!(benches, step_e2e);
criterion_main!(benches);
