//! Instructions found for the first time, ten folders deep: a discovery of ours in one blocking task, and the naive shape.

use std::{fs, hint::black_box, path::PathBuf, time::Duration};

use addenda_benches::instructions_cold::{naive, ours};
use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use tempfile::TempDir;

/// How far below the root the working folder is.
const DEPTHS: [usize; 2] = [3, 10];

/// A project with an instruction file in every second folder.
fn project(depth: usize) -> (TempDir, PathBuf) {
    let Ok(root) = tempfile::tempdir() else { panic!("no folder to work in") };
    let mut folder = root.path().to_owned();
    let made = (0..=depth).try_for_each(|n| {
        if n > 0 {
            folder.push(format!("folder-{n}"));
        }
        fs::create_dir_all(&folder)?;
        match n {
            0 => fs::create_dir(folder.join(".git")),
            n if n % 2 == 0 => fs::write(folder.join("AGENTS.md"), format!("Rules of folder {n}.\n").repeat(50)),
            _ => Ok(()),
        }
    });
    assert!(made.is_ok(), "the folder can be filled");
    (root, folder)
}

fn agents_cold(criterion: &mut Criterion) {
    let Ok(runtime) = tokio::runtime::Builder::new_current_thread().build() else { panic!("no runtime") };
    let mut group = criterion.benchmark_group("agents_cold");
    group.sample_size(30).warm_up_time(Duration::from_millis(300)).measurement_time(Duration::from_secs(1));
    for depth in DEPTHS {
        let (_root, cwd) = project(depth);
        let (text, same) = (runtime.block_on(ours(&cwd)), runtime.block_on(naive(&cwd)));
        assert!(!text.is_empty() && text == same, "both find the same");
        group.bench_function(BenchmarkId::new("addenda", depth), |bencher| {
            bencher.iter(|| black_box(runtime.block_on(ours(black_box(&cwd)))));
        });
        group.bench_function(BenchmarkId::new("naive", depth), |bencher| {
            bencher.iter(|| black_box(runtime.block_on(naive(black_box(&cwd)))));
        });
    }
    group.finish();
}

criterion_group!(benches, agents_cold);
criterion_main!(benches);
