//! The durable log of a session: format, records, writer, reader, and rollouts of the Codex CLI.
//!
//! `FORMAT.md` beside the crate is the format in words. [`SessionFolder`] is where a session's log lies, [`LogWriter`]
//! appends to it, [`RecordReader`] reads it record by record, and [`Events`] reads it or a Codex rollout as one stream.

mod record;
mod prepared;
mod metadata;
mod repeated;
mod plain;
mod session_meta;
mod turn;
mod call;
mod parts;
mod sent;
mod checkpoint;
mod blob;
mod raw;
mod digest;
mod line;
mod limits;
mod time;
mod folder;
mod forward;
mod lock;
mod file;
mod writer;
mod resync;
mod handle;
mod lines;
mod judge;
mod ordinals;
mod logged;
mod reader;
mod tail;
mod live;
mod ahead;
mod source;
mod fsck;
mod repair;
mod salvage;
mod export;
mod stats;
#[cfg(feature = "zstd")]
mod pack;
mod heads;
mod delete;
mod report;
mod event;
mod sniff;
mod codex;
mod field;

#[cfg(feature = "zstd")]
pub use self::pack::{pack, unpack};
pub use self::{
    blob::{BlobRef, Blobs, Original, expand_blobs},
    call::ClosedCall,
    checkpoint::{Checkpoint, CheckpointCause, CheckpointItem, Counters},
    codex::CodexReader,
    delete::{FolderLeft, delete},
    digest::Sha256,
    event::{Events, ReplayEvent},
    export::{Exported, export_redacted},
    file::{FsLogFile, LogFile},
    folder::{Opening, SessionFolder},
    fsck::{BlobFinding, BlobProblem, Checked, fsck},
    handle::AsyncLog,
    judge::Trust,
    limits::{FORMAT_VERSION, OpenLimits, READER_VERSION, ReadLimits},
    live::LiveEvents,
    lock::{Holder, LogLock, Owner},
    logged::LoggedLine,
    metadata::{KindsSource, LoggedOrigin, Metadata, MustUnderstand},
    ordinals::Place,
    parts::PartsChange,
    prepared::Prepared,
    raw::RawJson,
    reader::RecordReader,
    record::{CopiedBody, Draft, Record, RolloutItem, WorldStateItem},
    repair::{EditedRecords, LeftOut, Repaired, repair},
    report::{Contents, Finding, Problem, RecoveryReport, TornTail},
    salvage::{Salvaged, salvage},
    sent::SentMark,
    session_meta::{Opened, Parent, SessionMeta},
    sniff::{LogFormat, sniff},
    source::{LogSource, Progress},
    stats::{Stats, TypeStats, stats},
    tail::{RecordPlace, last_checkpoint},
    turn::{Rollback, TurnAborted, TurnEnded, TurnStarted},
    writer::{Appended, CutBack, Durability, LogWriter, WriterStart, push_lines},
};
pub(crate) use self::{
    delete::delete_folder,
    folder::opened,
    heads::HeadReader,
    tail::{ReverseLines, find_end},
};
