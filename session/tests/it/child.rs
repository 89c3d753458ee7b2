//! What a test that runs as a child says to the one that started it, and hears from it.

use std::io::Write as _;

pub(crate) fn say(word: &str) {
    let mut out = std::io::stdout().lock();
    writeln!(out, "child: {word}").unwrap();
    out.flush().unwrap();
}

pub(crate) fn input() -> String {
    let mut line = String::new();
    std::io::stdin().read_line(&mut line).unwrap();
    line.trim_end().to_owned()
}
