//! What of the file system tools may reach.

use context_fragments::{Permissions, SandboxMode};

use super::xml::push_element;

/// Says what of the file system tools may reach, from what is in force.
///
/// A workspace root is a folder that the work is about; whether it can be written is said by the profile alone.
///
/// # Source
/// The unrestricted profile is spelled as the reference spells it. The spellings `read-only` and `restricted` are this
/// project's.
///
/// # Example
/// ```
/// use context_fragments::{ApprovalPolicy, Permissions, SandboxMode};
/// use world_state::FileSystemAccess;
///
/// let permissions =
///     Permissions::new(SandboxMode::WorkspaceWrite, ApprovalPolicy::Never).with_writable_root("/shared");
/// assert_eq!(
///     FileSystemAccess::new(&permissions).to_xml(),
///     "<filesystem><permission_profile type=\"managed\"><file_system type=\"restricted\">\
///      <writable>/shared</writable></file_system></permission_profile></filesystem>",
/// );
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct FileSystemAccess {
    workspace_roots: Vec<String>,
    profile: Profile,
    cause: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum Profile {
    Unrestricted,
    ReadOnly,
    Writable(Vec<String>),
}

impl FileSystemAccess {
    /// Takes the permissions in force, with their cause.
    #[must_use]
    pub fn new(permissions: &Permissions) -> Self {
        let profile = match permissions.sandbox {
            SandboxMode::DangerFullAccess => Profile::Unrestricted,
            SandboxMode::WorkspaceWrite if !permissions.writable_roots.is_empty() => {
                Profile::Writable(permissions.writable_roots.clone())
            }
            // A mode that is not known here is not known to allow writing.
            _ => Profile::ReadOnly,
        };
        Self { workspace_roots: Vec::new(), profile, cause: permissions.cause.clone() }
    }

    /// Names a folder that the work is about.
    #[must_use]
    pub fn with_workspace_root(mut self, root: impl Into<String>) -> Self {
        self.workspace_roots.push(root.into());
        self
    }

    /// Says why it is so.
    #[must_use]
    pub fn because(mut self, cause: impl Into<String>) -> Self {
        self.cause = Some(cause.into());
        self
    }

    /// Returns the element that the model reads.
    #[must_use]
    pub fn to_xml(&self) -> String {
        let mut out = String::from("<filesystem>");
        if !self.workspace_roots.is_empty() {
            out.push_str("<workspace_roots>");
            self.workspace_roots.iter().for_each(|root| push_element(&mut out, "root", root));
            out.push_str("</workspace_roots>");
        }
        match &self.profile {
            Profile::Unrestricted => {
                out.push_str(r#"<permission_profile type="disabled"><file_system type="unrestricted" />"#);
            }
            Profile::ReadOnly => {
                out.push_str(r#"<permission_profile type="managed"><file_system type="read-only" />"#);
            }
            Profile::Writable(roots) => {
                out.push_str(r#"<permission_profile type="managed"><file_system type="restricted">"#);
                roots.iter().for_each(|root| push_element(&mut out, "writable", root));
                out.push_str("</file_system>");
            }
        }
        out.push_str("</permission_profile>");
        if let Some(cause) = &self.cause {
            push_element(&mut out, "cause", cause);
        }
        out.push_str("</filesystem>");
        out
    }
}
