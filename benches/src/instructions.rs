//! Instructions that are asked for again with nothing changed: a manager of ours, and the naive shape.

use std::{
    future::Future,
    path::PathBuf,
    pin::pin,
    sync::Arc,
    task::{Context, Poll, Waker},
};

use agents_md::{AgentsMdManager, Discovery, Held, LoadedAgentsMd, MemoryFs, TrustLevel, TurnEnvironmentSelection};

/// The numbers of environments at which a hit is measured.
pub const ENVIRONMENTS: [usize; 2] = [1, 4];

fn folder(index: usize) -> String {
    format!("/home/dev/projects/service-{index}/crates/server")
}

/// A manager that has loaded the instructions of `n_environments`, and the key that it loaded them for.
///
/// # Panics
/// If nothing is found in the folders that this function has made.
#[must_use]
pub fn loaded_manager(n_environments: usize) -> (AgentsMdManager, Arc<[TurnEnvironmentSelection]>) {
    let disk = (0..n_environments).fold(MemoryFs::new(), |disk, index| {
        disk.with_file(PathBuf::from(folder(index)).join("AGENTS.md"), format!("Rules of service {index}.\n"))
    });
    let selections: Arc<[_]> =
        (0..n_environments).map(|index| TurnEnvironmentSelection::new(format!("env-{index}"), folder(index))).collect();
    let manager = AgentsMdManager::on_blocking(Discovery::default(), Arc::new(disk));
    let runtime = tokio::runtime::Builder::new_current_thread().build();
    let loaded = runtime.map(|runtime| runtime.block_on(manager.refresh(&selections, TrustLevel::Trusted)));
    assert!(matches!(loaded, Ok(Ok(loaded)) if !loaded.loaded.is_empty()), "the folders hold instructions");
    (manager, selections)
}

/// A reader that holds what the manager has loaded.
#[must_use]
pub fn reader(manager: &AgentsMdManager, selections: &Arc<[TurnEnvironmentSelection]>) -> Held {
    let mut held = Held::new();
    _ = hit(manager, &mut held, selections);
    held
}

/// One step of a session in which nothing changed: refresh, then what holds.
///
/// # Panics
/// If the refresh is no hit, or would have to wait.
#[must_use]
pub fn hit<'a>(
    manager: &AgentsMdManager,
    held: &'a mut Held,
    selections: &Arc<[TurnEnvironmentSelection]>,
) -> &'a LoadedAgentsMd {
    match ready(manager.refresh_held(held, selections, TrustLevel::Trusted)) {
        Ok((loaded, refresh)) if refresh.is_hit() => loaded,
        _ => panic!("nothing changed"),
    }
}

/// The value of a future that has nothing to wait for.
fn ready<F: Future>(future: F) -> F::Output {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(value) => value,
        Poll::Pending => unreachable!("nobody holds the lock for longer than a comparison"),
    }
}

/// The naive shape: the key is built anew for each step and compared under an async lock, which is taken twice.
pub mod naive {
    use super::{Arc, LoadedAgentsMd, PathBuf, TrustLevel, folder, ready};

    /// A live environment.
    #[derive(Debug)]
    struct Environment {
        id: String,
        cwd: PathBuf,
        shell: Option<String>,
    }

    /// What of an environment is part of the key.
    #[derive(Clone, Debug, PartialEq)]
    struct Selection {
        id: String,
        cwd: PathBuf,
        shell: Option<String>,
    }

    #[derive(Debug, Default)]
    struct Cache {
        selections: Option<Vec<Selection>>,
        trust: Option<TrustLevel>,
        loaded: Option<Arc<LoadedAgentsMd>>,
    }

    /// A cache of instructions beside the environments that it is asked for.
    #[derive(Debug)]
    pub struct Manager {
        environments: Vec<Environment>,
        cache: tokio::sync::Mutex<Cache>,
    }

    impl Manager {
        /// Makes one that has loaded.
        #[must_use]
        pub fn loaded(n_environments: usize) -> Self {
            let environment = |index| Environment {
                id: format!("env-{index}"),
                cwd: folder(index).into(),
                shell: Some("bash".to_owned()),
            };
            let environments = (0..n_environments).map(environment).collect();
            let mut manager = Self { environments, cache: tokio::sync::Mutex::default() };
            let selections = Some(manager.selections());
            *manager.cache.get_mut() =
                Cache { selections, trust: Some(TrustLevel::Trusted), loaded: Some(Arc::default()) };
            manager
        }

        fn selections(&self) -> Vec<Selection> {
            let selection = |environment: &Environment| Selection {
                id: environment.id.clone(),
                cwd: environment.cwd.clone(),
                shell: environment.shell.clone(),
            };
            self.environments.iter().map(selection).collect()
        }

        async fn refresh(&self) -> bool {
            let selections = self.selections();
            let cache = self.cache.lock().await;
            cache.selections.as_ref() == Some(&selections) && cache.trust == Some(TrustLevel::Trusted)
        }

        async fn get_loaded(&self) -> Option<Arc<LoadedAgentsMd>> {
            self.cache.lock().await.loaded.clone()
        }

        /// One step of a session in which nothing changed, on this thread alone.
        ///
        /// # Panics
        /// If it is no hit.
        #[must_use]
        pub fn hit(&self) -> Arc<LoadedAgentsMd> {
            ready(self.step())
        }

        /// The same where another thread may hold the lock.
        ///
        /// # Panics
        /// If it is no hit.
        #[must_use]
        pub fn contended_hit(&self, runtime: &tokio::runtime::Runtime) -> Arc<LoadedAgentsMd> {
            runtime.block_on(self.step())
        }

        async fn step(&self) -> Arc<LoadedAgentsMd> {
            assert!(self.refresh().await, "nothing changed");
            self.get_loaded().await.unwrap_or_else(|| unreachable!("a hit has instructions"))
        }
    }
}
