//! References to other files: `@path` in prose.

use std::ops::Range;

/// How long the path of a reference may be, in bytes.
const MAX_PATH_BYTES: usize = 512;

/// One reference in a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Reference<'a> {
    /// What is written behind the `@`.
    pub(crate) path: &'a str,
    /// Where the line that holds it is, its line feed included.
    pub(crate) line: Range<usize>,
    /// Whether the line holds nothing else, so that the text can take its place.
    pub(crate) is_alone: bool,
}

/// The references of a text, in their order.
///
/// A reference is an `@` at the start of a line or behind white space or an opening bracket, and what follows up to the next
/// white space, closing punctuation left out. It has to look like a path: a `/` or a `.` is in it. Fenced and indented code,
/// code spans and e-mail addresses hold none.
pub(crate) fn references(text: &str) -> Vec<Reference<'_>> {
    let mut found = Vec::new();
    let mut fence: Option<(char, usize)> = None;
    let mut start = 0;
    // How many backticks opened the code span that this line begins in; a blank line ends it, as it ends a paragraph.
    let mut span = 0;
    for line in text.split_inclusive('\n') {
        let range = start..start + line.len();
        start = range.end;
        let trimmed = line.trim_start();
        let indent = line.len() - trimmed.len();
        if let Some((letter, n_letters)) = fence {
            let n_closing = trimmed.chars().take_while(|&other| other == letter).count();
            if n_closing >= n_letters && trimmed[n_closing..].trim().is_empty() {
                fence = None;
            }
            continue;
        }
        if let Some(letter) = trimmed.chars().next().filter(|letter| matches!(letter, '`' | '~')) {
            let n_letters = trimmed.chars().take_while(|&other| other == letter).count();
            if n_letters >= 3 && indent <= 3 && (letter == '~' || !trimmed[n_letters..].contains('`')) {
                (fence, span) = (Some((letter, n_letters)), 0);
                continue;
            }
        }
        if trimmed.is_empty() {
            span = 0;
            continue;
        }
        if line.starts_with('\t') || line.starts_with("    ") {
            continue;
        }
        span = scan_line(text, &range, span, &mut found);
    }
    found
}

fn scan_line<'a>(text: &'a str, range: &Range<usize>, mut span: usize, found: &mut Vec<Reference<'a>>) -> usize {
    let line = &text[range.clone()];
    let bytes = line.as_bytes();
    let mut position = 0;
    while position < bytes.len() {
        let n_ticks = bytes[position..].iter().take_while(|&&byte| byte == b'`').count();
        if n_ticks > 0 {
            span = match span {
                0 if is_closed(text, range.start + position + n_ticks, n_ticks) => n_ticks,
                open if open == n_ticks => 0,
                open => open,
            };
            position += n_ticks;
            continue;
        }
        let is_start = position == 0 || matches!(bytes[position - 1], b' ' | b'\t' | b'(' | b'[' | b'"' | b'\'');
        if span == 0 && bytes[position] == b'@' && is_start {
            let rest = &line[position + 1..];
            let end = rest.find(|letter: char| letter.is_whitespace() || letter == '`').unwrap_or(rest.len());
            let path = rest[..end].trim_end_matches(['.', ',', ';', ':', '!', '?', ')', ']', '"', '\'']);
            if path.contains(['/', '.']) && !path.contains('@') && path.len() <= MAX_PATH_BYTES && !path.contains('\0')
            {
                let is_alone = line.trim() == &line[position..=position + path.len()];
                found.push(Reference { path, line: range.clone(), is_alone });
            }
            position += 1 + end;
            continue;
        }
        position += 1;
    }
    span
}

/// Whether a code span of `n_ticks` backticks that opens before `from` closes in the same paragraph.
fn is_closed(text: &str, from: usize, n_ticks: usize) -> bool {
    let paragraph = text[from..].split("\n\n").next().unwrap_or_default();
    let mut rest = paragraph;
    while let Some(start) = rest.find('`') {
        let run = rest[start..].bytes().take_while(|&byte| byte == b'`').count();
        if run == n_ticks {
            return true;
        }
        rest = &rest[start + run..];
    }
    false
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[track_caller]
    fn check(text: &str, want: &[&str]) {
        let found: Vec<&str> = references(text).iter().map(|reference| reference.path).collect();
        assert_eq!(found, want, "{text:?}");
    }

    #[test]
    fn references_stand_where_a_word_may_start() {
        check("@./a.md", &["./a.md"]);
        check("See @docs/style.md, and (@b.md).\n@c.md\n", &["docs/style.md", "b.md", "c.md"]);
        check("mail me@example.org or <me@example.org>", &[]);
        check("@someone said @Override", &[]);
        check("@a@b.c", &[]);
    }

    #[test]
    fn code_holds_no_references() {
        check("`@a.md` and ``x ` @b.md`` @c.md", &["c.md"]);
        check("```\n@a.md\n```\n@b.md", &["b.md"]);
        check("~~~~\n@a.md\n~~~\n@c.md\n~~~~\n@b.md", &["b.md"]);
        check("    @a.md\n\t@b.md\n  @c.md", &["c.md"]);
        check("`open\n@a.md` @b.md", &["b.md"]);
        check("a ` alone @b.md\n\nnext", &["b.md"]);
        check("```\n@a.md", &[]);
    }

    #[test]
    fn a_reference_alone_on_its_line_is_known() {
        let found = references("x @a.md\n  @b.md \n");
        assert_eq!(found.iter().map(|reference| reference.is_alone).collect::<Vec<_>>(), [false, true]);
        assert_eq!(found[1].line, 8..17);
    }

    proptest! {
        #[test]
        fn any_text_is_scanned(text in "[@a./` \n~é\t]{0,200}") {
            for reference in references(&text) {
                prop_assert!(text.is_char_boundary(reference.line.start) && text.is_char_boundary(reference.line.end));
                prop_assert!(!reference.path.is_empty());
            }
        }
    }
}
