//! A bar on standard error while a long file is read.

use std::io::{IsTerminal, stderr};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use session::rollout::Progress;

/// Below this, reading is over before a bar could be seen.
const LONG: u64 = 32 * 1024 * 1024;

/// A bar that shows itself for long files, and only to a person at a terminal.
pub(crate) struct Bar {
    bar: Option<ProgressBar>,
    is_asked: bool,
}

impl Bar {
    pub(crate) fn new() -> Self {
        Self { bar: None, is_asked: stderr().is_terminal() }
    }

    pub(crate) fn tell(&mut self, progress: Progress) {
        if !self.is_asked || progress.total < LONG {
            return;
        }
        let bar = self.bar.get_or_insert_with(|| {
            let bar = ProgressBar::with_draw_target(Some(progress.total), ProgressDrawTarget::stderr());
            // The words of the template are fixed, so it is always read; without one, the bar has another look.
            match ProgressStyle::with_template("{bar:40} {bytes}/{total_bytes} {eta}") {
                Ok(style) => bar.with_style(style),
                Err(_) => bar,
            }
        });
        bar.set_position(progress.done);
    }
}

impl Drop for Bar {
    fn drop(&mut self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}
