//! Prints the ratios of a run as Markdown, and checks the goals: snapshots, appends, prompts, whole steps, bodies,
//! estimates, rollbacks, iteration, hits, discoveries, steps of the world state, and logs.
//!
//! ```text
//! ratios [folder]      the folder in which criterion puts its results; target/criterion if none is named
//! ```
//!
//! Exit status: 0, all goals are met; 1, one is missed; 2, there are no results to read. Times are the smallest of the
//! samples and are shown for orientation; only ratios are judged.
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a command speaks")]

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
    process::ExitCode,
};

use serde::{Deserialize, de::DeserializeOwned};

/// What criterion says of one benchmark.
#[derive(Deserialize)]
struct Benchmark {
    group_id: String,
    function_id: Option<String>,
    value_str: Option<String>,
}

/// The samples of one benchmark.
#[derive(Deserialize)]
struct Samples {
    iters: Vec<f64>,
    times: Vec<f64>,
}

/// The smallest time of each side, in nanoseconds.
#[derive(Clone, Copy, Default)]
struct Pair {
    ours: Option<f64>,
    naive: Option<f64>,
}

impl Pair {
    fn ratio(self) -> Option<f64> {
        Some(self.naive? / self.ours?)
    }
}

/// By group, then by size.
type Results = BTreeMap<String, BTreeMap<usize, Pair>>;

#[expect(clippy::disallowed_methods, reason = "the results are files of this project's own making")]
fn read<T: DeserializeOwned>(path: &Path) -> Option<T> {
    serde_json::from_slice(&fs::read(path).ok()?).ok()
}

/// Folders below `folder` that hold a result.
fn result_folders(folder: &Path, found: &mut Vec<PathBuf>) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for entry in entries.flatten().map(|entry| entry.path()).filter(|path| path.is_dir()) {
        if entry.file_name().is_some_and(|name| name == "new") {
            found.push(entry);
        } else {
            result_folders(&entry, found);
        }
    }
}

fn results(folder: &Path) -> Results {
    let mut folders = Vec::new();
    result_folders(folder, &mut folders);
    let mut results = Results::new();
    for folder in folders {
        let (Some(benchmark), Some(samples)) =
            (read::<Benchmark>(&folder.join("benchmark.json")), read::<Samples>(&folder.join("sample.json")))
        else {
            continue;
        };
        let size = benchmark.value_str.and_then(|value| value.parse().ok());
        let smallest = samples.times.iter().zip(&samples.iters).map(|(time, iters)| time / iters).reduce(f64::min);
        let (Some(size), Some(smallest)) = (size, smallest) else { continue };
        let pair = results.entry(benchmark.group_id).or_default().entry(size).or_default();
        match benchmark.function_id.as_deref() {
            Some("addenda") => pair.ours = Some(smallest),
            Some("naive") => pair.naive = Some(smallest),
            _ => {}
        }
    }
    results
}

fn time(nanoseconds: Option<f64>) -> String {
    match nanoseconds {
        None => "-".to_owned(),
        Some(time) if time < 1e3 => format!("{time:.1} ns"),
        Some(time) if time < 1e6 => format!("{:.1} us", time / 1e3),
        Some(time) => format!("{:.1} ms", time / 1e6),
    }
}

fn print_table(group: &str, sizes: &BTreeMap<usize, Pair>) {
    println!("## {group}\n\n| size | addenda | naive | naive / addenda |\n|---:|---:|---:|---:|");
    for (size, pair) in sizes {
        let ratio = pair.ratio().map_or_else(|| "-".to_owned(), |ratio| format!("{ratio:.1}"));
        println!("| {size} | {} | {} | {ratio} |", time(pair.ours), time(pair.naive));
    }
    println!();
}

/// One line of what has to hold.
struct Goal {
    what: String,
    found: Option<f64>,
    is_met: fn(f64, f64) -> bool,
    bound: f64,
}

impl Goal {
    fn at_least(what: String, found: Option<f64>, bound: f64) -> Self {
        Self { what: format!("{what} >= {bound}"), found, is_met: |found, bound| found >= bound, bound }
    }

    fn at_most(what: String, found: Option<f64>, bound: f64) -> Self {
        Self { what: format!("{what} <= {bound}"), found, is_met: |found, bound| found <= bound, bound }
    }

    fn is_met(&self) -> bool {
        self.found.is_some_and(|found| (self.is_met)(found, self.bound))
    }
}

fn goals(results: &Results) -> Vec<Goal> {
    let pair =
        |group: &str, size: usize| results.get(group).and_then(|sizes| sizes.get(&size)).copied().unwrap_or_default();
    let flat = |group: &str| Some(pair(group, 100_000).ours? / pair(group, 100).ours?);
    let mut goals = Vec::new();
    for size in addenda_benches::SIZES {
        let ratio = pair("history_clone", size).ratio();
        goals.push(Goal::at_least(format!("G1 history_clone, ratio at {size}"), ratio, 300.0));
    }
    goals.push(Goal::at_most("G1 history_clone, 100k / 100".into(), flat("history_clone"), 1.3));
    let append = "history_append_live_snapshots_1000";
    for (size, bound) in [(1_000, 1_000.0), (10_000, 20_000.0)] {
        goals.push(Goal::at_least(format!("G2 {append}, ratio at {size}"), pair(append, size).ratio(), bound));
    }
    goals.push(Goal::at_most(format!("G2 {append}, 100k / 100"), flat(append), 2.0));
    for (size, bound) in [(1_000, 2_000.0), (10_000, 50_000.0)] {
        let ratio = pair("prompt_prepare_0", size).ratio();
        goals.push(Goal::at_least(format!("G3 prompt_prepare_0, ratio at {size}"), ratio, bound));
    }
    goals.push(Goal::at_most("G3 prompt_prepare_0, 100k / 100".into(), flat("prompt_prepare_0"), 1.5));
    for (size, bound) in [(1_000, 200.0), (10_000, 2_000.0), (100_000, 20_000.0)] {
        goals.push(Goal::at_least(format!("G4 step_e2e, ratio at {size}"), pair("step_e2e", size).ratio(), bound));
    }
    goals.push(Goal::at_most("G4 step_e2e, 100k / 100".into(), flat("step_e2e"), 2.0));
    for size in [1_000, 10_000] {
        goals.push(Goal::at_least(format!("G5 body_flat, ratio at {size}"), pair("body_flat", size).ratio(), 4.0));
    }
    goals.push(Goal::at_most("G6 token_estimate, 100k / 100".into(), flat("token_estimate"), 2.0));
    for (size, bound) in [(1_000, 30.0), (10_000, 500.0), (100_000, 500.0)] {
        goals.push(Goal::at_least(format!("G7 rollback, ratio at {size}"), pair("rollback", size).ratio(), bound));
    }
    let slower = pair("history_iterate", 10_000).ratio().map(f64::recip);
    goals.push(Goal::at_most("G8 history_iterate, addenda / flat at 10000".into(), slower, 1.5));
    for variant in addenda_benches::corpus::Variant::SPECIAL {
        for (name, group, bound) in ON_EACH_VARIANT {
            let group = format!("{group}_{}", variant.name());
            let ratio = pair(&group, 10_000).ratio();
            goals.push(Goal::at_least(format!("{name} {group}, ratio at 10000"), ratio, bound));
        }
        let group = format!("history_iterate_{}", variant.name());
        let slower = pair(&group, 10_000).ratio().map(f64::recip);
        goals.push(Goal::at_most(format!("G8 {group}, addenda / flat at 10000"), slower, 1.5));
    }
    let hits = [
        ("agents_hit", 1, 10.0),
        ("agents_hit", 4, 20.0),
        ("agents_hit_2_threads", 1, 20.0),
        ("agents_hit_2_threads", 4, 20.0),
    ];
    for (group, n_environments, bound) in hits {
        let what = format!("G9 {group}, ratio at {n_environments} environments");
        goals.push(Goal::at_least(what, pair(group, n_environments).ratio(), bound));
    }
    for size in addenda_benches::WORLD_STATE_SIZES {
        for (group, bound) in [("world_state_step_same", 200.0), ("world_state_step_one_changed", 8.0)] {
            let what = format!("G11 {group}, ratio with {size} bytes of instructions");
            goals.push(Goal::at_least(what, pair(group, size).ratio(), bound));
        }
    }
    for (name, group, size, bound) in LOGS_AND_FOLDERS {
        goals.push(Goal::at_least(format!("{name} {group}, ratio at {size}"), pair(group, size).ratio(), bound));
    }
    goals
}

/// The goals of logs that are made on request only: judged where they were measured, and met by none that was not.
fn goals_on_request(results: &Results) -> (Vec<Goal>, Vec<Goal>) {
    let ratio = |group: &str, size: usize| results.get(group)?.get(&size)?.ratio();
    let goal =
        |(group, size, bound)| Goal::at_least(format!("G13 {group}, ratio at {size}"), ratio(group, size), bound);
    LONG_LOG_GOALS.into_iter().map(goal).partition(|goal| goal.found.is_some())
}

/// What is beyond the goals: shown where it was measured, so that nobody has to ask, and not judged.
fn stretch(results: &Results) -> Vec<Goal> {
    let ratio = |group: &str, size: usize| results.get(group)?.get(&size)?.ratio();
    let measured = STRETCH.iter().filter(|(_, group, size, _)| ratio(group, *size).is_some());
    let goal = |(name, group, size, bound): &(&str, &str, usize, f64)| {
        Goal::at_least(format!("{name} {group}, ratio at {size}"), ratio(group, *size), *bound)
    };
    measured.map(goal).collect()
}

/// What holds of the plain conversation at 10,000 items holds of each variant, too: the goal, the group and the ratio.
const ON_EACH_VARIANT: [(&str, &str, f64); 6] = [
    ("G1", "history_clone", 300.0),
    ("G2", "history_append_live_snapshots_1000", 20_000.0),
    ("G3", "prompt_prepare_0", 50_000.0),
    ("G4", "step_e2e", 2_000.0),
    ("G5", "body_flat", 4.0),
    ("G7", "rollback", 500.0),
];

/// The goal, the group, its size (folders deep, records a step) and the ratio.
const LOGS_AND_FOLDERS: [(&str, &str, usize, f64); 3] = [
    ("G10", "agents_cold", 10, 4.0),
    ("G12", "rollout_append_flush", 10, 3.0),
    ("G12", "rollout_append_sync", 10, 5.0),
];

/// Logs that are made where `ADDENDA_LOG_MB` asks for them: megabytes and ratio.
const LONG_LOG_GOALS: [(&str, usize, f64); 6] = [
    ("rollout_resume_checkpoint", 100, 10.0),
    ("rollout_resume_checkpoint", 1_000, 100.0),
    ("rollout_resume_forward", 100, 1.5),
    ("rollout_resume_forward", 1_000, 1.5),
    ("rollout_resume_whole", 100, 1.5),
    ("rollout_resume_whole", 1_000, 1.5),
];

/// Beyond the goals: the goal, the group, its size (of a log in megabytes) and the ratio.
const STRETCH: [(&str, &str, usize, f64); 7] = [
    ("G1", "history_clone", 10_000, 1_000.0),
    ("G4", "step_e2e", 1_000, 700.0),
    ("G4", "step_e2e", 10_000, 7_000.0),
    ("G4", "step_e2e", 100_000, 100_000.0),
    ("G7", "rollback", 10_000, 1_000.0),
    ("G13", "rollout_resume_checkpoint", 100, 20.0),
    ("G13", "rollout_resume_checkpoint", 1_000, 300.0),
];

fn print_goals(title: &str, goals: &[Goal]) {
    println!("## {title}\n\n| goal | found | |\n|---|---:|---|");
    for goal in goals {
        let found = goal.found.map_or_else(|| "not measured".to_owned(), |found| format!("{found:.2}"));
        println!("| {} | {found} | {} |", goal.what, if goal.is_met() { "met" } else { "MISSED" });
    }
    println!();
}

fn main() -> ExitCode {
    let folder = std::env::args_os().nth(1).map_or_else(|| PathBuf::from("target/criterion"), PathBuf::from);
    let results = results(&folder);
    if results.is_empty() {
        eprintln!("no results in {}; run `cargo bench -p addenda-benches` first", folder.display());
        return ExitCode::from(2);
    }
    for (group, sizes) in &results {
        print_table(group, sizes);
    }
    let mut goals = goals(&results);
    let (measured, on_request) = goals_on_request(&results);
    goals.extend(measured);
    print_goals("Goals", &goals);
    if !on_request.is_empty() {
        println!(
            "## Not measured, so not judged\n\nThese need longer logs: `ADDENDA_LOG_MB=100`, `ADDENDA_LOG_MB=1000`.\n"
        );
        on_request.iter().for_each(|goal| println!("* {}", goal.what));
        println!();
    }
    print_goals("Beyond the goals, not judged", &stretch(&results));
    if goals.iter().all(Goal::is_met) { ExitCode::SUCCESS } else { ExitCode::from(1) }
}
