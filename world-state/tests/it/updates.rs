//! Updates become messages: what may share one, and that nothing is moved or lost.

use context_fragments::{ContextItem, FragmentRole, Kind, Role, WireItem};
use proptest::prelude::*;
use serde_json::json;
use world_state::*;

/// One thing to say: a text with its role and placement, or a whole item.
#[derive(Debug, Clone)]
enum Say {
    Text(FragmentRole, Placement, String),
    Item(Placement, String),
}

fn updates(said: Vec<Say>) -> Vec<Update> {
    let section = ExtensionSection::new("x", move |_| {
        said.iter().fold(SectionDiff::set(json!(1)), |diff, say| match say {
            Say::Text(role, placement, text) => {
                diff.tell_at(*placement, &SectionFragment::new("x", *role, text.as_str()))
            }
            Say::Item(placement, text) => {
                let item = ContextItem::new(WireItem::developer_text(text), [Kind::from_static("x.item")]);
                diff.item(*placement, item)
            }
        })
    });
    let mut world = WorldState::new();
    world.set_extension(section.with_volatility(Volatility::Static)).unwrap();
    world.render_full().unwrap().updates
}

/// A message as `D[text, text]`, with its kinds counted.
fn show(item: &ContextItem) -> String {
    let texts = texts(item);
    assert_eq!(item.kinds().len(), texts.len(), "one kind for each content part");
    let role = match item.item().role() {
        Some(Role::User) => "U",
        Some(Role::Developer) => "D",
        other => panic!("{other:?}"),
    };
    format!("{role}[{}]", texts.join(", "))
}

fn texts(item: &ContextItem) -> Vec<String> {
    let parts = item.item().json().member("content").unwrap().elements();
    parts.map(|part| part.member("text").unwrap().to_str().unwrap().into_owned()).collect()
}

fn developer(placement: Placement, text: &str) -> Say {
    Say::Text(FragmentRole::Developer, placement, text.into())
}

#[test]
fn neighbours_of_a_role_share_a_message() {
    use Placement::{Mergeable, Prefix, Standalone};
    let said = vec![
        developer(Mergeable, "before one"),
        developer(Mergeable, "before two"),
        developer(Prefix, "prefix"),
        developer(Mergeable, "after prefix"),
        Say::Item(Prefix, "prefix item".into()),
        developer(Mergeable, "after"),
        developer(Standalone, "standalone"),
        developer(Mergeable, "last developer"),
        Say::Text(FragmentRole::User, Mergeable, "user".into()),
        Say::Item(Standalone, "standalone item".into()),
    ];
    let items = merge_updates(updates(said.clone()));
    assert_eq!(
        items.iter().map(show).collect::<Vec<_>>(),
        [
            "D[before one, before two]",
            "D[prefix]",
            "D[after prefix]",
            "D[prefix item]",
            "D[after]",
            "D[standalone]",
            "D[last developer]",
            "U[user]",
            "D[standalone item]",
        ]
    );
    let items = initial_context(updates(said));
    assert_eq!(
        items.iter().map(show).collect::<Vec<_>>(),
        [
            "D[prefix]",
            "D[prefix item]",
            "D[before one, before two, after prefix, after, last developer]",
            "D[standalone]",
            "D[standalone item]",
            "U[user]",
        ]
    );
}

#[test]
fn nothing_gives_nothing() {
    assert_eq!(merge_updates([]), []);
    assert_eq!(initial_context([]), []);
    assert_eq!(split_prefix_updates([]), (vec![], vec![]));
}

#[test]
fn an_update_tells_its_section_and_its_cost() {
    let updates = updates(vec![developer(Placement::Mergeable, "12345"), Say::Item(Placement::Standalone, "x".into())]);
    assert_eq!((updates[0].section(), updates[0].estimate(), updates[0].text()), ("x", 2, Some("12345")));
    assert!(matches!(updates[0].content(), UpdateContent::Fragment(fragment) if fragment.text() == "12345"));
    let bytes = WireItem::developer_text("x").as_bytes().len();
    assert_eq!((updates[1].estimate(), updates[1].text()), (bytes.div_ceil(4), None));
}

fn any_say() -> impl Strategy<Value = Say> {
    let role = prop_oneof![Just(FragmentRole::User), Just(FragmentRole::Developer)];
    let placement =
        prop_oneof![1 => Just(Placement::Prefix), 1 => Just(Placement::Standalone), 3 => Just(Placement::Mergeable)];
    prop_oneof![
        4 => (role, placement.clone()).prop_map(|(role, placement)| Say::Text(role, placement, String::new())),
        1 => placement.prop_map(|placement| Say::Item(placement, String::new())),
    ]
}

/// Each says its own number, so that a text that is moved, dropped or doubled shows.
fn numbered(said: Vec<Say>) -> Vec<Say> {
    let number = |(position, say)| match say {
        Say::Text(role, placement, _) => Say::Text(role, placement, format!("{position}")),
        Say::Item(placement, _) => Say::Item(placement, format!("{position}")),
    };
    said.into_iter().enumerate().map(number).collect()
}

fn role_of(say: &Say) -> &'static str {
    match say {
        Say::Text(FragmentRole::User, ..) => "U",
        Say::Text(FragmentRole::Developer, ..) | Say::Item(..) => "D",
    }
}

proptest! {
    #[test]
    fn merging_never_moves_drops_or_mixes(said in prop::collection::vec(any_say(), 0..12)) {
        let said = numbered(said);
        let items = merge_updates(updates(said.clone()));
        let mut expected = 0;
        for item in &items {
            let shown = show(item);
            for text in texts(item) {
                prop_assert_eq!(text, expected.to_string());
                prop_assert_eq!(&shown[..1], role_of(&said[expected]));
                expected += 1;
            }
        }
        prop_assert_eq!(expected, said.len());
    }

    #[test]
    fn opening_a_window_keeps_everything_in_order_of_role(said in prop::collection::vec(any_say(), 0..12)) {
        let said = numbered(said);
        let items = initial_context(updates(said.clone()));
        let mut positions: Vec<usize> = Vec::new();
        for item in &items {
            let shown = show(item);
            for text in texts(item) {
                let position: usize = text.parse().unwrap();
                prop_assert_eq!(&shown[..1], role_of(&said[position]));
                positions.push(position);
            }
        }
        positions.sort_unstable();
        prop_assert_eq!(positions, (0..said.len()).collect::<Vec<_>>());
    }
}
