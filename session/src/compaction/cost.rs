//! Whether a compaction pays.

/// Prices of one provider, for one token each, in any unit.
///
/// # Example
/// ```
/// use session::CostModel;
///
/// // One cached token costs a tenth of one that is read, and the session is about to end: leave it as it is.
/// let model = CostModel::new(1.0, 0.1).expecting_turns(1);
/// assert!(!model.weigh(100_000, 20_000).pays());
/// assert!(model.expecting_turns(50).weigh(100_000, 20_000).pays());
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct CostModel {
    /// A token that is read anew.
    pub uncached: f64,
    /// A token that comes out of the cache.
    pub cached: f64,
    /// A token that is read anew and written into the cache; as one that is read anew by default.
    pub write: f64,
    /// A token of an answer; five times one that is read anew by default.
    pub output: f64,
    /// How many more requests there will be; 20 by default.
    pub expected_turns: u32,
    /// How long a summary is; 2,000 tokens by default.
    pub summary_tokens: u64,
}

/// What a compaction would cost and save.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Verdict {
    /// All requests to come, if nothing is compacted.
    pub without: f64,
    /// The same if it is, with the request for the summary.
    pub with: f64,
}

impl Verdict {
    /// Says that it is cheaper to compact.
    #[must_use]
    pub fn pays(&self) -> bool {
        self.with < self.without
    }
}

impl CostModel {
    /// Takes the prices of tokens that are read, anew and from the cache.
    #[must_use]
    pub const fn new(uncached: f64, cached: f64) -> Self {
        Self { uncached, cached, write: uncached, output: uncached * 5.0, expected_turns: 20, summary_tokens: 2_000 }
    }

    /// Sets the price of a token that is written into the cache.
    #[must_use]
    pub const fn with_write(mut self, write: f64) -> Self {
        self.write = write;
        self
    }

    /// Sets the price of a token of an answer.
    #[must_use]
    pub const fn with_output(mut self, output: f64) -> Self {
        self.output = output;
        self
    }

    /// Says how many more requests there will be.
    #[must_use]
    pub const fn expecting_turns(mut self, turns: u32) -> Self {
        self.expected_turns = turns;
        self
    }

    /// Weighs a compaction of a history of `before` tokens that keeps `kept` of them.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "an estimate of tokens is far less exact than a float")]
    pub fn weigh(&self, before: u64, kept: u64) -> Verdict {
        let (before, after) = (before as f64, kept.saturating_add(self.summary_tokens) as f64);
        let turns = f64::from(self.expected_turns);
        let without = turns * before * self.cached;
        let summary = before * self.cached + self.summary_tokens as f64 * self.output;
        let first = if turns > 0.0 { after * self.write.max(self.uncached) } else { 0.0 };
        Verdict { without, with: summary + first + (turns - 1.0).max(0.0) * after * self.cached }
    }
}
