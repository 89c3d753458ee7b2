//! Rollouts of the `OpenAI` Codex CLI: in as a session of this library, and out again.
//!
//! [`import`] makes a session of a rollout of any generation. Every line of it is kept beside what it means, so that
//! [`export`] gives them back byte for byte, and behind them what the session went on with, in the reference's shape.
//! Both say what could not be taken along.

mod import;
mod export;
mod lines;
mod loss;

pub use self::{
    export::{Exported, export},
    import::{Import, Imported, import},
    loss::{Loss, Losses},
};

/// The type of a record that holds one line of a Codex rollout: the line itself, or its text as a JSON string where the
/// line is no JSON without white space.
pub const CODEX_LINE: &str = "codex.line";
