//! The trait of everything that a host puts into a model's context.

use std::{borrow::Cow, fmt::Debug};

use crate::{
    Bound, ContextItem, Error, Kind, Limit, MarkerRoom, Markers, Overflow, Part, Role, WireItem, cut_middle,
    estimate_tokens, neutralise,
};

/// In whose place a fragment speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(clippy::exhaustive_enums, reason = "the wire has no third role for context")]
pub enum FragmentRole {
    /// The user's.
    User,
    /// The host's own.
    Developer,
}

impl From<FragmentRole> for Role {
    fn from(role: FragmentRole) -> Self {
        match role {
            FragmentRole::User => Self::User,
            FragmentRole::Developer => Self::Developer,
        }
    }
}

/// A typed piece of context that renders into one content part.
///
/// A fragment says what it is ([`content_kind`](Self::content_kind)), in whose place it speaks and what it says.
/// [`render`](Self::render) frames the body with the markers, keeps it inside the bound, and takes care that the body
/// cannot end its own frame.
///
/// # Example
/// ```
/// use std::borrow::Cow;
/// use context_fragments::{ContextualUserFragment, FragmentRole, Kind, Markers};
///
/// #[derive(Debug)]
/// struct Deadline(String);
///
/// impl ContextualUserFragment for Deadline {
///     fn role(&self) -> FragmentRole { FragmentRole::Developer }
///     fn content_kind(&self) -> Kind { Kind::from_static("planner.deadline") }
///     fn markers(&self) -> Markers<'_> { Self::type_markers() }
///     fn body(&self) -> Cow<'_, str> { Cow::Borrowed(&self.0) }
///     fn type_markers() -> Markers<'static> { Markers::new("<deadline>", "</deadline>") }
/// }
///
/// let rendered = Deadline("Friday</deadline> or never".into()).render()?;
/// assert_eq!(rendered.text(), r"<deadline>Friday<\/deadline> or never</deadline>");
/// assert!(Deadline::matches_text(rendered.text()));
/// # Ok::<(), context_fragments::Error>(())
/// ```
pub trait ContextualUserFragment: Debug + Send + Sync {
    /// In whose place the fragment speaks.
    fn role(&self) -> FragmentRole;

    /// What the fragment is; stable for ever.
    fn content_kind(&self) -> Kind;

    /// The frame of this fragment.
    fn markers(&self) -> Markers<'_>;

    /// What stands between the markers, with the white space that is wanted next to them.
    fn body(&self) -> Cow<'_, str>;

    /// The texts that may not stand in the body as they are, since the frame would end there: the end marker.
    fn closers(&self) -> Vec<Cow<'_, str>> {
        let end = self.markers().end;
        if end.is_empty() { Vec::new() } else { vec![Cow::Borrowed(end)] }
    }

    /// Says that no other fragment may share the message once the conversation runs. It may by default.
    fn requires_separate_message(&self) -> bool {
        false
    }

    /// How large the rendering may be, and what happens above that.
    fn bound(&self) -> Bound {
        Bound::FRAGMENT
    }

    /// Renders the fragment inside its bound.
    ///
    /// # Errors
    /// [`Error::FragmentTooLarge`] if the bound refuses; nothing is cut then.
    fn render(&self) -> Result<RenderedFragment, Error> {
        let (body, markers, bound) = (self.body(), self.markers(), self.bound());
        let (body, neutralised) = neutralise(&body, &self.closers());
        let frame_bytes = markers.start.len() + markers.end.len();
        let of_bytes = frame_bytes + body.len();
        let body = if of_bytes <= bound.max_bytes() {
            body
        } else if bound.overflow == Overflow::Refuse {
            let tokens = estimate_tokens(of_bytes);
            return Err(Error::FragmentTooLarge { kind: self.content_kind(), tokens, max_tokens: bound.max_tokens });
        } else {
            let room = bound.max_bytes().saturating_sub(frame_bytes) / crate::BYTES_PER_TOKEN;
            Cow::Owned(cut_middle(&body, Limit::Tokens(room), MarkerRoom::Inside).into_owned())
        };
        let text = [markers.start, &body, markers.end].concat();
        let report = RenderReport {
            cut: (text.len() < of_bytes).then_some(RenderCut { kept_bytes: text.len(), of_bytes }),
            neutralised,
            is_large: estimate_tokens(text.len()) > Bound::LARGE_TOKENS,
        };
        let separate = self.requires_separate_message();
        Ok(RenderedFragment { role: self.role(), kind: self.content_kind(), text, separate, report })
    }

    /// The frame by which fragments of this type are recognised in text.
    fn type_markers() -> Markers<'static>
    where
        Self: Sized;

    /// Says whether `text` looks like a fragment of this type; only for logs that carry no kinds.
    #[must_use]
    fn matches_text(text: &str) -> bool
    where
        Self: Sized,
    {
        Self::type_markers().matches(text)
    }
}

/// A fragment as the model reads it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RenderedFragment {
    role: FragmentRole,
    kind: Kind,
    text: String,
    separate: bool,
    report: RenderReport,
}

impl RenderedFragment {
    /// In whose place it speaks.
    #[must_use]
    pub const fn role(&self) -> FragmentRole {
        self.role
    }

    /// What it is.
    #[must_use]
    pub const fn kind(&self) -> &Kind {
        &self.kind
    }

    /// What the model reads.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Says that no other fragment may share its message once the conversation runs.
    #[must_use]
    pub const fn is_separate(&self) -> bool {
        self.separate
    }

    /// What rendering did to the body.
    #[must_use]
    pub const fn report(&self) -> &RenderReport {
        &self.report
    }
}

/// What rendering did to a body.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct RenderReport {
    /// The cut, if the fragment was over its bound.
    pub cut: Option<RenderCut>,
    /// How many closing texts inside the body were neutralised.
    pub neutralised: usize,
    /// Says that the rendering has more than [`Bound::LARGE_TOKENS`].
    pub is_large: bool,
}

/// A cut that kept a rendering inside its bound.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct RenderCut {
    /// The bytes that the model reads, with the marker of the cut.
    pub kept_bytes: usize,
    /// The bytes that it would read without a bound.
    pub of_bytes: usize,
}

/// Puts rendered fragments into messages, in their order.
///
/// Neighbours of one role share a message, one `input_text` each. Kinds stay beside their parts. Nothing is moved or
/// dropped. Which fragments come together is the caller's choice: one that asks for a message of its own
/// ([`RenderedFragment::is_separate`]) is given here alone.
#[must_use]
pub fn bundle(fragments: &[RenderedFragment]) -> Vec<ContextItem> {
    fragments
        .chunk_by(|left, right| left.role == right.role)
        .filter_map(|group| {
            let role = group.first()?.role;
            let parts: Vec<_> = group.iter().map(|fragment| Part::InputText(&fragment.text)).collect();
            let kinds: Vec<_> = group.iter().map(|fragment| fragment.kind.clone()).collect();
            Some(ContextItem::new(WireItem::message(role.into(), &parts), kinds))
        })
        .collect()
}
