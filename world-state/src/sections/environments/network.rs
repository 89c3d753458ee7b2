//! What of the network tools may reach.

use super::xml::push_element;

/// Says what of the network tools may reach.
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
pub struct NetworkAccess(Reach);

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum Reach {
    Disabled,
    Enabled { allowed: Vec<String>, denied: Vec<String> },
}

impl NetworkAccess {
    /// Nothing can be reached.
    #[must_use]
    pub fn disabled() -> Self {
        Self(Reach::Disabled)
    }

    /// The network can be reached, but for what is denied.
    #[must_use]
    pub fn enabled() -> Self {
        Self(Reach::Enabled { allowed: Vec::new(), denied: Vec::new() })
    }

    /// Names a domain that can be reached; without effect on a network that cannot.
    #[must_use]
    pub fn allowing(mut self, domain: impl Into<String>) -> Self {
        if let Reach::Enabled { allowed, .. } = &mut self.0 {
            allowed.push(domain.into());
        }
        self
    }

    /// Names a domain that cannot be reached; without effect on a network that cannot.
    #[must_use]
    pub fn denying(mut self, domain: impl Into<String>) -> Self {
        if let Reach::Enabled { denied, .. } = &mut self.0 {
            denied.push(domain.into());
        }
        self
    }

    /// Returns the element that the model reads.
    #[must_use]
    pub fn to_xml(&self) -> String {
        let Reach::Enabled { allowed, denied } = &self.0 else {
            return r#"<network enabled="false" />"#.into();
        };
        let mut out = String::from(r#"<network enabled="true">"#);
        allowed.iter().for_each(|domain| push_element(&mut out, "allowed", domain));
        denied.iter().for_each(|domain| push_element(&mut out, "denied", domain));
        out.push_str("</network>");
        out
    }
}
