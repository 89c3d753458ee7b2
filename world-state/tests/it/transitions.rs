//! What each section says and stores, for every state before and every state now.

use std::fmt::Write as _;

use context_fragments::{Kind, UserInstructions};
use serde_json::{Value, json};
use world_state::*;

use crate::{history, stored, world_of};

/// Before: a name, and what is stored; the history holds the section's kind in all but `Absent`.
enum Before {
    Absent,
    Unknown,
    Known(&'static str, Value),
}

/// Renders every pair, and checks that the same is never said twice.
fn table<S: WorldStateSection + Clone>(kind: &Kind, before: Vec<Before>, now: &[(&str, S)]) -> String {
    let worlds: Vec<(&str, WorldState)> =
        now.iter().map(|(name, section)| (*name, world_of(section.clone()))).collect();
    table_of(S::ID, kind, before, &worlds)
}

/// The same for worlds of one section with this id.
fn table_of(id: &str, kind: &Kind, before: Vec<Before>, now: &[(&str, WorldState)]) -> String {
    let mut out = String::new();
    for before in [Before::Absent, Before::Unknown].into_iter().chain(before) {
        let (name, previous, retained) = match before {
            Before::Absent => ("Absent", None, history(&[Kind::USER_TEXT])),
            Before::Unknown => ("Unknown", None, history(&[kind.clone(), Kind::USER_TEXT])),
            Before::Known(name, state) => {
                (name, Some(stored(json!({ id: state }))), history(&[kind.clone(), Kind::USER_TEXT]))
            }
        };
        for (now_name, world) in now {
            let mut world = world.clone();
            let diff = world.render_diff(previous.as_ref(), &retained).unwrap();
            let _ = writeln!(out, "{name} -> {now_name}");
            for update in &diff.updates {
                assert_eq!(update.section(), id);
                let _ = match update.content() {
                    UpdateContent::Fragment(part) => writeln!(out, "  says {:?} {:?}", update.placement(), part.text()),
                    UpdateContent::Item(item) => {
                        writeln!(out, "  says {:?} {}", update.placement(), item.item().as_str())
                    }
                };
            }
            if !diff.warnings.is_empty() {
                let _ = writeln!(out, "  warns {}", diff.warnings[0]);
            }
            let is_moved = previous.as_ref().is_none_or(|previous| !previous.is_same(&diff.snapshot));
            if is_moved {
                let _ = writeln!(out, "  stores {}", diff.snapshot.section(id).unwrap());
            }
            let told = if diff.updates.is_empty() { retained.clone() } else { history(std::slice::from_ref(kind)) };
            let again = world.render_diff(Some(&diff.snapshot), &told).unwrap();
            assert_eq!(again.updates, [], "{name} -> {now_name} is said twice");
            assert!(again.snapshot.is_same(&diff.snapshot), "{name} -> {now_name} is stored twice");
        }
    }
    out
}

#[test]
fn agents_md() {
    let before = vec![
        Before::Known("Told nothing", json!({})),
        Before::Known("Told the formatter", json!({"directory": "/r", "text": "Use the formatter."})),
        Before::Known("Told the formatter elsewhere", json!({"directory": "/s", "text": "Use the formatter."})),
        Before::Known("Told without a folder", json!({"text": "Use the formatter."})),
        Before::Known("Unreadable", json!("Use the formatter.")),
    ];
    let now = [
        ("nothing", AgentsMdState::new(None)),
        ("the formatter", AgentsMdState::new(Some(UserInstructions::new(Some("/r".into()), "Use the formatter.")))),
        ("tabs", AgentsMdState::new(Some(UserInstructions::new(Some("/r".into()), "Use tabs.")))),
    ];
    insta::assert_snapshot!(table(&Kind::AGENTS_MD, before, &now));
}

#[test]
fn permissions() {
    let read_only = || PermissionsState::new("Read only.");
    let full_access = PermissionsState::new("Full access.");
    let store_of = |section: PermissionsState| {
        world_of(section).render_full().unwrap().snapshot.section("permissions").unwrap().clone()
    };
    let legacy = |text: &str| {
        Value::from(
            WorldStateHash::of_fragment(
                context_fragments::FragmentRole::Developer,
                &format!("<permissions instructions>\n{text}\n</permissions instructions>"),
            )
            .to_string(),
        )
    };
    let before = vec![
        Before::Known("Read only", store_of(read_only())),
        Before::Known("Read only, touch", store_of(read_only().with_approved_prefix(["touch"]))),
        Before::Known("Read only, git", store_of(read_only().with_approved_prefix(["git", "pull"]))),
        Before::Known("Hash of read only", legacy("Read only.")),
        Before::Known("Stale hash", json!("1f3b2c4d5e6f708192a3b4c5d6e7f8091a2b3c4d")),
        Before::Known("Unreadable", json!({"approved_command_prefixes": []})),
    ];
    let now = [
        ("read only", read_only()),
        ("full access", full_access),
        ("read only, touch", read_only().with_approved_prefix(["touch"])),
        ("read only, touch and git", read_only().with_approved_prefix(["touch"]).with_approved_prefix(["git", "pull"])),
    ];
    insta::assert_snapshot!(table(&Kind::PERMISSIONS, before, &now));
}

#[test]
fn collaboration_mode() {
    let hash = |text: &str| {
        WorldStateHash::of_fragment(
            context_fragments::FragmentRole::Developer,
            &format!("<collaboration_mode>{text}</collaboration_mode>"),
        )
        .to_string()
    };
    let before = vec![
        Before::Known("Plan", json!({"mode": "plan", "model": "m1", "instructions": hash("Ask first.")})),
        Before::Known(
            "Plan of another model",
            json!({"mode": "plan", "model": "m0", "instructions": hash("Ask first.")}),
        ),
        Before::Known("Without instructions", json!({"mode": "default", "model": "m1"})),
        Before::Known("With empty instructions", json!({"mode": "default", "model": "m1", "instructions": hash("")})),
        Before::Known("Mode only", json!("plan")),
        Before::Known("Unreadable", json!({"mode": "plan"})),
    ];
    let now = [
        ("plan", CollaborationModeState::new("plan", "m1").with_instructions("Ask first.")),
        ("plan, other words", CollaborationModeState::new("plan", "m1").with_instructions("Ask twice.")),
        ("without instructions", CollaborationModeState::new("default", "m1")),
        ("another mode without instructions", CollaborationModeState::new("quiet", "m1")),
        ("with empty instructions", CollaborationModeState::new("default", "m1").with_instructions("")),
    ];
    insta::assert_snapshot!(table(&Kind::COLLABORATION_MODE, before, &now));
}

#[test]
fn model() {
    let before = vec![
        Before::Known("m1", json!("m1")),
        Before::Known("m2", json!("m2")),
        Before::Known("Unreadable", json!({"slug": "m1"})),
    ];
    let now = [
        ("m2", ModelInstructionsState::new("m2", "Think first.")),
        ("m2 after m1", ModelInstructionsState::new("m2", "Think first.").with_previous_model("m1")),
        ("m2 after m2", ModelInstructionsState::new("m2", "Think first.").with_previous_model("m2")),
        ("m2 without instructions after m1", ModelInstructionsState::new("m2", "").with_previous_model("m1")),
    ];
    insta::assert_snapshot!(table(&Kind::MODEL_SWITCH, before, &now));
}

#[test]
fn environments() {
    let day = |text: &str| text.parse::<Date>().unwrap();
    let one = || {
        EnvironmentsState::new()
            .with_environment("local", Environment::new("/r").with_shell("bash"))
            .with_current_date(day("2026-10-20"))
            .with_timezone("UTC")
    };
    let store_of = |section: EnvironmentsState| {
        world_of(section).render_full().unwrap().snapshot.section("environments").unwrap().clone()
    };
    let several = || one().with_environment("remote", Environment::new("/srv").starting()).with_primary("local");
    let before = vec![
        Before::Known("Told nothing", json!({})),
        Before::Known("One", store_of(one())),
        Before::Known("Several", store_of(several())),
        Before::Known("Older log", json!({"environments": {"local": {"cwd": "/r"}}, "timezone": "UTC"})),
        Before::Known("Unreadable", json!({"environments": {"local": {"cwd": "/r", "status": "gone"}}})),
    ];
    let now = [
        ("nothing", EnvironmentsState::new()),
        ("one", one()),
        ("one, next day", one().with_current_date(day("2026-10-21"))),
        ("one, other folder and shell", one().with_environment("local", Environment::new("/s").with_shell("zsh"))),
        ("one, starting", one().with_environment("local", Environment::new("/r").starting())),
        ("several", several()),
        ("several, ready", several().with_environment("remote", Environment::new("/srv").with_shell("sh"))),
        ("several, other primary", several().with_primary("remote")),
    ];
    let with = |preset| now.clone().map(|(name, state)| (name, state.with_preset(preset)));
    insta::assert_snapshot!("environments", table(&Kind::ENVIRONMENT_CONTEXT, before, &with(Preset::Default)));
    let before = vec![Before::Known("One", store_of(one())), Before::Known("Several", store_of(several()))];
    insta::assert_snapshot!("environments_codex", table(&Kind::ENVIRONMENT_CONTEXT, before, &with(Preset::Codex)));
}

/// Every stored state that the reference, an older version or a damaged log may hold for a section of a flag.
fn flags(words: &str) -> Vec<Before> {
    vec![
        Before::Known("Not available", json!(false)),
        Before::Known("Available, words unknown", json!(true)),
        Before::Known("Available", json!(words)),
        Before::Known("Unreadable", json!({"available": true})),
    ]
}

fn stored_by(section: impl WorldStateSection, id: &str) -> Value {
    world_of(section).render_full().unwrap().snapshot.section(id).unwrap().clone()
}

#[test]
fn apps() {
    let here = AppsState::available("Ask first.");
    let now = [
        ("unavailable", AppsState::unavailable()),
        ("available", here.clone()),
        ("available, other words", AppsState::available("Ask twice.")),
    ];
    let before = || flags(stored_by(here.clone(), "apps_instructions").as_str().unwrap());
    insta::assert_snapshot!("apps", table(&Kind::APPS, before(), &now));
    let codex = now.map(|(name, state)| (name, state.with_preset(Preset::Codex)));
    insta::assert_snapshot!("apps_codex", table(&Kind::APPS, before(), &codex));
}

#[test]
fn plugins() {
    let here = PluginsState::available("Read first.");
    let now = [("unavailable", PluginsState::unavailable()), ("available", here.clone())];
    let before = || flags(stored_by(here.clone(), "plugins_instructions").as_str().unwrap());
    insta::assert_snapshot!("plugins", table(&Kind::PLUGINS, before(), &now));
    let codex = now.map(|(name, state)| (name, state.with_preset(Preset::Codex)));
    insta::assert_snapshot!("plugins_codex", table(&Kind::PLUGINS, before(), &codex));
}

#[test]
fn environments_instructions() {
    let here = EnvironmentsInstructionsState::available("Name the environment.");
    let now = [("unavailable", EnvironmentsInstructionsState::unavailable()), ("available", here.clone())];
    let before = || flags(stored_by(here.clone(), "environments_instructions").as_str().unwrap());
    insta::assert_snapshot!(table(&Kind::ENVIRONMENTS_INSTRUCTIONS, before(), &now));
}

#[test]
fn realtime() {
    let voice = RealtimeState::new("Speak.", "Type.");
    let before = || {
        vec![
            Before::Known("Inactive", json!({"active": false})),
            Before::Known("Active", stored_by(voice.clone().active(), "realtime")),
            Before::Known("Active, words unknown", json!({"active": true})),
            Before::Known("Unreadable", json!(true)),
        ]
    };
    let now = [
        ("inactive", voice.clone()),
        ("active", voice.clone().active()),
        ("active, other words", RealtimeState::new("Speak up.", "Type.").active()),
    ];
    insta::assert_snapshot!("realtime", table(&Kind::REALTIME_START, before(), &now));
    let codex = now.map(|(name, state)| (name, state.with_preset(Preset::Codex)));
    insta::assert_snapshot!("realtime_codex", table(&Kind::REALTIME_START, before(), &codex));
}

#[test]
fn multi_agent_mode() {
    let none = || MultiAgentModeState::new("Only on request.");
    let proactive = || none().with_mode("proactive", "When it helps.");
    let before = vec![
        Before::Known("No mode", json!({})),
        Before::Known("Proactive", json!({"mode": "proactive"})),
        Before::Known("Proactive, hint", stored_by(proactive().with_usage_hint("Be brief."), "multi_agent_mode")),
        Before::Known("Explicit", json!({"mode": "explicit_request_only"})),
        Before::Known("Unreadable", json!("proactive")),
    ];
    let now = [
        ("no mode", none()),
        ("proactive", proactive()),
        ("proactive, hint", proactive().with_usage_hint("Be brief.")),
        ("explicit", none().with_mode("explicit_request_only", "Only on request.")),
    ];
    insta::assert_snapshot!(table(&Kind::MULTI_AGENT_MODE, before, &now));
}

#[test]
fn managed_developer_instructions() {
    let state = |text: Option<&str>| ManagedDeveloperInstructionsState::new(text.map(Into::into));
    let before = vec![
        Before::Known("Told nothing", json!({})),
        Before::Known("Told the proxy", stored_by(state(Some("Use the proxy.")), "managed_developer_instructions")),
        Before::Known("Unreadable", json!({"instructions": "short"})),
    ];
    let now = [
        ("nothing", state(None)),
        ("blank", state(Some(" \n"))),
        ("the proxy", state(Some("Use the proxy."))),
        ("no network", state(Some("Use no network."))),
    ];
    insta::assert_snapshot!(table(&Kind::MANAGED_DEVELOPER_INSTRUCTIONS, before, &now));
}

#[test]
fn context_window_guidance() {
    let state = |text: Option<&str>| ContextWindowGuidanceState::new(text.map(Into::into));
    let before = vec![
        Before::Known("Told nothing", json!("")),
        Before::Known("Told to be brief", json!("Be brief.")),
        Before::Known("Unreadable", json!({})),
    ];
    let now = [
        ("nothing", state(None)),
        ("blank", state(Some("  "))),
        ("be brief", state(Some("Be brief."))),
        ("take notes", state(Some("Take notes."))),
    ];
    insta::assert_snapshot!(table(&Kind::CONTEXT_WINDOW_GUIDANCE, before, &now));
}

#[test]
fn persistent_mode() {
    let on = |text: &str| PersistentModeState::on(text, ApprovalRequestChannel::None);
    let before = vec![
        Before::Known("Off", json!({})),
        Before::Known("On", stored_by(on("Go on."), "persistent_mode")),
        Before::Known("Unreadable", json!(true)),
    ];
    let now = [
        ("off", PersistentModeState::off()),
        ("on", on("Go on.")),
        ("on, channel filled in", on("Go on{{ approval_request_channel }}.")),
        ("on, other words", on("Go on and on.")),
        ("on, without words", on("")),
    ];
    insta::assert_snapshot!(table(&Kind::PERSISTENT_MODE, before, &now));
}

#[test]
fn personality() {
    let friendly = || PersonalityState::new("friendly", "Warm.");
    let before = vec![
        Before::Known("None", json!({})),
        Before::Known("Friendly", json!({"personality": "friendly"})),
        Before::Known("Pragmatic", json!({"personality": "pragmatic"})),
        Before::Known("Unreadable", json!("friendly")),
    ];
    let now = [
        ("none", PersonalityState::none()),
        ("friendly", friendly()),
        ("friendly, of the base instructions", friendly().of_base_instructions()),
    ];
    insta::assert_snapshot!(table(&Kind::PERSONALITY, before, &now));
}

#[test]
fn nested_agents_md() {
    let app = || NestedAgentsMdState::new().with_folder("/r/app", "App.");
    let before = vec![
        Before::Known("Told nothing", json!({})),
        Before::Known("Told app", stored_by(app(), "nested_agents_md")),
        Before::Known("Told app and lib", stored_by(app().with_folder("/r/lib", "Lib."), "nested_agents_md")),
        Before::Known("Unreadable", json!({"/r/app": "App."})),
    ];
    let now = [
        ("nothing", NestedAgentsMdState::new()),
        ("app", app()),
        ("app, changed", app().with_folder("/r/app", "New.")),
        ("app and lib", app().with_folder("/r/lib", "Lib.")),
    ];
    insta::assert_snapshot!(table(&Kind::NESTED_AGENTS_MD, before, &now));
}

#[test]
fn tools() {
    let grep = r#"{"type":"function","name":"grep"}"#;
    let grep_2 = r#"{"type":"function","name":"grep","strict":true}"#;
    let search = r#"{"type":"web_search"}"#;
    let mail = |description: &str, send: &str| {
        format!(
            r#"{{"type":"namespace","name":"mail","description":"{description}","tools":[{{"type":"function","name":"read"}},{{"type":"function","name":"send"{send}}}]}}"#
        )
    };
    let state = |tools: &[&str]| ToolsState::new(ToolSet::parse(tools).unwrap());
    let plain = mail("Ask first.", "");
    let before = vec![
        Before::Known("None", json!({})),
        Before::Known("Grep", stored_by(state(&[grep]), "tools")),
        Before::Known("Grep and mail", stored_by(state(&[grep, &plain]), "tools")),
        Before::Known("Unreadable", json!({"grep": true})),
    ];
    let now = [
        ("none", state(&[])),
        ("grep", state(&[grep])),
        ("search and grep, redefined", state(&[search, grep_2])),
        ("grep and mail", state(&[&plain, grep])),
        ("grep and mail, a member redefined", state(&[grep, &mail("Ask first.", r#","strict":true"#)])),
        ("grep and mail, described otherwise", state(&[grep, &mail("Ask twice.", "")])),
        ("grep and mail, not described", state(&[grep, &mail("", "")])),
        ("grep and mail, with one member", {
            let one = r#"{"type":"namespace","name":"mail","description":"Ask first.","tools":[{"type":"function","name":"read"}]}"#;
            state(&[grep, one])
        }),
    ];
    insta::assert_snapshot!(table(&Kind::TOOLS_DECLARED, before, &now));
}

/// A section by closure that says its value, and takes it back.
#[test]
fn extension() {
    let of = |value: Option<&'static str>| {
        let section = ExtensionSection::new("skills", move |previous| {
            let told = previous.known().and_then(|told| told.get("names")).and_then(Value::as_str);
            let may_hold_some = previous.may_hold(|told| told.get("names").is_some());
            let fragment = |text: &str| {
                let role = context_fragments::FragmentRole::Developer;
                SectionFragment::new("skills", role, text).between("<skills>", "</skills>")
            };
            match value {
                _ if previous.known().is_some() && told == value => SectionDiff::keep(),
                Some(names) => SectionDiff::set(json!({"names": names, "more": null})).tell(&fragment(names)),
                None if may_hold_some => SectionDiff::set(json!({})).tell(&fragment("There are none any more.")),
                None => SectionDiff::set(json!({})),
            }
        });
        let mut world = WorldState::new();
        world.set_extension(section.told_again_when_lost()).unwrap();
        world
    };
    let before = vec![
        Before::Known("Told none", json!({})),
        Before::Known("Told sort", json!({"names": "sort"})),
        Before::Known("Of another shape", json!(true)),
    ];
    let now = [("none", of(None)), ("sort", of(Some("sort"))), ("sort and find", of(Some("sort, find")))];
    insta::assert_snapshot!(table_of("skills", &Kind::new("skills.instructions"), before, &now));
}
