//! What of a foreign log still counts when all of it has been read.

use std::collections::HashSet;

use context_fragments::{ContextItem, ItemType, Kind, Role, TurnContextItem};
use context_manager::Origin;
use world_state::{MergePatch, WorldStateSnapshot};

use crate::rollout::{Checkpoint, Place, RawJson, Record, ReplayEvent, RolloutItem, WorldStateItem};

/// Finds out, before a foreign log is replayed, which of its turns were taken back later and what that leaves.
///
/// A rollout of the Codex CLI is not a plain list of changes: a rollback undoes the settings, the world state and the
/// compactions of the turns that it takes back. So the whole log is surveyed first, cheaply, and replayed after it.
///
/// # Example
/// ```
/// use session::{Survey, rollout::Events};
///
/// let log = concat!(
///     r#"{"timestamp":"2026-09-01T08:00:00.000Z","type":"turn_context","payload":{"cwd":"/r","model":"m1"}}"#, "\n",
/// );
/// let mut survey = Survey::new();
/// for event in Events::open(std::io::Cursor::new(log))? {
///     survey.take(&event?);
/// }
/// // A turn context outside of any turn says nothing.
/// assert_eq!(survey.finish().model(), None);
/// # Ok::<(), session::Error>(())
/// ```
#[derive(Debug, Default)]
pub struct Survey {
    marks: Vec<Mark>,
    /// How many events were taken.
    events: usize,
    /// The log is one of pages: a compaction in it is where a reader starts.
    paginated: bool,
    /// The compaction behind which everything is looked at.
    bound: Option<usize>,
}

/// What is left of a foreign log.
#[derive(Debug, Default)]
pub struct Survivors {
    /// The compactions whose replacement takes the place of what stands before, by the number of their event.
    replaced_at: HashSet<usize>,
    model: Option<String>,
    reference: Option<TurnContextItem>,
    baseline: Option<WorldStateSnapshot>,
    ignored_patches: usize,
    compactions: u64,
    window_number: Option<u64>,
    last_turn: Option<String>,
}

/// One event that says something about turns.
#[derive(Debug)]
struct Mark {
    event: usize,
    what: What,
}

#[derive(Debug)]
enum What {
    Started(Option<String>),
    /// The turn ended, or was aborted.
    Over(Option<String>, End),
    /// Something that begins a turn of the user.
    Input,
    Context(Box<TurnContextItem>),
    State(WorldStateItem),
    Compacted {
        has_items: bool,
        window: Option<u64>,
    },
    RolledBack(u64),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    Completed,
    Aborted,
}

impl Survey {
    /// Has seen nothing.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes the next event of the log.
    pub fn take(&mut self, event: &ReplayEvent) {
        let number = self.events;
        self.events += 1;
        if event.place == Place::Repeated {
            return;
        }
        if let RolloutItem::SessionMeta(meta) = &event.record.item {
            let mode = meta.details.as_ref().and_then(|details| details.json().member("history_mode"));
            self.paginated |= mode.is_some_and(|mode| mode.is_text("paginated"));
        }
        if let RolloutItem::Checkpoint(checkpoint) = &event.record.item
            && self.is_bound(checkpoint)
        {
            self.bound = Some(number);
        }
        if let Some(what) = What::of(&event.record) {
            self.marks.push(Mark { event: number, what });
        }
    }

    /// A reader of newer versions looks at nothing that stands before such a compaction.
    fn is_bound(&self, checkpoint: &Checkpoint) -> bool {
        let details = checkpoint.details.as_ref().map(RawJson::json);
        let resumes = details.and_then(|details| details.member("resume_metadata")).is_some_and(|data| !data.is_null());
        checkpoint.items.is_some() && checkpoint.counters.epoch.is_some() && (resumes || self.paginated)
    }

    /// Looks at the turns from the newest to the oldest, and gives what no rollback took away.
    #[must_use]
    pub fn finish(self) -> Survivors {
        let Self { marks, bound, .. } = self;
        let mut walk = Walk { bound, ..Walk::default() };
        let start = bound.map_or(0, |bound| marks.iter().take_while(|mark| mark.event < bound).count());
        for mark in marks[start..].iter().rev() {
            walk.take(mark);
        }
        walk.close();
        walk.finish(&marks)
    }
}

impl What {
    fn of(record: &Record) -> Option<Self> {
        Some(match &record.item {
            RolloutItem::TurnStarted(turn) => Self::Started(turn.turn_id.clone()),
            RolloutItem::TurnEnded(turn) => Self::Over(turn.turn_id.clone(), End::Completed),
            RolloutItem::TurnAborted(turn) => Self::Over(turn.turn_id.clone(), End::Aborted),
            RolloutItem::Notice { name, .. } if name == "user_message" => Self::Input,
            RolloutItem::Item(item) => {
                let item = ContextItem::new(item.clone(), record.metadata.kinds.as_slice());
                if !begins_turn(&item) {
                    return None;
                }
                Self::Input
            }
            RolloutItem::Other { type_name, .. } if type_name == super::agent_mail::TYPE => Self::Input,
            RolloutItem::TurnContext(context) => Self::Context(Box::new(context.clone())),
            RolloutItem::WorldState(state) => Self::State(state.clone()),
            RolloutItem::Checkpoint(checkpoint) => {
                Self::Compacted { has_items: checkpoint.items.is_some(), window: checkpoint.counters.epoch }
            }
            RolloutItem::Rollback(rollback) => Self::RolledBack(rollback.n_turns?),
            _ => return None,
        })
    }
}

/// Says that a turn of the user begins with `item`, as the reference counts.
fn begins_turn(item: &ContextItem) -> bool {
    match (item.item().item_type(), item.item().role()) {
        (ItemType::AgentMessage, _) => true,
        (ItemType::Message, Some(Role::User)) => {
            Origin::of(item) == Origin::User && item.kinds().iter().all(Kind::is_user_authored) && !is_summary(item)
        }
        _ => false,
    }
}

/// Says that the first text of a message is a summary by its looks.
pub(super) fn is_summary(item: &ContextItem) -> bool {
    let content = item.item().json().member("content");
    let first = content.and_then(|content| content.elements().next());
    let text = first.and_then(|part| part.member("text")).and_then(context_fragments::json::Json::to_str);
    text.is_some_and(|text| looks_like_summary(&text))
}

/// The words with which the reference's summaries begin, and those with which their first line ends.
const SUMMARY_HEAD: &str =
    "Another language model started to solve this problem and produced a summary of its thinking process.";
const SUMMARY_TAIL: &str = "use the information in this summary to assist with your own analysis:";

pub(super) fn looks_like_summary(text: &str) -> bool {
    let first = text.lines().next().unwrap_or_default();
    first.starts_with(SUMMARY_HEAD) && first.ends_with(SUMMARY_TAIL)
}

/// One turn, or what looks like one from the end.
#[derive(Debug, Default)]
struct Segment {
    turn: Option<String>,
    has_input: bool,
    model: Option<String>,
    reference: Reference,
    /// The newest compaction with a replacement.
    base: Option<(usize, Option<u64>)>,
    has_compaction: bool,
    /// A whole state stands behind its newest compaction.
    tells_all: bool,
    /// The numbers of its world states and compactions, newest first.
    states: Vec<usize>,
}

/// The settings that a segment leaves.
#[derive(Debug, Default)]
enum Reference {
    #[default]
    Unsaid,
    Cleared,
    Latest(TurnContextItem),
}

/// Goes through the marks from the end.
#[derive(Debug, Default)]
struct Walk {
    segment: Option<Segment>,
    /// Turns that a rollback takes back and that were not met yet.
    pending: u64,
    bound: Option<usize>,
    base: Option<(usize, Option<u64>)>,
    has_model: bool,
    model: Option<String>,
    reference: Reference,
    last_turn: Option<String>,
    states: Vec<usize>,
}

impl Walk {
    fn segment(&mut self) -> &mut Segment {
        self.segment.get_or_insert_default()
    }

    fn take(&mut self, mark: &Mark) {
        match &mark.what {
            What::RolledBack(turns) => self.pending = self.pending.saturating_add(*turns),
            What::Compacted { has_items, window } => {
                let (event, window) = (mark.event, *window);
                let segment = self.segment();
                if matches!(segment.reference, Reference::Unsaid) {
                    segment.reference = Reference::Cleared;
                }
                if *has_items && segment.base.is_none() {
                    segment.base = Some((event, window));
                }
                segment.has_compaction = true;
                segment.states.push(event);
            }
            What::Over(id, end) => {
                if *end == End::Aborted && id.is_none() && self.segment.is_none() {
                    return;
                }
                let segment = self.segment();
                if segment.turn.is_none() {
                    segment.turn.clone_from(id);
                }
            }
            What::Input => self.segment().has_input = true,
            What::Context(context) => {
                let segment = self.segment();
                let id = context.turn_id().map(std::borrow::Cow::into_owned);
                if segment.turn.is_none() {
                    segment.turn.clone_from(&id);
                }
                if !compatible(segment.turn.as_deref(), id.as_deref()) {
                    return;
                }
                // Several contexts in one turn: the oldest says which model it was begun with.
                if let Some(model) = context.model() {
                    segment.model = Some(model.into_owned());
                }
                if matches!(segment.reference, Reference::Unsaid) {
                    segment.reference = Reference::Latest(context.as_ref().clone());
                }
            }
            What::State(state) => {
                let segment = self.segment();
                segment.tells_all |= matches!(state, WorldStateItem::Full(_)) && !segment.has_compaction;
                segment.states.push(mark.event);
            }
            What::Started(id) => {
                if self.last_turn.is_none() {
                    self.last_turn.clone_from(id);
                }
                let ends = self.segment.as_ref().is_some_and(|open| compatible(open.turn.as_deref(), id.as_deref()));
                if ends {
                    self.close();
                }
            }
        }
    }

    /// Ends the segment: it was taken back, or what it says is taken up where nothing newer said it.
    fn close(&mut self) {
        let Some(segment) = self.segment.take() else { return };
        if self.pending > 0 {
            self.pending -= u64::from(segment.has_input);
            return;
        }
        self.states.extend(segment.states);
        let is_baseline = segment.has_input || segment.tells_all;
        self.base = self.base.or(segment.base);
        if is_baseline && !self.has_model && segment.model.is_some() {
            self.has_model = true;
            self.model = segment.model;
        }
        if matches!(self.reference, Reference::Unsaid)
            && (is_baseline || matches!(segment.reference, Reference::Cleared))
        {
            self.reference = segment.reference;
        }
    }

    fn finish(self, marks: &[Mark]) -> Survivors {
        let mut states: Vec<usize> = self.states;
        states.sort_unstable();
        let mut left = Survivors {
            model: self.model,
            reference: match self.reference {
                Reference::Latest(context) => Some(context),
                Reference::Unsaid | Reference::Cleared => None,
            },
            last_turn: self.last_turn,
            ..Survivors::default()
        };
        for mark in marks {
            let is_left = states.binary_search(&mark.event).is_ok();
            match &mark.what {
                What::Compacted { has_items, window } => {
                    left.compactions += 1;
                    // A legacy compaction rebuilds the history from what stands; nothing says what was told of it.
                    let is_legacy = !*has_items && is_left;
                    if is_left {
                        left.baseline = None;
                        left.window_number = window.or(left.window_number);
                    }
                    if is_legacy && self.base.is_none_or(|(base, _)| mark.event > base) {
                        left.reference = None;
                    }
                }
                What::State(state) if is_left => left.tell(state),
                _ => {}
            }
        }
        left.replaced_at.extend(self.base.map(|(event, _)| event).or(self.bound));
        left
    }
}

impl Survivors {
    fn tell(&mut self, state: &WorldStateItem) {
        let text = state.state().as_str();
        match state {
            WorldStateItem::Full(_) => self.baseline = serde_json::from_str(text).ok(),
            WorldStateItem::Patch(_) => match (&mut self.baseline, serde_json::from_str::<MergePatch>(text)) {
                (Some(baseline), Ok(patch)) => baseline.apply_merge_patch(&patch),
                _ => self.ignored_patches += 1,
            },
        }
    }

    /// The model of the last turn that counts; a switch is told against it.
    #[must_use]
    pub fn model(&self) -> Option<&str> {
        self.model.as_deref()
    }

    /// The settings that were last made visible; none means that the next turn says everything.
    #[must_use]
    pub const fn reference_context_item(&self) -> Option<&TurnContextItem> {
        self.reference.as_ref()
    }

    /// The world state that the model is known to have been told.
    #[must_use]
    pub const fn world_state_baseline(&self) -> Option<&WorldStateSnapshot> {
        self.baseline.as_ref()
    }

    /// How many changes of a world state stand where no whole one is known: they say nothing.
    #[must_use]
    pub const fn ignored_patches(&self) -> usize {
        self.ignored_patches
    }

    /// The number of the window: that of the newest compaction that has one, else how many there were.
    #[must_use]
    pub fn window_number(&self) -> u64 {
        self.window_number.unwrap_or(self.compactions)
    }

    /// The turn that was started last.
    #[must_use]
    pub fn last_turn(&self) -> Option<&str> {
        self.last_turn.as_deref()
    }

    /// Says that the compaction of this event takes the place of what stands before it.
    pub(super) fn replaces(&self, event: usize) -> bool {
        self.replaced_at.contains(&event)
    }
}

fn compatible(one: Option<&str>, other: Option<&str>) -> bool {
    one.zip(other).is_none_or(|(one, other)| one == other)
}
