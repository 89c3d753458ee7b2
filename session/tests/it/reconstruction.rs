//! What a rollout of the Codex CLI is rebuilt into, scenario by scenario.

use std::io::Cursor;

use context_fragments::Limit;
use context_manager::{ContextManager, Preset, Recording, TruncationPolicy};
use session::{Replay, Survey, rollout::Events};

use crate::stage::short_item;

fn line(type_name: &str, payload: &str) -> String {
    format!(r#"{{"timestamp":"2026-09-01T08:00:00.000Z","type":"{type_name}","payload":{payload}}}"#) + "\n"
}

fn event(payload: &str) -> String {
    line("event_msg", payload)
}

fn started(turn: &str) -> String {
    event(&format!(r#"{{"type":"task_started","turn_id":"{turn}"}}"#))
}

fn completed(turn: &str) -> String {
    event(&format!(r#"{{"type":"task_complete","turn_id":"{turn}"}}"#))
}

fn aborted(turn: Option<&str>) -> String {
    let turn = turn.map_or("null".into(), |turn| format!("\"{turn}\""));
    event(&format!(r#"{{"type":"turn_aborted","turn_id":{turn},"reason":"interrupted"}}"#))
}

fn heard(text: &str) -> String {
    event(&format!(r#"{{"type":"user_message","message":"{text}"}}"#))
}

fn rolled_back(turns: u64) -> String {
    event(&format!(r#"{{"type":"thread_rolled_back","num_turns":{turns}}}"#))
}

fn message(role: &str, part: &str, text: &str) -> String {
    format!(r#"{{"type":"message","role":"{role}","content":[{{"type":"{part}","text":"{text}"}}]}}"#)
}

fn user(text: &str) -> String {
    line("response_item", &message("user", "input_text", text))
}

fn assistant(text: &str) -> String {
    line("response_item", &message("assistant", "output_text", text))
}

fn context(turn: Option<&str>, model: &str) -> String {
    let turn = turn.map_or(String::new(), |turn| format!(r#""turn_id":"{turn}","#));
    let rest = r#""cwd":"/r","approval_policy":"never","sandbox_policy":{"type":"read-only"}"#;
    line("turn_context", &format!(r#"{{{turn}{rest},"model":"{model}"}}"#))
}

fn state(state: &str) -> String {
    line("world_state", &format!(r#"{{"full":true,"state":{state}}}"#))
}

fn patch(patch: &str) -> String {
    line("world_state", &format!(r#"{{"full":false,"state":{patch}}}"#))
}

fn compacted(texts: &[&str], summary: &str) -> String {
    let items: Vec<_> = texts.iter().chain([&summary]).map(|text| message("user", "input_text", text)).collect();
    line("compacted", &format!(r#"{{"message":"{summary}","replacement_history":[{}]}}"#, items.join(",")))
}

/// A turn that was answered, with its settings.
fn turn(name: &str, model: &str) -> String {
    [
        started(name),
        heard(name),
        context(Some(name), model),
        user(&format!("ask {name}")),
        assistant(&format!("answer {name}")),
        completed(name),
    ]
    .concat()
}

/// What a log is rebuilt into.
struct Want<'a> {
    history: &'a [&'a str],
    model: Option<&'a str>,
    reference: Option<&'a str>,
    baseline: Option<&'a str>,
}

const NOTHING: Want<'static> = Want { history: &[], model: None, reference: None, baseline: None };

fn rebuilt(log: &str) -> Replay {
    let events: Vec<_> = Events::open(Cursor::new(log)).unwrap().map(Result::unwrap).collect();
    let mut survey = Survey::new();
    events.iter().for_each(|event| survey.take(event));
    let recording = Recording::new(TruncationPolicy::codex(Limit::Tokens(10_000)));
    let mut replay = Replay::surveyed(ContextManager::with_preset(Preset::Codex), recording, survey.finish());
    for event in &events {
        replay.apply(event).unwrap();
    }
    replay.settle();
    replay
}

#[track_caller]
fn check(lines: &[String], want: &Want<'_>) {
    let log = lines.concat();
    let replay = rebuilt(&log);
    let manager = replay.manager();
    let history: Vec<String> = manager.history().items().map(|item| short_item(item.item())).collect();
    assert_eq!(history, want.history, "{log}");
    assert_eq!(replay.model(), want.model, "{log}");
    let reference = manager.reference_context_item().and_then(|context| context.model());
    assert_eq!(reference.as_deref(), want.reference, "{log}");
    let baseline = manager.world_state_baseline().map(|told| serde_json::to_string(told).unwrap());
    assert_eq!(baseline.as_deref(), want.baseline, "{log}");
}

const T1: [&str; 2] = ["user(ask t1)", "assistant(answer t1)"];
const AFTER_T1: Want<'static> = Want { history: &T1, model: Some("m1"), reference: Some("m1"), baseline: None };

#[test]
fn settings_outside_of_a_turn_say_nothing() {
    check(&[context(None, "m1")], &NOTHING);
}

#[test]
fn settings_without_a_turn_id_belong_to_the_turn_in_which_they_stand() {
    let want = Want { model: Some("m1"), reference: Some("m1"), ..NOTHING };
    check(&[started("t1"), heard("hi"), context(None, "m1"), completed("t1")], &want);
}

#[test]
fn a_rollback_leaves_history_settings_and_state_of_the_turn_before() {
    let second = [started("t2"), heard("t2"), patch(r#"{"model":"m2"}"#), context(Some("t2"), "m2"), user("ask t2")];
    let first = [started("t1"), heard("t1"), state(r#"{"model":"m1"}"#), context(Some("t1"), "m1"), user("ask t1")];
    let answered = [assistant("answer t1"), completed("t1")];
    let lines = [first.concat(), answered.concat(), second.concat(), completed("t2"), rolled_back(1)];
    check(&lines, &Want { baseline: Some(r#"{"model":"m1"}"#), ..AFTER_T1 });
}

#[test]
fn an_incomplete_turn_is_taken_back_like_a_whole_one() {
    check(&[turn("t1", "m1"), started("t2"), heard("t2"), user("ask t2"), rolled_back(1)], &AFTER_T1);
}

#[test]
fn a_turn_of_the_agent_alone_goes_with_the_turn_before_it() {
    let alone = [started("t3"), assistant("by myself"), completed("t3")].concat();
    check(&[turn("t1", "m1"), turn("t2", "m2"), alone, rolled_back(1)], &AFTER_T1);
}

#[test]
fn a_turn_that_began_with_mail_is_taken_back() {
    let mail = line("inter_agent_communication", r#"{"author":"a","recipient":"b","content":"do it"}"#);
    let second = [started("t2"), mail, context(Some("t2"), "m2"), assistant("done"), completed("t2")].concat();
    check(&[turn("t1", "m1"), second, rolled_back(1)], &AFTER_T1);
}

#[test]
fn more_turns_than_there_are_leave_nothing() {
    check(&[turn("t1", "m1"), rolled_back(99)], &NOTHING);
}

#[test]
fn a_turn_of_the_agent_alone_keeps_no_settings_of_what_was_taken_back() {
    let alone = [started("t2"), context(Some("t2"), "m2"), assistant("by myself"), completed("t2")].concat();
    check(&[turn("t1", "m1"), alone, rolled_back(1)], &NOTHING);
}

#[test]
fn a_compaction_of_a_turn_that_was_taken_back_never_happened() {
    let second = [started("t2"), heard("t2"), user("ask t2"), compacted(&["kept"], "short")].concat();
    check(&[turn("t1", "m1"), second, rolled_back(1)], &AFTER_T1);
}

#[test]
fn settings_before_a_compaction_outside_of_a_turn_are_gone() {
    let want = Want { history: &["user(kept)", "user(short)"], ..NOTHING };
    check(&[context(None, "m1"), compacted(&["kept"], "short")], &want);
}

#[test]
fn a_legacy_compaction_leaves_the_users_words_and_no_settings_also_where_some_follow() {
    let legacy = line("compacted", r#"{"message":"short"}"#);
    let after = [started("t2"), heard("t2"), context(Some("t2"), "m2"), user("ask t2"), completed("t2")].concat();
    let history = &["user(ask t1)", "user(short)", "user(ask t2)"];
    check(&[turn("t1", "m1"), legacy, after], &Want { history, model: Some("m2"), ..NOTHING });
}

#[test]
fn settings_behind_a_compaction_in_the_same_turn_count() {
    let second =
        [started("t2"), heard("t2"), compacted(&["kept"], "short"), context(Some("t2"), "m2"), completed("t2")];
    let history = &["user(kept)", "user(short)"];
    let want = Want { history, model: Some("m2"), reference: Some("m2"), baseline: None };
    check(&[turn("t1", "m1"), second.concat()], &want);
}

#[test]
fn an_abort_without_a_turn_id_before_a_compaction_leaves_the_model() {
    let want = Want { history: &["user(kept)", "user(short)"], model: Some("m1"), ..NOTHING };
    check(&[turn("t1", "m1"), aborted(None), compacted(&["kept"], "short")], &want);
    // The turn that it ends had begun, and its settings were not written yet.
    let second = [started("t2"), heard("t2"), user("ask t2"), aborted(None), compacted(&["kept"], "short")].concat();
    check(&[turn("t1", "m1"), second], &want);
}

#[test]
fn an_abort_of_another_turn_changes_nothing_of_the_one_in_which_it_stands() {
    let second = [started("t2"), heard("t2"), aborted(Some("other")), context(Some("t2"), "m2"), completed("t2")];
    let want = Want { history: &T1, model: Some("m2"), reference: Some("m2"), baseline: None };
    check(&[turn("t1", "m1"), second.concat()], &want);
}

#[test]
fn an_incomplete_turn_at_the_end_that_was_compacted_leaves_the_model_of_the_turn_before() {
    let second = [started("t2"), heard("t2"), user("ask t2"), compacted(&["kept"], "short")].concat();
    let want = Want { history: &["user(kept)", "user(short)"], model: Some("m1"), ..NOTHING };
    check(&[turn("t1", "m1"), second.clone()], &want);
    // Another turn that only begins behind it changes nothing.
    check(&[turn("t1", "m1"), second, started("t3")], &want);
}

#[test]
fn an_incomplete_turn_at_the_end_leaves_its_settings() {
    let second = [started("t2"), heard("t2"), context(Some("t2"), "m2"), user("ask t2")].concat();
    let history = &[T1[0], T1[1], "user(ask t2)"];
    check(&[turn("t1", "m1"), second], &Want { history, model: Some("m2"), reference: Some("m2"), baseline: None });
}

#[test]
fn an_incomplete_compacted_turn_that_another_one_takes_the_place_of_leaves_no_settings() {
    let second = [started("t2"), heard("t2"), context(Some("t2"), "m2"), user("ask t2"), compacted(&["kept"], "short")];
    let third = [started("t3"), heard("t3"), user("ask t3")].concat();
    let history = &["user(kept)", "user(short)", "user(ask t3)"];
    check(&[turn("t1", "m1"), second.concat(), third], &Want { history, model: Some("m2"), ..NOTHING });
}

#[test]
fn mail_is_an_item_of_the_model_and_scores_are_nothing() {
    let mail = line("inter_agent_communication", r#"{"author":"a","recipient":"b","content":"do it"}"#);
    let score = line("security_risk_score", r#"{"score":3}"#);
    check(&[score, mail.clone()], &Want { history: &["agent_message"], ..NOTHING });
    let item = rebuilt(&mail).manager().history().items().next().unwrap().item().as_str().to_owned();
    let parts = r#"[{"type":"input_text","text":"do it"}]"#;
    assert_eq!(item, format!(r#"{{"type":"agent_message","author":"a","recipient":"b","content":{parts}}}"#));
}

/// The second record takes all instructions away: the section is still there and says nothing, so that the next ones are
/// told as new ones.
#[test]
fn the_example_lines_of_the_reference_leave_an_empty_section() {
    let full = r#"{"timestamp":"2026-10-20T08:00:00.123Z","type":"world_state","payload":{"full":true,"state":{"agents_md":{"directory":"/r","text":"P"},"environments":{"environments":{"local":{"cwd":"/r","status":"available","shell":"bash"}},"current_date":"2026-10-20","timezone":"UTC"},"model":"m1","realtime":{"active":false}}}}"#;
    let patch = r#"{"timestamp":"2026-10-20T08:01:00.456Z","type":"world_state","payload":{"full":false,"state":{"agents_md":{"directory":null,"text":null}}}}"#;
    let baseline = r#"{"agents_md":{},"environments":{"current_date":"2026-10-20","environments":{"local":{"cwd":"/r","shell":"bash","status":"available"}},"timezone":"UTC"},"model":"m1","realtime":{"active":false}}"#;
    let lines = [started("t1"), heard("t1"), format!("{full}\n{patch}\n"), user("ask t1"), completed("t1")];
    check(&lines, &Want { history: &["user(ask t1)"], baseline: Some(baseline), ..NOTHING });
}

#[test]
fn a_state_and_its_patches_are_merged() {
    let told = [state(r#"{"a":{"x":1,"y":2},"l":[1,2]}"#), patch(r#"{"a":{"y":null},"l":[3,null]}"#)].concat();
    let lines = [started("t1"), heard("t1"), told, user("ask t1"), completed("t1")];
    let want = Want { history: &["user(ask t1)"], baseline: Some(r#"{"a":{"x":1},"l":[3,null]}"#), ..NOTHING };
    check(&lines, &want);
}

#[test]
fn a_rollback_over_a_compaction_cuts_inside_of_what_it_left() {
    // The second turn holds the compaction and goes with it.
    let second =
        [started("t2"), heard("t2"), user("ask t2"), compacted(&["ask t1", "ask t2"], "short"), completed("t2")];
    let third = [started("t3"), heard("t3"), user("ask t3"), completed("t3")];
    check(&[turn("t1", "m1"), second.concat(), third.concat(), rolled_back(2)], &AFTER_T1);
    // A log of pages is read from its newest compaction on.
    let meta = line("session_meta", r#"{"id":"s1","history_mode":"paginated"}"#);
    let items: Vec<_> = ["ask t1", "ask t2", "short"].iter().map(|text| message("user", "input_text", text)).collect();
    let page = format!(r#"{{"message":"short","replacement_history":[{}],"window_number":1}}"#, items.join(","));
    let lines = [meta, turn("t1", "m1"), line("compacted", &page), third.concat(), rolled_back(2)];
    check(&lines, &Want { history: &["user(ask t1)"], ..NOTHING });
}

#[test]
fn the_baseline_is_what_survives_of_the_states() {
    let (full, other, change) = (state(r#"{"m":"1","k":1}"#), state(r#"{"m":"9"}"#), patch(r#"{"m":"2"}"#));
    let turn = |name: &str, lines: &[&String]| {
        let inside: String = lines.iter().map(|line| line.as_str()).collect();
        [started(name), heard(name), inside, completed(name)].concat()
    };
    let compaction = compacted(&[], "short");
    let check = |lines: &[String], history: &[&str], baseline: Option<&str>| {
        check(lines, &Want { history, baseline, ..NOTHING });
    };
    let f = Some(r#"{"k":1,"m":"1"}"#);
    check(&[turn("a", &[&full])], &[], f);
    check(&[turn("a", &[&full]), turn("b", &[&change])], &[], Some(r#"{"k":1,"m":"2"}"#));
    check(&[turn("a", &[&change])], &[], None);
    let left = &["user(short)"];
    check(&[turn("a", &[&full]), turn("b", &[&compaction])], left, None);
    check(&[turn("a", &[&full]), turn("b", &[&compaction, &other, &change])], left, Some(r#"{"m":"2"}"#));
    check(&[turn("a", &[&full]), turn("b", &[&change]), rolled_back(1)], &[], f);
    check(&[turn("a", &[&compaction, &change, &full])], left, f);
}
