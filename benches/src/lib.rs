//! What the benches share: a deterministic corpus, and naive baselines of our own writing.
//!
//! Each bench measures a crate beside a baseline in the same binary, on the same corpus and with the same allocator, so
//! that every figure is a ratio from one run. The binary `ratios` prints them and checks the goals.

pub mod corpus;
#[cfg(feature = "instructions")]
pub mod instructions;
#[cfg(feature = "instructions")]
pub mod instructions_cold;
pub mod naive;
pub mod naive_log;
#[cfg(feature = "world_state")]
pub mod naive_world;
#[cfg(feature = "history")]
pub mod ours;
#[cfg(feature = "rollout")]
pub mod resume;
#[cfg(feature = "world_state")]
pub mod world;

/// The sizes at which a history is measured, in items. A window of 250,000 tokens holds about 800; 100,000 is stress.
pub const SIZES: [usize; 4] = [100, 1_000, 10_000, 100_000];

/// The conversations with which a history is measured: the plain one at every size, and each variant at 10,000 items.
/// Each with the suffix of its group's name.
pub fn conversations() -> impl Iterator<Item = (String, corpus::Variant, usize)> {
    let plain = SIZES.map(|len| (String::new(), corpus::Variant::Plain, len));
    let special = corpus::Variant::SPECIAL.map(|variant| (format!("_{}", variant.name()), variant, 10_000));
    plain.into_iter().chain(special)
}

/// The sizes of the instructions with which a step of the world state is measured, in bytes.
pub const WORLD_STATE_SIZES: [usize; 2] = [2 << 10, 32 << 10];

/// The examples of the repository's own README, kept running.
#[cfg(all(doctest, feature = "history", feature = "instructions"))]
#[doc = include_str!("../../README.md")]
struct RootReadme;
