//! SHA-256 digests, in lower-case hexadecimal.

use std::{fmt, io};

use sha2::{Digest as _, Sha256 as Hasher};

/// A SHA-256 digest. `sha256sum` prints the same 64 digits.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Sha256([u8; 32]);

impl Sha256 {
    /// Takes the 32 bytes of a digest.
    #[must_use]
    pub const fn new(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    /// Digests `bytes`.
    #[must_use]
    pub fn of(bytes: &[u8]) -> Self {
        Self(Hasher::digest(bytes).into())
    }

    /// Digests what a reader gives, piece by piece.
    pub(crate) fn of_reader(mut reader: impl io::Read) -> io::Result<Self> {
        let mut hasher = Hasher::new();
        let mut piece = vec![0; 64 * 1024];
        loop {
            match reader.read(&mut piece) {
                Ok(0) => return Ok(Self(hasher.finalize().into())),
                Ok(read) => hasher.update(&piece[..read]),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }

    /// The 32 bytes.
    #[must_use]
    pub const fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }

    /// Reads 64 lower-case hexadecimal digits; nothing for anything else.
    ///
    /// # Example
    /// ```
    /// use session::rollout::Sha256;
    ///
    /// let digest = Sha256::of(b"");
    /// assert_eq!(Sha256::from_hex(&digest.to_string()), Some(digest));
    /// assert_eq!(Sha256::from_hex("e3b0"), None);
    /// ```
    #[must_use]
    pub fn from_hex(hex: &str) -> Option<Self> {
        let digit = |byte: u8| match byte {
            b'0'..=b'9' => Some(byte - b'0'),
            b'a'..=b'f' => Some(byte - b'a' + 10),
            _ => None,
        };
        let mut bytes = [0; 32];
        if hex.len() != 64 {
            return None;
        }
        for (out, pair) in bytes.iter_mut().zip(hex.as_bytes().chunks_exact(2)) {
            *out = digit(pair[0])? << 4 | digit(pair[1])?;
        }
        Some(Self(bytes))
    }
}

impl fmt::Display for Sha256 {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for Sha256 {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Sha256({self})")
    }
}
