//! The state snapshot that a baseline holds.

/// Stands in until the crate below has it.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct WorldStateSnapshot(pub std::collections::BTreeMap<String, String>);
