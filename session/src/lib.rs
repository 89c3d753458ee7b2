#![doc = include_str!("../README.md")]

mod session;
mod turn;
mod step;
mod input;
mod calls;
mod nested;
mod abort;
mod tool_fact;
mod settings;
mod change;
mod sections;
mod effort;
mod notice;
mod observer;
mod options;
mod making;
mod clock;
mod environment;
mod resume;
mod rollback;
mod compaction;
mod rewriting;
mod shortening;
mod trace;
mod replay;
mod capture;
mod render;
mod record;
mod records;
mod usage;
mod commit;
mod redact;
pub mod foreign;
pub mod rollout;
pub mod store;
mod error;

pub use self::{
    abort::{AbortReason, Aborted, InterruptedTurn},
    calls::OpenCall,
    clock::{Clock, Moment},
    compaction::{
        Compacted, Compaction, CompactionOutcome, CompactionTrigger, ContextInjection, CostModel, Summarizer, Summary,
        SummaryError, SummaryRequest, Verdict,
    },
    environment::{Readiness, ReadinessFlag, SessionEnvironment, StepEnvironment, StepReadiness},
    error::Error,
    input::{ToolResult, UserInput},
    notice::SubAgentNotice,
    observer::{Observed, Observer},
    options::{LogFailure, Preset, SessionOptions},
    redact::{Redactor, SecretPatterns, redact_json},
    replay::{Applied, Replay, Survey, Survivors},
    resume::Resumed,
    rollback::{Fork, ForkInstructions},
    session::{NewSession, Session},
    settings::{CollaborationMode, ModelSettings, PermissionSettings, Settings},
    shortening::Shortened,
    step::{Step, StepContext},
    tool_fact::CallState,
    turn::Turn,
    usage::Usage,
};
