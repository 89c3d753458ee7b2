//! Fingerprints that stand for long texts in a stored state.

use std::fmt;
use std::str::FromStr;

use context_fragments::FragmentRole;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;
use sha1::{Digest, Sha1};

use crate::canonical::sort_keys;
use crate::error::Error;

/// Separates these hashes from others over the same bytes.
const FRAGMENT_DOMAIN: &[u8] = b"codex-world-state-fragment-v1\0";

/// Stands for a rendered text or a JSON value in a stored state: SHA-1, written as 40 lower-case hex digits.
///
/// It tells "the same as before" from "something else" and protects against nothing; SHA-1 is
/// the published format.
///
/// # Example
/// ```
/// use context_fragments::FragmentRole;
/// use world_state::WorldStateHash;
///
/// let unix = WorldStateHash::of_fragment(FragmentRole::User, "a\nb");
/// let dos = WorldStateHash::of_fragment(FragmentRole::User, "a\r\nb");
/// assert_eq!(unix, dos);
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct WorldStateHash([u8; 20]);

impl WorldStateHash {
    /// Hashes a rendered fragment: its role and its text, with line ends counted as `\n`.
    #[must_use]
    pub fn of_fragment(role: FragmentRole, rendered: &str) -> Self {
        let role = match role {
            FragmentRole::Developer => "developer",
            FragmentRole::User => "user",
        };
        let mut hasher = Sha1::new();
        hasher.update(FRAGMENT_DOMAIN);
        update_component(&mut hasher, role);
        update_component(&mut hasher, rendered);
        Self(hasher.finalize().into())
    }

    /// Hashes a JSON value, whatever the order of its keys.
    #[must_use]
    pub fn of_json(value: &Value) -> Self {
        let mut hasher = Sha1::new();
        hasher.update(sort_keys(value.clone()).to_string().as_bytes());
        Self(hasher.finalize().into())
    }
}

/// Feeds the length as eight big-endian bytes, then the bytes, with `\r\n` read as `\n`.
fn update_component(hasher: &mut Sha1, text: &str) {
    if !text.as_bytes().contains(&b'\r') {
        hasher.update((text.len() as u64).to_be_bytes());
        hasher.update(text.as_bytes());
        return;
    }
    let n_pairs = text.matches("\r\n").count();
    let n_bytes = text.len() - n_pairs;
    hasher.update((n_bytes as u64).to_be_bytes());
    for (idx, piece) in text.split("\r\n").enumerate() {
        if idx > 0 {
            hasher.update(b"\n");
        }
        hasher.update(piece.as_bytes());
    }
}

impl WorldStateHash {
    /// The 40 digits. A step in which all sections change writes some dozens of them, so no formatter is asked.
    fn to_text(self) -> String {
        const DIGITS: &[u8; 16] = b"0123456789abcdef";
        let digits = self.0.iter().flat_map(|byte| [DIGITS[usize::from(byte >> 4)], DIGITS[usize::from(byte & 15)]]);
        digits.map(char::from).collect()
    }
}

impl fmt::Display for WorldStateHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.to_text())
    }
}

impl fmt::Debug for WorldStateHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "WorldStateHash({self})")
    }
}

impl FromStr for WorldStateHash {
    type Err = Error;

    /// Reads 40 hex digits in lower case.
    fn from_str(text: &str) -> Result<Self, Error> {
        let refuse = || Error::Hash { input: text.into() };
        let (digits, []) = text.as_bytes().as_chunks::<2>() else {
            return Err(refuse());
        };
        if digits.len() != 20 {
            return Err(refuse());
        }
        let mut bytes = [0; 20];
        for (byte, [high, low]) in bytes.iter_mut().zip(digits) {
            let (Some(high), Some(low)) = (hex_digit(*high), hex_digit(*low)) else {
                return Err(refuse());
            };
            *byte = high << 4 | low;
        }
        Ok(Self(bytes))
    }
}

fn hex_digit(digit: u8) -> Option<u8> {
    match digit {
        b'0'..=b'9' => Some(digit - b'0'),
        b'a'..=b'f' => Some(digit - b'a' + 10),
        _ => None,
    }
}

impl Serialize for WorldStateHash {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.to_text())
    }
}

impl<'de> Deserialize<'de> for WorldStateHash {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        // Owned, because a value is read from text and from a `serde_json::Value` alike.
        let text = String::deserialize(deserializer)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}
