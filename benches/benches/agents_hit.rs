//! Instructions asked for again with nothing changed: by one thread, and by one beside another that does the same.

use std::{
    hint::black_box,
    sync::atomic::{AtomicBool, Ordering},
    thread,
    time::Duration,
};

use addenda_benches::instructions::{ENVIRONMENTS, hit, loaded_manager, naive, reader};
use agents_md::Held;
use criterion::{BenchmarkGroup, BenchmarkId, Criterion, criterion_group, criterion_main, measurement::WallTime};

/// Measures `step`, while another thread does nothing but `other`.
fn beside<S: FnMut(), O: FnMut() + Send>(
    group: &mut BenchmarkGroup<'_, WallTime>,
    id: BenchmarkId,
    mut step: S,
    mut other: O,
) {
    let done = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            while !done.load(Ordering::Relaxed) {
                other();
            }
        });
        group.bench_function(id, |bencher| bencher.iter(&mut step));
        done.store(true, Ordering::Relaxed);
    });
}

fn agents_hit(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("agents_hit");
    group.sample_size(30).warm_up_time(Duration::from_millis(200)).measurement_time(Duration::from_millis(600));
    for n_environments in ENVIRONMENTS {
        let (manager, key) = loaded_manager(n_environments);
        let naive = naive::Manager::loaded(n_environments);
        group.bench_function(BenchmarkId::new("addenda", n_environments), |bencher| {
            let mut held = reader(&manager, &key);
            bencher.iter(|| _ = black_box(hit(black_box(&manager), &mut held, black_box(&key))));
        });
        group.bench_function(BenchmarkId::new("naive", n_environments), |bencher| {
            bencher.iter(|| black_box(black_box(&naive).hit()));
        });
    }
    group.finish();

    let mut group = criterion.benchmark_group("agents_hit_2_threads");
    group.sample_size(30).warm_up_time(Duration::from_millis(200)).measurement_time(Duration::from_millis(600));
    let runtime = || tokio::runtime::Builder::new_current_thread().build();
    let (Ok(here), Ok(there)) = (runtime(), runtime()) else { panic!("no runtime") };
    for n_environments in ENVIRONMENTS {
        let (manager, key) = loaded_manager(n_environments);
        let step = |mut held: Held| {
            let (manager, key) = (&manager, &key);
            move || _ = black_box(hit(black_box(manager), &mut held, black_box(key)))
        };
        let (one, other) = (step(reader(&manager, &key)), step(reader(&manager, &key)));
        beside(&mut group, BenchmarkId::new("addenda", n_environments), one, other);

        let naive = naive::Manager::loaded(n_environments);
        let step = || drop(black_box(naive.contended_hit(&here)));
        beside(&mut group, BenchmarkId::new("naive", n_environments), step, || drop(naive.contended_hit(&there)));
    }
    group.finish();
}

criterion_group!(benches, agents_hit);
criterion_main!(benches);
