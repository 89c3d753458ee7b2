//! How texts are put together into what the model reads.

use std::{borrow::Cow, path::Path, sync::Arc};

/// What stands between the user's text and the first one of the project.
const PROJECT_SEPARATOR: &str = "\n\n--- project-doc ---\n\n";

/// What stands between two texts otherwise.
pub(crate) const SEPARATOR: &str = "\n\n";

/// How long an id or a folder may be in what the model reads, in bytes.
pub(crate) const MAX_LABEL_BYTES: usize = 1_024;

/// Whether ids and paths are shown exactly.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Labels {
    /// As they are, whatever they hold.
    #[default]
    Exact,
    /// On one line and at most 1,024 bytes long, so that they cannot take the room of the text.
    Capped,
}

/// The id and the working folder of an environment.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Home<'a> {
    pub(crate) id: &'a str,
    pub(crate) cwd: &'a Path,
}

impl PartialEq for Home<'_> {
    fn eq(&self, other: &Self) -> bool {
        // Comparing paths costs a look at each component, and most neighbours have the very same home.
        std::ptr::eq(self.cwd, other.cwd) && std::ptr::eq(self.id, other.id)
            || self.id == other.id && self.cwd == other.cwd
    }
}

/// One text and the environment it belongs to; none for a text of the host.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Piece<'a> {
    pub(crate) home: Option<Home<'a>>,
    pub(crate) text: &'a str,
}

#[derive(Debug)]
pub(crate) struct LaidOut {
    pub(crate) directory: Option<Arc<str>>,
    pub(crate) text: String,
}

/// Puts the texts together: with a label for each environment if there are several, else in the older form.
pub(crate) fn lay_out(heads: &[&str], pieces: &[Piece<'_>], labels: Labels) -> LaidOut {
    let mut homes: Vec<Home<'_>> = Vec::new();
    for home in pieces.iter().filter_map(|piece| piece.home) {
        if !homes.contains(&home) {
            homes.push(home);
        }
    }
    let directory = match homes.as_slice() {
        [home] => Some(one_line(&home.cwd.to_string_lossy(), MAX_LABEL_BYTES, labels).as_ref().into()),
        _ => None,
    };
    let mut text = heads.join(SEPARATOR);
    let mut previous = None;
    for piece in pieces {
        let separator = match piece.home {
            Some(_) if homes.len() < 2 && previous.is_none() => PROJECT_SEPARATOR,
            _ => SEPARATOR,
        };
        if !text.is_empty() {
            text.push_str(separator);
        }
        if let Some(Home { id, cwd }) = piece.home
            && homes.len() > 1
            && previous != piece.home
        {
            let id = one_line(id, MAX_LABEL_BYTES, labels);
            let cwd = cwd.to_string_lossy();
            let cwd = one_line(&cwd, MAX_LABEL_BYTES, labels);
            text.push_str(&format!("for `{id}` with root {cwd}{SEPARATOR}"));
        }
        text.push_str(piece.text);
        previous = piece.home;
    }
    LaidOut { directory, text }
}

/// `text` without control characters, and with its middle left out if it is longer than `max_bytes`.
pub(crate) fn one_line(text: &str, max_bytes: usize, labels: Labels) -> Cow<'_, str> {
    const GAP: &str = "…";
    if labels == Labels::Exact || (text.len() <= max_bytes && !text.contains(char::is_control)) {
        return Cow::Borrowed(text);
    }
    let clean = text.replace(char::is_control, "\u{FFFD}");
    if clean.len() <= max_bytes {
        return Cow::Owned(clean);
    }
    let half = max_bytes.saturating_sub(GAP.len()) / 2;
    let mut head = half;
    while !clean.is_char_boundary(head) {
        head -= 1;
    }
    let mut tail = clean.len() - half;
    while !clean.is_char_boundary(tail) {
        tail += 1;
    }
    Cow::Owned(format!("{}{GAP}{}", &clean[..head], &clean[tail..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, max_bytes: usize, want: &str) {
        assert_eq!(one_line(text, max_bytes, Labels::Capped), want);
    }

    #[test]
    fn labels_are_one_line_of_bounded_length() {
        check("/r/app", 8, "/r/app");
        check("/r\n/app", 16, "/r\u{FFFD}/app");
        check("abcdefghij", 7, "ab…ij");
        check("ééééé", 8, "é…é");
        assert_eq!(one_line("a\nb", 1, Labels::Exact), "a\nb");
    }
}
