#![doc = include_str!("../README.md")]

mod inputs;
mod discovery;
mod discover;
#[cfg(feature = "tokio")]
mod manager;
#[cfg(feature = "tokio")]
mod provider;
mod document;
mod provenance;
mod trace;
mod outcome;
mod warning;
mod plan;
mod ask;
mod fs;
mod decode;
mod draft;
mod budget;
mod layout;
mod fit;
mod error;

pub use self::{
    ask::{
        Failure, FileBytes, FileIdentity, FileKind, Found, Links, ProbeAnswer, ProbeAsk, Purpose, ReadAnswer, ReadAsk,
    },
    decode::{DecodeReport, Encoding},
    discover::discover_blocking,
    discovery::{
        BudgetOrder, DEFAULT_MAX_BYTES, Discovery, Newlines, NoRoot, OVERRIDE_NAME, PLAIN_NAME, Strictness,
        SymlinkPolicy,
    },
    document::{InstructionEntry, LoadedAgentsMd},
    error::Error,
    fs::{Access, FileSystem, HostFs, MemoryFs, OpenFile},
    inputs::{
        Inputs, MAX_THREAD_BYTES, ReadAccess, ThreadInstructions, TrustLevel, TurnEnvironmentSelection, UserSource,
    },
    outcome::{Budget, Locus, Operation, Outcome},
    plan::{Plan, ProbeRound, ReadRound, Step},
    provenance::InstructionProvenance,
    trace::{EnvironmentTrace, Note, Row, Scope, Trace},
    warning::Warning,
};
#[cfg(feature = "tokio")]
pub use self::{
    discover::{discover, discover_on_host},
    fs::RemoteFileSystem,
    manager::{AgentsMdManager, Held, Refresh, Refreshed},
    provider::{HostInstructions, InstructionProvider, ProvidedInstructions},
};
