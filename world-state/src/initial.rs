//! The messages that open a window.

use context_fragments::{ContextItem, FragmentRole, Kind, RenderedFragment, Role};

use crate::update::{Placement, Update, UpdateContent, message_of, split_prefix_updates};

/// Makes the messages that open a window: the whole context, grouped by role.
///
/// # Shape
/// 1. What belongs to the prefix, one message each.
/// 2. One developer message, with the model switch first; then the developer messages that stand alone.
/// 3. One user message; then the user messages that stand alone.
/// 4. What an administrator demands, so that it has the last word.
///
/// Within a group, the order of the updates. A group without parts gives no message. A whole item of another role than
/// user stands with the developer messages, so that nothing is dropped.
///
/// # Example
/// ```
/// use context_fragments::UserInstructions;
/// use world_state::{AgentsMdState, PermissionsState, WorldState, initial_context};
///
/// let mut world = WorldState::new();
/// world.set(AgentsMdState::new(Some(UserInstructions::new(Some("/r".into()), "Use tabs."))))?;
/// world.set(PermissionsState::new("Reading is allowed."))?;
/// let items = initial_context(world.render_full()?.updates);
/// let kinds: Vec<&str> = items.iter().map(|item| item.kinds()[0].as_str()).collect();
/// assert_eq!(kinds, ["permissions.instructions", "agents_md.instructions"]);
/// # Ok::<(), world_state::Error>(())
/// ```
#[must_use]
pub fn initial_context(updates: impl IntoIterator<Item = Update>) -> Vec<ContextItem> {
    let (mut items, rest) = split_prefix_updates(updates);
    let mut developer = Group::default();
    let mut user = Group::default();
    let (last, rest): (Vec<Update>, Vec<Update>) =
        rest.into_iter().partition(|update| update.has_kind(&Kind::MANAGED_DEVELOPER_INSTRUCTIONS));
    for update in rest {
        let group = if is_of_user(&update) { &mut user } else { &mut developer };
        group.add(update);
    }
    developer.finish(&mut items);
    user.finish(&mut items);
    items.extend(last.into_iter().filter_map(Update::into_item));
    items
}

/// Collects what is said in one role.
#[derive(Default)]
struct Group {
    bundle: Vec<RenderedFragment>,
    n_switches: usize,
    alone: Vec<Update>,
}

impl Group {
    fn add(&mut self, update: Update) {
        // A switch is a message of its own where it comes up later; here it opens the bundle.
        let is_switch = update.has_kind(&Kind::MODEL_SWITCH);
        if !is_switch && update.placement() != Placement::Mergeable {
            self.alone.push(update);
            return;
        }
        match update.into_fragment() {
            Ok(fragment) if is_switch => {
                self.bundle.insert(self.n_switches, fragment);
                self.n_switches += 1;
            }
            Ok(fragment) => self.bundle.push(fragment),
            Err(item) => self.alone.push(item),
        }
    }

    fn finish(self, items: &mut Vec<ContextItem>) {
        items.extend(message_of(&self.bundle));
        items.extend(self.alone.into_iter().filter_map(Update::into_item));
    }
}

fn is_of_user(update: &Update) -> bool {
    match update.content() {
        UpdateContent::Fragment(fragment) => fragment.role() == FragmentRole::User,
        UpdateContent::Item(item) => item.item().role() == Some(Role::User),
    }
}
