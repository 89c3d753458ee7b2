//! Fitting all instructions together into the bound of the message that carries them.

use std::{cmp::Reverse, path::Path, sync::Arc};

use context_fragments::{Bound, ContextualUserFragment as _, UserInstructions, neutralise};

use crate::{
    discovery::BudgetOrder,
    draft::{Draft, Keep, Notices, omission},
    layout::{Home, Labels, LaidOut, MAX_LABEL_BYTES, Piece, SEPARATOR, lay_out},
    outcome::Budget,
};

/// What the message may take, in bytes.
const MAX_FRAGMENT_BYTES: usize = Bound::FRAGMENT.max_bytes();

/// What separators, labels and notices may take of it, so that many small files cannot fill it with them.
const MAX_WRAPPER_BYTES: usize = 4_096;

/// Room for the sentence that precedes the text when it replaces an earlier one.
const REPLACEMENT_NOTICE: &str =
    "These AGENTS.md instructions replace all previously provided AGENTS.md instructions.\n\n";

/// The files of one environment, the root's first.
#[derive(Debug)]
pub(crate) struct Chain<'a> {
    pub(crate) id: &'a Arc<str>,
    pub(crate) cwd: &'a Path,
    pub(crate) drafts: Vec<Draft>,
}

/// All texts, in the order in which the model reads them.
#[derive(Debug, Default)]
pub(crate) struct Drafts<'a> {
    pub(crate) user: Option<Draft>,
    pub(crate) thread: Option<Draft>,
    pub(crate) chains: Vec<Chain<'a>>,
    pub(crate) internal: Vec<Draft>,
}

/// The texts as they are shown, and what they are together.
#[derive(Debug)]
pub(crate) struct Composed {
    pub(crate) laid_out: LaidOut,
    content_bytes: usize,
}

impl Drafts<'_> {
    pub(crate) fn compose(&self, notices: Notices, labels: Labels) -> Composed {
        let shown = |draft: &Draft| draft.shown(notices);
        let heads: Vec<Arc<str>> = [&self.user, &self.thread].into_iter().flatten().map(shown).collect();
        let mut pieces: Vec<(Option<Home<'_>>, Arc<str>)> = Vec::new();
        let mut homeless: Vec<&Draft> = Vec::new();
        for chain in &self.chains {
            // A label costs room, so only an environment that has something to say gets one.
            if chain.drafts.iter().all(Draft::is_dropped) {
                homeless.extend(&chain.drafts);
                continue;
            }
            let home = Some(Home { id: chain.id, cwd: chain.cwd });
            for run in chain.drafts.chunk_by(|a, b| a.is_dropped() && b.is_dropped()) {
                match (run, notices) {
                    ([first, ..], Notices::Shown) if first.is_dropped() => {
                        let dropped: Vec<&Draft> = run.iter().collect();
                        pieces.push((home, omission(&dropped).into()));
                    }
                    (run, _) => {
                        pieces.extend(run.iter().filter(|draft| !draft.is_dropped()).map(|draft| (home, shown(draft))));
                    }
                }
            }
        }
        if notices == Notices::Shown && !homeless.is_empty() {
            pieces.push((None, omission(&homeless).into()));
        }
        pieces.extend(self.internal.iter().map(|draft| (None, shown(draft))));
        let heads: Vec<&str> = heads.iter().map(AsRef::as_ref).collect();
        let pieces: Vec<Piece<'_>> = pieces.iter().map(|(home, text)| Piece { home: *home, text }).collect();
        Composed { laid_out: lay_out(&heads, &pieces, labels), content_bytes: self.all().map(Draft::kept_bytes).sum() }
    }

    /// Cuts, in the order of least use, until the message and its wrapper are within their bounds.
    pub(crate) fn fit(&mut self, order: BudgetOrder) -> LaidOut {
        loop {
            let composed = self.compose(Notices::Shown, Labels::Capped);
            let over = composed.message_bytes().saturating_sub(MAX_FRAGMENT_BYTES);
            let wrapper = composed.laid_out.text.len().saturating_sub(composed.content_bytes);
            let wrapper_over = wrapper.saturating_sub(MAX_WRAPPER_BYTES);
            let is_changed = match (over, wrapper_over) {
                (0, 0) => false,
                (_, 0) => self.cut_least_wanted(order, over),
                (_, wrapper_over) => self.drop_least_wanted(order, wrapper_over),
            };
            if !is_changed {
                return composed.laid_out;
            }
        }
    }

    fn cut_least_wanted(&mut self, order: BudgetOrder, over: usize) -> bool {
        let Some(victim) = self.least_wanted(order) else {
            return false;
        };
        let notice_bytes = if victim.keep == Keep::Whole { victim.notice_bytes() } else { 0 };
        let allowance = victim.kept_bytes().saturating_sub(over + notice_bytes);
        victim.limit(allowance, Budget::Fragment);
        true
    }

    /// Drops texts until at least `over` bytes of the wrapper may have been freed.
    ///
    /// What is counted as freed is never less than what is, so nothing is dropped that could have stayed; the
    /// caller looks again. Looking after each text would be quadratic in a long chain of small files.
    fn drop_least_wanted(&mut self, order: BudgetOrder, over: usize) -> bool {
        const MAX_LABELS_BYTES: usize = 3 * MAX_LABEL_BYTES;
        let mut freed = 0;
        let mut n_homes = self.n_homes();
        while freed < over
            && let Some(victim) = self.least_wanted(order)
        {
            freed += SEPARATOR.len() + if victim.keep == Keep::Whole { 0 } else { victim.notice_bytes() };
            victim.limit(0, Budget::Fragment);
            if self.n_homes() < n_homes {
                n_homes = self.n_homes();
                freed += MAX_LABELS_BYTES;
            }
        }
        freed > 0
    }

    fn n_homes(&self) -> usize {
        self.chains.iter().filter(|chain| !chain.drafts.iter().all(Draft::is_dropped)).count()
    }

    fn all(&self) -> impl Iterator<Item = &Draft> {
        self.user
            .iter()
            .chain(&self.thread)
            .chain(self.chains.iter().flat_map(|chain| &chain.drafts))
            .chain(&self.internal)
    }

    /// The text to cut next: the broadest one first, in the order of the project's files that was asked for.
    fn least_wanted(&mut self, order: BudgetOrder) -> Option<&mut Draft> {
        let project = |chains: &mut Vec<Chain<'_>>| {
            let candidates = chains.iter().enumerate().flat_map(|(chain_idx, chain)| {
                let n_drafts = chain.drafts.len();
                (0..n_drafts)
                    .filter(|&draft_idx| !chain.drafts[draft_idx].is_dropped())
                    .map(move |draft_idx| (n_drafts - draft_idx, chain_idx, draft_idx))
            });
            match order {
                BudgetOrder::NearestFirst => candidates.max(),
                BudgetOrder::RootFirst => {
                    candidates.min_by_key(|&(distance, chain_idx, _)| (distance, Reverse(chain_idx)))
                }
            }
        };
        let project = project(&mut self.chains);
        let is_kept = |draft: &&mut Draft| !draft.is_dropped();
        let project = project.map(|(_, chain_idx, draft_idx)| &mut self.chains[chain_idx].drafts[draft_idx]);
        let user = self.user.as_mut().filter(is_kept);
        let broad = match order {
            BudgetOrder::NearestFirst => user.or(project),
            BudgetOrder::RootFirst => project.or(user),
        };
        broad.or_else(|| self.internal.iter_mut().rev().find(is_kept)).or_else(|| self.thread.as_mut().filter(is_kept))
    }
}

impl Composed {
    /// The size of the rendered message, with room for what may be put before the text.
    fn message_bytes(&self) -> usize {
        let fragment = UserInstructions::new(self.laid_out.directory.clone(), "");
        let markers = UserInstructions::type_markers();
        let frame = markers.start.len() + fragment.body().len() + markers.end.len();
        let text = &self.laid_out.text;
        let at_least = REPLACEMENT_NOTICE.len() + frame + text.len();
        // Neutralising a closing text costs a byte, and each one starts like this. Counting
        // them exactly means a look at every character, so it is left for texts near the bound.
        let at_most = at_least + text.matches("</").count() + fragment.body().matches("</").count();
        if at_most <= MAX_FRAGMENT_BYTES {
            return at_most;
        }
        let closers = fragment.closers();
        at_least + neutralise(text, &closers).1 + neutralise(&fragment.body(), &closers).1
    }
}
