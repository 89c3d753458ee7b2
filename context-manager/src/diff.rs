//! Where two prompts differ first.

use std::fmt;

use crate::{Binding, Broken, Place, Prompt, PromptItem, Proof, Provenance, ValueProof};

/// Where two prompts differ first, where both sides come from, and what it costs.
///
/// Unlike a [`Proof`] it also says what the first new item of a prompt is that extends another one.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct PromptDiff {
    /// The first difference: the first item that is new, if the later prompt extends the earlier one.
    pub place: Place,
    /// The first member of the item that differs.
    pub field: Option<String>,
    /// The first byte that differs, counted from the start of the item or part.
    pub byte: usize,
    /// Where the item of the earlier prompt came from; none for a part, and where the earlier prompt ends.
    pub before: Option<Provenance>,
    /// Where the item of the later prompt came from; none for a part, and where the later prompt ends.
    pub after: Option<Provenance>,
    /// The items that both have, from the start on.
    pub shared: usize,
    /// The tokens of items that were sent before and are sent again, because a cache cannot serve them any more.
    pub tokens_resent: u64,
    /// The tokens of the items behind those that the earlier prompt has.
    pub tokens_new: u64,
    /// Whether the values are the same where the bytes are not.
    pub values: ValueProof,
}

impl fmt::Display for PromptDiff {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { place, byte, shared, tokens_resent, tokens_new, .. } = self;
        write!(f, "{shared} items are shared; the first difference is in {place} at byte {byte}")?;
        if let Some(field) = &self.field {
            write!(f, ", field `{field}`")?;
        }
        let side = |f: &mut fmt::Formatter<'_>, name: &str, side: &Option<Provenance>| match side {
            None => Ok(()),
            Some(Provenance { origin, position, .. }) => {
                write!(f, ", {name} from {origin:?}")?;
                position.map_or(Ok(()), |position| write!(f, " at position {position}"))
            }
        };
        side(f, "before", &self.before)?;
        side(f, "after", &self.after)?;
        write!(f, "; {tokens_resent} tokens are sent again and {tokens_new} are new")
    }
}

/// Compares two prompts of any histories; none if every byte is the same.
///
/// # Example
/// ```
/// use context_fragments::{ContextItem, Limit};
/// use context_manager::{ContextManager, Model, Parts, Place, Profile, Recording, TruncationPolicy, diff};
///
/// let recording = Recording::new(TruncationPolicy::new(Limit::Tokens(10_000)));
/// let (parts, profile) = (Parts::new(Model::new("m1")), Profile::responses());
/// let mut manager = ContextManager::new();
/// manager.record_items([ContextItem::user_text("one")], &recording)?;
/// let first = manager.for_prompt(&parts, &profile);
/// assert_eq!(diff(&first, &first), None);
/// manager.record_items([ContextItem::user_text("two")], &recording)?;
/// let found = diff(&first, &manager.for_prompt(&parts, &profile)).expect("an item was added");
/// assert_eq!((found.place, found.tokens_resent, found.tokens_new), (Place::Item(1), 0, 1));
/// # Ok::<(), context_manager::Error>(())
/// ```
#[must_use]
pub fn diff(before: &Prompt, after: &Prompt) -> Option<PromptDiff> {
    let n_before = before.items().len();
    let tokens_from =
        |start: usize| after.items().iter_from(start).map(PromptItem::tokens).fold(0, u64::saturating_add);
    match after.compare(before) {
        Proof::First | Proof::Identical => None,
        Proof::Extends { shared, .. } => Some(PromptDiff {
            place: Place::Item(shared),
            field: None,
            byte: 0,
            before: None,
            after: after.items().get(shared).map(|item| item.provenance()),
            shared,
            tokens_resent: 0,
            tokens_new: tokens_from(shared),
            values: ValueProof::Extends,
        }),
        Proof::Broken(broken) => {
            let Broken { place, field, byte, before: lost, after: found, .. } = *broken;
            // A part stands before every item.
            let shared = match place {
                Place::Part(_) => n_before,
                Place::Item(index) => index,
            };
            let first_resent = if broken.parts.is_empty() { shared } else { 0 };
            let tokens_new = tokens_from(n_before.max(shared));
            Some(PromptDiff {
                place,
                field,
                byte,
                before: lost,
                after: found,
                shared,
                tokens_resent: tokens_from(first_resent).saturating_sub(tokens_new),
                tokens_new,
                values: after.compare_values(before, &Binding::ALL),
            })
        }
    }
}
