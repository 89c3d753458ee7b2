//! The instructions of a session: loaded once, and again when what decides about them has changed.

use std::{
    hash::RandomState,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::SystemTime,
};

use crate::{
    discover::drive_again,
    discovery::Discovery,
    disk::Disk,
    document::LoadedAgentsMd,
    error::Error,
    evidence::{Contents, Evidence, Gather},
    flight::{Asked, Distrust, Entry, Flights, Load, Standing, Work},
    freshness::{DuringLoad, Freshness, Refresh},
    fs::{FileSystem, HostFs, RemoteFileSystem},
    inputs::{Inputs, ThreadInstructions, TrustLevel, TurnEnvironmentSelection, UserSource},
    nested::{NestedLoaded, NestedTargets},
    plan::Plan,
    provider::{HostInstructions, ProvidedInstructions},
};

/// Loads the instruction files of a session and keeps them until their key changes.
///
/// Where only the user's instructions have changed, they are put together anew with what was read, and no disk is touched.
///
/// The key is the list of ready environments, the trust in the project, and what a provider of the user's instructions
/// gives. The content of files is not part of it: how an edit is seen says the [`Freshness`]. Under
/// [`Freshness::OnSelection`] and [`Freshness::Watch`] a hit takes one short lock that no input or output is done under,
/// compares by pointer first and allocates nothing; through a [`Held`] it takes no lock.
///
/// Callers that want the same key at the same time share one load. A load that is overtaken, by another key or by an
/// invalidation, still answers its own caller and is not kept. While a load runs, [`get_loaded`](Self::get_loaded) is empty
/// or gives what stood before, as [`DuringLoad`] says; after one that failed or was cancelled it is empty. No text stays
/// visible under a trust that no longer holds.
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
    freshness: Freshness,
    during: DuringLoad,
    clock: Option<fn() -> SystemTime>,
    hasher: RandomState,
    flights: Flights,
    #[cfg(feature = "watch")]
    watch: Option<Arc<crate::watch::Watch>>,
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

impl AgentsMdManager {
    /// Manages the files of this machine; each load is one blocking task of the tokio runtime.
    #[must_use]
    pub fn on_host(discovery: Discovery) -> Self {
        #[cfg_attr(not(feature = "watch"), expect(unused_mut, reason = "only a watch is added"))]
        let mut manager = Self::on_blocking(discovery, Arc::new(HostFs::new()));
        #[cfg(feature = "watch")]
        {
            manager.watch = Some(Arc::default());
        }
        manager
    }

    /// Manages the files at the other end of a wire.
    #[must_use]
    pub fn on_remote(discovery: Discovery, fs: Arc<dyn RemoteFileSystem>) -> Self {
        Self::over(discovery, Disk::Remote(fs))
    }

    /// Manages the files of a file system that answers at once or blocks; each load is one blocking task.
    #[must_use]
    pub fn on_blocking<F: FileSystem + Send + Sync + 'static>(discovery: Discovery, fs: Arc<F>) -> Self {
        Self::over(discovery, Disk::Blocking(fs))
    }

    fn over(discovery: Discovery, disk: Disk) -> Self {
        Self {
            discovery,
            disk,
            host: HostInstructions::default(),
            thread: None,
            freshness: Freshness::default(),
            during: DuringLoad::default(),
            clock: None,
            hasher: RandomState::new(),
            flights: Flights::default(),
            #[cfg(feature = "watch")]
            watch: None,
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

    /// Says when files are looked at again.
    #[must_use]
    pub fn with_freshness(mut self, freshness: Freshness) -> Self {
        self.freshness = freshness;
        self
    }

    /// Says what is visible while a load runs.
    #[must_use]
    pub fn during_load(mut self, during: DuringLoad) -> Self {
        self.during = during;
        self
    }

    /// Gives the time, such as `SystemTime::now`; [`Freshness::Stat`] then reads again only what was changed just before
    /// it was read.
    #[must_use]
    pub fn with_clock(mut self, clock: fn() -> SystemTime) -> Self {
        self.clock = Some(clock);
        self
    }

    /// Gives the instructions for a key, loading them if they are not those that stand.
    ///
    /// Dropping the future of a load leaves nothing loaded and nothing locked, and the next call loads; dropping that of a
    /// check leaves what stands.
    ///
    /// # Errors
    /// As [`discover`](crate::discover()): a file that must not be skipped could not be read. Nothing is kept, and the next call tries
    /// again.
    pub async fn refresh(
        &self,
        selections: &Arc<[TurnEnvironmentSelection]>,
        trust: TrustLevel,
    ) -> Result<Refreshed, Error> {
        let provided = match &self.host {
            HostInstructions::Provider(provider) => provider.instructions(),
            HostInstructions::Fixed(_) => None,
        };
        let asked = Asked { selections, trust, provided: provided.as_ref() };
        let since = self.flights.number();
        loop {
            let (load, ticket) = match self.flights.enter(asked, self.distrust(), since) {
                Entry::Hit(loaded, generation) => return Ok(Refreshed { loaded, refresh: Refresh::Hit, generation }),
                Entry::Wait(mut done) => {
                    // An error says that the loader is gone, which is just as good a moment to look again.
                    drop(done.changed().await);
                    continue;
                }
                Entry::Load(load) => {
                    let ticket = self.flights.ticket(load.number, Work::Load);
                    (load, ticket)
                }
                Entry::Check(standing, number) => {
                    let mut ticket = self.flights.ticket(number, Work::Check);
                    let read_at = self.now();
                    let is_same = self.is_same(&standing).await.inspect_err(|_| ticket.fail())?;
                    if is_same {
                        ticket.prove(read_at);
                        let (loaded, refresh) = (standing.loaded, Refresh::Checked);
                        return Ok(Refreshed { loaded, refresh, generation: number });
                    }
                    ticket.load();
                    let overtaken = Load { number, reason: Refresh::Files, before: Some(standing.loaded), seen: None };
                    (self.flights.changed(asked, number).unwrap_or(overtaken), ticket)
                }
            };
            // News of the system have to be asked for before they are forgotten.
            let seen = load.seen.filter(|_| self.distrust() == Distrust::Nothing);
            #[cfg(feature = "watch")]
            self.forget_news();
            let read_at = self.now();
            let loaded = self.load(asked, seen.as_ref()).await?;
            let evidence = loaded.evidence().clone();
            let (loaded, is_same) = match load.before {
                // The same value keeps its address, so that whoever compares by it sees that nothing has changed.
                Some(before) if *before == loaded => (before, true),
                _ => (Arc::new(loaded), false),
            };
            #[cfg(feature = "watch")]
            self.follow(load.number, &evidence).await?;
            ticket.keep(Standing { loaded: Arc::clone(&loaded), evidence, read_at });
            let refresh = if is_same && load.reason == Refresh::Files { Refresh::Checked } else { load.reason };
            return Ok(Refreshed { loaded, refresh, generation: load.number });
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
                && self.distrust() == Distrust::Nothing
                && Arc::ptr_eq(&held.of, self.flights.generation())
                && held.generation == held.of.load(Ordering::Acquire)
                && Arc::ptr_eq(&held.selections, selections)
                && held.trust == trust
        });
        let reason = if is_current {
            Refresh::Hit
        } else {
            held.0 = None;
            let Refreshed { loaded, refresh, generation } = self.refresh(selections, trust).await?;
            let (selections, of) = (Arc::clone(selections), Arc::clone(self.flights.generation()));
            held.0 = Some(HeldInstructions { selections, trust, loaded, generation, of });
            refresh
        };
        match &held.0 {
            Some(held) => Ok((&held.loaded, reason)),
            None => unreachable!("it was current, or was filled just now"),
        }
    }

    /// The instructions that stand; none before the first load and after one that failed. While one runs, as
    /// [`DuringLoad`] says.
    #[must_use]
    pub fn get_loaded(&self) -> Option<Arc<LoadedAgentsMd>> {
        self.flights.visible(self.during)
    }

    /// Forgets what stands, so that the next refresh reads the files again. A load that runs is not kept.
    pub fn invalidate(&self) {
        self.flights.invalidate();
    }

    /// Why [`Freshness::Watch`] had to do as [`Freshness::Stat`]; none while the system watches.
    #[cfg(feature = "watch")]
    #[must_use]
    pub fn watch_failure(&self) -> Option<String> {
        match &self.watch {
            Some(watch) => watch.failure(),
            None => Some("only the disk of this machine is watched".to_owned()),
        }
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

    /// Reads the instruction files of the folders that tools have reached, beside what `startup` holds.
    ///
    /// Nothing of it is kept here: the host asks when [`NestedTargets::revision`] moves, or a turn begins.
    ///
    /// # Errors
    /// As [`refresh`](Self::refresh).
    pub async fn load_nested(
        &self,
        startup: &LoadedAgentsMd,
        selections: &Arc<[TurnEnvironmentSelection]>,
        trust: TrustLevel,
        targets: &NestedTargets,
    ) -> Result<NestedLoaded, Error> {
        let inputs = Inputs::new(Arc::clone(selections)).with_trust(trust);
        let step = Plan::start_nested(&self.discovery, &inputs, startup, targets)?;
        self.disk.drive(step).await.map(NestedLoaded::new)
    }

    /// What has to be done about what stands, although its key is the one asked for.
    fn distrust(&self) -> Distrust {
        match self.freshness {
            Freshness::OnSelection => Distrust::Nothing,
            Freshness::EveryRefresh => Distrust::Load,
            Freshness::Stat | Freshness::Hash => Distrust::Check,
            #[cfg(feature = "watch")]
            Freshness::Watch => match &self.watch {
                Some(watch) if watch.is_active() && !watch.is_changed() => Distrust::Nothing,
                Some(watch) if watch.is_active() => Distrust::Load,
                _ => Distrust::Check,
            },
        }
    }

    fn now(&self) -> Option<SystemTime> {
        self.clock.map(|clock| clock())
    }

    /// Whether the files are what they were when they were loaded.
    async fn is_same(&self, standing: &Standing) -> Result<bool, Error> {
        let evidence = &standing.evidence;
        let answers = self.disk.probe(evidence.probes()).await?;
        if !evidence.is_same_look(&answers) {
            return Ok(false);
        }
        let again = match self.freshness {
            Freshness::Hash => evidence.reads(),
            _ => evidence.racy_reads(standing.read_at),
        };
        let answers = self.disk.read(again.clone()).await?;
        Ok(evidence.is_same_text(&again, &answers, &self.hasher))
    }

    /// What the system has told so far is answered by the load that begins.
    #[cfg(feature = "watch")]
    fn forget_news(&self) {
        if let Some(watch) = &self.watch {
            watch.forget();
        }
    }

    /// Watches what was loaded, and looks once more, since an edit may have come before the watch.
    #[cfg(feature = "watch")]
    async fn follow(&self, number: u64, evidence: &Evidence) -> Result<(), Error> {
        let (Freshness::Watch, Some(watch)) = (self.freshness, &self.watch) else {
            return Ok(());
        };
        let paths: Vec<_> = evidence.paths().map(ToOwned::to_owned).collect();
        let following = Arc::clone(watch);
        let task = tokio::task::spawn_blocking(move || following.follow(number, paths));
        task.await.map_err(|error| Error::Stopped { reason: error.to_string() })?;
        let answers = self.disk.probe(evidence.probes()).await?;
        let reads = evidence.reads();
        let texts = self.disk.read(reads.clone()).await?;
        if !evidence.is_same_look(&answers) || !evidence.is_same_text(&reads, &texts, &self.hasher) {
            watch.note_change();
        }
        Ok(())
    }

    async fn load(&self, asked: Asked<'_>, seen: Option<&Evidence>) -> Result<LoadedAgentsMd, Error> {
        let user = match (&self.host, asked.provided) {
            (HostInstructions::Fixed(source), _) => source.clone(),
            (HostInstructions::Provider(_), None) => UserSource::Absent,
            (HostInstructions::Provider(_), Some(ProvidedInstructions { text, source })) => {
                UserSource::Given { text: Arc::clone(text), source: source.as_deref().cloned() }
            }
        };
        let mut inputs = Inputs::new(Arc::clone(asked.selections)).with_trust(asked.trust).with_user(user);
        inputs.thread.clone_from(&self.thread);
        let gather = match (self.freshness, &self.host) {
            // What was read is kept, so that other words of the user need no disk.
            (_, HostInstructions::Provider(_)) => Gather::All(self.hasher.clone(), Contents::Kept),
            (Freshness::OnSelection | Freshness::EveryRefresh, _) => Gather::Nothing,
            _ => Gather::All(self.hasher.clone(), Contents::Dropped),
        };
        if let Some(seen) = seen {
            let step = Plan::start_gathering(&self.discovery, &inputs, gather.clone())?;
            if let Some(loaded) = drive_again(step, seen)? {
                return Ok(loaded);
            }
        }
        self.disk.drive(Plan::start_gathering(&self.discovery, &inputs, gather)?).await
    }
}
