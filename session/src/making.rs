//! Making a session: warm-ups, the first reading of the instructions, and what all handles share.

use std::{
    future::{Future, poll_fn},
    pin::pin,
    sync::{Arc, Mutex},
    task::Poll,
};

use agents_md::NestedTargets;
use context_manager::{Model, Projector};
use world_state::WorldState;

use crate::{
    Error, Session, SessionOptions, Settings,
    capture::capture_step_context,
    commit::{Access, Gate, Inner, State},
    options::{Host, WarmUp},
    replay::Replayed,
    rollout::SessionFolder,
    store::{Journal, LogStatus},
};

/// A session that is being made.
pub(crate) struct Making {
    pub(crate) settings: Settings,
    pub(crate) host: Host,
    pub(crate) machine: String,
    warm_ups: Vec<WarmUp>,
    gate: Gate,
}

impl Making {
    pub(crate) fn new(base: Arc<str>, options: SessionOptions) -> Self {
        let SessionOptions { mut settings, host, warm_ups, machine } = options;
        settings.parts = settings.parts.with_base(base);
        // A header holds these parts; that the model takes no media, or that there is a schema, is written when it is sent.
        let logged_parts = settings.parts.clone().with_model(Model::new(""));
        let logged_parts = logged_parts.with_schema("null").unwrap_or_else(|_| settings.parts.clone());
        let projector = Projector::new(host.profile.clone());
        let gate = Gate {
            log: None,
            access: Access::Open,
            logged_parts,
            world: WorldState::new(),
            projector,
            selections: Arc::new([]),
            places: None,
            nested: None,
        };
        Self { settings, host, machine, warm_ups, gate }
    }

    /// Runs the warm-ups beside the first reading of the instructions; gives the time.
    pub(crate) async fn warm_up(&mut self) -> Result<i64, Error> {
        let warm_ups = std::mem::take(&mut self.warm_ups);
        let nothing = NestedTargets::new();
        let reading = capture_step_context(&mut self.gate, &self.host, self.settings.clone(), &nothing);
        let (read, warmed) = join(reading, warm_ups).await;
        let at_ms = read?.moment.at_ms();
        warmed?;
        Ok(at_ms)
    }

    /// Runs the warm-ups alone, where nothing of the project is to be read.
    pub(crate) async fn warm_up_only(&mut self) -> Result<(), Error> {
        join(std::future::ready(()), std::mem::take(&mut self.warm_ups)).await.1
    }

    pub(crate) fn finish(
        self,
        id: Arc<str>,
        log: Option<Journal>,
        folder: Option<SessionFolder>,
        replayed: Option<Replayed>,
    ) -> Session {
        let Self { settings, host, mut gate, .. } = self;
        let log_status = log.as_ref().map(Journal::watch);
        gate.log = log;
        let mut state = State {
            manager: host.new_manager(),
            settings,
            live: None,
            last_turn_number: 0,
            serial: 0,
            last_model: None,
            epoch: 0,
            tells_starts: false,
            nested: NestedTargets::new(),
            logged_reached: 0,
        };
        if let Some(replayed) = replayed {
            gate.logged_parts = replayed.parts;
            state.manager = replayed.manager;
            state.last_turn_number = replayed.last_turn_number;
            state.last_model = replayed.last_model;
            state.epoch = replayed.epoch;
            state.tells_starts = replayed.tells_starts;
            state.logged_reached = replayed.nested.revision();
            state.nested = replayed.nested;
        }
        let (gate, state) = (Arc::new(tokio::sync::Mutex::new(gate)), Mutex::new(state));
        // A session without a log has one that is always well.
        let log_status = log_status.unwrap_or_else(|| tokio::sync::watch::channel(LogStatus::default()).1);
        Session { inner: Arc::new(Inner { id, host, folder, log_status, gate, state }) }
    }
}

/// Does what blocks on a thread that may.
pub(crate) async fn blocking<T: Send + 'static>(
    job: impl FnOnce() -> Result<T, Error> + Send + 'static,
) -> Result<T, Error> {
    tokio::task::spawn_blocking(job).await.unwrap_or(Err(Error::WriterStopped))
}

/// Waits for the first future and for all warm-ups, side by side; of the warm-ups that failed, the first one is named.
async fn join<T>(first: impl Future<Output = T>, warm_ups: Vec<WarmUp>) -> (T, Result<(), Error>) {
    let mut first = pin!(first);
    let mut done = None;
    let mut running: Vec<Option<WarmUp>> = warm_ups.into_iter().map(Some).collect();
    let mut failures: Vec<Option<Error>> = running.iter().map(|_| None).collect();
    poll_fn(move |context| {
        if done.is_none()
            && let Poll::Ready(value) = first.as_mut().poll(context)
        {
            done = Some(value);
        }
        for (slot, failure) in running.iter_mut().zip(&mut failures) {
            let Some(warm_up) = slot else { continue };
            if let Poll::Ready(result) = warm_up.work.as_mut().poll(context) {
                let name = std::mem::take(&mut warm_up.name);
                *failure = result.err().map(|source| Error::WarmUp { name, source });
                *slot = None;
            }
        }
        if running.iter().any(Option::is_some) {
            return Poll::Pending;
        }
        match done.take() {
            None => Poll::Pending,
            Some(value) => {
                let failure = failures.iter_mut().find_map(Option::take);
                Poll::Ready((value, failure.map_or(Ok(()), Err)))
            }
        }
    })
    .await
}
