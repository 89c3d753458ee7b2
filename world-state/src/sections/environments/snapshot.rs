//! What is stored of the environments.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::date::Date;

/// Holds what the model was told about where it works.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct EnvironmentsSnapshot {
    #[serde(default)]
    pub(super) environments: BTreeMap<Arc<str>, Environment>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) shell_version: Option<Arc<str>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) current_date: Option<Date>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) timezone: Option<Arc<str>>,
    /// The element, as it was rendered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) network: Option<Arc<str>>,
    /// The element, as it was rendered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) filesystem: Option<Arc<str>>,
    /// The lines, as they were rendered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) subagents: Option<Arc<str>>,
}

/// Describes a place where the agent works.
///
/// # Example
/// ```
/// use world_state::Environment;
///
/// let laptop = Environment::new("/r").with_shell("bash");
/// assert_ne!(laptop, Environment::new("/r").starting());
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Environment {
    pub(super) cwd: Arc<str>,
    /// Logs from before there was a status hold available ones only.
    #[serde(default)]
    pub(super) status: EnvironmentStatus,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) shell: Option<Arc<str>>,
    #[serde(default, skip_serializing_if = "is_secondary")]
    pub(super) is_primary: bool,
    /// Why it has its status, if the host said so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) cause: Option<Arc<str>>,
}

/// Says whether an environment can be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum EnvironmentStatus {
    /// It can be used.
    #[default]
    Available,
    /// It cannot be used yet.
    Starting,
    /// It is still part of the session and cannot be used.
    Unavailable,
}

impl Environment {
    /// Takes the folder that work starts in, spelled as the environment spells it; the environment is available.
    #[must_use]
    pub fn new(cwd: impl Into<Arc<str>>) -> Self {
        Self { cwd: cwd.into(), status: EnvironmentStatus::Available, shell: None, is_primary: false, cause: None }
    }

    /// Says that it cannot be used yet.
    #[must_use]
    pub fn starting(mut self) -> Self {
        self.status = EnvironmentStatus::Starting;
        self
    }

    /// Says that it cannot be used, though it is still part of the session.
    #[must_use]
    pub fn unavailable(mut self) -> Self {
        self.status = EnvironmentStatus::Unavailable;
        self
    }

    /// Says why it has its status, in a sentence for the model.
    #[must_use]
    pub fn because(mut self, cause: impl Into<Arc<str>>) -> Self {
        self.cause = Some(cause.into());
        self
    }

    /// Names the shell that commands are for.
    #[must_use]
    pub fn with_shell(mut self, shell: impl Into<Arc<str>>) -> Self {
        self.shell = Some(shell.into());
        self
    }
}

impl EnvironmentStatus {
    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::Available => "available",
            Self::Starting => "starting",
            Self::Unavailable => "unavailable",
        }
    }
}

impl EnvironmentsSnapshot {
    /// The only environment, if there is one that can be used: it is described without a list and an id.
    pub(super) fn sole_available(&self) -> Option<(&Arc<str>, &Environment)> {
        let mut environments = self.environments.iter();
        match (environments.next(), environments.next()) {
            (Some(sole), None) if sole.1.status == EnvironmentStatus::Available => Some(sole),
            _ => None,
        }
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands out a reference")]
fn is_secondary(is_primary: &bool) -> bool {
    !is_primary
}
