//! Profiles as data: where rules are from, what a host overrides, what is refused.

use std::collections::HashSet;

use context_fragments::ContextItem;
use context_manager::{
    CallIdChars, CallIdShape, Declared, EarlyOutput, LateOutput, Mend, Model, Profile, Projection, Rule, RuleSource,
    Strength, Violation, validate,
};

use crate::setup::{
    assistant, call, codex_prompt, custom_output, manager_of, output, picture, png, prompt, raw, rules, user,
};

fn all() -> [Profile; 5] {
    [
        Profile::responses(),
        Profile::codex(),
        Profile::chat_completions(),
        Profile::anthropic_messages(),
        Profile::gemini(),
    ]
}

fn found(items: impl IntoIterator<Item = ContextItem>, profile: &Profile) -> Vec<Violation> {
    validate(manager_of(items).history(), &Model::new("m1"), profile)
}

/// Each violation as `position rule path`, with `!` where no projection mends it.
#[track_caller]
fn check(items: impl IntoIterator<Item = ContextItem>, profile: &Profile, want: &[&str]) {
    let got: Vec<String> = found(items, profile)
        .iter()
        .map(|found| {
            let position = found.position.map_or_else(|| "-".to_owned(), |position| position.to_string());
            let mended = if found.is_mended { "" } else { "!" };
            format!("{position} {mended}{} {}", found.rule, found.path).trim_end().to_owned()
        })
        .collect();
    assert_eq!(got, want);
}

#[test]
fn every_rule_of_a_profile_says_where_it_is_from() {
    for profile in all() {
        let mut ids = HashSet::new();
        for source in profile.sources.iter() {
            assert!(ids.insert(source.id.clone()), "{} stands twice in {}", source.id, profile.name);
            assert!(source.id.starts_with(&format!("{}.", source.provider)), "{source:?}");
            assert!(!source.source.is_empty() && source.dated.len() == "2026-11-30".len(), "{source:?}");
            assert_eq!(profile.source_of(source.rule), Some(source), "one source for each rule");
        }
        assert!(profile.source_of(Rule::MissingOutput).is_some() && profile.dated == "2026-11-30", "{}", profile.name);
    }
    let names: HashSet<_> = all().iter().map(|profile| profile.name.clone()).collect();
    assert_eq!(names.len(), all().len());
}

#[test]
fn a_host_overrides_rows_and_their_sources() {
    let own =
        RuleSource::new("mine.blank_text", Rule::BlankText, "mine", "our own proxy", Strength::Code, "2027-01-01");
    let mut profile = Profile::responses().with_source(own.clone());
    assert_eq!(profile.source_of(Rule::BlankText), Some(&own));
    let of_blank = found([assistant("")], &profile);
    assert_eq!((of_blank.len(), of_blank[0].source.as_ref()), (1, Some(&own)));
    profile.blank_text = Mend::Allow;
    assert_eq!(found([assistant("")], &profile), []);
    assert_eq!(manager_of([assistant("")]).for_prompt(&crate::setup::parts(), &profile).items().len(), 1);
}

#[test]
fn what_a_projection_mends_and_what_it_does_not() {
    let items = || {
        [
            user("u"),
            raw(r#"{"type":"function_call","id":"fc_1","name":"f","arguments":"{","call_id":"1"}"#),
            output("1", ""),
            custom_output("2", "orphan"),
            raw(r#"{"type":"reasoning","id":"fc_1","summary":[],"encrypted_content":""}"#),
            picture("data:image/png;base64,AAAA"),
            call("1"),
        ]
    };
    check(
        items(),
        &Profile::responses(),
        &[
            "1 bad_arguments arguments",
            "2 blank_output output",
            "3 orphan_output",
            "4 unsigned_reasoning encrypted_content",
            "5 image_undecodable content[1]",
            "6 duplicate_call_id call_id",
            "6 missing_output",
        ],
    );
    check(
        items(),
        &Profile::codex(),
        &[
            "1 !bad_arguments arguments",
            "2 !blank_output output",
            "3 orphan_output",
            "4 !unsigned_reasoning encrypted_content",
            "5 !image_undecodable content[1]",
            "6 !duplicate_call_id call_id",
            "6 missing_output",
        ],
    );
    // Nothing is left of what could be mended once it is.
    let mended: Vec<ContextItem> =
        prompt(&manager_of(items())).items().iter().map(|item| item.context_item().clone()).collect();
    check(mended, &Profile::responses(), &[]);
}

#[test]
fn a_violation_names_the_item_and_the_source() {
    let item = raw(r#"{"type":"function_call","id":"fc_9","name":"f","arguments":"","call_id":"c9"}"#);
    let found = found([item, output("c9", "o")], &Profile::responses());
    let [only] = &found[..] else { panic!("{found:?}") };
    assert_eq!((only.item_id.as_deref(), only.call_id.as_deref()), (Some("fc_9"), Some("c9")));
    assert_eq!(only.why, "the arguments are no JSON object");
    let source = only.source.as_ref().expect("the rule has a source");
    assert_eq!((source.id.as_ref(), source.strength), ("responses.bad_arguments", Strength::Caution));
}

#[test]
fn what_no_projection_mends() {
    let with_id = |id: &str| [user("u"), call(id), output(id, "o")];
    let twice = ["1 !call_id_shape call_id", "2 !call_id_shape call_id"];
    check(with_id(&"x".repeat(65)), &Profile::responses(), &twice);
    check(with_id(&"x".repeat(65)), &Profile::anthropic_messages(), &[]);
    check(with_id("a:b"), &Profile::responses(), &[]);
    check(with_id("a:b"), &Profile::anthropic_messages(), &twice);
    let mut mistral = Profile::chat_completions();
    mistral.call_id = CallIdShape::new(9, 9, CallIdChars::Alphanumeric);
    check(with_id("abcdef_12"), &mistral, &twice);
    check(with_id("abcdef012"), &mistral, &[]);

    check([assistant("a"), user("u")], &Profile::anthropic_messages(), &["0 !first_item"]);
    check([assistant("a"), user("u")], &Profile::responses(), &[]);
    let host = crate::setup::developer(context_fragments::Kind::PERMISSIONS, "p");
    check([host, user("u")], &Profile::gemini(), &[]);
}

#[test]
fn limits_name_the_item_that_goes_beyond_them() {
    let mut profile = Profile::anthropic_messages();
    profile.max_images = Some(2);
    let pictures = || {
        std::iter::repeat_with(|| picture(&png(1, 1))).map(|item| {
            // Item ids are not the matter here.
            ContextItem::from(item.item().without_member("id"))
        })
    };
    check(pictures().take(2), &profile, &[]);
    check(pictures().take(5), &profile, &["2 !too_many_images"]);
    // Where there are many, each has to be smaller.
    profile.max_images = Some(100);
    profile.many_images_px = Some((2, 2_000));
    let large = || picture(&png(2_001, 10)).item().without_member("id");
    check(pictures().take(1).chain([large().into()]), &profile, &[]);
    check(pictures().take(2).chain([large().into()]), &profile, &["2 !image_too_large content[1]"]);
    profile.max_images = None;
    profile.max_input_bytes = Some(500);
    check([user(&"x".repeat(100)), user(&"x".repeat(500)), user("x")], &profile, &["1 !input_too_large"]);
    check([user(&"x".repeat(100))], &profile, &[]);
}

#[test]
fn an_output_that_shows_before_its_call_is_declared_whatever_the_other_rows_say() {
    let mut profile = Profile::responses();
    profile.early_output = EarlyOutput::Keep;
    for late_output in [LateOutput::Append, LateOutput::Replace] {
        profile.late_output = late_output;
        let mut manager = manager_of([output("1", "early"), user("u")]);
        manager.mark_sent(&manager.for_prompt(&crate::setup::parts(), &profile)).expect("nothing was added");
        manager.record_items([call("1")], &crate::setup::recording()).expect("a small item");
        let made = manager.for_prompt(&crate::setup::parts(), &profile);
        let broken = made.proof().broken().expect("the output shows before what was sent");
        assert_eq!(broken.declared, [Declared::Projection(Projection::LateOutput)]);
    }
}

#[test]
fn a_profile_that_is_kept_as_it_is_changes_no_byte() {
    let items = [assistant(""), raw(r#"{"type":"reasoning","summary":[],"encrypted_content":"x"}"#)];
    let manager = manager_of(items);
    assert_eq!(codex_prompt(&manager).items().len(), 2);
    assert_eq!(rules(&codex_prompt(&manager)), [""; 0]);
}
