//! What of the network tools may reach.

use context_fragments::Permissions;

use super::xml::push_element;

/// Says what of the network tools may reach.
///
/// A domain that is both allowed and denied is said to be denied only.
///
/// # Example
/// ```
/// use world_state::NetworkAccess;
///
/// let network = NetworkAccess::enabled().allowing("a.example").denying("b.example");
/// assert_eq!(
///     network.to_xml(),
///     r#"<network enabled="true"><allowed>a.example</allowed><denied>b.example</denied></network>"#,
/// );
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct NetworkAccess {
    reach: Reach,
    cause: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum Reach {
    Disabled,
    Enabled { allowed: Vec<String>, denied: Vec<String> },
}

impl NetworkAccess {
    /// Takes the permissions in force, with their cause.
    ///
    /// # Example
    /// ```
    /// use context_fragments::{ApprovalPolicy, Permissions, SandboxMode};
    /// use world_state::NetworkAccess;
    ///
    /// let permissions = Permissions::new(SandboxMode::ReadOnly, ApprovalPolicy::Never).because("No trust yet.");
    /// assert_eq!(
    ///     NetworkAccess::of(&permissions).to_xml(),
    ///     r#"<network enabled="false"><cause>No trust yet.</cause></network>"#,
    /// );
    /// ```
    #[must_use]
    pub fn of(permissions: &Permissions) -> Self {
        let access = if permissions.grants_network() { Self::enabled() } else { Self::disabled() };
        Self { cause: permissions.cause.clone(), ..access }
    }

    /// Says why it is so.
    #[must_use]
    pub fn because(mut self, cause: impl Into<String>) -> Self {
        self.cause = Some(cause.into());
        self
    }

    /// Nothing can be reached.
    #[must_use]
    pub fn disabled() -> Self {
        Self { reach: Reach::Disabled, cause: None }
    }

    /// The network can be reached, but for what is denied.
    #[must_use]
    pub fn enabled() -> Self {
        Self { reach: Reach::Enabled { allowed: Vec::new(), denied: Vec::new() }, cause: None }
    }

    /// Names a domain that can be reached; without effect on a network that cannot.
    #[must_use]
    pub fn allowing(mut self, domain: impl Into<String>) -> Self {
        if let Reach::Enabled { allowed, .. } = &mut self.reach {
            allowed.push(domain.into());
        }
        self
    }

    /// Names a domain that cannot be reached; without effect on a network that cannot.
    #[must_use]
    pub fn denying(mut self, domain: impl Into<String>) -> Self {
        if let Reach::Enabled { denied, .. } = &mut self.reach {
            denied.push(domain.into());
        }
        self
    }

    /// Returns the element that the model reads.
    #[must_use]
    pub fn to_xml(&self) -> String {
        let mut out = String::new();
        let is_enabled = match &self.reach {
            Reach::Disabled => false,
            Reach::Enabled { allowed, denied } => {
                let granted = allowed.iter().filter(|domain| !denied.contains(*domain));
                granted.for_each(|domain| push_element(&mut out, "allowed", domain));
                denied.iter().for_each(|domain| push_element(&mut out, "denied", domain));
                true
            }
        };
        if let Some(cause) = &self.cause {
            push_element(&mut out, "cause", cause);
        }
        if out.is_empty() && !is_enabled {
            return r#"<network enabled="false" />"#.into();
        }
        format!(r#"<network enabled="{is_enabled}">{out}</network>"#)
    }
}
