//! Whose words a message holds, from what is known beside it.

use crate::{ContentItem, ContextItem, ItemType, Kind, Role, recognise_developer_text, recognise_user_text};

/// Whose words a message holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Author {
    /// A person's.
    User,
    /// The host's: context that a person did not write.
    Context,
    /// Both; nothing of either may be dropped for the other's sake.
    Mixed,
    /// A model's, a tool's, or nobody's.
    Other,
}

/// Why a part counts as what it does.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Reason {
    /// Its kind says so.
    Kind(Kind),
    /// There are no kinds, so it counts as a person's.
    NoKinds,
    /// There are more kinds than parts, or fewer, so they say nothing, and it counts as a person's.
    Misaligned,
    /// There are no kinds, and in an old log its text looks like this.
    LooksLike(Kind),
    /// Its item is no message of a user or a developer.
    Role,
}

/// One part of a message.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct PartAuthor {
    /// Whose words it holds; never [`Author::Mixed`].
    pub author: Author,
    /// Why.
    pub reason: Reason,
}

/// Whose words a message holds, as a whole and part for part.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Classification {
    /// As a whole.
    pub author: Author,
    /// Part for part, in their order.
    pub parts: Vec<PartAuthor>,
}

impl Classification {
    /// Says that a person spoke here, alone or beside the host: the message is shown, and begins a turn.
    #[must_use]
    pub const fn is_of_user(&self) -> bool {
        matches!(self.author, Author::User | Author::Mixed)
    }
}

/// Says whose words a message holds, by its kinds alone.
///
/// What a text looks like is never asked: a person who types something that looks like context stays its author.
///
/// # Source
/// The published classification: without kinds, or with another number of them than of parts, a message is a person's.
///
/// # Example
/// ```
/// use context_fragments::{Author, ContextItem, classify};
///
/// let typed = ContextItem::user_text("<environment_context>hi</environment_context>");
/// assert_eq!(classify(&typed).author, Author::User);
/// ```
#[must_use]
pub fn classify(item: &ContextItem) -> Classification {
    classify_with(item, |_, _| None)
}

/// The same for a message of an old log: one that has no kinds is judged by its text, part for part.
///
/// A message that has kinds is judged by them, as in [`classify`].
#[must_use]
pub fn classify_old(item: &ContextItem) -> Classification {
    classify_with(item, |role, text| match role {
        Role::User => recognise_user_text(text),
        _ => recognise_developer_text(text),
    })
}

fn classify_with(item: &ContextItem, recognise: impl Fn(Role, &str) -> Option<Kind>) -> Classification {
    let parts = item.annotated();
    let role = item.item().role().filter(|_| item.item().item_type() == ItemType::Message);
    let Some(role @ (Role::User | Role::Developer)) = role else {
        let part = PartAuthor { author: Author::Other, reason: Reason::Role };
        return Classification { author: Author::Other, parts: vec![part; parts.len()] };
    };
    // No person speaks as a developer, so there what is not known is the host's.
    let unknown = if role == Role::User { Author::User } else { Author::Context };
    let by_kind = |kind: &Kind| match kind.is_user_authored() {
        true => unknown,
        false => Author::Context,
    };
    let judged = parts.iter().map(|part| match (item.kinds().len(), part.to_text()) {
        (0, Some(text)) => match recognise(role, &text) {
            Some(kind) => PartAuthor { author: Author::Context, reason: Reason::LooksLike(kind) },
            None => PartAuthor { author: unknown, reason: Reason::NoKinds },
        },
        (0, None) => PartAuthor { author: unknown, reason: Reason::NoKinds },
        (n_kinds, _) if n_kinds != parts.len() => PartAuthor { author: unknown, reason: Reason::Misaligned },
        _ => PartAuthor { author: by_kind(part.kind()), reason: Reason::Kind(part.kind().clone()) },
    });
    let judged: Vec<PartAuthor> = judged.collect();
    let has = |author: Author| judged.iter().any(|part| part.author == author);
    let author = match (has(Author::User), has(Author::Context)) {
        (true, true) => Author::Mixed,
        (false, true) => Author::Context,
        (true, false) => Author::User,
        (false, false) => unknown,
    };
    Classification { author, parts: judged }
}

/// What a person sees of an item.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Visible {
    /// What a person said.
    User(Vec<UserInput>),
    /// What hooks said, with the id of the item.
    HookPrompts {
        /// The id of the item.
        id: Option<String>,
        /// The prompts, in their order.
        prompts: Vec<crate::HookPrompt>,
    },
    /// What the model said.
    Agent(String),
}

/// One thing that a person said or showed.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum UserInput {
    /// Words.
    Text(String),
    /// An image, by its address.
    Image(String),
}

/// Says what a person is shown of an item: nothing of context, and of a mixed message the person's own parts.
///
/// # Source
/// The published mapping of items to what is shown, but that a mixed message is not hidden as a whole. The labels around an
/// image are left out where they stand next to one.
#[must_use]
pub fn visible(item: &ContextItem) -> Option<Visible> {
    let parts = item.annotated();
    match (item.item().item_type(), item.item().role()?) {
        (ItemType::Message, Role::Assistant) => {
            let texts: Vec<String> = parts.iter().filter_map(crate::AnnotatedPart::to_text).collect();
            (!texts.is_empty()).then(|| Visible::Agent(texts.concat()))
        }
        (ItemType::Message, Role::User) => {
            let classes = classify_old(item);
            if let Some(prompts) = hook_prompts(&parts, &classes) {
                let id = item.item().item_id().map(std::borrow::Cow::into_owned);
                return Some(Visible::HookPrompts { id, prompts });
            }
            let is_user = |position: usize| classes.parts[position].author == Author::User;
            let inputs = inputs(&parts, is_user);
            (!inputs.is_empty()).then_some(Visible::User(inputs))
        }
        _ => None,
    }
}

/// The prompts of hooks, if the message holds nothing but them and other context.
fn hook_prompts(parts: &[crate::AnnotatedPart], classes: &Classification) -> Option<Vec<crate::HookPrompt>> {
    if classes.author != Author::Context {
        return None;
    }
    let prompts: Vec<_> = parts.iter().filter_map(|part| crate::HookPrompt::parse(&part.to_text()?)).collect();
    (!prompts.is_empty()).then_some(prompts)
}

fn inputs(parts: &[crate::AnnotatedPart], is_user: impl Fn(usize) -> bool) -> Vec<UserInput> {
    let image = |position: Option<usize>| {
        let part = parts.get(position?)?;
        match ContentItem::parse(crate::json::Json::parse(part.as_json()).ok()?) {
            ContentItem::InputImage { image_url, file_id, .. } => {
                image_url.or(file_id).map(std::borrow::Cow::into_owned)
            }
            _ => None,
        }
    };
    let input = |position: usize| {
        if let Some(address) = image(Some(position)) {
            return Some(UserInput::Image(address));
        }
        let text = parts[position].to_text()?;
        let is_label = is_open_label(&text) && image(Some(position + 1)).is_some()
            || text.trim() == "</image>" && image(position.checked_sub(1)).is_some();
        (!is_label).then_some(UserInput::Text(text))
    };
    (0..parts.len()).filter(|&position| is_user(position)).filter_map(input).collect()
}

/// `<image>`, or `<image name=…>`.
fn is_open_label(text: &str) -> bool {
    let inner = text.trim().strip_prefix("<image").and_then(|rest| rest.strip_suffix('>'));
    inner.is_some_and(|rest| rest.is_empty() || rest.starts_with(' ') && !rest.contains('<'))
}
