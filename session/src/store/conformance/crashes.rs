//! Processes that end and machines that lose their power.

use super::{AT_MS, Harness, Outcome, created, draft, ensure, read, said, taken, texts};
use crate::{Error, rollout::Durability, store::Crash};

/// After each number of batches, at each level, with each crash.
pub(super) fn acknowledged_survives(harness: &mut dyn Harness) -> Outcome {
    for crash in [Crash::Kill, Crash::PowerLoss] {
        for n_batches in 0_u64..6 {
            harness.reset();
            let (mut store, start) = created(harness)?;
            let mut promised = Vec::new();
            let mut next = start.last + 1;
            for number in 0..n_batches {
                let level = if number % 2 == 1 { Durability::DataSync } else { Durability::Flush };
                let batch = [draft(&format!("{number} a")), draft(&format!("{number} b"))];
                let done = store.append(next, AT_MS, &batch, level).map_err(said)?;
                next = done.last + 1;
                promised.extend([format!("{number} a"), format!("{number} b")]);
                let reached =
                    done.level >= level && (level == Durability::Flush || done.synced_through == Some(done.last));
                ensure(reached, || format!("asked for {level:?}, answered {done:?}"))?;
            }
            if crash == Crash::PowerLoss {
                // What was flushed behind the last sync may be lost, and nothing else.
                let synced = usize::try_from(n_batches / 2 * 4).unwrap_or(0);
                promised.truncate(synced);
            }
            harness.crash(store, crash);
            let (lines, report) = read(harness.open().as_mut())?;
            ensure(report.is_clean(), || format!("{crash:?} after {n_batches} batches: {:?}", report.findings))?;
            let kept = texts(&lines);
            ensure(kept.starts_with(&promised), || {
                format!("{crash:?} after {n_batches} batches: {promised:?} were promised, {kept:?} are kept")
            })?;
        }
    }
    Ok(())
}

pub(super) fn another_takes_over(harness: &mut dyn Harness) -> Outcome {
    for crash in [Crash::Kill, Crash::PowerLoss] {
        harness.reset();
        let (mut store, start) = created(harness)?;
        store.append(start.last + 1, AT_MS, &[draft("a")], Durability::DataSync).map_err(said)?;
        harness.crash(store, crash);
        let (mut next, opened) = taken(harness)?;
        ensure(opened.first == 3, || format!("{crash:?}: the next writer goes on at {}", opened.first))?;
        next.append(4, AT_MS, &[draft("b")], Durability::Flush).map_err(said)?;
        let (lines, report) = read(next.as_mut())?;
        ensure(report.is_clean() && texts(&lines) == ["a", "b"], || format!("{crash:?}: {:?}", texts(&lines)))?;
    }
    Ok(())
}

/// The handle that waits while the log goes on without it may be slow, not dead.
pub(super) fn a_writer_from_before_is_fenced(harness: &mut dyn Harness) -> Outcome {
    let (store, start) = created(harness)?;
    let mut slow = harness.open();
    harness.crash(store, Crash::Kill);
    let claimed = slow.claim(crate::store::Claim::Existing, &super::owner("slow")).map_err(said)?;
    ensure(claimed.next_ordinal == start.last + 1, || format!("{claimed:?}"))?;
    let mut other = harness.open();
    match other.claim(crate::store::Claim::Existing, &super::owner("other")) {
        // The store knows that the slow one lives.
        Err(Error::Busy { .. }) => return Ok(()),
        Err(error) => return Err(said(error)),
        Ok(claimed) => other.append(claimed.next_ordinal, AT_MS, &[draft("other")], Durability::Flush).map_err(said)?,
    };
    let refused = slow.append(claimed.next_ordinal, AT_MS, &[draft("slow")], Durability::Flush);
    ensure(matches!(refused, Err(Error::Fenced { .. })), || format!("the slow writer got {refused:?}"))
}
