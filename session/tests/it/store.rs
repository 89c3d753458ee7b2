//! Both stores keep what a store promises, and a store that does not is found out.

use std::{fs::OpenOptions, io::Write as _, path::PathBuf};

use session::{
    Error,
    rollout::{Appended, Draft, Durability, Owner, SessionFolder, Sha256},
    store::{
        Claim, Claimed, Crash, FsStore, MemoryStore, Store,
        conformance::{Damage, Harness, check_all},
    },
};

use crate::sample::file_bytes;

struct InMemory(MemoryStore);

impl Harness for InMemory {
    fn reset(&mut self) {
        self.0 = MemoryStore::new("s1");
    }

    fn open(&self) -> Box<dyn Store> {
        Box::new(self.0.clone())
    }

    fn crash(&mut self, _store: Box<dyn Store>, crash: Crash) {
        self.0.crash(crash);
    }

    fn damage(&mut self, damage: &Damage) {
        self.0.damage(|bytes| damage.apply(bytes));
    }
}

struct OnDisk {
    root: tempfile::TempDir,
    number: usize,
}

impl OnDisk {
    fn folder(&self) -> SessionFolder {
        SessionFolder::new(self.root.path().join(self.number.to_string()))
    }
}

impl Harness for OnDisk {
    fn reset(&mut self) {
        self.number += 1;
    }

    fn open(&self) -> Box<dyn Store> {
        Box::new(FsStore::new(self.folder()))
    }

    /// The lock ends with the handle, as it does with a process; `process.rs` kills real ones. No test on a running machine
    /// can take its power away.
    fn crash(&mut self, store: Box<dyn Store>, _crash: Crash) {
        drop(store);
    }

    fn damage(&mut self, damage: &Damage) {
        let path = self.folder().log_path();
        let mut bytes = file_bytes(&path);
        damage.apply(&mut bytes);
        std::fs::write(path, bytes).unwrap();
    }
}

#[test]
fn a_store_in_memory_keeps_its_promises() {
    let passed = check_all(&mut InMemory(MemoryStore::new("s1"))).unwrap();
    assert_eq!(passed.len(), 17);
}

#[test]
fn a_store_on_a_disk_keeps_its_promises() {
    let mut harness = OnDisk { root: tempfile::tempdir().unwrap(), number: 0 };
    assert_eq!(check_all(&mut harness).unwrap().len(), 17);
}

/// Breaks one promise of a good store.
#[derive(Debug)]
struct Liar(MemoryStore, Lie);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Lie {
    /// It says that it synced.
    Level,
    /// It appends at any ordinal.
    Ordinal,
    /// It forgets the blob of the first byte `b`.
    Blob,
    /// It gives another first byte to who reads much at once.
    Read,
}

impl Store for Liar {
    fn path(&self) -> PathBuf {
        self.0.path()
    }

    fn claim(&mut self, claim: Claim, owner: &Owner) -> Result<Claimed, Error> {
        self.0.claim(claim, owner)
    }

    fn append(
        &mut self,
        mut expected: u64,
        at_ms: i64,
        drafts: &[Draft],
        durability: Durability,
    ) -> Result<Appended, Error> {
        if self.1 == Lie::Ordinal
            && let Err(Error::Fenced { found: Some(found), .. }) =
                self.0.append(expected, at_ms, &[], Durability::Flush)
        {
            expected = found;
        }
        let level = if self.1 == Lie::Level { Durability::Flush } else { durability };
        let mut done = self.0.append(expected, at_ms, drafts, level)?;
        if durability == Durability::DataSync {
            (done.level, done.synced_through) = (durability, Some(done.last));
        }
        Ok(done)
    }

    fn sync(&mut self) -> Result<Appended, Error> {
        self.0.sync()
    }

    fn len(&mut self) -> Result<u64, Error> {
        self.0.len()
    }

    fn read(&mut self, offset: u64, bytes: &mut [u8]) -> Result<usize, Error> {
        let read = self.0.read(offset, bytes)?;
        if self.1 == Lie::Read && bytes.len() > 500_000 {
            bytes[0] ^= 1;
        }
        Ok(read)
    }

    fn put_blob(&mut self, sha256: Sha256, bytes: &[u8], durability: Durability) -> Result<(), Error> {
        if self.1 == Lie::Blob && bytes.starts_with(b"b") { Ok(()) } else { self.0.put_blob(sha256, bytes, durability) }
    }

    fn blob(&mut self, sha256: Sha256) -> Result<Vec<u8>, Error> {
        self.0.blob(sha256)
    }

    fn blobs(&mut self) -> Result<Vec<Sha256>, Error> {
        self.0.blobs()
    }

    fn delete(self: Box<Self>, owner: &Owner) -> Result<(), Error> {
        // A clone holds nothing, so it is told what another handle would be told.
        Box::new(self.0.clone()).delete(owner)
    }
}

struct Lying(MemoryStore, Lie);

impl Harness for Lying {
    fn reset(&mut self) {
        self.0 = MemoryStore::new("s1");
    }

    fn open(&self) -> Box<dyn Store> {
        Box::new(Liar(self.0.clone(), self.1))
    }

    fn crash(&mut self, _store: Box<dyn Store>, crash: Crash) {
        self.0.crash(crash);
    }

    fn damage(&mut self, damage: &Damage) {
        self.0.damage(|bytes| damage.apply(bytes));
    }
}

#[test]
fn a_store_that_breaks_a_promise_is_found_out() {
    for (lie, check) in [
        (Lie::Level, "what was acknowledged at a level survives what the level names"),
        (Lie::Ordinal, "an append at another ordinal writes nothing"),
        (Lie::Blob, "blobs reach their level before their record"),
        (Lie::Read, "reads of any size give the same bytes"),
    ] {
        let broken = check_all(&mut Lying(MemoryStore::new("s1"), lie)).unwrap_err();
        assert_eq!(broken.check, check, "{lie:?}: {broken}");
    }
}

#[cfg(unix)]
#[test]
fn s18_copied_folders_are_all_found_and_files_are_for_their_owner() {
    use std::os::unix::fs::PermissionsExt as _;

    let root = tempfile::tempdir().unwrap();
    for name in ["b", "a"] {
        let mut store = FsStore::new(SessionFolder::new(root.path().join(name)));
        let owner = Owner::this_process("here", crate::sample::AT_MS);
        let meta = session::rollout::SessionMeta::new(name);
        session::store::create(&mut store, &meta, &owner, Durability::Flush).unwrap();
        store.put_blob(Sha256::of(b"blob"), b"blob", Durability::DataSync).unwrap();
    }
    let folder = SessionFolder::new(root.path().join("a"));
    let mode = |path: PathBuf| path.metadata().unwrap().permissions().mode() & 0o777;
    let modes = [folder.path().to_owned(), folder.blobs_path()].map(mode);
    assert_eq!(modes, [0o700, 0o700]);
    let modes = [folder.log_path(), folder.lock_path(), folder.blob_path(Sha256::of(b"blob"))].map(mode);
    assert_eq!(modes, [0o600, 0o600, 0o600]);

    // Another machine: the logs alone, without locks, and no index anywhere.
    let copy = tempfile::tempdir().unwrap();
    OpenOptions::new().create(true).append(true).open(copy.path().join("notes.txt")).unwrap().write_all(b"x").unwrap();
    std::fs::create_dir(copy.path().join("no session")).unwrap();
    for name in ["a", "b"] {
        std::fs::create_dir(copy.path().join(name)).unwrap();
        let from = SessionFolder::new(root.path().join(name)).log_path();
        std::fs::copy(from, SessionFolder::new(copy.path().join(name)).log_path()).unwrap();
    }
    let found = FsStore::sessions(copy.path()).unwrap();
    let names: Vec<_> = found.iter().map(|folder| folder.path().file_name().unwrap().to_str().unwrap()).collect();
    assert_eq!(names, ["a", "b"]);
    for folder in found {
        let mut store = FsStore::new(folder);
        let owner = Owner::this_process("there", crate::sample::AT_MS);
        assert_eq!(session::store::take(&mut store, &owner, Durability::Flush).unwrap().appended.first, 2);
    }
}
