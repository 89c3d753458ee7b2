//! The tests of the history, one module per subject.
#![expect(clippy::expect_used, clippy::panic, reason = "a test fails by a panic")]

mod setup;

mod allocations;
mod arbitrary;
mod auto_traits;
mod baselines;
mod calls;
mod cases;
mod clearing;
mod compaction;
mod cursors;
mod elision;
mod forks;
mod interleavings;
#[cfg(feature = "http")]
mod http;
mod laws;
mod log;
mod media;
mod mends;
mod normalize;
mod parts;
mod placing;
mod profiles;
mod projector;
mod proof;
mod reasoning;
mod recording;
mod restore;
mod rewrite_laws;
mod rewrites;
mod rollback;
mod sections;
mod tokens;
mod truncation;
mod values;
mod visible;
mod usage;
mod whole_prompt;
