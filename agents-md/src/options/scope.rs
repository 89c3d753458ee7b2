//! Front matter that says for which files a text holds.

use std::path::Path;

use globset::{GlobBuilder, GlobSetBuilder};

/// How large front matter may be, in bytes; what is longer is text.
const MAX_FRONT_MATTER_BYTES: usize = 8_192;

/// How many patterns count; further ones are passed over.
const MAX_PATTERNS: usize = 64;

/// The words of front matter that narrow a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Scope {
    pub(crate) patterns: Vec<String>,
    pub(crate) is_always: bool,
    /// Where the text begins behind the front matter.
    pub(crate) text_at: usize,
}

/// Whether a text holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    Holds,
    Elsewhere,
}

/// The front matter of a text, if it narrows it.
pub(crate) fn scope(text: &str) -> Option<Scope> {
    let inner = text.strip_prefix("---\n").or_else(|| text.strip_prefix("---\r\n"))?;
    let start = text.len() - inner.len();
    let mut end = None;
    let mut position = start;
    for line in inner.split_inclusive('\n') {
        if matches!(line.trim_end(), "---" | "...") {
            end = Some((position, position + line.len()));
            break;
        }
        position += line.len();
        if position > MAX_FRONT_MATTER_BYTES {
            return None;
        }
    }
    let (front_end, text_at) = end?;
    let mut patterns = Vec::new();
    let mut is_scoped = false;
    let mut is_always = false;
    let mut in_list = false;
    for line in text[start..front_end].lines() {
        if let Some(item) = line.trim_start().strip_prefix("- ").filter(|_| in_list) {
            patterns.extend(words(item));
            continue;
        }
        in_list = false;
        let Some((key, value)) = line.split_once(':') else { continue };
        match key.trim() {
            "globs" | "paths" | "applyTo" => {
                is_scoped = true;
                in_list = value.trim().is_empty();
                patterns.extend(words(value));
            }
            "alwaysApply" => is_always = value.trim() == "true",
            _ => {}
        }
    }
    patterns.truncate(MAX_PATTERNS);
    // Without a pattern there is nothing that narrows, whatever the key says.
    (is_scoped && !patterns.is_empty() || is_always).then_some(Scope { patterns, is_always, text_at })
}

/// A value that is one word, several with commas, or a list in brackets; commas inside braces are part of a word.
fn words(value: &str) -> Vec<String> {
    let value = value.trim();
    let value = value.strip_prefix('[').and_then(|value| value.strip_suffix(']')).unwrap_or(value);
    let mut words = Vec::new();
    let (mut depth, mut word) = (0_usize, String::new());
    for letter in value.chars() {
        match letter {
            ',' if depth == 0 => words.push(std::mem::take(&mut word)),
            _ => {
                match letter {
                    '{' => depth += 1,
                    '}' => depth = depth.saturating_sub(1),
                    _ => {}
                }
                word.push(letter);
            }
        }
    }
    words.push(word);
    let unquoted = |word: &String| word.trim().trim_matches(['"', '\'']).to_owned();
    words.iter().map(unquoted).filter(|word| !word.is_empty()).collect()
}

impl Scope {
    /// Whether the text holds for one of `touched`, paths below `root`; and the patterns that are none.
    pub(crate) fn judge(&self, touched: &[&Path]) -> (Verdict, Vec<&str>) {
        let mut set = GlobSetBuilder::new();
        let mut bad = Vec::new();
        for pattern in &self.patterns {
            // A pattern without a slash is meant for files of that name in every folder.
            let anywhere = if pattern.contains('/') { pattern.clone() } else { format!("**/{pattern}") };
            match GlobBuilder::new(anywhere.trim_start_matches("./").trim_start_matches('/'))
                .literal_separator(true)
                .build()
            {
                Ok(glob) => _ = set.add(glob),
                Err(_) => bad.push(pattern.as_str()),
            }
        }
        let is_match = set.build().is_ok_and(|set| touched.iter().any(|path| set.is_match(path)));
        (if is_match || self.is_always { Verdict::Holds } else { Verdict::Elsewhere }, bad)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(front: &str, want: &[&str]) {
        let text = format!("---\n{front}\n---\nBODY");
        let scope = scope(&text).unwrap();
        assert_eq!(scope.patterns, want);
        assert_eq!(&text[scope.text_at..], "BODY");
    }

    #[test]
    fn every_way_to_write_a_list_is_read() {
        check("globs: src/**/*.ts", &["src/**/*.ts"]);
        check("applyTo: \"**/*.ts,**/*.tsx\"", &["**/*.ts", "**/*.tsx"]);
        check("description: x\npaths:\n  - \"a/*.{rs,toml}\"\n  - b\nother: - c", &["a/*.{rs,toml}", "b"]);
        check("globs: [a, 'b c', \"d\"]", &["a", "b c", "d"]);
    }

    #[test]
    fn what_narrows_nothing_is_text() {
        for text in ["---\ntitle: x\n---\n", "globs: a\n", "---\nglobs: a\n", "---\nglobs:\n---\n", ""] {
            assert_eq!(scope(text), None, "{text:?}");
        }
        assert!(scope("---\nalwaysApply: true\nglobs:\n---\nx").unwrap().is_always);
    }

    #[test]
    fn patterns_match_below_the_root() {
        let judged = |pattern: &str, path: &str| {
            let scope = Scope { patterns: vec![pattern.to_owned()], is_always: false, text_at: 0 };
            scope.judge(&[Path::new(path)]).0 == Verdict::Holds
        };
        assert!(judged("*.ts", "a/b.ts") && judged("src/**/*.ts", "src/a/b.ts") && judged("/a/*.rs", "a/x.rs"));
        assert!(!judged("src/*.ts", "src/a/b.ts") && !judged("*.ts", "a/b.rs"));
        let scope = Scope { patterns: vec!["a[".to_owned()], is_always: false, text_at: 0 };
        assert_eq!(scope.judge(&[Path::new("a")]), (Verdict::Elsewhere, vec!["a["]));
    }
}
