//! Bytes that no store wrote.

use super::{AT_MS, Damage, Harness, Outcome, created, draft, ensure, read, said, taken, texts};
use crate::rollout::Durability;

/// A log with `n` records, closed; gives where the line of each starts, and its length.
fn log(harness: &dyn Harness, n: usize) -> Result<(Vec<u64>, u64), String> {
    let (mut store, start) = created(harness)?;
    for (number, next) in (0..n).zip(start.last + 1..) {
        store.append(next, AT_MS, &[draft(&number.to_string())], Durability::DataSync).map_err(said)?;
    }
    let starts = read(store.as_mut())?.0.iter().map(|line| line.offset()).collect();
    Ok((starts, store.len().map_err(said)?))
}

/// Every cut in the last two records.
pub(super) fn cut_anywhere(harness: &mut dyn Harness) -> Outcome {
    let (starts, len) = log(harness, 4)?;
    for cut in starts[4]..=len {
        harness.reset();
        log(harness, 4)?;
        harness.damage(&Damage::Cut { len: cut });
        let (mut store, opened) = taken(harness)?;
        let kept = starts.iter().skip(1).chain([&len]).filter(|end| **end <= cut + 1).count();
        ensure(opened.first == kept as u64, || format!("cut at {cut}: the next record is {}", opened.first))?;
        store.append(opened.last + 1, AT_MS, &[draft("next")], Durability::Flush).map_err(said)?;
        let (lines, report) = read(store.as_mut())?;
        ensure(report.is_clean() && lines.len() == kept + 2, || format!("cut at {cut}: {:?}", report.findings))?;
    }
    Ok(())
}

pub(super) fn torn_tail_is_cut(harness: &mut dyn Harness) -> Outcome {
    let (_, len) = log(harness, 2)?;
    harness.damage(&Damage::Append { bytes: b"{\"timestamp\":\"2026-10-20T08:00".to_vec() });
    let mut store = harness.open();
    let taken = super::take(store.as_mut(), &super::owner("next"), Durability::Flush).map_err(said)?;
    let tail = taken.report.torn_tail.map(|tail| (tail.offset, tail.len));
    ensure(tail == Some((len, 30)), || format!("the torn tail is {tail:?}"))?;
    let (lines, report) = read(store.as_mut())?;
    ensure(report.is_clean() && lines.len() == 5, || format!("{:?}", report.findings))
}

pub(super) fn damaged_page(harness: &mut dyn Harness) -> Outcome {
    let (starts, _) = log(harness, 20)?;
    let (offset, end) = (starts[8] + 20, starts[10] + 5);
    let bytes = vec![0; usize::try_from(end - offset).unwrap_or(0)];
    harness.damage(&Damage::Overwrite { offset, bytes });
    let (lines, report) = read(harness.open().as_mut())?;
    let want: Vec<_> = (0..20).filter(|number| !(6..=8).contains(number)).map(|number| number.to_string()).collect();
    ensure(texts(&lines) == want, || format!("{:?} are read", texts(&lines)))?;
    ensure(!report.is_clean(), || "the damage is not reported".into())?;
    // What is whole behind it can still be gone on from.
    let (mut store, opened) = taken(harness)?;
    ensure(opened.first == 22, || format!("the next record is {}", opened.first))?;
    store.append(23, AT_MS, &[draft("next")], Durability::Flush).map(drop).map_err(said)
}
