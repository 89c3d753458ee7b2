#![doc = include_str!("../README.md")]

mod inputs;
mod discovery;
mod discover;
#[cfg(feature = "tokio")]
mod manager;
#[cfg(feature = "tokio")]
mod freshness;
#[cfg(feature = "tokio")]
mod flight;
#[cfg(feature = "tokio")]
mod disk;
#[cfg(feature = "watch")]
mod watch;
#[cfg(feature = "tokio")]
mod provider;
mod document;
mod provenance;
mod trace;
mod sentence;
mod explain;
mod nested;
mod options;
#[cfg_attr(not(feature = "tokio"), expect(dead_code, reason = "only a manager looks again"))]
mod evidence;
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
        BudgetOrder, DEFAULT_MAX_BYTES, Discovery, Ignores, Imports, NameSet, Newlines, NoRoot, OVERRIDE_NAME,
        Overlays, PLAIN_NAME, RootChoice, Scoping, Strictness, SymlinkPolicy,
    },
    document::{InstructionEntry, LoadedAgentsMd},
    error::Error,
    explain::{Explanation, Finding, Problem, ProblemKind, Relation, Suspect, explain_blocking},
    fs::{Access, FileSystem, HostFs, MemoryFs, OpenFile},
    inputs::{
        Inputs, MAX_THREAD_BYTES, ReadAccess, ThreadInstructions, TrustLevel, TurnEnvironmentSelection, UserSource,
    },
    nested::{NestedLoaded, NestedTargets, load_nested_blocking},
    outcome::{Budget, Locus, Operation, Outcome},
    plan::{Plan, ProbeRound, ReadRound, Step},
    provenance::InstructionProvenance,
    trace::{EnvironmentTrace, ImportSkip, Note, Row, Scope, Trace},
    warning::Warning,
};
#[cfg(feature = "tokio")]
pub use self::{
    discover::{discover, discover_on_host},
    explain::explain,
    freshness::{DuringLoad, Freshness, Refresh},
    fs::RemoteFileSystem,
    manager::{AgentsMdManager, Held, Refreshed},
    nested::load_nested,
    provider::{HostInstructions, InstructionProvider, ProvidedInstructions},
};
