//! The most that going on from a log holds at once, of all threads, in a process of its own.
//!
//! ```text
//! held backwards|forwards|naive LOG
//! ```
//!
//! Prints how many items there are, and bytes: held at most while the log is read, held at most in all, and what stays. The
//! naive side is measured in all.
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a command speaks")]

use std::{path::Path, process::ExitCode};

use addenda_benches::resume::{Way, replayed, resumed, resumed_naive};
use peak_alloc::PeakAlloc;

#[global_allocator]
static HELD: PeakAlloc = PeakAlloc;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [side, log] = arguments.as_slice() else {
        eprintln!("usage: held backwards|forwards|naive LOG");
        return ExitCode::from(2);
    };
    let log = Path::new(log);
    let (n_items, reading, held, stays) = match side.parse::<Way>() {
        _ if side == "naive" => {
            let (n_items, held, _) = measured(|| resumed_naive(log));
            (n_items, held, held, 0)
        }
        Ok(way) => {
            let (_, reading, _) = measured(|| replayed(log, way));
            let (replay, held, stays) = measured(|| resumed(log, way));
            (replay.manager().history().item_count(), reading, held, stays)
        }
        Err(error) => {
            eprintln!("{error}");
            return ExitCode::from(2);
        }
    };
    println!("{n_items} {reading} {held} {stays}");
    ExitCode::SUCCESS
}

/// What `run` gives, what it held at most, and what it holds in the end.
fn measured<T>(run: impl FnOnce() -> T) -> (T, usize, usize) {
    HELD.reset_peak_usage();
    let before = HELD.current_usage();
    let made = run();
    (made, HELD.peak_usage() - before, HELD.current_usage() - before)
}
