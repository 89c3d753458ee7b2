//! Reading forwards what a resume needs, of a log that cannot be read from its end.

use std::io::{Cursor, Read};

use context_fragments::WireItem;
use proptest::prelude::*;
use session::{
    Error,
    rollout::{
        Checkpoint, CheckpointCause, CheckpointItem, Draft, LiveEvents, LoggedLine, Metadata, OpenLimits, Problem,
        RecoveryReport, ReplayEvent, RolloutItem, SessionMeta, TurnAborted, TurnEnded, TurnStarted,
    },
};

use crate::sample::{log_of, read};

fn text(len: usize) -> WireItem {
    WireItem::user_text(&"x".repeat(len))
}

fn checkpoint(len: usize) -> Draft {
    let items = vec![CheckpointItem::new(text(len), Metadata::new())];
    RolloutItem::Checkpoint(Checkpoint::new(CheckpointCause::Request, items)).into()
}

fn header() -> Draft {
    RolloutItem::SessionMeta(SessionMeta::new("s1")).into()
}

fn draft() -> impl Strategy<Value = Draft> {
    prop_oneof![
        4 => (0_usize..90).prop_map(|len| RolloutItem::Item(text(len)).into()),
        2 => (0_usize..90).prop_map(checkpoint),
        1 => "[a-c]".prop_map(|id| RolloutItem::TurnStarted(TurnStarted::new(&id)).into()),
        1 => Just(RolloutItem::TurnEnded(TurnEnded::default()).into()),
        1 => Just(RolloutItem::TurnAborted(TurnAborted::default()).into()),
    ]
}

#[derive(Clone, Debug)]
enum Damage {
    Flip(usize, u8),
    Cut(usize),
    Drop(usize),
    Twice(usize),
    Blank(usize),
}

fn damage() -> impl Strategy<Value = Damage> {
    prop_oneof![
        (any::<usize>(), 1_u8..).prop_map(|(at, mask)| Damage::Flip(at, mask)),
        any::<usize>().prop_map(Damage::Cut),
        any::<usize>().prop_map(Damage::Drop),
        any::<usize>().prop_map(Damage::Twice),
        any::<usize>().prop_map(Damage::Blank),
    ]
}

fn hit(log: &[u8], damage: &Damage) -> Vec<u8> {
    let mut lines: Vec<&[u8]> = log.split_inclusive(|byte| *byte == b'\n').collect();
    let n_lines = lines.len().max(1);
    match *damage {
        Damage::Flip(at, mask) => {
            let mut log = log.to_vec();
            let len = log.len().max(1);
            log.get_mut(at % len).into_iter().for_each(|byte| *byte ^= mask);
            return log;
        }
        Damage::Cut(at) => return log[..at % (log.len() + 1)].to_vec(),
        Damage::Drop(at) if !lines.is_empty() => drop(lines.remove(at % n_lines)),
        Damage::Twice(at) if !lines.is_empty() => lines.insert(at % n_lines, lines[at % n_lines]),
        Damage::Blank(at) => lines.insert(at % n_lines.min(lines.len() + 1), b" \n"),
        Damage::Drop(_) | Damage::Twice(_) => {}
    }
    lines.concat()
}

type Live = (Option<u64>, Vec<ReplayEvent>, RecoveryReport);

fn all<R: Read>(live: LiveEvents<R>) -> Live
where
    LiveEvents<R>: Iterator<Item = Result<ReplayEvent, Error>>,
{
    let mut live = live;
    let checkpoint = live.checkpoint().map(|place| place.offset);
    let events = live.by_ref().map(Result::unwrap).collect();
    (checkpoint, events, live.into_report())
}

fn backwards(log: &[u8]) -> Live {
    all(LiveEvents::open(Cursor::new(log), OpenLimits::default(), None, "log".into()).unwrap())
}

fn forwards(log: &[u8]) -> Live {
    all(LiveEvents::forward(log, OpenLimits::default(), None, "log".into()).unwrap())
}

/// What is found, wherever reading started; the numbers of lines are known only from the start.
fn findings(report: &RecoveryReport) -> Vec<(u64, u64, &Problem)> {
    report.findings.iter().map(|found| (found.offset, found.len, &found.problem)).collect()
}

fn stands_alone(log: &[u8], line: &LoggedLine) -> bool {
    let start = usize::try_from(line.offset()).unwrap();
    let is_border = |byte: Option<&u8>| byte.is_none_or(|byte| *byte == b'\n');
    is_border(start.checked_sub(1).and_then(|at| log.get(at))) && is_border(log.get(start + line.text().len()))
}

proptest! {
    #[test]
    fn what_is_read_forwards_is_what_is_read_from_the_end(
        drafts in prop::collection::vec(draft(), 0..25),
        damages in prop::collection::vec(damage(), 0..3),
    ) {
        let log = log_of(&[header()].into_iter().chain(drafts).collect::<Vec<_>>());
        let log = damages.iter().fold(log, |log, damage| hit(&log, damage));
        // From the end, a line that holds more than a record is no checkpoint; forwards, a record on it may be.
        prop_assume!(read(&log).0.iter().all(|line| stands_alone(&log, line)));
        let (back, forth) = (backwards(&log), forwards(&log));
        prop_assert_eq!(back.0, forth.0);
        prop_assert_eq!(back.1, forth.1);
        prop_assert_eq!(findings(&back.2), findings(&forth.2));
        prop_assert_eq!(back.2.torn_tail, forth.2.torn_tail);
        prop_assert_eq!((back.2.append_at, back.2.next_ordinal), (forth.2.append_at, forth.2.next_ordinal));
        prop_assert_eq!(back.2.contents, forth.2.contents);
    }
}

/// Ordinals before the checkpoint were lost, stand twice, or come again behind it: what stands before it does not count.
#[test]
fn ordinals_are_counted_from_the_checkpoint_on() {
    let item = |len| Draft::from(RolloutItem::Item(text(len)));
    let log = log_of(&[header(), item(1), item(2), checkpoint(3), item(4), item(5)]);
    let lines: Vec<&[u8]> = log.split_inclusive(|byte| *byte == b'\n').collect();
    for order in [&[0, 2, 3, 4, 5][..], &[0, 1, 2, 3, 3, 4, 5], &[0, 1, 3, 2, 4, 5], &[0, 4, 1, 2, 3, 4, 5], &[0, 5, 3]]
    {
        let log: Vec<u8> = order.iter().map(|&at| lines[at]).collect::<Vec<_>>().concat();
        let (back, forth) = (backwards(&log), forwards(&log));
        assert_eq!((back.0, &back.1), (forth.0, &forth.1), "{order:?}");
        assert_eq!(findings(&back.2), findings(&forth.2), "{order:?}");
        assert_eq!(back.2.next_ordinal, forth.2.next_ordinal, "{order:?}");
    }
}

/// Twenty times what a checkpoint then supersedes.
fn superseded(n: usize) -> Vec<u8> {
    let stretch = || (0..400).map(|_| RolloutItem::Item(text(1_200)).into()).chain([checkpoint(1_200)]);
    let drafts: Vec<Draft> = [header()].into_iter().chain((0..n).flat_map(|_| stretch())).collect();
    log_of(&drafts)
}

#[test]
fn what_was_superseded_is_not_held() {
    let mut held = Vec::new();
    for n in [2, 20] {
        let log = superseded(n);
        let mut found = 0;
        let allocated = allocation_counter::measure(|| found = forwards(&log).1.len());
        assert_eq!(found, 2, "the header and the newest checkpoint");
        held.push(allocated.bytes_max);
    }
    // A stretch and the buffer of the reader.
    assert!(held[0] < 400 * 1_700 + 300 * 1_024, "{held:?}");
    assert!(held[1].abs_diff(held[0]) < 10_000, "ten times the log, and no more is held: {held:?}");
}

#[test]
fn a_limit_is_on_what_stands_between_two_checkpoints() {
    let log = superseded(3);
    let longest = 403 * read(&log).0[1].text().len() as u64;
    for (max_bytes, fits) in [(longest + 2_000, true), (longest / 2, false), (100, false)] {
        let limits = OpenLimits::default().with_max_bytes(max_bytes);
        match LiveEvents::forward(&log[..], limits, None, "log".into()) {
            Ok(live) => assert!(fits && live.map(Result::unwrap).count() == 2, "{max_bytes}"),
            Err(error) => {
                let Error::OverLimit { limit, offset, .. } = error else { panic!("{error}") };
                assert!(!fits && limit == max_bytes && offset < 401 * 1_700, "{max_bytes}: {offset}");
            }
        }
    }
}

#[cfg(feature = "zstd")]
#[test]
fn a_packed_log_gives_what_the_plain_one_gives() {
    let folder = tempfile::tempdir().unwrap();
    let log = superseded(3);
    let (plain, packed) = (folder.path().join("rollout.jsonl"), folder.path().join("packed.jsonl.zst"));
    std::fs::write(&plain, &log).unwrap();
    std::fs::write(&packed, zstd::encode_all(&log[..], 3).unwrap()).unwrap();
    let of = |path: &std::path::Path| all(LiveEvents::open_path(path, OpenLimits::default(), None).unwrap());
    assert_eq!(of(&packed), of(&plain));
    assert_eq!(of(&plain).1, backwards(&log).1);
    let foreign = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/forward.rs");
    let refused = LiveEvents::open_path(foreign.as_ref(), OpenLimits::default(), None).unwrap_err();
    assert!(matches!(refused, Error::NotOurs { .. }), "{refused}");
}
