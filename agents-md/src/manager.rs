//! The instructions of a session: loaded once, and again when what decides about them has changed.

use std::{
    fmt,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
};

use tokio::sync::watch;

use crate::{
    discover::{discover, discover_blocking, discover_on_host},
    discovery::Discovery,
    document::LoadedAgentsMd,
    error::Error,
    fs::{FileSystem, RemoteFileSystem},
    inputs::{Inputs, ThreadInstructions, TrustLevel, TurnEnvironmentSelection, UserSource},
    provider::{HostInstructions, ProvidedInstructions},
};

/// Loads the instruction files of a session and keeps them until their key changes.
///
/// The key is the list of ready environments and the trust in the project. The content of files is not part of it: an
/// edited file is seen after [`invalidate`](Self::invalidate), or when the key changes. A hit takes one short lock that no
/// input or output is done under, compares by pointer first and allocates nothing; through a [`Held`] it takes no lock.
///
/// Callers that want the same key at the same time share one load. A load that is overtaken, by another key or by an
/// invalidation, still answers its own caller and is not kept. While a load runs, and after one that failed or was
/// cancelled, [`get_loaded`](Self::get_loaded) is empty: no text stays visible under a trust that no longer holds.
///
/// # Example
/// ```
/// use std::sync::Arc;
/// use agents_md::{AgentsMdManager, Discovery, MemoryFs, Refresh, TrustLevel, TurnEnvironmentSelection};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), agents_md::Error> {
/// let fs = MemoryFs::new().with_folder("/r/.git").with_file("/r/AGENTS.md", "Use tabs.");
/// let manager = AgentsMdManager::on_blocking(Discovery::default(), Arc::new(fs));
/// let here: Arc<[_]> = Arc::new([TurnEnvironmentSelection::new("local", "/r")]);
///
/// let first = manager.refresh(&here, TrustLevel::Trusted).await?;
/// let again = manager.refresh(&here, TrustLevel::Trusted).await?;
/// assert_eq!((first.refresh, again.refresh), (Refresh::First, Refresh::Hit));
/// assert!(Arc::ptr_eq(&first.loaded, &again.loaded));
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct AgentsMdManager {
    discovery: Discovery,
    disk: Disk,
    host: HostInstructions,
    thread: Option<ThreadInstructions>,
    /// The number of the newest load or invalidation; changed only under the lock, read also without it.
    generation: Arc<AtomicU64>,
    state: Mutex<State>,
}

/// What a refresh found.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Refreshed {
    /// The instructions that hold for the key that was asked for.
    pub loaded: Arc<LoadedAgentsMd>,
    /// Whether they were there, or why they had to be loaded.
    pub refresh: Refresh,
    generation: u64,
}

/// What one reader got from its last refresh, so that the next one can tell without a lock that nothing changed.
#[derive(Clone, Debug, Default)]
pub struct Held(Option<HeldInstructions>);

#[derive(Clone, Debug)]
struct HeldInstructions {
    selections: Arc<[TurnEnvironmentSelection]>,
    trust: TrustLevel,
    loaded: Arc<LoadedAgentsMd>,
    generation: u64,
    /// Whose generation that is: another manager counts its own.
    of: Arc<AtomicU64>,
}

impl Held {
    /// Holds nothing yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The instructions of the last refresh.
    #[must_use]
    pub fn loaded(&self) -> Option<&Arc<LoadedAgentsMd>> {
        self.0.as_ref().map(|held| &held.loaded)
    }
}

/// Whether a refresh found its instructions, or why it had to load them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Refresh {
    /// The key is the one that stands.
    Hit,
    /// Nothing was loaded before.
    First,
    /// The ready environments are others, or in another order, folder or read access.
    Selections,
    /// The trust in the project changed.
    Trust,
    /// The provider gives other instructions.
    UserInstructions,
    /// The host invalidated what stood.
    Invalidated,
    /// The load before this one failed or was cancelled.
    Retry,
}

impl Refresh {
    /// Says that nothing was loaded.
    #[must_use]
    pub const fn is_hit(self) -> bool {
        matches!(self, Self::Hit)
    }
}

impl fmt::Display for Refresh {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Hit => "nothing that decides has changed",
            Self::First => "nothing was loaded before",
            Self::Selections => "the ready environments changed",
            Self::Trust => "the trust in the project changed",
            Self::UserInstructions => "the user's own instructions changed",
            Self::Invalidated => "they were invalidated",
            Self::Retry => "the load before failed or was cancelled",
        })
    }
}

impl AgentsMdManager {
    /// Manages the files of this machine; each load is one blocking task of the tokio runtime.
    #[must_use]
    pub fn on_host(discovery: Discovery) -> Self {
        Self::over(discovery, Disk::Host)
    }

    /// Manages the files at the other end of a wire.
    #[must_use]
    pub fn on_remote(discovery: Discovery, fs: Arc<dyn RemoteFileSystem>) -> Self {
        Self::over(discovery, Disk::Remote(fs))
    }

    /// Manages the files of a file system that answers at once or blocks; each load is one blocking task.
    #[must_use]
    pub fn on_blocking<F: FileSystem + Send + Sync + 'static>(discovery: Discovery, fs: Arc<F>) -> Self {
        Self::over(
            discovery,
            Disk::Blocking(Arc::new(move |discovery, inputs| discover_blocking(discovery, inputs, &*fs))),
        )
    }

    fn over(discovery: Discovery, disk: Disk) -> Self {
        Self {
            discovery,
            disk,
            host: HostInstructions::default(),
            thread: None,
            generation: Arc::default(),
            state: Mutex::default(),
        }
    }

    /// Says where the user's own instructions come from.
    #[must_use]
    pub fn with_host_instructions(mut self, host: HostInstructions) -> Self {
        self.host = host;
        self
    }

    /// Adds the instructions of this conversation.
    #[must_use]
    pub fn with_thread(mut self, thread: ThreadInstructions) -> Self {
        self.thread = Some(thread);
        self
    }

    /// Gives the instructions for a key, loading them if they are not those that stand.
    ///
    /// Dropping the future leaves nothing loaded and nothing locked; the next call loads.
    ///
    /// # Errors
    /// As [`discover`]: a file that must not be skipped could not be read. Nothing is kept, and the next call tries again.
    pub async fn refresh(
        &self,
        selections: &Arc<[TurnEnvironmentSelection]>,
        trust: TrustLevel,
    ) -> Result<Refreshed, Error> {
        let provided = match &self.host {
            HostInstructions::Provider(provider) => provider.instructions(),
            HostInstructions::Fixed(_) => None,
        };
        loop {
            let entry = self.enter(selections, trust, provided.as_ref());
            let load = match entry {
                Entry::Hit(loaded, generation) => return Ok(Refreshed { loaded, refresh: Refresh::Hit, generation }),
                Entry::Wait(mut done) => {
                    // An error says that the loader is gone, which is just as good a moment to look again.
                    drop(done.changed().await);
                    continue;
                }
                Entry::Load(load) => load,
            };
            let ticket = Ticket { manager: self, number: load.number };
            let loaded = Arc::new(self.load(selections, trust, provided.as_ref()).await?);
            ticket.keep(&loaded);
            return Ok(Refreshed { loaded, refresh: load.reason, generation: load.number });
        }
    }

    /// The same for a reader that keeps what it got: where nothing changed, no lock is taken and no count is touched.
    ///
    /// # Errors
    /// As [`refresh`](Self::refresh). The reader then holds nothing.
    pub async fn refresh_held<'a>(
        &self,
        held: &'a mut Held,
        selections: &Arc<[TurnEnvironmentSelection]>,
        trust: TrustLevel,
    ) -> Result<(&'a Arc<LoadedAgentsMd>, Refresh), Error> {
        let is_current = held.0.as_ref().is_some_and(|held| {
            matches!(self.host, HostInstructions::Fixed(_))
                && Arc::ptr_eq(&held.of, &self.generation)
                && held.generation == self.generation.load(Ordering::Acquire)
                && Arc::ptr_eq(&held.selections, selections)
                && held.trust == trust
        });
        let reason = if is_current {
            Refresh::Hit
        } else {
            held.0 = None;
            let Refreshed { loaded, refresh, generation } = self.refresh(selections, trust).await?;
            let (selections, of) = (Arc::clone(selections), Arc::clone(&self.generation));
            held.0 = Some(HeldInstructions { selections, trust, loaded, generation, of });
            refresh
        };
        match &held.0 {
            Some(held) => Ok((&held.loaded, reason)),
            None => unreachable!("it was current, or was filled just now"),
        }
    }

    /// The instructions that stand; none before the first load, while one runs, and after one that failed.
    #[must_use]
    pub fn get_loaded(&self) -> Option<Arc<LoadedAgentsMd>> {
        self.state().loaded.clone()
    }

    /// Forgets what stands, so that the next refresh reads the files again. A load that runs is not kept.
    pub fn invalidate(&self) {
        let mut state = self.state();
        self.next_generation();
        state.loading = None;
        state.loaded = None;
        state.reason = Some(Refresh::Invalidated);
    }

    /// What a sub-agent starts with: the user's instructions as they were applied here, fixed.
    #[must_use]
    pub fn inherited_instructions(&self) -> HostInstructions {
        let applied = self.get_loaded().and_then(|loaded| {
            let text = loaded.user_text()?.into();
            Some(UserSource::Given { text, source: loaded.user_source().map(Into::into) })
        });
        HostInstructions::Fixed(applied.unwrap_or_default())
    }

    async fn load(
        &self,
        selections: &Arc<[TurnEnvironmentSelection]>,
        trust: TrustLevel,
        provided: Option<&ProvidedInstructions>,
    ) -> Result<LoadedAgentsMd, Error> {
        let user = match (&self.host, provided) {
            (HostInstructions::Fixed(source), _) => source.clone(),
            (HostInstructions::Provider(_), None) => UserSource::Absent,
            (HostInstructions::Provider(_), Some(provided)) => {
                UserSource::Given { text: Arc::clone(&provided.text), source: provided.source.as_deref().cloned() }
            }
        };
        let mut inputs = Inputs::new(Arc::clone(selections)).with_trust(trust).with_user(user);
        inputs.thread.clone_from(&self.thread);
        match &self.disk {
            Disk::Host => discover_on_host(self.discovery.clone(), inputs).await,
            Disk::Remote(fs) => discover(&self.discovery, &inputs, fs.as_ref()).await,
            Disk::Blocking(read) => {
                let (read, discovery) = (Arc::clone(read), self.discovery.clone());
                let task = tokio::task::spawn_blocking(move || read(&discovery, &inputs));
                task.await.unwrap_or_else(|error| Err(Error::Stopped { reason: error.to_string() }))
            }
        }
    }

    /// Looks what stands for a key; says what its caller has to do.
    fn enter(
        &self,
        selections: &Arc<[TurnEnvironmentSelection]>,
        trust: TrustLevel,
        provided: Option<&ProvidedInstructions>,
    ) -> Entry {
        let mut state = self.state();
        let change = state.key.as_ref().map(|key| key.differs(selections, trust, provided));
        let reason = match change {
            Some(None) => match (&state.loaded, &state.loading) {
                (Some(loaded), _) => return Entry::Hit(Arc::clone(loaded), self.generation.load(Ordering::Acquire)),
                (None, Some(loading)) => return Entry::Wait(loading.subscribe()),
                (None, None) => state.reason.unwrap_or(Refresh::Retry),
            },
            Some(Some(reason)) => reason,
            None => Refresh::First,
        };
        state.key = Some(Key { selections: Arc::clone(selections), trust, provided: provided.cloned() });
        state.loaded = None;
        state.reason = None;
        state.loading = Some(watch::Sender::new(()));
        Entry::Load(Load { number: self.next_generation(), reason })
    }

    /// Makes everything older than now out of date; called under the lock.
    fn next_generation(&self) -> u64 {
        self.generation.fetch_add(1, Ordering::AcqRel) + 1
    }

    /// The state is whole at every moment a panic could leave it, so a poisoned lock is no reason to stop.
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

type BlockingRead = dyn Fn(&Discovery, &Inputs) -> Result<LoadedAgentsMd, Error> + Send + Sync;

/// Who reads the files.
enum Disk {
    Host,
    Remote(Arc<dyn RemoteFileSystem>),
    Blocking(Arc<BlockingRead>),
}

impl fmt::Debug for Disk {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Host => "Host",
            Self::Remote(_) => "Remote",
            Self::Blocking(_) => "Blocking",
        })
    }
}

/// What decides which instructions hold.
#[derive(Debug)]
struct Key {
    selections: Arc<[TurnEnvironmentSelection]>,
    trust: TrustLevel,
    provided: Option<ProvidedInstructions>,
}

impl Key {
    /// Why this key is not the one asked for; none if it is.
    fn differs(
        &self,
        selections: &Arc<[TurnEnvironmentSelection]>,
        trust: TrustLevel,
        provided: Option<&ProvidedInstructions>,
    ) -> Option<Refresh> {
        if !Arc::ptr_eq(&self.selections, selections) && self.selections != *selections {
            return Some(Refresh::Selections);
        }
        if self.trust != trust {
            return Some(Refresh::Trust);
        }
        let is_same = match (&self.provided, provided) {
            (None, None) => true,
            (Some(ours), Some(theirs)) => ours.is_same(theirs),
            _ => false,
        };
        (!is_same).then_some(Refresh::UserInstructions)
    }
}

#[derive(Debug, Default)]
struct State {
    /// The key of what stands or is being loaded.
    key: Option<Key>,
    loaded: Option<Arc<LoadedAgentsMd>>,
    /// Closes when the load that runs ends, however it ends.
    loading: Option<watch::Sender<()>>,
    /// Why there is nothing although there is a key.
    reason: Option<Refresh>,
}

enum Entry {
    Hit(Arc<LoadedAgentsMd>, u64),
    Wait(watch::Receiver<()>),
    Load(Load),
}

struct Load {
    number: u64,
    reason: Refresh,
}

/// The right to keep what is being loaded, until a newer load begins. Dropped early, it leaves nothing behind.
struct Ticket<'a> {
    manager: &'a AgentsMdManager,
    number: u64,
}

impl Ticket<'_> {
    fn keep(&self, loaded: &Arc<LoadedAgentsMd>) {
        let mut state = self.manager.state();
        if self.manager.generation.load(Ordering::Acquire) == self.number {
            state.loaded = Some(Arc::clone(loaded));
        }
    }
}

impl Drop for Ticket<'_> {
    fn drop(&mut self) {
        let mut state = self.manager.state();
        if self.manager.generation.load(Ordering::Acquire) == self.number {
            state.loading = None;
        }
    }
}
