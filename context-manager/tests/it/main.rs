//! The tests of the history, one module per subject.
#![expect(clippy::expect_used, clippy::panic, reason = "a test fails by a panic")]

mod setup;

mod allocations;
mod auto_traits;
mod baselines;
mod cases;
mod compaction;
mod cursors;
mod elision;
mod forks;
mod laws;
mod log;
mod mends;
mod normalize;
mod projector;
mod proof;
mod recording;
mod restore;
mod rewrites;
mod rollback;
mod tokens;
mod truncation;
mod whole_prompt;
