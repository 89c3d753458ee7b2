//! The tests of the history, one module per subject.

mod setup;

mod allocations;
mod auto_traits;
mod baselines;
mod cases;
mod laws;
mod log;
mod normalize;
mod proof;
mod recording;
mod restore;
mod rewrites;
mod rollback;
mod tokens;
mod truncation;
