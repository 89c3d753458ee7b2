//! Repeats one operation, for a tool that counts instructions.
//!
//! ```text
//! repeat OPERATION SIDE SIZE TIMES
//! ```
//!
//! The side is `addenda` or `naive`. What one operation costs is the difference between two runs, divided by the
//! difference in times: what comes before the first one is the same in both.
//!
//! ```text
//! valgrind --tool=callgrind --callgrind-out-file=/dev/null target/release/repeat world_state_same addenda 2048 1000
//! ```
#![expect(clippy::print_stderr, reason = "a command speaks")]

use std::{collections::BTreeMap, hint::black_box, process::ExitCode};

use addenda_benches::world::{Host, retained, step};
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
    match operation.strip_prefix("world_state_") {
        Some(case) if run_world(case, side, size, times) => ExitCode::SUCCESS,
        _ => {
            eprintln!("no such operation: {operation} {side}");
            ExitCode::from(2)
        }
    }
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
