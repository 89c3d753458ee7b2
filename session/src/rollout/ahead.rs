//! Reading ahead: what comes next is read and decoded while what came before is taken.

use std::{
    io::Read,
    sync::mpsc::{SyncSender, sync_channel},
    thread,
};

use super::{LiveEvents, event::ReplayEvent};
use crate::Error;

/// How many bytes of events are read before a second thread is worth its start: a log that is shorter is read in less
/// time than that takes.
const WORTH_A_THREAD: usize = 1 << 20;

/// How many bytes of events are handed over at once: enough that waking the other thread costs nothing beside them.
const BATCH_BYTES: usize = 512 << 10;

/// How many batches wait, beside the one that is being taken and the one that is being read.
const WAITING: usize = 1;

type Event = Result<ReplayEvent, Error>;

impl<R: Read + Send> LiveEvents<R> {
    /// Gives every event to `take`, oldest first, as iterating does, while a second thread reads and decodes the ones behind
    /// it.
    ///
    /// A short log is read on this thread alone. Of a long one, three batches of 512 KiB of events are held beside what the
    /// iterator holds; the last event of a batch may be larger. What `take` has not got when it fails is dropped.
    ///
    /// # Errors
    /// The first error of `take`, which ends reading.
    /// # Example
    /// ```
    /// # use session::{rollout::{Durability, Owner, SessionMeta}, store::{MemoryStore, StoreReader, create}};
    /// use session::rollout::{LiveEvents, OpenLimits};
    ///
    /// # let mut store = MemoryStore::new("s1");
    /// # create(&mut store, &SessionMeta::new("s1"), &Owner::this_process("here", 0), Durability::Flush)?;
    /// let mut live = LiveEvents::open(StoreReader::new(&mut store), OpenLimits::default(), None, "s1".into())?;
    /// let mut n_events = 0;
    /// live.read_ahead(|event| event.map(|_| n_events += 1))?;
    /// assert_eq!((n_events, live.into_report().records), (2, 2));
    /// # Ok::<(), session::Error>(())
    /// ```
    pub fn read_ahead<E>(&mut self, mut take: impl FnMut(Event) -> Result<(), E>) -> Result<(), E> {
        let mut n_bytes = 0;
        while n_bytes < WORTH_A_THREAD {
            let Some(event) = self.next() else { return Ok(()) };
            n_bytes += weight(&event);
            take(event)?;
        }
        let events = &mut *self;
        let taken = thread::scope(|scope| {
            let (sender, batches) = sync_channel(WAITING);
            let reader = thread::Builder::new().name("read-ahead".into());
            reader.spawn_scoped(scope, move || send_all(events, &sender)).ok()?;
            // Where this ends early, the reader finds that nobody takes its batch, and ends too.
            Some(batches.into_iter().flatten().try_for_each(&mut take))
        });
        // Where no thread can be had, this one does it all.
        taken.unwrap_or_else(|| self.try_for_each(take))
    }
}

/// Reads to the end, and hands over what was read in batches.
fn send_all(events: impl Iterator<Item = Event>, sender: &SyncSender<Vec<Event>>) {
    let (mut batch, mut n_bytes) = (Vec::new(), 0);
    for event in events {
        n_bytes += weight(&event);
        batch.push(event);
        if n_bytes >= BATCH_BYTES {
            if sender.send(std::mem::take(&mut batch)).is_err() {
                return;
            }
            n_bytes = 0;
        }
    }
    // Nobody may wait for it any more.
    let _is_taken = sender.send(batch);
}

/// About how many bytes an event holds, whatever it says: an output that was cut comes with all that it was.
fn weight(event: &Event) -> usize {
    size_of::<Event>() + event.as_ref().map_or(0, |event| event.record.held_bytes())
}
