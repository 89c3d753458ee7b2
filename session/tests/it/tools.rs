//! Checking, repairing, salvaging, counting, deleting, packing.

use std::path::{Path, PathBuf};

use context_fragments::WireItem;
use session::{
    Error, NewSession, Session, UserInput,
    rollout::{
        BlobProblem, Draft, Durability, EditedRecords, FolderLeft, Owner, Problem, RolloutItem, SessionFolder,
        SessionMeta, Sha256, delete, fsck, repair, salvage, stats,
    },
    store::{FsStore, Store as _, create},
};

use crate::{
    sample::{AT_MS, drafts, file_bytes, log_of, log_of_items, read},
    stage::{Disk, options, simple_turn},
};

fn owner() -> Owner {
    Owner::this_process("here", AT_MS)
}

fn silent() -> impl FnMut(session::rollout::Progress) {
    |_| ()
}

fn session_of(root: &Path, name: &str, log: &[u8]) -> SessionFolder {
    let folder = SessionFolder::new(root.join(name));
    std::fs::create_dir(folder.path()).unwrap();
    std::fs::write(folder.log_path(), log).unwrap();
    folder
}

fn starts(log: &[u8]) -> Vec<usize> {
    read(log).0.iter().map(|line| usize::try_from(line.offset()).unwrap()).collect()
}

/// A real session with an image, closed.
async fn talked(root: &Path) -> SessionFolder {
    let folder = SessionFolder::new(root.join("talked"));
    let session = Session::create(&folder, NewSession::new("s1"), options(&Disk::project("Use tabs."))).await.unwrap();
    simple_turn(&session, "one", "1").await;
    let turn = session.begin_turn(UserInput::text("look").with_image("x".repeat(50_000), "auto")).unwrap();
    crate::stage::send(&turn).await;
    turn.record([WireItem::assistant_text("seen")]).await.unwrap();
    turn.finish().await.unwrap();
    simple_turn(&session, "three", "3").await;
    session.close().await.unwrap();
    folder
}

#[tokio::test]
async fn a_sound_log_is_sound_and_each_damage_is_found() {
    let root = tempfile::tempdir().unwrap();
    let folder = talked(root.path()).await;
    let mut told = Vec::new();
    let checked = fsck(folder.path(), &mut |progress| told.push(progress)).unwrap();
    assert!(checked.is_sound() && checked.n_blobs == 1 && checked.unnamed_blobs.is_empty(), "{checked:?}");
    assert_eq!(told.last().map(|progress| progress.done == progress.total), Some(true));
    assert!(fsck(&folder.log_path(), &mut silent()).unwrap().is_sound());

    let blob = std::fs::read_dir(folder.blobs_path()).unwrap().next().unwrap().unwrap().path();
    let whole = file_bytes(&blob);
    std::fs::write(&blob, &whole[1..]).unwrap();
    let checked = fsck(folder.path(), &mut silent()).unwrap();
    assert!(!checked.is_sound());
    assert_eq!(checked.blobs[0].problem, BlobProblem::Damaged);
    std::fs::rename(&blob, folder.blob_path(Sha256::of(b"other"))).unwrap();
    let checked = fsck(folder.path(), &mut silent()).unwrap();
    assert_eq!(checked.blobs[0].problem, BlobProblem::Missing);
    assert_eq!(checked.unnamed_blobs, [Sha256::of(b"other")]);
    let line =
        read(&file_bytes(&folder.log_path())).0.into_iter().find(|line| !line.blobs().unwrap().is_empty()).unwrap();
    assert_eq!(checked.blobs[0].named_at, line.offset());

    for name in ["codex-0.144", "own-format-1"] {
        let path = format!("{}/tests/data/{name}.jsonl", env!("CARGO_MANIFEST_DIR"));
        let checked = fsck(Path::new(&path), &mut silent()).unwrap();
        assert!(checked.report.records > 5, "{name}: {checked:?}");
    }
    let missing = fsck(&root.path().join("missing"), &mut silent());
    assert!(matches!(missing, Err(Error::Io { action: "open", .. })), "{missing:?}");
}

/// Repairing what is sound gives the same records byte for byte.
#[tokio::test]
async fn a_sound_log_is_repaired_into_itself() {
    let root = tempfile::tempdir().unwrap();
    let folder = talked(root.path()).await;
    let to = SessionFolder::new(root.path().join("again"));
    let repaired = repair(folder.path(), &to, &owner(), EditedRecords::LeaveOut, &mut silent()).unwrap();
    assert!(repaired.left_out.is_empty());
    assert_eq!(file_bytes(&to.log_path()), file_bytes(&folder.log_path()));
    assert!(fsck(to.path(), &mut silent()).unwrap().is_sound());
    let again = repair(folder.path(), &to, &owner(), EditedRecords::LeaveOut, &mut silent());
    assert!(matches!(again, Err(Error::Exists { .. })), "never over what is there: {again:?}");
    // What this version does not know is copied too.
    let unknown = session_of(root.path(), "unknown", &log_of(&drafts()[..9]));
    let to = SessionFolder::new(root.path().join("unknown again"));
    repair(unknown.path(), &to, &owner(), EditedRecords::LeaveOut, &mut silent()).unwrap();
    assert_eq!(file_bytes(&to.log_path()), file_bytes(&unknown.log_path()));
}

/// Whatever line of a session is destroyed, what is repaired is sound, and the session goes on from it.
#[tokio::test]
async fn a_damaged_session_is_repaired_and_gone_on_with() {
    let root = tempfile::tempdir().unwrap();
    let folder = talked(root.path()).await;
    let whole = file_bytes(&folder.log_path());
    let disk = Disk::project("Use tabs.");
    for (number, start) in starts(&whole).into_iter().enumerate().skip(1) {
        let mut damaged = whole.clone();
        damaged[start..start + 30].fill(0);
        let from = session_of(root.path(), &format!("damaged {number}"), &damaged);
        std::fs::create_dir(from.blobs_path()).unwrap();
        for blob in std::fs::read_dir(folder.blobs_path()).unwrap() {
            let blob = blob.unwrap();
            std::fs::copy(blob.path(), from.blobs_path().join(blob.file_name())).unwrap();
        }
        let to = SessionFolder::new(root.path().join(format!("repaired {number}")));
        let repaired = repair(from.path(), &to, &owner(), EditedRecords::LeaveOut, &mut silent()).unwrap();
        assert_eq!(file_bytes(&from.log_path()), damaged, "the old one is not touched");
        assert!(!repaired.report.is_clean());
        assert!(fsck(to.path(), &mut silent()).unwrap().is_sound(), "record {number}");
        let resumed = Session::resume(&to, options(&disk)).await;
        let resumed = resumed.unwrap_or_else(|error| panic!("without record {number}: {error}"));
        simple_turn(&resumed.session, "go on", "4").await;
        // The project's rules were told again, or still stand: exactly once is the model told of them.
        let told = resumed.session.preview().input_json().matches("Use tabs.").count();
        assert!((1..=2).contains(&told), "without record {number}: told {told} times");
    }
}

#[test]
fn records_are_put_in_order_and_repetitions_and_edits_are_left_out() {
    let root = tempfile::tempdir().unwrap();
    let log = log_of_items(6);
    let at = starts(&log);
    let line = |number: usize| &log[at[number]..at.get(number + 1).copied().unwrap_or(log.len())];
    let edited = String::from_utf8(line(3).to_vec()).unwrap().replace("item 2", "item X");
    let mixed = [line(0), line(1), line(4), line(2), edited.as_bytes(), line(2), line(5), line(6)].concat();
    let from = session_of(root.path(), "mixed", &mixed);
    let to = SessionFolder::new(root.path().join("ordered"));
    let repaired = repair(from.path(), &to, &owner(), EditedRecords::LeaveOut, &mut silent()).unwrap();
    assert_eq!(repaired.records, 6);
    let left: Vec<_> = repaired.left_out.iter().map(|left| (left.ordinal, left.reason)).collect();
    assert_eq!(left, [(2, "it repeats another one"), (3, "someone edited it")]);
    let (lines, report) = read(&file_bytes(&to.log_path()));
    assert!(report.is_clean());
    let texts: Vec<_> =
        lines[1..].iter().map(|line| line.text().split("item ").nth(1).unwrap()[..1].to_owned()).collect();
    assert_eq!(texts, ["0", "1", "3", "4", "5"]);

    let to = SessionFolder::new(root.path().join("with the edited"));
    let repaired = repair(from.path(), &to, &owner(), EditedRecords::Take, &mut silent()).unwrap();
    assert_eq!(repaired.records, 7);
    let (lines, report) = read(&file_bytes(&to.log_path()));
    assert!(report.is_clean() && lines[3].text().contains("item X"), "{:?}", report.findings);
}

#[test]
fn what_has_no_header_is_salvaged_and_not_repaired() {
    let root = tempfile::tempdir().unwrap();
    let log = log_of_items(4);
    let at = starts(&log);
    let headless = [b"\0\0\0\0 garbage", &log[at[1]..at[3]], b"{\"half\n", &log[at[3]..]].concat();
    let from = session_of(root.path(), "headless", &headless);
    let to = SessionFolder::new(root.path().join("new"));
    let refused = repair(from.path(), &to, &owner(), EditedRecords::LeaveOut, &mut silent()).unwrap_err();
    let is_headless = |error: &Error| matches!(error, Error::Unresumable { finding, .. } if finding.problem == Problem::NoSessionMeta);
    assert!(is_headless(&refused), "{refused}");
    assert!(!to.path().exists());

    let mut out = Vec::new();
    let salvaged = salvage(from.path(), &mut out, &mut silent()).unwrap();
    assert_eq!((salvaged.records, salvaged.report.is_clean()), (4, false));
    let lines: Vec<serde_json::Value> =
        String::from_utf8(out).unwrap().lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    for (index, line) in lines.iter().enumerate() {
        assert_eq!((&line["type"], &line["trust"]), (&"item".into(), &"whole".into()));
        assert_eq!(line["ordinal"], index + 1);
        assert_eq!(line["payload"]["content"][0]["text"], format!("item {index} ✓"));
    }
    // A foreign log is salvaged as well, and never repaired into one of ours.
    let codex = PathBuf::from(format!("{}/tests/data/codex-0.144.jsonl", env!("CARGO_MANIFEST_DIR")));
    let mut out = Vec::new();
    assert!(salvage(&codex, &mut out, &mut silent()).unwrap().records > 10);
    let refused = repair(&codex, &to, &owner(), EditedRecords::LeaveOut, &mut silent());
    assert!(matches!(refused, Err(Error::NotOurs { .. })), "{refused:?}");
}

#[tokio::test]
async fn stats_say_which_records_hold_the_bytes() {
    let root = tempfile::tempdir().unwrap();
    let folder = talked(root.path()).await;
    let counted = stats(folder.path(), &mut silent()).unwrap();
    let len = folder.log_path().metadata().unwrap().len();
    assert_eq!((counted.bytes, counted.live_bytes), (len, len));
    assert_eq!(counted.types.values().map(|of_type| of_type.bytes).sum::<u64>(), len);
    assert_eq!(counted.types.values().map(|of_type| of_type.records).sum::<u64>(), counted.report.records);
    let items = counted.types["item"];
    assert_eq!((items.new_blob_bytes, counted.n_blobs, counted.blob_bytes), (50_000, 1, 50_000));
    assert_eq!(counted.blob_bytes_on_disk, 50_000);
    assert_eq!((counted.types["sent"].records, counted.types["turn_started"].records), (3, 3));
}

#[test]
fn a_session_is_deleted_with_all_that_is_its_own() {
    let root = tempfile::tempdir().unwrap();
    let folder = SessionFolder::new(root.path().join("s1"));
    let mut store = FsStore::new(folder.clone());
    create(&mut store, &SessionMeta::new("s1"), &owner(), Durability::Flush).unwrap();
    store.put_blob(Sha256::of(b"blob"), b"blob", Durability::Flush).unwrap();
    let refused = delete(&folder, &owner()).unwrap_err();
    assert!(refused.is_busy(), "{refused}");
    drop(store);
    std::fs::write(folder.path().join("notes.txt"), "mine").unwrap();
    assert_eq!(delete(&folder, &owner()).unwrap(), FolderLeft::WithOtherFiles);
    let left: Vec<_> = std::fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(left, ["notes.txt"]);
    let refused = delete(&folder, &owner());
    assert!(matches!(refused, Err(Error::Io { action: "delete", .. })), "no session, nothing to delete: {refused:?}");
    assert!(folder.path().join("notes.txt").exists() && !folder.lock_path().exists());
}

#[cfg(feature = "zstd")]
#[tokio::test]
async fn a_packed_log_is_read_directly_and_unpacked_to_go_on() {
    use session::rollout::{pack, unpack};

    let root = tempfile::tempdir().unwrap();
    let folder = talked(root.path()).await;
    let whole = file_bytes(&folder.log_path());
    let n_records = read(&whole).0.len();
    let writer = folder.open_writer(&owner(), Durability::Flush).unwrap();
    assert!(pack(&folder, &owner()).unwrap_err().is_busy(), "a log in use is not cold");
    drop(writer);
    let whole_now = file_bytes(&folder.log_path());
    pack(&folder, &owner()).unwrap();
    assert!(!folder.log_path().exists());
    let packed = file_bytes(&folder.compressed_log_path());
    assert!(packed.len() < whole_now.len() / 2, "{} of {}", packed.len(), whole_now.len());
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        assert_eq!(folder.compressed_log_path().metadata().unwrap().permissions().mode() & 0o777, 0o600);
    }

    let mut events = folder.events().unwrap();
    assert_eq!(events.by_ref().map(Result::unwrap).count(), n_records + 1);
    assert!(events.into_report().is_clean());
    assert!(fsck(folder.path(), &mut silent()).unwrap().is_sound());
    assert_eq!(stats(&folder.compressed_log_path(), &mut silent()).unwrap().bytes, whole_now.len() as u64);
    assert_eq!(FsStore::sessions(root.path()).unwrap(), std::slice::from_ref(&folder));
    let disk = Disk::project("Use tabs.");
    let refused = Session::resume(&folder, options(&disk)).await.unwrap_err();
    assert!(matches!(refused, Error::Compressed { .. }), "{refused}");

    // A packed log that is cut is read as far as it goes.
    let cut = session_of(root.path(), "cut", b"");
    std::fs::remove_file(cut.log_path()).unwrap();
    std::fs::write(cut.compressed_log_path(), &packed[..packed.len() - 10]).unwrap();
    let n_read = cut.events().unwrap().filter(Result::is_ok).count();
    assert!(n_read <= n_records + 1);
    let refused = unpack(&cut, &owner());
    assert!(matches!(refused, Err(Error::Io { action: "unpack", .. })), "{refused:?}");
    assert!(cut.compressed_log_path().exists() && !cut.log_path().exists());

    unpack(&folder, &owner()).unwrap();
    assert!(!folder.compressed_log_path().exists());
    assert_eq!(file_bytes(&folder.log_path()), whole_now);
    Session::resume(&folder, options(&disk)).await.unwrap();
}

/// An item that names secrets, in every error that there is about it.
#[test]
fn no_error_and_no_finding_prints_what_a_record_holds() {
    const SECRET: &str = "hunter2-secret";
    let root = tempfile::tempdir().unwrap();
    let item: Draft = RolloutItem::Item(WireItem::user_text(SECRET)).into();
    let log = log_of(&[RolloutItem::SessionMeta(SessionMeta::new("s1")).into(), item.clone(), item]);
    let at = starts(&log);
    for place in at[1]..log.len() {
        for byte in [0xFF, b'"', b'{', b'\n'] {
            let mut damaged = log.clone();
            damaged[place] = byte;
            let (lines, report) = read(&damaged);
            let mut said: Vec<String> = report.findings.iter().map(ToString::to_string).collect();
            for line in lines {
                said.extend(line.decode().err().into_iter().flat_map(|error| chain(&error)));
            }
            assert!(!said.iter().any(|said| said.contains(SECRET)), "byte {place}: {said:?}");
        }
    }
    drop(root);
}

fn chain(error: &dyn std::error::Error) -> Vec<String> {
    let mut words = vec![error.to_string()];
    let mut cause = error.source();
    while let Some(error) = cause {
        words.push(error.to_string());
        cause = error.source();
    }
    words
}
