//! Does a prompt extend the one before it, and if not, where and why.

use std::fmt;

use context_fragments::{WireItem, json::Shape};

use crate::{
    EarlyOutput, LateOutput, Log, OutputPlace, PartName, Position, PromptItem, Provenance, Rewrite, Rule, ValueProof,
    prompt::Body, values,
};

/// How a prompt relates to another one that was made before it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "the law has exactly these answers")]
pub enum Proof {
    /// There is nothing to compare with.
    First,
    /// Every byte is the same.
    Identical,
    /// The earlier prompt is a prefix of this one.
    Extends {
        /// The items of the earlier prompt.
        shared: usize,
        /// The items that follow them.
        new: usize,
    },
    /// The earlier prompt is no prefix of this one.
    Broken(Box<Broken>),
}

impl Proof {
    /// Says that a cache that holds the earlier prompt serves all of it.
    #[must_use]
    pub const fn extends(&self) -> bool {
        !matches!(self, Self::Broken(_))
    }

    /// Says that nothing is broken, or that every break has a cause that somebody declared.
    #[must_use]
    pub fn is_legal(&self) -> bool {
        match self {
            Self::Broken(broken) => broken.is_declared(),
            _ => true,
        }
    }

    /// The break.
    #[must_use]
    pub const fn broken(&self) -> Option<&Broken> {
        match self {
            Self::Broken(broken) => Some(broken),
            _ => None,
        }
    }
}

/// Where two prompts differ first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "a prompt has parts and items")]
pub enum Place {
    /// In a part before the items.
    Part(PartName),
    /// In the item with this index, from 0, or where one prompt ends and the other goes on.
    Item(usize),
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Part(name) => write!(f, "part {name}"),
            Self::Item(index) => write!(f, "item {index}"),
        }
    }
}

/// A reason for which a prefix may break.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Declared {
    /// The history was rewritten.
    Rewrite(Rewrite),
    /// The same history is projected in another way.
    Projection(Projection),
    /// The host gave another part.
    Part(PartName),
}

/// Why the same history is projected in another way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Projection {
    /// The model takes other media.
    Modality,
    /// Another model is asked, and reasoning is there for the model that made it only.
    Model,
    /// The profile has other rows.
    Profile,
    /// An output took the place of the synthetic one, or shows before its call since that came, as in the codex profile.
    LateOutput,
}

/// A member that has another sort of value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ShapeChange {
    /// What stood there.
    pub before: Shape,
    /// What stands there now.
    pub after: Shape,
}

/// Where a prompt stops extending the one before it, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Broken {
    /// The first difference. A difference in the items is named before one in a part, which `parts` lists as well.
    pub place: Place,
    /// The first member of the item that differs.
    pub field: Option<String>,
    /// The sorts of its value, where they differ too.
    pub shape_change: Option<ShapeChange>,
    /// The first byte that differs, counted from the start of the item or part.
    pub byte: usize,
    /// Where the item of the earlier prompt came from.
    pub before: Option<Provenance>,
    /// Where the item that stands there now came from; none if this prompt ends there.
    pub after: Option<Provenance>,
    /// What a cache cannot serve any more: the estimate of all items of this prompt from the break on, in tokens.
    pub tokens_resent: u64,
    /// What explains the break at `place`; empty for one that nobody declared.
    pub declared: Vec<Declared>,
    /// The parts that changed. A changed part declares itself.
    pub parts: Vec<PartName>,
    /// Whether the values still stand that bind reasoning, by the [rule](crate::Profile::binding) of the profile; none if
    /// nothing binds it. Where they do, a cache is lost and the reasoning is not.
    pub values: Option<ValueProof>,
}

impl Broken {
    /// Says that somebody declared what broke the prefix.
    #[must_use]
    pub fn is_declared(&self) -> bool {
        !self.declared.is_empty()
    }
}

impl fmt::Display for Broken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the prefix breaks in {} at byte {}", self.place, self.byte)?;
        if let Some(field) = &self.field {
            write!(f, ", field `{field}`")?;
        }
        if let Some(change) = self.shape_change {
            write!(f, " ({} became {})", change.before.name(), change.after.name())?;
        }
        write!(f, ", {} tokens are sent again", self.tokens_resent)?;
        if !self.is_declared() {
            write!(f, ", and nothing declares it")?;
        }
        Ok(())
    }
}

/// Compares `after` with `before`, which was made or sent earlier.
pub(crate) fn compare(before: &Body, after: &Body) -> Proof {
    let parts: Vec<PartName> = after.parts.changed_from(&before.parts).collect();
    let shared = shared_items(&before.items, &after.items);
    // Values are compared only where bytes differ, and only for who asks for it.
    let values = || after.profile.binding.as_ref().map(|binding| values::compare(before, after, shared, binding));
    if let Some(lost) = before.items.get(shared) {
        return Proof::Broken(Box::new(Broken { values: values(), ..item_break(before, after, shared, lost, parts) }));
    }
    if let Some(&part) = parts.first() {
        let (one, two) = (before.parts.text(part), after.parts.text(part));
        return Proof::Broken(Box::new(Broken {
            place: Place::Part(part),
            field: None,
            shape_change: None,
            byte: first_difference(one.as_bytes(), two.as_bytes()),
            before: None,
            after: None,
            tokens_resent: after.items.iter().map(PromptItem::tokens).fold(0, u64::saturating_add),
            declared: parts.iter().copied().map(Declared::Part).collect(),
            parts,
            values: values(),
        }));
    }
    match after.items.len() - shared {
        0 => Proof::Identical,
        new => Proof::Extends { shared, new },
    }
}

/// How many items from the start on are the same, by the links of their chains: equal links mean equal bytes up to there.
pub(crate) fn shared_items(before: &Log<PromptItem>, after: &Log<PromptItem>) -> usize {
    let is_shared = |n_items: usize| {
        let link = |items: &Log<PromptItem>| items.get(n_items.checked_sub(1)?).map(PromptItem::link);
        link(before) == link(after)
    };
    let mut differs = before.len().min(after.len());
    if is_shared(differs) {
        return differs;
    }
    let mut shared = 0;
    while differs - shared > 1 {
        let middle = shared + (differs - shared) / 2;
        if is_shared(middle) {
            shared = middle;
        } else {
            differs = middle;
        }
    }
    shared
}

fn item_break(before: &Body, after: &Body, index: usize, lost: &PromptItem, parts: Vec<PartName>) -> Broken {
    let found = after.items.get(index);
    let (field, shape_change) = found.map_or((None, None), |found| first_field(lost.item(), found.item()));
    Broken {
        place: Place::Item(index),
        field,
        shape_change,
        byte: found.map_or(0, |found| first_difference(lost.item().as_bytes(), found.item().as_bytes())),
        before: Some(lost.provenance()),
        after: found.map(|found| found.provenance()),
        tokens_resent: after.items.iter_from(index).map(PromptItem::tokens).fold(0, u64::saturating_add),
        declared: item_causes(before, after, lost, found),
        parts,
        values: None,
    }
}

/// What explains that `found` stands where `lost` stood.
fn item_causes(before: &Body, after: &Body, lost: &PromptItem, found: Option<&PromptItem>) -> Vec<Declared> {
    let mut causes = Vec::new();
    if took_an_end(before, after, lost, found) {
        let since = after.rewrites.iter().filter(|(version, _)| *version > before.snapshot.history_version());
        causes.extend(since.map(|(_, rewrite)| Declared::Rewrite(*rewrite)));
    }
    let either_has = |wanted: fn(&Rule) -> bool| {
        [Some(lost), found].into_iter().flatten().any(|item| item.provenance().repairs.iter().any(wanted))
    };
    let allowed = |body: &Body| body.parts.model().modalities();
    if allowed(before) != allowed(after) && either_has(|rule| rule.is_about_media()) {
        causes.push(Declared::Projection(Projection::Modality));
    }
    let model = |body: &Body| body.parts.model().name().to_owned();
    if model(before) != model(after) && is_about_reasoning(before, after, lost, found, Rule::ForeignReasoning) {
        causes.push(Declared::Projection(Projection::Model));
    }
    if before.profile != after.profile {
        causes.push(Declared::Projection(Projection::Profile));
    }
    if came_late(before, after, lost, found) {
        causes.push(Declared::Projection(Projection::LateOutput));
    }
    causes
}

/// Says that a rewrite could explain the break: it took `lost` out of the history, or the one end of a pair whose other
/// end shows here. A rewrite explains nothing else.
fn took_an_end(before: &Body, after: &Body, lost: &PromptItem, found: Option<&PromptItem>) -> bool {
    let has = |positions: &[Position], position: Option<Position>| {
        position.is_some_and(|position| positions.binary_search(&position).is_ok())
    };
    let position = lost.provenance().position;
    let is_gone = position.is_some_and(|position| after.snapshot.entry_at(position).is_none());
    // An output was shown, and its call is gone.
    let lost_its_call = has(&after.orphans, position);
    // A call was shown with its own output, and that is gone.
    let lost_its_output = found
        .map(PromptItem::provenance)
        .is_some_and(|found| found.repairs.contains(&Rule::MissingOutput) && !has(&before.closed, found.position));
    // Reasoning was shown, and what it led to is gone.
    let lost_its_follower = is_about_reasoning(before, after, lost, None, Rule::LoneReasoning);
    is_gone || lost_its_call || lost_its_output || lost_its_follower
}

/// Says that `rule` left out the reasoning that shows on one side, or an id behind it.
fn is_about_reasoning(before: &Body, after: &Body, lost: &PromptItem, found: Option<&PromptItem>, rule: Rule) -> bool {
    let left_out = |body: &Body, item: &PromptItem| {
        let position = item.provenance().position;
        position.is_some() && body.repairs.iter().any(|repair| repair.rule() == rule && repair.position() == position)
    };
    let lost_its_id = |item: &PromptItem| item.provenance().repairs.contains(&Rule::IdWithoutReasoning);
    left_out(after, lost)
        || found.is_some_and(|found| left_out(before, found) || lost_its_id(found))
        || lost_its_id(lost)
}

/// Says that a synthetic output is no longer needed, or that an output without a call has found one, where the profile
/// lets that show at its place.
fn came_late(before: &Body, after: &Body, lost: &PromptItem, found: Option<&PromptItem>) -> bool {
    let was_synthetic =
        after.profile.late_output == LateOutput::Replace && lost.provenance().repairs.contains(&Rule::MissingOutput);
    let was_orphan = after.profile.early_output == EarlyOutput::Keep
        && found
            .and_then(|found| found.provenance().position)
            .is_some_and(|position| before.orphans.binary_search(&position).is_ok());
    // Where outputs are grouped, those of the calls beside it move with the end of the group.
    let was_regrouped = after.profile.late_output == LateOutput::Replace
        && after.profile.output_place == OutputPlace::Grouped
        && before
            .closed
            .iter()
            .any(|&call| after.closed.binary_search(&call).is_err() && after.snapshot.entry_at(call).is_some());
    was_synthetic || was_orphan || was_regrouped
}

/// The first member in which two items differ, by order, name or value.
fn first_field(before: &WireItem, after: &WireItem) -> (Option<String>, Option<ShapeChange>) {
    let mut befores = before.json().members();
    let mut afters = after.json().members();
    loop {
        let (before, after) = (befores.next(), afters.next());
        if before == after {
            if before.is_none() {
                return (None, None);
            }
            continue;
        }
        let name = before.or(after).and_then(|(key, _)| key.to_str()).map(std::borrow::Cow::into_owned);
        let change = before.zip(after).and_then(|((one_key, one), (two_key, two))| {
            let differs = one_key == two_key && one.shape() != two.shape();
            differs.then(|| ShapeChange { before: one.shape(), after: two.shape() })
        });
        return (name, change);
    }
}

fn first_difference(before: &[u8], after: &[u8]) -> usize {
    before.iter().zip(after).take_while(|(one, two)| one == two).count()
}

/// Fails unless the second prompt extends the first one or is identical to it; for the tests of hosts.
///
/// # Example
/// ```
/// use context_fragments::{ContextItem, Limit};
/// use context_manager::{ContextManager, Model, Parts, Profile, Recording, TruncationPolicy, assert_extends};
///
/// let recording = Recording::new(TruncationPolicy::new(Limit::Tokens(10_000)));
/// let (parts, profile) = (Parts::new(Model::new("m1")), Profile::responses());
/// let mut manager = ContextManager::new();
/// manager.record_items([ContextItem::user_text("one")], &recording)?;
/// let first = manager.for_prompt(&parts, &profile);
/// manager.record_items([ContextItem::user_text("two")], &recording)?;
/// assert_extends!(first, manager.for_prompt(&parts, &profile));
/// # Ok::<(), context_manager::Error>(())
/// ```
#[macro_export]
macro_rules! assert_extends {
    ($before:expr, $after:expr $(,)?) => {{
        let proof = $crate::Prompt::compare(&$after, &$before);
        if let ::core::option::Option::Some(broken) = proof.broken() {
            ::core::panic!("{broken}: {broken:#?}");
        }
    }};
}
