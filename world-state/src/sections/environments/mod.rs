//! Where the agent works: environments, date, and the reach of its tools.

mod state;
mod snapshot;
mod render;
mod xml;
mod date;
mod network;
mod filesystem;
mod subagents;

pub use self::{
    date::Date,
    filesystem::FileSystemAccess,
    network::NetworkAccess,
    snapshot::{Environment, EnvironmentStatus, EnvironmentsSnapshot},
    state::EnvironmentsState,
    subagents::SubAgent,
};
