//! Front matter that says for which files a text holds.

use std::path::Path;

use globset::{GlobBuilder, GlobSet, GlobSetBuilder};

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
    ///
    /// A pattern behind a `!` takes out of what the others say, wherever it stands.
    pub(crate) fn judge(&self, touched: &[&Path]) -> (Verdict, Vec<&str>) {
        let (mut holds, mut excepts, mut bad) = (Vec::new(), Vec::new(), Vec::new());
        for pattern in &self.patterns {
            let (list, positive) = match pattern.strip_prefix('!') {
                Some(rest) => (&mut excepts, rest),
                None => (&mut holds, pattern.as_str()),
            };
            match matcher(positive) {
                Some(set) => list.push(set),
                None => bad.push(pattern.as_str()),
            }
        }
        let any = |sets: &[GlobSet], path: &Path| sets.iter().any(|set| set.is_match(path));
        let is_match = touched.iter().any(|path| any(&holds, path) && !any(&excepts, path));
        (if is_match || self.is_always { Verdict::Holds } else { Verdict::Elsewhere }, bad)
    }
}

/// One pattern, by itself, so that a bad one spoils no other; none for one that is no pattern.
fn matcher(pattern: &str) -> Option<GlobSet> {
    // A pattern without a slash is meant for files of that name in every folder.
    let anywhere = if pattern.contains('/') { pattern.to_owned() } else { format!("**/{pattern}") };
    let below_root = anywhere.trim_start_matches("./").trim_start_matches('/');
    let glob = GlobBuilder::new(below_root).literal_separator(true).build().ok()?;
    GlobSetBuilder::new().add(glob).build().ok()
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
    #[track_caller]
    fn judge(patterns: &[&str], path: &str) -> (bool, usize) {
        let patterns = patterns.iter().map(|&pattern| pattern.to_owned()).collect();
        let scope = Scope { patterns, is_always: false, text_at: 0 };
        let (verdict, bad) = scope.judge(&[Path::new(path)]);
        (verdict == Verdict::Holds, bad.len())
    }

    #[test]
    fn a_pattern_behind_an_exclamation_mark_takes_away() {
        assert_eq!(judge(&["src/**", "!src/generated/**"], "src/a.rs"), (true, 0));
        assert_eq!(judge(&["!src/generated/**", "src/**"], "src/generated/a.rs"), (false, 0));
        assert_eq!(judge(&["!*.rs"], "a.md"), (false, 0));
        assert_eq!(judge(&["*.{rs,toml}", "!Cargo.{toml,lock}"], "a/Cargo.toml"), (false, 0));
    }

    #[test]
    fn a_hostile_pattern_spoils_no_other_and_ends_no_process() {
        let shapes = [
            format!("{}a{}", "{".repeat(4_000), "}".repeat(4_000)),
            "{".repeat(8_000),
            "{a,b}".repeat(1_500),
            "[".repeat(8_000),
            "*a".repeat(4_000),
            "**/".repeat(2_500),
        ];
        let run = move || {
            for shape in shapes {
                let (holds, n_bad) = judge(&[&shape, "*.rs"], "src/a.rs");
                assert!(holds && n_bad <= 1, "{shape:.20}");
            }
        };
        // As little stack as a thread of a host may have.
        std::thread::Builder::new().stack_size(1 << 20).spawn(run).unwrap().join().unwrap();
    }
}
