//! Calls of a turn that wait for their outputs.

use std::borrow::Cow;

use context_fragments::{ContextItem, ItemType, WireItem, json::Json};
use context_manager::{HistorySnapshot, Position, ResponseItemEnvelope, TurnId};

use crate::{Error, ToolResult, input::ToolBody};

/// A call of the model that has no output yet, with all that is needed to run it.
///
/// It is owned: it borrows nothing of the turn, so that calls can be run side by side.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpenCall {
    item: WireItem,
    call_id: String,
    position: Position,
    turn: Option<TurnId>,
}

impl OpenCall {
    /// The id by which the output names the call.
    #[must_use]
    pub fn call_id(&self) -> &str {
        &self.call_id
    }

    /// The tool; none for a local shell call and a tool search, which have no name.
    #[must_use]
    pub fn name(&self) -> Option<Cow<'_, str>> {
        self.item.json().member("name").and_then(Json::to_str)
    }

    /// What the tool is given: the arguments of a function call as JSON text, the input of a custom call as it is.
    #[must_use]
    pub fn arguments(&self) -> Cow<'_, str> {
        let json = self.item.json();
        let given = ["arguments", "input", "action"].into_iter().find_map(|key| json.member(key));
        given.map_or(Cow::Borrowed(""), |given| given.to_str().unwrap_or_else(|| Cow::Borrowed(given.as_raw())))
    }

    /// The item.
    #[must_use]
    pub const fn item(&self) -> &WireItem {
        &self.item
    }

    /// Where the call stands in the history.
    #[must_use]
    pub const fn position(&self) -> Position {
        self.position
    }

    /// The turn that it belongs to.
    #[must_use]
    pub const fn turn(&self) -> Option<&TurnId> {
        self.turn.as_ref()
    }

    /// Says that the call stands in `history` and that no output behind it answers it.
    pub(crate) fn waits_in(&self, history: &HistorySnapshot) -> bool {
        let stands = history.entry_at(self.position).and_then(|entry| entry.as_item());
        let output = output_of(self.item.item_type());
        let answers =
            |item: &WireItem| Some(item.item_type()) == output && item.call_id().is_some_and(|id| *id == *self.call_id);
        stands.is_some_and(|stands| stands.item() == &self.item)
            && !history
                .items()
                .rev()
                .take_while(|item| item.position() > self.position)
                .any(|item| answers(item.item()))
    }

    /// Makes the output item of a result.
    pub(crate) fn output(&self, result: &ToolResult) -> Result<ContextItem, Error> {
        let wrong = |found: String| Error::WrongOutput { call_id: self.call_id.clone(), found };
        match (&result.body, self.item.item_type()) {
            (ToolBody::Text(text), ItemType::FunctionCall | ItemType::LocalShellCall) => {
                Ok(WireItem::function_call_output(&self.call_id, text).into())
            }
            (ToolBody::Text(text), ItemType::CustomToolCall) => {
                Ok(WireItem::custom_tool_call_output(&self.call_id, text).into())
            }
            (ToolBody::Text(_), _) => Err(wrong("a text, where this call needs an output item".into())),
            (ToolBody::Item(item), call_type) => {
                if output_of(call_type) != Some(item.item_type()) {
                    return Err(wrong(format!("an item of type `{}`", item.type_name())));
                }
                match item.call_id() {
                    Some(found) if found == self.call_id => Ok(item.clone().into()),
                    Some(found) => Err(wrong(format!("an output of the call `{found}`"))),
                    None => Err(wrong("an output without a call id".into())),
                }
            }
        }
    }
}

/// The calls that wait, in the order in which they were made.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct OpenCalls(Vec<OpenCall>);

impl OpenCalls {
    pub(crate) fn iter(&self) -> impl Iterator<Item = &OpenCall> {
        self.0.iter()
    }

    pub(crate) fn to_vec(&self) -> Vec<OpenCall> {
        self.0.clone()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Says that another call waits for an output that looks the same.
    pub(crate) fn is_ambiguous(&self, call: &OpenCall) -> bool {
        self.0.iter().filter(|open| open.call_id == call.call_id).count() > 1
    }

    pub(crate) fn contains(&self, call: &OpenCall) -> bool {
        self.0.contains(call)
    }

    /// Takes an item that was recorded: a call opens, its output closes it.
    ///
    /// Two calls with one id may wait; `answers` says which of them the output is for. Without it that is the older one.
    pub(crate) fn note(&mut self, envelope: &ResponseItemEnvelope, answers: Option<Position>) {
        let item = envelope.item();
        // A call without a usable id cannot be answered; a projection leaves it out and says so.
        let Some(call_id) = item.call_id() else { return };
        if output_of(item.item_type()).is_some() {
            self.0.push(OpenCall {
                call_id: call_id.into_owned(),
                position: envelope.position(),
                turn: envelope.turn().cloned(),
                item: item.clone(),
            });
            return;
        }
        let fits =
            |open: &OpenCall| open.call_id == call_id && output_of(open.item.item_type()) == Some(item.item_type());
        let named = self.0.iter().position(|open| fits(open) && Some(open.position) == answers);
        let answered = named.or_else(|| self.0.iter().position(fits));
        if let Some(answered) = answered {
            self.0.remove(answered);
        }
    }
}

/// The type of the output that a call of this type needs; none for what is no call.
pub(crate) const fn output_of(call: ItemType) -> Option<ItemType> {
    match call {
        ItemType::FunctionCall | ItemType::LocalShellCall => Some(ItemType::FunctionCallOutput),
        ItemType::CustomToolCall => Some(ItemType::CustomToolCallOutput),
        ItemType::ToolSearchCall => Some(ItemType::ToolSearchOutput),
        _ => None,
    }
}
