#![doc = include_str!("../README.md")]

mod log;
mod digest;
mod envelope;
mod fact;
mod state;
mod history;
mod tokens;
mod truncate;
mod measured;
mod record;
mod preset;
mod manager;
mod boundary;
mod cursor;
mod rollback;
mod fork;
mod rewrite;
mod exchange;
mod preflight;
mod compaction;
mod view;
mod elide;
mod visible;
mod restore;
mod retired;
mod parts;
mod profile;
mod normalize;
mod chunks;
mod prompt;
mod projector;
mod proof;
mod values;
mod diff;
mod guard;
mod call_state;
mod image;
mod audio;
mod edit;
mod surrogates;
mod inline_media;
mod flaw;
mod findings;
mod validate;
mod usage;
#[cfg(feature = "http")]
mod http;
#[cfg(feature = "o200k")]
mod o200k;
mod error;

#[cfg(feature = "http")]
pub use self::http::{BodyBuf, HttpBody};
#[cfg(feature = "o200k")]
pub use self::o200k::O200k;
pub use self::{
    boundary::SUMMARY_KIND,
    call_state::CallState,
    chunks::{Chunk, ChunkReader, Chunks},
    compaction::{Compaction, CompactionPlan, CompactionTarget, Pass, Piece, Weight},
    cursor::Cursor,
    diff::{PromptDiff, diff},
    digest::Digest,
    elide::{ByteBudget, ELIDED_KIND, Elided},
    envelope::{Origin, Position, ResponseItemEnvelope, TurnId},
    error::Error,
    fact::{Fact, FactEntry, Rewrite},
    fork::{ForkPolicy, Forked, OpenCalls},
    guard::{PrefixGuard, Sent},
    history::{Entry, HistorySnapshot},
    image::ImageSize,
    log::{CHUNK_SLOTS, GROUP_SLOTS, Iter, Log},
    manager::ContextManager,
    normalize::{
        IMAGE_TOO_LARGE_KIND, IMAGE_UNDECODABLE_KIND, LATE_OUTPUT_KIND, MediaReport, Normalized, PromptItem,
        Provenance, Repair, Rule, normalize,
    },
    parts::{Modalities, Model, PartName, Parts},
    preflight::Preflight,
    preset::Preset,
    profile::{
        CallIdChars, CallIdShape, DuplicateId, EarlyOutput, FirstItem, LateOutput, Mend, MisshapenId, OutputPlace,
        Profile, RuleSource, Strength, SyntheticText,
    },
    projector::Projector,
    prompt::Prompt,
    proof::{Broken, Declared, Place, Projection, Proof, ShapeChange},
    record::{Admitted, DropReason, Dropped, Incoming, Original, ReadyItem, Recorded, Recording},
    restore::Restored,
    retired::Retired,
    rewrite::Replacement,
    rollback::RolledBack,
    state::State,
    tokens::{Estimate, IMAGE_BYTES, ORIGINAL_FILE_IMAGE_BYTES, TokenCounter, text_tokens},
    truncate::TruncationPolicy,
    usage::{TotalTokens, UsageAnchor},
    validate::{Violation, validate},
    values::{Binding, ReasoningBound, ValueProof},
    view::{CompactionView, Skipped},
    visible::{HookPrompt, Shown, VisibleItem},
};
