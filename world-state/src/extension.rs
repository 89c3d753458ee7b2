//! Sections whose id is known only at run time, and a fragment for what they say.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use context_fragments::{ContextualUserFragment, FragmentRole, Kind, Markers};
use serde_json::Value;

use crate::previous::PreviousSectionState;
use crate::section::{SectionDiff, Volatility};

type Render = dyn Fn(PreviousSectionState<'_, Value>) -> SectionDiff<Value> + Send + Sync;

/// Describes a section by a closure, with an id that is known only at run time.
///
/// The closure is asked what to say, like [`WorldStateSection::render_diff`](crate::WorldStateSection::render_diff), with
/// plain JSON for a state. A clone is a reference count. It belongs to one state of affairs: when that changes, set a section with another closure.
///
/// # Example
/// ```
/// use context_fragments::FragmentRole;
/// use serde_json::json;
/// use world_state::{ExtensionSection, SectionDiff, SectionFragment, WorldState};
///
/// let section = ExtensionSection::new("tickets", |previous| {
///     let now = json!({"open": 3});
///     if previous.known() == Some(&now) {
///         return SectionDiff::keep();
///     }
///     SectionDiff::set(now).tell(&SectionFragment::new("tickets", FragmentRole::Developer, "Open tickets: 3"))
/// });
/// let mut world = WorldState::new();
/// world.set_extension(section)?;
/// let diff = world.render_full()?;
/// assert_eq!(diff.snapshot.section("tickets"), Some(&json!({"open": 3})));
/// # Ok::<(), world_state::Error>(())
/// ```
#[derive(Clone)]
pub struct ExtensionSection(Arc<Description>);

#[derive(Clone)]
struct Description {
    id: Arc<str>,
    kinds: Arc<[Kind]>,
    retained_kinds: Arc<[Kind]>,
    volatility: Volatility,
    render: Arc<Render>,
}

impl ExtensionSection {
    /// Makes a section that says parts of the kind `{id}.instructions`, does not look whether they are still there, and
    /// may change per turn.
    #[must_use]
    pub fn new(
        id: impl Into<Arc<str>>,
        render: impl Fn(PreviousSectionState<'_, Value>) -> SectionDiff<Value> + Send + Sync + 'static,
    ) -> Self {
        let id = id.into();
        Self(Arc::new(Description {
            kinds: Arc::new([section_kind(&id)]),
            id,
            retained_kinds: Arc::new([]),
            volatility: Volatility::PerTurn,
            render: Arc::new(render),
        }))
    }

    /// Names the kinds of what it says, where they are others than `{id}.instructions`.
    #[must_use]
    pub fn with_kinds(mut self, kinds: impl Into<Arc<[Kind]>>) -> Self {
        self.change().kinds = kinds.into();
        self
    }

    /// Says everything again where none of its kinds is in the history.
    #[must_use]
    pub fn told_again_when_lost(mut self) -> Self {
        let kinds = Arc::clone(&self.0.kinds);
        self.change().retained_kinds = kinds;
        self
    }

    /// Says how often its state is expected to change.
    #[must_use]
    pub fn with_volatility(mut self, volatility: Volatility) -> Self {
        self.change().volatility = volatility;
        self
    }

    /// Returns the id.
    #[must_use]
    pub fn id(&self) -> &str {
        &self.0.id
    }

    pub(crate) fn kinds(&self) -> &[Kind] {
        &self.0.kinds
    }

    pub(crate) fn retained_kinds(&self) -> &[Kind] {
        &self.0.retained_kinds
    }

    pub(crate) fn volatility(&self) -> Volatility {
        self.0.volatility
    }

    pub(crate) fn render_diff(&self, previous: PreviousSectionState<'_, Value>) -> SectionDiff<Value> {
        (self.0.render)(previous)
    }

    fn change(&mut self) -> &mut Description {
        Arc::make_mut(&mut self.0)
    }
}

/// Equal with the very same closure: two closures cannot be compared.
impl PartialEq for ExtensionSection {
    fn eq(&self, other: &Self) -> bool {
        let (left, right) = (&self.0, &other.0);
        Arc::ptr_eq(left, right)
            || (Arc::ptr_eq(&left.render, &right.render)
                && left.id == right.id
                && left.kinds == right.kinds
                && left.retained_kinds == right.retained_kinds
                && left.volatility == right.volatility)
    }
}

impl fmt::Debug for ExtensionSection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ExtensionSection")
            .field("id", &self.0.id)
            .field("kinds", &self.0.kinds)
            .field("retained_kinds", &self.0.retained_kinds)
            .field("volatility", &self.0.volatility)
            .finish_non_exhaustive()
    }
}

/// Renders a text of a section of one's own, between markers if it has some.
///
/// # Example
/// ```
/// use context_fragments::{ContextualUserFragment, FragmentRole};
/// use world_state::SectionFragment;
///
/// let fragment = SectionFragment::new("tickets", FragmentRole::User, "3").between("<tickets>", "</tickets>");
/// assert_eq!(fragment.content_kind().as_str(), "tickets.instructions");
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SectionFragment {
    kind: Kind,
    role: FragmentRole,
    start: Arc<str>,
    end: Arc<str>,
    body: Arc<str>,
}

impl SectionFragment {
    /// Makes a fragment without markers, of the kind `{section}.instructions`.
    #[must_use]
    pub fn new(section: &str, role: FragmentRole, body: impl Into<Arc<str>>) -> Self {
        Self { kind: section_kind(section), role, start: "".into(), end: "".into(), body: body.into() }
    }

    /// Puts the text between two markers, which stand next to it.
    #[must_use]
    pub fn between(mut self, start: impl Into<Arc<str>>, end: impl Into<Arc<str>>) -> Self {
        self.start = start.into();
        self.end = end.into();
        self
    }

    /// Gives it another kind.
    #[must_use]
    pub fn of_kind(mut self, kind: Kind) -> Self {
        self.kind = kind;
        self
    }
}

impl ContextualUserFragment for SectionFragment {
    fn role(&self) -> FragmentRole {
        self.role
    }

    fn content_kind(&self) -> Kind {
        self.kind.clone()
    }

    fn markers(&self) -> Markers<'_> {
        Markers { start: &self.start, end: &self.end }
    }

    fn body(&self) -> Cow<'_, str> {
        Cow::Borrowed(&self.body)
    }

    /// No text is recognised as one: the markers are known only at run time, and identity is metadata.
    fn type_markers() -> Markers<'static> {
        Markers { start: "", end: "" }
    }
}

fn section_kind(section: &str) -> Kind {
    Kind::new(format!("{section}.instructions"))
}
