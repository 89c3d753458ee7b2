//! The user ran a command.

use std::{borrow::Cow, time::Duration};

use crate::{ContextualUserFragment, FragmentRole, Kind, Markers};

/// A command that the user ran beside the conversation, and what came of it.
///
/// # Example
/// ```
/// use std::time::Duration;
/// use context_fragments::{ContextualUserFragment, UserShellCommand};
///
/// let rendered = UserShellCommand::new("ls", 0, Duration::from_millis(12), "a.rs").render()?;
/// assert!(rendered.text().contains("Exit code: 0\nDuration: 0.0120 seconds\nOutput:\na.rs\n"));
/// # Ok::<(), context_fragments::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct UserShellCommand {
    /// The command line.
    pub command: String,
    /// The exit status.
    pub exit_code: i32,
    /// How long it ran.
    pub duration: Duration,
    /// What it printed.
    pub output: String,
}

impl UserShellCommand {
    /// Takes the command line and what came of it.
    #[must_use]
    pub fn new(command: impl Into<String>, exit_code: i32, duration: Duration, output: impl Into<String>) -> Self {
        Self { command: command.into(), exit_code, duration, output: output.into() }
    }
}

impl ContextualUserFragment for UserShellCommand {
    fn role(&self) -> FragmentRole {
        FragmentRole::User
    }

    fn content_kind(&self) -> Kind {
        Kind::USER_SHELL_COMMAND
    }

    fn markers(&self) -> Markers<'_> {
        Self::type_markers()
    }

    fn body(&self) -> Cow<'_, str> {
        let Self { command, exit_code, duration, output } = self;
        let seconds = duration.as_secs_f64();
        Cow::Owned(format!(
            "\n<command>\n{command}\n</command>\n<result>\nExit code: {exit_code}\nDuration: {seconds:.4} \
             seconds\nOutput:\n{output}\n</result>\n"
        ))
    }

    fn type_markers() -> Markers<'static> {
        Markers::new("<user_shell_command>", "</user_shell_command>")
    }
}
