//! All that the model should know now, and what of it is to be said.

use std::any::TypeId;
use std::fmt;
use std::ptr;
use std::sync::Arc;

use context_fragments::RetainedKinds;

use crate::entry::Entry;
use crate::erased::{Basis, ErasedSection, Rendered};
use crate::error::Error;
use crate::extension::ExtensionSection;
use crate::section::WorldStateSection;
use crate::sections::PermissionsState;
use crate::snapshot::{Stored, WorldStateSnapshot};
use crate::update::Update;
use crate::warning::Warning;

/// The section by closure that has a place of its own.
const HOST_SKILLS: &str = "host_skills";

/// Holds the sections in the order in which they were added, and says what of them the model does not know yet.
///
/// It lives as long as a session. Setting a section that is equal to the one that stands costs a comparison, and
/// rendering a world of which everything was told costs two: neither allocates, whatever is in the sections.
///
/// The world only proposes. What the model was told is the snapshot that the caller hands in: it stores the new one
/// after the messages are in its history, and where it does not, the same is said again.
///
/// # Example
/// ```
/// use context_fragments::{Kind, RetainedKinds, UserInstructions};
/// use world_state::{AgentsMdState, WorldState};
///
/// let mut world = WorldState::new();
/// world.set(AgentsMdState::new(Some(UserInstructions::new(Some("/r".into()), "Use tabs."))))?;
/// let told = world.render_full()?.snapshot;
///
/// let mut history = RetainedKinds::new();
/// history.insert(&Kind::AGENTS_MD);
/// assert!(world.render_diff(Some(&told), &history)?.updates.is_empty());
/// # Ok::<(), world_state::Error>(())
/// ```
#[derive(Clone, Default)]
pub struct WorldState {
    slots: Vec<Slot>,
    /// The last answer was "nothing to say" to this question.
    settled: Option<(WorldStateSnapshot, RetainedKinds)>,
    /// Where the next section is looked for first: a host sets them in the same order at every step.
    cursor: usize,
}

/// One section and the last question to which it had nothing to say.
#[derive(Clone)]
struct Slot {
    id: Arc<str>,
    /// The type of a typed section, which has one id; none for sections by closure, which have an id each.
    type_id: Option<TypeId>,
    section: Arc<dyn ErasedSection>,
    settled: Option<Question>,
    /// Where its stored state was found the last time.
    last_position: usize,
}

/// What a section is asked: what to say against this.
#[derive(Clone)]
struct Question {
    basis: Basis,
    stored: Option<Arc<Entry>>,
}

/// What stands where a section belongs.
enum Standing {
    Nothing,
    Equal(usize),
    Other(usize),
}

/// Says what became of a section that was set.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[expect(clippy::exhaustive_enums, reason = "a section is new, other or the same; there is no fourth")]
pub enum SetOutcome {
    /// The world had no section of this id; it stands last, or where [`WorldState::set_extension`] says.
    Added,
    /// It stands in the place of the one that was there.
    Replaced,
    /// It is equal to the one that stands; nothing moved.
    Unchanged,
}

/// Holds what is to be said, and the state to store once it was.
#[derive(Debug, Clone)]
#[non_exhaustive]
#[must_use]
pub struct WorldStateDiff {
    /// The state to store after the updates are in the history. Where nothing moved it
    /// [is](WorldStateSnapshot::is_same) the one that was handed in.
    pub snapshot: WorldStateSnapshot,
    /// What is to be said, in the order of the sections.
    pub updates: Vec<Update>,
    /// What did not stop the rendering and should be known.
    pub warnings: Vec<Warning>,
}

impl WorldState {
    /// Makes a world without sections.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Puts `section` in the place of the one of its type, or at the end.
    ///
    /// # Errors
    /// [`Error::DuplicateId`] if a section of another type has its id. Nothing moved.
    pub fn set<S: WorldStateSection>(&mut self, section: S) -> Result<SetOutcome, Error> {
        let standing = self.standing(self.position_of::<S>(), &section)?;
        Ok(self.put(standing, Some(TypeId::of::<S>()), || Arc::new(section)))
    }

    /// Puts `section` in the place of the one of its type, as [`set`](Self::set) does.
    ///
    /// A host that keeps its sections between steps hands in the same one again, which costs a comparison of pointers.
    ///
    /// # Errors
    /// [`Error::DuplicateId`] if a section of another type has its id. Nothing moved.
    pub fn set_shared<S: WorldStateSection>(&mut self, section: &Arc<S>) -> Result<SetOutcome, Error> {
        let is_same = |slot: &Slot| ptr::addr_eq(Arc::as_ptr(&slot.section), Arc::as_ptr(section));
        if self.slots.get(self.cursor).is_some_and(is_same) {
            self.look_behind(self.cursor);
            return Ok(SetOutcome::Unchanged);
        }
        let standing = match self.position_of::<S>() {
            Some(position) if is_same(&self.slots[position]) => Standing::Equal(position),
            position => self.standing(position, section.as_ref())?,
        };
        Ok(self.put(standing, Some(TypeId::of::<S>()), || Arc::<S>::clone(section)))
    }

    /// Puts a section with a run-time id in the place of the one with that id, or at the end; a new one of the id
    /// `host_skills` before the permissions, if there are some.
    ///
    /// # Errors
    /// [`Error::DuplicateId`] if a typed section has its id. Nothing moved.
    pub fn set_extension(&mut self, section: ExtensionSection) -> Result<SetOutcome, Error> {
        let standing = self.standing(self.position(section.id()), &section)?;
        Ok(self.put(standing, None, || Arc::new(section)))
    }

    /// Takes the section `id` out; says whether there was one.
    ///
    /// Its stored state goes with the next rendering, which reports [`Warning::Dropped`]: nobody tells the model. To
    /// take back what was said, keep the section and set its empty form.
    pub fn remove(&mut self, id: &str) -> bool {
        let Some(position) = self.position(id) else { return false };
        self.slots.remove(position);
        self.settled = None;
        true
    }

    /// Renders every section as if nothing had been told, for a window that holds nothing of it.
    ///
    /// # Errors
    /// As [`render_diff`](Self::render_diff).
    pub fn render_full(&mut self) -> Result<WorldStateDiff, Error> {
        self.render_diff(None, &RetainedKinds::new())
    }

    /// Renders what changed since `previous`, in the order of the sections.
    ///
    /// A section that is equal to what is stored says nothing. A section without a stored state is rendered as unknown
    /// if the history holds one of its kinds, else as absent; a section whose retained kinds are all gone as absent; one
    /// that cannot read its stored state as unknown, with a [`Warning::Unreadable`].
    ///
    /// # Errors
    /// [`Error::Render`], [`Error::VolatilePrefix`], [`Error::NullSnapshot`] and [`Error::Snapshot`] if a section cannot
    /// say or store what it wants to. Then nothing is said at all.
    pub fn render_diff(
        &mut self,
        previous: Option<&WorldStateSnapshot>,
        retained: &RetainedKinds,
    ) -> Result<WorldStateDiff, Error> {
        if let (Some(previous), Some((settled, kinds))) = (previous, &self.settled)
            && settled.is_same(previous)
            && kinds == retained
        {
            return Ok(WorldStateDiff { snapshot: previous.clone(), updates: Vec::new(), warnings: Vec::new() });
        }
        let mut next = Next::new(previous);
        let mut updates = Vec::new();
        let mut warnings = Vec::new();
        let mut n_stored = 0;
        for slot in &mut self.slots {
            let stored = previous.and_then(|previous| previous.entry_near(&slot.id, &mut slot.last_position));
            n_stored += usize::from(stored.is_some());
            let basis = basis(slot.section.as_ref(), stored, retained);
            if slot.settled.as_ref().is_some_and(|settled| settled.is(basis, stored)) {
                continue;
            }
            let Rendered { entry, updates: said, warning } = slot.section.render(&slot.id, basis, stored)?;
            let is_moved = !is_same_entry(entry.as_ref(), stored);
            slot.settled = match &entry {
                Some(entry) if is_moved => Some(Question { basis: Basis::Stored, stored: Some(Arc::clone(entry)) }),
                _ if !is_moved && said.is_empty() => Some(Question { basis, stored: stored.cloned() }),
                _ => None,
            };
            if is_moved {
                next.put(&slot.id, entry);
            }
            updates.extend(said);
            warnings.extend(warning);
        }
        if let Some(previous) = previous.filter(|previous| n_stored < previous.len()) {
            for id in previous.ids().filter(|id| self.position(id).is_none()) {
                warnings.push(Warning::Dropped { section: id.into() });
            }
            next.keep(|id| self.position(id).is_some());
        }
        let snapshot = next.finish();
        let is_settled = updates.is_empty()
            && previous.is_some_and(|previous| previous.is_same(&snapshot))
            && self.slots.iter().all(|slot| slot.settled.is_some());
        self.settled = is_settled.then(|| (snapshot.clone(), retained.clone()));
        Ok(WorldStateDiff { snapshot, updates, warnings })
    }

    /// Returns the section of the type `S`.
    #[must_use]
    pub fn section<S: WorldStateSection>(&self) -> Option<&S> {
        let position = self.position_of::<S>()?;
        self.slots[position].section.as_any().downcast_ref()
    }

    /// Lists the ids of the sections, in their order.
    pub fn ids(&self) -> impl ExactSizeIterator<Item = &str> {
        self.slots.iter().map(|slot| slot.section.id())
    }

    /// Finds what stands at `position`, where `section` belongs.
    fn standing<S: ErasedSection + PartialEq + 'static>(
        &self,
        position: Option<usize>,
        section: &S,
    ) -> Result<Standing, Error> {
        let Some(position) = position else { return Ok(Standing::Nothing) };
        let slot = &self.slots[position];
        match slot.section.as_any().downcast_ref::<S>() {
            None => Err(Error::DuplicateId { id: Arc::clone(&slot.id) }),
            Some(standing) if standing == section => Ok(Standing::Equal(position)),
            Some(_) => Ok(Standing::Other(position)),
        }
    }

    fn put(
        &mut self,
        standing: Standing,
        type_id: Option<TypeId>,
        section: impl FnOnce() -> Arc<dyn ErasedSection>,
    ) -> SetOutcome {
        let (position, outcome) = match standing {
            Standing::Equal(position) => {
                self.look_behind(position);
                return SetOutcome::Unchanged;
            }
            Standing::Nothing => {
                let section = section();
                let position = self.place_of(section.id());
                let id = section.id().into();
                self.slots.insert(position, Slot { id, type_id, section, settled: None, last_position: 0 });
                (position, SetOutcome::Added)
            }
            Standing::Other(position) => {
                let slot = &mut self.slots[position];
                slot.section = section();
                slot.settled = None;
                (position, SetOutcome::Replaced)
            }
        };
        self.settled = None;
        self.look_behind(position);
        outcome
    }

    /// Where a section that is new stands: last, but the skills of the host before the permissions, as the reference
    /// has them, since permissions may speak of what a skill runs.
    fn place_of(&self, id: &str) -> usize {
        let permissions = (id == HOST_SKILLS).then(|| self.position_of::<PermissionsState>()).flatten();
        permissions.unwrap_or(self.slots.len())
    }

    /// Looks for the next section behind this one first.
    fn look_behind(&mut self, position: usize) {
        self.cursor = if position + 1 < self.slots.len() { position + 1 } else { 0 };
    }

    /// Where the section of this type stands, or another one with its id. Types are compared first: that is two numbers.
    fn position_of<S: WorldStateSection>(&self) -> Option<usize> {
        if self.slots.get(self.cursor).is_some_and(|slot| slot.type_id == Some(TypeId::of::<S>())) {
            return Some(self.cursor);
        }
        self.position(S::ID)
    }

    fn position(&self, id: &str) -> Option<usize> {
        if self.slots.get(self.cursor).is_some_and(|slot| slot.id.as_ref() == id) {
            return Some(self.cursor);
        }
        self.slots.iter().position(|slot| slot.id.as_ref() == id)
    }
}

impl fmt::Debug for WorldState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("WorldState").field(&self.ids().collect::<Vec<_>>()).finish()
    }
}

impl Question {
    fn is(&self, basis: Basis, stored: Option<&Arc<Entry>>) -> bool {
        self.basis == basis && is_same_entry(self.stored.as_ref(), stored)
    }
}

fn is_same_entry(left: Option<&Arc<Entry>>, right: Option<&Arc<Entry>>) -> bool {
    match (left, right) {
        (Some(left), Some(right)) => Arc::ptr_eq(left, right),
        (None, None) => true,
        _ => false,
    }
}

fn basis(section: &dyn ErasedSection, stored: Option<&Arc<Entry>>, retained: &RetainedKinds) -> Basis {
    let Some(stored) = stored else {
        return if retained.contains_any(section.kinds()) { Basis::Unknown } else { Basis::Absent };
    };
    let wanted = section.retained_kinds();
    let is_known = wanted.is_empty()
        || (retained.contains_any(wanted)
            && section.needed_kinds(stored).iter().all(|needed| retained.contains(needed)));
    if is_known { Basis::Stored } else { Basis::Absent }
}

/// The state to store: the one that was handed in until a section moves.
struct Next<'a> {
    previous: Option<&'a WorldStateSnapshot>,
    moved: Option<Vec<Stored>>,
}

impl<'a> Next<'a> {
    fn new(previous: Option<&'a WorldStateSnapshot>) -> Self {
        Self { previous, moved: None }
    }

    fn put(&mut self, id: &Arc<str>, entry: Option<Arc<Entry>>) {
        WorldStateSnapshot::put(self.entries(), id, entry);
    }

    fn keep(&mut self, is_kept: impl Fn(&str) -> bool) {
        self.entries().retain(|(id, _)| is_kept(id));
    }

    fn entries(&mut self) -> &mut Vec<Stored> {
        self.moved.get_or_insert_with(|| self.previous.map(WorldStateSnapshot::entries).unwrap_or_default())
    }

    fn finish(self) -> WorldStateSnapshot {
        match self.moved {
            Some(entries) => WorldStateSnapshot::from_sorted(entries),
            None => self.previous.cloned().unwrap_or_default(),
        }
    }
}
