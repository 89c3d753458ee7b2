//! One step of a world of sixteen sections: all are set, compared with what was told, and said where they changed.
//!
//! What a host does to come from one state of affairs to the next is timed on both sides: where the day changes, the
//! environments of that day are made; where everything changes, every section is made anew from its texts.

use std::{collections::BTreeMap, hint::black_box, time::Duration};

use addenda_benches::{
    WORLD_STATE_SIZES,
    naive_world::NaiveHost,
    world::{Host, retained, step},
};
use criterion::{BenchmarkId, Criterion, SamplingMode, criterion_group, criterion_main};
use world_state::{WorldState, WorldStateSnapshot};

/// One way to come from step to step.
struct Case {
    name: &'static str,
    /// The two states of affairs between which the steps go.
    hosts: fn(usize) -> [Host; 2],
    /// What a host does to come to the next one.
    change: fn(&mut Host, usize),
    /// How many sections speak at each step.
    expected: usize,
}

const CASES: [Case; 3] = [
    Case {
        name: "same",
        hosts: |n_bytes| [Host::new(1, n_bytes), Host::new(1, n_bytes)],
        change: |_, _| {},
        expected: 0,
    },
    Case {
        name: "one_changed",
        hosts: |n_bytes| [Host::new(1, n_bytes), Host::new(1, n_bytes).on_day(2)],
        change: |host, turn| host.set_day(if turn % 2 == 0 { 1 } else { 2 }),
        expected: 1,
    },
    Case {
        name: "all_changed",
        hosts: |n_bytes| [Host::new(1, n_bytes), Host::new(2, n_bytes)],
        change: |host, _| host.remake(),
        expected: 16,
    },
];

/// The host whose turn it is. Where one section changes, it is the same host, on another day.
fn host_of<'a>(case: &Case, hosts: &'a mut [Host; 2], turn: usize) -> &'a Host {
    let host = &mut hosts[if case.expected > 1 { turn % 2 } else { 0 }];
    (case.change)(host, turn);
    host
}

fn world_state_step(criterion: &mut Criterion) {
    let retained = retained();
    for case in &CASES {
        let mut group = criterion.benchmark_group(format!("world_state_step_{}", case.name));
        group.sample_size(20).sampling_mode(SamplingMode::Flat);
        group.warm_up_time(Duration::from_millis(200)).measurement_time(Duration::from_millis(500));
        for n_bytes in WORLD_STATE_SIZES {
            let mut hosts = (case.hosts)(n_bytes);
            let naive: [NaiveHost; 2] = [hosts[0].naive(), hosts[1].naive()];

            let mut world = WorldState::new();
            let mut told = WorldStateSnapshot::default();
            step(host_of(case, &mut hosts, 0), &mut world, &mut told, &retained);
            for turn in 1..4 {
                let said = step(host_of(case, &mut hosts, turn), &mut world, &mut told, &retained);
                assert_eq!(said, case.expected);
            }
            let mut turn = 0;
            group.bench_function(BenchmarkId::new("addenda", n_bytes), |bencher| {
                bencher.iter(|| {
                    let host = host_of(case, black_box(&mut hosts), turn);
                    turn += 1;
                    black_box(step(host, &mut world, &mut told, &retained))
                });
            });

            let mut told = BTreeMap::new();
            naive[0].step(&mut told);
            for turn in 1..4 {
                assert_eq!(naive[turn % 2].step(&mut told), case.expected);
            }
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
