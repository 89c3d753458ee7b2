//! What could not be taken along.

use std::{collections::BTreeMap, fmt};

/// One thing that could not be taken along, or that means nothing here.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Loss {
    /// A line is no text: it is left out, and an export will not have it.
    Line {
        /// Which line, from 1.
        line: u64,
        /// Why.
        reason: String,
    },
    /// A line is kept, and what it says is no part of the history.
    Meaning {
        /// Where it starts in the file, in bytes.
        offset: u64,
        /// Why.
        reason: String,
    },
    /// Records that have no counterpart on the other side.
    Records {
        /// Their type.
        type_name: String,
        /// How many.
        count: u64,
    },
}

impl fmt::Display for Loss {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Line { line, reason } => write!(f, "line {line} is left out: {reason}"),
            Self::Meaning { offset, reason } => write!(f, "what byte {offset} says is not in the history: {reason}"),
            Self::Records { type_name, count } => write!(f, "{count} x {type_name} has no counterpart"),
        }
    }
}

/// All that was lost, in the order in which it was met; records without a counterpart are counted by type and stand last.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Losses {
    list: Vec<Loss>,
    counted: BTreeMap<String, u64>,
}

impl Losses {
    /// Every loss.
    pub fn iter(&self) -> impl Iterator<Item = Loss> + '_ {
        let records = self.counted.iter().map(|(name, count)| Loss::Records { type_name: name.clone(), count: *count });
        self.list.iter().cloned().chain(records)
    }

    /// Nothing was lost.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.list.is_empty() && self.counted.is_empty()
    }

    pub(super) fn push(&mut self, loss: Loss) {
        self.list.push(loss);
    }

    pub(super) fn count(&mut self, type_name: &str) {
        *self.counted.entry(type_name.to_owned()).or_default() += 1;
    }
}
