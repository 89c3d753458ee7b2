//! Who may write, and at which ordinal.

use std::thread;

use super::{AT_MS, Harness, Outcome, created, draft, ensure, owner, read, said, taken, texts};
use crate::{
    Error,
    rollout::{Durability, SessionMeta},
    store::{Claim, create, take},
};

pub(super) fn records_are_numbered(harness: &mut dyn Harness) -> Outcome {
    let (mut store, start) = created(harness)?;
    ensure((start.first, start.last) == (0, 1), || format!("the header has the ordinals {start:?}"))?;
    let batch: Vec<_> = (0..100).map(|number| draft(&number.to_string())).collect();
    let done = store.append(2, AT_MS, &batch, Durability::Flush).map_err(said)?;
    ensure((done.first, done.last, done.flushed_through) == (2, 101, 101), || format!("answered {done:?}"))?;
    let synced = store.sync().map_err(said)?;
    ensure(synced.synced_through == Some(101), || format!("sync answered {synced:?}"))?;
    // Any number of readers, while it is written.
    let (lines, report) = read(harness.open().as_mut())?;
    ensure(report.is_clean() && lines.len() == 102, || format!("{} records, {:?}", lines.len(), report.findings))?;
    let want: Vec<_> = (0..100).map(|number| number.to_string()).collect();
    ensure(texts(&lines) == want, || "the records are others".into())
}

pub(super) fn a_log_is_made_once(harness: &mut dyn Harness) -> Outcome {
    let missing = take(harness.open().as_mut(), &owner("a"), Durability::Flush);
    let is_missing = matches!(missing, Err(Error::Empty { .. } | Error::Io { .. }));
    ensure(is_missing, || format!("taking nothing gave {missing:?}"))?;
    drop(created(harness)?);
    let again = create(harness.open().as_mut(), &SessionMeta::new("s2"), &owner("a"), Durability::Flush);
    ensure(matches!(again, Err(Error::Exists { .. })), || format!("making it again gave {again:?}"))?;
    let (lines, _) = read(harness.open().as_mut())?;
    ensure(lines.len() == 2, || format!("{} records after two refusals", lines.len()))
}

pub(super) fn another_ordinal_is_refused(harness: &mut dyn Harness) -> Outcome {
    let (mut store, _) = created(harness)?;
    for wrong in [0, 1, 3, u64::MAX] {
        let refused = store.append(wrong, AT_MS, &[draft("x")], Durability::Flush);
        ensure(matches!(refused, Err(Error::Fenced { .. })), || format!("ordinal {wrong} gave {refused:?}"))?;
    }
    store.append(2, AT_MS, &[draft("y")], Durability::Flush).map_err(said)?;
    let (lines, report) = read(store.as_mut())?;
    ensure(report.is_clean() && texts(&lines) == ["y"], || format!("{:?}", texts(&lines)))
}

pub(super) fn an_unclaimed_handle_is_refused(harness: &mut dyn Harness) -> Outcome {
    drop(created(harness)?);
    let mut store = harness.open();
    let refused = store.append(2, AT_MS, &[draft("x")], Durability::Flush);
    ensure(matches!(refused, Err(Error::Fenced { .. })), || format!("it gave {refused:?}"))?;
    let (lines, _) = read(store.as_mut())?;
    ensure(lines.len() == 2, || format!("{} records", lines.len()))
}

pub(super) fn of_two_writers_one_is_fenced(harness: &mut dyn Harness) -> Outcome {
    let (mut first, start) = created(harness)?;
    let mut second = harness.open();
    match take(second.as_mut(), &owner("second"), Durability::Flush) {
        Err(Error::Busy { pid, host, since, .. }) => {
            let told = (pid, host.as_deref(), since.as_deref());
            let want = (Some(std::process::id()), Some("first"), Some("2026-10-20T08:00:00.123Z"));
            ensure(told == want, || format!("the second one is told {told:?}"))?;
            first.append(start.last + 1, AT_MS, &[draft("of the first")], Durability::Flush).map_err(said)?;
        }
        Ok(taken) => {
            let refused = first.append(start.last + 1, AT_MS, &[draft("stale")], Durability::Flush);
            ensure(matches!(refused, Err(Error::Fenced { .. })), || format!("the stale writer got {refused:?}"))?;
            let next = taken.appended.last + 1;
            second.append(next, AT_MS, &[draft("of the second")], Durability::Flush).map_err(said)?;
        }
        Err(error) => return Err(format!("the second writer got {error}")),
    }
    let (lines, report) = read(harness.open().as_mut())?;
    let texts = texts(&lines);
    ensure(report.is_clean() && texts.len() == 1 && texts[0] != "stale", || format!("the log holds {texts:?}"))?;
    // Who gives the log back lets the next one in.
    drop((first, second));
    taken(harness).map(drop)
}

pub(super) fn racing_writers_lose_nothing(harness: &mut dyn Harness) -> Outcome {
    drop(created(harness)?);
    let handles: Vec<Vec<_>> = (0..4).map(|_| (0..25).map(|_| harness.open()).collect()).collect();
    let race = |(racer, handles): (usize, Vec<Box<dyn super::Store>>)| {
        let mut acknowledged = Vec::new();
        for (round, mut store) in handles.into_iter().enumerate() {
            let claimed = match store.claim(Claim::Existing, &owner("racer")) {
                Ok(claimed) => claimed,
                Err(Error::Busy { .. }) => continue,
                Err(error) => return Err(said(error)),
            };
            for (next, number) in (claimed.next_ordinal..).zip(0..3) {
                let text = format!("{racer} {round} {number}");
                match store.append(next, AT_MS, &[draft(&text)], Durability::Flush) {
                    Ok(_) => acknowledged.push(text),
                    Err(Error::Fenced { .. }) => break,
                    Err(error) => return Err(said(error)),
                }
            }
        }
        Ok(acknowledged)
    };
    let results: Vec<_> = thread::scope(|scope| {
        let racers = handles.into_iter().enumerate().map(|racer| scope.spawn(move || race(racer)));
        let racers: Vec<_> = racers.collect();
        racers.into_iter().map(|racer| racer.join().unwrap_or_else(|_| Err("a racer panicked".into()))).collect()
    });
    let mut acknowledged = Vec::new();
    for result in results {
        acknowledged.extend(result?);
    }
    ensure(!acknowledged.is_empty(), || "nobody ever got the log".into())?;
    let (lines, report) = read(harness.open().as_mut())?;
    ensure(report.is_clean(), || format!("{:?}", report.findings))?;
    let mut kept = texts(&lines);
    kept.sort_unstable();
    acknowledged.sort_unstable();
    ensure(kept == acknowledged, || {
        format!("{} records were acknowledged, {} are kept", acknowledged.len(), kept.len())
    })
}
