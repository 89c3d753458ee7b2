//! One step of a world of sixteen sections: all set anew, compared with what was told, and said where they changed.

use std::{collections::BTreeMap, hint::black_box, time::Duration};

use addenda_benches::{
    WORLD_STATE_SIZES,
    world::{Host, retained, step},
};
use criterion::{BenchmarkId, Criterion, SamplingMode, criterion_group, criterion_main};
use world_state::{WorldState, WorldStateSnapshot};

/// The two states of affairs between which the steps go, and how much each step has to say.
fn cases(n_bytes: usize) -> [(&'static str, [Host; 2], usize); 3] {
    let host = || Host::new(1, n_bytes);
    [
        ("same", [host(), host()], 0),
        ("one_changed", [host(), host().on_day(2)], 1),
        ("all_changed", [host(), Host::new(2, n_bytes)], 16),
    ]
}

fn world_state_step(criterion: &mut Criterion) {
    let retained = retained();
    for case in 0..3 {
        let name = cases(0)[case].0;
        let mut group = criterion.benchmark_group(format!("world_state_step_{name}"));
        group.sample_size(20).sampling_mode(SamplingMode::Flat);
        group.warm_up_time(Duration::from_millis(200)).measurement_time(Duration::from_millis(500));
        for n_bytes in WORLD_STATE_SIZES {
            let [first, second, third] = cases(n_bytes);
            let (_, hosts, expected) = [first, second, third].into_iter().nth(case).unwrap_or_else(|| unreachable!());
            // A world that stays the same is asked by the same host, as a session does.
            let turns = if expected == 0 { [&hosts[0], &hosts[0]] } else { [&hosts[1], &hosts[0]] };

            let mut world = WorldState::new();
            let mut told = WorldStateSnapshot::default();
            step(turns[1], &mut world, &mut told, &retained);
            assert_eq!(step(turns[0], &mut world, &mut told, &retained), expected);
            assert_eq!(step(turns[1], &mut world, &mut told, &retained), expected);
            let mut turn = 0;
            group.bench_function(BenchmarkId::new("addenda", n_bytes), |bencher| {
                bencher.iter(|| {
                    let host = turns[turn % 2];
                    turn += 1;
                    black_box(step(black_box(host), &mut world, &mut told, &retained))
                });
            });

            let naive = turns.map(Host::naive);
            let mut told = BTreeMap::new();
            naive[1].step(&mut told);
            assert_eq!(naive[0].step(&mut told), expected);
            assert_eq!(naive[1].step(&mut told), expected);
            let mut turn = 0;
            group.bench_function(BenchmarkId::new("naive", n_bytes), |bencher| {
                bencher.iter(|| {
                    let naive = &naive[turn % 2];
                    turn += 1;
                    black_box(black_box(naive).step(&mut told))
                });
            });
        }
        group.finish();
    }
}

criterion_group!(benches, world_state_step);
criterion_main!(benches);
