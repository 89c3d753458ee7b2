//! The tests of `agents-md`, one module per subject.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on stops where it stands")]

mod auto_traits;
mod cases_budget;
mod cases_discovery;
mod denied;
mod drivers;
mod explain;
mod fitting;
#[cfg(feature = "tokio")]
mod freshness;
mod host;
mod hostile;
mod index;
mod laws;
#[cfg(feature = "tokio")]
mod manager;
mod nested;
mod options;
mod reference_rendering;
mod reference_rows;
mod reference_rules;
#[cfg(feature = "tokio")]
mod stage;
mod trace_shape;
