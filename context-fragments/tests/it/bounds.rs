//! Cutting the middle out of a text.

use context_fragments::{
    Limit::{self, Bytes, Tokens},
    MarkerRoom, cut_middle, estimate_tokens,
};
use proptest::prelude::*;

#[track_caller]
fn check_on_top(text: &str, limit: Limit, want: &str) {
    assert_eq!(cut_middle(text, limit, MarkerRoom::OnTop), want);
}

#[track_caller]
fn check_inside(text: &str, limit: Limit, want: &str) {
    assert_eq!(cut_middle(text, limit, MarkerRoom::Inside), want);
}

#[test]
fn a_text_inside_the_limit_stays() {
    check_on_top("", Tokens(0), "");
    check_on_top("", Bytes(0), "");
    check_on_top("abcdefgh", Tokens(2), "abcdefgh");
    check_inside("abcdefgh", Bytes(8), "abcdefgh");
}

#[test]
fn the_marker_stands_on_top_of_the_limit_as_in_the_reference() {
    check_on_top("abcdefghi", Tokens(2), "abcd…1 tokens truncated…fghi");
    check_on_top("abcdefghij", Bytes(4), "ab…6 chars truncated…ij");
    check_on_top("abcdefghij", Bytes(5), "ab…5 chars truncated…hij");
    check_on_top("abc", Tokens(0), "…1 tokens truncated…");
    check_on_top("abc", Bytes(0), "…3 chars truncated…");
    check_on_top("ééééé", Bytes(5), "é…3 chars truncated…é");
}

#[test]
fn inside_the_limit_the_marker_is_counted() {
    let text = "0123456789".repeat(10);
    check_inside(&text, Bytes(40), "0123456…85 chars truncated…23456789");
    check_inside(&text, Tokens(10), "0123456…22 tokens truncated…23456789");
    check_inside(&text, Bytes(24), "…");
    check_inside(&text, Bytes(3), "…");
    check_inside(&text, Bytes(2), "");
}

#[test]
fn n30_a_character_is_never_split() {
    let text = "a😀";
    for max_bytes in 0..=5 {
        for room in [MarkerRoom::Inside, MarkerRoom::OnTop] {
            let cut = cut_middle(text, Bytes(max_bytes), room);
            let kept: String = cut.chars().filter(|letter| "a😀".contains(*letter)).collect();
            assert!(["", "a", "😀", "a😀"].iter().any(|want| kept.starts_with(want)), "{cut:?}");
            assert!(!cut.contains('\u{fffd}'));
        }
    }
}

#[test]
fn limits_convert_as_the_wire_says() {
    assert_eq!((Tokens(10).byte_budget(), Bytes(10).byte_budget()), (40, 10));
    assert_eq!((Tokens(10).token_budget(), Bytes(9).token_budget()), (10, 3));
    assert_eq!(Tokens(usize::MAX).byte_budget(), usize::MAX);
    assert_eq!((Tokens(4).scaled(1.2), Tokens(10_000).scaled(1.2)), (Tokens(5), Tokens(12_000)));
    assert_eq!(Bytes(10_000).scaled(1.2), Bytes(12_000));
    assert_eq!([0, 1, 4, 5].map(estimate_tokens), [0, 1, 1, 2]);
}

proptest! {
    #[test]
    fn a_cut_is_head_marker_tail(text in "[aé😀\n]{0,80}", max in 0_usize..80, in_tokens in any::<bool>()) {
        let limit = if in_tokens { Tokens(max) } else { Bytes(max) };
        for room in [MarkerRoom::Inside, MarkerRoom::OnTop] {
            let cut = cut_middle(&text, limit, room);
            if text.len() <= limit.byte_budget() {
                prop_assert_eq!(cut, text.as_str());
                continue;
            }
            if room == MarkerRoom::Inside {
                prop_assert!(cut.len() <= limit.byte_budget());
                prop_assert_eq!(&cut_middle(&cut, limit, room), &cut, "what was cut is not cut again");
            }
            let mut ends = cut.split('…');
            let (head, tail) = (ends.next().unwrap(), ends.next_back().unwrap_or(""));
            prop_assert!(text.starts_with(head) && text.ends_with(tail));
        }
    }
}
