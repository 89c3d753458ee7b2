//! The numbers of the format.

/// The version of the format that this crate writes, in `session_meta`.
pub const FORMAT_VERSION: u32 = 1;

/// The newest record version that this reader understands.
pub const READER_VERSION: u32 = 1;

/// How much a reader takes into memory at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ReadLimits {
    /// The longest line, its newline included. A longer one is stepped over and reported.
    ///
    /// 256 MiB by default: above any request that a provider takes, and below what would hurt a small machine.
    pub max_line_bytes: usize,
}

impl Default for ReadLimits {
    fn default() -> Self {
        Self { max_line_bytes: 256 * 1024 * 1024 }
    }
}

impl ReadLimits {
    /// Sets the longest line.
    #[must_use]
    pub const fn with_max_line_bytes(mut self, max_line_bytes: usize) -> Self {
        self.max_line_bytes = max_line_bytes;
        self
    }
}

/// How much a resume may hold.
///
/// # Example
/// ```
/// use session::rollout::OpenLimits;
///
/// assert_eq!(OpenLimits::default().with_max_bytes(64 * 1024 * 1024).max_bytes, Some(64 * 1024 * 1024));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct OpenLimits {
    /// The bytes of the live window, blobs put back, and of any line that is read on the way. Without, there is no limit
    /// but that of a line.
    pub max_bytes: Option<u64>,
    /// The longest line.
    pub read: ReadLimits,
}

impl OpenLimits {
    /// Sets how many bytes may be held.
    #[must_use]
    pub const fn with_max_bytes(mut self, max_bytes: u64) -> Self {
        self.max_bytes = Some(max_bytes);
        self
    }

    /// Sets the longest line.
    #[must_use]
    pub const fn with_read_limits(mut self, read: ReadLimits) -> Self {
        self.read = read;
        self
    }
}
