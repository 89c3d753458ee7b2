#![doc = include_str!("../README.md")]

mod session;
mod turn;
mod step;
mod input;
mod calls;
mod abort;
mod settings;
mod change;
mod options;
mod making;
mod clock;
mod environment;
mod resume;
mod replay;
mod capture;
mod render;
mod record;
mod records;
mod commit;
mod redact;
pub mod rollout;
pub mod store;
mod error;

pub use self::{
    abort::{AbortReason, Aborted, InterruptedTurn},
    calls::OpenCall,
    clock::{Clock, Moment},
    environment::{Readiness, ReadinessFlag, SessionEnvironment, StepEnvironment, StepReadiness},
    error::Error,
    input::{ToolResult, UserInput},
    options::{LogFailure, Preset, SessionOptions},
    redact::{Redactor, SecretPatterns, redact_json},
    replay::{Applied, Replay},
    resume::Resumed,
    session::{NewSession, Session},
    settings::{CollaborationMode, ModelSettings, PermissionSettings, Settings},
    step::{Step, StepContext},
    turn::Turn,
};
