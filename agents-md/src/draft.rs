//! A text on its way into the instructions: what there is of it, and how much is kept.

use std::{path::PathBuf, sync::Arc};

use crate::{
    budget::cut_point,
    decode::DecodeReport,
    layout::{Labels, one_line},
    outcome::{Budget, Outcome},
};

const MAX_PATH_BYTES: usize = 512;

/// How much of a text is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Keep {
    Whole,
    Cut(usize, Budget),
    Dropped(Budget),
}

/// Whether the model is told what was cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Notices {
    Shown,
    /// The reference cuts in silence.
    Silent,
}

#[derive(Clone, Debug)]
pub(crate) struct Draft {
    /// Where its bytes were probed; none for a text that the host gave.
    pub(crate) slot: Option<usize>,
    /// The file, for people and for the model.
    pub(crate) path: Option<PathBuf>,
    /// What to call it where there is no file.
    pub(crate) name: &'static str,
    pub(crate) text: Arc<str>,
    /// The size of the whole text, or of the file where it was not read whole.
    pub(crate) of: u64,
    /// Whether the file has more than was read of it.
    pub(crate) is_head: bool,
    pub(crate) keep: Keep,
    pub(crate) report: Option<DecodeReport>,
}

impl Draft {
    /// A text that the host gave.
    pub(crate) fn given(name: &'static str, text: Arc<str>, path: Option<PathBuf>) -> Self {
        Self { slot: None, path, name, of: text.len() as u64, text, is_head: false, keep: Keep::Whole, report: None }
    }

    pub(crate) fn kept_bytes(&self) -> usize {
        match self.keep {
            Keep::Whole => self.text.len(),
            Keep::Cut(kept, _) => kept,
            Keep::Dropped(_) => 0,
        }
    }

    pub(crate) fn is_dropped(&self) -> bool {
        matches!(self.keep, Keep::Dropped(_))
    }

    /// Keeps at most `allowance` bytes, and says how many.
    pub(crate) fn limit(&mut self, allowance: usize, budget: Budget) -> usize {
        let is_cut_before = !matches!(self.keep, Keep::Whole);
        if !is_cut_before && !self.is_head && self.text.len() <= allowance {
            return self.text.len();
        }
        let kept = cut_point(&self.text, allowance.min(self.kept_bytes()));
        self.keep = if self.text[..kept].trim().is_empty() { Keep::Dropped(budget) } else { Keep::Cut(kept, budget) };
        self.kept_bytes()
    }

    /// What the model reads: the kept text, and a line that says so if it is not all.
    pub(crate) fn shown(&self, notices: Notices) -> Arc<str> {
        match (self.keep, notices) {
            (Keep::Whole, _) | (_, Notices::Silent) => Arc::clone(&self.text),
            (Keep::Dropped(_), Notices::Shown) => omission(&[self]).into(),
            (Keep::Cut(kept, _), Notices::Shown) => {
                let head = &self.text[..kept];
                let line_end = if head.ends_with('\n') { "" } else { "\n" };
                format!("{head}{line_end}{}", self.cut_notice(kept)).into()
            }
        }
    }

    /// How many bytes the line takes that a cut would add.
    pub(crate) fn notice_bytes(&self) -> usize {
        self.cut_notice(self.kept_bytes()).len() + 1
    }

    pub(crate) fn outcome(&self) -> Outcome {
        match self.keep {
            Keep::Whole => Outcome::Loaded { bytes: self.of },
            Keep::Cut(kept, budget) => Outcome::Cut { kept: kept as u64, of: self.of, budget },
            Keep::Dropped(budget) => Outcome::DroppedByBudget { of: self.of, budget },
        }
    }

    fn cut_notice(&self, kept: usize) -> String {
        format!("[AGENTS.md: {kept} of {} bytes of {} are shown, the rest did not fit]", self.of, self.title())
    }

    fn title(&self) -> String {
        match &self.path {
            Some(path) => one_line(&path.to_string_lossy(), MAX_PATH_BYTES, Labels::Capped).into_owned(),
            None => self.name.to_owned(),
        }
    }
}

/// The line that stands for texts of which nothing is kept; the first one is named.
pub(crate) fn omission(dropped: &[&Draft]) -> String {
    let of: u64 = dropped.iter().map(|draft| draft.of).sum();
    let title = dropped.first().map(|draft| draft.title()).unwrap_or_default();
    match dropped.len() {
        0 | 1 => format!("[AGENTS.md: {title} ({of} bytes) is left out, it did not fit]"),
        n => format!("[AGENTS.md: {title} and {} more ({of} bytes) are left out, they did not fit]", n - 1),
    }
}
