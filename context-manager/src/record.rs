//! Taking items into the history: the filter, the bound, and what is made once.

use std::sync::Arc;

use context_fragments::{ContextItem, ItemType, Limit, Role, WireItem};

use crate::{
    Digest, Error, Origin, Position, ResponseItemEnvelope, State, TokenCounter, TruncationPolicy, TurnId,
    measured::Measured,
    truncate::{cut_output, is_cuttable},
};

/// How items are recorded; there is no way to record without a bound.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Recording {
    /// To what tool outputs are held.
    pub tool_output: TruncationPolicy,
    /// The largest item in bytes, after the cut of a tool output. 32 MiB by default: no provider takes a larger request.
    pub max_item_bytes: usize,
    /// The turn that the items belong to.
    pub turn: Option<TurnId>,
    /// The model that makes what a model makes; none if it is not known.
    pub model: Option<Arc<str>>,
}

impl Recording {
    /// Records with this policy, a cap of 32 MiB an item, no turn and no model.
    #[must_use]
    pub const fn new(tool_output: TruncationPolicy) -> Self {
        Self { tool_output, max_item_bytes: 32 << 20, turn: None, model: None }
    }

    /// The same for one turn.
    #[must_use]
    pub fn in_turn(mut self, turn: TurnId) -> Self {
        self.turn = Some(turn);
        self
    }

    /// The same for what the model with this name makes.
    ///
    /// Some reasoning can be read by the model that wrote it, and by no other one.
    #[must_use]
    pub fn by_model(mut self, name: impl Into<Arc<str>>) -> Self {
        self.model = Some(name.into());
        self
    }

    /// The same with another cap on the bytes of an item.
    #[must_use]
    pub const fn with_max_item_bytes(mut self, max_item_bytes: usize) -> Self {
        self.max_item_bytes = max_item_bytes;
        self
    }
}

/// An item on its way into the history, with what only the host knows of it.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Incoming {
    /// The item.
    pub item: ContextItem,
    /// Who made it; [`Origin::of`] where the host does not say.
    pub origin: Option<Origin>,
    /// The order in which the host accepted it, where that is not the order of recording.
    pub acceptance_order: Option<u64>,
    /// A limit in tokens for this one tool output, instead of the policy's; used as it is.
    pub limit_tokens: Option<usize>,
}

impl Incoming {
    /// Takes an item of which the host says nothing.
    #[must_use]
    pub const fn new(item: ContextItem) -> Self {
        Self { item, origin: None, acceptance_order: None, limit_tokens: None }
    }

    /// The same, made by `origin`.
    #[must_use]
    pub const fn by(mut self, origin: Origin) -> Self {
        self.origin = Some(origin);
        self
    }

    /// The same, accepted as number `order`.
    #[must_use]
    pub const fn accepted_as(mut self, order: u64) -> Self {
        self.acceptance_order = Some(order);
        self
    }

    /// The same, held to `tokens` if it is a tool output.
    #[must_use]
    pub const fn held_to(mut self, tokens: usize) -> Self {
        self.limit_tokens = Some(tokens);
        self
    }
}

impl From<ContextItem> for Incoming {
    fn from(item: ContextItem) -> Self {
        Self::new(item)
    }
}

impl From<WireItem> for Incoming {
    fn from(item: WireItem) -> Self {
        Self::new(item.into())
    }
}

/// An item that passed the filter and the bound, with its digest and its estimate: appending it cannot fail.
///
/// Its place in memory is the one that it keeps in the history: appending moves a handle and sets the position and the
/// state.
#[derive(Clone, Debug)]
pub struct ReadyItem(Arc<ResponseItemEnvelope>);

impl ReadyItem {
    /// The envelope at `position`, with the state that `state` makes of the item. Nothing is copied, unless a clone of
    /// this handle is alive.
    pub(crate) fn placed(
        mut self,
        position: Position,
        moved_from: Option<Position>,
        state: impl FnOnce(&Measured) -> State,
    ) -> Arc<ResponseItemEnvelope> {
        let envelope = Arc::make_mut(&mut self.0);
        envelope.measured.set_moved_from(moved_from);
        envelope.position = position;
        envelope.state = state(&envelope.measured);
        self.0
    }

    /// The item as it will stand in the history.
    #[must_use]
    pub fn context_item(&self) -> &ContextItem {
        self.0.context_item()
    }

    /// The SHA-256 of the item's bytes.
    #[must_use]
    pub fn digest(&self) -> Digest {
        self.0.digest()
    }

    /// The estimate, in tokens.
    #[must_use]
    pub fn tokens(&self) -> u64 {
        self.0.tokens()
    }

    /// The limit to which a tool output was held.
    #[must_use]
    pub fn truncation_limit(&self) -> Option<Limit> {
        self.0.truncation_limit()
    }

    /// Who made it.
    #[must_use]
    pub fn origin(&self) -> Origin {
        self.0.origin()
    }
}

impl From<Measured> for ReadyItem {
    fn from(measured: Measured) -> Self {
        Self(Arc::new(ResponseItemEnvelope { measured, position: Position::new(0), state: State::default() }))
    }
}

/// Why an item is no part of a history.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum DropReason {
    /// A system message: base instructions are a part of the prompt, not an item.
    SystemMessage,
    /// A configuration update that the host has not vouched for.
    UntrustedConfigurationUpdate,
    /// A compaction trigger speaks to one request.
    RequestControl,
    /// Nobody knows what a provider would make of it.
    UnknownType,
}

/// An item that the filter kept out, handed back.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Dropped {
    /// Which of the given items, from 0.
    pub index: usize,
    /// The item.
    pub item: WireItem,
    /// Why it was kept out.
    pub reason: DropReason,
}

/// The whole of an output that was cut, for the log.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Original {
    /// Which of the given items, from 0.
    pub index: usize,
    /// Where the cut item stands, once it is recorded.
    pub position: Option<Position>,
    /// The item as it was given.
    pub item: WireItem,
}

/// Items that can be appended: nothing has been recorded yet.
///
/// A host that writes its log first takes them, writes them, and appends them when the write has succeeded.
#[derive(Clone, Debug, Default)]
pub struct Admitted {
    pub(crate) ready: Vec<(usize, ReadyItem)>,
    pub(crate) dropped: Vec<Dropped>,
    pub(crate) originals: Vec<Original>,
}

impl Admitted {
    /// The items that will be appended, in their order.
    pub fn items(&self) -> impl Iterator<Item = &ReadyItem> {
        self.ready.iter().map(|(_, ready)| ready)
    }

    /// The items that the filter kept out.
    #[must_use]
    pub fn dropped(&self) -> &[Dropped] {
        &self.dropped
    }

    /// The whole of every output that was cut.
    #[must_use]
    pub fn originals(&self) -> &[Original] {
        &self.originals
    }

    /// The items alone.
    #[must_use]
    pub fn into_items(self) -> Vec<ReadyItem> {
        self.ready.into_iter().map(|(_, ready)| ready).collect()
    }
}

/// What recording did.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Recorded {
    /// Where the items stand, in their order.
    pub positions: Vec<Position>,
    /// The items that the filter kept out.
    pub dropped: Vec<Dropped>,
    /// The whole of every output that was cut.
    pub originals: Vec<Original>,
}

/// Filters, bounds and measures `items`.
pub(crate) fn admit(
    items: impl IntoIterator<Item = Incoming>,
    recording: &Recording,
    counter: &dyn TokenCounter,
) -> Result<Admitted, Error> {
    let mut admitted = Admitted::default();
    for (index, incoming) in items.into_iter().enumerate() {
        let origin = incoming.origin.unwrap_or_else(|| Origin::of(&incoming.item));
        if let Some(reason) = drop_reason(incoming.item.item(), origin) {
            admitted.dropped.push(Dropped { index, item: incoming.item.item().clone(), reason });
            continue;
        }
        let (item, limit) = match bounded(&incoming, recording) {
            Bounded::AsItIs => (incoming.item, None),
            Bounded::Fits(limit) => (incoming.item, Some(limit)),
            Bounded::Cut(limit, cut) => {
                let (original, kinds) = incoming.item.into_parts();
                admitted.originals.push(Original { index, position: None, item: original });
                (ContextItem::new(cut, kinds), Some(limit))
            }
        };
        let bytes = item.item().as_bytes().len();
        if bytes > recording.max_item_bytes {
            return Err(Error::ItemTooLarge { index, bytes, max_bytes: recording.max_item_bytes });
        }
        let mut measured = Measured::new(item, counter);
        measured.findings.origin = origin;
        measured.turn.clone_from(&recording.turn);
        if origin == Origin::Model {
            measured.model.clone_from(&recording.model);
        }
        measured.set_acceptance_order(incoming.acceptance_order);
        measured.limit = limit;
        admitted.ready.push((index, measured.into()));
    }
    Ok(admitted)
}

fn drop_reason(item: &WireItem, origin: Origin) -> Option<DropReason> {
    match item.item_type() {
        ItemType::Message if item.role() == Some(Role::System) => Some(DropReason::SystemMessage),
        ItemType::ConfigurationUpdate if origin != Origin::Host => Some(DropReason::UntrustedConfigurationUpdate),
        ItemType::CompactionTrigger => Some(DropReason::RequestControl),
        ItemType::Unknown => Some(DropReason::UnknownType),
        _ => None,
    }
}

enum Bounded {
    AsItIs,
    Fits(Limit),
    Cut(Limit, WireItem),
}

fn bounded(incoming: &Incoming, recording: &Recording) -> Bounded {
    let item = incoming.item.item();
    if !is_cuttable(item.item_type()) {
        return Bounded::AsItIs;
    }
    let policy = recording.tool_output;
    let limit = incoming.limit_tokens.map_or_else(|| policy.effective_limit(), Limit::Tokens);
    match cut_output(item, limit, policy.marker_room()) {
        None => Bounded::Fits(limit),
        Some(cut) => Bounded::Cut(limit, cut),
    }
}
