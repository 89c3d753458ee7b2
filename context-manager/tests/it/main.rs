//! The tests of the history, one module per subject.
#![expect(clippy::expect_used, clippy::panic, reason = "a test fails by a panic")]

mod setup;

mod allocations;
mod auto_traits;
mod baselines;
mod calls;
mod cases;
mod compaction;
mod cursors;
mod elision;
mod forks;
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
mod rewrites;
mod rollback;
mod tokens;
mod truncation;
mod usage;
mod whole_prompt;
