//! A history that goes on from a place of another one.

use std::{borrow::Cow, collections::HashSet, sync::Arc};

use context_fragments::{ItemType, WireItem, json::ObjectWriter};

use crate::{
    ContextManager, Cursor, Entry, Error, Origin, Position, ResponseItemEnvelope, Rewrite, cursor::Resolved,
    measured::Measured, normalize::Family, record::ReadyItem,
};

/// What a fork says for a call that goes on in the history from which it comes.
const ELSEWHERE: &str =
    "This call goes on in the session from which this one was forked; its result is not known here.";

/// What becomes of a call without an output when a history is forked.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum OpenCalls {
    /// It gets an output with this text.
    Close(Arc<str>),
    /// It is left out, and with it the reasoning of which nothing else is left.
    Drop,
    /// It stays open.
    Keep,
}

/// How a fork treats the open calls of the turn in which it happens.
///
/// A turn may be forked while its calls run: a call that starts a child session is one of them, and those that were made
/// beside it are its siblings. No output of them will ever be recorded in the child.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ForkPolicy {
    /// The call that makes the fork, and what its output says in the child; none by default.
    pub own_call: Option<(Arc<str>, Arc<str>)>,
    /// Every other open call; closed by default, so that a call which stands in the history has an end.
    pub others: OpenCalls,
}

impl ForkPolicy {
    /// Closes every open call.
    #[must_use]
    pub fn closing() -> Self {
        Self { own_call: None, others: OpenCalls::Close(ELSEWHERE.into()) }
    }

    /// Closes the call that makes the fork with `output`, and leaves its siblings out.
    #[must_use]
    pub fn child_of(call_id: impl Into<Arc<str>>, output: impl Into<Arc<str>>) -> Self {
        Self { own_call: Some((call_id.into(), output.into())), others: OpenCalls::Drop }
    }

    /// The same with another fate of the other open calls.
    #[must_use]
    pub fn with_others(mut self, others: OpenCalls) -> Self {
        self.others = others;
        self
    }
}

impl Default for ForkPolicy {
    fn default() -> Self {
        Self::closing()
    }
}

/// A history that goes on from a place of another one.
#[derive(Debug)]
#[non_exhaustive]
pub struct Forked {
    /// The new history.
    pub manager: ContextManager,
    /// How many turns of the old one it does not have.
    pub turns_left_out: usize,
    /// The outputs that were recorded for open calls.
    pub closed: Vec<Position>,
    /// What was left out because its call is open, by the position that it has in the old history.
    pub dropped: Vec<Position>,
}

/// A call of the newest turn that has no output.
struct OpenCall {
    index: usize,
    id: String,
}

impl ContextManager {
    /// Makes a history of its own that ends where the turn at `cursor` begins, or with the newest entry for the
    /// [end cursor](crate::HistorySnapshot::end_cursor).
    ///
    /// What stands is shared, chunk by chunk, and no item is copied. The child knows what was sent last, so its first
    /// prompt says how much of it a provider's cache still serves; what it does not have is declared as a
    /// [rollback](Rewrite::Rollback). Baseline and settings are those that were true there, as after a rollback.
    ///
    /// Calls that were open in an earlier turn stay as they are: they were sent with a synthetic output.
    ///
    /// # Errors
    /// [`Error::BeyondEpoch`] as for [`rollback_to`](Self::rollback_to); [`Error::NoTurnAt`] if no turn begins there, or if
    /// it was taken back.
    /// # Example
    /// ```
    /// use context_fragments::{ContextItem, Limit, WireItem};
    /// use context_manager::{ContextManager, ForkPolicy, Recording, TruncationPolicy};
    ///
    /// let recording = Recording::new(TruncationPolicy::new(Limit::Tokens(10_000)));
    /// let mut parent = ContextManager::new();
    /// parent.record_items([ContextItem::user_text("do both")], &recording)?;
    /// let calls = ["c1", "c2"].map(|id| WireItem::function_call("spawn", "{}", id));
    /// parent.record_items(calls, &recording)?;
    ///
    /// let end = parent.history().end_cursor();
    /// let child = parent.fork(end, &ForkPolicy::child_of("c1", "You are the child: do the first half."))?;
    /// assert_eq!((child.closed.len(), child.dropped.len()), (1, 1));
    /// assert_eq!(child.manager.history().item_count(), 3);
    /// # Ok::<(), context_manager::Error>(())
    /// ```
    pub fn fork(&self, cursor: Cursor, policy: &ForkPolicy) -> Result<Forked, Error> {
        let mut manager = self.clone();
        let turns_left_out = match self.resolve(cursor)? {
            Resolved::Turn(number) => manager.roll_back_from(number).turns,
            Resolved::End => 0,
            Resolved::Gone => return Err(Error::NoTurnAt { position: cursor.position() }),
        };
        let mut forked = Forked { manager, turns_left_out, closed: Vec::new(), dropped: Vec::new() };
        forked.settle(policy);
        Ok(forked)
    }
}

impl Forked {
    /// Does with the open calls of the newest turn what the policy says.
    fn settle(&mut self, policy: &ForkPolicy) {
        let mut closing: Vec<ReadyItem> = Vec::new();
        let mut goes: HashSet<usize> = HashSet::new();
        let log = self.manager.history.log.clone();
        let start = self.manager.history.index_of_turn(self.manager.history.turn_count()).unwrap_or(0);
        for call in open_calls(&self.manager, start) {
            let own = policy.own_call.as_ref().filter(|(id, _)| **id == *call.id).map(|(_, output)| output);
            let output = match (own, &policy.others) {
                (Some(output), _) | (None, OpenCalls::Close(output)) => output,
                (None, OpenCalls::Drop) => {
                    goes.insert(call.index);
                    continue;
                }
                (None, OpenCalls::Keep) => continue,
            };
            let envelope = log.get(call.index).and_then(Entry::as_item);
            closing.extend(envelope.and_then(|envelope| self.output_of(envelope, output)));
        }
        if !goes.is_empty() {
            self.leave_out(&goes, start);
        }
        for ready in closing {
            self.closed.push(self.manager.append(ready));
        }
    }

    /// The output that closes a call, in the turn of the call.
    fn output_of(&self, call: &ResponseItemEnvelope, text: &str) -> Option<ReadyItem> {
        let mut measured = Measured::new(closing_output(call.item(), text)?.into(), self.manager.counter());
        measured.findings.origin = Origin::Host;
        measured.turn = call.turn().cloned();
        Some(measured.into())
    }

    /// Takes the calls at these places out, and reasoning that has nothing of its answer left; what stands before them
    /// stays shared.
    fn leave_out(&mut self, calls: &HashSet<usize>, start: usize) {
        let log = self.manager.history.log.clone();
        let mut goes = calls.clone();
        for index in start..log.len() {
            let is_reasoning = log.get(index).and_then(Entry::as_item).is_some_and(is_reasoning);
            if is_reasoning
                && answer_of(&self.manager, index).is_some_and(|rest| rest.iter().all(|at| calls.contains(at)))
            {
                goes.insert(index);
            }
        }
        let first = goes.iter().copied().min().unwrap_or(log.len());
        let dropped = &mut self.dropped;
        self.manager.rewrite_from(first, Rewrite::Rollback, |index, envelope| {
            if goes.contains(&index) {
                dropped.push(envelope.position());
                return None;
            }
            Some(envelope.ready())
        });
    }
}

fn is_reasoning(envelope: &ResponseItemEnvelope) -> bool {
    envelope.item().item_type() == ItemType::Reasoning
}

/// The places of what the model said behind the reasoning at `index`, in the same answer; none if it said nothing.
fn answer_of(manager: &ContextManager, index: usize) -> Option<Vec<usize>> {
    let mut rest = Vec::new();
    for (place, entry) in (index + 1..).zip(manager.history.log.iter_from(index + 1)) {
        let Some(envelope) = entry.as_item() else { break };
        if envelope.origin() != Origin::Model {
            break;
        }
        if !is_reasoning(envelope) {
            rest.push(place);
        }
    }
    (!rest.is_empty()).then_some(rest)
}

/// The calls from the entry at `start` on that have no output, in the order of the log.
fn open_calls(manager: &ContextManager, start: usize) -> Vec<OpenCall> {
    let log = &manager.history.log;
    let mut open: Vec<(Family, OpenCall)> = Vec::new();
    // Outputs that stand before their call, of ids that no call had before.
    let mut early: Vec<(Family, String)> = Vec::new();
    let mut called: HashSet<(Family, String)> = HashSet::new();
    for (index, entry) in (start..).zip(log.iter_from(start)) {
        let Some(wire) = entry.as_item().map(ResponseItemEnvelope::item) else { continue };
        let Some(id) = wire.call_id().map(Cow::into_owned) else { continue };
        if let Some(family) = Family::of_call(wire.item_type()) {
            called.insert((family, id.clone()));
            match early.iter().position(|(of, early)| *of == family && *early == id) {
                Some(place) => drop(early.remove(place)),
                None => open.push((family, OpenCall { index, id })),
            }
        } else if let Some(family) = Family::of_output(wire.item_type()) {
            match open.iter().position(|(of, call)| *of == family && call.id == id) {
                Some(place) => drop(open.remove(place)),
                None if called.contains(&(family, id.clone())) => {}
                None => early.push((family, id)),
            }
        }
    }
    open.into_iter().map(|(_, call)| call).collect()
}

/// An output of the family of `call`; none if it is no call or has no call id.
fn closing_output(call: &WireItem, text: &str) -> Option<WireItem> {
    let id = call.call_id()?;
    match call.item_type() {
        ItemType::FunctionCall | ItemType::LocalShellCall => Some(WireItem::function_call_output(&id, text)),
        ItemType::CustomToolCall => Some(WireItem::custom_tool_call_output(&id, text)),
        ItemType::ToolSearchCall => {
            // A search has no text to say; no tools were found.
            let mut output = ObjectWriter::new();
            output.string("type", "tool_search_output").string("call_id", &id).string("status", "completed");
            output.string("execution", "client").raw("tools", "[]");
            WireItem::parse(output.finish().as_bytes()).ok()
        }
        _ => None,
    }
}
