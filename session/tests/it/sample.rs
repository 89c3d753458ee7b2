//! A log with one record of each type, and what tests do with logs.

use std::{
    io::Read as _,
    path::Path,
    sync::{Arc, Mutex},
};

use context_fragments::{ApprovalPolicy, Kind, Limit, Permissions, SandboxMode, TurnContextItem, WireItem};
use session::rollout::{
    BlobRef, Checkpoint, CheckpointCause, CheckpointItem, Draft, Durability, LogFile, LogWriter, LoggedLine,
    LoggedOrigin, Metadata, Opened, Original, Parent, RawJson, Record, RecordReader, RecoveryReport, Rollback,
    RolloutItem, SentMark, SessionMeta, Sha256, TurnAborted, TurnEnded, TurnStarted, WorldStateItem, WriterStart,
};

/// 2026-10-20T08:00:00.123Z.
pub(crate) const AT_MS: i64 = 1_792_483_200_123;

pub(crate) fn raw(text: &str) -> RawJson {
    RawJson::parse(text).unwrap()
}

/// One record of each type, in an order that a session could have.
pub(crate) fn records() -> Vec<Record> {
    let mut meta = SessionMeta::new("s1");
    meta.program = Some("demo 0.1.0".into());
    meta.cwd = Some("/r".into());
    meta.base_instructions = Some(RawJson::string("You help with code."));
    meta.parameters = Some(raw(r#"{"model":"m1","temperature":1e0}"#));
    meta.tools = Some(raw(r#"[{"type":"function","name":"run"}]"#));
    meta.parent = Some(Parent::new("s0", Some(17)));
    let permissions = Permissions::new(SandboxMode::ReadOnly, ApprovalPolicy::Never);
    let context = TurnContextItem::builder("/r", "m1", &permissions).turn_id("t1").build();
    let user = Metadata::new().with_position(0).with_turn_id("t1").with_kinds([Kind::USER_TEXT]);
    let mut output = Metadata::new().with_position(4).with_turn_id("t1").with_origin(LoggedOrigin::Tool);
    output.truncation_limit = Some(Limit::Tokens(2500));
    output.success = Some(true);
    output.acceptance_order = Some(2);
    let mut sent =
        SentMark::new([Sha256::of(b"p"), Sha256::of(b"b"), Sha256::of(b"t"), Sha256::of(b"")], Sha256::of(b"c"), 2);
    sent.history_version = 1;
    sent.profile = Some("default".into());
    sent.synthetic_outputs = vec![3];
    let mut kept = Metadata::new().with_position(9).with_kinds([Kind::USER_TEXT]);
    kept.moved_from = Some(0);
    let mut checkpoint = Checkpoint::new(
        CheckpointCause::Compaction,
        vec![
            CheckpointItem::new(WireItem::user_text("fix the bug"), kept),
            CheckpointItem::new(WireItem::user_text("summary"), Metadata::new()),
        ],
    );
    checkpoint.baseline = Some(raw(r#"{"model":"m1"}"#));
    checkpoint.reference_context_item = Some(context.clone());
    checkpoint.sent = Some(Box::new(sent.clone()));
    checkpoint.counters.next_position = Some(11);
    checkpoint.counters.epoch = Some(1);
    checkpoint.details = Some(raw(r#"{"trigger":"manual","tokens_before":9000,"tokens_after":120}"#));
    let mut rollback = Rollback::to_position(5);
    rollback.history_version = Some(2);
    let image =
        WireItem::parse(br#"{"type":"message","role":"user","content":[{"type":"input_image","image_url":""}]}"#)
            .unwrap();
    let hole = image.as_str().find("\"\"").unwrap() as u64 + 1;
    let blob = BlobRef::new(hole, 4, Sha256::of(b"AAAA"));
    vec![
        RolloutItem::SessionMeta(meta).into(),
        RolloutItem::Opened(Opened::new(7, "build-7")).into(),
        RolloutItem::TurnStarted(TurnStarted::new("t1")).into(),
        RolloutItem::WorldState(WorldStateItem::Full(raw(
            r#"{"model":"m1","agents_md":{},"realtime":{"active":false}}"#,
        )))
        .into(),
        RolloutItem::WorldState(WorldStateItem::Patch(raw(r#"{"agents_md":{"text":"Use tabs."}}"#))).into(),
        Record::from(RolloutItem::TurnContext(context)).with_metadata(Metadata::new().with_position(2)),
        Record::from(RolloutItem::Item(WireItem::user_text("fix the bug"))).with_metadata(user),
        RolloutItem::Sent(sent).into(),
        Record::from(RolloutItem::Item(WireItem::function_call_output("c1", "first…last")))
            .with_metadata(output)
            .with_original(Original::Inline(WireItem::function_call_output("c1", "first, middle, last"))),
        Record::from(RolloutItem::Item(image)).with_blobs(vec![blob]),
        RolloutItem::Usage(raw(r#"{"input_tokens":9000}"#)).into(),
        RolloutItem::TurnEnded(TurnEnded::new("t1")).into(),
        RolloutItem::TurnAborted(TurnAborted::new("t2", "interrupted")).into(),
        RolloutItem::Rollback(rollback).into(),
        RolloutItem::Checkpoint(checkpoint).into(),
        RolloutItem::Notice { name: "user_message".into(), payload: raw(r#"{"message":"hi"}"#) }.into(),
        RolloutItem::Other { type_name: "acme.mood".into(), version: 1, payload: raw(r#"{"is":[1e2,"\ud800"]}"#) }
            .into(),
    ]
}

pub(crate) fn drafts() -> Vec<Draft> {
    records().into_iter().map(Draft::from).collect()
}

/// The bytes of a log of `drafts`.
pub(crate) fn log_of(drafts: &[Draft]) -> Vec<u8> {
    let file = SharedFile::default();
    let mut writer = LogWriter::new(file.clone(), "log", WriterStart::NEW);
    writer.append(AT_MS, drafts, Durability::Flush).unwrap();
    file.bytes()
}

/// A log of a header and `n` items.
pub(crate) fn log_of_items(n: usize) -> Vec<u8> {
    let header = RolloutItem::SessionMeta(SessionMeta::new("s1")).into();
    let items = (0..n).map(|index| RolloutItem::Item(WireItem::user_text(&format!("item {index} ✓"))).into());
    log_of(&[header].into_iter().chain(items).collect::<Vec<_>>())
}

pub(crate) fn read(bytes: &[u8]) -> (Vec<LoggedLine>, RecoveryReport) {
    let mut reader = RecordReader::new(bytes);
    let lines = reader.by_ref().map(Result::unwrap).collect();
    (lines, reader.into_report())
}

pub(crate) fn file_bytes(path: &Path) -> Vec<u8> {
    let mut bytes = Vec::new();
    std::fs::File::open(path).unwrap().read_to_end(&mut bytes).unwrap();
    bytes
}

/// What a [`SharedFile`] does next, besides what it is told.
#[derive(Debug, Default)]
pub(crate) struct Faults {
    /// Each append takes at most so many bytes.
    pub(crate) max_append: Option<usize>,
    /// So many bytes are free; an append that finds none fails.
    pub(crate) free: Option<usize>,
    /// An append fails after it has taken all bytes.
    pub(crate) append_lies: Option<()>,
    /// Cutting fails.
    pub(crate) cut_fails: Option<()>,
    /// The next so many syncs fail, and the system drops what waited.
    pub(crate) sync_failures: usize,
    /// A failed sync also drops the bytes from the cache.
    pub(crate) failed_sync_drops: Option<()>,
    /// So many appends are interrupted first.
    pub(crate) interruptions: usize,
}

/// A file in memory that keeps apart what the system has and what the disk has.
#[derive(Clone, Debug, Default)]
pub(crate) struct SharedFile(Arc<Mutex<State>>);

#[derive(Debug, Default)]
pub(crate) struct State {
    pub(crate) bytes: Vec<u8>,
    /// What a loss of power leaves.
    pub(crate) disk: Vec<u8>,
    /// Bytes from here on wait for the disk.
    pub(crate) dirty_from: usize,
    pub(crate) faults: Faults,
    pub(crate) appends: usize,
    pub(crate) syncs: usize,
}

impl SharedFile {
    pub(crate) fn with<T>(&self, change: impl FnOnce(&mut State) -> T) -> T {
        change(&mut self.0.lock().unwrap())
    }

    pub(crate) fn bytes(&self) -> Vec<u8> {
        self.with(|state| state.bytes.clone())
    }
}

impl LogFile for SharedFile {
    fn len(&mut self) -> std::io::Result<u64> {
        self.with(|state| Ok(state.bytes.len() as u64))
    }

    fn append(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.with(|state| {
            state.appends += 1;
            if state.faults.interruptions > 0 {
                state.faults.interruptions -= 1;
                return Err(std::io::ErrorKind::Interrupted.into());
            }
            let free = state.faults.free.unwrap_or(usize::MAX);
            if free == 0 {
                return Err(std::io::ErrorKind::StorageFull.into());
            }
            let taken = bytes.len().min(free).min(state.faults.max_append.unwrap_or(usize::MAX));
            state.faults.free = state.faults.free.map(|free| free - taken);
            state.bytes.extend(&bytes[..taken]);
            match state.faults.append_lies {
                Some(()) => Err(std::io::ErrorKind::TimedOut.into()),
                None => Ok(taken),
            }
        })
    }

    fn cut(&mut self, len: u64) -> std::io::Result<()> {
        self.with(|state| match state.faults.cut_fails {
            Some(()) => Err(std::io::ErrorKind::PermissionDenied.into()),
            None => {
                state.bytes.truncate(usize::try_from(len).unwrap());
                Ok(())
            }
        })
    }

    fn sync_data(&mut self) -> std::io::Result<()> {
        self.with(|state| {
            state.syncs += 1;
            if state.faults.sync_failures > 0 {
                state.faults.sync_failures -= 1;
                // What waited counts as clean from now on: a later sync would not bring it to the disk.
                if state.faults.failed_sync_drops.is_some() {
                    let dirty = state.dirty_from;
                    state.bytes[dirty..].fill(0);
                }
                state.dirty_from = state.bytes.len();
                return Err(std::io::Error::other("the disk is gone"));
            }
            let dirty = state.dirty_from;
            let waiting = state.bytes[dirty..].to_vec();
            state.disk.resize(dirty.max(state.disk.len()), 0);
            state.disk.truncate(dirty);
            state.disk.extend(waiting);
            state.dirty_from = state.bytes.len();
            Ok(())
        })
    }

    fn read_at(&mut self, offset: u64, bytes: &mut [u8]) -> std::io::Result<usize> {
        self.with(|state| {
            let rest = &state.bytes[usize::try_from(offset).unwrap().min(state.bytes.len())..];
            let read = rest.len().min(bytes.len());
            bytes[..read].copy_from_slice(&rest[..read]);
            Ok(read)
        })
    }

    fn write_over(&mut self, offset: u64, bytes: &[u8]) -> std::io::Result<()> {
        self.with(|state| {
            let start = usize::try_from(offset).unwrap();
            state.bytes[start..start + bytes.len()].copy_from_slice(bytes);
            state.dirty_from = state.dirty_from.min(start);
            Ok(())
        })
    }
}
