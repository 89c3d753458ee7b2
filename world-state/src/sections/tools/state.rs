//! The tools that the model can call now.

use std::sync::Arc;

use context_fragments::json::{Json, ObjectWriter};
use context_fragments::{
    ContextItem, Error as FragmentError, IncrementalToolsUpdate, Kind, NamespaceInstructions, RemovedTools, WireItem,
};

use super::diff::{ToolSetDiff, ToolSetSnapshot};
use super::set::{Declaration, ToolSet, array};
use crate::previous::PreviousSectionState;
use crate::section::{SectionDiff, Volatility, WorldStateSection};
use crate::update::Placement;

static KINDS: [Kind; 4] = [Kind::TOOLS_DECLARED, Kind::TOOLS_UPDATE, Kind::TOOLS_NAMESPACE, Kind::TOOLS_REMOVED];
static RETAINED_KINDS: [Kind; 1] = [Kind::TOOLS_DECLARED];

/// Declares tools in the history, for providers that take them there; a change declares only what changed.
///
/// Tools that go with each request as its own part need no section: a [`ToolSet`] keeps their bytes the same, and
/// [`ToolSet::diff_from`] says what a change is.
///
/// # Shape
/// The stored state is a [`ToolSetSnapshot`]. What is said, in this order: declarations, as one item of the type
/// `additional_tools` in the prefix; what a namespace says about itself, where only that changed; what is gone.
///
/// # Example
/// ```
/// use context_fragments::{Kind, RetainedKinds};
/// use world_state::{ToolSet, ToolsState, WorldState};
///
/// let grep = r#"{"type":"function","name":"grep"}"#;
/// let mut world = WorldState::new();
/// world.set(ToolsState::new(ToolSet::parse([grep, r#"{"type":"function","name":"ls"}"#])?))?;
/// let told = world.render_full()?.snapshot;
///
/// world.set(ToolsState::new(ToolSet::parse([grep])?))?;
/// let diff = world.render_diff(Some(&told), &RetainedKinds::from_iter([&Kind::TOOLS_DECLARED]))?;
/// assert_eq!(
///     diff.updates[0].text(),
///     Some("The following tools are no longer available. Do not call them:\n- ls"),
/// );
/// # Ok::<(), world_state::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolsState {
    tools: ToolSet,
}

/// Whether what is declared comes on top of something.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Catalogue {
    Fresh,
    Incremental,
}

impl ToolsState {
    /// Takes the tools that can be called.
    #[must_use]
    pub const fn new(tools: ToolSet) -> Self {
        Self { tools }
    }

    fn diff(
        &self,
        previous: PreviousSectionState<'_, Arc<ToolSetSnapshot>>,
    ) -> Result<SectionDiff<Arc<ToolSetSnapshot>>, FragmentError> {
        let now = self.tools.shared_snapshot();
        if previous.known() == Some(now) {
            return Ok(SectionDiff::keep());
        }
        let none = Arc::default();
        let (told, catalogue) = match previous.known() {
            Some(told) => (told, Catalogue::Incremental),
            None => (&none, Catalogue::Fresh),
        };
        let changes = now.diff_from(told);
        let mut diff = self.declare(SectionDiff::set(Arc::clone(now)), &changes, catalogue)?;
        for tool in self.tools.declarations().iter().filter(|tool| is_header_only(tool, &changes)) {
            diff = diff.tell(&NamespaceInstructions::new(tool.name.as_ref(), tool.description()));
        }
        let (namespaces, tools) = told.split_removed(&changes);
        if !namespaces.is_empty() || !tools.is_empty() {
            diff = diff.tell(&RemovedTools::new(namespaces, tools));
        }
        Ok(diff)
    }

    /// Says the declarations that changed.
    fn declare(
        &self,
        diff: SectionDiff<Arc<ToolSetSnapshot>>,
        changes: &ToolSetDiff,
        catalogue: Catalogue,
    ) -> Result<SectionDiff<Arc<ToolSetSnapshot>>, FragmentError> {
        let is_new = |name: &str| is_listed(&changes.added, name) || is_listed(&changes.changed, name);
        let wanted = |tool: &&Declaration| match tool.members() {
            None => is_new(&tool.name),
            Some(members) => is_listed(&changes.added, &tool.name) || members.iter().any(|member| is_new(member)),
        };
        let declared: Vec<&Declaration> = self.tools.declarations().iter().filter(wanted).collect();
        if declared.is_empty() {
            return Ok(diff);
        }
        let has_namespace = declared.iter().any(|tool| tool.members().is_some());
        let diff = if catalogue == Catalogue::Incremental && has_namespace {
            diff.tell_at(Placement::Prefix, &IncrementalToolsUpdate)
        } else {
            diff
        };
        let tools = array(declared.into_iter().map(|tool| match tool.members() {
            None => tool.json().to_owned(),
            Some(_) => tool.json_with_members(is_new),
        }));
        let mut item = ObjectWriter::new();
        item.string("type", "additional_tools").string("role", "developer").raw("tools", &tools);
        let item = WireItem::from_json(Json::parse(&item.finish())?)?;
        Ok(diff.item(Placement::Prefix, ContextItem::new(item, [Kind::TOOLS_DECLARED])))
    }
}

/// Whether of a namespace only what it says about itself changed.
fn is_header_only(tool: &Declaration, changes: &ToolSetDiff) -> bool {
    let is_new = |name: &Arc<str>| is_listed(&changes.added, name) || is_listed(&changes.changed, name);
    tool.members().is_some_and(|members| is_listed(&changes.changed, &tool.name) && !members.iter().any(is_new))
}

/// Whether a list of a diff has the name; the lists are sorted.
fn is_listed(names: &[Arc<str>], name: &str) -> bool {
    names.binary_search_by(|listed| listed.as_ref().cmp(name)).is_ok()
}

impl WorldStateSection for ToolsState {
    const ID: &'static str = "tools";
    const VOLATILITY: Volatility = Volatility::PerSession;
    type Snapshot = Arc<ToolSetSnapshot>;

    fn render_diff(
        &self,
        previous: PreviousSectionState<'_, Arc<ToolSetSnapshot>>,
    ) -> SectionDiff<Arc<ToolSetSnapshot>> {
        self.diff(previous).unwrap_or_else(SectionDiff::refuse)
    }

    fn kinds(&self) -> &[Kind] {
        &KINDS
    }

    // An empty set declares nothing, so nothing of it can be lost.
    fn retained_kinds(&self) -> &[Kind] {
        if self.tools.declarations().is_empty() { &[] } else { &RETAINED_KINDS }
    }
}
