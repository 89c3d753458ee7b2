//! Does it fit, before it is sent.

use crate::{HistorySnapshot, PartName, Parts, Prompt, TokenCounter};

/// Whether something fits into a window of tokens, by the estimates.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(clippy::exhaustive_enums, reason = "it fits or it does not")]
pub enum Preflight {
    /// It fits.
    Fits {
        /// The tokens that are left.
        left: u64,
    },
    /// It does not fit.
    Needs {
        /// The tokens that have to go.
        tokens: u64,
    },
}

impl Preflight {
    /// Compares a total with a window, both in tokens.
    #[must_use]
    pub const fn of(total: u64, window: u64) -> Self {
        match window.checked_sub(total) {
            Some(left) => Self::Fits { left },
            None => Self::Needs { tokens: total - window },
        }
    }

    /// Says that it fits.
    #[must_use]
    pub const fn fits(self) -> bool {
        matches!(self, Self::Fits { .. })
    }
}

impl HistorySnapshot {
    /// Whether the items alone fit into `window` tokens; O(1), since the total is kept.
    #[must_use]
    pub fn preflight(&self, window: u64) -> Preflight {
        Preflight::of(self.tokens(), window)
    }
}

impl Prompt {
    /// Whether parts and items fit into `window` tokens, as the manager's counter counts both. The total of the items is
    /// kept; the parts are counted, which the estimate does by their length.
    ///
    /// For a change of the model this is asked with the window of the new one.
    #[must_use]
    pub fn preflight(&self, window: u64) -> Preflight {
        let weights = weights(self.parts(), self.projected().counter.as_ref());
        let parts = weights.map(|(_, tokens)| tokens).fold(0, u64::saturating_add);
        Preflight::of(parts.saturating_add(self.input_tokens()), window)
    }
}

/// What each part costs.
pub(crate) fn weights(parts: &Parts, counter: &dyn TokenCounter) -> impl Iterator<Item = (PartName, u64)> {
    PartName::ALL.into_iter().map(|name| (name, counter.count_text(parts.text(name))))
}
