//! SHA-256 digests of items and of the prefix chain.

use std::fmt;

use sha2::{Digest as _, Sha256};

/// A SHA-256 digest; shown as hexadecimal digits.
///
/// # Example
/// ```
/// use context_manager::Digest;
///
/// let empty = Digest::of(b"");
/// assert!(empty.to_string().starts_with("e3b0c44298fc1c14"));
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Digest([u8; 32]);

impl Digest {
    /// Where a prefix chain starts, before its first item.
    pub const CHAIN_START: Self = Self([0; 32]);

    /// The digest of `bytes`.
    #[must_use]
    pub fn of(bytes: &[u8]) -> Self {
        Self(Sha256::digest(bytes).into())
    }

    /// The next link of a chain: the digest of this link and of the next item's digest.
    #[must_use]
    pub fn chained(self, item: Self) -> Self {
        let mut hasher = Sha256::new();
        hasher.update(self.0);
        hasher.update(item.0);
        Self(hasher.finalize().into())
    }

    /// The 32 bytes.
    #[must_use]
    pub const fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }
}

impl From<[u8; 32]> for Digest {
    fn from(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Digest({self})")
    }
}
