//! Blobs, and deleting.

use super::{AT_MS, Harness, Outcome, created, draft, ensure, owner, read, said, taken};
use crate::{
    Error,
    rollout::{Durability, SessionMeta, Sha256},
    store::{Crash, create},
};

pub(super) fn kept_once(harness: &mut dyn Harness) -> Outcome {
    let (mut store, _) = created(harness)?;
    let large = "A".repeat(300_000);
    let blobs = ["one", "two", "one", &large, ""];
    for bytes in blobs {
        store.put_blob(Sha256::of(bytes.as_bytes()), bytes.as_bytes(), Durability::Flush).map_err(said)?;
    }
    let mut want: Vec<_> = ["one", "two", &large, ""].iter().map(|bytes| Sha256::of(bytes.as_bytes())).collect();
    want.sort_unstable();
    let mut reader = harness.open();
    let listed = reader.blobs().map_err(said)?;
    ensure(listed == want, || format!("{} blobs are listed", listed.len()))?;
    for bytes in blobs {
        let found = reader.blob(Sha256::of(bytes.as_bytes())).map_err(said)?;
        ensure(found == bytes.as_bytes(), || format!("a blob has {} bytes of {}", found.len(), bytes.len()))?;
    }
    let missing = reader.blob(Sha256::of(b"missing"));
    ensure(matches!(missing, Err(Error::Io { .. })), || format!("a missing blob gave {missing:?}"))?;
    let refused = reader.put_blob(Sha256::of(b"x"), b"x", Durability::Flush);
    ensure(matches!(refused, Err(Error::Fenced { .. })), || format!("who holds nothing got {refused:?}"))
}

pub(super) fn survive(harness: &mut dyn Harness) -> Outcome {
    for (crash, level) in [
        (Crash::Kill, Durability::Flush),
        (Crash::Kill, Durability::DataSync),
        (Crash::PowerLoss, Durability::DataSync),
    ] {
        harness.reset();
        let (mut store, start) = created(harness)?;
        let sha256 = Sha256::of(b"blob");
        // Asked for at a lower level first, it has to be raised.
        store.put_blob(sha256, b"blob", Durability::Flush).map_err(said)?;
        store.put_blob(sha256, b"blob", level).map_err(said)?;
        store.append(start.last + 1, AT_MS, &[draft("a")], level).map_err(said)?;
        harness.crash(store, crash);
        let found = harness.open().blob(sha256).map_err(said)?;
        ensure(found == b"blob", || format!("{crash:?}: it has {} bytes", found.len()))?;
        // The next process keeps it once too.
        let (mut store, _) = taken(harness)?;
        store.put_blob(sha256, b"blob", level).map_err(said)?;
        let n_blobs = store.blobs().map_err(said)?.len();
        ensure(n_blobs == 1, || format!("{n_blobs} blobs"))?;
    }
    Ok(())
}

pub(super) fn deleted(harness: &mut dyn Harness) -> Outcome {
    let (mut store, _) = created(harness)?;
    store.put_blob(Sha256::of(b"blob"), b"blob", Durability::Flush).map_err(said)?;
    let refused = harness.open().delete(&owner("other"));
    ensure(matches!(refused, Err(Error::Busy { .. })), || format!("while it is held: {refused:?}"))?;
    store.delete(&owner("first")).map_err(said)?;
    let mut store = harness.open();
    let left = (store.len().map_err(said)?, store.blobs().map_err(said)?.len());
    ensure(left == (0, 0), || format!("{left:?} bytes and blobs are left"))?;
    create(store.as_mut(), &SessionMeta::new("s2"), &owner("first"), Durability::Flush).map_err(said)?;
    let (lines, _) = read(store.as_mut())?;
    ensure(lines.len() == 2, || format!("{} records in the new log", lines.len()))
}
