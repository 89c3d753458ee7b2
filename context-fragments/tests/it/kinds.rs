//! Kinds, the set of them, and items that carry them.

use context_fragments::{ContextItem, Kind, RetainedKinds, WireItem};

#[test]
fn kinds_compare_by_label_however_they_were_made() {
    let made = Kind::new(String::from("agents_md.instructions"));
    assert_eq!(made, Kind::AGENTS_MD);
    assert_eq!(serde_json::to_string(&made).unwrap(), r#""agents_md.instructions""#);
    assert_eq!(serde_json::from_str::<Kind>(r#""agents_md.instructions""#).unwrap(), Kind::AGENTS_MD);
    assert_eq!(format!("{made} {made:?}"), r#"agents_md.instructions Kind("agents_md.instructions")"#);
}

#[test]
fn people_are_told_from_hosts_by_the_published_list() {
    let user = ["user.text", "user.image", "user.audio", "user.", "", "unknown", "images.unsupported"];
    let user = user.iter().chain(&["audio.unsupported", "images.preparation_error"]);
    assert!(user.clone().all(|label| Kind::new(*label).is_user_authored()));
    let host = ["agents_md.instructions", "User.text", "user", "tools.incremental_update", "x.instructions"];
    assert!(!host.iter().any(|label| Kind::new(*label).is_user_authored()));
}

#[test]
fn a_set_holds_each_kind_once_and_sorted() {
    let mut kinds: RetainedKinds = [&Kind::PERMISSIONS, &Kind::AGENTS_MD, &Kind::PERMISSIONS].into_iter().collect();
    let before = kinds.clone();
    assert!(!kinds.insert(&Kind::AGENTS_MD));
    assert_eq!(kinds, before);
    assert!(kinds.insert(&Kind::ENVIRONMENT_CONTEXT));
    assert!(!before.contains(&Kind::ENVIRONMENT_CONTEXT), "a clone is not changed by what comes later");
    let labels: Vec<_> = kinds.iter().map(Kind::as_str).collect();
    assert_eq!(labels, ["agents_md.instructions", "environments.environment_context", "permissions.instructions"]);
    assert!(!RetainedKinds::new().contains_any(&[Kind::AGENTS_MD]));
}

#[test]
fn an_item_from_a_log_without_kinds_has_none() {
    let item = ContextItem::from(WireItem::user_text("a"));
    assert!(item.kinds().is_empty());
    let (wire, kinds) = ContextItem::user_text("a").into_parts();
    assert_eq!((&wire, kinds.as_ref()), (item.item(), [Kind::USER_TEXT].as_slice()));
}
