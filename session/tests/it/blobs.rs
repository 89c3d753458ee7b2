//! Large parts beside the log: once, before their record, and back again as they were.

use std::{path::Path, sync::Arc};

use context_fragments::{Part, Role, WireItem};
use session::{
    Error, LogFailure, NewSession, Session, UserInput,
    rollout::{
        Blobs as _, Checkpoint, CheckpointCause, CheckpointItem, Draft, Durability, LiveEvents, Metadata, OpenLimits,
        Owner, Parent, Prepared, RecordReader, RolloutItem, SessionFolder, SessionMeta,
    },
    store::{FsStore, Store as _, create, take},
};

use crate::{
    sample::{AT_MS, file_bytes, read, records},
    stage::{Disk, options, send},
};

fn owner() -> Owner {
    Owner::this_process("here", AT_MS)
}

/// The address of a picture, as long as one in a data URL would be; another one for each number.
fn image_url(number: usize) -> String {
    let bytes = (number as u64 * 2_654_435_761).to_string();
    format!("https://a.example/{}", bytes.repeat(100_000 / bytes.len()))
}

fn image(number: usize) -> WireItem {
    let url = image_url(number);
    WireItem::message(Role::User, &[Part::InputText("look"), Part::InputImage { url: &url, detail: "auto" }])
}

fn put(store: &mut FsStore, next: &mut u64, draft: Draft) {
    let prepared = Prepared::new(draft, 16 * 1024);
    for (sha256, bytes) in &prepared.blobs {
        store.put_blob(*sha256, bytes.as_bytes(), Durability::Flush).unwrap();
    }
    store.append(*next, AT_MS, &[prepared.draft], Durability::Flush).unwrap();
    *next += 1;
}

/// What a folder takes on the disk; a file that is linked counts for each of its names.
fn size(folder: &Path) -> u64 {
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap());
    entries.map(|entry| if entry.path().is_dir() { size(&entry.path()) } else { entry.metadata().unwrap().len() }).sum()
}

#[test]
fn s11_compactions_that_keep_images_grow_by_what_is_new() {
    let root = tempfile::tempdir().unwrap();
    let folder = SessionFolder::new(root.path().join("s1"));
    let mut store = FsStore::new(folder.clone());
    let mut next = create(&mut store, &SessionMeta::new("s1"), &owner(), Durability::Flush).unwrap().appended.last + 1;
    let images: Vec<WireItem> = (0..22).map(image).collect();
    let mut unique: usize = images.iter().map(|image| image.as_str().len()).sum();
    for image in &images {
        put(&mut store, &mut next, RolloutItem::Item(image.clone()).into());
    }
    for number in 0..200 {
        let said = WireItem::user_text(&format!("turn {number}: {}", "what is new. ".repeat(40)));
        unique += said.as_str().len();
        put(&mut store, &mut next, RolloutItem::Item(said.clone()).into());
        let kept = images.iter().chain([&said]).enumerate();
        let items = kept
            .map(|(position, item)| CheckpointItem::new(item.clone(), Metadata::new().with_position(position as u64)));
        let checkpoint = Checkpoint::new(CheckpointCause::Compaction, items.collect());
        put(&mut store, &mut next, RolloutItem::Checkpoint(checkpoint).into());
    }
    let taken = size(folder.path());
    assert!(taken < 3 * unique as u64, "{taken} bytes for {unique} that are unique");
    assert_eq!(store.blobs().unwrap().len(), 22);

    // What a checkpoint holds comes back whole.
    let file = std::fs::File::open(folder.log_path()).unwrap();
    let blobs = Some(Arc::new(folder.clone()) as _);
    let mut live = LiveEvents::open(file, OpenLimits::default(), blobs, folder.log_path()).unwrap();
    let last = live.by_ref().last().unwrap().unwrap();
    let RolloutItem::Checkpoint(checkpoint) = last.record.item else { panic!("{last:?}") };
    let items: Vec<_> = checkpoint.items.unwrap().into_iter().map(|item| item.item).collect();
    assert_eq!(items[..22], images);
    // The window with its images is more than two megabytes, whatever the line says.
    let file = std::fs::File::open(folder.log_path()).unwrap();
    let limits = OpenLimits::default().with_max_bytes(1_000_000);
    let live = LiveEvents::open(file, limits, Some(Arc::new(folder.clone())), folder.log_path()).unwrap();
    assert!(matches!(live.last(), Some(Err(Error::OverLimit { .. }))));
}

#[test]
fn a_prepared_record_is_the_same_record() {
    let root = tempfile::tempdir().unwrap();
    let folder = SessionFolder::new(root.path().join("s1"));
    let mut store = FsStore::new(folder.clone());
    let next = create(&mut store, &SessionMeta::new("s1"), &owner(), Durability::Flush).unwrap().appended.last + 1;
    // Each type of record, with every string of at least eight bytes in a blob.
    let given: Vec<_> = records().into_iter().filter(|record| record.blobs.is_empty()).skip(1).collect();
    for (next, record) in (next..).zip(&given) {
        let prepared = Prepared::new(record.clone().into(), 8);
        for (sha256, bytes) in &prepared.blobs {
            store.put_blob(*sha256, bytes.as_bytes(), Durability::Flush).unwrap();
        }
        store.append(next, AT_MS, &[prepared.draft], Durability::Flush).unwrap();
    }
    let bytes = file_bytes(&folder.log_path());
    let (lines, report) = read(&bytes);
    assert!(report.is_clean());
    let n_with_blobs = lines.iter().filter(|line| !line.blobs().unwrap().is_empty()).count();
    assert!(n_with_blobs >= 7, "{n_with_blobs}");
    for (line, record) in lines[2..].iter().zip(&given) {
        let mut found = line.decode_with(&folder).unwrap();
        if let Some(session::rollout::Original::Blob(blob)) = &found.original {
            let whole = WireItem::parse(&folder.read_blob(blob).unwrap()).unwrap();
            found.original = Some(session::rollout::Original::Inline(whole));
        }
        assert_eq!(found, *record);
    }
}

#[tokio::test]
async fn a_session_with_images_is_resumed_with_the_same_bytes() {
    let root = tempfile::tempdir().unwrap();
    let folder = SessionFolder::new(root.path().join("s1"));
    let disk = Disk::project("Use tabs.");
    let session = Session::create(&folder, NewSession::new("s1"), options(&disk)).await.unwrap();
    let turn = session.begin_turn(UserInput::text("what is it?").with_image(image_url(1), "auto")).unwrap();
    let sent = send(&turn).await;
    turn.record([WireItem::assistant_text(&"A long answer. ".repeat(3000))]).await.unwrap();
    turn.finish().await.unwrap();
    let before = session.preview().input_json();
    session.close().await.unwrap();
    assert!(sent.prompt().input_json().contains(&image_url(1)));
    assert_eq!(std::fs::read_dir(folder.blobs_path()).unwrap().count(), 2);
    assert!(file_bytes(&folder.log_path()).len() < 16 * 1024);

    let resumed = Session::resume(&folder, options(&disk)).await.unwrap();
    assert!(resumed.report.is_clean());
    assert_eq!(resumed.session.preview().input_json(), before);
    drop(resumed);

    // A blob that is another, or is gone, is found before anything is sent.
    let blob = std::fs::read_dir(folder.blobs_path()).unwrap().next().unwrap().unwrap().path();
    let whole = file_bytes(&blob);
    let mut other = whole.clone();
    other[5] ^= 1;
    for damage in [Some(other), None] {
        match damage {
            Some(other) => std::fs::write(&blob, other).unwrap(),
            None => std::fs::remove_file(&blob).unwrap(),
        }
        let error = Session::resume(&folder, options(&disk)).await.unwrap_err();
        assert!(matches!(error, Error::Unresumable { .. }), "{error}");
        assert!(error.to_string().contains(blob.file_name().unwrap().to_str().unwrap()), "{error}");
    }
    std::fs::write(&blob, &whole).unwrap();
    Session::resume(&folder, options(&disk)).await.unwrap();
}

/// A blob that cannot be written keeps its record out of the log.
#[tokio::test]
async fn no_record_names_a_blob_that_is_not_there() {
    let root = tempfile::tempdir().unwrap();
    for policy in [LogFailure::FailClosed, LogFailure::Degraded] {
        let folder = SessionFolder::new(root.path().join(format!("{policy:?}")));
        let disk = Disk::project("Use tabs.");
        let options = options(&disk).with_log_failure(policy);
        let session = Session::create(&folder, NewSession::new("s1"), options).await.unwrap();
        // A file stands where the folder of the blobs belongs.
        std::fs::write(folder.blobs_path(), b"").unwrap();
        let turn = session.begin_turn(UserInput::nothing().with_image(image_url(1), "auto")).unwrap();
        let step = turn.next_step().await;
        assert_eq!(step.is_err(), policy == LogFailure::FailClosed);
        assert_eq!(read(&file_bytes(&folder.log_path())).0.len(), 2);
        assert_eq!(session.log_status().health.is_healthy(), policy == LogFailure::FailClosed);
        std::fs::remove_file(folder.blobs_path()).unwrap();
        turn.next_step().await.unwrap();
        session.sync().await.unwrap();
        assert!(session.log_status().health.is_healthy());
        let mut events = folder.events().unwrap();
        let items = events.by_ref().map(|event| event.unwrap().record.item);
        let n_images = items
            .filter(|item| matches!(item, RolloutItem::Item(item) if item.as_str().contains(&image_url(1))))
            .count();
        assert_eq!(n_images, 1);
        assert!(events.into_report().is_clean());
    }
}

/// The log of a parent that has gone through much, and whose last checkpoint keeps images.
fn parent(folder: &SessionFolder) -> Vec<CheckpointItem> {
    let mut store = FsStore::new(folder.clone());
    let mut next =
        create(&mut store, &SessionMeta::new("parent"), &owner(), Durability::Flush).unwrap().appended.last + 1;
    let window: Vec<_> = (0..5).map(|number| CheckpointItem::new(image(number), Metadata::new())).collect();
    for number in 0..500 {
        put(&mut store, &mut next, RolloutItem::Item(WireItem::user_text(&"old ".repeat(number))).into());
    }
    let checkpoint = Checkpoint::new(CheckpointCause::Compaction, window.clone());
    put(&mut store, &mut next, RolloutItem::Checkpoint(checkpoint).into());
    window
}

#[test]
fn s22_children_hold_their_window_alone_and_outlive_their_parent() {
    let root = tempfile::tempdir().unwrap();
    let folder = SessionFolder::new(root.path().join("parent"));
    let window = parent(&folder);
    let children: Vec<_> =
        (0..50).map(|number| SessionFolder::new(root.path().join(format!("child {number}")))).collect();
    for child in &children {
        let mut meta = SessionMeta::new("child");
        meta.parent = Some(Parent::new("parent", Some(500)));
        let mut store = FsStore::new(child.clone()).linking_blobs_of(folder.clone());
        let mut next = create(&mut store, &meta, &owner(), Durability::Flush).unwrap().appended.last + 1;
        put(
            &mut store,
            &mut next,
            RolloutItem::Checkpoint(Checkpoint::new(CheckpointCause::Fork, window.clone())).into(),
        );
        assert!(child.log_path().metadata().unwrap().len() < 8 * 1024, "the window without its images");
    }
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt as _;
        let mut store = FsStore::new(children[7].clone());
        for sha256 in store.blobs().unwrap() {
            assert_eq!(children[7].blob_path(sha256).metadata().unwrap().nlink(), 51, "one file for all of them");
        }
    }
    session::rollout::delete(&folder, &owner()).unwrap();
    assert!(!folder.path().exists());
    for child in &children {
        let mut events = child.events().unwrap();
        let last = events.by_ref().last().unwrap().unwrap();
        assert!(events.into_report().is_clean());
        let RolloutItem::Checkpoint(checkpoint) = last.record.item else { panic!("{last:?}") };
        assert_eq!(checkpoint.items.as_ref(), Some(&window));
        assert_eq!(take(&mut FsStore::new(child.clone()), &owner(), Durability::Flush).unwrap().appended.first, 3);
    }
}

/// A parent whose blob is not what its name says gives nothing to its child.
#[test]
fn a_link_is_proved() {
    let root = tempfile::tempdir().unwrap();
    let folder = SessionFolder::new(root.path().join("parent"));
    let window = parent(&folder);
    for entry in std::fs::read_dir(folder.blobs_path()).unwrap() {
        std::fs::write(entry.unwrap().path(), b"other bytes").unwrap();
    }
    let child = SessionFolder::new(root.path().join("child"));
    let mut store = FsStore::new(child.clone()).linking_blobs_of(folder);
    let mut next =
        create(&mut store, &SessionMeta::new("child"), &owner(), Durability::Flush).unwrap().appended.last + 1;
    put(&mut store, &mut next, RolloutItem::Checkpoint(Checkpoint::new(CheckpointCause::Fork, window.clone())).into());
    let mut reader = RecordReader::new(std::fs::File::open(child.log_path()).unwrap());
    let last = reader.by_ref().last().unwrap().unwrap();
    let RolloutItem::Checkpoint(checkpoint) = last.decode_with(&child).unwrap().item else { panic!("{last:?}") };
    assert_eq!(checkpoint.items, Some(window));
}
