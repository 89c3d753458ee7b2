//! Repeats one operation, for a tool that counts instructions.
//!
//! ```text
//! repeat OPERATION SIDE SIZE TIMES
//! ```
//!
//! The side is `addenda` or `naive`. What one operation costs is the difference between two runs, divided by the
//! difference in times: what comes before the first one is the same in both. `history_append` and
//! `history_record` are repeated 1,000 times at most: the first appends what was measured before, the second measures too.
//!
//! ```text
//! valgrind --tool=callgrind --callgrind-out-file=/dev/null target/release/repeat world_state_same addenda 2048 1000
//! ```
#![expect(clippy::print_stderr, reason = "a command speaks")]

use std::{collections::BTreeMap, hint::black_box, process::ExitCode};

use addenda_benches::{
    corpus::{self, Spec, Variant},
    naive,
    ours::{self, Conversation},
    world::{Host, retained, step},
};
use context_manager::{Profile, Projector};
use world_state::{WorldState, WorldStateSnapshot};

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [operation, side, size, times] = arguments.as_slice() else {
        eprintln!("usage: repeat OPERATION SIDE SIZE TIMES");
        return ExitCode::from(2);
    };
    let (Ok(size), Ok(times)) = (size.parse(), times.parse()) else {
        eprintln!("size and times are numbers");
        return ExitCode::from(2);
    };
    let is_done = match operation.strip_prefix("world_state_") {
        Some(case) => run_world(case, side, size, times),
        None => run_history(operation, side, size, times),
    };
    if is_done {
        return ExitCode::SUCCESS;
    }
    eprintln!("no such operation: {operation} {side}");
    ExitCode::from(2)
}

/// Does something to a history, as the bench of that name does.
fn run_history(operation: &str, side: &str, len: usize, times: usize) -> bool {
    match (operation, side) {
        ("step_e2e", "addenda") => {
            let specs = corpus::conversation(len + 256);
            let messages = specs[len..].iter().filter(|spec| matches!(spec, Spec::Message { .. }));
            let json: Vec<String> = messages.map(Spec::json).collect();
            let mut conversation = Conversation::new(Variant::Plain, len, 32 << 10).fork();
            for step in 0..times {
                let pair = [json[2 * step % json.len()].as_str(), json[(2 * step + 1) % json.len()].as_str()];
                let prompt = conversation.step(pair);
                let mut body = prompt.body();
                black_box((body.byte_len(), body.next(), prompt.input_tokens()));
                conversation.sent(&prompt);
            }
        }
        ("history_clone", "addenda") => {
            let manager = ours::manager_of_corpus(len);
            (0..times).for_each(|_| drop(black_box(black_box(&manager).snapshot())));
        }
        ("history_clone", "naive") => {
            let history = naive::History::of_corpus(len);
            (0..times).for_each(|_| drop(black_box(black_box(&history).clone())));
        }
        ("history_append", "addenda") => {
            let mut manager = ours::manager_of_corpus(len);
            // As many in every run, so that what they cost to make is no part of the difference.
            let items = ours::ready_items(len, 1_000).into_iter().take(times);
            let snapshots: Vec<_> = (0..1_000).map(|_| manager.snapshot()).collect();
            for item in items {
                black_box(manager.append(item));
            }
            drop(snapshots);
        }
        ("history_record", "addenda") => {
            let mut manager = ours::manager_of_corpus(len);
            let items = ours::wire_items(len, 1_000).into_iter().take(times);
            for item in items {
                drop(black_box(manager.record_items([item], &ours::bound())));
            }
        }
        ("prompt_prepare", "addenda") => {
            let (manager, parts) = (ours::manager_of_corpus(len), ours::parts());
            let mut projector = Projector::new(Profile::responses());
            drop(projector.prompt(&manager, &parts));
            (0..times).for_each(|_| drop(black_box(projector.prompt(black_box(&manager), &parts))));
        }
        ("rollback", "addenda") => {
            let manager = ours::manager_of_corpus(len);
            for _ in 0..times {
                black_box(manager.clone().drop_last_n_user_turns(1));
            }
        }
        _ => return false,
    }
    true
}

/// Steps between two states of affairs, as the bench `world_state_step` does.
fn run_world(case: &str, side: &str, n_bytes: usize, times: usize) -> bool {
    let first = Host::new(1, n_bytes);
    let (mut hosts, n_hosts) = match case {
        "same" => ([first.on_day(1), first], 1),
        "one_changed" => ([first.on_day(1), first.on_day(2)], 2),
        "all_changed" => ([first, Host::new(2, n_bytes)], 2),
        _ => return false,
    };
    match side {
        "addenda" => {
            let (retained, mut world, mut told) = (retained(), WorldState::new(), WorldStateSnapshot::default());
            for turn in 0..times {
                let host = match case {
                    "one_changed" => {
                        hosts[0].set_day(if turn % 2 == 0 { 1 } else { 2 });
                        &hosts[0]
                    }
                    "all_changed" => {
                        hosts[turn % 2].remake();
                        &hosts[turn % 2]
                    }
                    _ => &hosts[0],
                };
                black_box(step(host, &mut world, &mut told, &retained));
            }
        }
        "naive" => {
            let (naive, mut told) = ([hosts[0].naive(), hosts[1].naive()], BTreeMap::new());
            for turn in 0..times {
                black_box(naive[turn % n_hosts].step(&mut told));
            }
        }
        _ => return false,
    }
    true
}
