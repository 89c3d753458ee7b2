//! Going on from a log, as a session does.

#![expect(clippy::expect_used, reason = "a log that a bench has written can be read")]

use std::{fs::File, path::Path, str::FromStr};

use context_fragments::Limit;
use context_manager::{ContextManager, Recording, TruncationPolicy};
use session::{
    Error, Replay,
    rollout::{LiveEvents, OpenLimits},
};

use crate::naive_log;

/// Which way a log is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "a log has two ends")]
pub enum Way {
    /// From its end back to the newest checkpoint, and from there on.
    Backwards,
    /// In one pass from its start.
    Forwards,
}

impl Way {
    /// The word by which it is asked for.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Backwards => "backwards",
            Self::Forwards => "forwards",
        }
    }
}

impl FromStr for Way {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        let known = [Self::Backwards, Self::Forwards];
        known.into_iter().find(|way| way.name() == name).ok_or_else(|| format!("no way is called `{name}`"))
    }
}

/// Reads the log at `path`: the history, without the prompt that was sent last.
///
/// # Panics
/// If the log is not what a bench has written.
#[must_use]
pub fn replayed(path: &Path, way: Way) -> Replay {
    let recording = Recording::new(TruncationPolicy::new(Limit::Tokens(10_000)));
    let mut replay = Replay::new(ContextManager::new(), recording);
    let file = File::open(path).expect("the log is there");
    let live = match way {
        Way::Backwards => LiveEvents::open(file, OpenLimits::default(), None, path.to_owned()),
        Way::Forwards => LiveEvents::forward(file, OpenLimits::default(), None, path.to_owned()),
    };
    let ended = live.and_then(|mut live| live.read_ahead(|event| replay.apply(&event?).map(drop)));
    ended.unwrap_or_else(|error: Error| panic!("the log is whole: {error}"));
    replay
}

/// The same, and makes the prompt again that was sent last.
///
/// # Panics
/// If the log is not what a bench has written.
#[must_use]
pub fn resumed(path: &Path, way: Way) -> Replay {
    let mut replay = replayed(path, way);
    replay.verify_sent(&[]).expect("the prompt that was sent can be made again");
    replay
}

/// Goes on from the log at `path` as it is usually done; how many items there are.
///
/// # Panics
/// If the log cannot be read.
#[must_use]
pub fn resumed_naive(path: &Path) -> usize {
    naive_log::resume(path).expect("the log can be read").len()
}
