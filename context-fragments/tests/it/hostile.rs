//! Texts that are made to cost: looking for markers is linear, and nothing panics.

use std::time::{Duration, Instant};

use context_fragments::*;
use proptest::prelude::*;

fn everything(text: &str) {
    let item = ContextItem::from(WireItem::user_text(text));
    drop((classify_old(&item), visible(&item)));
    for entry in fragment_table() {
        let _: bool = (entry.matches_text)(text);
    }
    drop((recognise_developer_text(text), HookPrompt::parse(text)));
    drop(UserInstructions::new(None, text).render());
    drop(AdditionalContextUser::new("k", text).render());
}

#[test]
fn near_misses_are_looked_through_in_linear_time() {
    let seconds = |n_bytes: usize| {
        let texts = [
            "<".repeat(n_bytes),
            "</".repeat(n_bytes / 2),
            "</INSTRUCTION".repeat(n_bytes / 13),
            "</external_k".repeat(n_bytes / 12),
            format!("<external_{}", ">".repeat(n_bytes)),
            format!("<hook_prompt hook_run_id=\"x\">{}</hook_prompt>", "&".repeat(n_bytes)),
            "é".repeat(n_bytes / 2),
        ];
        let start = Instant::now();
        texts.iter().for_each(|text| everything(text));
        start.elapsed()
    };
    let small = seconds(1 << 15);
    let large = seconds(1 << 18);
    // Eight times the bytes; quadratic work would take sixty-four times as long.
    assert!(large < small * 40 + Duration::from_secs(2), "{small:?} for 32 KiB, {large:?} for 256 KiB");
}

proptest! {
    #[test]
    fn any_text_can_be_looked_at(text in any::<String>(), near in "(</?(external_k|INSTRUCTIONS|hook_prompt|image)( hook_run_id=\"1\")?>|&lt;|é| |x){0,12}") {
        everything(&text);
        everything(&near);
    }

    #[test]
    fn parts_and_kinds_never_come_apart(
        texts in prop::collection::vec("[a-z<>é\"\\\\]{0,6}", 0..5),
        n_kinds in 0..6usize,
        removed in any::<prop::sample::Index>(),
    ) {
        let parts: Vec<_> = texts.iter().map(|text| Part::InputText(text)).collect();
        let kinds: Vec<_> = (0..n_kinds).map(|n| Kind::new(format!("k.{n}"))).collect();
        let item = ContextItem::new(WireItem::message(Role::User, &parts), kinds);
        let mut parts = item.annotated();
        prop_assert_eq!(parts.len(), texts.len());
        prop_assert_eq!(&item.with_annotated(&parts).unwrap(), &item);
        if !parts.is_empty() {
            parts.remove(removed.index(parts.len()));
            let edited = item.with_annotated(&parts).unwrap();
            prop_assert_eq!(edited.annotated(), parts.clone());
            prop_assert_eq!(edited.kinds().len(), parts.len());
        }
        prop_assert_eq!(classify(&item).parts.len(), texts.len());
    }
}

/// The case rows that this crate owns.
#[test]
fn every_case_row_has_a_test() {
    let source = include_str!("classify.rs");
    for row in ["b22", "b23", "b24"] {
        assert!(source.contains(&format!("#[test]\nfn {row}_")), "no test starts with {row}_");
    }
}
