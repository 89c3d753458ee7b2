//! Going on from a long log: by its checkpoints, in one pass forwards without the use of them, and where all of it is live.
//! The most that is held at once is counted in a process of its own, printed and bounded.
//!
//! The log has 10 MB, or as many megabytes as `ADDENDA_LOG_MB` says: `ADDENDA_LOG_MB=100`, `ADDENDA_LOG_MB=1000`. Both
//! sides have the same conversation, each in a log of its own format. With checkpoints, the history is compacted every 6 MB,
//! and about 3 MB stand behind the last time; so it is for the pass forwards, which drops what was superseded. Without,
//! all of the log is live.
//!
//! Our side checks what a resume checks: every checksum of what is read, and the digest of the prompt that was sent last.

#![expect(
    clippy::expect_used,
    clippy::print_stdout,
    reason = "a bench that cannot have its files ends; its figures are read"
)]

use std::{
    collections::VecDeque,
    fs::File,
    hint::black_box,
    io::{BufWriter, Write as _},
    ops::Range,
    path::{Path, PathBuf},
    process::Command,
    time::{Duration, Instant},
};

use addenda_benches::{
    corpus::{Spec, conversation},
    naive_log,
    resume::{Way, replayed, resumed, resumed_naive},
};
use context_fragments::{Kind, WireItem};
use context_manager::Profile;
use criterion::{
    BenchmarkGroup, BenchmarkId, Criterion, SamplingMode, criterion_group, criterion_main, measurement::WallTime,
};
use session::rollout::{
    Checkpoint, CheckpointCause, CheckpointItem, Draft, Durability, FsLogFile, LogWriter, LoggedOrigin, Metadata,
    Record, RolloutItem, SentMark, SessionMeta, Sha256, TurnEnded, TurnStarted, WriterStart,
};

/// 2026-10-20T08:00:00.123Z.
const AT_MS: i64 = 1_792_483_200_123;
const TIMESTAMP: &str = "2026-10-20T08:00:00.123Z";
/// How many items a compaction leaves: 20,000 tokens, as in the design in use.
const WINDOW: usize = 64;
/// How many bytes stand between two compactions, and how many behind the last one: half of it, give or take a turn.
const COMPACTED_EVERY: u64 = 6_000_000;
const BEHIND_THE_LAST: Range<u64> = 3_000_000..3_200_000;
/// The most that may be held at once, in bytes, where checkpoints stand in the log.
const MAX_HELD: u64 = 32_000_000;
/// What is read ahead whatever the length of the log, in bytes: of a log of 10 MB it is a fifth.
const READ_AHEAD: u64 = 2_000_000;
/// How often a run is measured that takes longer than this: ten runs over a gigabyte would take minutes.
const LONG_RUN: Duration = Duration::from_secs(1);
const LONG_RUNS: usize = 3;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Checkpoints {
    Every6Mb,
    Missing,
}

/// The same conversation in the log of either side, while it is written.
struct Logs {
    ours: LogWriter<FsLogFile>,
    naive: BufWriter<File>,
    paths: Paths,
    n_turns: usize,
    next_position: u64,
    n_compactions: u64,
    compacted_at: u64,
    /// The newest items.
    newest: VecDeque<(WireItem, Metadata)>,
    live_items: usize,
    live_bytes: u64,
    most_live_bytes: u64,
}

#[derive(Clone, Debug)]
struct Paths {
    ours: PathBuf,
    naive: PathBuf,
}

impl Logs {
    fn create(folder: &Path, name: &str) -> Self {
        let paths = Paths { ours: folder.join(format!("{name}.addenda")), naive: folder.join(format!("{name}.naive")) };
        let file = FsLogFile::create(&paths.ours).expect("a file can be made");
        let naive = BufWriter::new(File::create(&paths.naive).expect("a file can be made"));
        let mut logs = Self {
            ours: LogWriter::new(file, &paths.ours, WriterStart::NEW),
            naive,
            paths,
            n_turns: 0,
            next_position: 0,
            n_compactions: 0,
            compacted_at: 0,
            newest: VecDeque::new(),
            live_items: 0,
            live_bytes: 0,
            most_live_bytes: 0,
        };
        let header = RolloutItem::SessionMeta(SessionMeta::new("s1"));
        logs.write(&[header.into()], &naive_log::header_line(TIMESTAMP, "s1"));
        logs
    }

    fn write(&mut self, ours: &[Draft], naive: &str) {
        self.ours.append(AT_MS, ours, Durability::Flush).expect("the disk has room");
        self.naive.write_all(naive.as_bytes()).expect("the disk has room");
    }

    fn item(&mut self, item: WireItem, origin: LoggedOrigin) -> Draft {
        let mut metadata = Metadata::new().with_position(self.next_position).with_origin(origin.clone());
        metadata = metadata.with_turn_id(format!("turn-{}", self.n_turns));
        if origin == LoggedOrigin::User {
            metadata = metadata.with_kinds([Kind::USER_TEXT]);
        }
        self.next_position += 1;
        self.live_items += 1;
        self.live_bytes += item.as_str().len() as u64;
        self.most_live_bytes = self.most_live_bytes.max(self.live_bytes);
        self.newest.push_back((item.clone(), metadata.clone()));
        if self.newest.len() > WINDOW {
            self.newest.pop_front();
        }
        Record::from(RolloutItem::Item(item)).with_metadata(metadata).into()
    }

    fn turn(&mut self, specs: &[Spec]) {
        self.n_turns += 1;
        let id = format!("turn-{}", self.n_turns);
        let mut drafts: Vec<Draft> = vec![RolloutItem::TurnStarted(TurnStarted::new(&id)).into()];
        let mut lines = naive_log::event_line(TIMESTAMP, "task_started", &id);
        for spec in specs {
            let json = spec.json();
            lines += &naive_log::item_line(TIMESTAMP, &json);
            let item = WireItem::parse(json.as_bytes()).expect("the corpus is made of items");
            drafts.push(self.item(item, origin_of(spec)));
        }
        let mut ended = TurnEnded::default();
        ended.turn_id = Some(id.clone());
        drafts.push(RolloutItem::TurnEnded(ended).into());
        lines += &naive_log::event_line(TIMESTAMP, "task_complete", &id);
        self.write(&drafts, &lines);
    }

    /// Replaces the history by its newest items.
    fn compact(&mut self) {
        self.n_compactions += 1;
        // The rewrite itself has a position too.
        self.next_position += 1;
        let kept = std::mem::take(&mut self.newest);
        let json: Vec<String> = kept.iter().map(|(item, _)| item.as_str().to_owned()).collect();
        (self.live_items, self.live_bytes) = (0, 0);
        let mut window = Vec::new();
        for (item, mut metadata) in kept {
            metadata.moved_from = metadata.position.replace(self.next_position);
            self.next_position += 1;
            self.live_items += 1;
            self.live_bytes += item.as_str().len() as u64;
            self.newest.push_back((item.clone(), metadata.clone()));
            window.push(CheckpointItem::new(item, metadata));
        }
        let mut checkpoint = Checkpoint::new(CheckpointCause::Compaction, window);
        checkpoint.counters.history_version = Some(self.n_compactions);
        checkpoint.counters.epoch = Some(self.n_compactions);
        checkpoint.counters.next_position = Some(self.next_position);
        let checkpoint = RolloutItem::Checkpoint(checkpoint);
        self.write(&[checkpoint.into()], &naive_log::compacted_line(TIMESTAMP, &json));
        self.compacted_at = self.ours.len();
    }

    /// Writes the mark of a prompt, and its answer.
    fn send(&mut self) {
        self.naive.flush().expect("the disk has room");
        let replay = replayed(&self.paths.ours, Way::Backwards);
        let prompt = replay.manager().for_prompt(replay.parts(), &Profile::responses());
        let parts = replay.parts().digests().map(|digest| Sha256::new(*digest.as_bytes()));
        let mark = SentMark::new(parts, Sha256::new(*prompt.chain().as_bytes()), prompt.items().len() as u64);
        let answer = Spec::Message { role: "assistant", text: "Done.".to_owned() };
        let line = naive_log::item_line(TIMESTAMP, &answer.json());
        let item = WireItem::parse(answer.json().as_bytes()).expect("it is an item");
        let drafts = [RolloutItem::Sent(mark).into(), self.item(item, LoggedOrigin::Model)];
        self.write(&drafts, &line);
        self.naive.flush().expect("the disk has room");
    }
}

const fn origin_of(spec: &Spec) -> LoggedOrigin {
    match spec {
        Spec::Message { role, .. } => match role.as_bytes() {
            b"user" => LoggedOrigin::User,
            b"assistant" => LoggedOrigin::Model,
            _ => LoggedOrigin::Host,
        },
        Spec::Image { .. } => LoggedOrigin::User,
        Spec::Reasoning { .. } | Spec::Call { .. } => LoggedOrigin::Model,
        Spec::Output { .. } => LoggedOrigin::Tool,
    }
}

/// The item in the `cycle`th repetition of the corpus: its ids are its own.
fn in_cycle(spec: &Spec, cycle: usize) -> Spec {
    let mut spec = spec.clone();
    match &mut spec {
        Spec::Reasoning { id, .. } => *id += &format!("_{cycle}"),
        Spec::Call { id, call_id, .. } => {
            *id += &format!("_{cycle}");
            *call_id += &format!("_{cycle}");
        }
        Spec::Output { call_id, .. } => *call_id += &format!("_{cycle}"),
        _ => {}
    }
    spec
}

/// Writes logs of about so many bytes.
fn write_logs(folder: &Path, name: &str, bytes: u64, checkpoints: Checkpoints) -> Logs {
    let mut logs = Logs::create(folder, name);
    let corpus = conversation(10_000);
    let is_input = |spec: &Spec| matches!(spec, Spec::Message { role: "user", .. });
    'full: for cycle in 0.. {
        let specs: Vec<Spec> = corpus.iter().map(|spec| in_cycle(spec, cycle)).collect();
        for turn in specs.chunk_by(|_, next| !is_input(next)) {
            logs.turn(turn);
            let behind = logs.ours.len() - logs.compacted_at;
            match checkpoints {
                Checkpoints::Every6Mb if behind >= COMPACTED_EVERY => logs.compact(),
                Checkpoints::Every6Mb => {
                    let is_long = logs.ours.len() + COMPACTED_EVERY / 2 >= bytes;
                    if is_long && BEHIND_THE_LAST.contains(&behind) {
                        break 'full;
                    }
                }
                Checkpoints::Missing if logs.ours.len() >= bytes => break 'full,
                _ => {}
            }
        }
    }
    logs.send();
    logs
}

type Group<'a> = BenchmarkGroup<'a, WallTime>;

/// Measures a run. One that took long before is measured a few times only, and those times stand for the other samples.
fn sample(group: &mut Group<'_>, side: &str, megabytes: u64, took: Duration, run: impl Fn() -> usize) {
    let id = BenchmarkId::new(side, megabytes);
    if took < LONG_RUN {
        group.bench_function(id, |bencher| bencher.iter(|| black_box(run())));
        return;
    }
    let mut times = Vec::new();
    let mut samples = 0;
    group.bench_function(id, |bencher| {
        bencher.iter_custom(|n| {
            if times.len() < LONG_RUNS {
                let start = Instant::now();
                black_box(run());
                times.push(start.elapsed());
            }
            samples += 1;
            times[(samples - 1) % times.len()] * u32::try_from(n).unwrap_or(u32::MAX)
        });
    });
}

/// Runs it once: how long it took.
fn timed(expected: usize, run: impl Fn() -> usize) -> Duration {
    let start = Instant::now();
    assert_eq!(run(), expected);
    start.elapsed()
}

/// What a run holds, in bytes.
struct Held {
    reading: u64,
    at_most: u64,
    stays: u64,
}

/// Runs it once in a process of its own, which counts what all of its threads hold.
fn held(side: &str, log: &Path, expected: usize) -> Held {
    let output =
        Command::new(env!("CARGO_BIN_EXE_held")).arg(side).arg(log).output().expect("a process can be started");
    let printed = String::from_utf8_lossy(&output.stdout);
    let figures: Vec<u64> = printed.split_whitespace().filter_map(|figure| figure.parse().ok()).collect();
    let &[n_items, reading, at_most, stays] = figures.as_slice() else {
        panic!("{printed}{}", String::from_utf8_lossy(&output.stderr));
    };
    assert_eq!(n_items, expected as u64);
    Held { reading, at_most, stays }
}

fn rollout_resume(criterion: &mut Criterion) {
    let megabytes: u64 = asked("ADDENDA_LOG_MB").unwrap_or(10);
    for (checkpoints, cases) in [
        (Checkpoints::Every6Mb, &[("checkpoint", Way::Backwards), ("forward", Way::Forwards)][..]),
        (Checkpoints::Missing, &[("whole", Way::Backwards)]),
    ] {
        let temporary = tempfile::tempdir().expect("there is a temporary folder");
        let logs = write_logs(temporary.path(), "log", megabytes * 1_000_000, checkpoints);
        for (name, way) in cases {
            measure(criterion, &logs, name, *way, checkpoints, megabytes);
        }
    }
}

fn measure(criterion: &mut Criterion, logs: &Logs, name: &str, way: Way, checkpoints: Checkpoints, megabytes: u64) {
    let Logs { paths, live_items, live_bytes, most_live_bytes, .. } = logs;
    let mut group = criterion.benchmark_group(format!("rollout_resume_{name}"));
    group.sample_size(10).sampling_mode(SamplingMode::Flat);
    group.warm_up_time(Duration::from_millis(200)).measurement_time(Duration::from_secs(2));
    let resume = || resumed(&paths.ours, way).manager().history().item_count();
    let naive = || resumed_naive(&paths.naive);
    let (took, naive_took) = (timed(*live_items, resume), timed(*live_items, naive));
    let held_naive = held("naive", &paths.naive, *live_items).at_most;
    let held = held(way.name(), &paths.ours, *live_items);
    println!(
        "{name}/{megabytes} MB: at most {} bytes held, {} while reading, {} stay; naive {held_naive}; the items of the live \
         history have {live_bytes}, {most_live_bytes} where it was longest",
        held.at_most, held.reading, held.stays
    );
    let bound = match (checkpoints, way) {
        (Checkpoints::Every6Mb, Way::Backwards) => MAX_HELD,
        (Checkpoints::Every6Mb, Way::Forwards) => most_live_bytes * 13 / 10,
        (Checkpoints::Missing, _) if megabytes < 100 => live_bytes * 13 / 10 + READ_AHEAD,
        (Checkpoints::Missing, _) => live_bytes * 13 / 10,
    };
    assert!(held.at_most <= bound, "{} bytes were held, and {bound} are the bound", held.at_most);
    sample(&mut group, "addenda", megabytes, took, resume);
    sample(&mut group, "naive", megabytes, naive_took, naive);
    group.finish();
}

#[expect(clippy::disallowed_methods, reason = "who runs a bench speaks through the environment")]
fn asked(name: &str) -> Option<u64> {
    std::env::var(name).ok()?.parse().ok()
}

criterion_group!(benches, rollout_resume);
criterion_main!(benches);
