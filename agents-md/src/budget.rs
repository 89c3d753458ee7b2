//! How much of each of a project's files is kept.

use crate::{
    discovery::BudgetOrder,
    draft::{Draft, Keep},
    outcome::Budget,
};

/// Where to cut `text` so that at most `allowance` bytes of it are kept.
///
/// The cut is after a line, if that keeps at least half of what it may, else before a character.
pub(crate) fn cut_point(text: &str, allowance: usize) -> usize {
    let mut end = allowance.min(text.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    match text[..end].rfind('\n') {
        Some(newline) if (newline + 1) * 2 >= end => newline + 1,
        _ => end,
    }
}

/// Fits one environment's files, the root's first, into `max_bytes` together.
///
/// The file that does not fit is cut, and those after it in `order` are dropped, so that no text is
/// kept that is less wanted than one that was cut.
pub(crate) fn fit_project(drafts: &mut [Draft], max_bytes: usize, order: BudgetOrder) {
    let mut remaining = max_bytes;
    let mut fill = |draft: &mut Draft| {
        let kept = draft.limit(remaining, Budget::Project);
        remaining = match draft.keep {
            Keep::Whole => remaining - kept,
            Keep::Cut(..) | Keep::Dropped(_) => 0,
        };
    };
    match order {
        BudgetOrder::NearestFirst => drafts.iter_mut().rev().for_each(&mut fill),
        BudgetOrder::RootFirst => drafts.iter_mut().for_each(&mut fill),
    }
}
