//! Tools that are declared in the history.

mod set;
mod diff;
mod state;

pub use self::{
    diff::{ToolSetDiff, ToolSetSnapshot},
    set::ToolSet,
    state::ToolsState,
};
