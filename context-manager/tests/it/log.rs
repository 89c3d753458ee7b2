//! The shared log: every order of appending, forking, rolling back and reading.

use context_manager::{CHUNK_SLOTS, GROUP_SLOTS, Log};
use proptest::prelude::*;

fn read(log: &Log<u32>) -> Vec<u32> {
    log.iter().copied().collect()
}

/// What a holder may do next.
#[derive(Clone, Copy, Debug)]
enum Op {
    PushFirst,
    PushSecond,
    CopyFirstToSecond,
    CopySecondToFirst,
    CutFirst,
    CutSecond,
    Snapshot,
}

const OPS: [Op; 7] = [
    Op::PushFirst,
    Op::PushSecond,
    Op::CopyFirstToSecond,
    Op::CopySecondToFirst,
    Op::CutFirst,
    Op::CutSecond,
    Op::Snapshot,
];

/// Runs one order of operations on two logs and on two vectors beside them.
fn run(order: &[Op], start: &Log<u32>) {
    let mut logs = [start.clone(), start.clone()];
    let mut models = [read(start), read(start)];
    let mut snapshots: Vec<(Log<u32>, Vec<u32>)> = vec![(start.clone(), read(start))];
    let mut next = 1_000_000;
    for op in order {
        next += 1;
        match op {
            Op::PushFirst => {
                logs[0].push(next);
                models[0].push(next);
            }
            Op::PushSecond => {
                logs[1].push(next);
                models[1].push(next);
            }
            Op::CopyFirstToSecond => {
                logs[1] = logs[0].clone();
                models[1] = models[0].clone();
            }
            Op::CopySecondToFirst => {
                logs[0] = logs[1].clone();
                models[0] = models[1].clone();
            }
            Op::CutFirst => {
                logs[0].truncate(models[0].len().saturating_sub(2));
                models[0].truncate(models[0].len().saturating_sub(2));
            }
            Op::CutSecond => {
                logs[1].truncate(models[1].len().saturating_sub(1));
                models[1].truncate(models[1].len().saturating_sub(1));
            }
            Op::Snapshot => snapshots.push((logs[0].clone(), models[0].clone())),
        }
    }
    for (log, model) in logs.iter().zip(&models).chain(snapshots.iter().map(|(log, model)| (log, model))) {
        assert_eq!(&read(log), model, "{order:?}");
        assert_eq!(log.len(), model.len(), "{order:?}");
        assert_eq!(log.last(), model.last(), "{order:?}");
        assert_eq!(log.get(model.len()), None, "{order:?}");
    }
}

/// Every order of `depth` operations.
fn every_order(depth: usize, mut run: impl FnMut(&[Op])) {
    let total = OPS.len().pow(u32::try_from(depth).expect("a small depth"));
    let mut order = Vec::with_capacity(depth);
    for number in 0..total {
        order.clear();
        let mut rest = number;
        for _ in 0..depth {
            order.push(OPS[rest % OPS.len()]);
            rest /= OPS.len();
        }
        run(&order);
    }
}

#[test]
fn every_order_of_six_operations_on_an_empty_log() {
    every_order(6, |order| run(order, &Log::new()));
}

#[test]
fn every_order_of_four_operations_across_a_chunk_border() {
    let full = u32::try_from(CHUNK_SLOTS).expect("a chunk is small");
    for start in [full - 1, full, full + 1] {
        every_order(4, |order| {
            let mut log = Log::new();
            (0..start).for_each(|value| log.push(value));
            run(order, &log);
        });
    }
}

#[test]
fn iterating_from_both_ends_meets_in_the_middle() {
    let mut log = Log::new();
    let many = 3 * CHUNK_SLOTS + 17;
    (0..many).for_each(|value| log.push(value));
    let mut values = log.iter();
    let mut seen = (Vec::new(), Vec::new());
    while let Some(front) = values.next() {
        seen.0.push(front);
        seen.1.extend(values.next_back());
    }
    seen.1.reverse();
    let all: Vec<usize> = seen.0.into_iter().chain(seen.1).copied().collect();
    assert_eq!(all, (0..many).collect::<Vec<_>>());
    assert_eq!(log.iter().len(), many);
}

#[test]
fn the_first_of_two_holders_keeps_the_table_and_the_other_one_forks() {
    let mut first = Log::new();
    (0..10_u32).for_each(|value| first.push(value));
    let mut second = first.clone();
    first.push(10);
    assert!(first.shares_table(&second));
    second.push(99);
    assert!(!first.shares_table(&second));
    assert_eq!((read(&first).pop(), read(&second).pop()), (Some(10), Some(99)));
}

#[test]
fn a_log_grows_over_many_buckets() {
    let mut log = Log::new();
    let many = 20 * CHUNK_SLOTS;
    let mut kept = Vec::new();
    for value in 0..many {
        log.push(value);
        if value % 1_000 == 0 {
            kept.push(log.clone());
        }
    }
    assert!(log.iter().copied().eq(0..many));
    assert!(kept.iter().all(|snapshot| snapshot.iter().copied().eq(0..snapshot.len())));
}

#[test]
fn threads_read_snapshots_while_the_owner_appends() {
    let mut log = Log::new();
    log.push(0_usize);
    std::thread::scope(|scope| {
        for _ in 0..200 {
            let snapshot = log.clone();
            scope.spawn(move || assert!(snapshot.iter().copied().eq(0..snapshot.len())));
            for _ in 0..7 {
                log.push(log.len());
            }
        }
    });
    assert_eq!(log.len(), 1_401);
}

#[test]
fn two_threads_append_to_clones_of_one_log() {
    for round in 0..50 {
        let mut log = Log::new();
        (0..250 + round).for_each(|value| log.push(value));
        let holders: Vec<Vec<usize>> = std::thread::scope(|scope| {
            let append = |first: usize| {
                let mut own = log.clone();
                scope.spawn(move || {
                    (first..first + 20).for_each(|value| own.push(value));
                    own.iter().copied().collect()
                })
            };
            let threads = [append(1_000), append(2_000), append(3_000)];
            threads.map(|thread| thread.join().expect("no thread panics")).into()
        });
        for (holder, first) in holders.iter().zip([1_000, 2_000, 3_000]) {
            assert!(holder.iter().copied().eq((0..250 + round).chain(first..first + 20)));
        }
    }
}

/// What is done to one of several holders; lengths are given as distances from the borders of chunks and groups.
#[derive(Clone, Debug)]
enum Step {
    Grow(usize),
    GrowTo(usize),
    Cut(usize),
    CutTo(usize),
    Copy(usize),
    Keep,
}

fn steps() -> impl Strategy<Value = Vec<(usize, Step)>> {
    let border =
        prop::sample::select(vec![CHUNK_SLOTS, 2 * CHUNK_SLOTS, GROUP_SLOTS, 2 * GROUP_SLOTS, 3 * GROUP_SLOTS]);
    let near = (border, 0..4_usize).prop_map(|(border, more)| border + more - 2).boxed();
    let step = prop_oneof![
        (1..4_usize).prop_map(Step::Grow),
        near.clone().prop_map(Step::GrowTo),
        (0..4_usize).prop_map(Step::Cut),
        near.prop_map(Step::CutTo),
        (0..3_usize).prop_map(Step::Copy),
        Just(Step::Keep),
    ];
    prop::collection::vec((0..3_usize, step), 1..16)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: crate::laws::cases(100), ..ProptestConfig::default() })]

    #[test]
    fn holders_that_grow_cut_and_copy_in_any_order_are_vectors(steps in steps()) {
        let mut holders: [(Log<u32>, Vec<u32>); 3] = Default::default();
        let mut kept: Vec<(Log<u32>, Vec<u32>)> = Vec::new();
        let mut next = 0;
        for (holder, step) in steps {
            let n_more = match step {
                Step::Grow(n_more) => n_more,
                Step::GrowTo(len) => len.saturating_sub(holders[holder].1.len()),
                _ => 0,
            };
            for _ in 0..n_more {
                next += 1;
                holders[holder].0.push(next);
                holders[holder].1.push(next);
            }
            match step {
                Step::Grow(_) | Step::GrowTo(_) => {}
                Step::Cut(n_cut) => cut(&mut holders[holder], usize::saturating_sub, n_cut),
                Step::CutTo(len) => cut(&mut holders[holder], Ord::min, len),
                Step::Copy(other) => holders[holder] = holders[other].clone(),
                Step::Keep => kept.push(holders[holder].clone()),
            }
        }
        for (log, model) in holders.iter().chain(&kept) {
            prop_assert_eq!((log.len(), log.last(), log.get(model.len())), (model.len(), model.last(), None));
            prop_assert!(log.iter().eq(model));
            prop_assert!(log.iter().rev().eq(model.iter().rev()));
            let middle = model.len() / 2;
            prop_assert!(log.iter_from(middle).eq(&model[middle..]));
        }
    }
}

fn cut((log, model): &mut (Log<u32>, Vec<u32>), shorter: fn(usize, usize) -> usize, by: usize) {
    let len = shorter(model.len(), by);
    log.truncate(len);
    model.truncate(len);
}
