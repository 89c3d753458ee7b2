//! The system says when something changes at a probed path.

use std::{
    collections::HashSet,
    path::{Path, PathBuf},
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
};

use notify::{Event, EventKind, RecommendedWatcher, RecursiveMode, Watcher as _};

/// A watch over the files of what was loaded last.
#[derive(Debug, Default)]
pub(crate) struct Watch {
    /// Something has changed since the last load began.
    is_changed: Arc<AtomicBool>,
    is_active: AtomicBool,
    running: Mutex<Running>,
}

#[derive(Debug, Default)]
struct Running {
    /// Dropped, it stops watching.
    _watcher: Option<RecommendedWatcher>,
    /// The load whose files are watched.
    number: u64,
    failure: Option<String>,
}

impl Watch {
    /// Whether it will say when something changes.
    pub(crate) fn is_active(&self) -> bool {
        self.is_active.load(Ordering::Acquire)
    }

    pub(crate) fn is_changed(&self) -> bool {
        self.is_changed.load(Ordering::Acquire)
    }

    /// Takes the news; whoever takes them has to look.
    pub(crate) fn forget(&self) {
        self.is_changed.store(false, Ordering::Release);
    }

    pub(crate) fn note_change(&self) {
        self.is_changed.store(true, Ordering::Release);
    }

    pub(crate) fn failure(&self) -> Option<String> {
        self.running.lock().unwrap_or_else(PoisonError::into_inner).failure.clone()
    }

    /// Watches the folders of these paths, or the nearest ones above that are there, and the paths themselves.
    ///
    /// Must be called where blocking is allowed.
    pub(crate) fn follow(&self, number: u64, paths: Vec<PathBuf>) {
        let watched = start(paths, Arc::clone(&self.is_changed));
        let mut running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
        if running.number > number {
            return;
        }
        self.is_active.store(watched.is_ok(), Ordering::Release);
        *running = match watched {
            Ok(watcher) => Running { _watcher: Some(watcher), number, failure: None },
            Err(error) => Running { _watcher: None, number, failure: Some(error.to_string()) },
        };
    }
}

fn start(paths: Vec<PathBuf>, is_changed: Arc<AtomicBool>) -> notify::Result<RecommendedWatcher> {
    let folders: HashSet<PathBuf> = paths.iter().filter_map(|path| path.parent()).map(Path::to_owned).collect();
    let watched = paths.clone();
    let mut watcher = notify::recommended_watcher(move |event: notify::Result<Event>| {
        // An error means that something was missed, and what was missed may matter.
        let matters = event.map_or(true, |event| {
            event.need_rescan()
                || !matches!(event.kind, EventKind::Access(_))
                    && event.paths.iter().any(|at| watched.iter().any(|path| path.starts_with(at)))
        });
        if matters {
            is_changed.store(true, Ordering::Release);
        }
    })?;
    for folder in folders {
        let mut result = Ok(());
        for above in folder.ancestors() {
            result = watcher.watch(above, RecursiveMode::NonRecursive);
            if !is_absent(&result) {
                break;
            }
        }
        result?;
    }
    for path in paths {
        // A link is followed, so an edit of the file that it leads to is heard as well.
        let result = watcher.watch(&path, RecursiveMode::NonRecursive);
        if !is_absent(&result) {
            result?;
        }
    }
    Ok(watcher)
}

fn is_absent(result: &notify::Result<()>) -> bool {
    use std::io::ErrorKind::{NotADirectory, NotFound, PermissionDenied};
    match result {
        Err(error) => match &error.kind {
            notify::ErrorKind::PathNotFound => true,
            // What may not be looked at is not loaded either.
            notify::ErrorKind::Io(error) => matches!(error.kind(), NotFound | NotADirectory | PermissionDenied),
            _ => false,
        },
        Ok(()) => false,
    }
}
