//! The shapes of well-known secrets.

use std::borrow::Cow;

use super::Redactor;

/// Secrets that are known by their shape: keys of clouds, code hosts, chat services and model providers, private keys, and
/// what stands behind `password=` and its like in a connection address.
///
/// A shape is a guess: what has none, such as a password in a sentence, is not found. Each find is replaced by
/// `[redacted: …]`, which names the kind.
///
/// # Example
/// ```
/// use session::{Redactor as _, SecretPatterns};
///
/// let text = "export AWS_ACCESS_KEY_ID=AKIAIOSFODNN7EXAMPLE # mine";
/// assert_eq!(SecretPatterns.redact(text), "export AWS_ACCESS_KEY_ID=[redacted: AWS access key] # mine");
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "it holds nothing")]
pub struct SecretPatterns;

/// A word that starts with fixed letters and goes on with letters of one kind.
struct Prefixed {
    name: &'static str,
    prefix: &'static str,
    body: fn(u8) -> bool,
    /// The fewest letters behind the prefix.
    min: usize,
    /// The most; a longer word is something else.
    max: usize,
}

const fn upper_or_digit(byte: u8) -> bool {
    byte.is_ascii_uppercase() || byte.is_ascii_digit()
}

const fn word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-')
}

const fn base64(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=')
}

const PREFIXED: &[Prefixed] = &[
    Prefixed { name: "AWS access key", prefix: "AKIA", body: upper_or_digit, min: 16, max: 16 },
    Prefixed { name: "AWS access key", prefix: "ASIA", body: upper_or_digit, min: 16, max: 16 },
    Prefixed { name: "GitHub token", prefix: "ghp_", body: word, min: 36, max: 255 },
    Prefixed { name: "GitHub token", prefix: "gho_", body: word, min: 36, max: 255 },
    Prefixed { name: "GitHub token", prefix: "ghu_", body: word, min: 36, max: 255 },
    Prefixed { name: "GitHub token", prefix: "ghs_", body: word, min: 36, max: 255 },
    Prefixed { name: "GitHub token", prefix: "ghr_", body: word, min: 36, max: 255 },
    Prefixed { name: "GitHub token", prefix: "github_pat_", body: word, min: 40, max: 255 },
    Prefixed { name: "GitLab token", prefix: "glpat-", body: word, min: 20, max: 255 },
    Prefixed { name: "provider key", prefix: "sk-", body: word, min: 32, max: 255 },
    Prefixed { name: "Google key", prefix: "AIza", body: word, min: 35, max: 35 },
    Prefixed { name: "Slack token", prefix: "xoxb-", body: word, min: 20, max: 255 },
    Prefixed { name: "Slack token", prefix: "xoxp-", body: word, min: 20, max: 255 },
    Prefixed { name: "npm token", prefix: "npm_", body: word, min: 36, max: 36 },
];

/// Names behind which a secret of forty letters stands.
const AWS_SECRET_NAMES: [&str; 2] = ["aws_secret_access_key", "AWS_SECRET_ACCESS_KEY"];

impl Redactor for SecretPatterns {
    fn redact<'a>(&self, text: &'a str) -> Cow<'a, str> {
        let mut finds: Vec<(usize, usize, &'static str)> = Vec::new();
        for pattern in PREFIXED {
            find_prefixed(text, pattern, &mut finds);
        }
        for name in AWS_SECRET_NAMES {
            find_named(text, name, &mut finds);
        }
        find_private_keys(text, &mut finds);
        find_passwords_in_addresses(text, &mut finds);
        if finds.is_empty() {
            return Cow::Borrowed(text);
        }
        finds.sort_unstable();
        let mut out = String::with_capacity(text.len());
        let mut copied = 0;
        for (start, end, name) in finds {
            if start < copied {
                continue;
            }
            out.push_str(&text[copied..start]);
            out.push_str("[redacted: ");
            out.push_str(name);
            out.push(']');
            copied = end;
        }
        out.push_str(&text[copied..]);
        Cow::Owned(out)
    }
}

fn find_prefixed(text: &str, pattern: &Prefixed, finds: &mut Vec<(usize, usize, &'static str)>) {
    let bytes = text.as_bytes();
    for (start, _) in text.match_indices(pattern.prefix) {
        // In the middle of a word, such as base64, the letters are there by chance.
        if start > 0 && word(bytes[start - 1]) {
            continue;
        }
        let body = start + pattern.prefix.len();
        let len = bytes[body..].iter().take_while(|byte| (pattern.body)(**byte)).count();
        let goes_on = bytes.get(body + len).is_some_and(|byte| word(*byte));
        if (pattern.min..=pattern.max).contains(&len) && !goes_on {
            finds.push((start, body + len, pattern.name));
        }
    }
}

/// Forty letters of base64 behind a name, with what stands between a name and its value.
fn find_named(text: &str, name: &str, finds: &mut Vec<(usize, usize, &'static str)>) {
    let bytes = text.as_bytes();
    for (at, _) in text.match_indices(name) {
        let behind = at + name.len();
        let between =
            bytes[behind..].iter().take_while(|byte| matches!(byte, b' ' | b'=' | b':' | b'"' | b'\'')).count();
        let start = behind + between;
        let len = bytes[start..].iter().take_while(|byte| base64(**byte)).count();
        if between > 0 && len == 40 {
            finds.push((start, start + len, "AWS secret key"));
        }
    }
}

fn find_private_keys(text: &str, finds: &mut Vec<(usize, usize, &'static str)>) {
    for (start, _) in text.match_indices("-----BEGIN ") {
        let Some(line) = text[start..].find("PRIVATE KEY-----") else { continue };
        if text[start..start + line].contains('\n') {
            continue;
        }
        let rest = &text[start + line..];
        // A key that is cut off is a key all the same.
        let end = rest.find("-----END ").and_then(|end| Some(end + rest[end..].find("PRIVATE KEY-----")? + 16));
        finds.push((start, start + line + end.unwrap_or(rest.len()), "private key"));
    }
}

/// `scheme://user:password@host`.
fn find_passwords_in_addresses(text: &str, finds: &mut Vec<(usize, usize, &'static str)>) {
    for (at, _) in text.match_indices("://") {
        let authority = &text[at + 3..];
        let len = authority.find(|letter: char| letter.is_whitespace() || "/?#\"'<>".contains(letter));
        let authority = &authority[..len.unwrap_or(authority.len())];
        let Some((user, _)) = authority.rsplit_once('@') else { continue };
        let Some((name, password)) = user.split_once(':') else { continue };
        if !password.is_empty() {
            let start = at + 3 + name.len() + 1;
            finds.push((start, start + password.len(), "password"));
        }
    }
}
