//! Sections of the world state that a host sets beside those of the session.

use std::{fmt, sync::Arc};

use world_state::{SetOutcome, WorldState, WorldStateSection};

type Put = dyn Fn(&mut WorldState) -> Result<SetOutcome, world_state::Error> + Send + Sync;

/// One section, shared with the world state, so that an unchanged one costs a comparison of pointers.
#[derive(Clone)]
pub(crate) struct HostSection {
    id: &'static str,
    put: Arc<Put>,
}

impl HostSection {
    pub(crate) fn new<S: WorldStateSection>(section: S) -> Self {
        let section = Arc::new(section);
        Self { id: S::ID, put: Arc::new(move |world| world.set_shared(&section)) }
    }

    pub(crate) const fn id(&self) -> &'static str {
        self.id
    }

    pub(crate) fn put(&self, world: &mut WorldState) -> Result<(), world_state::Error> {
        (self.put)(world).map(drop)
    }
}

impl fmt::Debug for HostSection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("HostSection").field(&self.id).finish()
    }
}
