//! The words for what an agent may do.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Serialize};

use crate::Error;

/// How far tools may reach.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum SandboxMode {
    /// Tools read.
    ReadOnly,
    /// Tools read, and write below the writable roots.
    WorkspaceWrite,
    /// Tools reach what the process reaches.
    DangerFullAccess,
}

/// When a person is asked before a command runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum ApprovalPolicy {
    /// Before everything that is not known to be harmless.
    Untrusted,
    /// After a command failed in the sandbox.
    OnFailure,
    /// When the model asks for it.
    OnRequest,
    /// Never.
    Never,
}

impl SandboxMode {
    /// All modes, the tightest first.
    pub const ALL: [Self; 3] = [Self::ReadOnly, Self::WorkspaceWrite, Self::DangerFullAccess];

    /// The word on the wire.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::ReadOnly => "read-only",
            Self::WorkspaceWrite => "workspace-write",
            Self::DangerFullAccess => "danger-full-access",
        }
    }
}

impl ApprovalPolicy {
    /// All policies, the one that asks most first.
    pub const ALL: [Self; 4] = [Self::Untrusted, Self::OnFailure, Self::OnRequest, Self::Never];

    /// The word on the wire.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Untrusted => "untrusted",
            Self::OnFailure => "on-failure",
            Self::OnRequest => "on-request",
            Self::Never => "never",
        }
    }
}

impl fmt::Display for SandboxMode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl fmt::Display for ApprovalPolicy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl FromStr for SandboxMode {
    type Err = Error;

    fn from_str(word: &str) -> Result<Self, Error> {
        let unknown = || Error::UnknownWord {
            setting: "sandbox mode",
            word: word.into(),
            expected: "read-only, workspace-write, danger-full-access",
        };
        Self::ALL.into_iter().find(|mode| mode.as_str() == word).ok_or_else(unknown)
    }
}

impl FromStr for ApprovalPolicy {
    type Err = Error;

    fn from_str(word: &str) -> Result<Self, Error> {
        let unknown = || Error::UnknownWord {
            setting: "approval policy",
            word: word.into(),
            expected: "untrusted, on-failure, on-request, never",
        };
        Self::ALL.into_iter().find(|policy| policy.as_str() == word).ok_or_else(unknown)
    }
}
