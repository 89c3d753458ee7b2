//! Instruction files of folders that tools reach while the agent works.

use std::{collections::BTreeSet, path::Path, sync::Arc};

use agents_md::{
    AgentsMdManager, InstructionProvenance, LoadedAgentsMd, NestedLoaded, NestedTargets, TrustLevel,
    TurnEnvironmentSelection,
};
use context_fragments::json::Json;
use world_state::{ExtensionSection, NestedAgentsMdState, SectionDiff, WorldState, WorldStateSnapshot};

use crate::{
    Error, Session, Turn,
    commit::{Inner, State},
    options::Host,
    rollout::{RawJson, RolloutItem},
};

/// The section of the world state that remembers which folders were reached. It says nothing to the model.
const REACHED: &str = "agents_md_targets";

/// The record that remembers them before a step does.
pub(crate) const RECORD: &str = "folders_reached";

/// Tools that reach files below the folder that the agent works in.
impl Session {
    /// Notes that a tool has reached a file in the first environment; says whether its folder is a new one.
    ///
    /// The next step reads the instruction files between the root of the project and that folder, and appends those that the
    /// model was not told yet: once in a window, again where a text changed or is gone, and nothing moves. A path that is
    /// not absolute is one below the folder of the environment. The folders are written with whatever is recorded next, so a
    /// resume knows them; in an untrusted project nothing is read.
    ///
    /// It needs [instruction files](crate::SessionOptions::with_instructions), and takes the place of a
    /// [`NestedAgentsMdState`] among the settings.
    pub fn touch(&self, file: impl AsRef<Path>) -> bool {
        self.inner.touch(None, file.as_ref())
    }

    /// The same in the environment of this id; false if there is none.
    pub fn touch_in(&self, environment: &str, file: impl AsRef<Path>) -> bool {
        self.inner.touch(Some(environment), file.as_ref())
    }
}

impl Turn {
    /// Notes that a tool has reached a file, as [`Session::touch`] does; the next step reads what applies there.
    pub fn touch(&self, file: impl AsRef<Path>) -> bool {
        self.inner.touch(None, file.as_ref())
    }
}

impl Inner {
    fn touch(&self, environment: Option<&str>, file: &Path) -> bool {
        let mut state = self.state();
        let State { settings, nested, .. } = &mut *state;
        let place = settings.environments.iter().find(|place| environment.is_none_or(|id| id == place.id()));
        place.is_some_and(|place| nested.touch(place.id(), place.cwd().join(file)))
    }
}

impl State {
    /// The record of folders that were reached since the log was told of them; none where no file of them is ever read.
    pub(crate) fn reached_record(&self, host: &Host) -> Result<Option<RolloutItem>, Error> {
        if self.nested.revision() == self.logged_reached || host.instructions.is_none() {
            return Ok(None);
        }
        let unwritable = |_| Error::misshapen("the folders that were reached", "what JSON can hold");
        let payload = RawJson::parse(&serde_json::to_string(&self.nested).map_err(unwritable)?)?;
        Ok(Some(RolloutItem::Other { type_name: RECORD.into(), version: 1, payload }))
    }
}

/// Reads such a record.
pub(crate) fn read(payload: &RawJson) -> Result<NestedTargets, &'static str> {
    serde_json::from_str(payload.as_str()).map_err(|_| "it is no list of folders")
}

/// What applies in the folders that were reached, as a step found it.
#[derive(Clone, Debug)]
pub(crate) struct Nested {
    loaded: Arc<NestedLoaded>,
    section: Arc<NestedAgentsMdState>,
    reached: ExtensionSection,
    /// What it was read for; it holds as long as these do.
    revision: u64,
    startup: Arc<LoadedAgentsMd>,
    selections: Arc<[TurnEnvironmentSelection]>,
    trust: TrustLevel,
}

impl Nested {
    /// Reads what applies in the folders that were reached, unless `standing` holds it; none where nothing was.
    pub(crate) async fn load(
        standing: Option<Self>,
        manager: &AgentsMdManager,
        startup: &Arc<LoadedAgentsMd>,
        selections: &Arc<[TurnEnvironmentSelection]>,
        trust: TrustLevel,
        targets: &NestedTargets,
    ) -> Result<Option<Self>, Error> {
        if targets.targets().next().is_none() {
            return Ok(None);
        }
        let revision = targets.revision();
        let holds = |standing: &Self| {
            standing.revision == revision
                && standing.trust == trust
                && Arc::ptr_eq(&standing.startup, startup)
                && Arc::ptr_eq(&standing.selections, selections)
        };
        if let Some(standing) = standing.filter(holds) {
            return Ok(Some(standing));
        }
        let loaded = manager.load_nested(startup, selections, trust, targets).await;
        let loaded = loaded.map_err(|source| Error::Instructions { source })?;
        let unwritable = |_| Error::misshapen("the folders that were reached", "what JSON can hold");
        let now = serde_json::to_value(targets).map_err(unwritable)?;
        let reached = ExtensionSection::new(REACHED, move |previous| match previous.known() {
            Some(known) if *known == now => SectionDiff::keep(),
            _ => SectionDiff::set(now.clone()),
        });
        Ok(Some(Self {
            section: Arc::new(section_of(&loaded)),
            loaded: Arc::new(loaded),
            reached,
            revision,
            startup: Arc::clone(startup),
            selections: Arc::clone(selections),
            trust,
        }))
    }

    pub(crate) fn loaded(&self) -> &NestedLoaded {
        &self.loaded
    }

    pub(crate) fn put(&self, world: &mut WorldState) -> Result<(), world_state::Error> {
        world.set_shared(&self.section)?;
        world.set_extension(self.reached.clone())?;
        Ok(())
    }
}

/// Each text by its folder. Two environments may have a folder of the same path: the second one is named with it.
fn section_of(loaded: &NestedLoaded) -> NestedAgentsMdState {
    let mut section = NestedAgentsMdState::new();
    let mut taken = BTreeSet::new();
    for entry in loaded.entries() {
        let InstructionProvenance::Project { environment_id, source_path, .. } = entry.provenance() else { continue };
        let Some(folder) = source_path.parent() else { continue };
        let mut name = folder.to_string_lossy().into_owned();
        if !taken.insert(name.clone()) {
            name = format!("{name} ({environment_id})");
        }
        section = section.with_folder(name, entry.contents());
    }
    section
}

/// The folders that the model's world says were reached; none if it says nothing of them, or nothing that can be read.
pub(crate) fn reached_in(baseline: Option<&WorldStateSnapshot>) -> Option<NestedTargets> {
    serde_json::from_value(baseline?.section(REACHED)?.clone()).ok()
}

/// The same from the details of a checkpoint.
pub(crate) fn reached_in_details(details: Json<'_>) -> Option<NestedTargets> {
    serde_json::from_str(details.member(REACHED)?.as_raw()).ok()
}

/// What the details of a checkpoint say of them, which has no world state that could; none where none was reached.
pub(crate) fn reached_member(targets: &NestedTargets) -> Option<(&'static str, String)> {
    targets.targets().next()?;
    serde_json::to_string(targets).ok().map(|json| (REACHED, json))
}
