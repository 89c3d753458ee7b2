//! A whole step with two new items: they are parsed or copied, bounded and appended; the world is set and compared with
//! what was told; the prompt is made and proved, its body begun, its length and its tokens known.
//!
//! The naive step does what the shape in use does: it serialises the request, and counts its tokens by the length of
//! each item as JSON. What a count by content costs is measured by the bench `history_read`.
//!
//! The body is handed out as the sender asks for it, so walking it is no part of a step: what that costs, and what a
//! flat copy does, is measured by the bench `body`.

use std::{
    collections::BTreeMap,
    hint::black_box,
    time::{Duration, Instant},
};

use addenda_benches::{
    conversations,
    corpus::{self, Variant},
    naive,
    naive_world::NaiveHost,
    ours::Conversation,
    world::Host,
};
use criterion::{BenchmarkId, Criterion, SamplingMode, criterion_group, criterion_main};

/// The instructions that both worlds hold, in bytes.
const N_BYTES: usize = 32 << 10;

/// Steps of one history before another copy of it is taken, so that it stays about as long as it says.
fn batch_of(len: usize) -> usize {
    (len / 10).clamp(32, 1_024)
}

/// Times `iterations` steps; the copy, its first prompt and its first step are not timed.
fn steps(master: &Conversation, json: &[String], iterations: u64) -> Duration {
    let len = master.manager().history().item_count();
    let mut timed = Duration::ZERO;
    let mut left = usize::try_from(iterations).unwrap_or(usize::MAX);
    while left > 0 {
        let batch = left.min(batch_of(len));
        let mut conversation = master.fork();
        // The first step of a copy parts it from the history that it shares, which no step of a session does.
        let first = conversation.step([json[0].as_str(), json[1 % json.len()].as_str()]);
        conversation.sent(&first);
        for step in 0..batch {
            let pair = [json[2 * step % json.len()].as_str(), json[(2 * step + 1) % json.len()].as_str()];
            let start = Instant::now();
            let prompt = conversation.step(black_box(pair));
            let mut body = prompt.body();
            black_box((body.byte_len(), body.next(), prompt.input_tokens(), prompt.proof().extends()));
            timed += start.elapsed();
            assert!(prompt.proof().extends() && prompt.items().len() >= len + 2 * step + 2);
            conversation.sent(&prompt);
        }
        left -= batch;
    }
    timed
}

/// Times `iterations` steps of the naive side, each on a history that its owner shares with a snapshot.
fn naive_steps(master: &naive::History, host: &NaiveHost, items: &[naive::Envelope], iterations: u64) -> Duration {
    let mut told = BTreeMap::new();
    host.step(&mut told);
    let mut timed = Duration::ZERO;
    for _ in 0..iterations {
        let mut history = master.clone();
        let pair = [items[0].clone(), items[1].clone()];
        let start = Instant::now();
        pair.into_iter().for_each(|item| history.push(black_box(item)));
        assert_eq!(host.step(&mut told), 0);
        let prompt = history.prompt();
        let body = naive::json_of(&prompt);
        black_box((body.len(), history.estimate_of_json()));
        timed += start.elapsed();
        assert!(prompt.len() >= master.len() + 2);
    }
    timed
}

fn measure(criterion: &mut Criterion, suffix: &str, variant: Variant, len: usize) {
    let mut group = criterion.benchmark_group(format!("step_e2e{suffix}"));
    group.sample_size(20).sampling_mode(SamplingMode::Flat);
    group.warm_up_time(Duration::from_millis(100)).measurement_time(Duration::from_millis(200));
    let conversation = Conversation::new(variant, len, N_BYTES);
    let messages = |spec: &&corpus::Spec| matches!(spec, corpus::Spec::Message { .. });
    let specs = corpus::conversation_of(variant, len + 256);
    let json: Vec<String> = specs[len..].iter().filter(messages).map(corpus::Spec::json).collect();
    group.bench_function(BenchmarkId::new("addenda", len), |bencher| {
        bencher.iter_custom(|iterations| steps(&conversation, &json, iterations));
    });
    let (history, host) = (naive::History::of_variant(variant, len), Host::new(1, N_BYTES).naive());
    let items: Vec<naive::Envelope> = specs[len..].iter().filter(messages).map(naive::Envelope::from).collect();
    group.bench_function(BenchmarkId::new("naive", len), |bencher| {
        bencher.iter_custom(|iterations| naive_steps(&history, &host, &items, iterations));
    });
    group.finish();
}

fn step_e2e(criterion: &mut Criterion) {
    for (suffix, variant, len) in conversations() {
        measure(criterion, &suffix, variant, len);
    }
}

criterion_group!(benches, step_e2e);
criterion_main!(benches);
