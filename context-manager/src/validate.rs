//! What a provider would refuse of a history as it stands.

use std::collections::HashSet;

use context_fragments::{ContentItem, ItemType, Role, WireItem};

use crate::{
    DuplicateId, EarlyOutput, Estimate, FirstItem, HistorySnapshot, ImageSize, Mend, MisshapenId, Model, Position,
    Profile, PromptItem, Repair, Rule, RuleSource,
    call_state::CallStates,
    findings::found_images,
    normalize::{StoredItems, Target, Tools, project},
};

/// Something that a provider refuses.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Violation {
    /// The rule.
    pub rule: Rule,
    /// The entry of the history; none for the input as a whole.
    pub position: Option<Position>,
    /// The id of the item, if it has one.
    pub item_id: Option<String>,
    /// The call id of the item, if it has one.
    pub call_id: Option<String>,
    /// The member that the rule is about, such as `arguments` or `content[2]`; empty for all of the item.
    pub path: String,
    /// The size of the image that the rule is about.
    pub image_size: Option<ImageSize>,
    /// What is wrong.
    pub why: String,
    /// Says that a projection with this profile mends it, without a change of the history.
    pub is_mended: bool,
    /// Where the rule is from.
    pub source: Option<RuleSource>,
}

/// Finds what the provider of `profile` refuses in `history`, for a prompt to `model`.
///
/// # Shape
/// First what a projection could mend, in the order in which it does so; then what none can: the shape of call ids, too
/// many images, too large an input, a first item that is not the user's. A rule that the profile
/// [allows](Mend::Allow) is no rule.
///
/// # Example
/// ```
/// use context_fragments::{Limit, WireItem};
/// use context_manager::{ContextManager, Model, Profile, Recording, Rule, TruncationPolicy, validate};
///
/// let mut manager = ContextManager::new();
/// let recording = Recording::new(TruncationPolicy::new(Limit::Tokens(10_000)));
/// manager.record_items([WireItem::function_call("shell", "{", "c1")], &recording)?;
///
/// let found = validate(manager.history(), &Model::new("m1"), &Profile::codex());
/// let found: Vec<_> = found.iter().map(|found| (found.rule, found.path.as_str(), found.is_mended)).collect();
/// assert_eq!(found, [(Rule::BadArguments, "arguments", false), (Rule::MissingOutput, "", true)]);
/// # Ok::<(), context_manager::Error>(())
/// ```
#[must_use]
pub fn validate(history: &HistorySnapshot, model: &Model, profile: &Profile) -> Vec<Violation> {
    let sources = StoredItems { log: &history.log, closed: &[] };
    let target = Target { allowed: model.modalities(), model: Some(model.name()) };
    let states = CallStates::default();
    let projected =
        |profile: &Profile| project(&sources, target, &Tools { profile, counter: &Estimate, states: &states });

    let all = projected(&strict(profile));
    let mut found: Vec<Violation> = all.repairs.iter().map(|repair| Violation::mendable(repair, profile)).collect();
    let own = projected(profile);
    // An item that the strict profile leaves out may have more that is wrong with it.
    let named: HashSet<_> = found.iter().map(|found| (found.rule, found.position, found.path.clone())).collect();
    let more = own.repairs.iter().map(|repair| Violation::mendable(repair, profile));
    found.extend(more.filter(|more| !named.contains(&(more.rule, more.position, more.path.clone()))));
    beyond_mending(&own.items, profile, &mut found);
    found
}

impl Violation {
    fn mendable(repair: &Repair, profile: &Profile) -> Self {
        Self {
            rule: repair.rule(),
            position: repair.position(),
            item_id: repair.item_id().map(str::to_owned),
            call_id: repair.call_id().map(str::to_owned),
            path: repair.path(),
            image_size: repair.image_size(),
            why: repair.why().to_owned(),
            is_mended: is_mended(repair.rule(), profile),
            source: profile.source_of(repair.rule()).cloned(),
        }
    }

    fn of(rule: Rule, item: &PromptItem, path: String, why: String, profile: &Profile) -> Self {
        Self {
            rule,
            position: item.provenance().position,
            item_id: item.item().item_id().map(std::borrow::Cow::into_owned),
            call_id: item.item().call_id().map(std::borrow::Cow::into_owned),
            path,
            image_size: None,
            why,
            is_mended: false,
            source: profile.source_of(rule).cloned(),
        }
    }
}

/// The profile that mends all that its provider refuses, so that its repairs name all of it.
fn strict(profile: &Profile) -> Profile {
    let mut strict = profile.clone();
    strict.early_output = EarlyOutput::Move;
    strict.misshapen_id = MisshapenId::Remove;
    strict.duplicate_id = DuplicateId::Rename;
    for mend in [
        &mut strict.bad_arguments,
        &mut strict.blank_text,
        &mut strict.blank_output,
        &mut strict.unsigned_reasoning,
        &mut strict.cut_signature,
        &mut strict.lone_reasoning,
        &mut strict.foreign_reasoning,
        &mut strict.ids_without_reasoning,
        &mut strict.repeated_item_id,
        &mut strict.undecodable_image,
        &mut strict.large_image,
    ] {
        if *mend == Mend::Keep {
            *mend = Mend::Apply;
        }
    }
    strict
}

/// Says that a projection with `profile` mends what `rule` is about.
fn is_mended(rule: Rule, profile: &Profile) -> bool {
    let row = match rule {
        Rule::EarlyOutput => return profile.early_output == EarlyOutput::Move || profile.places_outputs(),
        Rule::OutputOrder => return profile.places_outputs(),
        Rule::MisshapenCallId => return profile.misshapen_id == MisshapenId::Remove,
        Rule::DuplicateCallId | Rule::DuplicateOutput => return profile.duplicate_id == DuplicateId::Rename,
        Rule::BadArguments => profile.bad_arguments,
        Rule::BlankText => profile.blank_text,
        Rule::BlankOutput => profile.blank_output,
        Rule::UnsignedReasoning => profile.unsigned_reasoning,
        Rule::CutSignature => profile.cut_signature,
        Rule::LoneReasoning => profile.lone_reasoning,
        Rule::ForeignReasoning => profile.foreign_reasoning,
        Rule::IdWithoutReasoning => profile.ids_without_reasoning,
        Rule::RepeatedItemId => profile.repeated_item_id,
        Rule::ImageUndecodable => profile.undecodable_image,
        Rule::ImageTooLarge => profile.large_image,
        _ => return true,
    };
    row == Mend::Apply
}

/// Finds what is refused even of a projection.
fn beyond_mending(items: &[PromptItem], profile: &Profile, found: &mut Vec<Violation>) {
    for item in items {
        if let Some(id) = item.item().call_id().filter(|id| !profile.call_id.admits(id)) {
            let why = format!("the call id has {} characters, or others than are taken", id.chars().count());
            found.push(Violation::of(Rule::CallIdShape, item, "call_id".into(), why, profile));
        }
    }
    let all_images: usize = items.iter().map(|item| images_of(item.item())).sum();
    if let Some((_, max)) = profile.many_images_px.filter(|(above, _)| all_images > *above) {
        for item in items {
            for image in found_images(item.item()).iter().flat_map(|images| images.iter()) {
                let Some(size) = image.size.filter(|size| size.longest() > max) else { continue };
                let path = format!("{}[{}]", image.key, image.part);
                let why = format!("a side may have {max} pixels where there are {all_images} images");
                let mut large = Violation::of(Rule::ImageTooLarge, item, path, why, profile);
                large.image_size = Some(size);
                found.push(large);
            }
        }
    }
    let mut images = 0_usize;
    for item in items {
        let before = images;
        images += images_of(item.item());
        if let Some(max) = profile.max_images.filter(|max| before <= *max && images > *max) {
            let why = format!("this is image {} of at most {max}", max + 1);
            found.push(Violation::of(Rule::TooManyImages, item, String::new(), why, profile));
        }
    }
    let mut bytes = 2_usize;
    for item in items {
        let before = bytes;
        bytes = bytes.saturating_add(item.item().as_bytes().len() + 1);
        if let Some(max) = profile.max_input_bytes.filter(|max| before <= *max && bytes > *max) {
            let why = format!("with this item the input has {bytes} of at most {max} bytes");
            found.push(Violation::of(Rule::InputTooLarge, item, String::new(), why, profile));
        }
    }
    let is_host = |item: &&PromptItem| matches!(item.item().role(), Some(Role::Developer | Role::System));
    if let Some(first) = items.iter().find(|item| !is_host(item))
        && profile.first_item == FirstItem::User
        && (first.item().item_type() != ItemType::Message || first.item().role() != Some(Role::User))
    {
        let why = format!("a {} comes first", first.item().type_name());
        found.push(Violation::of(Rule::FirstItem, first, String::new(), why, profile));
    }
}

fn images_of(item: &WireItem) -> usize {
    if !item.has_images() {
        return 0;
    }
    let parts = ["content", "output"].into_iter().filter_map(|key| item.json().member(key));
    let is_image = |part: &ContentItem<'_>| matches!(part, ContentItem::InputImage { .. });
    let listed = parts.flat_map(|list| list.elements()).map(ContentItem::parse).filter(is_image).count();
    listed.max(usize::from(item.item_type() == ItemType::ImageGenerationCall))
}
